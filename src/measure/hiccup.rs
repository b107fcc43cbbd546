//! The hiccup meter: how often, and for how long, the machine itself stands still. A thread reads the clock without pause
//! and records the gap between two reads; what is above the cost of a read was taken away by interrupts, the kernel or the
//! hypervisor. It runs alone, before and after what it vouches for: beside a measurement it would wreck what it guards.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::pinning;

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
