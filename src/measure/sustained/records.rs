//! From the summaries of rows to the records of a results file: every figure that the suite has, for every row, whether it was
//! measured or not, each with its reason.

use hdrhistogram::Histogram;

use super::capacity::{self, HELD, per_second, share};
use super::options::{Options, RowKey};
use super::row::{Counted, RowFacts};
use super::summary::{Distribution, ENOUGH, PERCENTILES, Summary, WINDOWS};
use crate::measure::account::Account;
use crate::measure::latency_records::with_settings;
use crate::measure::system_calls::Calls;
use crate::protocol::Class as RowClass;
use crate::result::histogram;
use crate::result::record::{Better, Class, Kind, Measurement, Number, Percentiles, Status};
use crate::transport::Wait;

/// The suite's name in results.
pub const SUITE: &str = "sustained";

/// A row with what is known of it.
pub type Row = (RowKey, RowFacts, Option<Summary>);

/// Every measurement of the suite.
#[must_use]
pub fn measurements(options: &Options, rows: &[Row]) -> Vec<Measurement> {
    rows.iter().flat_map(|row| Records { options, row }.all()).collect()
}

struct Records<'a> {
    options: &'a Options,
    row: &'a Row,
}

impl Records<'_> {
    fn all(&self) -> Vec<Measurement> {
        let mut all = Vec::new();
        if self.options.duration.is_some() {
            all.extend(self.times());
            all.extend(self.rates());
            all.extend(self.spent());
            all.push(self.drift());
        }
        if self.options.count.is_some() {
            all.extend(self.counted());
        }
        all.push(self.pacer_floor());
        all.push(self.capacity());
        all
    }

    /// How late a loop that only reads the clock would have been: what is above it is the generator's.
    fn pacer_floor(&self) -> Measurement {
        let (_, facts, _) = self.row;
        let begun = self.time("pacer-floor");
        match facts.pacer_floor_ns {
            Some(late) => begun.value(late).setting("pacer_limit_ns", capacity::pacer_limit(late)),
            None if facts.not_run.is_some() => self.missing(begun),
            None => begun.without(Status::NotMeasured, "nobody is pinned"),
        }
    }

    fn begin(&self, metric: &str, unit: &str, kind: Kind, better: Better) -> Measurement {
        let (key, ..) = self.row;
        let class = match key.protocol.class {
            RowClass::Row => Class::Row,
            RowClass::Floor => Class::Floor,
            RowClass::Variant => Class::Variant,
            RowClass::Pair => Class::Context,
        };
        let measurement = Measurement::new(SUITE, &key.protocol.name).class(class).wait(self.wait().name());
        measurement.row(key.writes.name()).metric(metric, unit, kind, better)
    }

    /// How its server waits.
    fn wait(&self) -> Wait {
        self.options.wait
    }

    fn time(&self, metric: &str) -> Measurement {
        self.begin(metric, "ns", Kind::Rate, Better::Lower)
    }

    /// Why a figure is not there.
    fn missing(&self, measurement: Measurement) -> Measurement {
        let (_, facts, _) = self.row;
        if let Some(reason) = &facts.unsupported {
            return measurement.without(Status::Unsupported, reason.clone());
        }
        if let Some(reason) = &facts.failed {
            return measurement.without(Status::Failed, reason.clone());
        }
        let reason = facts.not_run.as_deref().unwrap_or("the run was ended before it");
        measurement.without(Status::NotMeasured, reason)
    }

    /// A figure of a row whose load has failed, or was more than it could take, says so.
    fn marked(&self, mut measurement: Measurement) -> Measurement {
        let (_, facts, summary) = self.row;
        if let Some(reason) = &facts.failed {
            (measurement.status, measurement.reason) = (Status::Failed, Some(reason.clone()));
        } else if let Some(summary) = summary
            && share(summary.answered_in_time, summary.offered) < HELD
        {
            let achieved = per_second(summary.answered_in_time, summary.loaded_ns);
            let reason = format!("saturated at {achieved:.0} messages/s");
            (measurement.status, measurement.reason) = (Status::Saturated, Some(reason));
        }
        measurement
    }

    /// Response and service times, the papers' windows, and why votes were late.
    fn times(&self) -> Vec<Measurement> {
        let (key, facts, summary) = self.row;
        let response = with_settings(self.time("response"), &key.protocol);
        let Some(summary) = summary else {
            let mut all = vec![self.missing(response)];
            all.extend(
                ["service", "wait-blocked", "wait-client", "wait-pacer", "gap"].map(|m| self.missing(self.time(m))),
            );
            return all;
        };
        let mut response = self
            .marked(distribution(response, &summary.response))
            .setting("intervals", summary.intervals)
            .setting("intervals_disturbed", summary.disturbed)
            .setting("intervals_invalid", summary.invalid)
            .setting("clipped", summary.clipped)
            .setting("resumed", summary.resumed)
            .setting("hlog", format!("{}.hlog", key.stem()))
            .setting("interval_file", format!("{}.intervals.jsonl", key.stem()));
        if let Some(in_flight) = facts.in_flight {
            response = response.setting("in_flight", in_flight);
        }
        let mut all = vec![response];
        all.push(match &summary.undisturbed {
            Some(quiet) => self.marked(distribution(self.time("response-undisturbed"), quiet)),
            None => self.time("response-undisturbed").without(
                Status::NotMeasured,
                if summary.disturbed + summary.invalid == 0 {
                    "no interval was disturbed or invalid: it is the same as response"
                } else {
                    "every interval was disturbed or invalid"
                },
            ),
        });
        for ((minute, window), expected) in summary.windows.iter().zip(WINDOWS) {
            let begun = self.time(&format!("response-minute-{expected}"));
            all.push(match window {
                Some(window) => self.marked(distribution(begun, window)),
                None => begun.without(Status::NotMeasured, format!("the row did not last {minute} minutes")),
            });
        }
        all.push(self.marked(distribution(self.time("service"), &summary.service)));
        for (metric, waits) in ["wait-blocked", "wait-client", "wait-pacer"].into_iter().zip(&summary.waits) {
            all.push(self.marked(plain(self.time(metric), waits)));
        }
        all.push(plain(self.time("gap"), &summary.gaps));
        all
    }

    fn rates(&self) -> Vec<Measurement> {
        let rate = |metric| self.begin(metric, "1/s", Kind::Rate, Better::Higher);
        let count = |metric| self.begin(metric, "1", Kind::TimedCount, Better::Lower);
        let (_, facts, summary) = self.row;
        let Some(summary) = summary else {
            return [rate("offered-rate"), rate("achieved-rate"), count("censored"), count("errors")]
                .map(|measurement| self.missing(measurement))
                .into();
        };
        let errors = count("errors").value(summary.errors.values().sum::<u64>()).window(summary.offered);
        let errors = summary.errors.iter().fold(errors, |errors, (kind, count)| errors.setting(kind, *count));
        let mut offered = rate("offered-rate").value(per_second(summary.offered, summary.loaded_ns));
        if let Some(asked) = facts.rate {
            offered = offered.setting("asked", asked);
        }
        let achieved = rate("achieved-rate").value(per_second(summary.answered_in_time, summary.loaded_ns));
        vec![
            offered.window(summary.offered),
            self.marked(achieved.setting("share", share(summary.answered_in_time, summary.offered))),
            count("censored").value(summary.censored).window(summary.offered),
            errors,
        ]
    }

    /// What each side spent on a vote, and how its memory grew.
    fn spent(&self) -> Vec<Measurement> {
        type Figure = (&'static str, &'static str, Kind, fn(&Account) -> u64);
        const FIGURES: [Figure; 4] = [
            ("cpu-time", "ns/message", Kind::Rate, |account| account.cpu_ns),
            ("voluntary-switches", "1/message", Kind::TimedCount, |account| account.voluntary_switches),
            ("involuntary-switches", "1/message", Kind::TimedCount, |account| account.involuntary_switches),
            ("page-faults", "1/message", Kind::TimedCount, |account| account.page_faults),
        ];
        let (.., summary) = self.row;
        let mut all = Vec::new();
        for (side, place) in [("client", 0), ("server", 1)] {
            let account =
                summary.as_ref().map(|summary| if place == 0 { Some(summary.client) } else { summary.server });
            for (metric, unit, kind, of) in FIGURES {
                let begun = self.begin(metric, unit, kind, Better::Lower).side(side);
                all.push(match (summary, account.flatten()) {
                    (Some(summary), Some(account)) if summary.answered > 0 => {
                        begun.value(per(of(&account), summary.answered)).window(summary.answered)
                    }
                    (Some(_), _) => {
                        begun.without(Status::NotMeasured, "nothing was answered, or the server is not ours")
                    }
                    (None, _) => self.missing(begun),
                });
            }
            let memory = |metric| self.begin(metric, "B", Kind::TimedCount, Better::Lower).side(side);
            let resident = account.flatten().and_then(|account| account.resident_bytes);
            let growth = summary.as_ref().and_then(|summary| summary.memory_growth[place]);
            let none = "the server is not ours";
            all.push(match (summary, resident) {
                (_, Some(bytes)) => memory("resident-memory").value(bytes),
                (Some(_), None) => memory("resident-memory").without(Status::NotMeasured, none),
                (None, None) => self.missing(memory("resident-memory")),
            });
            all.push(match (summary, growth) {
                (_, Some(bytes)) => memory("resident-memory-growth").value(bytes as f64),
                (Some(_), None) => memory("resident-memory-growth").without(Status::NotMeasured, none),
                (None, None) => self.missing(memory("resident-memory-growth")),
            });
        }
        all
    }

    fn drift(&self) -> Measurement {
        let begun = self.begin("response-p99-drift", "ns/min", Kind::Rate, Better::Lower);
        let (.., summary) = self.row;
        match summary.as_ref().map(|summary| &summary.drift) {
            Some(Ok(drift)) => {
                let mut measurement = begun.value(drift.slope).setting("is_drift", drift.is_drift());
                measurement.interval_95 = Some(drift.interval);
                match drift.machine {
                    Some([low, high]) => measurement.setting("machine_interval_95", vec![low, high]),
                    None => measurement,
                }
            }
            Some(Err(reason)) => begun.without(Status::NotMeasured, reason.clone()),
            None => self.missing(begun),
        }
    }

    /// Allocations and system calls, in processes of their own that count.
    fn counted(&self) -> Vec<Measurement> {
        type Figure = (&'static str, &'static str, fn(&Account) -> Option<u64>);
        const FIGURES: [Figure; 3] = [
            ("allocations", "1/message", |account| account.allocations),
            ("allocated-bytes", "B/message", |account| account.allocated_bytes),
            ("system-calls", "1/message", |account| account.system_calls.map(|calls| calls.all)),
        ];
        let (_, facts, _) = self.row;
        let mut all = Vec::new();
        for side in ["client", "server"] {
            for (metric, unit, of) in FIGURES {
                let begun = self.begin(metric, unit, Kind::TimedCount, Better::Lower).side(side);
                all.push(match &facts.counted {
                    Some(counted) => counted_one(begun, counted, side, metric, of),
                    None => match &facts.uncounted {
                        Some(reason) => begun.without(Status::Failed, reason.clone()),
                        None => self.missing(begun),
                    },
                });
            }
        }
        all
    }

    fn capacity(&self) -> Measurement {
        let begun = self.begin("capacity", "1/s", Kind::Rate, Better::Higher);
        let (_, facts, _) = self.row;
        let Some(capacity) = &facts.capacity else {
            return match facts.unsupported.is_some() || facts.failed.is_some() || facts.not_run.is_some() {
                true => self.missing(begun),
                false => begun.without(Status::NotMeasured, "not sought: the row held the rate that was asked for"),
            };
        };
        let begun = begun
            .setting("closed_loop_rate", capacity.closed)
            .setting("probes", serde_json::to_value(&capacity.probes).unwrap_or_default())
            .setting("probe_seconds", self.options.probe.as_secs_f64())
            .setting("pacer_limit_ns", capacity::pacer_limit(facts.pacer_floor_ns.unwrap_or(0)));
        let begun = match capacity.missed {
            Some(missed) => begun.setting("lowest_missed", missed),
            None => begun,
        };
        match capacity.rate {
            Some(rate) => begun.value(rate),
            None => begun.without(Status::Failed, "no rate that was tried was held"),
        }
    }
}

fn counted_one(
    begun: Measurement,
    counted: &Counted,
    side: &str,
    metric: &str,
    of: fn(&Account) -> Option<u64>,
) -> Measurement {
    let account = if side == "client" { Some(counted.client) } else { counted.server };
    match account.as_ref().and_then(of) {
        Some(sum) if counted.answered > 0 => {
            let calls = account.and_then(|account| account.system_calls).filter(|_| metric == "system-calls");
            let begun = begun.value(per(sum, counted.answered)).window(counted.answered);
            let by_name = calls.iter().flat_map(Calls::by_name);
            by_name.fold(begun, |begun, (name, calls)| begun.setting(name, per(calls, counted.answered)))
        }
        Some(_) => begun.without(Status::NotMeasured, "nothing was answered while it was counted"),
        None => begun.without(Status::NotMeasured, "not counted: the server is not ours, or the kernel does not tell"),
    }
}

/// A distribution with its percentiles, as far as they may be printed.
fn distribution(measurement: Measurement, distribution: &Distribution) -> Measurement {
    let mut percentiles: Percentiles =
        distribution.percentiles.iter().map(|(name, value)| ((*name).to_owned(), value.map(Number::Whole))).collect();
    percentiles.insert("max".to_owned(), Some(Number::Whole(distribution.all.max())));
    let mut measurement = with_histogram(measurement.value(percentiles), &distribution.all);
    measurement = measurement.setting("intervals_that_must_reach_a_percentile", ENOUGH);
    if !distribution.intervals.is_empty() {
        measurement = measurement
            .setting("percentile_intervals_95", serde_json::to_value(&distribution.intervals).unwrap_or_default());
    }
    if !distribution.beyond.is_empty() {
        // What is printed is then a lower bound.
        measurement = measurement.setting("percentiles_beyond", distribution.beyond.clone());
    }
    measurement
}

/// A distribution of waits or gaps.
fn plain(measurement: Measurement, all: &Histogram<u64>) -> Measurement {
    let mut percentiles: Percentiles = PERCENTILES
        .iter()
        .map(|(name, share)| ((*name).to_owned(), Some(Number::Whole(all.value_at_quantile(*share)))))
        .collect();
    percentiles.insert("max".to_owned(), Some(Number::Whole(all.max())));
    if all.is_empty() {
        return measurement.without(Status::NotMeasured, "there was nothing to be measured");
    }
    with_histogram(measurement.value(percentiles), all)
}

fn with_histogram(mut measurement: Measurement, all: &Histogram<u64>) -> Measurement {
    match histogram::record(all) {
        Ok(record) => {
            measurement.histogram = Some(record);
            measurement.samples(all.len())
        }
        Err(reason) => measurement.without(Status::Failed, reason),
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds and counts stay far below 2^53")]
fn per(sum: u64, messages: u64) -> f64 {
    sum as f64 / messages as f64
}
