//! The verdict rule. Owns how the numbers of a family of rows become `faster`, `slower`, `same` or `unresolved`; knows
//! not what the rows are.
//!
//! A process contributes ONE number per row: the median over its rounds of the logarithm of the time. All else uses these
//! P numbers only. Two ways in share one rule:
//!
//! - [`paired`]: row and reference ran side by side in the same rounds of the same processes. A process's number is the
//!   median over its rounds of log(row / reference), so that whatever slowed both in a round cancels; effect and interval
//!   are the one-sample Hodges-Lehmann estimate and its signed-rank interval.
//! - [`unpaired`]: row and reference come from two runs. Effect and interval are the two-sample Hodges-Lehmann estimate
//!   and its Mann-Whitney interval.
//!
//! Both test with Mann and Whitney's test between the P medians of the row and those of the reference, and adjust over
//! the whole family; there is no way to ask for a verdict on one row alone. Side by side with at least ten processes,
//! Wilcoxon's signed-rank test on the P log ratios stands beside it, and the row's p value is twice the smaller of the
//! two (Bonferroni's). Why both: with few processes the signed-rank test cannot reach a small p value at all (0.0625 with
//! five), and where the machine drifts, or one process is slow in all its rows, Mann-Whitney is blind to a difference that
//! every single process shows. In simulations of 190 rows with 15 processes, a 6 % effect in a fifth of the rows, and
//! processes that differ by 3 % in all rows alike and drift by 10 %: Mann-Whitney alone finds 76 %, both 99 %; where
//! there is nothing common to cancel, the second test costs 2 points of 43 at a 3 % effect.

use super::adjust::benjamini_hochberg;
use super::floor::Resplits;
use super::location::index_to_f64;
use super::numbers::{StatsError, medians, ratios};
use super::rank::Interval;
use super::row::{Facts, Numbers, facts, floors};

/// The rule's constants. [`Rule::default`] is the published rule; others are for the simulations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The level of the adjusted test: 0.05.
    pub alpha: f64,
    /// The band of `same`, as a logarithm: ln 1.03.
    pub same: f64,
    /// The hand-outs that make a row's A/A floor: 1,000 from seed 1, and at least ln 1.01.
    pub resplits: Resplits,
}

impl Default for Rule {
    fn default() -> Self {
        let resplits = Resplits { count: 1_000, seed: 1, least: 1.01_f64.ln() };
        Self { alpha: 0.05, same: 1.03_f64.ln(), resplits }
    }
}

/// A row and its reference, measured side by side: times by process and round, rounds matched by their index.
#[derive(Clone, Copy, Debug)]
pub struct Paired<'a> {
    /// The row's times.
    pub row: &'a [Vec<f64>],
    /// The reference's times.
    pub reference: &'a [Vec<f64>],
}

/// A row and its reference out of two runs: times by process and round, with the rounds, by process, that the machine
/// disturbed in either (empty: none).
#[derive(Clone, Copy, Debug)]
pub struct Unpaired<'a> {
    /// The row's times.
    pub row: &'a [Vec<f64>],
    /// The reference's times.
    pub reference: &'a [Vec<f64>],
    /// The row's disturbed rounds.
    pub row_dropped: &'a [Vec<bool>],
    /// The reference's disturbed rounds.
    pub reference_dropped: &'a [Vec<bool>],
}

/// What is said of a row against its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It takes less time.
    Faster,
    /// It takes more time.
    Slower,
    /// The 90 % interval of the ratio lies inside 1/1.03 to 1.03.
    SameWithin3,
    /// Neither: the row's noise hides what there is.
    Unresolved {
        /// The smallest effect that this row could have shown, as a share of 1 (0.04 is 4 %). With the scatter that
        /// this row has, an observed effect below it would not have been called: it is the larger of the A/A floor and
        /// of the reach of the Mann-Whitney interval at the level that the adjustment asks of one more row, given the
        /// rows that were called. `None` where no effect of any size could have been called, because so few processes
        /// cannot reach that level.
        would_see: Option<f64>,
    },
}

impl Verdict {
    /// The verdict's name in results and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::SameWithin3 => "same within 3 %",
            Self::Unresolved { .. } => "unresolved",
        }
    }

    /// Whether it says that something differs.
    #[must_use]
    pub const fn is_difference(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

/// A row against its reference, with all that led to the verdict. Ratios are row / reference: 2 is twice the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The effect: the Hodges-Lehmann estimate, as a ratio of times.
    pub ratio: f64,
    /// The distribution-free 90 % interval of the ratio.
    pub interval_90: Interval,
    /// The distribution-free 95 % interval of the ratio.
    pub interval_95: Interval,
    /// The two-sided p value of the row's own test.
    pub p: f64,
    /// The same, adjusted over the family.
    pub p_adjusted: f64,
    /// The A/A floor, as a ratio above 1.
    pub floor: f64,
    /// How many processes gave a number (of two runs: the smaller count).
    pub processes: usize,
    /// What is said.
    pub verdict: Verdict,
    /// What would have been said with the disturbed rounds left in, where any were dropped. If it is something else,
    /// `verdict` is `unresolved`.
    pub undropped: Option<Verdict>,
}

/// Verdicts for a family of rows measured side by side with their references. `dropped` marks the rounds, by process,
/// that the machine disturbed; they are the same for every row. Empty: none.
///
/// # Errors
/// Where shapes differ, a time is not positive and finite, or nothing is left.
pub fn paired(rule: &Rule, rows: &[Paired<'_>], dropped: &[Vec<bool>]) -> Result<Vec<Comparison>, StatsError> {
    let any_dropped = is_any(dropped);
    with_and_without(any_dropped, |drops| {
        let mask = if drops { dropped } else { &[] };
        let numbers = rows.iter().enumerate().map(|(at, pair)| {
            Ok(Numbers {
                row: medians(at, pair.row, mask, f64::ln)?,
                reference: medians(at, pair.reference, mask, f64::ln)?,
                ratios: Some(ratios(at, pair.row, pair.reference, mask)?),
            })
        });
        Ok(judge(rule, &numbers.collect::<Result<Vec<_>, _>>()?, drops))
    })
}

/// Verdicts for a family of rows out of one run against their counterparts out of another.
///
/// # Errors
/// Where shapes differ, a time is not positive and finite, or nothing is left.
pub fn unpaired(rule: &Rule, rows: &[Unpaired<'_>]) -> Result<Vec<Comparison>, StatsError> {
    let any_dropped = rows.iter().any(|pair| is_any(pair.row_dropped) || is_any(pair.reference_dropped));
    with_and_without(any_dropped, |drops| {
        let mask = |dropped| if drops { dropped } else { &[] as &[Vec<bool>] };
        let numbers = rows.iter().enumerate().map(|(at, pair)| {
            Ok(Numbers {
                row: medians(at, pair.row, mask(pair.row_dropped), f64::ln)?,
                reference: medians(at, pair.reference, mask(pair.reference_dropped), f64::ln)?,
                ratios: None,
            })
        });
        Ok(judge(rule, &numbers.collect::<Result<Vec<_>, _>>()?, drops))
    })
}

/// The rule itself, on a whole family. With `all_floors` every row gets its floor; else those alone whose verdict hangs on
/// it, and the others NaN.
fn judge(rule: &Rule, family: &[Numbers], all_floors: bool) -> Vec<Comparison> {
    let facts = facts(family);
    let adjusted = benjamini_hochberg(&facts.iter().map(|facts| facts.p).collect::<Vec<_>>());
    let rejected = adjusted.iter().filter(|p| **p < rule.alpha).count();
    let level = rule.alpha * index_to_f64((rejected + 1).min(family.len())) / index_to_f64(family.len().max(1));
    let is_same = |interval: Interval| interval.is_achieved() && -rule.same < interval.low && interval.high < rule.same;
    let hangs = |at: usize| all_floors || adjusted[at] < rule.alpha || !is_same(facts[at].interval_90);
    let floors = floors(rule, family, hangs);
    let rows = family.iter().zip(&facts).zip(&adjusted).zip(floors);
    rows.map(|(((numbers, facts), p_adjusted), floor)| {
        let Facts { p, effect, interval_90, interval_95 } = *facts;
        let floor = floor.unwrap_or(f64::NAN);
        let verdict = if *p_adjusted < rule.alpha && effect.abs() > floor {
            if effect < 0.0 { Verdict::Faster } else { Verdict::Slower }
        } else if is_same(interval_90) {
            Verdict::SameWithin3
        } else {
            Verdict::Unresolved { would_see: numbers.would_see(level, floor).map(f64::exp_m1) }
        };
        Comparison {
            ratio: effect.exp(),
            interval_90: as_ratio(interval_90),
            interval_95: as_ratio(interval_95),
            p,
            p_adjusted: *p_adjusted,
            floor: floor.exp(),
            processes: numbers.row.len().min(numbers.reference.len()),
            verdict,
            undropped: None,
        }
    })
    .collect()
}

fn is_any(dropped: &[Vec<bool>]) -> bool {
    dropped.iter().flatten().any(|dropped| *dropped)
}

/// Judges without the dropped rounds and, where there are any, with them; where the two say different things, neither is
/// believed.
fn with_and_without(
    any_dropped: bool,
    judged: impl Fn(bool) -> Result<Vec<Comparison>, StatsError>,
) -> Result<Vec<Comparison>, StatsError> {
    let mut kept = judged(true)?;
    if !any_dropped {
        return Ok(kept);
    }
    for (kept, all) in kept.iter_mut().zip(judged(false)?) {
        kept.undropped = Some(all.verdict);
        kept.verdict = fold(kept.verdict, all.verdict);
    }
    Ok(kept)
}

/// What is left of a verdict without the disturbed rounds beside the one with them.
pub(super) fn fold(kept: Verdict, all: Verdict) -> Verdict {
    match (kept, all) {
        (Verdict::Unresolved { would_see: Some(kept) }, Verdict::Unresolved { would_see: Some(all) }) => {
            Verdict::Unresolved { would_see: Some(kept.max(all)) }
        }
        (unresolved @ Verdict::Unresolved { .. }, _) | (_, unresolved @ Verdict::Unresolved { .. }) => unresolved,
        (kept, all) if kept == all => kept,
        _ => Verdict::Unresolved { would_see: None },
    }
}

pub(super) fn as_ratio(interval: Interval) -> Interval {
    Interval { low: interval.low.exp(), high: interval.high.exp(), ..interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five processes of three rounds around `centre`, each process a little apart from the next.
    fn times(centre: f64) -> Vec<Vec<f64>> {
        (0..5)
            .map(|process| (0..3).map(|round| centre * (1.0 + 0.001 * f64::from(process + 2 * round))).collect())
            .collect()
    }

    fn one(row: &[Vec<f64>], reference: &[Vec<f64>], dropped: &[Vec<bool>]) -> Comparison {
        paired(&Rule::default(), &[Paired { row, reference }], dropped).unwrap()[0]
    }

    #[test]
    fn says_what_is_plain() {
        let slower = one(&times(20.0), &times(10.0), &[]);
        assert_eq!(slower.verdict, Verdict::Slower);
        assert!((slower.ratio - 2.0).abs() < 1e-12 && (slower.p - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!((slower.processes, slower.undropped), (5, None));
        assert_eq!(one(&times(10.0), &times(20.0), &[]).verdict, Verdict::Faster);
        assert_eq!(one(&times(10.0), &times(10.0), &[]).verdict, Verdict::SameWithin3);
    }

    #[test]
    fn an_effect_below_the_floor_is_not_called() {
        // Half a percent, without any noise: p is as small as it gets, and the floor of 1 % stands.
        let below = one(&times(10.05), &times(10.0), &[]);
        assert_eq!(below.verdict, Verdict::SameWithin3);
        assert!((below.floor - 1.01).abs() < 1e-12);
    }

    #[test]
    fn the_effect_is_the_median_of_ratios_within_rounds() {
        // What slows both in one round cancels: process 0's second round is ten times slower for both.
        let (mut row, mut reference) = (times(20.0), times(10.0));
        row[0][1] *= 10.0;
        reference[0][1] *= 10.0;
        assert!((one(&row, &reference, &[]).ratio - 2.0).abs() < 1e-12);
    }

    #[test]
    fn unresolved_names_what_it_would_have_seen() {
        // Log ratios of -8 to 8 % by process: nothing to call, too wide for `same`.
        let reference = vec![vec![10.0]; 5];
        let row: Vec<Vec<f64>> = [-8, -4, 0, 4, 8].map(|percent| vec![10.0 + 0.1 * f64::from(percent)]).to_vec();
        let Verdict::Unresolved { would_see: Some(would_see) } = one(&row, &reference, &[]).verdict else { panic!() };
        // The widest Mann-Whitney interval that rejects at 5 % leaves out two of the 25 differences at each end (each
        // of the five stands five times): from ln 0.92 to ln 1.08, of which ln 0.92 lies further off.
        assert!((would_see - (1.0 / 0.92 - 1.0)).abs() < 1e-9, "{would_see}");
    }

    #[test]
    fn too_few_processes_say_that_nothing_could_be_seen() {
        let row = vec![vec![20.0], vec![21.0]];
        let reference = vec![vec![10.0], vec![10.1]];
        assert_eq!(one(&row, &reference, &[]).verdict, Verdict::Unresolved { would_see: None });
    }

    #[test]
    fn verdicts_that_hang_on_the_disturbed_rounds_are_unresolved() {
        // The first round of every process is disturbed: in it the row takes twice the time. Two rounds a process.
        let reference = vec![vec![10.0, 10.0, 10.0]; 5];
        let row: Vec<Vec<f64>> = (0..5).map(|at| vec![20.0 + f64::from(at) / 100.0, 20.1, 10.0]).collect();
        let dropped = vec![vec![true, true, false]; 5];
        let folded = one(&row, &reference, &dropped);
        assert!(matches!(folded.verdict, Verdict::Unresolved { .. }));
        assert_eq!(folded.undropped, Some(Verdict::Slower));
        // Where both say the same, it stands.
        let stands = one(&times(20.0), &times(10.0), &vec![vec![true, false, false]; 5]);
        assert_eq!((stands.verdict, stands.undropped), (Verdict::Slower, Some(Verdict::Slower)));
    }

    #[test]
    fn a_process_whose_rounds_were_all_dropped_gives_no_number() {
        let mut dropped = vec![vec![false; 3]; 5];
        dropped[2] = vec![true; 3];
        assert_eq!(one(&times(20.0), &times(10.0), &dropped).processes, 4);
        let everything =
            paired(&Rule::default(), &[Paired { row: &times(1.0), reference: &times(1.0) }], &vec![vec![true; 3]; 5]);
        assert_eq!(everything, Err(StatsError::Empty { row: 0 }));
    }

    #[test]
    fn two_runs_by_hand() {
        let (row, reference) = (times(11.0), times(10.0));
        let pair = Unpaired { row: &row, reference: &reference, row_dropped: &[], reference_dropped: &[] };
        let compared = unpaired(&Rule::default(), &[pair]).unwrap()[0];
        assert_eq!(compared.verdict, Verdict::Slower);
        assert!((compared.ratio - 1.1).abs() < 1e-9 && (compared.p - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn of_two_runs_each_has_its_own_disturbed_rounds() {
        // Ten processes of three rounds, the first of each in the row three times as slow: dropped, it does not count.
        let reference = vec![vec![10.0, 10.1]; 10];
        let row: Vec<Vec<f64>> = (0..10).map(|at| vec![30.0, 10.0 + f64::from(at) / 1e3, 10.1]).collect();
        let dropped = vec![vec![true, false, false]; 10];
        let pair = Unpaired { row: &row, reference: &reference, row_dropped: &dropped, reference_dropped: &[] };
        let compared = unpaired(&Rule::default(), &[pair]).unwrap()[0];
        assert_eq!((compared.verdict, compared.undropped), (Verdict::SameWithin3, Some(Verdict::SameWithin3)));
        assert!((compared.ratio - 1.0).abs() < 1e-3);
        let short = Unpaired { row_dropped: &dropped[..9], ..pair };
        assert_eq!(unpaired(&Rule::default(), &[pair, short]), Err(StatsError::Shape { row: 1 }));
    }

    #[test]
    fn refuses_what_does_not_fit_together() {
        let rule = Rule::default();
        let (good, short) = (times(10.0), times(10.0)[..4].to_vec());
        let mismatched = [Paired { row: &good, reference: &good }, Paired { row: &good, reference: &short }];
        assert_eq!(paired(&rule, &mismatched, &[]), Err(StatsError::Shape { row: 1 }));
        let mask = vec![vec![false; 2]; 5];
        assert_eq!(paired(&rule, &mismatched[..1], &mask), Err(StatsError::Shape { row: 0 }));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut row = times(10.0);
            row[3][1] = bad;
            let pair = [Paired { row: &row, reference: &good }];
            assert_eq!(paired(&rule, &pair, &[]), Err(StatsError::NotPositive { row: 0 }));
        }
        assert_eq!(paired(&rule, &[], &[]), Ok(vec![]));
    }
}
