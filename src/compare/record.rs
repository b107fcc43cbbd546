//! The shape of a comparison, as `votebench compare --json` prints it. `schemas/compare.v1.schema.json` is derived from here.

use schemars::JsonSchema;
use serde::Serialize;

use crate::result::record::{Better, Kind};

/// The name of this shape.
pub const SCHEMA: &str = "votebench.compare.v1";

/// A comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Always `votebench.compare.v1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// What was compared, the oldest first.
    pub sides: Vec<SideRecord>,
    /// What a reader must know before any line.
    pub notes: Vec<String>,
    /// The last side against the first, the worst first.
    pub lines: Vec<Line>,
    /// With more than two sides: the figures that changed, and where.
    pub trends: Vec<Trend>,
    /// How many lines have which outcome.
    pub summary: Summary,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SideRecord {
    /// What the user called it.
    pub name: String,
    /// The ids of its runs.
    pub runs: Vec<String>,
    /// The commits that they were built from.
    pub commits: Vec<String>,
    /// Whether all of its runs came to their end.
    pub complete: bool,
    /// Whether the machine was fit in all of them.
    pub fit: bool,
}

/// Where a figure stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Coordinates {
    /// `serialization`, `latency`, ...
    pub suite: String,
    /// The codec or row.
    pub protocol: String,
    /// The timed region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The way it was driven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// How threads wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Whose figure it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// What was fed in, where it is not the corpus of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// What is counted.
    pub metric: String,
    /// Which percentile of it, where it is a distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentile: Option<String>,
}

impl Coordinates {
    /// The coordinates one by one, in the order in which people say them.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let Self { suite, protocol, model, row, wait, side, workload, metric, percentile } = self;
        let before = [model, row, wait, side, workload].into_iter().flatten();
        [suite, protocol].into_iter().chain(before).chain([metric]).chain(percentile).map(String::as_str)
    }
}

/// One figure of two sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// Where it stands.
    #[serde(flatten)]
    pub at: Coordinates,
    /// The unit of both figures.
    pub unit: String,
    /// What sort of figure it is.
    pub kind: Kind,
    /// Which direction is the good one.
    pub better: Better,
    /// The old figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<f64>,
    /// The new figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<f64>,
    /// New over old: of rates the Hodges-Lehmann estimate, of counts the quotient; left out where the old count is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// What the statistics say, where there is more than one figure a side.
    #[serde(flatten)]
    pub test: Option<Test>,
    /// The ratio within each link layout, where the session had several; else none.
    pub layouts: Vec<LayoutRatio>,
    /// On what it can be compared.
    pub basis: Basis,
    /// What is said.
    pub outcome: Outcome,
    /// Whether this makes `compare` end with status 1.
    pub fails: bool,
    /// Versions of the row's own library that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// Why it is not comparable, no more than indicative, or not what the statistics alone would say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What the statistics say of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Test {
    /// The 90 % interval of the ratio.
    pub interval: [f64; 2],
    /// The level that this interval has.
    pub interval_level: f64,
    /// The figure's own p value.
    pub p: f64,
    /// The same, adjusted over all rates of the comparison.
    pub p_adjusted: f64,
    /// The 95th percentile of the ratio of this figure to itself under two labels, at least 1.01.
    pub floor_aa: f64,
    /// How many processes the side with fewer has.
    pub processes: usize,
    /// Where unresolved: the smallest effect that could have been seen, as a share of 1; left out where none could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_see: Option<f64>,
}

/// A ratio within one link layout.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LayoutRatio {
    /// By how many bytes all code was shifted.
    pub layout_bytes: u64,
    /// New over old.
    pub ratio: f64,
}

/// On what two figures can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Exact figures of the same thing: any difference is one.
    Exact,
    /// Processes of both sides took turns in one session.
    Interleaved,
    /// Stored rates of different times: shown, never a reason to fail.
    Indicative,
    /// Not at all.
    None,
}

/// What is said of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was measured, and has failed or was too much now.
    Broken,
    /// It got worse: of rates, slower.
    Worse,
    /// It got better: of rates, faster.
    Better,
    /// It moved, and where the code lies may be all that moved it.
    LayoutSuspect,
    /// One figure a run, which differs by more than 3 %: no test can say whether it has changed.
    Untested,
    /// Neither changed nor shown to be the same.
    Unresolved,
    /// Within 3 %: by the 90 % interval, or, of one figure a run, by the figure.
    Same,
    /// Exactly the same.
    Equal,
    /// There is none any more.
    Gone,
    /// There was none before.
    New,
    /// Not comparable, or not measured on a side.
    NotComparable,
}

/// How many lines have which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Lines for which `compare` ends with status 1.
    pub fails: usize,
    /// Broken.
    pub broken: usize,
    /// Worse, firm or indicative.
    pub worse: usize,
    /// Better, firm or indicative.
    pub better: usize,
    /// Layout suspect.
    pub layout_suspect: usize,
    /// Of one figure a run, and different.
    pub untested: usize,
    /// Unresolved.
    pub unresolved: usize,
    /// The same within 3 %.
    pub same: usize,
    /// Exactly equal.
    pub equal: usize,
    /// Gone.
    pub gone: usize,
    /// New.
    pub new: usize,
    /// Not comparable.
    pub not_comparable: usize,
}

impl Summary {
    /// Counts `lines`.
    #[must_use]
    pub fn of(lines: &[Line]) -> Self {
        let mut summary = Self::default();
        for line in lines {
            summary.fails += usize::from(line.fails);
            *match line.outcome {
                Outcome::Broken => &mut summary.broken,
                Outcome::Worse => &mut summary.worse,
                Outcome::Better => &mut summary.better,
                Outcome::LayoutSuspect => &mut summary.layout_suspect,
                Outcome::Untested => &mut summary.untested,
                Outcome::Unresolved => &mut summary.unresolved,
                Outcome::Same => &mut summary.same,
                Outcome::Equal => &mut summary.equal,
                Outcome::Gone => &mut summary.gone,
                Outcome::New => &mut summary.new,
                Outcome::NotComparable => &mut summary.not_comparable,
            } += 1;
        }
        summary
    }
}

impl Line {
    /// How much it got worse, as a logarithm: positive is worse.
    #[must_use]
    pub fn worsening(&self) -> f64 {
        let change = match (self.ratio, self.old, self.new) {
            (Some(ratio), _, _) => ratio.ln(),
            // From nothing to something, or the reverse: a ratio has no words for it.
            (None, Some(old), Some(new)) if new > old => f64::INFINITY,
            (None, Some(old), Some(new)) if new < old => f64::NEG_INFINITY,
            _ => 0.0,
        };
        if self.better == Better::Lower { change } else { -change }
    }

    /// By what lines are sorted, the worst first: what fails, what got worse, then what may have, then what is better.
    pub(super) fn badness(&self) -> f64 {
        let (class, within) = match self.outcome {
            Outcome::Broken => (9.0, 0.0),
            Outcome::Worse => (if self.fails { 8.0 } else { 7.0 }, self.worsening()),
            Outcome::LayoutSuspect => (6.0, self.worsening().abs()),
            Outcome::Better => (5.0, -self.worsening()),
            Outcome::Untested => (4.0, self.worsening()),
            Outcome::Unresolved => (3.0, self.worsening()),
            Outcome::Gone => (2.5, 0.0),
            Outcome::New => (2.0, 0.0),
            Outcome::NotComparable => (1.0, 0.0),
            Outcome::Same | Outcome::Equal => (0.0, self.worsening()),
        };
        // Between 0 and 0.49 whatever the ratio, so that classes stay apart.
        class + 0.49 * (0.5 + within.atan() / std::f64::consts::PI)
    }
}

/// One figure over more than two sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// Where it stands.
    #[serde(flatten)]
    pub at: Coordinates,
    /// The unit of its values.
    pub unit: String,
    /// What sort of figure it is.
    pub kind: Kind,
    /// Which direction is the good one.
    pub better: Better,
    /// Its value on each side; null where that side has none.
    pub values: Vec<Option<f64>>,
    /// Where it changed; empty where it did not.
    pub changes: Vec<Change>,
}

/// A change from one side to the next that has the figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The side before, by its place from 0.
    pub from: usize,
    /// The side at which it changed.
    pub to: usize,
    /// The commit of that side's run.
    pub commit: String,
    /// New over old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// On what the two were compared.
    pub basis: Basis,
    /// What is said of the step.
    pub outcome: Outcome,
}
