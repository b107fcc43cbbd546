//! From an answer of the mapping to a measurement of the given runs. Owns which run is taken where several have one, and the short
//! phrase that says why there is none.

use serde_json::Value as Json;

use super::answer::{Answer, Shape};
use crate::compare::record::Coordinates;
use crate::result::RunFile;
use crate::result::record::{Measurement, Status, Value};

/// Bytes of a vote's fields end to end: what a message's overhead is over.
const PAYLOAD_BYTES: f64 = 145.0;

/// A measurement, and the run that it is from.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The run.
    pub run: &'a RunFile,
    /// The measurement.
    pub measurement: &'a Measurement,
}

/// Our figure beside a paper's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The figure, in the column's unit.
    pub value: f64,
    /// Its 90 % interval.
    pub interval: Option<[f64; 2]>,
    /// Whether it is a lower bound.
    pub beyond: bool,
}

/// The runs that may answer one reading of one table, the one that is taken first.
#[derive(Debug)]
pub struct Sources<'a> {
    /// In the order in which they are asked.
    pub runs: Vec<&'a RunFile>,
    /// How many of the table's figures the first of them has.
    answers: usize,
    /// How many the second has.
    next: usize,
}

impl<'a> Sources<'a> {
    /// Of `runs` those that have a figure for any of `rows`: first the one that has most of them, of equal ones the newest. So a
    /// table comes from one run as far as it can, and only within one run can rows be set against each other.
    #[must_use]
    pub fn of(answer: &Answer, rows: &[&str], runs: &'a [RunFile]) -> Self {
        let has =
            |run: &RunFile, row: &str| find(answer, row, run).is_some_and(|found| figure(answer, row, found).is_some());
        let mut counted: Vec<(usize, &RunFile)> = runs
            .iter()
            .filter(|run| is_load(answer, run))
            .map(|run| (rows.iter().filter(|row| has(run, row)).count(), run))
            .filter(|(count, run)| *count > 0 || rows.iter().any(|row| find(answer, row, run).is_some()))
            .collect();
        // A run's id begins with its time.
        counted.sort_by(|left, right| (right.0, &right.1.run.id).cmp(&(left.0, &left.1.run.id)));
        let count = |place: usize| counted.get(place).map_or(0, |(count, _)| *count);
        let (answers, next) = (count(0), count(1));
        Self { runs: counted.into_iter().map(|(_, run)| run).collect(), answers, next }
    }

    /// Where several runs have figures: which was taken, and why.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let (first, others) = self.runs.split_first()?;
        if self.next == 0 {
            return None;
        }
        let others: Vec<_> = others.iter().map(|run| run.run.id.as_str()).collect();
        let why = if self.answers > self.next { "which has more of them" } else { "the newest" };
        Some(format!(
            "several runs have these figures: {} is taken, {why}; {} for what it has not.",
            first.run.id,
            others.join(", ")
        ))
    }

    /// The measurement for `row`: of the first run that has a figure, or else of the first that says why it has none.
    #[must_use]
    pub fn get(&self, answer: &Answer, row: &str) -> Option<Found<'a>> {
        let found = || self.runs.iter().filter_map(|run| find(answer, row, run));
        found().find(|found| figure(answer, row, *found).is_some()).or_else(|| found().next())
    }
}

/// Whether `run` was under the load that the answer is about.
fn is_load(answer: &Answer, run: &RunFile) -> bool {
    answer.load.is_none_or(|(rate, arrivals)| {
        let offered = run.settings.get("rate").and_then(Json::as_f64);
        let burst = run.settings.get("burst").and_then(Json::as_u64).unwrap_or(1);
        burst == 1 && offered == Some(rate) && run.settings.get("arrivals").and_then(Json::as_str) == Some(arrivals)
    })
}

/// The measurement of `run` that answers `row`, whether it has a figure or not.
fn find<'a>(answer: &Answer, row: &str, run: &'a RunFile) -> Option<Found<'a>> {
    let protocol = answer.protocol(row)?;
    let is_meant = |m: &&Measurement| {
        m.suite == answer.suite
            && m.metric == answer.metric
            && m.protocol == protocol
            && m.model.as_deref() == answer.model
            && m.side.as_deref() == answer.side
            && m.workload.as_deref() == answer.workload(row)
            && place(answer.rows, m.row.as_deref()).is_some()
            && place(answer.waits, m.wait.as_deref()).is_some()
    };
    let rank = |m: &&Measurement| (place(answer.rows, m.row.as_deref()), place(answer.waits, m.wait.as_deref()));
    let measurement = run.measurements.iter().filter(is_meant).min_by_key(rank)?;
    Some(Found { run, measurement })
}

/// The place of a coordinate among those that are taken; without any, only one that is not there has a place.
fn place(taken: &[&str], coordinate: Option<&str>) -> Option<usize> {
    match coordinate {
        None => taken.is_empty().then_some(0),
        Some(coordinate) => taken.iter().position(|one| *one == coordinate),
    }
}

/// Our figure in the column's unit; none where it was not measured.
#[must_use]
pub fn figure(answer: &Answer, row: &str, found: Found<'_>) -> Option<Figure> {
    let (value, interval) = number(answer, found.measurement)?;
    let bytes = || {
        let protocol = answer.protocol(row)?;
        let all = found.run.measurements.iter();
        let is_size = |m: &&Measurement| m.suite == answer.suite && m.protocol == protocol && m.metric == "wire-bytes";
        all.clone().find(is_size)?.number()
    };
    // What the unit makes of a number, and whether a longer time is a smaller figure.
    let (of, turns): (Box<dyn Fn(f64) -> f64>, bool) = match answer.shape {
        Shape::Plain => (Box::new(|value| value), false),
        Shape::Microseconds => (Box::new(|ns| ns / 1e3), false),
        Shape::PerSecond => (Box::new(|ns| 1e9 / ns), true),
        Shape::Megabytes => {
            let bytes = bytes()?;
            // Bytes in a nanosecond are 10^9 bytes in a second.
            (Box::new(move |ns| 1e3 * bytes / ns), true)
        }
        Shape::OverPayload => (Box::new(|bytes| 100.0 * (bytes / PAYLOAD_BYTES - 1.0)), false),
    };
    let interval = interval.map(|[low, high]| if turns { [of(high), of(low)] } else { [of(low), of(high)] });
    let beyond = answer.percentile.is_some_and(|name| found.measurement.is_beyond(name));
    Some(Figure { value: of(value), interval, beyond })
}

/// The number of a measurement that the answer means, as it was measured, with its 90 % interval.
fn number(answer: &Answer, measurement: &Measurement) -> Option<(f64, Option<[f64; 2]>)> {
    match (&measurement.value, answer.percentile) {
        (Some(Value::Number(number)), None) => Some((number.as_f64(), measurement.interval)),
        (Some(Value::Percentiles(all)), Some(name)) => {
            let interval = measurement.intervals.get(name).map(|interval| [interval.low, interval.high]);
            Some((all.get(name).copied().flatten()?.as_f64(), interval))
        }
        _ => None,
    }
}

/// Where an answer's measurement stands, whether a run has it or not: a coordinate of which several are taken is left out.
#[must_use]
pub fn coordinates(answer: &Answer, row: &str, found: Option<Found<'_>>) -> Option<Coordinates> {
    let only = |taken: &[&str]| match taken {
        [one] => Some((*one).to_owned()),
        _ => None,
    };
    let found = found.map(|found| found.measurement);
    Some(Coordinates {
        suite: answer.suite.to_owned(),
        protocol: answer.protocol(row)?.to_owned(),
        model: answer.model.map(str::to_owned),
        row: found.map_or_else(|| only(answer.rows), |m| m.row.clone()),
        wait: found.map_or_else(|| only(answer.waits), |m| m.wait.clone()),
        side: answer.side.map(str::to_owned),
        workload: answer.workload(row).map(str::to_owned),
        metric: answer.metric.to_owned(),
        percentile: answer.percentile.map(str::to_owned),
    })
}

/// Why there is no figure.
#[must_use]
pub fn why_not(answer: &Answer, found: Option<Found<'_>>, runs: &[RunFile]) -> String {
    if let Some(Found { measurement, .. }) = found {
        return match (&measurement.reason, measurement.status) {
            (Some(reason), Status::Ok | Status::NotMeasured) => reason.clone(),
            (Some(_), _) => measurement.why(),
            (None, _) if answer.percentile.is_none() => "the run has not what it is made of".to_owned(),
            (None, _) => format!("too few separate stalls reach {}", percentile_word(answer)),
        };
    }
    let of_suite = |run: &RunFile| run.measurements.iter().any(|m| m.suite == answer.suite);
    match answer.load {
        _ if !runs.iter().any(of_suite) => format!("no run of the {} suite was given", answer.suite),
        Some((rate, arrivals)) if !runs.iter().any(|run| is_load(answer, run)) => {
            format!("no run at {rate}/s with {arrivals} arrivals was given")
        }
        _ => format!("no run that was given has this figure of the {} suite", answer.suite),
    }
}

fn percentile_word(answer: &Answer) -> String {
    answer.percentile.unwrap_or("it").replace('_', ".")
}
