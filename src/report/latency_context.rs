//! The latency suite's tables beside the round trips: what a connection takes, the byte ledger, and the papers' bound. Owns which
//! figure stands in which column; every figure comes out of the run.

use super::latency::{WAITS, find, grouped, number_cell, of_suite, percentile, thousandth};
use super::table::{Group, Table, figure};
use crate::result::RunFile;
use crate::result::record::Measurement;

/// What a connection takes until the first answer, and what its processes hold at the end.
pub(super) fn connections(run: &RunFile) -> Table {
    let wait = WAITS.iter().map(|(wait, _)| *wait).find(|wait| of_suite(run).any(|m| m.wait.as_deref() == Some(wait)));
    let set_up = |name: &str| find(run, name, wait, None, "set-up-time");
    let row = |name: &str| {
        let bytes = |side| number_cell(find(run, name, None, Some(side), "set-up-bytes"), run, figure);
        let memory =
            |side| number_cell(find(run, name, wait, Some(side), "resident-memory"), run, |bytes| figure(bytes / 1e6));
        let interval = set_up(name).and_then(|m| m.interval);
        vec![
            name.to_owned(),
            thousandth(set_up(name), run),
            interval.map_or_else(
                || "-".to_owned(),
                |[low, high]| format!("{} to {}", figure(low / 1e3), figure(high / 1e3)),
            ),
            bytes("client"),
            bytes("server"),
            memory("client"),
            memory("server"),
        ]
    };
    Table {
        title: "A connection".to_owned(),
        head: vec![
            "protocol",
            "set-up us",
            "90 % interval",
            "set-up, bytes sent",
            "set-up, bytes received",
            "client memory MB",
            "server memory MB",
        ],
        groups: grouped(run, |name| set_up(name).and_then(Measurement::number), row),
        notes: vec![
            "Set-up: from the client's first call to the answer to its first vote, the median over the processes; bytes as its \
             socket counts them, that vote and its answer included. With TLS and QUIC it includes reading the certificate (PEM) \
             and building TLS's configuration, with QUIC binding the socket."
                .to_owned(),
            "Memory: the whole process in RAM after its last round trip, the harness's samples and votes included, which are \
             most of what floor has."
                .to_owned(),
        ],
    }
}

/// The bytes of a message, from the inside out.
pub(super) fn ledger(run: &RunFile) -> Table {
    let carried = |name: &str, side| find(run, name, None, Some(side), "carried-bytes");
    let packets = |name: &str, side| {
        let setting = carried(name, side).and_then(|m| m.settings.get("packets_per_message"));
        // There is no message without a packet: where there seem to be none, nobody has counted.
        setting.and_then(serde_json::Value::as_f64).filter(|packets| *packets > 0.0)
    };
    let row = |name: &str| {
        let of = |metric| number_cell(find(run, name, None, None, metric), run, figure);
        let packets = |side| packets(name, side).map_or_else(|| "-".to_owned(), figure);
        vec![
            name.to_owned(),
            of("payload-bytes"),
            of("message-bytes"),
            of("framed-bytes"),
            number_cell(carried(name, "client"), run, figure),
            number_cell(carried(name, "server"), run, figure),
            packets("client"),
            packets("server"),
        ]
    };
    let both = |name: &str| Some(carried(name, "client")?.number()? + carried(name, "server")?.number()?);
    // Runs from before there was a mean have the canonical vote's.
    let is_mean = of_suite(run).any(|m| m.metric == "message-bytes" && m.min.is_some());
    let whose = if is_mean { "the mean over the votes that were sent" } else { "those of the canonical vote" };
    let mut notes = vec![format!(
        "Message and framed: {whose}, as request; JSON-RPC's with the id 0, which grows on the connection. Carried: what the \
         connection's socket counted for one message, the mean over all, handshake apart: TCP's payload, or the UDP payload of \
         QUIC's packets."
    )];
    let uncounted = of_suite(run).filter(|m| m.metric == "carried-bytes" && m.side.as_deref() == Some("client"));
    let uncounted: Vec<_> = uncounted
        .filter(|m| m.value.is_some() && packets(&m.protocol, "client").is_none())
        .map(|m| m.protocol.as_str())
        .collect();
    if !uncounted.is_empty() {
        notes.push(format!(
            "{}: the kernel keeps no account of a Unix socket; carried are the frames as they were written and read.",
            uncounted.join(", ")
        ));
    }
    Table {
        title: "The bytes of a round trip, from the inside out".to_owned(),
        head: vec![
            "protocol",
            "vote B",
            "message B",
            "framed B",
            "carried out B",
            "carried back B",
            "packets out",
            "packets back",
        ],
        groups: grouped(run, both, row),
        notes,
    }
}

/// The papers' bound on p99 with both of its parts measured, and what was measured beside it.
pub(super) fn bound(run: &RunFile) -> Option<Table> {
    let bound = find(run, "machine", None, None, "p99-bound")?;
    let part = |name: &str| bound.settings.get(name).and_then(serde_json::Value::as_f64);
    let (calls, scheduling) = (part("tau_syscall_ns")?, part("tau_sched_ns")?);
    let us = |ns: f64| figure(ns / 1e3);
    let row = |what: &str, calls: &str, scheduling: &str, total: String| {
        vec![what.to_owned(), calls.to_owned(), scheduling.to_owned(), total]
    };
    let of = |name, wait, which| percentile(run, name, wait, which).map_or_else(|| "-".to_owned(), us);
    let rows = vec![
        row("2 tau_syscall + tau_sched", &us(calls), &us(scheduling), thousandth(Some(bound), run)),
        row("p99 of zap, block", "", "", of("zap", "block", "p99")),
        row("2 tau_syscall", &us(calls), "", us(2.0 * calls)),
        row("p50 of floor-blocking, poll", "", "", of("floor-blocking", "poll", "p50")),
        row("p99 of zap, poll", "", "", of("zap", "poll", "p99")),
    ];
    let scheduled = bound.settings.get("tau_sched_is").and_then(serde_json::Value::as_str);
    let scheduled = match scheduled {
        Some(_) => {
            "the 99th percentile of what it takes to wake a thread that sleeps on the other core. A round trip in block has two \
             such wake-ups, the bound one; in poll nobody sleeps"
        }
        None => {
            "the 99th percentile of the hiccup meter's gaps, which leaves out that a sleeping thread has to be woken"
        }
    };
    let mut notes = vec![format!(
        "tau_syscall: a write of a framed vote and the read of it by one thread; tau_sched: {scheduled}."
    )];
    if percentile(run, "floor-blocking", "poll", "p50").is_some_and(|whole| 2.0 * calls > whole) {
        notes.push(
            "2 tau_syscall is more than the whole round trip of floor-blocking in poll, which makes two writes and two reads: \
             in this run it is measured too high."
                .to_owned(),
        );
    }
    if let Some(udp) = find(run, "machine", None, None, "write-read-pair-udp").filter(|m| m.value.is_some()) {
        notes.push(format!(
            "The same over UDP instead of TCP takes {} us: what QUIC's packets cost the kernel on this interface.",
            thousandth(Some(udp), run)
        ));
    }
    Some(Table {
        title: "The papers' bound on p99".to_owned(),
        head: vec!["what", "tau_syscall us", "tau_sched us", "us"],
        groups: vec![Group { title: "", rows }],
        notes,
    })
}
