//! Building a measurement, one named part after the other, so that a driver's records read like sentences. Owns no type:
//! the record itself is in [`record`](super::record).

use std::collections::BTreeMap;

use super::record::{Better, Class, Kind, Measurement, Number, Processes, Status, Value};
use super::verdict::VerdictRecord;
use crate::stats::location::median;
use crate::stats::rank::median_interval;

impl Measurement {
    /// Whether votes that were never answered reach a percentile: then it is a lower bound.
    #[must_use]
    pub fn is_beyond(&self, percentile: &str) -> bool {
        let beyond = self.settings.get("percentiles_beyond").and_then(serde_json::Value::as_array);
        beyond.is_some_and(|all| all.iter().any(|one| one == percentile))
    }

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
            unfit: None,
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
            intervals: BTreeMap::new(),
            process_histograms: Vec::new(),
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

    /// One figure for each process: their median is the value, with its rank intervals.
    #[must_use]
    pub fn over_processes(mut self, figures: &[f64]) -> Self {
        let interval = |level| median_interval(figures, level);
        let (Some(median), Some(narrow), Some(wide)) = (median(figures), interval(0.90), interval(0.95)) else {
            return self.without(Status::NotMeasured, "no process has a figure");
        };
        self.interval = Some([narrow.low, narrow.high]);
        self.interval_level = Some(narrow.achieved);
        self.interval_95 = Some([wide.low, wide.high]);
        self.value(median).rounds(figures.iter().map(|figure| vec![*figure]).collect())
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
