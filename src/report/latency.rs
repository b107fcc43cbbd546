//! The tables of the latency suite: round trips for each wait, what a round trip takes, what a connection takes, the byte
//! ledger, and the papers' bound. Owns which figure stands in which column; every figure comes out of the run.

use super::serialization::{count, origin, ratio, status, words};
use super::table::{Group, Table, figure};
use crate::result::RunFile;
use crate::result::record::{Class, Measurement, Status, Value};

/// The suite's name in results.
const SUITE: &str = "latency";

/// The waits, the headline first, and what each is.
const WAITS: [(&str, &str); 2] = [
    ("block", "block: threads sleep in the kernel, as a node's do"),
    ("poll", "poll: threads never park; the length of the path"),
];

/// The groups of a table.
const GROUPS: [(&[Class], &str); 3] = [
    (&[Class::Row], ""),
    (&[Class::Variant, Class::Context], "variants"),
    (&[Class::Floor], "floors: bytes with no protocol"),
];

/// Whether the run has figures of this suite.
#[must_use]
pub fn is_in(run: &RunFile) -> bool {
    of_suite(run).next().is_some()
}

/// Which run, build and machine the figures are from, and whether the machine was fit.
#[must_use]
pub fn provenance(run: &RunFile) -> String {
    let conditions = &run.conditions;
    let fit = if conditions.fit { "fit".to_owned() } else { format!("UNFIT ({})", conditions.reasons.join("; ")) };
    let setting = |name: &str| run.settings.get(name).map_or_else(|| "?".to_owned(), ToString::to_string);
    let incomplete = if run.run.complete { "" } else { " INCOMPLETE: the run was stopped or broke off." };
    format!(
        "{}; {} pairs of processes of {} round trips each, client on core {}, server on core {}; machine {fit}.{incomplete}",
        origin(run),
        setting("processes"),
        setting("round_trips"),
        setting("client_core"),
        setting("server_core"),
    )
}

/// All tables of the suite.
#[must_use]
pub fn tables(run: &RunFile) -> Vec<Table> {
    let measured = |wait: &str| of_suite(run).any(|m| m.wait.as_deref() == Some(wait));
    let mut tables = Vec::new();
    for (wait, what) in WAITS.into_iter().filter(|(wait, _)| measured(wait)) {
        tables.push(round_trips(run, wait, what));
        tables.push(spent(run, wait));
    }
    // In the other wait it is mostly how often a runtime looks, which no stack decides.
    let counted = WAITS.iter().map(|(wait, _)| *wait).find(|wait| measured(wait));
    tables.extend(counted.map(|wait| system_calls(run, wait)));
    tables.push(connections(run));
    tables.push(ledger(run));
    tables.extend(bound(run));
    tables
}

/// The suite's block of a Markdown file.
#[must_use]
pub fn markdown(run: &RunFile) -> String {
    let tables: Vec<_> = tables(run).iter().map(Table::markdown).collect();
    format!("{}\n\n{}", provenance(run), tables.join("\n"))
}

/// Protocols in groups, by what `key` gives of each, the least first.
fn grouped(run: &RunFile, key: impl Fn(&str) -> Option<f64>, row: impl Fn(&str) -> Vec<String>) -> Vec<Group> {
    let mut protocols: Vec<(&str, Class)> = Vec::new();
    for m in of_suite(run).filter(|m| m.metric == "round-trip") {
        if protocols.iter().all(|(name, _)| *name != m.protocol) {
            protocols.push((&m.protocol, m.class.unwrap_or(Class::Context)));
        }
    }
    let of = |name: &str| key(name).unwrap_or(f64::INFINITY);
    protocols.sort_by(|a, b| of(a.0).total_cmp(&of(b.0)).then_with(|| a.0.cmp(b.0)));
    let groups = GROUPS.iter().map(|(classes, title)| {
        let rows = protocols.iter().filter(|(_, class)| classes.contains(class));
        Group { title, rows: rows.map(|(name, _)| row(name)).collect() }
    });
    groups.collect()
}

fn round_trips(run: &RunFile, wait: &str, what: &str) -> Table {
    let trip = |name: &str| find(run, name, Some(wait), None, "round-trip");
    let row = |name: &str| {
        let measurement = trip(name);
        let mut cells = vec![name.to_owned()];
        for percentile in ["p50", "p95", "p99", "p99_9", "p99_99", "max"] {
            cells.push(percentile_cell(measurement, percentile, run));
        }
        let medians = find(run, name, Some(wait), None, "round-trip-p50").and_then(|m| m.verdict.as_ref());
        let blocking = find(run, name, Some(wait), None, "round-trip-p50-blocking").and_then(|m| m.verdict.as_ref());
        cells.push(medians.map_or_else(String::new, ratio));
        cells.push(medians.map_or_else(String::new, words));
        cells.push(blocking.map_or_else(String::new, |verdict| format!("{:.2}x", verdict.ratio)));
        cells
    };
    let mut notes = vec![
        "p50 to max over all processes, in microseconds; n/a where fewer than ten separate stalls reach a percentile. The \
         ratios are of the medians, process by process."
            .to_owned(),
    ];
    notes.extend(unmeasured(run, wait));
    Table {
        title: format!("Round trip, {what}"),
        head: vec![
            "protocol",
            "p50 us",
            "p95 us",
            "p99 us",
            "p99.9 us",
            "p99.99 us",
            "max us",
            "p50 against floor",
            "verdict",
            "of floor-blocking",
        ],
        groups: grouped(run, |name| trip(name).and_then(|m| percentile(m, "p50")), row),
        notes,
    }
}

fn spent(run: &RunFile, wait: &str) -> Table {
    let cpu = |name: &str, side| find(run, name, Some(wait), Some(side), "cpu-time");
    let row = |name: &str| {
        let mut cells = vec![name.to_owned()];
        for side in ["client", "server"] {
            let of = |metric| find(run, name, Some(wait), Some(side), metric);
            cells.push(thousandth(cpu(name, side)));
            cells.push(number_cell(of("system-calls"), figure));
            cells.push(number_cell(of("voluntary-switches"), figure));
            cells.push(number_cell(of("allocations"), count));
        }
        cells
    };
    let both = |name: &str| Some(cpu(name, "client")?.number()? + cpu(name, "server")?.number()?);
    Table {
        title: format!("What a round trip takes, {wait}"),
        head: vec![
            "protocol",
            "client CPU us",
            "client system calls",
            "client waits",
            "client allocations",
            "server CPU us",
            "server system calls",
            "server waits",
            "server allocations",
        ],
        groups: grouped(run, both, row),
        notes: vec![
            "CPU time and waits (voluntary context switches) in the timed processes; system calls and allocations in a \
             counting pair of their own."
                .to_owned(),
        ],
    }
}

/// Which system calls those are.
fn system_calls(run: &RunFile, wait: &str) -> Table {
    let calls = |name: &str, side| find(run, name, Some(wait), Some(side), "system-calls");
    let row = |name: &str| {
        let cell = |side| match calls(name, side) {
            Some(m) if m.status == Status::Ok => by_name(m),
            other => number_cell(other, figure),
        };
        vec![name.to_owned(), cell("client"), cell("server")]
    };
    let both = |name: &str| Some(calls(name, "client")?.number()? + calls(name, "server")?.number()?);
    Table {
        title: format!("System calls of a round trip by name, {wait}"),
        head: vec!["protocol", "client", "server"],
        groups: grouped(run, both, row),
        notes: vec!["Calls that make up less than a hundredth of a call each are left out.".to_owned()],
    }
}

/// The calls of each name, the most frequent first.
fn by_name(measurement: &Measurement) -> String {
    let calls = measurement.settings.iter().filter_map(|(name, calls)| Some((name, calls.as_f64()?)));
    let mut calls: Vec<_> = calls.filter(|(_, calls)| *calls >= 0.01).collect();
    calls.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let calls: Vec<_> = calls.iter().map(|(name, calls)| format!("{} {name}", figure(*calls))).collect();
    calls.join(", ")
}

fn connections(run: &RunFile) -> Table {
    let wait = WAITS.iter().map(|(wait, _)| *wait).find(|wait| of_suite(run).any(|m| m.wait.as_deref() == Some(wait)));
    let set_up = |name: &str| find(run, name, wait, None, "set-up-time");
    let row = |name: &str| {
        let bytes = |side| number_cell(find(run, name, None, Some(side), "set-up-bytes"), figure);
        let memory = |side| match find(run, name, wait, Some(side), "resident-memory") {
            Some(m) if m.status == Status::Ok => m.number().map_or_else(|| "-".to_owned(), |n| figure(n / 1e6)),
            other => number_cell(other, figure),
        };
        vec![
            name.to_owned(),
            thousandth(set_up(name)),
            bytes("client"),
            bytes("server"),
            memory("client"),
            memory("server"),
        ]
    };
    Table {
        title: "A connection, up to the first answer".to_owned(),
        head: vec!["protocol", "time us", "bytes sent", "bytes received", "client memory MB", "server memory MB"],
        groups: grouped(run, |name| set_up(name).and_then(Measurement::number), row),
        notes: vec!["Bytes as the client's socket counts them, the first vote and its answer included.".to_owned()],
    }
}

fn ledger(run: &RunFile) -> Table {
    let carried = |name: &str, side| find(run, name, None, Some(side), "carried-bytes");
    let row = |name: &str| {
        let of = |metric| number_cell(find(run, name, None, None, metric), figure);
        let packets = |side| {
            let setting = carried(name, side).and_then(|m| m.settings.get("packets_per_message"));
            setting.and_then(serde_json::Value::as_f64).map_or_else(|| "-".to_owned(), figure)
        };
        vec![
            name.to_owned(),
            of("payload-bytes"),
            of("message-bytes"),
            of("framed-bytes"),
            number_cell(carried(name, "client"), figure),
            number_cell(carried(name, "server"), figure),
            packets("client"),
            packets("server"),
        ]
    };
    let both = |name: &str| Some(carried(name, "client")?.number()? + carried(name, "server")?.number()?);
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
        notes: vec![
            "Carried: what the connection's socket counted for one message, handshake apart: TCP's payload, or the UDP \
             payload of QUIC's packets."
                .to_owned(),
        ],
    }
}

/// The papers' bound on p99 with both of its parts measured, and what was measured beside it.
fn bound(run: &RunFile) -> Option<Table> {
    let bound = find(run, "machine", None, None, "p99-bound")?;
    let part = |name: &str| bound.settings.get(name).and_then(serde_json::Value::as_f64).map(|ns| figure(ns / 1e3));
    let (calls, scheduling) = (part("tau_syscall_ns")?, part("tau_sched_ns")?);
    let mut rows = vec![vec![
        "2 tau_syscall + tau_sched".to_owned(),
        calls,
        scheduling,
        bound.number().map_or_else(|| "-".to_owned(), |ns| figure(ns / 1e3)),
    ]];
    for (wait, _) in WAITS {
        if let Some(measurement) = find(run, "zap", Some(wait), None, "round-trip") {
            let p99 = percentile_cell(Some(measurement), "p99", run);
            rows.push(vec![format!("zap, measured, {wait}"), String::new(), String::new(), p99]);
        }
    }
    Some(Table {
        title: "The papers' bound on p99".to_owned(),
        head: vec!["what", "tau_syscall us", "tau_sched us", "p99 us"],
        groups: vec![Group { title: "", rows }],
        notes: vec![
            "tau_syscall: a write of a framed vote and the read of it by one thread; tau_sched: the 99th percentile of the \
             hiccup meter's gaps. The bound leaves out that a sleeping thread has to be woken."
                .to_owned(),
        ],
    })
}

fn percentile(measurement: &Measurement, name: &str) -> Option<f64> {
    match &measurement.value {
        Some(Value::Percentiles(percentiles)) => percentiles.get(name)?.map(|number| number.as_f64()),
        _ => None,
    }
}

/// A percentile in microseconds, or the word for its absence; marked where it was forced on an unfit machine.
fn percentile_cell(measurement: Option<&Measurement>, name: &str, run: &RunFile) -> String {
    let unfit = if run.conditions.fit { "" } else { " (unfit)" };
    match measurement {
        Some(m) if m.value.is_some() => {
            percentile(m, name).map_or_else(|| "n/a".to_owned(), |ns| figure(ns / 1e3) + unfit)
        }
        Some(m) => status(m.status).to_owned(),
        None => "-".to_owned(),
    }
}

fn number_cell(measurement: Option<&Measurement>, text: impl Fn(f64) -> String) -> String {
    match measurement {
        Some(m) if m.status == Status::Ok => m.number().map_or_else(|| "-".to_owned(), text),
        Some(m) => status(m.status).to_owned(),
        None => "-".to_owned(),
    }
}

/// Nanoseconds as microseconds.
fn thousandth(measurement: Option<&Measurement>) -> String {
    number_cell(measurement, |ns| figure(ns / 1e3))
}

/// One sentence for each reason for which a round trip is missing.
fn unmeasured(run: &RunFile, wait: &str) -> Vec<String> {
    let missing = of_suite(run)
        .filter(|m| m.metric == "round-trip" && m.wait.as_deref() == Some(wait) && m.status != Status::Ok)
        .map(|m| format!("{} {}: {}.", m.protocol, status(m.status), m.reason.as_deref().unwrap_or("no reason given")));
    missing.collect()
}

fn of_suite(run: &RunFile) -> impl Iterator<Item = &Measurement> {
    run.measurements.iter().filter(|m| m.suite == SUITE)
}

fn find<'a>(
    run: &'a RunFile,
    protocol: &str,
    wait: Option<&str>,
    side: Option<&str>,
    metric: &str,
) -> Option<&'a Measurement> {
    of_suite(run).find(|m| {
        m.protocol == protocol && m.metric == metric && m.wait.as_deref() == wait && m.side.as_deref() == side
    })
}
