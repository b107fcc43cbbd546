//! The records of a results file, in the shape of `schemas/results.v1.example.json`. Owns the types; their
//! builders are in [`measurement`](super::measurement), what makes a file valid is in [`check`](super::check), reading and
//! writing in [`read`](super::read) and [`store`](super::store). `schemas/results.v1.schema.json` is derived from here.
//!
//! Durations are integers of nanoseconds, per-operation figures finite decimals. Keys that do not apply are left out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::Conditions;
use super::machine::Machine;
use super::source::Source;
pub use super::verdict::{Judgement, VerdictRecord};

/// The name of this shape.
pub const SCHEMA: &str = "votebench.results.v1";

/// One results file: one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// Always `votebench.results.v1`.
    #[schemars(extend("const" = SCHEMA))]
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
#[schemars(
    extend("if" = {"properties": {"status": {"const": "ok"}}}),
    extend("then" = {"required": ["value"]}),
    extend("else" = {"required": ["reason"]})
)]
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
    /// Why the machine was not fit for this row, where it was for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
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
    /// The distribution over all processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// The 90 % intervals of those percentiles that are medians over the processes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, RankInterval>,
    /// Each process's own, in the order of `processes`; they add up to `histogram`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub process_histograms: Vec<Histogram>,
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// One number.
    Number(Number),
    /// Percentiles (`p50`, `p99_9`, `max`); null where too few samples reach it. Where there are several processes, what each
    /// is made of is in [`percentiles`](super::percentiles).
    Percentiles(Percentiles),
}

/// Percentiles by name.
pub type Percentiles = BTreeMap<String, Option<Number>>;

/// An interval between two order statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The level that it has: rank statistics seldom meet 90 % exactly, and few processes do not reach it.
    pub level: f64,
}

/// What each process found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

impl Status {
    /// The word for it where people read.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotMeasured => "not measured",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
            Self::Saturated => "saturated",
        }
    }
}

impl Measurement {
    /// The status in words, and its reason; the word once, where the reason begins with it.
    #[must_use]
    pub fn why(&self) -> String {
        worded(self.status.word(), self.reason.as_deref().unwrap_or("no reason given"))
    }
}

/// A word and its reason; the word once, where the reason begins with it.
#[must_use]
pub fn worded(word: &str, reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    if reason.starts_with(word) { reason.to_owned() } else { format!("{word}: {reason}") }
}

impl Processes {
    /// How many processes there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Rounds(processes) => processes.len(),
            Self::Percentiles(processes) => processes.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
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

#[cfg(test)]
mod tests {
    use super::worded;

    #[test]
    fn a_word_stands_once_before_its_reason() {
        assert_eq!(worded("saturated", "saturated at 40344 messages/s"), "saturated at 40344 messages/s");
        assert_eq!(worded("failed", "the server was killed."), "failed: the server was killed");
    }
}
