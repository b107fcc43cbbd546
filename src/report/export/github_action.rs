//! The list that github-action-benchmark reads with `tool: customSmallerIsBetter`
//! (<https://github.com/benchmark-action/github-action-benchmark>). Figures of which more is better have no place in it.

use serde::Serialize;

use super::{figures, metric, path};
use crate::result::record::{Better, Measurement};

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// The figures of `measurements` of which less is better; `run` is said with each.
///
/// # Errors
/// Never for figures that a results file may hold.
pub fn text(run: &str, measurements: &[&Measurement]) -> serde_json::Result<String> {
    let mut entries = Vec::new();
    for measurement in measurements.iter().filter(|measurement| measurement.better == Better::Lower) {
        for figure in figures(measurement) {
            let interval = measurement.interval.filter(|_| figure.percentile.is_none());
            entries.push(Entry {
                name: format!("{} {}", path(measurement), metric(measurement, figure)),
                unit: measurement.unit.clone(),
                value: figure.value,
                range: interval.map(|[low, high]| format!("{low} to {high}")),
                extra: format!("run {run}"),
            });
        }
    }
    serde_json::to_string_pretty(&entries)
}
