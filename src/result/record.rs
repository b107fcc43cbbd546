//! The records of a results file, in the shape of `schemas/results.v1.example.json`. Owns the types and their builders;
//! what makes a file valid is in [`check`](super::check), reading and writing in [`read`](super::read) and
//! [`store`](super::store).
//!
//! Durations are integers of nanoseconds, per-operation figures finite decimals. Keys that do not apply are left out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::Conditions;
use super::machine::Machine;
use super::source::Source;
use crate::stats::{Comparison, Verdict};

/// The name of this shape.
pub const SCHEMA: &str = "votebench.results.v1";

/// One results file: one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// Always `votebench.results.v1`.
    pub schema: String,
    /// Which run it is.
    pub run: RunInfo,
    /// The program that measured.
    pub source: Source,
    /// The machine that it ran on.
    pub machine: Machine,
    /// What else the machine did.
    pub conditions: Conditions,
    /// The settings of the whole run: processes, rounds, slice, corpus.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The figures.
    pub measurements: Vec<Measurement>,
}

/// Which run it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunInfo {
    /// `<UTC>-<commit>`, the name of its folder.
    pub id: String,
    /// When it began, as `2026-01-01T00:00:00Z`.
    pub started: String,
    /// When it ended, or when the file of an incomplete run was last written.
    pub finished: String,
    /// Whether it came to its end. A run that was stopped keeps what it had.
    pub complete: bool,
    /// The command line.
    pub command: Vec<String>,
    /// The seed of every order and every corpus.
    pub seed: u64,
}

/// One figure: its coordinates, what was found, and everything that it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// `serialization`, `latency`, ...
    pub suite: String,
    /// The codec or row.
    pub protocol: String,
    /// The timed region: `encode`, `open`, `read`, `own`, `verify`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The way it was driven: `stream` or `chained`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// How threads wait: `block` or `poll`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Whose figure it is: `client` or `server`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// What was fed in, where it is not the corpus that the run's settings name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// What is counted: `time`, `allocations`, `wire-bytes`, ...
    pub metric: String,
    /// The unit of every number here: `ns/op`, `1/op`, `B`, ...
    pub unit: String,
    /// What sort of figure it is.
    pub kind: Kind,
    /// Which direction is the good one.
    pub better: Better,
    /// In which part of the tables the protocol stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Whether it was measured.
    pub status: Status,
    /// Why not, where the status is not `ok`; or a remark on how to read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The 90 % interval of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The level that the interval has: rank statistics seldom meet 90 % exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_level: Option<f64>,
    /// The 95 % interval of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_95: Option<[f64; 2]>,
    /// The least over the corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// The largest over the corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// Over how many operations it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// How many samples a distribution has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// What each process found: every round's value, or its own percentiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<Processes>,
    /// The distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// The 95th percentile of the ratio of this row to itself under two labels, at least 1.01.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_aa: Option<f64>,
    /// What is said of it against another row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictRecord>,
    /// Settings of this row alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// What sort of figure it is (`METHODOLOGY.md`, Kinds of figures).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Bytes, allocations of single-threaded code, instructions: any change is reported.
    Exact,
    /// A count that timing influences; compared like a rate.
    TimedCount,
    /// Time, or things per time: measured only while the machine is fit.
    Rate,
}

/// Which direction is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// Whether it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was.
    Ok,
    /// It could have been, and was not.
    NotMeasured,
    /// The protocol or the machine does not have it.
    Unsupported,
    /// It went wrong.
    Failed,
    /// The load was more than the protocol could take.
    Saturated,
}

/// In which part of the tables a protocol stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The row that stands for its format.
    Row,
    /// A labelled choice within a format.
    Variant,
    /// A yardstick.
    Floor,
    /// A format outside the papers' tables.
    Context,
}

/// A number that keeps whether it is a count or a decimal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Number {
    /// A count or a duration.
    Whole(u64),
    /// A decimal.
    Decimal(f64),
}

/// A figure: one number, or the percentiles of a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// One number.
    Number(Number),
    /// Percentiles (`p50`, `p99_9`, `max`); null where too few samples reach it.
    Percentiles(Percentiles),
}

/// Percentiles by name.
pub type Percentiles = BTreeMap<String, Option<Number>>;

/// What each process found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Processes {
    /// Every round's value of every process.
    Rounds(Vec<Vec<f64>>),
    /// The percentiles of every process.
    Percentiles(Vec<Percentiles>),
}

/// A distribution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Histogram {
    /// `hdr-v2-deflate-base64`.
    pub encoding: String,
    /// The unit of its values.
    pub unit: String,
    /// The histogram itself.
    pub data: String,
}

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
    /// What would have been said with the disturbed rounds left in, where rounds were dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undropped: Option<Judgement>,
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
        }
    }
}

impl Measurement {
    /// Begins a measurement; it is not measured until it has a [`value`](Self::value).
    #[must_use]
    pub fn new(suite: &str, protocol: &str) -> Self {
        Self {
            suite: suite.to_owned(),
            protocol: protocol.to_owned(),
            model: None,
            row: None,
            wait: None,
            side: None,
            workload: None,
            metric: String::new(),
            unit: String::new(),
            kind: Kind::Rate,
            better: Better::Lower,
            class: None,
            status: Status::NotMeasured,
            reason: None,
            value: None,
            interval: None,
            interval_level: None,
            interval_95: None,
            min: None,
            max: None,
            window: None,
            samples: None,
            processes: None,
            histogram: None,
            floor_aa: None,
            verdict: None,
            settings: BTreeMap::new(),
        }
    }

    /// What is counted, in which unit, of which kind, and which direction is good.
    #[must_use]
    pub fn metric(mut self, metric: &str, unit: &str, kind: Kind, better: Better) -> Self {
        (self.metric, self.unit, self.kind, self.better) = (metric.to_owned(), unit.to_owned(), kind, better);
        self
    }

    /// The timed region.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// The way it was driven.
    #[must_use]
    pub fn row(mut self, row: &str) -> Self {
        self.row = Some(row.to_owned());
        self
    }

    /// How threads wait.
    #[must_use]
    pub fn wait(mut self, wait: &str) -> Self {
        self.wait = Some(wait.to_owned());
        self
    }

    /// Whose figure it is.
    #[must_use]
    pub fn side(mut self, side: &str) -> Self {
        self.side = Some(side.to_owned());
        self
    }

    /// What was fed in.
    #[must_use]
    pub fn workload(mut self, workload: &str) -> Self {
        self.workload = Some(workload.to_owned());
        self
    }

    /// In which part of the tables the protocol stands.
    #[must_use]
    pub fn class(mut self, class: Class) -> Self {
        self.class = Some(class);
        self
    }

    /// It was measured, and this is the figure.
    #[must_use]
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.status = Status::Ok;
        self.value = Some(value.into());
        self
    }

    /// It is not `ok`, and this is why.
    #[must_use]
    pub fn without(mut self, status: Status, reason: impl Into<String>) -> Self {
        (self.status, self.reason) = (status, Some(reason.into()));
        self
    }

    /// Every round's value of every process.
    #[must_use]
    pub fn rounds(mut self, processes: Vec<Vec<f64>>) -> Self {
        self.processes = Some(Processes::Rounds(processes));
        self
    }

    /// The value and its intervals, as the statistics estimate them from the rounds.
    #[must_use]
    pub fn estimate(mut self, estimate: &crate::stats::Estimate) -> Self {
        let (narrow, wide) = (estimate.interval_90, estimate.interval_95);
        self.interval = Some([narrow.low, narrow.high]);
        self.interval_level = Some(narrow.achieved);
        self.interval_95 = Some([wide.low, wide.high]);
        self.floor_aa = Some(estimate.floor);
        self.value(estimate.value)
    }

    /// The least and the largest over the corpus.
    #[must_use]
    pub fn range(mut self, min: impl Into<Number>, max: impl Into<Number>) -> Self {
        (self.min, self.max) = (Some(min.into()), Some(max.into()));
        self
    }

    /// Over how many operations it was counted.
    #[must_use]
    pub fn window(mut self, window: u64) -> Self {
        self.window = Some(window);
        self
    }

    /// How many samples a distribution has.
    #[must_use]
    pub fn samples(mut self, samples: u64) -> Self {
        self.samples = Some(samples);
        self
    }

    /// What is said of it against another row.
    #[must_use]
    pub fn verdict(mut self, verdict: VerdictRecord) -> Self {
        self.verdict = Some(verdict);
        self
    }

    /// A setting of this row alone.
    #[must_use]
    pub fn setting(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.settings.insert(name.to_owned(), value.into());
        self
    }

    /// The value, where it is one number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match &self.value {
            Some(Value::Number(number)) => Some(number.as_f64()),
            _ => None,
        }
    }

    /// Where the figure stands, in words: the coordinates that no two measurements of a run share.
    #[must_use]
    pub fn coordinates(&self) -> String {
        let parts = [&self.model, &self.row, &self.wait, &self.side, &self.workload];
        let mut words = format!("{} {}", self.suite, self.protocol);
        for part in parts.into_iter().flatten().chain([&self.metric]) {
            words.push(' ');
            words.push_str(part);
        }
        words
    }
}

impl Number {
    /// The number; whole ones above 2^53 are rounded.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "tables and ratios do not need the 54th bit")]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Decimal(decimal) => decimal,
        }
    }
}

impl From<u64> for Number {
    fn from(whole: u64) -> Self {
        Self::Whole(whole)
    }
}

impl From<f64> for Number {
    fn from(decimal: f64) -> Self {
        Self::Decimal(decimal)
    }
}

impl<T: Into<Number>> From<T> for Value {
    fn from(number: T) -> Self {
        Self::Number(number.into())
    }
}

impl From<Percentiles> for Value {
    fn from(percentiles: Percentiles) -> Self {
        Self::Percentiles(percentiles)
    }
}
