//! From the HTTP study's figures to the records of a results file: every figure that the study has, for every arm and workload,
//! whether it was measured or not, each with its reason.

use std::collections::BTreeMap;

use serde_json::Value;

use super::account::Account;
use super::arm::{ArmInfo, Arms, Wait};
use super::http::{BLOCKS, CONNECTIONS, COUNT_WINDOW, Key, Options, Session, WARM_UP, WINDOWS};
use super::http_pair::Found;
use super::http_verdicts::{REFERENCES, Row, blocks, rows, verdicts};
use super::http_yardstick::{self, Driven, Outcome};
use super::latency_records::{decimal, per};
use crate::result::record::{Better, Class, Kind, Measurement, Status, VerdictRecord};
use crate::stats::{self, Paired, Rule};

/// The suite's name in results.
pub(super) const SUITE: &str = "http";

/// Whose figure it is: one side's, or both together.
const SIDES: [Option<&str>; 3] = [Some("client"), Some("server"), None];

/// The settings of a run, as recorded.
pub(super) fn settings(options: &Options) -> BTreeMap<String, Value> {
    BTreeMap::from([
        ("processes".to_owned(), options.processes.into()),
        ("blocks".to_owned(), BLOCKS.into()),
        ("block_ns".to_owned(), u64::try_from(options.block.as_nanos()).unwrap_or(u64::MAX).into()),
        ("connections".to_owned(), CONNECTIONS.into()),
        ("warm_up".to_owned(), WARM_UP[0].into()),
        ("warm_up_concurrent".to_owned(), WARM_UP[1].into()),
        ("count_window".to_owned(), COUNT_WINDOW.into()),
        ("runtime".to_owned(), "tokio, current thread".into()),
        ("client_core".to_owned(), options.cores.map(|(client, _)| client).into()),
        ("server_core".to_owned(), options.cores.map(|(_, server)| server).into()),
    ])
}

/// Every measurement of the study. `refused` is the reason for which no rate was taken, where there is one.
pub(super) fn measurements(
    arms: impl Arms,
    options: &Options,
    session: &Session,
    refused: Option<&str>,
) -> Vec<Measurement> {
    let records = Records { infos: arms.infos(), session, refused };
    let mut all = Vec::new();
    for workload in &options.workloads {
        for arm in &options.arms {
            let counted = Counted { arm, workload, records: &records };
            all.extend(counted.wire(arms));
            all.extend(counted.allocations());
            all.extend(counted.system_calls());
        }
    }
    let verdicts = verdicts(options, session);
    for row in rows(options) {
        all.push(records.time(&row));
        all.extend(records.spent(&row));
        all.extend(records.ratios(&row, &verdicts));
    }
    all.extend(records.yardstick(options));
    all
}

struct Records<'a> {
    infos: Vec<ArmInfo>,
    session: &'a Session,
    refused: Option<&'a str>,
}

impl Records<'_> {
    fn begin(&self, arm: &str, workload: &str) -> Measurement {
        let floor = self.infos.iter().any(|info| info.name == arm && info.floor);
        Measurement::new(SUITE, arm).workload(workload).class(if floor { Class::Floor } else { Class::Row })
    }

    fn of_row(&self, row: &Row) -> Measurement {
        self.begin(&row.key.arm, &row.key.workload).wait(row.key.wait.name()).row(WINDOWS[row.window])
    }

    fn missing(&self, key: &Key, measurement: Measurement) -> Measurement {
        match (self.session.failed.get(key), self.refused) {
            (Some(reason), _) => measurement.without(Status::Failed, reason.clone()),
            (None, Some(refused)) => measurement.without(Status::NotMeasured, refused),
            (None, None) if self.session.stopped => {
                measurement.without(Status::NotMeasured, "the run was ended before it")
            }
            (None, None) => measurement.without(Status::NotMeasured, "no pair of processes has a figure for it"),
        }
    }

    /// Nanoseconds per request, with every block of every process.
    fn time(&self, row: &Row) -> Measurement {
        let measurement = self.of_row(row).metric("time", "ns/request", Kind::Rate, Better::Lower);
        let Some(blocks) = blocks(&self.session.timed, row) else { return self.missing(&row.key, measurement) };
        let settings = self.infos.iter().filter(|info| info.name == row.key.arm).flat_map(|info| info.settings);
        let measurement = settings.fold(measurement, |measurement, (name, value)| measurement.setting(name, *value));
        let Key { workload, wait, .. } = &row.key;
        let disturbed =
            self.session.disturbed.iter().filter(|(_, one, other)| (one, other) == (workload, wait)).count();
        let measurement = measurement.setting("disturbed_processes", disturbed);
        match stats::estimate(&Rule::default(), &blocks, &[]) {
            Ok(estimate) => {
                let per_second = 1e9 / estimate.value;
                measurement.estimate(&estimate).rounds(blocks).setting("requests_per_second", per_second)
            }
            Err(error) => measurement.rounds(blocks).without(Status::NotMeasured, error.to_string()),
        }
    }

    /// The row's time over each reference's, with the verdict.
    fn ratios(&self, row: &Row, verdicts: &BTreeMap<(Row, &'static str), VerdictRecord>) -> Vec<Measurement> {
        let references = REFERENCES.into_iter().filter(|reference| *reference != row.key.arm);
        let ratio = |reference| {
            let metric = format!("time-over-{reference}");
            let measurement = self.of_row(row).metric(&metric, "1", Kind::Rate, Better::Lower);
            let Some(verdict) = verdicts.get(&(row.clone(), reference)) else {
                return self.missing(&row.key, measurement);
            };
            with_verdict(measurement, verdict)
        };
        references.map(ratio).collect()
    }

    /// CPU time of a request, and memory at the end of the window, side by side, in the timed pairs.
    fn spent(&self, row: &Row) -> Vec<Measurement> {
        let slots = self.session.timed.get(&row.key).into_iter().flatten().flatten();
        let found: Vec<&Found> = slots.filter_map(|windows| windows.get(row.window)).collect();
        let requests: u64 = found.iter().map(|found| found.client.requests).sum();
        let mut all = Vec::new();
        for side in ["client", "server"] {
            let accounts = || found.iter().map(|found| account(found, side));
            let begin = |metric, unit, kind| self.of_row(row).side(side).metric(metric, unit, kind, Better::Lower);
            let cpu = begin("cpu-time", "ns/request", Kind::Rate);
            let resident: Option<Vec<f64>> = accounts().map(|account| account.resident_bytes.map(decimal)).collect();
            let resident = resident.and_then(|values| stats::location::median(&values));
            let memory = begin("resident-memory", "B", Kind::TimedCount);
            if requests == 0 {
                all.extend([cpu, memory].map(|measurement| self.missing(&row.key, measurement)));
                continue;
            }
            all.push(cpu.value(per(accounts().map(|account| account.cpu_ns).sum(), requests)).window(requests));
            all.push(match resident {
                Some(bytes) => memory.value(bytes),
                None => memory.without(Status::NotMeasured, "the kernel does not say"),
            });
        }
        all
    }
}

impl Records<'_> {
    /// The arm and the server that is not ours, both driven by `wrk`: nanoseconds per request, the server's CPU time and bytes of a
    /// response, and the verdict on the arm. All workloads are one family; where others used the machine meanwhile, a verdict has to
    /// stand with those processes and without them.
    fn yardstick(&self, options: &Options) -> Vec<Measurement> {
        let driven = match &self.session.yardstick {
            Some(Outcome::Driven(driven)) => driven.as_slice(),
            _ => &[],
        };
        let workloads = http_yardstick::workloads(options);
        let of =
            |server: &str, workload: &str| driven.iter().find(|row| row.server == server && row.workload == workload);
        let begin = |server: &str, workload: &str| {
            let class = if server == http_yardstick::NAME { Class::Context } else { Class::Row };
            self.begin(server, workload).class(class).row("wrk").wait(Wait::Block.name())
        };
        let mut all = Vec::new();
        for workload in &workloads {
            for server in [http_yardstick::NAME, http_yardstick::ARM] {
                all.extend(self.driven(of(server, workload), &|| begin(server, workload)));
            }
        }
        let pair = |workload: &String| of(http_yardstick::ARM, workload).zip(of(http_yardstick::NAME, workload));
        let pairs: Vec<_> = workloads.iter().filter_map(|workload| Some((workload, pair(workload)?))).collect();
        let blocks: Vec<_> = pairs.iter().map(|(_, (arm, other))| [blocks_of(arm), blocks_of(other)]).collect();
        let family: Vec<_> = blocks.iter().map(|[row, reference]| Paired { row, reference }).collect();
        let disturbed = |(_, (arm, other)): &(&String, (&Driven, &Driven))| {
            arm.shown.iter().zip(&other.shown).map(|(arm, other)| arm.disturbed || other.disturbed).collect()
        };
        let disturbed: Vec<Vec<bool>> = pairs.iter().map(disturbed).collect();
        let compared = stats::paired_both_ways(&Rule::default(), &family, &disturbed).unwrap_or_default();
        let verdicts: BTreeMap<&String, _> = pairs.iter().map(|(workload, _)| *workload).zip(&compared).collect();
        for workload in &workloads {
            let metric = format!("time-over-{}", http_yardstick::NAME);
            let measurement = begin(http_yardstick::ARM, workload).metric(&metric, "1", Kind::Rate, Better::Lower);
            all.push(match verdicts.get(workload) {
                Some((one, both)) => {
                    with_verdict(measurement, &VerdictRecord::both_ways(http_yardstick::NAME, one, *both))
                }
                None => self.without_yardstick(measurement),
            });
        }
        all
    }

    /// The figures of one server at one workload.
    fn driven(&self, driven: Option<&Driven>, begin: &dyn Fn() -> Measurement) -> Vec<Measurement> {
        let time = begin().metric("time", "ns/request", Kind::Rate, Better::Lower);
        let cpu = begin().metric("cpu-time", "ns/request", Kind::Rate, Better::Lower).side("server");
        let bytes = begin().metric("response-wire-bytes", "B/request", Kind::TimedCount, Better::Lower);
        let Some(driven) = driven else {
            return [time, cpu, bytes].map(|measurement| self.without_yardstick(measurement)).into();
        };
        let blocks = blocks_of(driven);
        let disturbed = driven.shown.iter().filter(|shown| shown.disturbed).count();
        let time = time.setting("disturbed_processes", disturbed);
        let time = match stats::estimate(&Rule::default(), &blocks, &[]) {
            Ok(estimate) => time.estimate(&estimate).rounds(blocks),
            Err(error) => time.without(Status::NotMeasured, error.to_string()),
        };
        let spent: Vec<f64> = driven.shown.iter().map(|shown| shown.cpu_ns).collect();
        let missing = "the run was ended before it";
        let cpu = match stats::location::median(&spent) {
            Some(spent) => cpu.value(spent),
            None => cpu.without(Status::NotMeasured, missing),
        };
        let bytes = match driven.shown.first() {
            Some(shown) => bytes.value(shown.response_bytes),
            None => bytes.without(Status::NotMeasured, missing),
        };
        vec![time, cpu, bytes]
    }

    fn without_yardstick(&self, measurement: Measurement) -> Measurement {
        match (&self.session.yardstick, self.refused) {
            (Some(Outcome::Unsupported(reason)), _) => measurement.without(Status::Unsupported, reason.clone()),
            (Some(Outcome::Failed(reason)), _) => measurement.without(Status::Failed, reason.clone()),
            (_, Some(refused)) => measurement.without(Status::NotMeasured, refused),
            (_, None) => measurement.without(Status::NotMeasured, "the run was ended before it"),
        }
    }
}

/// Nanoseconds per request, one block a process.
fn blocks_of(driven: &Driven) -> Vec<Vec<f64>> {
    driven.shown.iter().map(|shown| vec![shown.ns]).collect()
}

/// A ratio of times, with all that led to its verdict.
fn with_verdict(measurement: Measurement, verdict: &VerdictRecord) -> Measurement {
    let mut measurement = measurement.value(verdict.ratio).verdict(verdict.clone());
    measurement.interval = Some(verdict.interval);
    measurement.interval_level = Some(verdict.interval_level);
    measurement.interval_95 = Some(verdict.interval_95);
    measurement
}

/// A figure of an account.
type OfAccount = fn(&Account) -> Option<u64>;

fn account(found: &Found, side: &str) -> Account {
    if side == "client" { found.client.account } else { found.server }
}

/// What the pair that counts has found for one arm and workload.
struct Counted<'a> {
    arm: &'a str,
    workload: &'a str,
    records: &'a Records<'a>,
}

impl Counted<'_> {
    fn found(&self) -> Option<&Found> {
        self.records.session.counted.get(&(self.arm.to_owned(), self.workload.to_owned()))
    }

    fn begin(&self, metric: &str, unit: &str, kind: Kind) -> Measurement {
        self.records.begin(self.arm, self.workload).metric(metric, unit, kind, Better::Lower)
    }

    fn missing(&self, measurement: Measurement) -> Measurement {
        let key = (self.arm.to_owned(), self.workload.to_owned());
        match self.records.session.uncounted.get(&key) {
            Some(reason) => measurement.without(Status::Failed, reason.clone()),
            None => measurement.without(Status::NotMeasured, "the run was ended before it"),
        }
    }

    /// The bytes that the socket carried for a request and its response, and what was published about the former.
    fn wire(&self, arms: impl Arms) -> Vec<Measurement> {
        let Some(found) = self.found() else {
            return ["request-wire-bytes", "response-wire-bytes"]
                .map(|metric| self.missing(self.begin(metric, "B/request", Kind::Exact)))
                .into();
        };
        let requests = found.client.requests;
        let of = |metric, bytes: &dyn Fn() -> Result<u64, String>| {
            let measurement = self.begin(metric, "B/request", Kind::Exact);
            match bytes() {
                Ok(bytes) => measurement.value(per(bytes, requests)).window(requests),
                Err(reason) => measurement.without(Status::NotMeasured, reason),
            }
        };
        let traffic = &found.client.traffic;
        let carried =
            |which: fn(&super::arm::Traffic) -> u64| move || traffic.as_ref().map(which).map_err(Clone::clone);
        let mut request = of("request-wire-bytes", &carried(|traffic| traffic.sent_bytes));
        if let Some(published) = arms.published(self.arm, self.workload) {
            let extra = published.extra.as_ref().map_or(0, |(extra, _)| *extra);
            request = request.setting("published", published.bytes);
            request = request.setting("published_like_for_like", published.bytes - extra);
            if let Some((_, why)) = published.extra {
                request = request.setting("published_remark", why);
            }
        }
        vec![request, of("response-wire-bytes", &carried(|traffic| traffic.received_bytes))]
    }

    /// Allocations and bytes of a request: the client's, the server's, and both together.
    fn allocations(&self) -> Vec<Measurement> {
        let mut all = Vec::new();
        let metrics: [(&str, &str, OfAccount); 2] = [
            ("allocations", "1/request", |account| account.allocations),
            ("allocated-bytes", "B/request", |account| account.allocated_bytes),
        ];
        for side in SIDES {
            for (metric, unit, of) in metrics {
                let measurement = self.begin(metric, unit, Kind::TimedCount);
                let measurement = side.into_iter().fold(measurement, Measurement::side);
                let Some(found) = self.found() else {
                    all.push(self.missing(measurement));
                    continue;
                };
                let sides: Vec<&str> = side.map_or_else(|| vec!["client", "server"], |side| vec![side]);
                let sum: Option<u64> = sides.iter().map(|side| of(&account(found, side))).sum();
                let requests = found.client.requests;
                all.push(match sum {
                    Some(sum) => measurement.value(per(sum, requests)).window(requests).setting("in_window", sum),
                    None => measurement.without(Status::NotMeasured, "this program does not count allocations"),
                });
            }
        }
        all
    }

    fn system_calls(&self) -> Vec<Measurement> {
        let side = |side: &str| {
            let measurement = self.begin("system-calls", "1/request", Kind::TimedCount).side(side);
            let Some(found) = self.found() else { return self.missing(measurement) };
            let reason = if side == "client" { &found.client.uncounted } else { &found.server_uncounted };
            match account(found, side).system_calls {
                Some(calls) => {
                    let requests = found.client.requests;
                    let measurement = measurement.value(per(calls.all, requests)).window(requests);
                    calls.by_name().fold(measurement, |m, (name, calls)| m.setting(name, per(calls, requests)))
                }
                None => {
                    measurement.without(Status::NotMeasured, reason.clone().unwrap_or_else(|| "not counted".to_owned()))
                }
            }
        };
        ["client", "server"].map(side).into()
    }
}
