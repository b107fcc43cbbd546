//! The scheduler: hands every vote over when it is due, takes answers, and looks at the clock. One loop for every plan.
//!
//! Three moments of a vote are kept: **due**, **handed over** (read just before the first call into the stack) and **answered**
//! (read by the stack's pipeline where the answer has been decoded and checked). The loop never sleeps: between two looks it
//! gives the client's own tasks a turn. With nothing in flight they have nothing to do, so time that is lost there is the
//! pacer's; with votes in flight, or between two votes that are due and written each by itself, it is the client's.
//!
//! Inside the clock, from due to answered: waiting for the stack, encoding, everything that the stack does on both sides, the
//! server's work, decoding and checking. Outside: keeping the record, which happens after a moment has been read; it can delay
//! the next vote, and then stands there as `pacer`.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use super::arrivals::{Arrivals, Load, Plan};
use super::interval::Recorder;
use super::waits::{Account, Part};
use crate::transport::{Answered, Clock, Pipeline, TransportError, Writes};

/// How long votes that are under way at the end may take, in nanoseconds.
pub const DRAIN_NS: u64 = 10_000_000_000;

/// A clock, and a way to let time pass.
pub trait Time: Send {
    /// The clock, in nanoseconds from a moment of its own.
    fn clock(&self) -> &Clock;

    /// Gives everybody else a turn; there is nothing to do for the generator before `until`, unless an answer comes.
    fn rest(&mut self, until: u64) -> impl Future<Output = ()> + Send;
}

/// A vote in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    number: u64,
    due: u64,
    handed_over: u64,
    taken: bool,
}

/// What a load came to, beside what stands in its intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Votes that became due.
    pub offered: u64,
    /// Votes that were answered well by the time that the last one could be due.
    pub answered_in_time: u64,
    /// Votes that came to nothing.
    pub failed: u64,
    /// The ages of votes that were not answered when the drain was over.
    pub censored: Vec<u64>,
    /// How many there were: the ages of more than [`CENSORED`] are not kept one by one.
    pub censored_count: u64,
    /// When the last vote could be due.
    pub end_ns: u64,
}

/// Ages of censored votes that are kept: the oldest, and so the largest.
pub const CENSORED: usize = 1 << 20;

/// The loop's state.
pub struct Generator<T> {
    /// What tells the time.
    pub time: T,
    /// One a connection.
    pub pipelines: Vec<Box<dyn Pipeline>>,
    /// Votes in flight at most, over all connections.
    pub in_flight_most: usize,
    /// When votes are written.
    pub writes: Writes,
    /// How long the stack may answer nothing while votes are in flight, in nanoseconds.
    pub deadline_ns: u64,
    /// Where everything is recorded.
    pub recorder: Recorder,
    /// Ends the load early.
    pub stop: Arc<AtomicBool>,
    /// Votes of the loads before: their numbers are not used again, so that an answer that comes too late is told.
    pub before: u64,
}

/// What the loop does next.
enum Turn {
    /// Looks again when everybody has had a turn.
    Rest(u64),
    /// Is done.
    Over,
}

impl<T: Time> Generator<T> {
    /// Runs one load, from its first due time to the end of its drain.
    ///
    /// # Errors
    /// Beside what it came to: where a connection is of no further use, no answer comes in time, or nothing but failures come
    /// for a whole interval.
    pub async fn run(&mut self, load: Load) -> (Outcome, Result<(), TransportError>) {
        self.recorder.begin();
        let start = self.time.clock().now();
        let mut run = Run {
            start,
            now: 0,
            plan: Plan::new(load),
            arriving: Plan::new(load),
            closed: load.arrivals == Arrivals::Closed,
            account: Account::new(0),
            slots: vec![Slot::default(); (2 * self.in_flight_most).next_power_of_two()],
            in_flight: 0,
            blocked: false,
            between: false,
            heard: 0,
            finished: 0,
            failing: None,
            hopeless: false,
            outcome: Outcome::default(),
        };
        let ended = loop {
            match poll_fn(|cx| Poll::Ready(run.turn(self, cx))).await {
                Ok(Turn::Rest(until)) => self.time.rest(until.saturating_add(start)).await,
                Ok(Turn::Over) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        run.end(self);
        self.before += run.plan.number();
        (run.outcome, ended)
    }
}

/// One load under way; its moments count from its start.
struct Run {
    start: u64,
    /// The last look at the clock.
    now: u64,
    /// The votes that are to be handed over.
    plan: Plan,
    /// The same votes, as they become due.
    arriving: Plan,
    closed: bool,
    account: Account,
    slots: Vec<Slot>,
    in_flight: usize,
    /// Whether a vote that is due may not go.
    blocked: bool,
    /// Whether a vote that is due waits for the turn that the stack's tasks have between two votes.
    between: bool,
    /// When the last answer came, or the flight began.
    heard: u64,
    /// Votes that are answered or have failed.
    finished: u64,
    /// The failure of the last vote that came to nothing, while none has been answered since.
    failing: Option<TransportError>,
    /// Whether a whole interval has passed like that.
    hopeless: bool,
    outcome: Outcome,
}

impl Run {
    fn look<T: Time>(&mut self, generator: &Generator<T>) -> u64 {
        self.now = generator.time.clock().now().saturating_sub(self.start);
        self.now
    }

    /// One turn of the loop: whatever can be done now.
    fn turn<T: Time>(&mut self, generator: &mut Generator<T>, cx: &mut Context<'_>) -> Result<Turn, TransportError> {
        self.came_back(generator);
        if generator.stop.load(Ordering::Relaxed) {
            self.plan.end_at(self.now);
            self.arriving.end_at(self.now);
        }
        let handed_over = self.hand_over(generator, cx)?;
        if self.in_flight == 0 && !handed_over {
            return Ok(self.what_next());
        }
        for pipeline in &mut generator.pipelines {
            // Pending is a matter of the stack's: it is asked again.
            if let Poll::Ready(flushed) = pipeline.poll_flush(cx) {
                flushed?;
            }
        }
        let answered = self.take_answers(generator, cx)?;
        let now = self.look(generator);
        self.account.spend(if self.blocked { Part::Blocked } else { Part::Client }, now);
        if let Some(error) = self.failing.take_if(|_| self.hopeless) {
            return Err(error);
        }
        if self.in_flight > 0 && now.saturating_sub(self.heard) > generator.deadline_ns {
            return Err(TransportError::Deadline(std::time::Duration::from_nanos(generator.deadline_ns)));
        }
        self.between &= self.plan.due(now).is_some_and(|due| due <= now);
        match self.what_next() {
            // A place is free: whoever waits for it has it now.
            Turn::Rest(_) if answered => Ok(Turn::Rest(now)),
            next => Ok(next),
        }
    }

    /// The loop has the thread again: the rest is accounted for, and votes and intervals that have come due are.
    fn came_back<T: Time>(&mut self, generator: &mut Generator<T>) {
        let before = self.account.end();
        let now = self.look(generator);
        let part = match (self.blocked, self.in_flight) {
            (true, _) => Part::Blocked,
            (false, 0) if !self.between => Part::Pacer,
            (false, _) => Part::Client,
        };
        self.account.spend(part, now);
        if part == Part::Pacer {
            generator.recorder.now.gaps.saturating_record(now - before);
        }
        self.cross_boundaries(generator, now);
        self.arrive(generator, now + 1);
    }

    /// Ends the intervals that are over by `now`; with the load at its end and nothing to come back, the last one ends with it.
    fn cross_boundaries<T>(&mut self, generator: &mut Generator<T>, now: u64) {
        while now >= generator.recorder.boundary() {
            let none_to_come = self.in_flight == 0 && self.plan.due(now).is_none();
            if none_to_come && generator.recorder.boundary() >= self.plan.end_ns() {
                return;
            }
            self.arrive(generator, generator.recorder.boundary());
            self.hopeless |= self.failing.is_some() && generator.recorder.now.answered() == 0;
            generator.recorder.end_interval(self.outcome.offered - self.finished);
        }
    }

    /// Counts the votes that become due before `end`.
    fn arrive<T>(&mut self, generator: &mut Generator<T>, end: u64) {
        // A closed plan offers what it hands over.
        if self.closed {
            return;
        }
        while self.arriving.due(0).is_some_and(|due| due < end) {
            self.arriving.advance();
            self.outcome.offered += 1;
            generator.recorder.now.offered += 1;
        }
    }

    /// Hands over what is due, as far as the bound and the stack allow. With each vote written by itself, the stack's own
    /// tasks must have a turn in between: then it is one vote a turn.
    fn hand_over<T: Time>(
        &mut self,
        generator: &mut Generator<T>,
        cx: &mut Context<'_>,
    ) -> Result<bool, TransportError> {
        let mut handed_over = false;
        let mask = self.slots.len() as u64 - 1;
        while let Some(due) = self.plan.due(self.now).filter(|due| *due <= self.now) {
            let number = generator.before + self.plan.number();
            let place = usize::try_from(number & mask).unwrap_or(0);
            let connections = generator.pipelines.len() as u64;
            let pipeline = &mut generator.pipelines[usize::try_from(number % connections).unwrap_or(0)];
            if self.in_flight >= generator.in_flight_most || self.slots[place].taken {
                self.blocked = true;
                break;
            }
            let at = generator.time.clock().now().saturating_sub(self.start);
            let since = if self.blocked {
                Part::Blocked
            } else if handed_over || self.between {
                Part::Client
            } else {
                Part::Pacer
            };
            self.account.spend(since, at);
            if pipeline.poll_submit(cx, number)?.is_pending() {
                self.blocked = true;
                break;
            }
            if self.closed {
                self.outcome.offered += 1;
                generator.recorder.now.offered += 1;
            }
            generator.recorder.now.record_wait(self.account.split(due.min(at)));
            self.slots[place] = Slot { number, due: due.min(at), handed_over: at, taken: true };
            if self.in_flight == 0 {
                self.heard = at;
            }
            self.in_flight += 1;
            (self.blocked, handed_over) = (false, true);
            self.plan.advance();
            if generator.writes == Writes::Each && pipeline.has_tasks() {
                self.between = true;
                return Ok(true);
            }
        }
        self.between = false;
        Ok(handed_over)
    }

    fn take_answers<T: Time>(
        &mut self,
        generator: &mut Generator<T>,
        cx: &mut Context<'_>,
    ) -> Result<bool, TransportError> {
        let finished = self.finished;
        for connection in 0..generator.pipelines.len() {
            while let Poll::Ready(answered) = generator.pipelines[connection].poll_answer(cx) {
                let Answered { number, at, outcome } = answered?;
                if number < generator.before {
                    // Of a load that has given it up.
                    continue;
                }
                let place = usize::try_from(number & (self.slots.len() as u64 - 1)).unwrap_or(0);
                let slot = std::mem::take(&mut self.slots[place]);
                if !slot.taken || slot.number != number {
                    return Err(TransportError::WrongAnswer);
                }
                let at = at.saturating_sub(self.start);
                self.cross_boundaries(generator, at);
                self.in_flight -= 1;
                self.finished += 1;
                self.heard = at;
                match outcome {
                    Ok(()) => {
                        self.outcome.answered_in_time += u64::from(at <= self.plan.end_ns());
                        generator.recorder.now.record_answer(at - slot.due, at - slot.handed_over);
                        self.failing = None;
                    }
                    Err(error) => {
                        self.outcome.failed += 1;
                        generator.recorder.now.record_error(&error);
                        self.failing = Some(error);
                    }
                }
            }
        }
        Ok(self.finished > finished)
    }

    fn what_next(&mut self) -> Turn {
        if self.now >= self.plan.end_ns().saturating_add(DRAIN_NS) {
            return Turn::Over;
        }
        match self.plan.due(self.now) {
            Some(due) if due > self.now => {
                self.account.forget();
                Turn::Rest(due)
            }
            Some(_) if !self.blocked => Turn::Rest(self.now),
            None if self.in_flight == 0 && self.now >= self.plan.end_ns() => Turn::Over,
            // The load lasts as long as it was to last, whenever its last vote was due.
            None if self.in_flight == 0 => {
                self.account.forget();
                Turn::Rest(self.plan.end_ns())
            }
            _ => Turn::Rest(u64::MAX),
        }
    }

    /// Closes the books: what is unanswered is recorded at its age.
    fn end<T: Time>(&mut self, generator: &mut Generator<T>) {
        let now = self.look(generator);
        self.arrive(generator, now + 1);
        self.outcome.end_ns = self.plan.end_ns();
        let mut ages: Vec<u64> =
            self.slots.iter().filter(|slot| slot.taken).map(|slot| now.saturating_sub(slot.due)).collect();
        if !self.closed {
            while let Some(due) = self.plan.due(0).filter(|due| *due <= now) {
                self.plan.advance();
                self.outcome.censored_count += 1;
                if ages.len() < CENSORED {
                    ages.push(now.saturating_sub(due));
                }
            }
        }
        self.outcome.censored_count += self.in_flight as u64;
        self.outcome.censored = ages;
        generator.recorder.end_load(now, self.outcome.offered - self.finished);
    }
}
