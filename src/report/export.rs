//! A run in the formats of other programs. Owns what they have in common: which figures there are and what they are called.
//! Only what was measured goes out; what was not has no place in formats that know numbers only, except for CSV.
//!
//! | module | format | read by |
//! | --- | --- | --- |
//! | [`bencher`] | Bencher Metric Format, JSON | bencher.dev |
//! | [`github_action`] | a JSON list of figures | github-action-benchmark, `customSmallerIsBetter` |
//! | [`go_bench`] | the Go benchmark format, one line a round | benchstat |
//! | [`openmetrics`] | OpenMetrics text | Prometheus and what speaks like it |
//! | [`csv`] | RFC 4180, one line a round | everything |
//! | [`hgrm`] | percentile distributions as text | HdrHistogram's plotter |

pub mod bencher;
pub mod csv;
pub mod github_action;
pub mod go_bench;
pub mod hgrm;
pub mod openmetrics;

use crate::result::record::{Measurement, Status, Value};

/// One number of a measurement: itself, or one of its percentiles.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figure<'a> {
    percentile: Option<&'a str>,
    value: f64,
}

/// The numbers of a measurement that was measured.
fn figures(measurement: &Measurement) -> Vec<Figure<'_>> {
    if measurement.status != Status::Ok {
        return Vec::new();
    }
    match &measurement.value {
        Some(Value::Number(number)) => vec![Figure { percentile: None, value: number.as_f64() }],
        Some(Value::Percentiles(percentiles)) => percentiles
            .iter()
            .filter_map(|(name, number)| Some(Figure { percentile: Some(name), value: number.as_ref()?.as_f64() }))
            .collect(),
        None => Vec::new(),
    }
}

/// The coordinates but for the metric, each with its name, in the order in which people say them.
fn coordinates(measurement: &Measurement) -> impl Iterator<Item = (&'static str, &str)> {
    let Measurement { suite, protocol, model, row, wait, side, workload, .. } = measurement;
    let optional = [("model", model), ("row", row), ("wait", wait), ("side", side), ("workload", workload)];
    let optional = optional.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    [("suite", suite.as_str()), ("protocol", protocol)].into_iter().chain(optional)
}

/// The coordinates but for the metric, as a path.
fn path(measurement: &Measurement) -> String {
    coordinates(measurement).map(|(_, value)| value).collect::<Vec<_>>().join("/")
}

/// The metric with its percentile. `at` stands between them, because there are metrics that end like a percentile.
fn metric(measurement: &Measurement, figure: Figure<'_>) -> String {
    match figure.percentile {
        Some(percentile) => format!("{}-at-{}", measurement.metric, percentile.replace('_', "-")),
        None => measurement.metric.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::result::{RunFile, read};

    pub(super) fn example() -> RunFile {
        read::parse(include_str!("../../schemas/results.v1.example.json"), Path::new("example")).unwrap()
    }

    #[test]
    fn names_and_numbers_of_the_example() {
        let run = example();
        let named: Vec<_> = run
            .measurements
            .iter()
            .flat_map(|one| figures(one).into_iter().map(|figure| (path(one), metric(one, figure), figure.value)))
            .collect();
        assert_eq!(named[0], ("serialization/zap/encode/chained".to_owned(), "time".to_owned(), 4.1));
        // Six measurements: one failed, and one a distribution with five percentiles that are known.
        assert_eq!(named.len(), 4 + 5);
        assert!(named.contains(&("latency/zap/poll".to_owned(), "round-trip-at-p99-9".to_owned(), 70_800.0)));
    }
}
