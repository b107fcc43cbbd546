//! One row of a family by itself: its P numbers, and what they say before the family is looked at. Owns the way of counting of
//! either design, side by side or out of two runs; the verdict is [`verdict`](super::verdict)'s.

use std::collections::HashMap;
use std::thread;

use super::floor::{self, Hands};
use super::location::{hodges_lehmann, hodges_lehmann_shift};
use super::rank::{Interval, mann_whitney, one_sample_interval, signed_rank, two_sample_interval};
use super::verdict::Rule;

/// From this many processes on the signed-rank test joins in; below, its smallest p value is too large for a family.
const MATCHED_FROM: usize = 10;

/// Fewer rows than this are not worth a second thread.
const ROWS_A_THREAD: usize = 16;

/// The P numbers of a row and its reference, as logarithms.
pub(super) struct Numbers {
    pub(super) row: Vec<f64>,
    pub(super) reference: Vec<f64>,
    /// One log ratio a process, where they ran side by side.
    pub(super) ratios: Option<Vec<f64>>,
}

impl Numbers {
    fn effect(&self) -> f64 {
        match &self.ratios {
            Some(ratios) => hodges_lehmann(ratios),
            None => hodges_lehmann_shift(&self.row, &self.reference),
        }
        .unwrap_or(0.0)
    }

    fn interval(&self, level: f64) -> Interval {
        match &self.ratios {
            Some(ratios) => one_sample_interval(ratios, level),
            None => two_sample_interval(&self.row, &self.reference, level),
        }
        .unwrap_or(Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, asked: level, achieved: 0.0 })
    }

    /// `hands` keeps the hand-outs for the next row of the same sizes.
    fn floor(&self, rule: &Rule, hands: &mut HashMap<[usize; 2], Hands>) -> f64 {
        let sizes = [self.row.len(), self.reference.len()];
        match &self.ratios {
            Some(ratios) => floor::of_pairs(ratios, &rule.resplits),
            None => {
                let hands =
                    hands.entry(sizes).or_insert_with(|| Hands::deal(sizes[0] + sizes[1], sizes[0], &rule.resplits));
                floor::of_two_runs(&self.row, &self.reference, hands)
            }
        }
    }

    /// The larger of the two p values would not do, the smaller alone would err too often: twice the smaller is a valid p
    /// value whatever the two have to do with each other.
    fn p(&self) -> f64 {
        let unmatched = mann_whitney(&self.row, &self.reference);
        match self.matched() {
            Some(ratios) => (2.0 * unmatched.min(signed_rank(ratios))).min(1.0),
            None => unmatched,
        }
    }

    /// The log ratios, where there are enough of them for the signed-rank test to say anything.
    fn matched(&self) -> Option<&[f64]> {
        self.ratios.as_deref().filter(|ratios| ratios.len() >= MATCHED_FROM)
    }

    /// The larger of the floor and of what the test at `level` needs; `None` where the test cannot reach that level.
    pub(super) fn would_see(&self, level: f64, floor: f64) -> Option<f64> {
        let middle = hodges_lehmann_shift(&self.row, &self.reference)?;
        let Some(ratios) = self.matched() else {
            let interval = two_sample_interval(&self.row, &self.reference, 1.0 - level)?;
            return interval.is_achieved().then(|| interval.reach(middle).max(floor));
        };
        let unmatched = two_sample_interval(&self.row, &self.reference, 1.0 - level / 2.0)?;
        let matched = one_sample_interval(ratios, 1.0 - level / 2.0)?;
        let reaches = [
            unmatched.is_achieved().then(|| unmatched.reach(middle)),
            matched.is_achieved().then(|| matched.reach(self.effect())),
        ];
        reaches.into_iter().flatten().min_by(f64::total_cmp).map(|reach| reach.max(floor))
    }
}

/// What a row's numbers say by themselves, but for the floor, which costs the most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) p: f64,
    pub(super) effect: f64,
    pub(super) interval_90: Interval,
    pub(super) interval_95: Interval,
}

/// The facts of every row, in their order.
pub(super) fn facts(family: &[Numbers]) -> Vec<Facts> {
    on_all_cores(family, |rows| {
        let facts = |numbers: &Numbers| Facts {
            p: numbers.p(),
            effect: numbers.effect(),
            interval_90: numbers.interval(0.90),
            interval_95: numbers.interval(0.95),
        };
        rows.iter().map(facts).collect()
    })
}

/// The floors of the rows that are `wanted`, in the order of all.
pub(super) fn floors(rule: &Rule, family: &[Numbers], wanted: impl Fn(usize) -> bool) -> Vec<Option<f64>> {
    let wanted: Vec<(&Numbers, bool)> = family.iter().enumerate().map(|(at, row)| (row, wanted(at))).collect();
    on_all_cores(&wanted, |rows| {
        let mut hands = HashMap::new();
        rows.iter().map(|(numbers, wanted)| wanted.then(|| numbers.floor(rule, &mut hands))).collect()
    })
}

/// What `of_some` makes of `rows`, a part of them on each core.
fn on_all_cores<R: Sync, T: Send>(rows: &[R], of_some: impl Fn(&[R]) -> Vec<T> + Sync) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let part = rows.len().div_ceil(cores).max(ROWS_A_THREAD);
    thread::scope(|scope| {
        let of_some = &of_some;
        let threads: Vec<_> = rows.chunks(part).map(|rows| (rows, scope.spawn(move || of_some(rows)))).collect();
        // A thread that has ended badly has a bug to show: it shows it again here.
        threads.into_iter().flat_map(|(rows, thread)| thread.join().unwrap_or_else(|_| of_some(rows))).collect()
    })
}
