//! From pairs of figures to lines. Owns the family: every rate of a comparison is tested and adjusted together, whatever is
//! shown of it later; and when a difference is `layout suspect`.

use super::basis::Terms;
use super::pair::{Case, Grounds, Pair, Sample};
use super::record::{Basis, LayoutRatio, Line, Outcome, Test};
use super::session;
use super::side::{Figures, Key, Side};
use crate::result::record::{Better, Kind};
use crate::stats::{self, Comparison, Resplits, Rule, Unpaired, Verdict};

/// The lines of two sides, in the order of their files.
#[must_use]
pub fn two(old: &Side, new: &Side, terms: Terms) -> Vec<Line> {
    let (left, right) = (old.figures(), new.figures());
    let mut grounds = Grounds::new(session::interleaved(old, new), terms);
    let mut cases = Vec::new();
    for (key, figure) in right.iter() {
        cases.extend(cases_of(key, &Pair { old: left.get(key), new: Some(figure) }, (&left, &right), &mut grounds));
    }
    for (_, figure) in left.iter().filter(|(key, _)| right.get(key).is_none()) {
        cases.extend(Pair { old: Some(figure), new: None }.cases(&mut grounds).into_iter().map(Judged::new));
    }
    judge(cases)
}

/// A case, and whether the instructions behind it moved, where that is known.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    case: Case<'a>,
    instructions_moved: Option<bool>,
}

impl<'a> Judged<'a> {
    const fn new(case: Case<'a>) -> Self {
        Self { case, instructions_moved: None }
    }
}

/// The cases of a pair out of `sides`.
pub(super) fn cases_of<'a>(
    key: &Key<'_>,
    pair: &Pair<'a>,
    sides: (&Figures<'a>, &Figures<'a>),
    grounds: &mut Grounds<'_>,
) -> Vec<Judged<'a>> {
    let cases = pair.cases(grounds);
    let instructions_moved = cases
        .iter()
        .any(|case| case.line.kind == Kind::Rate && case.samples.is_some())
        .then(|| instructions_moved(key, sides, grounds))
        .flatten();
    cases.into_iter().map(|case| Judged { case, instructions_moved }).collect()
}

/// Whether the instructions of the same codec and model differ between the sides, where both have counted them.
fn instructions_moved(key: &Key<'_>, sides: (&Figures<'_>, &Figures<'_>), grounds: &mut Grounds<'_>) -> Option<bool> {
    let mut known = None;
    for batch in ["batch-1", "batch-1024"] {
        let key = key.with(Some("stream"), Some(batch), "instructions");
        let pair = Pair { old: sides.0.get(&key), new: sides.1.get(&key) };
        pair.old.zip(pair.new)?;
        for case in pair.cases(grounds) {
            match case.line.outcome {
                Outcome::Equal => known = known.or(Some(false)),
                Outcome::Better | Outcome::Worse => known = Some(true),
                _ => return None,
            }
        }
    }
    known
}

/// Judges `cases` as one family.
pub(super) fn judge(cases: Vec<Judged<'_>>) -> Vec<Line> {
    let samples: Vec<&(Sample<'_>, Sample<'_>)> = cases.iter().filter_map(|one| one.case.samples.as_ref()).collect();
    let family: Vec<Unpaired<'_>> = samples
        .iter()
        .map(|(old, new)| Unpaired {
            row: &new.rounds,
            reference: &old.rounds,
            row_dropped: &new.dropped,
            reference_dropped: &old.dropped,
        })
        .collect();
    let judged = stats::unpaired(&Rule::default(), &family);
    let mut comparisons = judged.as_deref().unwrap_or_default().iter();
    let mut lines = Vec::with_capacity(cases.len());
    for Judged { case: Case { mut line, samples }, instructions_moved } in cases {
        if let Some((old, new)) = &samples {
            match (comparisons.next(), &judged) {
                (Some(comparison), _) => {
                    tell(&mut line, comparison);
                    look_at_layouts(&mut line, old, new, instructions_moved);
                    line.fails = line.outcome == Outcome::Worse && line.basis == Basis::Interleaved;
                }
                (None, Err(error)) => (line.basis, line.reason) = (Basis::None, Some(error.to_string())),
                (None, Ok(_)) => {}
            }
        }
        lines.push(line);
    }
    lines
}

/// What the test says.
fn tell(line: &mut Line, comparison: &Comparison) {
    line.ratio = Some(comparison.ratio);
    let narrow = comparison.interval_90;
    let mut test = Test {
        interval: [narrow.low, narrow.high],
        interval_level: narrow.achieved,
        p: comparison.p,
        p_adjusted: comparison.p_adjusted,
        floor_aa: comparison.floor,
        processes: comparison.processes,
        would_see: None,
    };
    line.outcome = match comparison.verdict {
        Verdict::Slower if line.better == Better::Lower => Outcome::Worse,
        Verdict::Faster if line.better == Better::Higher => Outcome::Worse,
        Verdict::Slower | Verdict::Faster => Outcome::Better,
        Verdict::SameWithin3 => Outcome::Same,
        Verdict::Unresolved { would_see } => {
            test.would_see = would_see;
            Outcome::Unresolved
        }
    };
    if comparison.undropped.is_some_and(|all| all.is_difference()) && line.outcome == Outcome::Unresolved {
        line.reason = Some("it hangs on the disturbed rounds".to_owned());
    }
    line.test = Some(test);
}

/// A rate may have moved because its code lies elsewhere. It has not if its instructions have moved, too, or if it moved the
/// same way in several link layouts; where the instructions stand still, it may always.
fn look_at_layouts(line: &mut Line, old: &Sample<'_>, new: &Sample<'_>, instructions_moved: Option<bool>) {
    line.layouts = ratios_by_layout(old, new);
    if line.layouts.len() > 1 {
        (line.old, line.new) = (value(&old.rounds, &old.dropped), value(&new.rounds, &new.dropped));
    }
    if line.kind != Kind::Rate || !matches!(line.outcome, Outcome::Worse | Outcome::Better) {
        return;
    }
    let up = line.ratio.is_some_and(|ratio| ratio > 1.0);
    let suspicion = if instructions_moved == Some(false) {
        "its instructions did not move"
    } else if line.layouts.iter().any(|layout| (layout.ratio > 1.0) != up) {
        "it did not move the same way in every link layout"
    } else if line.basis == Basis::Interleaved && line.layouts.len() < 2 && instructions_moved.is_none() {
        "one link layout and no instruction counts"
    } else {
        return;
    };
    line.outcome = Outcome::LayoutSuspect;
    line.reason =
        Some(line.reason.take().map_or_else(|| suspicion.to_owned(), |reason| format!("{suspicion}; {reason}")));
}

/// New over old within each layout that both sides have.
fn ratios_by_layout(old: &Sample<'_>, new: &Sample<'_>) -> Vec<LayoutRatio> {
    let mut layouts: Vec<u64> = old.layouts.iter().copied().flatten().collect();
    layouts.sort_unstable();
    layouts.dedup();
    let ratio = |layout_bytes: u64| {
        let ((left, left_dropped), (right, right_dropped)) = (old.of_layout(layout_bytes), new.of_layout(layout_bytes));
        let ratio = value(&right, &right_dropped)? / value(&left, &left_dropped)?;
        Some(LayoutRatio { layout_bytes, ratio })
    };
    layouts.into_iter().filter_map(ratio).collect()
}

/// The estimate of one sample by itself, without its floor, which costs the most and is not asked for.
fn value(rounds: &[Vec<f64>], dropped: &[Vec<bool>]) -> Option<f64> {
    let rule = Rule::default();
    let rule = Rule { resplits: Resplits { count: 0, ..rule.resplits }, ..rule };
    stats::estimate(&rule, rounds, dropped).ok().map(|estimate| estimate.value)
}
