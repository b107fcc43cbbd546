//! How long a server of ours waits for its peer. Owns the limit on a connection that gets nowhere: nothing asked, half a head, a
//! body in drops, an answer that nobody reads.
//!
//! One timer for each connection, which is only set anew when it has run out: nothing is allocated for a request, and no clock
//! read. A connection on which no request was answered between two runs of it is given up, so after at least the limit and at
//! most twice as long.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// How long a connection may go without an answered request: as Debian's nginx has its limits by default, in round figures.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// A connection's patience.
#[derive(Debug)]
pub(super) struct Patience {
    limit: Duration,
    timer: Pin<Box<Sleep>>,
    /// Requests that were answered, and how many of them when the timer was set.
    answered: u64,
    before: u64,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, timer: Box::pin(sleep(limit)), answered: 0, before: 0 }
    }

    /// A request was answered: the peer is waited for anew.
    pub(super) const fn renew(&mut self) {
        self.answered += 1;
    }

    /// Does `task`, which waits for the peer, unless the patience is at an end.
    ///
    /// # Errors
    /// The task's own; of the kind [`TimedOut`](io::ErrorKind::TimedOut) where no request was answered in time.
    pub(super) async fn with<T, E: From<io::Error>>(
        &mut self,
        task: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut task = pin!(task);
        poll_fn(|context| {
            if let Poll::Ready(done) = task.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            while self.timer.as_mut().poll(context).is_ready() {
                if self.answered == self.before {
                    let error = io::Error::new(io::ErrorKind::TimedOut, "no request was answered in time");
                    return Poll::Ready(Err(error.into()));
                }
                self.before = self.answered;
                self.timer.as_mut().reset(Instant::now() + self.limit);
            }
            Poll::Pending
        })
        .await
    }
}
