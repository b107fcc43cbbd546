//! From the latency suite's figures to records, as far as they are no round trips: the bytes of a message from the inside out,
//! and what the machine itself takes.

use hdrhistogram::Histogram;

use super::latency::Session;
use super::latency_records::{Records, SUITE, decimal, per};
use super::socket_pair::WriteRead;
use crate::codec;
use crate::protocol::Protocol;
use crate::result::record::{Better, Class, Kind, Measurement, Status};
use crate::result::{histogram, percentiles};
use crate::transport::{self, Delimiter, Payload, Wait};
use crate::vote::{PAYLOAD_BYTES, Vote, corpus};

impl Records<'_> {
    /// The bytes of one message from the inside out, down to what the connection carried: of the votes that were sent, on the
    /// average.
    pub(super) fn ledger(&self, protocol: &Protocol) -> Vec<Measurement> {
        let begin = |metric: &str, kind| {
            let measurement = Measurement::new(SUITE, &protocol.name).metric(metric, "B/message", kind, Better::Lower);
            measurement.class(self.begin(protocol, Wait::Block).class.unwrap_or(Class::Row))
        };
        let key = (protocol.name.clone(), self.options.waits.first().copied().unwrap_or(Wait::Block));
        let found = self.session.counted.get(&key).or_else(|| self.timed(&key).first().map(|timed| &timed.found));
        let sizes = encoded(&protocol.payload, found.map_or(corpus::SIZE as u64, |found| found.window.round_trips));
        let delimiter = transport::info(&protocol.transport).map(|info| info.delimiter);
        let frame = match delimiter {
            Some(Delimiter::Length) => Some(transport::framing::LENGTH_BYTES as u64),
            Some(Delimiter::StreamEnd | Delimiter::Datagram) => Some(0),
            _ => None,
        };
        let sized = |metric, sizes: &Sizes, more| {
            begin(metric, Kind::Exact).value(sizes.mean + decimal(more)).range(sizes.min + more, sizes.max + more)
        };
        let no_vote = |metric| begin(metric, Kind::Exact).without(Status::Unsupported, "a floor carries no vote");
        let mut all = vec![begin("payload-bytes", Kind::Exact).value(PAYLOAD_BYTES as u64)];
        all.push(sizes.as_ref().map_or_else(|| no_vote("message-bytes"), |sizes| sized("message-bytes", sizes, 0)));
        all.push(match (&sizes, frame) {
            (Some(sizes), Some(frame)) => sized("framed-bytes", sizes, frame),
            (None, _) => no_vote("framed-bytes"),
            (_, None) => begin("framed-bytes", Kind::Exact)
                .without(Status::Unsupported, "the protocol's own frames hold the message"),
        });
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
                    let measurement = measurement.value(per(bytes, trips)).window(trips);
                    // Nobody counts those of a Unix socket.
                    if packets == 0 {
                        measurement
                    } else {
                        measurement.setting("packets_per_message", per(packets, trips))
                    }
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

    /// What the machine itself takes: its hiccups between the pairs, waking a thread, a message's system calls, and the bound
    /// that the papers make of the last two.
    pub(super) fn machine(&self) -> Vec<Measurement> {
        let begin = |metric| {
            Measurement::new(SUITE, "machine").class(Class::Floor).metric(metric, "ns", Kind::Rate, Better::Lower)
        };
        let missing = |measurement: Measurement| {
            measurement.without(Status::NotMeasured, self.refused.unwrap_or("the run was ended before it"))
        };
        let samples = |metric, samples: &Histogram<u64>| match histogram::record(samples) {
            Ok(record) => {
                let all = percentiles::of_one(samples, |_| usize::MAX);
                let mut measurement = begin(metric).value(all).samples(samples.len());
                measurement.histogram = Some(record);
                measurement
            }
            Err(reason) => begin(metric).without(Status::Failed, reason),
        };
        let Session { hiccups, wake_ups, write_read, .. } = self.session;
        let wake_up = match wake_ups {
            Some(Ok(all)) => samples("wake-up", all),
            Some(Err(reason)) => begin("wake-up").without(Status::Failed, reason),
            None => missing(begin("wake-up")),
        };
        let cost = |metric, ns: fn(&WriteRead) -> u64| match write_read {
            Some(Ok(cost)) => begin(metric).value(ns(cost)),
            Some(Err(reason)) => begin(metric).without(Status::Failed, reason),
            None => missing(begin(metric)),
        };
        vec![
            hiccups.as_ref().map_or_else(|| missing(begin("hiccup")), |gaps| samples("hiccup", gaps)),
            wake_up,
            cost("write-read-pair", |cost| cost.tcp_ns),
            cost("write-read-pair-udp", |cost| cost.udp_ns),
            match (write_read, wake_ups) {
                (Some(Ok(cost)), Some(Ok(wake_ups))) => {
                    let scheduling = wake_ups.value_at_percentile(99.0);
                    begin("p99-bound")
                        .value(2 * cost.tcp_ns + scheduling)
                        .setting("tau_syscall_ns", cost.tcp_ns)
                        .setting("tau_sched_ns", scheduling)
                        .setting("tau_sched_is", "the 99th percentile of the wake-ups")
                }
                (Some(Err(reason)), _) | (_, Some(Err(reason))) => begin("p99-bound").without(Status::Failed, reason),
                _ => missing(begin("p99-bound")),
            },
        ]
    }
}

/// How long the messages of a window are.
struct Sizes {
    mean: f64,
    min: u64,
    max: u64,
}

/// Bytes of the messages that carry the first `count` votes of the corpus, over and over, each by a codec that has just begun:
/// where a codec counts its messages, all have the first number.
fn encoded(payload: &Payload, count: u64) -> Option<Sizes> {
    let Payload::Codec(name) = payload else { return None };
    let size = |vote: &Vote| Some(codec::by_name(name)?.encode(vote).ok()?.len() as u64);
    let sizes = corpus::votes(corpus::SIZE, corpus::SEED).iter().map(size).collect::<Option<Vec<u64>>>()?;
    let (whole, rest) = (count / corpus::SIZE as u64, usize::try_from(count % corpus::SIZE as u64).ok()?);
    let sum = whole * sizes.iter().sum::<u64>() + sizes[..rest].iter().sum::<u64>();
    Some(Sizes { mean: per(sum, count), min: *sizes.iter().min()?, max: *sizes.iter().max()? })
}
