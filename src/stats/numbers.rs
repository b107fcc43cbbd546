//! From times to P numbers. Owns what a process contributes: ONE number a row, whatever the number of its rounds.

use super::location::median;

/// Why numbers cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatsError {
    /// Row, reference and dropped rounds are not of the same shape.
    #[error("row {row}: processes and rounds do not match its reference's or the list of dropped rounds")]
    Shape {
        /// The row, by its place in the family.
        row: usize,
    },
    /// A time is not a positive finite number.
    #[error("row {row}: a time is not a positive finite number")]
    NotPositive {
        /// The row, by its place in the family.
        row: usize,
    },
    /// No process has a round that was kept.
    #[error("row {row}: no process has a round that was kept")]
    Empty {
        /// The row, by its place in the family.
        row: usize,
    },
}

/// One number a process: the median over the kept rounds of what `of` makes of the time. Processes with no round kept
/// give none.
pub(super) fn medians(
    row: usize,
    times: &[Vec<f64>],
    dropped: &[Vec<bool>],
    of: impl Fn(f64) -> f64,
) -> Result<Vec<f64>, StatsError> {
    if !dropped.is_empty() && !same_shape(times, dropped) {
        return Err(StatsError::Shape { row });
    }
    if times.iter().flatten().any(|time| !(time.is_finite() && *time > 0.0)) {
        return Err(StatsError::NotPositive { row });
    }
    let numbers: Vec<f64> = times
        .iter()
        .enumerate()
        .filter_map(|(process, rounds)| {
            let kept = rounds.iter().enumerate().filter(|(round, _)| !is_dropped(dropped, process, *round));
            median(&kept.map(|(_, time)| of(*time)).collect::<Vec<_>>())
        })
        .collect();
    if numbers.is_empty() { Err(StatsError::Empty { row }) } else { Ok(numbers) }
}

/// One log ratio a process: the median over the kept rounds of log(row / reference) within the round.
pub(super) fn ratios(
    row: usize,
    times: &[Vec<f64>],
    reference: &[Vec<f64>],
    dropped: &[Vec<bool>],
) -> Result<Vec<f64>, StatsError> {
    if !same_shape(times, reference) {
        return Err(StatsError::Shape { row });
    }
    let quotients: Vec<Vec<f64>> = times
        .iter()
        .zip(reference)
        .map(|(row, reference)| row.iter().zip(reference).map(|(row, reference)| row / reference).collect())
        .collect();
    medians(row, &quotients, dropped, f64::ln)
}

fn same_shape<T, U>(left: &[Vec<T>], right: &[Vec<U>]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.len() == right.len())
}

fn is_dropped(dropped: &[Vec<bool>], process: usize, round: usize) -> bool {
    dropped.get(process).and_then(|rounds| rounds.get(round)).copied().unwrap_or(false)
}
