//! Pinning a thread to a core.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that this thread may run on, in ascending order.
///
/// # Errors
/// Where the kernel does not say.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
}

/// Pins the calling thread, and the threads and processes that it starts from now on, to one core.
///
/// # Errors
/// Where the kernel refuses, as for a core that does not exist or that this process may not use.
pub fn pin(core: usize) -> io::Result<()> {
    if core >= CpuSet::MAX_CPU {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no such core"));
    }
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Does `task` on a thread of its own, pinned to `core` where there is one: what it starts is pinned, too.
///
/// # Errors
/// A sentence, where the kernel refuses, or the task fails.
#[cfg(feature = "net")]
pub(super) fn pinned<T: Send>(core: Option<usize>, task: impl FnOnce() -> io::Result<T> + Send) -> Result<T, String> {
    let pin_and_do = || {
        core.map_or(Ok(()), pin)?;
        task()
    };
    let done = std::thread::scope(|scope| scope.spawn(pin_and_do).join());
    done.map_err(|_| "the thread stopped".to_owned())?.map_err(|error| error.to_string())
}
