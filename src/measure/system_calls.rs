//! System calls of this process, counted by the kernel's tracepoints: all of them, by name those that carry messages, wait or
//! lock, and those that came back with nothing. Owns the counters and the list of names.

use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;

use perf_event::events::Tracepoint;
use perf_event::{Builder, Counter};
use serde::{Deserialize, Serialize};

/// Where the kernel says the numbers of its tracepoints; the second is where older ones have it.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The tracepoint that every system call passes.
const ANY: &str = "raw_syscalls/sys_enter";

/// Calls that look for something and find nothing: the tracepoint of their return, and what the kernel is to hold against it.
/// Those that wait for events return 0 then, all others `EAGAIN`.
const NOTHING: [(&str, &str); 3] = [
    ("raw_syscalls/sys_exit", "ret == -11"),
    ("syscalls/sys_exit_epoll_wait", "ret == 0"),
    ("syscalls/sys_exit_epoll_pwait", "ret == 0"),
];

/// The kernel's request that gives a counter of a tracepoint a condition (`PERF_EVENT_IOC_SET_FILTER`).
const SET_FILTER: libc::Ioctl = 0x4008_2406;

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
    /// Those that found nothing, where this kernel tells them apart.
    pub found_nothing: Option<u64>,
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
        let found_nothing = self.found_nothing.zip(earlier.found_nothing).map(|(now, then)| now.saturating_sub(then));
        Self { all: self.all.saturating_sub(earlier.all), found_nothing, named }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let mut named = self.named;
        for (sum, more) in named.iter_mut().zip(other.named) {
            *sum += more;
        }
        let found_nothing = self.found_nothing.zip(other.found_nothing).map(|(one, other)| one + other);
        Self { all: self.all + other.all, found_nothing, named }
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
    /// In the order of [`NOTHING`]; `None` where this kernel takes no condition.
    found_nothing: Option<Vec<Option<Counter>>>,
}

impl Counters {
    /// Opens the counters.
    ///
    /// # Errors
    /// Where the kernel does not let them be opened, in one sentence.
    pub fn open() -> Result<Self, String> {
        let all = counter(ANY)?.ok_or("the kernel's tracepoints of system calls cannot be read (tracefs, root)")?;
        let named = NAMES.iter().map(|name| counter(&format!("syscalls/sys_enter_{name}")));
        let found_nothing = NOTHING.iter().map(|(tracepoint, condition)| {
            let counter = counter(tracepoint)?;
            if let Some(counter) = &counter {
                restrict(counter, condition).map_err(|error| error.to_string())?;
            }
            Ok(counter)
        });
        let found_nothing = found_nothing.collect::<Result<_, String>>().ok();
        Ok(Self { all, named: named.collect::<Result<_, _>>()?, found_nothing })
    }

    /// The counts now.
    ///
    /// # Errors
    /// Where a counter cannot be read.
    pub fn read(&mut self) -> io::Result<Calls> {
        let mut calls = Calls { all: self.all.read()?, ..Calls::default() };
        for (calls, counter) in calls.named.iter_mut().zip(&mut self.named) {
            if let Some(counter) = counter {
                *calls = counter.read()?;
            }
        }
        if let Some(counters) = &mut self.found_nothing {
            // Without a list of them, for this stands between two looks at the allocations.
            let sum = |sum: u64, counter: &mut Counter| Ok::<_, io::Error>(sum + counter.read()?);
            calls.found_nothing = Some(counters.iter_mut().flatten().try_fold(0, sum)?);
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
    open().map_err(|error: io::Error| format!("the kernel does not let system calls be counted: {error}"))
}

/// Has `counter` count only the events of which `condition` holds.
fn restrict(counter: &Counter, condition: &str) -> io::Result<()> {
    let condition = CString::new(condition)?;
    #[expect(unsafe_code, reason = "the crate of the counters has no call for conditions")]
    // SAFETY: the descriptor is the counter's, which is borrowed here; the kernel reads the text up to its final zero, keeps no
    // pointer to it, and writes nothing.
    let outcome = unsafe { libc::ioctl(counter.as_raw_fd(), SET_FILTER, condition.as_ptr()) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
        assert!((100..=100 + 1 + NAMES.len() as u64 + NOTHING.len() as u64).contains(&calls.all), "{calls:?}");
        assert!(calls.by_name().any(|named| named == ("sched_yield", 100)), "{calls:?}");
        assert!(calls.found_nothing.is_none_or(|calls| calls == 0), "{calls:?}");
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let before = counters.read().unwrap();
        for _ in 0..50 {
            socket.recv(&mut [0]).unwrap_err();
        }
        let found_nothing = counters.read().unwrap().since(before).found_nothing;
        assert!(found_nothing.is_none_or(|calls| calls == 50), "{found_nothing:?}");
    }
}
