//! A clock that only moves when the generator rests, and a server on it: loads whose figures can be worked out by hand.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::arrivals::{Arrivals, Load};
use super::generator::{Generator, Outcome, Time};
use super::interval::{Interval, recorder};
use crate::transport::{Answered, Clock, Pipeline, TransportError, Writes};

const MS: u64 = 1_000_000;

/// The time, and when each vote that is under way will have been answered.
#[derive(Clone, Default)]
struct World {
    now: Arc<AtomicU64>,
    answers: Arc<Mutex<VecDeque<(u64, u64)>>>,
}

struct Virtual {
    world: World,
    clock: Clock,
}

impl Time for Virtual {
    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn rest(&mut self, until: u64) -> impl Future<Output = ()> + Send {
        let next = self.world.answers.lock().unwrap().front().map_or(u64::MAX, |(_, at)| *at);
        self.world.now.fetch_max(until.min(next), Ordering::Relaxed);
        std::future::ready(())
    }
}

/// Answers one vote after another, `service_ns` each, and stands still from time to time.
struct Server {
    world: World,
    service_ns: u64,
    stall_every_ns: u64,
    stall_ns: u64,
    free_at: u64,
    has_tasks: bool,
}

impl Pipeline for Server {
    fn poll_submit(&mut self, _: &mut Context<'_>, number: u64) -> Poll<Result<(), TransportError>> {
        let mut begin = self.world.now.load(Ordering::Relaxed).max(self.free_at);
        // Whoever comes in a stall waits for its end; the first begins one interval after the start.
        if begin >= self.stall_every_ns && begin % self.stall_every_ns < self.stall_ns {
            begin += self.stall_ns - begin % self.stall_every_ns;
        }
        self.free_at = begin + self.service_ns;
        self.world.answers.lock().unwrap().push_back((number, self.free_at));
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_answer(&mut self, _: &mut Context<'_>) -> Poll<Result<Answered, TransportError>> {
        let now = self.world.now.load(Ordering::Relaxed);
        let mut answers = self.world.answers.lock().unwrap();
        match answers.front() {
            Some((number, at)) if *at <= now => {
                let answered = Answered { number: *number, at: *at, outcome: Ok(()) };
                answers.pop_front();
                Poll::Ready(Ok(answered))
            }
            _ => Poll::Pending,
        }
    }

    fn has_tasks(&self) -> bool {
        self.has_tasks
    }
}

/// Runs `load` against a server, and gives what it came to, with its intervals.
fn run(load: Load, in_flight_most: usize, stall_ns: u64) -> (Outcome, Vec<Interval>) {
    run_with(load, in_flight_most, stall_ns, Writes::Batched, 0)
}

/// As [`run`], where each look at the clock takes `look_ns`; a vote that is written by itself is written by tasks.
fn run_with(
    load: Load,
    in_flight_most: usize,
    stall_ns: u64,
    writes: Writes,
    look_ns: u64,
) -> (Outcome, Vec<Interval>) {
    let world = World::default();
    let clock = Clock::new({
        let now = Arc::clone(&world.now);
        move || now.fetch_add(look_ns, Ordering::Relaxed)
    });
    let server = Server {
        world: world.clone(),
        service_ns: 10_000,
        stall_every_ns: 10_000 * MS,
        stall_ns,
        free_at: 0,
        has_tasks: writes == Writes::Each,
    };
    let (recorder, books) = recorder(1_000 * MS);
    let keeper = std::thread::spawn(move || {
        let mut kept = Vec::new();
        while let Ok(mut interval) = books.over.recv() {
            let copy = Interval { response: interval.response.clone(), ..Interval::new() };
            kept.push(std::mem::replace(&mut *interval, copy));
            books.give_back(interval);
        }
        kept
    });
    let mut generator = Generator {
        time: Virtual { world, clock },
        pipelines: vec![Box::new(server)],
        in_flight_most,
        writes,
        deadline_ns: 10_000 * MS,
        recorder,
        stop: Arc::new(AtomicBool::new(false)),
        before: 0,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (outcome, ended) = runtime.block_on(generator.run(load));
    ended.unwrap();
    drop(generator);
    (outcome, keeper.join().unwrap())
}

/// What arithmetic says of votes due every `gap` in `seconds`: due, handed over and answered, by the server's rules and a bound
/// on votes in flight.
fn arithmetic(seconds: u64, gap: u64, bound: usize, stall_ns: u64) -> Vec<[u64; 3]> {
    let mut votes: Vec<[u64; 3]> = Vec::new();
    let (mut free_at, period) = (0_u64, 10_000 * MS);
    for due in (1..).map(|k| k * gap).take_while(|due| *due < seconds * 1_000 * MS) {
        let freed = votes.len().checked_sub(bound).map_or(0, |earlier| votes[earlier][2]);
        let handed_over = due.max(freed);
        let begin = handed_over.max(free_at);
        let in_stall = begin >= period && begin % period < stall_ns;
        let begin = if in_stall { begin - begin % period + stall_ns } else { begin };
        free_at = begin + 10_000;
        votes.push([due, handed_over, free_at]);
    }
    votes
}

fn histogram_of(values: impl Iterator<Item = u64>) -> hdrhistogram::Histogram<u64> {
    let mut all = crate::measure::hiccup::histogram();
    values.for_each(|value| all.saturating_record(value));
    all
}

fn merged(intervals: &[Interval], of: fn(&Interval) -> &hdrhistogram::Histogram<u64>) -> hdrhistogram::Histogram<u64> {
    let mut all = crate::measure::hiccup::histogram();
    intervals.iter().for_each(|interval| all.add(of(interval)).unwrap());
    all
}

const CONSTANT: Load =
    Load { arrivals: Arrivals::Constant, rate: 50_000.0, burst: 1, seed: 1, duration_ns: 25_000 * MS };

#[test]
fn a_stall_of_the_server_is_in_every_response_that_it_delayed() {
    for bound in [64, 4_096, 1 << 16] {
        let (outcome, intervals) = run(CONSTANT, bound, 100 * MS);
        let votes = arithmetic(25, 20_000, bound, 100 * MS);
        assert_eq!((outcome.offered, outcome.censored_count), (votes.len() as u64, 0));
        let response = histogram_of(votes.iter().map(|[due, _, answered]| answered - due));
        assert_eq!(merged(&intervals, |interval| &interval.response), response, "bound {bound}");
        let service = histogram_of(votes.iter().map(|[_, handed_over, answered]| answered - handed_over));
        assert_eq!(merged(&intervals, |interval| &interval.service), service, "bound {bound}");
        let blocked = histogram_of(votes.iter().map(|[due, handed_over, _]| handed_over - due));
        assert_eq!(merged(&intervals, |interval| &interval.blocked), blocked, "bound {bound}");
        // Two stalls in 25 s: what a closed loop would make of them is two slow votes in 1,249,999.
        assert!(response.value_at_quantile(0.99) > 30 * MS, "bound {bound}");
        if bound == 64 {
            assert!(service.value_at_quantile(0.999) < MS, "{}", service.value_at_quantile(0.999));
        }
        assert_eq!(merged(&intervals, |interval| &interval.pacer).max(), 0, "the pacer was never late");
        assert_eq!(merged(&intervals, |interval| &interval.client).max(), 0);
    }
}

#[test]
fn the_pacer_is_not_late_for_votes_that_wait_while_others_are_written() {
    let load = Load { burst: 64, duration_ns: 1_000 * MS, ..CONSTANT };
    for writes in [Writes::Batched, Writes::Each] {
        let (outcome, intervals) = run_with(load, 4_096, 0, writes, 100);
        assert_eq!(merged(&intervals, |interval| &interval.response).len(), outcome.offered);
        let pacer = merged(&intervals, |interval| &interval.pacer).max();
        assert!(pacer <= 400, "{writes:?}: {pacer} ns, of a few looks at the clock and not of those for 64 votes");
        assert!(merged(&intervals, |interval| &interval.client).max() >= 6_000, "{writes:?}");
    }
}

#[test]
fn intervals_add_up_and_begin_where_the_last_one_ended() {
    let (outcome, intervals) = run(CONSTANT, 4_096, 100 * MS);
    assert!(intervals.len() >= 25);
    let mut end = 0;
    for (interval, index) in intervals.iter().zip(0..) {
        assert_eq!((interval.index, interval.start_ns), (index, end));
        end += interval.length_ns;
    }
    assert_eq!(intervals.iter().map(|interval| interval.offered).sum::<u64>(), outcome.offered);
    assert_eq!(intervals.iter().map(Interval::answered).sum::<u64>(), outcome.offered);
    assert!(intervals[..24].iter().all(|interval| interval.length_ns == 1_000 * MS));
    // In the second after a stall more is answered than is due.
    assert!(intervals[10].answered() < 50_000 || intervals[10].backlog == 0);
    assert_eq!(intervals[5].offered, 50_000);
}

#[test]
fn what_a_server_cannot_take_is_censored_at_its_age_and_never_dropped() {
    // The server takes 100,000 a second.
    let load = Load { rate: 300_000.0, duration_ns: 8_000 * MS, ..CONSTANT };
    let (outcome, intervals) = run(load, 256, 0);
    let answered: u64 = intervals.iter().map(Interval::answered).sum();
    assert_eq!(outcome.offered, 2_399_999);
    assert_eq!(answered + outcome.censored_count, outcome.offered);
    assert!((799_000..800_001).contains(&outcome.answered_in_time), "{}", outcome.answered_in_time);
    // The drain of 10 s is over at 18 s: the oldest of the rest was due at 6 s, the youngest at 8 s.
    let oldest = outcome.censored.iter().max().unwrap();
    assert!((11_900 * MS..12_100 * MS).contains(oldest), "{oldest}");
    let backlog: Vec<u64> = intervals[..8].iter().map(|interval| interval.backlog).collect();
    assert!(backlog.windows(2).all(|pair| pair[1] > pair[0] + 190_000), "{backlog:?}");
}

#[test]
fn a_closed_plan_offers_what_the_server_takes() {
    let load = Load { arrivals: Arrivals::Closed, duration_ns: 1_000 * MS, ..CONSTANT };
    let (outcome, intervals) = run(load, 1, 0);
    let response = merged(&intervals, |interval| &interval.response);
    assert_eq!((response.min(), outcome.offered, outcome.censored_count), (10_000, 100_000, 0));
    assert_eq!(response, histogram_of((0..100_000).map(|_| 10_000)));
}

#[test]
fn a_load_lasts_as_long_as_it_was_to_last() {
    // Its last vote is answered 10 us before.
    for (milliseconds, offered, count) in [(1_500, 74_999, 2), (2_000, 99_999, 2), (60_000, 2_999_999, 60)] {
        let (outcome, intervals) = run(Load { duration_ns: milliseconds * MS, ..CONSTANT }, 4_096, 0);
        assert_eq!((outcome.offered, outcome.end_ns), (offered, milliseconds * MS));
        assert_eq!(intervals.len(), count);
        assert_eq!(intervals.iter().map(|interval| interval.length_ns).sum::<u64>(), milliseconds * MS);
    }
}
