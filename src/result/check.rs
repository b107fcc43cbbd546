//! What makes a results file contradict itself. Owns one function, asked before a file is written and after it is read.

use std::collections::HashSet;

use super::error::Defect;
use super::record::{Measurement, Number, Processes, RunFile, Status, Value};

/// The first contradiction in `run`, if there is one.
///
/// # Errors
/// That contradiction.
pub fn check(run: &RunFile) -> Result<(), Defect> {
    if !is_run_id(&run.run.id) {
        return Err(Defect::RunId(run.run.id.clone()));
    }
    let conditions = &run.conditions;
    let shares = [conditions.load_before, conditions.load_after, conditions.foreign_cpu_share, conditions.steal_share];
    if shares.iter().any(|share| !share.is_finite()) {
        return Err(Defect::NotFinite("conditions".to_owned()));
    }
    let mut seen = HashSet::with_capacity(run.measurements.len());
    for measurement in &run.measurements {
        measured(measurement)?;
        if !numbers(measurement).iter().all(|number| number.is_finite()) {
            return Err(Defect::NotFinite(measurement.coordinates()));
        }
        if !seen.insert(place(measurement)) {
            return Err(Defect::Duplicate(measurement.coordinates()));
        }
    }
    Ok(())
}

/// What no two measurements of a run share.
fn place(measurement: &Measurement) -> [Option<&str>; 8] {
    let Measurement { suite, protocol, model, row, wait, side, workload, metric, .. } = measurement;
    [
        Some(suite.as_str()),
        Some(protocol.as_str()),
        model.as_deref(),
        row.as_deref(),
        wait.as_deref(),
        side.as_deref(),
        workload.as_deref(),
        Some(metric.as_str()),
    ]
}

fn measured(measurement: &Measurement) -> Result<(), Defect> {
    let name = || measurement.coordinates();
    match (measurement.status, &measurement.value, &measurement.reason) {
        (Status::Ok, None, _) => Err(Defect::NoValue(name())),
        (Status::Ok, Some(_), _) => Ok(()),
        (_, _, None) => Err(Defect::NoReason(name())),
        // Saturated and failed rows keep what they had.
        (Status::NotMeasured | Status::Unsupported, Some(_), _) => Err(Defect::ValueNotMeasured(name())),
        _ => Ok(()),
    }
}

/// Every decimal of a measurement.
fn numbers(measurement: &Measurement) -> Vec<f64> {
    let mut all: Vec<f64> = [measurement.min, measurement.max].into_iter().flatten().map(Number::as_f64).collect();
    match &measurement.value {
        Some(Value::Number(number)) => all.push(number.as_f64()),
        Some(Value::Percentiles(percentiles)) => all.extend(percentiles.values().flatten().map(|n| n.as_f64())),
        None => {}
    }
    all.extend([measurement.interval, measurement.interval_95].into_iter().flatten().flatten());
    all.extend([measurement.interval_level, measurement.floor_aa].into_iter().flatten());
    match &measurement.processes {
        Some(Processes::Rounds(processes)) => all.extend(processes.iter().flatten()),
        Some(Processes::Percentiles(processes)) => {
            all.extend(processes.iter().flat_map(|percentiles| percentiles.values()).flatten().map(|n| n.as_f64()));
        }
        None => {}
    }
    all.extend(measurement.intervals.values().flat_map(|interval| [interval.low, interval.high, interval.level]));
    if let Some(verdict) = &measurement.verdict {
        all.extend([verdict.ratio, verdict.p, verdict.p_adjusted, verdict.floor_aa]);
        all.extend(verdict.interval);
        all.extend(verdict.interval_95);
        all.extend([verdict.interval_level, verdict.interval_95_level]);
        all.extend(verdict.would_see);
    }
    all
}

/// Whether `id` has the form `20260101T000000Z-0123456789ab`, or that with `-2`, `-3`, ... behind it.
#[must_use]
pub fn is_run_id(id: &str) -> bool {
    let mut parts = id.split('-');
    let (Some(utc), Some(commit)) = (parts.next(), parts.next()) else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let utc = utc.len() == 16
        && utc
            .strip_suffix('Z')
            .and_then(|utc| utc.split_once('T'))
            .is_some_and(|(day, time)| day.len() == 8 && time.len() == 6 && digits(day) && digits(time));
    let commit = commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    utc && commit && parts.next().is_none_or(digits) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_form_of_a_run_id() {
        for good in ["20260101T000000Z-0123456789ab", "20260101T000000Z-0123456789ab-12"] {
            assert!(is_run_id(good), "{good}");
        }
        for bad in [
            "",
            "20260101T000000Z",
            "20260101T000000Z-0123456789",
            "20260101T000000Z-0123456789ag",
            "20260101T000000Z-0123456789ab-",
            "20260101T000000Z-0123456789ab-x",
            "20260101T000000Z-0123456789ab-2-3",
            "2026-01-01T00:00:00Z-0123456789ab",
            "../../etc-0123456789ab",
        ] {
            assert!(!is_run_id(bad), "{bad}");
        }
    }
}
