//! Many votes in flight on one connection: what open-loop load needs of a stack. Owns the [`Pipeline`] trait, what a pipeline
//! is set up with, and the check of answers that come in order.
//!
//! A pipeline is polled again and again by a generator that never sleeps, so it need not wake anybody: where something is
//! pending, it is simply asked again. Votes go by number: number `k` is vote `k` of the corpus, which begins anew at its end.
//! An answer is stamped where it has been decoded and checked, not where the generator comes to look at it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::{Deserialize, Serialize};

use super::TransportError;
use crate::vote::Vote;

/// When what was submitted is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// All that are at hand together, as a node does: rates above what single writes allow are an effect of this.
    #[default]
    Batched,
    /// Each message by itself, as it is submitted, and each answer too where the framing is ours.
    Each,
}

impl Writes {
    /// Both, what a node does first.
    pub const ALL: [Self; 2] = [Self::Batched, Self::Each];

    /// The name in results and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Each => "each",
            Self::Batched => "batched",
        }
    }
}

/// What tells the time of an answer, in nanoseconds since a moment that only the generator knows.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// The clock that `now` reads.
    #[must_use]
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Nanoseconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}

/// What a pipeline is set up with.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The votes, by number modulo their count; never empty.
    pub votes: Arc<[Vote]>,
    /// Votes that may be in flight on this connection.
    pub most: usize,
    /// When they are written.
    pub writes: Writes,
    /// What answers are stamped by.
    pub clock: Clock,
}

impl Flight {
    /// The vote of that number.
    #[must_use]
    pub fn vote(&self, number: u64) -> &Vote {
        let count = self.votes.len() as u64;
        // Below the count, which is a usize.
        &self.votes[usize::try_from(number % count).unwrap_or(0)]
    }
}

/// One vote that is not in flight any more.
#[derive(Debug)]
pub struct Answered {
    /// Its number.
    pub number: u64,
    /// When its answer had been decoded and checked, or its failure was known.
    pub at: u64,
    /// Whether the answer was the right one; the connection goes on in either case.
    pub outcome: Result<(), TransportError>,
}

/// A client's end of one connection, with many votes in flight.
pub trait Pipeline: Send {
    /// Hands vote `number` to the stack; pending where the stack would block, and then it has not been taken.
    ///
    /// # Errors
    /// Where the connection is of no further use.
    fn poll_submit(&mut self, cx: &mut Context<'_>, number: u64) -> Poll<Result<(), TransportError>>;

    /// Writes what has been submitted, as far as the stack takes it now.
    ///
    /// # Errors
    /// Where the connection is of no further use.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>>;

    /// The next vote that has been answered, in whatever order the stack answers.
    ///
    /// # Errors
    /// Where the connection is of no further use.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answered, TransportError>>;

    /// Whether tasks of the stack's own do the writing: they need a turn before anything leaves.
    fn has_tasks(&self) -> bool;
}

/// Votes whose answers come in the order in which they went.
#[derive(Debug)]
pub(super) struct InOrder {
    /// What the pipeline was set up with.
    pub(super) flight: Flight,
    numbers: VecDeque<u64>,
}

impl InOrder {
    /// None in flight.
    pub(super) fn new(flight: Flight) -> Self {
        Self { numbers: VecDeque::with_capacity(flight.most), flight }
    }

    /// Whether no other may go.
    pub(super) fn is_full(&self) -> bool {
        self.numbers.len() >= self.flight.most
    }

    /// Vote `number` has gone.
    pub(super) fn sent(&mut self, number: u64) {
        self.numbers.push_back(number);
    }

    /// The votes that are under way, the one whose answer is due next at the front.
    pub(super) fn under_way(&self) -> impl Iterator<Item = u64> {
        self.numbers.iter().copied()
    }

    /// Whether none is.
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The next answer has come; `check` holds it against its vote.
    ///
    /// # Errors
    /// Where no vote is under way, or `check` says so.
    pub(super) fn answered(
        &mut self,
        check: impl FnOnce(&Vote) -> Result<(), TransportError>,
    ) -> Result<Answered, TransportError> {
        let number = self.numbers.pop_front().ok_or(TransportError::WrongAnswer)?;
        check(self.flight.vote(number))?;
        Ok(Answered { number, at: self.flight.clock.now(), outcome: Ok(()) })
    }
}
