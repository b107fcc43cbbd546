//! Two figures of the same coordinates, and what the statistics need of them: every process's rounds, and which rounds the
//! machine disturbed. Owns what becomes of a figure that has no second one, or none that can be compared.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::basis::{Ground, Terms, other_thing, versions};
use super::record::{Basis, Coordinates, Line, Outcome};
use super::side::Figure;
use crate::result::RunFile;
use crate::result::record::{Kind, Measurement, Number, Processes, Status, Value};

/// From here on a percentile is compared only over enough processes.
pub const TAILS_FROM: &str = "p99";

/// So many.
pub const TAIL_PROCESSES: usize = 10;

/// Two figures, either of which may be missing.
#[derive(Debug)]
pub struct Pair<'a> {
    /// The old one.
    pub old: Option<&'a Figure<'a>>,
    /// The new one.
    pub new: Option<&'a Figure<'a>>,
}

/// A line to be judged, with the samples that it is judged by, where there are any.
#[derive(Debug)]
pub struct Case<'a> {
    /// The line as far as it is known without a test.
    pub line: Line,
    /// The old and the new sample.
    pub samples: Option<(Sample<'a>, Sample<'a>)>,
}

/// What the processes of one side found.
#[derive(Debug)]
pub struct Sample<'a> {
    /// Every round's value of every process.
    pub rounds: Cow<'a, [Vec<f64>]>,
    /// Which rounds were disturbed; empty: none.
    pub dropped: Vec<Vec<bool>>,
    /// Which process was of which link layout, where they are known.
    pub layouts: Vec<Option<u64>>,
}

/// What pairs of runs are to each other: looked at once for each, not once for each measurement.
#[derive(Debug)]
pub struct Grounds<'a> {
    interleaved: HashSet<&'a str>,
    terms: Terms,
    known: HashMap<(*const RunFile, *const RunFile), Ground>,
}

impl<'a> Grounds<'a> {
    /// Between two sides that took turns in the sessions `interleaved`.
    #[must_use]
    pub fn new(interleaved: HashSet<&'a str>, terms: Terms) -> Self {
        Self { interleaved, terms, known: HashMap::new() }
    }

    /// The weakest basis between any run of `old` and any of `new`.
    fn basis(&mut self, old: &Figure<'_>, new: &Figure<'_>, kind: Kind) -> (Basis, Option<String>) {
        let mut weakest: Option<(Basis, Option<String>)> = None;
        for (left, _) in old {
            for (right, _) in new {
                let key = (std::ptr::from_ref(*left), std::ptr::from_ref(*right));
                let ground =
                    self.known.entry(key).or_insert_with(|| Ground::of(left, right, &self.interleaved, self.terms));
                let next = ground.basis(kind);
                if weakest.as_ref().is_none_or(|(basis, _)| rank(next.0) > rank(*basis)) {
                    weakest = Some(next);
                }
            }
        }
        weakest.unwrap_or((Basis::None, None))
    }
}

fn rank(basis: Basis) -> u8 {
    match basis {
        Basis::Exact => 0,
        Basis::Interleaved => 1,
        Basis::Indicative => 2,
        Basis::None => 3,
    }
}

impl<'a> Pair<'a> {
    /// The cases of this pair: one, or one for each percentile of a distribution.
    pub fn cases(&self, grounds: &mut Grounds<'_>) -> Vec<Case<'a>> {
        let (old, new) = match (self.old, self.new) {
            (Some(old), Some(new)) => (old, new),
            (Some(only), None) | (None, Some(only)) => return lonely(only, self.new.is_some()),
            (None, None) => return Vec::new(),
        };
        let ((old_run, left), (new_run, right)) = (old[0], new[0]);
        // What neither has, by its nature, cannot have changed.
        if [left, right].iter().all(|measurement| measurement.status == Status::Unsupported) {
            return Vec::new();
        }
        let mut line = blank(left);
        (line.old, line.new) = (left.number(), right.number());
        line.versions = versions((old_run, left), (new_run, right));
        if let Some((outcome, reason)) = unmeasured(left, right) {
            (line.outcome, line.reason) = (outcome, Some(reason));
            line.fails = outcome == Outcome::Broken;
            return vec![Case { line, samples: None }];
        }
        let (basis, mut reason) = grounds.basis(old, new, left.kind);
        (line.basis, line.reason) = (basis, reason.clone());
        if let Some(other) = other_thing(left, right) {
            reason = Some(other);
            (line.basis, line.reason) = (Basis::None, reason.clone());
        }
        if line.basis == Basis::None {
            return vec![Case { line, samples: None }];
        }
        match (&left.value, &right.value) {
            (Some(Value::Percentiles(_)), Some(Value::Percentiles(_))) => percentiles(old, new, &line),
            _ if left.kind == Kind::Exact => vec![Case { line: exact(old, new, line), samples: None }],
            _ => vec![with_samples(line, rounds(old), rounds(new))],
        }
    }
}

/// A figure that one side alone has.
fn lonely<'a>(figure: &Figure<'_>, is_new: bool) -> Vec<Case<'a>> {
    let (_, measurement) = figure[0];
    if measurement.status != Status::Ok {
        return Vec::new();
    }
    let mut line = blank(measurement);
    let value = measurement.number();
    (line.outcome, line.old, line.new) =
        if is_new { (Outcome::New, None, value) } else { (Outcome::Gone, value, None) };
    vec![Case { line, samples: None }]
}

fn blank(measurement: &Measurement) -> Line {
    Line {
        at: Coordinates {
            suite: measurement.suite.clone(),
            protocol: measurement.protocol.clone(),
            model: measurement.model.clone(),
            row: measurement.row.clone(),
            wait: measurement.wait.clone(),
            side: measurement.side.clone(),
            workload: measurement.workload.clone(),
            metric: measurement.metric.clone(),
            percentile: None,
        },
        unit: measurement.unit.clone(),
        kind: measurement.kind,
        better: measurement.better,
        old: None,
        new: None,
        ratio: None,
        test: None,
        layouts: Vec::new(),
        basis: Basis::None,
        outcome: Outcome::NotComparable,
        fails: false,
        versions: None,
        reason: None,
    }
}

/// What is to be said where a side was not measured: worse only if it was, and has failed or was too much now.
fn unmeasured(old: &Measurement, new: &Measurement) -> Option<(Outcome, String)> {
    let reason = |measurement: &Measurement| measurement.reason.clone().unwrap_or_default();
    match (old.status, new.status) {
        (Status::Ok, Status::Ok) => None,
        (Status::Ok, Status::Failed | Status::Saturated) => Some((Outcome::Broken, reason(new))),
        (Status::Ok, _) => Some((Outcome::NotComparable, format!("not measured in the new run: {}", reason(new)))),
        (_, Status::Ok) => Some((Outcome::NotComparable, format!("not measured in the old run: {}", reason(old)))),
        _ => Some((Outcome::NotComparable, format!("not measured in either run: {}", reason(new)))),
    }
}

/// Exact figures: the value, and least and largest over the corpus where they are known. Any difference is one.
fn exact(old: &Figure<'_>, new: &Figure<'_>, mut line: Line) -> Line {
    let all = |measurement: &Measurement| {
        let range = [measurement.min, measurement.max].map(|number| number.map(Number::as_f64));
        [measurement.number(), range[1], range[0]]
    };
    for figure in [old, new] {
        if figure.iter().any(|(_, other)| all(other) != all(figure[0].1)) {
            line.basis = Basis::None;
            line.reason = Some("an exact figure that differs between the runs of one side".to_owned());
            return line;
        }
    }
    let (left, right) = (all(old[0].1), all(new[0].1));
    let differing = left.into_iter().zip(right).zip(["", "largest over the corpus ", "least over the corpus "]);
    // What only one of them records is no difference.
    let differ =
        |pair: &((Option<f64>, Option<f64>), &str)| pair.0.0.zip(pair.0.1).is_some_and(|(old, new)| old != new);
    let Some(((left, right), which)) = differing.into_iter().find(differ) else {
        line.ratio = ratio(line.old, line.new);
        line.outcome = Outcome::Equal;
        return line;
    };
    if !which.is_empty() {
        line.reason = Some(format!("{which}{} -> {}", left.unwrap_or(0.0), right.unwrap_or(0.0)));
        (line.old, line.new) = (left, right);
    }
    line.ratio = ratio(left, right);
    line.outcome = if line.worsening() > 0.0 { Outcome::Worse } else { Outcome::Better };
    line.fails = line.outcome == Outcome::Worse;
    line
}

fn ratio(old: Option<f64>, new: Option<f64>) -> Option<f64> {
    old.zip(new).filter(|(old, new)| *old > 0.0 && *new > 0.0).map(|(old, new)| new / old)
}

/// The percentiles that both have, each with every process's own.
fn percentiles<'a>(old: &Figure<'a>, new: &Figure<'a>, line: &Line) -> Vec<Case<'a>> {
    let values = |figure: &Figure<'_>| -> BTreeMap<String, f64> {
        let Some(Value::Percentiles(percentiles)) = &figure[0].1.value else { return BTreeMap::new() };
        // The longest of all is one sample: nothing can be said of it.
        let known = percentiles.iter().filter(|(name, _)| *name != "max");
        known.filter_map(|(name, value)| Some((name.clone(), value.as_ref()?.as_f64()))).collect()
    };
    let (left, right) = (values(old), values(new));
    let both = left.into_iter().filter_map(|(name, value)| right.get(&name).map(|other| (name, value, *other)));
    both.map(|(name, value, other)| {
        let samples = (of_percentile(old, &name), of_percentile(new, &name));
        let mut line = Line { old: Some(value), new: Some(other), ..line.clone() };
        line.at.percentile = Some(name.clone());
        let too_few =
            |sample: &Option<Sample<'_>>| sample.as_ref().is_none_or(|sample| sample.rounds.len() < TAIL_PROCESSES);
        if name.as_str() >= TAILS_FROM && (too_few(&samples.0) || too_few(&samples.1)) {
            line.basis = Basis::None;
            line.reason = Some(format!("a tail is compared over {TAIL_PROCESSES} processes a side at least"));
            return Case { line, samples: None };
        }
        with_samples(line, samples.0, samples.1)
    })
    .collect()
}

/// Each process's own percentile; none where one of them has too little to tell it.
#[must_use]
pub fn of_percentile<'a>(figure: &Figure<'_>, name: &str) -> Option<Sample<'a>> {
    let mut rounds = Vec::new();
    for (_, measurement) in figure {
        let Some(Processes::Percentiles(processes)) = &measurement.processes else { return None };
        for process in processes {
            rounds.push(vec![process.get(name).copied().flatten()?.as_f64()]);
        }
    }
    let layouts = vec![None; rounds.len()];
    Some(Sample { rounds: Cow::Owned(rounds), dropped: Vec::new(), layouts })
}

/// Every round of every process of the figure's runs; none where they were not kept.
#[must_use]
pub fn rounds<'a>(figure: &Figure<'a>) -> Option<Sample<'a>> {
    let mut parts = Vec::new();
    let (mut dropped, mut layouts) = (Vec::new(), Vec::new());
    for (run, measurement) in figure {
        let measurement: &'a Measurement = measurement;
        let Some(Processes::Rounds(processes)) = &measurement.processes else { return None };
        dropped.extend(marks(run, processes));
        layouts.extend(std::iter::repeat_n(super::session::layout(run), processes.len()));
        parts.push(processes);
    }
    if !dropped.iter().flatten().any(|mark| *mark) {
        dropped.clear();
    }
    let rounds = match parts[..] {
        [only] => Cow::Borrowed(only.as_slice()),
        _ => Cow::Owned(parts.into_iter().flatten().cloned().collect()),
    };
    Some(Sample { rounds, dropped, layouts })
}

/// The disturbed rounds. Where a run was forced on an unfit machine they were kept, and are kept here.
fn marks(run: &RunFile, processes: &[Vec<f64>]) -> Vec<Vec<bool>> {
    let conditions = &run.conditions;
    let mut marks: Vec<Vec<bool>> = processes.iter().map(|rounds| vec![false; rounds.len()]).collect();
    if conditions.forced != Some(true) || conditions.fit {
        for [process, round] in &conditions.dropped {
            if let Some(mark) = marks.get_mut(*process).and_then(|rounds| rounds.get_mut(*round)) {
                *mark = true;
            }
        }
    }
    marks
}

/// A case with its samples, where both can be tested; else with the figures alone.
fn with_samples<'a>(mut line: Line, old: Option<Sample<'a>>, new: Option<Sample<'a>>) -> Case<'a> {
    if let Some((old, new)) = old.zip(new)
        && old.is_testable()
        && new.is_testable()
    {
        return Case { line, samples: Some((old, new)) };
    }
    line.ratio = ratio(line.old, line.new);
    let near = |ratio: f64| (1.0 / 1.03..=1.03).contains(&ratio);
    line.outcome = match line.ratio {
        _ if line.old == line.new => Outcome::Equal,
        Some(ratio) if near(ratio) => Outcome::Same,
        _ => Outcome::Untested,
    };
    Case { line, samples: None }
}

impl Sample<'_> {
    /// Whether logarithms can be taken, and something is left when the disturbed rounds are dropped.
    fn is_testable(&self) -> bool {
        let positive = self.rounds.iter().flatten().all(|value| value.is_finite() && *value > 0.0);
        let kept = match self.dropped[..] {
            [] => self.rounds.iter().map(Vec::len).sum(),
            _ => self.dropped.iter().flatten().filter(|dropped| !**dropped).count(),
        };
        positive && kept > 0
    }

    /// The processes of one link layout.
    #[must_use]
    pub fn of_layout(&self, layout: u64) -> (Vec<Vec<f64>>, Vec<Vec<bool>>) {
        let is_of = |at: &usize| self.layouts.get(*at).copied().flatten() == Some(layout);
        let places: Vec<usize> = (0..self.rounds.len()).filter(is_of).collect();
        let rounds = places.iter().map(|at| self.rounds[*at].clone()).collect();
        (rounds, places.iter().filter_map(|at| self.dropped.get(*at).cloned()).collect())
    }
}
