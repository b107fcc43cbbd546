//! A pool of callers: the pipeline of every stack on which a vote is a call or a stream of its own. Owns the callers, as many
//! as votes may be in flight, each a future that makes one call after another.
//!
//! The callers are made once and woken by name, so that a vote costs no task and no allocation of the suite's: what is spent
//! is the stack's. A stack that has to be driven by whoever uses it says how, in [`Driver`].

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::pipeline::{Answered, Flight, Pipeline, Writes};
use super::{Connection, TransportError};
use crate::vote::Vote;

/// Callers that one connection has at most: with thousands of calls under way what each of them holds no longer fits the
/// caches, and a backlog makes the stack slower just when it has to be faster.
pub(super) const MOST: usize = 256;

/// One of many that share a connection: one call at a time.
pub(super) trait Caller: Send + 'static {
    /// One call, its answer checked.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    fn call(&mut self, vote: &Vote) -> impl Future<Output = Result<(), TransportError>> + Send;
}

impl<C: Connection> Caller for C {
    fn call(&mut self, vote: &Vote) -> impl Future<Output = Result<(), TransportError>> + Send {
        self.exchange(vote)
    }
}

/// What moves the bytes of all calls.
pub(super) trait Driver: Send + 'static {
    /// Whether it is done by tasks of the stack.
    const HAS_TASKS: bool;

    /// Whether the stack takes another call now: pending where it would block.
    ///
    /// # Errors
    /// Where the connection is at its end.
    fn poll_room(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    /// Reads and writes what there is.
    ///
    /// # Errors
    /// Where the connection is at its end.
    fn drive(&mut self, cx: &mut Context<'_>) -> Result<(), TransportError>;
}

/// The stack's own tasks do.
pub(super) struct OwnTasks;

impl Driver for OwnTasks {
    const HAS_TASKS: bool = true;

    fn drive(&mut self, _: &mut Context<'_>) -> Result<(), TransportError> {
        Ok(())
    }
}

/// Where pipeline and callers leave things for each other.
struct Board {
    /// The number that each caller is to send, until it takes it.
    jobs: Vec<Option<u64>>,
    /// What wakes each caller that has nothing to do.
    wakers: Vec<Option<Waker>>,
    /// The callers that have nothing to do.
    idle: Vec<usize>,
    /// What has been answered and not been fetched.
    done: VecDeque<Answered>,
}

/// Both ends of the board. The lock is never waited for: everything runs on one thread.
#[derive(Clone)]
struct Shared(Arc<Mutex<Board>>);

impl Shared {
    fn with<T>(&self, act: impl FnOnce(&mut Board) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn poll_job(&self, caller: usize, cx: &Context<'_>) -> Poll<u64> {
        self.with(|board| match board.jobs[caller].take() {
            Some(number) => Poll::Ready(number),
            None => {
                if board.wakers[caller].as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
                    board.wakers[caller] = Some(cx.waker().clone());
                }
                Poll::Pending
            }
        })
    }
}

/// The pool.
pub(super) struct Callers<D> {
    calls: FuturesUnordered<Pin<Box<dyn Future<Output = ()> + Send>>>,
    board: Shared,
    driver: D,
    writes: Writes,
}

impl<D: Driver> Callers<D> {
    /// As many callers as votes may be in flight; `caller` makes one.
    ///
    /// # Errors
    /// Where one cannot be made.
    pub(super) fn new<C: Caller>(
        flight: &Flight,
        driver: D,
        mut caller: impl FnMut() -> Result<C, TransportError>,
    ) -> Result<Self, TransportError> {
        let most = flight.most;
        let board = Shared(Arc::new(Mutex::new(Board {
            jobs: vec![None; most],
            wakers: vec![None; most],
            idle: (0..most).rev().collect(),
            done: VecDeque::with_capacity(most),
        })));
        let calls = FuturesUnordered::new();
        for index in 0..most {
            let serving = serve(index, caller()?, board.clone(), flight.clone());
            calls.push(Box::pin(serving) as Pin<Box<dyn Future<Output = ()> + Send>>);
        }
        Ok(Self { calls, board, driver, writes: flight.writes })
    }

    /// Lets every caller that has been woken do what it can, between two turns of the driver: one for what has come, one for
    /// what is to go.
    fn turn(&mut self, cx: &mut Context<'_>) -> Result<(), TransportError> {
        self.driver.drive(cx)?;
        // Callers never end, so that this is pending when all that were woken have had their turn.
        let _ = self.calls.poll_next_unpin(cx);
        self.driver.drive(cx)
    }
}

/// One caller: takes a number, calls, leaves what came of it, for ever.
async fn serve<C: Caller>(index: usize, mut caller: C, board: Shared, flight: Flight) {
    loop {
        let number = poll_fn(|cx| board.poll_job(index, cx)).await;
        let outcome = caller.call(flight.vote(number)).await;
        let at = flight.clock.now();
        board.with(|board| {
            board.done.push_back(Answered { number, at, outcome });
            board.idle.push(index);
        });
    }
}

impl<D: Driver> Pipeline for Callers<D> {
    fn poll_submit(&mut self, cx: &mut Context<'_>, number: u64) -> Poll<Result<(), TransportError>> {
        if self.board.with(|board| board.idle.is_empty()) {
            return Poll::Pending;
        }
        ready!(self.driver.poll_room(cx))?;
        self.board.with(|board| {
            let Some(caller) = board.idle.pop() else { return };
            board.jobs[caller] = Some(number);
            if let Some(waker) = &board.wakers[caller] {
                waker.wake_by_ref();
            }
        });
        match self.writes {
            Writes::Batched => Poll::Ready(Ok(())),
            Writes::Each => Poll::Ready(self.turn(cx)),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(self.turn(cx))
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answered, TransportError>> {
        let mut answered = self.board.with(|board| board.done.pop_front());
        if answered.is_none() {
            self.turn(cx)?;
            answered = self.board.with(|board| board.done.pop_front());
        }
        match answered {
            Some(Answered { outcome: Err(error), .. }) if error.ends_the_connection() => Poll::Ready(Err(error)),
            Some(answered) => Poll::Ready(Ok(answered)),
            None => Poll::Pending,
        }
    }

    fn has_tasks(&self) -> bool {
        D::HAS_TASKS
    }
}
