//! One row by itself: its value, the intervals around it, and its own A/A floor. Owns no verdict.

use super::floor;
use super::location::hodges_lehmann;
use super::numbers::{StatsError, medians};
use super::rank::{Interval, one_sample_interval};
use super::verdict::{Rule, as_ratio};

/// One row by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The Hodges-Lehmann estimate over the processes, taken of the logarithms.
    pub value: f64,
    /// Its distribution-free 90 % interval.
    pub interval_90: Interval,
    /// Its distribution-free 95 % interval.
    pub interval_95: Interval,
    /// The A/A floor of the row by itself, as a ratio above 1.
    pub floor: f64,
}

/// One row's value, from its times by process and round. `dropped` as in [`paired`](super::paired).
///
/// # Errors
/// Where shapes differ, a time is not positive and finite, or nothing is left.
pub fn estimate(rule: &Rule, times: &[Vec<f64>], dropped: &[Vec<bool>]) -> Result<Estimate, StatsError> {
    let logs = medians(0, times, dropped, f64::ln)?;
    let interval = |level| one_sample_interval(&logs, level).map(as_ratio).ok_or(StatsError::Empty { row: 0 });
    Ok(Estimate {
        value: hodges_lehmann(&logs).ok_or(StatsError::Empty { row: 0 })?.exp(),
        interval_90: interval(0.90)?,
        interval_95: interval(0.95)?,
        floor: floor::of_row(&logs, &rule.resplits).exp(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_one_row() {
        // Five processes of three rounds around 10, each process a little apart from the next.
        let time = |process, round| 10.0 * (1.0 + 0.001 * f64::from(process + 2 * round));
        let times: Vec<Vec<f64>> = (0..5).map(|process| (0..3).map(|round| time(process, round)).collect()).collect();
        let found = estimate(&Rule::default(), &times, &[]).unwrap();
        // The medians are 10.02, 10.03, ... 10.06; of their 15 geometric means the eighth is of 10.03 and 10.05.
        assert!((found.value - (10.03_f64 * 10.05).sqrt()).abs() < 1e-9, "{found:?}");
        assert!((found.interval_90.low - 10.02).abs() < 1e-9 && (found.interval_90.high - 10.06).abs() < 1e-9);
        assert!((found.interval_90.achieved - 0.9375).abs() < 1e-12 && (found.floor - 1.01).abs() < 1e-12);
    }
}
