//! The hiccup meter: how often, and for how long, the machine itself stands still. A thread reads the clock without pause
//! and records the gap between two reads; what is above the cost of a read was taken away by interrupts, the kernel or the
//! hypervisor. It runs alone, before and after what it vouches for: beside a measurement it would wreck what it guards.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::pinning;
use crate::stats::lateness::quantiles;

/// Longest gap that the histogram resolves, in nanoseconds: one hour; longer ones count as that.
const MAX_NS: u64 = 3_600_000_000_000;

/// An empty histogram as every duration here is kept: 1 ns to one hour, three significant digits.
#[must_use]
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_NS, 3).expect("1 to one hour with 3 digits are valid bounds")
}

/// Gaps between clock reads on one core, in nanoseconds, over `duration`.
///
/// # Errors
/// Where the thread cannot be started or pinned.
pub fn measure(core: usize, duration: Duration) -> io::Result<Histogram<u64>> {
    let meter = thread::Builder::new().name(format!("hiccup-{core}")).spawn(move || {
        pinning::pin(core)?;
        Ok(spin(duration))
    })?;
    meter.join().unwrap_or_else(|_| Err(io::Error::other("the hiccup meter stopped")))
}

/// How long something that falls due at a random moment waits for a loop that leaves these gaps: the quantile at `share`, in
/// nanoseconds.
#[must_use]
pub fn lateness(gaps: &Histogram<u64>, share: f64) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "durations, far below 2^53 ns")]
    let recorded = gaps.iter_recorded().map(|step| (step.value_iterated_to() as f64, step.count_at_value() as f64));
    let recorded: Vec<_> = recorded.collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration, and not below zero")]
    let wait = quantiles(&recorded, &[share])[0].ceil() as u64;
    wait
}

/// Gaps on the first of two cores while the second is kept as busy.
///
/// # Errors
/// As [`measure`].
pub fn measure_both((core, other): (usize, usize), duration: Duration) -> io::Result<Histogram<u64>> {
    thread::scope(|scope| {
        let beside = scope.spawn(move || measure(other, duration));
        let gaps = measure(core, duration);
        // Its own gaps are of no interest.
        let _ = beside.join();
        gaps
    })
}

fn spin(duration: Duration) -> Histogram<u64> {
    let mut gaps = histogram();
    let start = Instant::now();
    let mut last = start;
    while last - start < duration {
        let now = Instant::now();
        let gap = u64::try_from((now - last).as_nanos()).unwrap_or(MAX_NS);
        gaps.saturating_record(gap);
        last = now;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_counts_a_gap_by_its_length() {
        let mut gaps = histogram();
        assert_eq!(lateness(&gaps, 0.99), 0);
        // A tenth of the time is one gap of 1 ms; of what falls due at random a tenth waits, evenly up to 1 ms.
        gaps.record_n(50, 180_000).unwrap();
        gaps.record(1_000_000).unwrap();
        let p99 = lateness(&gaps, 0.99);
        assert!(p99.abs_diff(900_000) < 5_000, "{p99}");
        assert!(lateness(&gaps, 0.5) <= 50);
    }

    #[test]
    fn covers_the_time_that_it_watched() {
        let core = pinning::allowed().unwrap()[0];
        let gaps = measure(core, Duration::from_millis(50)).unwrap();
        let total: f64 = gaps
            .iter_recorded()
            .map(|step| {
                #[expect(clippy::cast_precision_loss, reason = "a sum of durations, to be compared roughly")]
                let sum = step.value_iterated_to() as f64 * step.count_at_value() as f64;
                sum
            })
            .sum();
        assert!((49e6..60e6).contains(&total) || gaps.max() > 1_000_000, "{total} ns of gaps in 50 ms");
    }
}
