//! The record of a verdict: what is said of one row against another, with all that led to it. Owns the record; the rule is
//! in [`stats::verdict`](crate::stats::verdict).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::{Both, Comparison, Verdict};

/// What is said of one row against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictRecord {
    /// The protocol that it is set against.
    pub against: String,
    /// The other's model, where it is not the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// This row's time over the other's: 2 is twice the time.
    pub ratio: f64,
    /// The 90 % interval of the ratio.
    pub interval: [f64; 2],
    /// The level that this interval has.
    pub interval_level: f64,
    /// The 95 % interval of the ratio.
    pub interval_95: [f64; 2],
    /// The level that this interval has; below 0.95 where there are too few processes.
    pub interval_95_level: f64,
    /// The row's own p value.
    pub p: f64,
    /// The same, adjusted over all rate rows of the comparison.
    pub p_adjusted: f64,
    /// The 95th percentile of the ratio of this pair to itself under two labels, at least 1.01.
    pub floor_aa: f64,
    /// What is said.
    pub verdict: Judgement,
    /// Where unresolved: the smallest effect that could have been seen, as a share of 1; left out where no effect could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_see: Option<f64>,
    /// What would have been said with the disturbed rounds left in, where the machine was disturbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undropped: Option<Judgement>,
    /// What would have been said without them, where nothing is dropped from the other figures here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undisturbed: Option<Judgement>,
}

/// What is said of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Judgement {
    /// Less time.
    #[serde(rename = "faster")]
    Faster,
    /// More time.
    #[serde(rename = "slower")]
    Slower,
    /// The 90 % interval lies inside 1/1.03 to 1.03.
    #[serde(rename = "same within 3 %")]
    SameWithin3,
    /// Neither.
    #[serde(rename = "unresolved")]
    Unresolved,
}

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster => Self::Faster,
            Verdict::Slower => Self::Slower,
            Verdict::SameWithin3 => Self::SameWithin3,
            Verdict::Unresolved { .. } => Self::Unresolved,
        }
    }
}

impl VerdictRecord {
    /// The record of a comparison against `against`.
    #[must_use]
    pub fn new(against: &str, comparison: &Comparison) -> Self {
        let (narrow, wide) = (comparison.interval_90, comparison.interval_95);
        let would_see = match comparison.verdict {
            Verdict::Unresolved { would_see } => would_see,
            _ => None,
        };
        Self {
            against: against.to_owned(),
            model: None,
            ratio: comparison.ratio,
            interval: [narrow.low, narrow.high],
            interval_level: narrow.achieved,
            interval_95: [wide.low, wide.high],
            interval_95_level: wide.achieved,
            p: comparison.p,
            p_adjusted: comparison.p_adjusted,
            floor_aa: comparison.floor,
            verdict: comparison.verdict.into(),
            would_see,
            undropped: comparison.undropped.map(Judgement::from),
            undisturbed: None,
        }
    }

    /// The record of a comparison that was judged with and without what was disturbed, and from which nothing was dropped.
    #[must_use]
    pub fn both_ways(against: &str, comparison: &Comparison, both: Option<Both>) -> Self {
        Self {
            undropped: both.map(|both| both.with.into()),
            undisturbed: both.map(|both| both.without.into()),
            ..Self::new(against, comparison)
        }
    }
}
