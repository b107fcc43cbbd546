//! What is said of one arm of the HTTP study against another. Owns which arms are set against which, and the family that the tests
//! are adjusted over: all of a run's pairs of arms.

use std::collections::BTreeMap;

use super::arm::Wait;
use super::http::{Key, Options, Session, Timed, WINDOWS, windows};
use crate::result::record::{Judgement, VerdictRecord};
use crate::stats::{self, Paired, Rule};

/// The arms that others are set against: the matched baseline, the everywhere baseline, and the lower bound.
pub(super) const REFERENCES: [&str; 3] = ["pooled-http", "hyper", "floor"];

/// One row of the study: an arm at a workload and wait, in one window.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) key: Key,
    /// The window, by its place in [`WINDOWS`].
    pub(super) window: usize,
}

/// All rows that a run of these options has.
pub(super) fn rows(options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for &wait in &options.waits {
        for workload in &options.workloads {
            for arm in &options.arms {
                let key = Key { arm: arm.clone(), workload: workload.clone(), wait };
                rows.extend((0..windows_of(options, wait)).map(|window| Row { key: key.clone(), window }));
            }
        }
    }
    rows
}

fn windows_of(options: &Options, wait: Wait) -> usize {
    windows(options, wait).len().min(WINDOWS.len())
}

/// Nanoseconds per request of a row, by process and block. Only whole sets of processes can be compared pair by pair.
pub(super) fn blocks(timed: &Timed, row: &Row) -> Option<Vec<Vec<f64>>> {
    let slots = timed.get(&row.key)?.iter();
    slots.map(|slot| Some(slot.as_ref()?.get(row.window)?.client.blocks_ns.clone())).collect()
}

/// The verdict on every row against each of its references. A verdict that does not stand with the sets that were taken anew left
/// as they first came is unresolved.
pub(super) fn verdicts(options: &Options, session: &Session) -> BTreeMap<(Row, &'static str), VerdictRecord> {
    let mut kept = family(options, &session.timed);
    if session.retaken.is_empty() {
        return kept;
    }
    let first = family(options, &session.first);
    for (pair, record) in &mut kept {
        record.undropped = first.get(pair).map(|first| first.verdict);
        if record.undropped != Some(record.verdict) {
            record.verdict = Judgement::Unresolved;
        }
    }
    kept
}

fn family(options: &Options, timed: &Timed) -> BTreeMap<(Row, &'static str), VerdictRecord> {
    let rows = rows(options);
    let found: BTreeMap<&Row, Vec<Vec<f64>>> = rows.iter().filter_map(|row| Some((row, blocks(timed, row)?))).collect();
    let mut pairs = Vec::new();
    for row in rows.iter().filter(|row| found.contains_key(row)) {
        for reference in REFERENCES.into_iter().filter(|reference| *reference != row.key.arm) {
            let key = Key { arm: reference.to_owned(), ..row.key.clone() };
            if let Some(against) = found.get(&Row { key, window: row.window }) {
                pairs.push(((row.clone(), reference), Paired { row: &found[row], reference: against }));
            }
        }
    }
    let family: Vec<_> = pairs.iter().map(|(_, pair)| *pair).collect();
    // Without a verdict a row still has its times; what is wrong with them its own estimate says.
    let compared = stats::paired(&Rule::default(), &family, &[]).unwrap_or_default();
    let records = pairs.into_iter().zip(&compared);
    records.map(|((pair, _), one)| (pair.clone(), VerdictRecord::new(pair.1, one))).collect()
}
