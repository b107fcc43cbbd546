//! Verdicts where a machine that was disturbed drops nothing: rows that ran side by side, each with disturbed processes of its
//! own. Owns how a family is judged both ways; the rule is [`verdict`](super::verdict)'s.

use super::numbers::StatsError;
use super::verdict::{Comparison, Paired, Rule, Verdict, fold, paired};

/// Verdicts for a family of rows as [`paired`] gives them, from all processes. `disturbed` marks for each row the processes in
/// which it or its reference was disturbed. Where there are any, the second of each is what would be said without them; a
/// verdict that is not the same both ways is `unresolved`.
///
/// # Errors
/// As [`paired`]; and where a row has not a mark for each of its processes.
pub fn paired_both_ways(
    rule: &Rule,
    rows: &[Paired<'_>],
    disturbed: &[Vec<bool>],
) -> Result<Vec<(Comparison, Option<Both>)>, StatsError> {
    let unmarked = |(at, row): (usize, &Paired<'_>)| disturbed.get(at).is_none_or(|marks| marks.len() != row.row.len());
    if let Some(row) = rows.iter().enumerate().position(unmarked) {
        return Err(StatsError::Shape { row });
    }
    let all = paired(rule, rows, &[])?;
    if disturbed.iter().flatten().all(|mark| !mark) {
        return Ok(all.into_iter().map(|one| (one, None)).collect());
    }
    let kept = |times: &[Vec<f64>], marks: &[bool]| -> Vec<Vec<f64>> {
        times.iter().zip(marks).filter(|(_, mark)| !**mark).map(|(rounds, _)| rounds.clone()).collect()
    };
    let rest: Vec<_> =
        rows.iter().zip(disturbed).map(|(one, marks)| (kept(one.row, marks), kept(one.reference, marks))).collect();
    // A row with nothing left cannot be judged without what was disturbed, and so not at all.
    let left: Vec<usize> = (0..rest.len()).filter(|at| !rest[*at].0.is_empty()).collect();
    let family: Vec<_> = left.iter().map(|at| Paired { row: &rest[*at].0, reference: &rest[*at].1 }).collect();
    let mut without = vec![Verdict::Unresolved { would_see: None }; rows.len()];
    for (at, comparison) in left.iter().zip(paired(rule, &family, &[])?) {
        without[*at] = comparison.verdict;
    }
    let judged = all.into_iter().zip(without).map(|(one, without)| {
        let both = Both { with: one.verdict, without };
        (Comparison { verdict: fold(without, one.verdict), ..one }, Some(both))
    });
    Ok(judged.collect())
}

/// What is said with the disturbed processes, and without them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Both {
    /// With them.
    pub with: Verdict,
    /// Without them.
    pub without: Verdict,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten processes of three rounds around `centre`, each a little apart from the next.
    fn times(centre: f64) -> Vec<Vec<f64>> {
        (0..10)
            .map(|process| (0..3).map(|round| centre * (1.0 + 0.001 * f64::from(process + 2 * round))).collect())
            .collect()
    }

    fn judge(row: &[Vec<f64>], reference: &[Vec<f64>], marks: &[bool]) -> (Comparison, Option<Both>) {
        paired_both_ways(&Rule::default(), &[Paired { row, reference }], &[marks.to_vec()]).unwrap()[0]
    }

    #[test]
    fn undisturbed_rows_are_judged_once() {
        let (row, reference) = (times(150.0), times(100.0));
        let (comparison, both) = judge(&row, &reference, &[false; 10]);
        assert_eq!((comparison.verdict, both), (Verdict::Slower, None));
        assert_eq!(
            comparison,
            paired(&Rule::default(), &[Paired { row: &row, reference: &reference }], &[]).unwrap()[0]
        );
    }

    #[test]
    fn a_verdict_that_hangs_on_disturbed_processes_is_none() {
        let reference = times(100.0);
        // Nine processes of ten are slower, and those are the disturbed ones.
        let mut row = times(100.0);
        row[..9].iter_mut().flatten().for_each(|time| *time *= 1.5);
        let mut marks = [true; 10];
        marks[9] = false;
        let (comparison, both) = judge(&row, &reference, &marks);
        assert_eq!(both.map(|both| both.with), Some(Verdict::Slower));
        assert!(matches!(both.unwrap().without, Verdict::Unresolved { .. } | Verdict::SameWithin3), "{both:?}");
        assert!(matches!(comparison.verdict, Verdict::Unresolved { .. }));
        assert!(comparison.ratio > 1.3, "the effect is that of all processes");
        // The same with nothing left.
        let (comparison, both) = judge(&row, &reference, &[true; 10]);
        assert!(matches!(comparison.verdict, Verdict::Unresolved { .. }), "{both:?}");
        // One disturbed process of ten changes nothing here.
        let mut marks = [false; 10];
        marks[0] = true;
        let (comparison, both) = judge(&times(150.0), &reference, &marks);
        assert_eq!(comparison.verdict, Verdict::Slower);
        assert_eq!(both, Some(Both { with: Verdict::Slower, without: Verdict::Slower }));
    }

    #[test]
    fn marks_must_fit() {
        let (row, rule) = (times(1.0), Rule::default());
        let rows = [Paired { row: &row, reference: &row }];
        assert_eq!(paired_both_ways(&rule, &rows, &[]), Err(StatsError::Shape { row: 0 }));
        assert_eq!(paired_both_ways(&rule, &rows, &[vec![false; 9]]), Err(StatsError::Shape { row: 0 }));
    }
}
