//! How threads wait: in the kernel, or not at all. Owns the runtime of both kinds and the task that keeps a polling one from
//! parking.
//!
//! Everything that is measured runs as a task of a current-thread runtime and never as the future that `block_on` is given:
//! waking that one writes to the runtime's own event descriptor, a system call a message that has nothing to do with any
//! stack.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

/// How threads wait for the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// They sleep in the kernel: what a node does.
    Block,
    /// They never park: the path's length, without the price of a wake-up.
    Poll,
}

impl Wait {
    /// Both, the headline first.
    pub const ALL: [Self; 2] = [Self::Block, Self::Poll];

    /// The name in results and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Poll => "poll",
        }
    }
}

/// A current-thread runtime that waits one way or the other.
#[derive(Debug)]
pub struct WaitingRuntime {
    runtime: Runtime,
    polls: Arc<AtomicU64>,
}

impl WaitingRuntime {
    /// Builds one.
    ///
    /// # Errors
    /// Where the system refuses an event queue.
    pub fn new(wait: Wait) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let polls = Arc::new(AtomicU64::new(0));
        if wait == Wait::Poll {
            runtime.spawn(never_park(Arc::clone(&polls)));
        }
        Ok(Self { runtime, polls })
    }

    /// How often the runtime has looked for events instead of parking; stays 0 where it parks.
    #[must_use]
    pub fn polls(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.polls)
    }

    /// Runs `future` as a task, to its end.
    ///
    /// # Errors
    /// Where the task panicked; its words are on stderr.
    pub fn run<F>(&self, future: F) -> Result<F::Output, tokio::task::JoinError>
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        let task = self.runtime.spawn(future);
        self.runtime.block_on(task)
    }
}

/// Always ready again: with it the runtime asks the kernel for events without waiting, and goes on.
async fn never_park(polls: Arc<AtomicU64>) {
    loop {
        polls.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
}
