//! What the percentiles of a row are made of that was measured in several processes. Owns which of them are medians over the
//! processes, which come from all samples together, and when there is too little for one to be told.
//!
//! Whole processes have a speed of their own, some far slower than the others. Of ten processes' samples thrown together
//! the 95th percentile is then the median of the slow one, and no tail of anything. So `p50`, `p95` and `p99` are the median
//! over the processes of each one's own percentile. Beyond that one process has too few samples: `p99_9`, `p99_99` and `max`
//! are those of all samples together, and a percentile is told only if many stalls reach it, in most of the processes.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::record::{Number, Percentiles, RankInterval};
use crate::stats::rank::median_interval;

/// Separate stalls below which a percentile is not told.
pub const ENOUGH_STALLS: usize = 10;

/// The percentiles that are medians over the processes, by name and per hundred.
pub const OF_PROCESSES: [(&str, f64); 3] = [("p50", 50.0), ("p95", 95.0), ("p99", 99.0)];

/// The percentiles of all samples together, by name and per hundred.
const OF_ALL: [(&str, f64); 5] =
    [("merged_p50", 50.0), ("merged_p95", 95.0), ("merged_p99", 99.0), ("p99_9", 99.9), ("p99_99", 99.99)];

/// From here on a percentile needs enough separate stalls; below, samples abound.
const NEEDS_STALLS: f64 = 99.0;

/// The level of the intervals.
const LEVEL: f64 = 0.90;

/// What several processes' samples say of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Medians over the processes: [`OF_PROCESSES`]; of all samples together: `merged_p50`, `merged_p95`, `merged_p99`, `p99_9`,
    /// `p99_99`, `max`. Null where too little reaches one.
    pub value: Percentiles,
    /// The rank intervals of the medians that are told.
    pub intervals: BTreeMap<String, RankInterval>,
}

/// The percentiles of one histogram by itself, `max` among them; null where `stalls` says that too few reach one.
#[must_use]
pub fn of_one(histogram: &Histogram<u64>, stalls: impl Fn(u64) -> usize) -> Percentiles {
    let own = OF_PROCESSES.into_iter().chain(OF_ALL).filter(|(name, _)| !name.starts_with("merged"));
    let mut all: Percentiles = own
        .map(|(name, per_hundred)| {
            let value = histogram.value_at_percentile(per_hundred);
            let told = per_hundred < NEEDS_STALLS || stalls(histogram.lowest_equivalent(value)) >= ENOUGH_STALLS;
            (name.to_owned(), told.then_some(Number::Whole(value)))
        })
        .collect();
    all.insert("max".to_owned(), Some(Number::Whole(histogram.max())));
    all
}

/// The percentiles of several processes. `stalls` gives how many separate stalls of a process, by its place, reach a value.
///
/// # Errors
/// A sentence, where the histograms have not the same bounds.
pub fn of_processes(own: &[Histogram<u64>], stalls: impl Fn(usize, u64) -> usize) -> Result<Row, String> {
    let Some(first) = own.first() else { return Err("there is no process".to_owned()) };
    let mut merged = first.clone();
    own[1..].iter().try_for_each(|one| merged.add(one).map_err(|error| error.to_string()))?;
    let is_most = |processes: usize| 2 * processes > own.len();
    let mut row = Row { value: Percentiles::new(), intervals: BTreeMap::new() };
    for (name, per_hundred) in OF_PROCESSES {
        let mut values: Vec<u64> = own.iter().map(|one| one.value_at_percentile(per_hundred)).collect();
        let enough = |(at, value): &(usize, &u64)| stalls(*at, merged.lowest_equivalent(**value)) >= ENOUGH_STALLS;
        let told = per_hundred < NEEDS_STALLS || is_most(values.iter().enumerate().filter(enough).count());
        values.sort_unstable();
        row.value.insert(name.to_owned(), told.then(|| Number::Whole(median(&values))));
        let figures: Vec<f64> = values.iter().map(|value| Number::Whole(*value).as_f64()).collect();
        if let Some(interval) = median_interval(&figures, LEVEL).filter(|_| told) {
            let interval = RankInterval { low: interval.low, high: interval.high, level: interval.achieved };
            row.intervals.insert(name.to_owned(), interval);
        }
    }
    for (name, per_hundred) in OF_ALL {
        let value = merged.value_at_percentile(per_hundred);
        let reaching: Vec<usize> = (0..own.len()).map(|at| stalls(at, merged.lowest_equivalent(value))).collect();
        let told = per_hundred < NEEDS_STALLS
            || reaching.iter().sum::<usize>() >= ENOUGH_STALLS
                && is_most(reaching.iter().filter(|stalls| **stalls > 0).count());
        row.value.insert(name.to_owned(), told.then_some(Number::Whole(value)));
    }
    row.value.insert("max".to_owned(), Some(Number::Whole(merged.max())));
    Ok(row)
}

/// The middle one of sorted values; of an even number the mean of the two in the middle, without its fraction.
fn median(sorted: &[u64]) -> u64 {
    let (upper, lower) = (sorted.len() / 2, sorted.len().saturating_sub(1) / 2);
    sorted.get(lower).zip(sorted.get(upper)).map_or(0, |(lower, upper)| u64::midpoint(*lower, *upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` samples around `ns`, none far away.
    fn process(ns: u64, count: u64) -> Histogram<u64> {
        let mut own = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        (0..count).for_each(|n| own.record(ns + ns * (n % 100) / 1_000).unwrap());
        own
    }

    fn told(row: &Row, name: &str) -> Option<u64> {
        row.value[name].map(|number| match number {
            Number::Whole(whole) => whole,
            Number::Decimal(_) => panic!("{name} is no whole number"),
        })
    }

    #[test]
    fn one_slow_process_of_ten_is_no_tail() {
        let mut own: Vec<_> = (0..9).map(|_| process(8_600, 1_000)).collect();
        own.push(process(11_500, 1_000));
        let row =
            of_processes(&own, |at, value| usize::try_from(own[at].count_between(value, u64::MAX)).unwrap()).unwrap();
        let (p95, merged) = (told(&row, "p95").unwrap(), told(&row, "merged_p95").unwrap());
        assert!((8_600..9_500).contains(&p95), "{p95}");
        // What it had been: the slow process's median.
        assert!((11_500..12_650).contains(&merged), "{merged}");
        let interval = row.intervals["p95"];
        assert!(interval.low <= 9_500.0 && interval.high < 11_500.0 && interval.level > 0.9, "{interval:?}");
        // A tenth of all samples lie there, and all in one process.
        assert_eq!(told(&row, "p99_9"), None);
        assert_eq!(told(&row, "merged_p99"), None);
        assert!(told(&row, "p99").is_some() && told(&row, "max").unwrap() > 12_000);
    }

    #[test]
    fn a_percentile_needs_stalls_in_most_processes() {
        let own = [process(1_000, 1_000), process(1_000, 1_000), process(1_000, 1_000)];
        let row = |reaching: [usize; 3]| of_processes(&own, move |at, _| reaching[at]).unwrap();
        for (reaching, p99, p99_9) in [
            ([10, 10, 0], true, true),
            ([5, 5, 0], false, true),
            ([10, 9, 0], false, true),
            ([99, 0, 0], false, false),
            ([3, 3, 3], false, false),
        ] {
            let row = row(reaching);
            assert_eq!((told(&row, "p99").is_some(), told(&row, "p99_9").is_some()), (p99, p99_9), "{reaching:?}");
            assert!(told(&row, "p50").is_some() && told(&row, "p95").is_some());
            assert_eq!(row.intervals.contains_key("p99"), p99);
        }
        assert!(of_processes(&[], |_, _| 0).is_err());
    }

    #[test]
    fn medians_by_hand() {
        assert_eq!((median(&[3]), median(&[3, 6]), median(&[1, 2, 9]), median(&[])), (3, 4, 2, 0));
    }
}
