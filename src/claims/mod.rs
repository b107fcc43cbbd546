//! What the papers claim, beside what was measured: every figure of their tables with ours, and a verdict where one can be given.
//! Knows results, statistics and comparisons; draws no table.
//!
//! | module | owns |
//! | --- | --- |
//! | [`mapping`] | which measurement answers which figure: the table to be read with a paper in hand |
//! | [`answer`] | the words of that table |
//! | [`source`] | what a claims file says, whichever shape it has |
//! | `shapes` | the two shapes of claims files |
//! | [`lookup`] | from an answer to a measurement: which run is taken, and why there is none |
//! | [`ratio`] | one of our figures over another, with its interval |
//! | [`verdict`] | what is said of a claim |
//! | `cells` | the figures of a paper's tables, each with its lines |
//! | `sayings` | what a paper says in words |
//! | [`record`] | the shape of what `votebench claims --json` prints |

pub mod answer;
mod cells;
pub mod lookup;
pub mod mapping;
pub mod ratio;
pub mod record;
mod sayings;
mod shapes;
pub mod source;
pub mod verdict;

use record::{Paper, Report, RunRecord, SCHEMA, Summary};
use source::Claims;

use crate::result::RunFile;

/// Sets every claim beside what `runs` measured. Runs may come in any order.
#[must_use]
pub fn judge(claims: &[Claims], mut runs: Vec<RunFile>) -> Report {
    // A run's id begins with its time. The same run twice is one.
    runs.sort_by(|left, right| left.run.id.cmp(&right.run.id));
    runs.dedup_by(|left, right| left.run.id == right.run.id);
    let papers: Vec<Paper> = claims.iter().map(|claims| paper(claims, &runs)).collect();
    Report {
        schema: SCHEMA.to_owned(),
        runs: runs.iter().map(run).collect(),
        summary: papers.iter().map(|paper| paper.summary).fold(Summary::default(), Summary::and),
        papers,
    }
}

fn paper(claims: &Claims, runs: &[RunFile]) -> Paper {
    let tables: Vec<_> = claims.tables.iter().map(|table| cells::table(table, runs)).collect();
    let said: Vec<_> = claims.sayings.iter().map(|saying| sayings::claim(saying, claims, runs)).collect();
    Paper {
        file: claims.file.clone(),
        source: claims.source.clone(),
        machine: claims.machine.clone(),
        remarks: claims.remarks.clone(),
        summary: Summary::of(&tables, &said),
        tables,
        claims: said,
        contradictions: claims.contradictions.clone(),
    }
}

fn run(run: &RunFile) -> RunRecord {
    let mut notes = Vec::new();
    if !run.run.complete {
        notes.push("it is incomplete: it was stopped or broke off".to_owned());
    }
    if !run.conditions.fit {
        notes.push(format!("its machine was unfit ({}): no rate of it is judged", run.conditions.reasons.join("; ")));
    }
    if run.source.dirty {
        notes.push("it was built from a tree with changes that are not committed".to_owned());
    }
    if run.source.profile == "debug" {
        notes.push("it was built without optimisation: no rate of it is judged".to_owned());
    }
    let suites = source::distinct(run.measurements.iter().map(|m| m.suite.as_str()));
    RunRecord {
        id: run.run.id.clone(),
        commit: run.source.commit.clone(),
        suites: suites.into_iter().map(str::to_owned).collect(),
        machine: format!("{} x {}", run.machine.cores, run.machine.cpu),
        kernel: run.machine.kernel.clone(),
        fingerprint: run.machine.fingerprint.clone(),
        fit: run.conditions.fit,
        complete: run.run.complete,
        notes,
    }
}
