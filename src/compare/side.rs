//! The runs of one side, and their figures by coordinates. Where several runs of a side hold the same figure, those of one
//! interleaved session belong together; of others the newest stands.

use std::collections::HashMap;

use super::record::SideRecord;
use crate::result::RunFile;
use crate::result::record::Measurement;

/// Everything that tells two measurements of a run apart. It is what is matched; the settings of the runs, which may make
/// two figures of the same coordinates incomparable all the same, are [`basis`](super::basis)'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    suite: &'a str,
    protocol: &'a str,
    metric: &'a str,
    others: [Option<&'a str>; 5],
}

impl<'a> Key<'a> {
    /// Where `measurement` stands.
    #[must_use]
    pub fn of(measurement: &'a Measurement) -> Self {
        let Measurement { suite, protocol, model, row, wait, side, workload, metric, .. } = measurement;
        let others = [model, row, wait, side, workload].map(Option::as_deref);
        Self { suite, protocol, metric, others }
    }

    /// The same coordinates with another pace, workload and metric.
    #[must_use]
    pub fn with(self, row: Option<&'a str>, workload: Option<&'a str>, metric: &'a str) -> Self {
        let [model, _, wait, side, _] = self.others;
        Self { metric, others: [model, row, wait, side, workload], ..self }
    }
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side {
    /// What the user called it.
    pub name: String,
    /// Its runs, the oldest first.
    pub runs: Vec<RunFile>,
}

/// One figure of a side: the run and the measurement; several where runs of one session measured it in several layouts.
pub type Figure<'a> = Vec<(&'a RunFile, &'a Measurement)>;

impl Side {
    /// A side of `runs`, in any order.
    #[must_use]
    pub fn new(name: impl Into<String>, mut runs: Vec<RunFile>) -> Self {
        // A run's id begins with its time.
        runs.sort_by(|left, right| left.run.id.cmp(&right.run.id));
        Self { name: name.into(), runs }
    }

    /// Its figures, in the order of the files.
    #[must_use]
    pub fn figures(&self) -> Figures<'_> {
        let mut figures = Figures { all: Vec::new(), places: HashMap::new() };
        for run in &self.runs {
            for measurement in &run.measurements {
                figures.add(run, measurement);
            }
        }
        figures
    }

    /// Which runs it is of.
    #[must_use]
    pub fn record(&self) -> SideRecord {
        let mut commits: Vec<String> = self.runs.iter().map(|run| run.source.commit.clone()).collect();
        commits.dedup();
        SideRecord {
            name: self.name.clone(),
            runs: self.runs.iter().map(|run| run.run.id.clone()).collect(),
            commits,
            complete: self.runs.iter().all(|run| run.run.complete),
            fit: self.runs.iter().all(|run| run.conditions.fit),
        }
    }
}

/// A side's figures.
#[derive(Debug)]
pub struct Figures<'a> {
    all: Vec<(Key<'a>, Figure<'a>)>,
    places: HashMap<Key<'a>, usize>,
}

impl<'a> Figures<'a> {
    /// The figure of these coordinates.
    #[must_use]
    pub fn get(&self, key: &Key<'_>) -> Option<&Figure<'a>> {
        self.places.get(key).map(|place| &self.all[*place].1)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &(Key<'a>, Figure<'a>)> {
        self.all.iter()
    }

    fn add(&mut self, run: &'a RunFile, measurement: &'a Measurement) {
        let key = Key::of(measurement);
        let Some(place) = self.places.get(&key) else {
            self.places.insert(key, self.all.len());
            self.all.push((key, vec![(run, measurement)]));
            return;
        };
        let figure = &mut self.all[*place].1;
        if figure.iter().any(|(other, _)| !same_session(other, run)) {
            figure.clear();
        }
        figure.push((run, measurement));
    }
}

fn same_session(left: &RunFile, right: &RunFile) -> bool {
    let session = |run: &RunFile| super::session::id(run).map(str::to_owned);
    session(left).is_some() && session(left) == session(right)
}

/// What a reader must know of the sides before any line: what is incomplete, uncommitted, or of other versions.
#[must_use]
pub fn notes(sides: &[Side]) -> Vec<String> {
    let mut notes = Vec::new();
    for side in sides {
        for run in &side.runs {
            let id = &run.run.id;
            if !run.run.complete {
                notes.push(format!("{id} is incomplete: it was stopped or broke off, and what it has is compared."));
            }
            if !run.conditions.fit {
                let reasons = run.conditions.reasons.join("; ");
                notes.push(format!("{id} was measured on an unfit machine ({reasons}): its rates are indicative."));
            }
            if run.source.dirty {
                notes.push(format!("{id} was built from a tree with changes that are not committed."));
            }
        }
    }
    for step in sides.windows(2) {
        if let ([.., old], [.., new]) = (&step[0].runs[..], &step[1].runs[..]) {
            notes.extend(builds(old, new));
        }
    }
    notes
}

/// Versions that differ between two builds.
fn builds(old: &RunFile, new: &RunFile) -> Option<String> {
    let mut changes = Vec::new();
    if old.source.rustc != new.source.rustc {
        changes.push(format!("rustc {} -> {}", old.source.rustc, new.source.rustc));
    }
    for (name, version) in &old.source.crates {
        if let Some(other) = new.source.crates.get(name).filter(|other| *other != version) {
            changes.push(format!("{name} {version} -> {other}"));
        }
    }
    (!changes.is_empty()).then(|| format!("From {} to {}: {}.", old.run.id, new.run.id, changes.join(", ")))
}
