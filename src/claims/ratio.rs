//! One of our figures over another, with its interval: process by process, as rows of one run are compared everywhere here. Owns
//! when there is none, and why; the statistics are [`stats`]'s, the samples [`compare`](mod@crate::compare)'s.

use serde_json::Value as Json;

use super::lookup::Found;
use crate::compare::pair::{self, Sample, TAIL_PROCESSES, TAILS_FROM};
use crate::result::RunFile;
use crate::result::record::{Kind, Status, Value};
use crate::stats::{self, Comparison, Paired, Resplits, Rule};

/// A ratio of two of our figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// The first over the second.
    pub ratio: f64,
    /// Its interval; none where there is one figure a side.
    pub interval: Option<Interval>,
    /// Why it has no interval, or one that says nothing.
    pub reason: Option<String>,
}

/// The interval of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its ends: at 90 %, or both the ratio itself where it is one of exact counts.
    pub ends: [f64; 2],
    /// The level that it has, and over how many processes; none where the counts are exact.
    pub over: Option<(f64, usize)>,
    /// The same with what was disturbed where `ends` are without it, and the other way about; none where nothing was.
    pub other_ends: Option<[f64; 2]>,
}

/// `row` over `reference`, both of the same answer.
///
/// # Errors
/// A phrase, where the two cannot be set against each other at all.
pub fn of(row: Found<'_>, reference: Found<'_>, percentile: Option<&str>) -> Result<Ratio, String> {
    if !std::ptr::eq(row.run, reference.run) {
        return Err(format!("the two are of two runs, {} and {}", row.run.run.id, reference.run.run.id));
    }
    for found in [row, reference] {
        unfit(found)?;
    }
    let places = [row, reference].map(|found| (&found.measurement.row, &found.measurement.wait));
    if places[0] != places[1] {
        return Err("the two were driven in two ways".to_owned());
    }
    let values = [row, reference].map(|found| single(found, percentile));
    let [Some(above), Some(below)] = values else { return Err("one of the two was not measured".to_owned()) };
    if below <= 0.0 {
        return Err("the reference is 0".to_owned());
    }
    let plain = above / below;
    if row.measurement.kind == Kind::Exact {
        let interval = Interval { ends: [plain, plain], over: None, other_ends: None };
        return Ok(Ratio { ratio: plain, interval: Some(interval), reason: None });
    }
    let untold = |reason: String| Ratio { ratio: plain, interval: None, reason: Some(reason) };
    Ok(match samples(row, reference, percentile) {
        Err(reason) => untold(reason),
        Ok((above, below)) => match compared(row, reference, &above, &below) {
            Err(reason) => untold(reason),
            Ok((comparison, other)) => told(&comparison, other.as_ref()),
        },
    })
}

/// Why a figure of a run is not one that a claim can be judged by.
fn unfit(found: Found<'_>) -> Result<(), String> {
    let Found { run, measurement } = found;
    let protocol = &measurement.protocol;
    if measurement.status != Status::Ok {
        let reason = measurement.reason.as_deref().unwrap_or("it is not ok");
        return Err(format!("{protocol}: {reason}"));
    }
    if measurement.kind == Kind::Exact {
        return Ok(());
    }
    if run.source.profile == "debug" {
        return Err("the run was built without optimisation".to_owned());
    }
    if !run.conditions.fit {
        return Err("the machine was unfit".to_owned());
    }
    measurement.unfit.as_ref().map_or(Ok(()), |reason| Err(format!("{protocol} is unfit: {reason}")))
}

fn single(found: Found<'_>, percentile: Option<&str>) -> Option<f64> {
    match (&found.measurement.value, percentile) {
        (Some(Value::Percentiles(all)), Some(name)) => Some(all.get(name).copied().flatten()?.as_f64()),
        _ => found.measurement.number(),
    }
}

/// What the processes found, on both sides alike.
fn samples<'a>(
    row: Found<'a>,
    reference: Found<'a>,
    percentile: Option<&str>,
) -> Result<(Sample<'a>, Sample<'a>), String> {
    let of = |found: Found<'a>| {
        let figure = vec![(found.run, found.measurement)];
        match percentile {
            Some(name) => pair::of_percentile(&figure, name),
            None => pair::rounds(&figure),
        }
    };
    let missing = || match (percentile, [row, reference].iter().any(|found| found.measurement.processes.is_none())) {
        (_, true) => "one process a row".to_owned(),
        (Some(name), false) => format!("too few separate stalls reach {} in a process", name.replace('_', ".")),
        (None, false) => "its rounds were not kept".to_owned(),
    };
    let (above, below) = of(row).zip(of(reference)).ok_or_else(missing)?;
    let shape = |sample: &Sample<'_>| sample.rounds.iter().map(Vec::len).collect::<Vec<_>>();
    if shape(&above) != shape(&below) {
        return Err("the two have not the same processes".to_owned());
    }
    if percentile.is_some_and(|name| name >= TAILS_FROM) && above.rounds.len() < TAIL_PROCESSES {
        return Err(format!("a tail is compared over {TAIL_PROCESSES} processes at least"));
    }
    Ok((above, below))
}

/// The comparison that is shown, and, where anything was disturbed, the other one: suites that drop disturbed rounds are shown
/// without them, those that drop nothing with them.
fn compared(
    row: Found<'_>,
    reference: Found<'_>,
    above: &Sample<'_>,
    below: &Sample<'_>,
) -> Result<(Comparison, Option<Comparison>), String> {
    let drops = !above.dropped.is_empty();
    let mask = if drops { above.dropped.clone() } else { disturbed(row, reference, &above.rounds) };
    let whole = one(above, below, &[])?;
    if !mask.iter().flatten().any(|mark| *mark) {
        return Ok((whole, None));
    }
    let quiet = one(above, below, &mask).map_err(|_| "every process was disturbed".to_owned())?;
    Ok(if drops { (quiet, Some(whole)) } else { (whole, Some(quiet)) })
}

fn one(above: &Sample<'_>, below: &Sample<'_>, mask: &[Vec<bool>]) -> Result<Comparison, String> {
    let rule = Rule::default();
    // The floor is not asked for: a claim is judged by the interval.
    let rule = Rule { resplits: Resplits { count: 0, ..rule.resplits }, ..rule };
    let pair = Paired { row: &above.rounds, reference: &below.rounds };
    let all = stats::paired(&rule, &[pair], mask).map_err(|error| error.to_string())?;
    all.first().copied().ok_or_else(|| "nothing was compared".to_owned())
}

/// The rounds of those processes that the latency suite marks as disturbed for either of the two.
fn disturbed(row: Found<'_>, reference: Found<'_>, rounds: &[Vec<f64>]) -> Vec<Vec<bool>> {
    let marks: Vec<Vec<bool>> = [row, reference].into_iter().filter_map(marks).collect();
    let is_marked = |process: usize| marks.iter().any(|marks| marks.get(process) == Some(&true));
    rounds.iter().enumerate().map(|(process, rounds)| vec![is_marked(process); rounds.len()]).collect()
}

/// A mark for each process, which stands with the distribution of the round trips.
fn marks(found: Found<'_>) -> Option<Vec<bool>> {
    let Found { run, measurement } = found;
    let distribution = run.measurements.iter().find(|m| {
        m.suite == measurement.suite
            && m.protocol == measurement.protocol
            && m.wait == measurement.wait
            && m.metric == "round-trip"
    });
    let marks = distribution?.settings.get("disturbed")?.as_array()?;
    marks.iter().map(Json::as_bool).collect()
}

fn told(comparison: &Comparison, other: Option<&Comparison>) -> Ratio {
    let interval = comparison.interval_90;
    let ends = |comparison: &Comparison| [comparison.interval_90.low, comparison.interval_90.high];
    if ![Some(comparison), other].into_iter().flatten().all(|one| one.interval_90.is_achieved()) {
        let reason = format!("{} processes are too few for an interval", comparison.processes);
        return Ratio { ratio: comparison.ratio, interval: None, reason: Some(reason) };
    }
    let over = Some((interval.achieved, comparison.processes));
    let interval = Interval { ends: ends(comparison), over, other_ends: other.map(ends) };
    Ratio { ratio: comparison.ratio, interval: Some(interval), reason: None }
}

/// Whether a run's ratios are those of one build, whose code's place alone may move them.
#[must_use]
pub fn is_of_one_layout(run: &RunFile, suite: &str) -> bool {
    suite == "serialization" && !run.settings.contains_key("session")
}
