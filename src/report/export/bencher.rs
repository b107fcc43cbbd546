//! Bencher Metric Format (<https://bencher.dev/docs/reference/bencher-metric-format/>): a benchmark for each set of coordinates,
//! a measure for each metric, with the ends of the 90 % interval where there is one.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{figures, metric, path};
use crate::result::record::Measurement;

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// The figures of `measurements`.
///
/// # Errors
/// Never for figures that a results file may hold.
pub fn text(measurements: &[&Measurement]) -> serde_json::Result<String> {
    let mut benchmarks: BTreeMap<String, BTreeMap<String, Metric>> = BTreeMap::new();
    for measurement in measurements {
        for figure in figures(measurement) {
            let interval = measurement.interval.filter(|_| figure.percentile.is_none());
            let [lower_value, upper_value] = interval.map_or([None; 2], |ends| ends.map(Some));
            let measures = benchmarks.entry(path(measurement)).or_default();
            measures.insert(metric(measurement, figure), Metric { value: figure.value, lower_value, upper_value });
        }
    }
    serde_json::to_string_pretty(&benchmarks)
}
