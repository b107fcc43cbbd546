//! What happened in one second of a load: histograms and counts, filled by the generator. Owns their hand-over, which costs the
//! generator a pointer: whoever keeps the books gives emptied intervals back, and none is ever made under load.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use hdrhistogram::Histogram;

use super::waits::Split;
use crate::measure::hiccup::histogram;
use crate::transport::TransportError;

/// Intervals in circulation: one that is filled, one that is on the books, and one to spare.
const CIRCULATION: usize = 3;

/// One interval, all in nanoseconds.
#[derive(Debug)]
pub struct Interval {
    /// Its place in the load.
    pub index: u64,
    /// When it began, from the load's start.
    pub start_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// From due to answered, of the votes that were answered in it.
    pub response: Histogram<u64>,
    /// From handed over to answered, of the same votes.
    pub service: Histogram<u64>,
    /// From due to handed over, in parts, of the votes that were handed over in it.
    pub blocked: Histogram<u64>,
    /// See [`blocked`](Self::blocked).
    pub client: Histogram<u64>,
    /// See [`blocked`](Self::blocked).
    pub pacer: Histogram<u64>,
    /// Between two looks at the clock while nothing was in flight: the hiccup meter in place.
    pub gaps: Histogram<u64>,
    /// Whether it is the last of its load.
    pub last: bool,
    /// Votes that became due.
    pub offered: u64,
    /// Votes that were handed over.
    pub handed_over: u64,
    /// Votes due and not answered at its end.
    pub backlog: u64,
    /// Samples longer than the histograms go.
    pub clipped: u64,
    /// Votes that came to nothing, by the kind of failure, and the last failure's words.
    pub errors: BTreeMap<&'static str, u64>,
    /// The last failure's words.
    pub last_error: Option<String>,
}

impl Interval {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self {
            index: 0,
            start_ns: 0,
            length_ns: 0,
            response: histogram(),
            service: histogram(),
            blocked: histogram(),
            client: histogram(),
            pacer: histogram(),
            gaps: histogram(),
            last: false,
            offered: 0,
            handed_over: 0,
            backlog: 0,
            clipped: 0,
            errors: BTreeMap::new(),
            last_error: None,
        }
    }

    /// Votes that were answered well.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.response.len()
    }

    /// Empties it, and keeps the room.
    pub fn clear(&mut self) {
        for histogram in [
            &mut self.response,
            &mut self.service,
            &mut self.blocked,
            &mut self.client,
            &mut self.pacer,
            &mut self.gaps,
        ] {
            // Nearly all of an interval's counts are zero, and `reset` writes only those that can be others.
            histogram.reset();
        }
        (self.offered, self.handed_over, self.backlog, self.clipped) = (0, 0, 0, 0);
        self.errors.clear();
        (self.last, self.last_error) = (false, None);
    }

    /// A vote has been handed over.
    pub fn record_wait(&mut self, wait: Split) {
        self.handed_over += 1;
        self.blocked.saturating_record(wait.blocked);
        self.client.saturating_record(wait.client);
        self.pacer.saturating_record(wait.pacer);
    }

    /// A vote has been answered.
    pub fn record_answer(&mut self, response: u64, service: u64) {
        self.clipped += u64::from(response > self.response.high());
        self.response.saturating_record(response);
        self.service.saturating_record(service);
    }

    /// A vote has come to nothing.
    pub fn record_error(&mut self, error: &TransportError) {
        *self.errors.entry(error.kind()).or_default() += 1;
        self.last_error = Some(error.to_string());
    }
}

impl Default for Interval {
    fn default() -> Self {
        Self::new()
    }
}

/// The bookkeeper's end.
#[derive(Debug)]
pub struct Books {
    /// Intervals that are over.
    pub over: Receiver<Box<Interval>>,
    spare: SyncSender<Box<Interval>>,
}

impl Books {
    /// Gives an interval back.
    pub fn give_back(&self, mut interval: Box<Interval>) {
        interval.clear();
        // Where the generator has gone, nobody needs it.
        let _ = self.spare.try_send(interval);
    }
}

/// The generator's end: the interval that is being filled.
#[derive(Debug)]
pub struct Recorder {
    /// The interval under way.
    pub now: Box<Interval>,
    /// When it ends.
    boundary: u64,
    length_ns: u64,
    over: SyncSender<Box<Interval>>,
    spare: Receiver<Box<Interval>>,
}

/// A recorder of intervals of `length_ns`, and the books that they go to.
#[must_use]
pub fn recorder(length_ns: u64) -> (Recorder, Books) {
    let (over, filled) = sync_channel(CIRCULATION);
    let (spare, emptied) = sync_channel(CIRCULATION);
    for _ in 1..CIRCULATION {
        // There is room for all of them.
        let _ = spare.try_send(Box::default());
    }
    let recorder = Recorder { now: Box::default(), boundary: length_ns, length_ns, over, spare: emptied };
    (recorder, Books { over: filled, spare })
}

impl Recorder {
    /// Begins anew, with the first interval of a load.
    pub fn begin(&mut self) {
        self.now.clear();
        (self.now.index, self.now.start_ns, self.boundary) = (0, 0, self.length_ns);
    }

    /// When the interval under way ends.
    #[must_use]
    pub const fn boundary(&self) -> u64 {
        self.boundary
    }

    /// Ends the interval under way at its boundary. Where the books are behind, it goes on for another length instead: its
    /// record says how long it was.
    pub fn end_interval(&mut self, backlog: u64) {
        if let Ok(next) = self.spare.try_recv() {
            self.hand_over(next, self.boundary, backlog);
        }
        self.boundary += self.length_ns;
    }

    /// Ends the interval under way at `end`: the load is over.
    pub fn end_load(&mut self, end: u64, backlog: u64) {
        // An interval comes back as soon as it is on the books.
        let next = self.spare.recv().unwrap_or_default();
        self.now.last = true;
        self.hand_over(next, end, backlog);
    }

    fn hand_over(&mut self, next: Box<Interval>, end: u64, backlog: u64) {
        let mut over = std::mem::replace(&mut self.now, next);
        (self.now.index, self.now.start_ns) = (over.index + 1, end);
        (over.length_ns, over.backlog) = (end.saturating_sub(over.start_ns), backlog);
        // There are no more intervals than places; where nobody keeps books, there is nobody to tell.
        let _ = self.over.try_send(over);
    }
}
