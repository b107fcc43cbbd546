//! What it takes to wake a thread that sleeps on the other core: from before the call that wakes it to its own next clock
//! read. The papers' bound on p99 calls this the scheduler's share. It is the price of one wait of a round trip in `block`; in
//! `poll` nobody sleeps.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::{hiccup, pinning};

/// Wake-ups that are measured.
const WAKE_UPS: u64 = 5_000;

/// How long the sleeper has for falling asleep, and its core for becoming idle: about what a round trip leaves it.
const ASLEEP: Duration = Duration::from_micros(50);

/// Distribution of the time from waking, on `waker`, to being awake, on `sleeper`, in nanoseconds.
///
/// # Errors
/// Where the threads cannot be started or pinned.
pub fn measure(waker: usize, sleeper: usize) -> io::Result<Histogram<u64>> {
    let began = Instant::now();
    let since = move || u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    // When the waker called; 0 before that. Then when the sleeper was awake.
    let (called, awake) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (calls, answers) = (Arc::clone(&called), Arc::clone(&awake));
    let sleeping = thread::Builder::new().name("sleeper".to_owned()).spawn(move || {
        let pinned = pinning::pin(sleeper);
        for number in 1..=WAKE_UPS {
            // Parking may end without a call.
            while calls.load(Ordering::Acquire) < number {
                thread::park();
            }
            answers.store(since(), Ordering::Release);
        }
        pinned
    })?;
    let thread = sleeping.thread().clone();
    let waking = thread::Builder::new().name("waker".to_owned()).spawn(move || {
        let pinned = pinning::pin(waker);
        let (mut taken, mut last) = (hiccup::histogram(), 0);
        for number in 1..=WAKE_UPS {
            let rest = Instant::now();
            while rest.elapsed() < ASLEEP {
                std::hint::spin_loop();
            }
            let before = since();
            called.store(number, Ordering::Release);
            thread.unpark();
            let after = loop {
                match awake.load(Ordering::Acquire) {
                    seen if seen != last => break seen,
                    // Where both have one core, it is the sleeper's now.
                    _ => thread::yield_now(),
                }
            };
            last = after;
            taken.saturating_record(after.saturating_sub(before));
        }
        pinned.map(|()| taken)
    })?;
    let stopped = |_| io::Error::other("a thread that wakes or sleeps has stopped");
    let taken = waking.join().map_err(stopped)?;
    sleeping.join().map_err(stopped)??;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waking_takes_more_than_a_clock_read() {
        let cores = pinning::allowed().unwrap();
        let taken = measure(cores[0], cores[cores.len() - 1]).unwrap();
        assert_eq!(taken.len(), WAKE_UPS);
        assert!((500..1_000_000_000).contains(&taken.value_at_quantile(0.5)), "{}", taken.value_at_quantile(0.5));
    }
}
