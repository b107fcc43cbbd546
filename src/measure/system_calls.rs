//! System calls of this process, counted by the kernel's tracepoints: all of them, and by name those that carry messages, wait
//! or lock. Owns the counters and the list of names.

use perf_event::events::Tracepoint;
use perf_event::{Builder, Counter};
use serde::{Deserialize, Serialize};

/// Where the kernel says the numbers of its tracepoints; the second is where older ones have it.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The tracepoint that every system call passes.
const ANY: &str = "raw_syscalls/sys_enter";

/// System calls that are told apart by name: input and output, waiting for it, and locks.
pub const NAMES: [&str; 16] = [
    "read",
    "readv",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "write",
    "writev",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "epoll_wait",
    "epoll_pwait",
    "epoll_ctl",
    "futex",
    "io_uring_enter",
    "sched_yield",
];

/// How many system calls there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Of every name.
    pub all: u64,
    /// By name, in the order of [`NAMES`].
    named: [u64; NAMES.len()],
}

impl Calls {
    /// How many there were since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let mut named = self.named;
        for (now, then) in named.iter_mut().zip(earlier.named) {
            *now = now.saturating_sub(then);
        }
        Self { all: self.all.saturating_sub(earlier.all), named }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let mut named = self.named;
        for (sum, more) in named.iter_mut().zip(other.named) {
            *sum += more;
        }
        Self { all: self.all + other.all, named }
    }

    /// Those that there were, by name.
    pub fn by_name(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        NAMES.into_iter().zip(self.named).filter(|(_, calls)| *calls > 0)
    }
}

/// Counts the calling thread's system calls, and those of the threads that it starts from now on.
#[derive(Debug)]
pub struct Counters {
    all: Counter,
    /// In the order of [`NAMES`]; `None` for a call that this kernel does not have.
    named: Vec<Option<Counter>>,
}

impl Counters {
    /// Opens the counters.
    ///
    /// # Errors
    /// Where the kernel does not let them be opened, in one sentence.
    pub fn open() -> Result<Self, String> {
        let all = counter(ANY)?.ok_or("the kernel's tracepoints of system calls cannot be read (tracefs, root)")?;
        let named = NAMES.iter().map(|name| counter(&format!("syscalls/sys_enter_{name}")));
        Ok(Self { all, named: named.collect::<Result<_, _>>()? })
    }

    /// The counts now.
    ///
    /// # Errors
    /// Where a counter cannot be read.
    pub fn read(&mut self) -> std::io::Result<Calls> {
        let mut calls = Calls { all: self.all.read()?, ..Calls::default() };
        for (calls, counter) in calls.named.iter_mut().zip(&mut self.named) {
            if let Some(counter) = counter {
                *calls = counter.read()?;
            }
        }
        Ok(calls)
    }
}

/// A counter of `tracepoint`, where this kernel has such a one.
fn counter(tracepoint: &str) -> Result<Option<Counter>, String> {
    let number = TRACEFS
        .iter()
        .find_map(|root| std::fs::read_to_string(format!("{root}/events/{tracepoint}/id")).ok()?.trim().parse().ok());
    let Some(number) = number else { return Ok(None) };
    let open = || {
        let mut builder = Builder::new(Tracepoint::with_id(number));
        let mut counter = builder.include_kernel().inherit(true).build()?;
        counter.enable()?;
        Ok(Some(counter))
    };
    open().map_err(|error: std::io::Error| format!("the kernel does not let system calls be counted: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_this_threads_calls_by_name() {
        let mut counters = match Counters::open() {
            Ok(counters) => counters,
            Err(reason) => return assert!(!reason.is_empty()),
        };
        let before = counters.read().unwrap();
        for _ in 0..100 {
            std::thread::yield_now();
        }
        let calls = counters.read().unwrap().since(before);
        // Reading the counters takes calls too.
        assert!((100..120).contains(&calls.all), "{calls:?}");
        assert!(calls.by_name().any(|named| named == ("sched_yield", 100)), "{calls:?}");
    }
}
