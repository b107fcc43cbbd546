//! What is said of a claim, by the rules of METHODOLOGY.md: an order by the side of 1 on which our interval lies, a ratio by the
//! factor by which it may miss, a count by being the same. Owns the rules and no lookup.

use super::ratio::{Interval, Ratio};
use super::record::{Against, Verdict};

/// The factor by which the whole interval of a reproduced ratio may miss the claim.
const NEAR: f64 = 1.25;

/// The largest effect that the place of code alone has been seen to have.
const LAYOUT: f64 = 1.10;

/// Our ratio to `name` against the claimed one. `one_layout`: whether the place of code may be all there is to it.
#[must_use]
pub fn against(name: &str, claimed: Option<f64>, ours: Result<Ratio, String>, one_layout: bool) -> Against {
    let mut against = Against {
        name: name.to_owned(),
        claimed,
        ratio: None,
        interval: None,
        interval_level: None,
        processes: None,
        order: Verdict::Unresolved,
        factor: Verdict::Unresolved,
        reason: None,
    };
    let ratio = match ours {
        Ok(ratio) => ratio,
        Err(reason) => {
            against.reason = Some(reason);
            return against;
        }
    };
    (against.ratio, against.reason) = (Some(ratio.ratio), ratio.reason);
    let Some(interval) = ratio.interval else { return against };
    against.interval = Some(interval.ends);
    (against.interval_level, against.processes) = interval.over.unzip();
    let Some(claimed) = claimed else {
        against.reason = Some("the paper's figures have no ratio".to_owned());
        return against;
    };
    judge(&mut against, claimed, interval);
    let is_small = interval.ends.iter().all(|end| (1.0 / LAYOUT..=LAYOUT).contains(end));
    if one_layout && is_small && interval.over.is_some() && against.order != Verdict::Unresolved {
        against.reason = Some("by less than the place of code alone can make".to_owned());
    }
    against
}

/// Judges with and without what was disturbed: where the two differ, neither is believed.
fn judge(against: &mut Against, claimed: f64, interval: Interval) {
    let both = [Some(interval.ends), interval.other_ends];
    let judged: Vec<_> = both.into_iter().flatten().map(|ends| (order(claimed, ends), factor(claimed, ends))).collect();
    let agree = judged.iter().all(|one| *one == judged[0]);
    if agree {
        (against.order, against.factor) = judged[0];
        return;
    }
    against.reason = Some("it hangs on what was disturbed".to_owned());
    if judged.iter().all(|one| one.0 == judged[0].0) {
        against.order = judged[0].0;
        if against.order == Verdict::Reproduced {
            against.factor = Verdict::OrderOnly;
        }
    }
}

/// Whether an interval lies on the claimed side of 1. Where the two are claimed to be the same, it has to be nothing but 1.
#[must_use]
pub fn order(claimed: f64, [low, high]: [f64; 2]) -> Verdict {
    let (above, below) = (low > 1.0, high < 1.0);
    if claimed > 1.0 && above || claimed < 1.0 && below {
        return Verdict::Reproduced;
    }
    let is_same = !above && !below;
    let is_one = is_same && high <= low;
    match (above || below, is_one) {
        (true, _) => Verdict::Contradicted,
        (false, true) if (claimed - 1.0).abs() < f64::EPSILON => Verdict::Reproduced,
        (false, true) => Verdict::Contradicted,
        (false, false) => Verdict::Unresolved,
    }
}

/// Whether an interval lies within the factor of the claim. A ratio whose order is contradicted is not reproduced, however near.
#[must_use]
pub fn factor(claimed: f64, ends: [f64; 2]) -> Verdict {
    let order = order(claimed, ends);
    let is_near = ends.iter().all(|end| (claimed / NEAR..=claimed * NEAR).contains(end));
    match order {
        Verdict::Contradicted => Verdict::Contradicted,
        _ if is_near => Verdict::Reproduced,
        Verdict::Reproduced => Verdict::OrderOnly,
        _ => Verdict::Unresolved,
    }
}

/// Whether a count is the one that the paper prints with so many decimals.
#[must_use]
pub fn count(paper: f64, ours: f64, decimals: usize) -> Verdict {
    let printed = |value: f64| format!("{value:.decimals$}");
    // Of whole counts nothing is rounded away.
    let is_same = if decimals == 0 { (paper - ours).abs() < 1e-9 } else { printed(paper) == printed(ours) };
    if is_same { Verdict::Reproduced } else { Verdict::Contradicted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Contradicted, OrderOnly, Reproduced, Unresolved};

    #[test]
    fn an_order_is_the_side_of_one() {
        assert_eq!(order(11.0, [1.01, 30.0]), Reproduced);
        assert_eq!(order(11.0, [0.2, 0.99]), Contradicted);
        assert_eq!(order(11.0, [0.99, 30.0]), Unresolved);
        assert_eq!(order(11.0, [1.0, 30.0]), Unresolved, "1 is no side");
        assert_eq!(order(0.5, [0.2, 0.99]), Reproduced);
        assert_eq!(order(0.5, [1.01, 1.02]), Contradicted);
        // Exact counts: the interval is the ratio.
        assert_eq!(order(1.0, [1.0, 1.0]), Reproduced);
        assert_eq!(order(1.0, [1.1, 1.1]), Contradicted);
        assert_eq!(order(1.1, [1.0, 1.0]), Contradicted);
        assert_eq!(order(1.0, [0.9, 1.1]), Unresolved);
    }

    #[test]
    fn a_ratio_needs_the_whole_interval_within_a_factor() {
        assert_eq!(factor(2.0, [1.7, 2.4]), Reproduced);
        assert_eq!(factor(2.0, [1.6, 2.5]), Reproduced, "both ends of the factor belong to it");
        assert_eq!(factor(2.0, [1.5, 2.0]), OrderOnly);
        assert_eq!(factor(2.0, [2.0, 2.6]), OrderOnly);
        assert_eq!(factor(2.0, [0.5, 0.6]), Contradicted);
        assert_eq!(factor(2.0, [0.9, 2.0]), Unresolved);
        // Near the claim and on the wrong side: the order decides.
        assert_eq!(factor(1.09, [0.95, 0.98]), Contradicted);
        assert_eq!(factor(1.09, [0.95, 1.10]), Reproduced);
    }

    #[test]
    fn counts_are_the_same_or_not() {
        assert_eq!(count(161.0, 161.0, 0), Reproduced);
        assert_eq!(count(161.0, 161.4, 0), Contradicted);
        assert_eq!(count(11.0, 100.0 * (161.0 / 145.0 - 1.0), 1), Reproduced);
        assert_eq!(count(32.4, 21.38, 1), Contradicted);
    }

    fn ratio(ends: [f64; 2], other_ends: Option<[f64; 2]>) -> Result<Ratio, String> {
        let interval = Interval { ends, over: Some((0.9, 15)), other_ends };
        Ok(Ratio { ratio: 1.0, interval: Some(interval), reason: None })
    }

    #[test]
    fn what_hangs_on_disturbed_processes_is_unresolved() {
        let judged = |ours| {
            let against = against("zap", Some(2.0), ours, false);
            (against.order, against.factor, against.reason)
        };
        let hangs = Some("it hangs on what was disturbed".to_owned());
        assert_eq!(judged(ratio([1.9, 2.1], Some([1.8, 2.2]))), (Reproduced, Reproduced, None));
        assert_eq!(judged(ratio([1.9, 2.1], Some([0.8, 2.2]))), (Unresolved, Unresolved, hangs.clone()));
        assert_eq!(judged(ratio([1.9, 2.1], Some([1.2, 2.2]))), (Reproduced, OrderOnly, hangs));
        let refused = judged(Err("the machine was unfit".to_owned()));
        assert_eq!(refused, (Unresolved, Unresolved, Some("the machine was unfit".to_owned())));
    }

    #[test]
    fn small_effects_of_one_build_are_marked() {
        let reason = |ours, one_layout| against("zap", Some(2.0), ours, one_layout).reason;
        assert!(reason(ratio([1.02, 1.04], None), true).is_some_and(|reason| reason.contains("place of code")));
        assert_eq!(reason(ratio([1.02, 1.04], None), false), None);
        assert_eq!(reason(ratio([1.02, 1.2], None), true), None);
        assert_eq!(reason(ratio([0.99, 1.04], None), true), None, "unresolved is said already");
    }
}
