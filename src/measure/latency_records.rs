//! From the latency suite's figures to the records of a results file: every figure that the suite has, for every protocol and
//! wait, whether it was measured or not, each with its reason.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde_json::Value;

use super::hiccup;
use super::job::Isolation;
use super::latency::{BLOCKS, Key, Options, Session, Timed, WARM_UP};
use super::tail::ENOUGH_STALLS;
use crate::codec;
use crate::protocol::{Class as RowClass, Protocol};
use crate::result::histogram;
use crate::result::record::{Better, Class, Kind, Measurement, Number, Percentiles, Processes, Status, VerdictRecord};
use crate::stats::{self, Paired, Rule};
use crate::transport::{self, Delimiter, Payload, Wait};
use crate::vote::{PAYLOAD_BYTES, Vote, corpus};

/// The suite's name in results.
pub const SUITE: &str = "latency";

/// The row that every other is set against: bytes with no protocol on the same runtime.
pub const REFERENCE: &str = "floor";

/// The row that shows what the runtime costs.
pub const BLOCKING: &str = "floor-blocking";

/// The percentiles, by name and per hundred.
const PERCENTILES: [(&str, f64); 5] = [("p50", 50.0), ("p95", 95.0), ("p99", 99.0), ("p99_9", 99.9), ("p99_99", 99.99)];

/// From here on a percentile needs enough separate stalls; below, samples abound.
const NEEDS_STALLS: f64 = 99.0;

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
    refused: Option<&'a str>,
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

    /// The distribution over all processes, with what each found by itself.
    fn round_trip(&self, protocol: &Protocol, wait: Wait) -> Measurement {
        let key = (protocol.name.clone(), wait);
        let measurement = self.begin(protocol, wait).metric("round-trip", "ns", Kind::Rate, Better::Lower);
        let measurement = with_settings(measurement, protocol);
        let timed = self.timed(&key);
        let histograms: Result<Vec<_>, _> =
            timed.iter().map(|timed| histogram::decode(&timed.found.window.histogram)).collect();
        let merged = histograms.and_then(|all| {
            let mut merged = hiccup::histogram();
            all.iter().try_for_each(|one| merged.add(one).map_err(|error| error.to_string()))?;
            let own = all.iter().map(histogram::record).collect::<Result<_, _>>()?;
            Ok((histogram::record(&merged)?, own, merged, all))
        });
        let mut measurement = match merged {
            _ if timed.is_empty() => return self.missing(&key, measurement),
            Err(reason) => return measurement.without(Status::Failed, reason),
            Ok((record, records, merged, all)) => {
                let own = all.iter().map(|one| percentiles(one, |_| true)).collect();
                let enough = |threshold: u64| {
                    let stalls = timed.iter().map(|timed| timed.found.window.tail.stalls(threshold));
                    stalls.sum::<usize>() >= ENOUGH_STALLS
                };
                let mut measurement = measurement.value(percentiles(&merged, enough)).samples(merged.len());
                measurement.processes = Some(Processes::Percentiles(own));
                measurement.histogram = Some(record);
                measurement.process_histograms = records;
                measurement
            }
        };
        let disturbed = timed.iter().filter(|timed| timed.disturbed).count();
        measurement = measurement.setting("disturbed_processes", disturbed);
        if let Some(reason) = self.session.failed.get(&key) {
            // What was measured before it failed stays, and is said to be what it is.
            (measurement.status, measurement.reason) = (Status::Failed, Some(reason.clone()));
        }
        measurement
    }

    /// The medians of every protocol, with the verdict of each against `reference`, as one family.
    fn medians(&self, wait: Wait, reference: &str, metric: &str) -> Vec<Measurement> {
        let blocks = |name: &str| -> Option<Vec<Vec<f64>>> {
            let key = (name.to_owned(), wait);
            let slots = self.session.timed.get(&key)?.iter();
            // Only whole sets of processes can be compared pair by pair.
            slots
                .map(|slot| Some(slot.as_ref()?.found.window.medians_ns.iter().map(|ns| decimal(*ns)).collect()))
                .collect()
        };
        let against = blocks(reference);
        let rows: Vec<_> = self.options.protocols.iter().map(|protocol| (protocol, blocks(&protocol.name))).collect();
        let family: Vec<(&str, Paired<'_>)> = rows
            .iter()
            .filter(|(protocol, _)| protocol.name != reference)
            .filter_map(|(protocol, row)| {
                let (row, reference) = (row.as_deref()?, against.as_deref()?);
                Some((protocol.name.as_str(), Paired { row, reference }))
            })
            .collect();
        let pairs: Vec<_> = family.iter().map(|(_, pair)| *pair).collect();
        let compared = stats::paired(&Rule::default(), &pairs, &[]).unwrap_or_default();
        let verdicts: BTreeMap<&str, VerdictRecord> =
            family.iter().zip(&compared).map(|((name, _), one)| (*name, VerdictRecord::new(reference, one))).collect();
        rows.into_iter()
            .map(|(protocol, row)| {
                let measurement = self.begin(protocol, wait).metric(metric, "ns", Kind::Rate, Better::Lower);
                let Some(row) = row else { return self.missing(&(protocol.name.clone(), wait), measurement) };
                let measurement = match stats::estimate(&Rule::default(), &row, &[]) {
                    Ok(estimate) => measurement.estimate(&estimate).rounds(row),
                    Err(error) => return measurement.rounds(row).without(Status::NotMeasured, error.to_string()),
                };
                match verdicts.get(protocol.name.as_str()) {
                    Some(verdict) => measurement.verdict(verdict.clone()),
                    None => measurement,
                }
            })
            .collect()
    }

    /// What a connection costs before the first vote that counts: the median over the processes.
    fn connection(&self, protocol: &Protocol, wait: Wait) -> Vec<Measurement> {
        let key = (protocol.name.clone(), wait);
        let timed = self.timed(&key);
        let begin = |metric, unit, kind| self.begin(protocol, wait).metric(metric, unit, kind, Better::Lower);
        let over = |of: &dyn Fn(&Timed) -> Option<u64>| {
            let values: Option<Vec<f64>> = timed.iter().map(|timed| of(timed).map(decimal)).collect();
            values.filter(|values| !values.is_empty()).and_then(|values| stats::location::median(&values))
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
            .map(|(measurement, value)| match value {
                Some(value) => measurement.value(value),
                None if timed.is_empty() => self.missing(&key, measurement),
                None => measurement.without(Status::NotMeasured, self.untold()),
            })
            .collect()
    }

    /// The bytes of one message from the inside out, down to what the connection carried.
    fn ledger(&self, protocol: &Protocol) -> Vec<Measurement> {
        let begin = |metric: &str, kind| {
            let measurement = Measurement::new(SUITE, &protocol.name).metric(metric, "B/message", kind, Better::Lower);
            measurement.class(self.begin(protocol, Wait::Block).class.unwrap_or(Class::Row))
        };
        let message = encoded(&protocol.payload);
        let delimiter = transport::info(&protocol.transport).map(|info| info.delimiter);
        let framed = match (message, delimiter) {
            (Some(message), Some(Delimiter::Length)) => Some(message + transport::framing::LENGTH_BYTES as u64),
            (Some(message), Some(Delimiter::StreamEnd | Delimiter::Datagram)) => Some(message),
            _ => None,
        };
        let mut all = vec![begin("payload-bytes", Kind::Exact).value(PAYLOAD_BYTES as u64)];
        all.push(match message {
            Some(message) => begin("message-bytes", Kind::Exact).value(message),
            None => begin("message-bytes", Kind::Exact).without(Status::Unsupported, "a floor carries no vote"),
        });
        all.push(match framed {
            Some(framed) => begin("framed-bytes", Kind::Exact).value(framed),
            None => begin("framed-bytes", Kind::Exact)
                .without(Status::Unsupported, "the protocol's own frames hold the message"),
        });
        let key = (protocol.name.clone(), self.options.waits.first().copied().unwrap_or(Wait::Block));
        let found = self.session.counted.get(&key).or_else(|| self.timed(&key).first().map(|timed| &timed.found));
        let Some(found) = found else {
            all.push(self.missing(&key, begin("carried-bytes", Kind::TimedCount).side("client")));
            return all;
        };
        let trips = found.window.round_trips;
        let set_up = &found.ready.set_up_traffic;
        for (side, of) in [("client", true), ("server", false)] {
            let measurement = begin("carried-bytes", Kind::TimedCount).side(side);
            all.push(match &found.window.traffic {
                Ok(traffic) => {
                    let (bytes, packets) = if of {
                        (traffic.sent_bytes, traffic.sent_packets)
                    } else {
                        (traffic.received_bytes, traffic.received_packets)
                    };
                    measurement
                        .value(per(bytes, trips))
                        .window(trips)
                        .setting("packets_per_message", per(packets, trips))
                }
                Err(reason) => measurement.without(Status::NotMeasured, reason.clone()),
            });
            let measurement = begin("set-up-bytes", Kind::TimedCount).side(side);
            let measurement = measurement.metric("set-up-bytes", "B", Kind::TimedCount, Better::Lower);
            all.push(match set_up {
                Ok(traffic) => measurement.value(if of { traffic.sent_bytes } else { traffic.received_bytes }),
                Err(reason) => measurement.without(Status::NotMeasured, reason.clone()),
            });
        }
        all
    }

    /// What the machine itself takes: its hiccups between the pairs, a message's system calls, and the bound that the papers
    /// make of the two.
    fn machine(&self) -> Vec<Measurement> {
        let begin = |metric| {
            Measurement::new(SUITE, "machine").class(Class::Floor).metric(metric, "ns", Kind::Rate, Better::Lower)
        };
        let missing = |measurement: Measurement| {
            measurement.without(Status::NotMeasured, self.refused.unwrap_or("the run was ended before it"))
        };
        let mut all = Vec::new();
        let hiccups = self.session.hiccups.as_ref();
        all.push(match hiccups.map(|gaps| (gaps, histogram::record(gaps))) {
            Some((gaps, Ok(record))) => {
                let mut measurement = begin("hiccup").value(percentiles(gaps, |_| true)).samples(gaps.len());
                measurement.histogram = Some(record);
                measurement
            }
            Some((_, Err(reason))) => begin("hiccup").without(Status::Failed, reason),
            None => missing(begin("hiccup")),
        });
        let write_read = self.session.write_read_ns;
        all.push(match write_read {
            Some(cost) => begin("write-read-pair").value(cost),
            None => missing(begin("write-read-pair")),
        });
        all.push(match (write_read, hiccups) {
            (Some(cost), Some(gaps)) => {
                let scheduling = gaps.value_at_percentile(99.0);
                begin("p99-bound")
                    .value(2 * cost + scheduling)
                    .setting("tau_syscall_ns", cost)
                    .setting("tau_sched_ns", scheduling)
            }
            _ => missing(begin("p99-bound")),
        });
        all
    }
}

/// Bytes of the canonical vote's message.
fn encoded(payload: &Payload) -> Option<u64> {
    let Payload::Codec(name) = payload else { return None };
    let mut codec = codec::by_name(name)?;
    codec.encode(&Vote::canonical()).ok().map(|message| message.len() as u64)
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

/// The percentiles of `histogram`; null where `enough` says that too little reaches one.
fn percentiles(histogram: &Histogram<u64>, enough: impl Fn(u64) -> bool) -> Percentiles {
    let mut all: Percentiles = PERCENTILES
        .iter()
        .map(|(name, per_hundred)| {
            let value = histogram.value_at_percentile(*per_hundred);
            let printed = *per_hundred < NEEDS_STALLS || enough(value);
            ((*name).to_owned(), printed.then_some(Number::Whole(value)))
        })
        .collect();
    all.insert("max".to_owned(), Some(Number::Whole(histogram.max())));
    all
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds and counts stay far below 2^53")]
pub(super) fn decimal(whole: u64) -> f64 {
    whole as f64
}

pub(super) fn per(sum: u64, trips: u64) -> f64 {
    decimal(sum) / decimal(trips.max(1))
}
