//! From the latency suite's figures to the records of a results file: every figure that the suite has, for every protocol and
//! wait, whether it was measured or not, each with its reason.

use std::collections::BTreeMap;

use serde_json::Value;

use super::hiccup;
use super::job::Isolation;
use super::latency::{BLOCKS, Key, Options, Session, Timed, WARM_UP};
use crate::protocol::{Class as RowClass, Protocol};
use crate::result::record::{Better, Class, Kind, Measurement, Processes, Status, VerdictRecord};
use crate::result::{histogram, percentiles};
use crate::stats::{self, Paired, Rule};
use crate::transport::{self, Payload, Wait};
use crate::vote::corpus;

/// The suite's name in results.
pub const SUITE: &str = "latency";

/// The row that every other is set against: bytes with no protocol on the same runtime.
pub const REFERENCE: &str = "floor";

/// The row that shows what the runtime costs.
pub const BLOCKING: &str = "floor-blocking";

/// The settings of a run, as recorded.
#[must_use]
pub fn settings(options: &Options, cores: Option<(usize, usize)>) -> BTreeMap<String, Value> {
    BTreeMap::from([
        ("processes".to_owned(), options.processes.into()),
        ("round_trips".to_owned(), (options.round_trips.div_ceil(BLOCKS) * BLOCKS).into()),
        ("blocks".to_owned(), BLOCKS.into()),
        ("warm_up".to_owned(), WARM_UP.into()),
        ("in_flight".to_owned(), 1.into()),
        ("connections".to_owned(), 1.into()),
        ("isolation".to_owned(), options.isolation.name().into()),
        ("keep_awake".to_owned(), options.keep_awake.into()),
        ("runtime".to_owned(), "tokio, current thread".into()),
        ("client_core".to_owned(), cores.map(|(client, _)| client).into()),
        ("server_core".to_owned(), cores.map(|(_, server)| server).into()),
        ("own_server".to_owned(), options.connect.is_none().into()),
        ("corpus_votes".to_owned(), corpus::SIZE.into()),
        ("corpus_seed".to_owned(), corpus::SEED.into()),
        ("workload_hash".to_owned(), corpus::hash(corpus::SIZE, corpus::SEED).into()),
        ("max_message_bytes".to_owned(), options.max_message_bytes.into()),
    ])
}

/// Every measurement of the suite. `refused` is the reason for which no rate was taken, where there is one.
#[must_use]
pub fn measurements(options: &Options, session: &Session, refused: Option<&str>) -> Vec<Measurement> {
    let records = Records { options, session, refused };
    let mut all = Vec::new();
    for wait in &options.waits {
        for protocol in &options.protocols {
            all.push(records.round_trip(protocol, *wait));
            all.extend(records.connection(protocol, *wait));
            all.extend(records.spent(protocol, *wait));
            all.extend(records.counted(protocol, *wait));
        }
        all.extend(records.medians(*wait, REFERENCE, "round-trip-p50"));
        all.extend(records.medians(*wait, BLOCKING, "round-trip-p50-blocking"));
    }
    for protocol in &options.protocols {
        all.extend(records.ledger(protocol));
    }
    all.extend(records.machine());
    all
}

/// What the records are made of.
pub(super) struct Records<'a> {
    pub(super) options: &'a Options,
    pub(super) session: &'a Session,
    pub(super) refused: Option<&'a str>,
}

impl Records<'_> {
    pub(super) fn begin(&self, protocol: &Protocol, wait: Wait) -> Measurement {
        let class = match protocol.class {
            RowClass::Row => Class::Row,
            RowClass::Floor => Class::Floor,
            RowClass::Variant => Class::Variant,
            RowClass::Pair => Class::Context,
        };
        Measurement::new(SUITE, &protocol.name).class(class).wait(wait.name())
    }

    pub(super) fn missing(&self, key: &Key, measurement: Measurement) -> Measurement {
        if let Some(reason) = self.session.unsupported.get(key) {
            return measurement.without(Status::Unsupported, reason.clone());
        }
        let reason = self.session.failed.get(key).or_else(|| self.session.uncounted.get(key));
        match (reason, self.refused) {
            (Some(reason), _) => measurement.without(Status::Failed, reason.clone()),
            (None, Some(refused)) => measurement.without(Status::NotMeasured, refused),
            (None, None) => measurement.without(Status::NotMeasured, "the run was ended before it"),
        }
    }

    /// Why a side has no figure although its pair has run.
    pub(super) const fn untold(&self) -> &'static str {
        match self.options.isolation {
            Isolation::Thread => "client and server share one process",
            Isolation::Process => "the server is not ours",
        }
    }

    pub(super) fn timed(&self, key: &Key) -> Vec<&Timed> {
        self.session.timed.get(key).into_iter().flatten().flatten().collect()
    }

    /// The percentiles over the processes, with what each found by itself and all samples together.
    fn round_trip(&self, protocol: &Protocol, wait: Wait) -> Measurement {
        let key = (protocol.name.clone(), wait);
        let measurement = self.begin(protocol, wait).metric("round-trip", "ns", Kind::Rate, Better::Lower);
        let measurement = with_settings(measurement, protocol);
        let timed = self.timed(&key);
        if timed.is_empty() {
            return self.missing(&key, measurement);
        }
        let measurement = match distribution(measurement.clone(), &timed) {
            Ok(measurement) => measurement,
            Err(reason) => return measurement.without(Status::Failed, reason),
        };
        let disturbed: Vec<bool> = timed.iter().map(|timed| timed.disturbed).collect();
        self.judged(&key, measurement.setting("disturbed", disturbed))
    }

    /// A figure of timed pairs, marked where some of them have failed or were disturbed too often. What was measured stays, and
    /// is said to be what it is.
    pub(super) fn judged(&self, key: &Key, mut measurement: Measurement) -> Measurement {
        measurement.unfit = self
            .session
            .disturbance_of(key)
            .unfit()
            .filter(|_| measurement.kind == Kind::Rate && measurement.value.is_some());
        match self.session.failed.get(key) {
            Some(reason) if measurement.status == Status::Ok => measurement.without(Status::Failed, reason.clone()),
            _ => measurement,
        }
    }

    /// The medians of every protocol, with the verdict of each against `reference`, as one family.
    fn medians(&self, wait: Wait, reference: &str, metric: &str) -> Vec<Measurement> {
        let protocols = &self.options.protocols;
        let matched: Vec<(&str, Matched)> = protocols
            .iter()
            .filter(|protocol| protocol.name != reference)
            .filter_map(|protocol| Some((protocol.name.as_str(), self.matched(&protocol.name, reference, wait)?)))
            .collect();
        let family: Vec<_> =
            matched.iter().map(|(_, both)| Paired { row: &both.row, reference: &both.reference }).collect();
        let disturbed: Vec<_> = matched.iter().map(|(_, both)| both.disturbed.clone()).collect();
        let compared = stats::paired_both_ways(&Rule::default(), &family, &disturbed).unwrap_or_default();
        let verdicts: BTreeMap<&str, VerdictRecord> = matched
            .iter()
            .zip(&compared)
            .map(|((name, _), (one, both))| (*name, VerdictRecord::both_ways(reference, one, *both)))
            .collect();
        protocols
            .iter()
            .map(|protocol| {
                let measurement = self.begin(protocol, wait).metric(metric, "ns", Kind::Rate, Better::Lower);
                let key = (protocol.name.clone(), wait);
                let row: Vec<_> = self.timed(&key).into_iter().map(blocks).collect();
                if row.is_empty() {
                    return self.missing(&key, measurement);
                }
                let mut measurement = match stats::estimate(&Rule::default(), &row, &[]) {
                    Ok(estimate) => measurement.estimate(&estimate).rounds(row),
                    Err(error) => return measurement.rounds(row).without(Status::NotMeasured, error.to_string()),
                };
                measurement.verdict = verdicts.get(protocol.name.as_str()).cloned();
                if measurement.verdict.is_none() && protocol.name != reference {
                    measurement.reason = Some(self.unjudged(reference, wait));
                }
                self.judged(&key, measurement)
            })
            .collect()
    }

    /// The processes of a row and its reference that belong together: those in which neither is missing. `None` where one of
    /// the two has failed, or is not there.
    fn matched(&self, name: &str, reference: &str, wait: Wait) -> Option<Matched> {
        let slots = |name: &str| {
            let key = (name.to_owned(), wait);
            self.session.timed.get(&key).filter(|_| !self.session.failed.contains_key(&key))
        };
        let pairs = slots(name)?.iter().zip(slots(reference)?);
        let pairs: Vec<_> = pairs.filter_map(|(row, reference)| row.as_ref().zip(reference.as_ref())).collect();
        (!pairs.is_empty()).then(|| Matched {
            row: pairs.iter().map(|(row, _)| blocks(row)).collect(),
            reference: pairs.iter().map(|(_, reference)| blocks(reference)).collect(),
            disturbed: pairs.iter().map(|(row, reference)| row.disturbed || reference.disturbed).collect(),
        })
    }

    /// Why a row that was measured has no verdict.
    fn unjudged(&self, reference: &str, wait: Wait) -> String {
        match self.session.failed.get(&(reference.to_owned(), wait)) {
            Some(reason) => format!("no verdict, for {reference} has failed: {reason}"),
            None if self.options.protocols.iter().all(|protocol| protocol.name != reference) => {
                format!("no verdict, for {reference} was not asked for")
            }
            None => format!("no verdict, for no process has this row and {reference}"),
        }
    }

    /// What a connection costs before the first vote that counts: the median over the processes.
    fn connection(&self, protocol: &Protocol, wait: Wait) -> Vec<Measurement> {
        let key = (protocol.name.clone(), wait);
        let timed = self.timed(&key);
        let begin = |metric, unit, kind| self.begin(protocol, wait).metric(metric, unit, kind, Better::Lower);
        let over = |of: &dyn Fn(&Timed) -> Option<u64>| -> Option<Vec<f64>> {
            timed.iter().map(|timed| of(timed).map(decimal)).collect()
        };
        let mut all = vec![
            (begin("set-up-time", "ns", Kind::Rate), over(&|timed| Some(timed.found.ready.set_up_ns))),
            (begin("warm-up-time", "ns", Kind::Rate), over(&|timed| Some(timed.found.ready.warm_up_ns))),
        ];
        let resident = |side, of: &dyn Fn(&Timed) -> Option<u64>| {
            (begin("resident-memory", "B", Kind::TimedCount).side(side), over(of))
        };
        all.push(resident("client", &|timed| timed.found.window.account.resident_bytes));
        all.push(resident("server", &|timed| timed.found.server.and_then(|account| account.resident_bytes)));
        all.into_iter()
            .map(|(measurement, figures)| match figures {
                _ if timed.is_empty() => self.missing(&key, measurement),
                Some(figures) => self.judged(&key, measurement.over_processes(&figures)),
                None => measurement.without(Status::NotMeasured, self.untold()),
            })
            .collect()
    }
}

/// A row and its reference, process by process: the medians of their blocks, and whether either was disturbed.
struct Matched {
    row: Vec<Vec<f64>>,
    reference: Vec<Vec<f64>>,
    disturbed: Vec<bool>,
}

fn blocks(timed: &Timed) -> Vec<f64> {
    timed.found.window.medians_ns.iter().map(|ns| decimal(*ns)).collect()
}

/// `measurement` with the samples of all processes.
fn distribution(measurement: Measurement, timed: &[&Timed]) -> Result<Measurement, String> {
    let windows: Vec<_> = timed.iter().map(|timed| &timed.found.window).collect();
    let own = windows.iter().map(|window| histogram::decode(&window.histogram)).collect::<Result<Vec<_>, _>>()?;
    let mut merged = hiccup::histogram();
    own.iter().try_for_each(|one| merged.add(one).map_err(|error| error.to_string()))?;
    let row = percentiles::of_processes(&own, |at, value| windows[at].tail.stalls(value))?;
    let mut measurement = measurement.value(row.value).samples(merged.len());
    measurement.intervals = row.intervals;
    let of_one =
        own.iter().zip(&windows).map(|(one, window)| percentiles::of_one(one, |value| window.tail.stalls(value)));
    measurement.processes = Some(Processes::Percentiles(of_one.collect()));
    measurement.process_histograms = own.iter().map(histogram::record).collect::<Result<_, _>>()?;
    measurement.histogram = Some(histogram::record(&merged)?);
    Ok(measurement)
}

pub(super) fn with_settings(measurement: Measurement, protocol: &Protocol) -> Measurement {
    let codec = match &protocol.payload {
        Payload::Codec(codec) => codec.as_str(),
        Payload::Opaque => "161 bytes, echoed unread",
    };
    let measurement = measurement.setting("codec", codec).setting("transport", protocol.transport.as_str());
    let Some(info) = transport::info(&protocol.transport) else { return measurement };
    let measurement = measurement.setting("delimiter", info.delimiter.name());
    info.settings.iter().fold(measurement, |measurement, (name, value)| measurement.setting(name, *value))
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds and counts stay far below 2^53")]
pub(super) fn decimal(whole: u64) -> f64 {
    whole as f64
}

pub(super) fn per(sum: u64, trips: u64) -> f64 {
    decimal(sum) / decimal(trips.max(1))
}
