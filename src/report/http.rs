//! The tables of the HTTP study, in the paper's order: bytes and allocations of a request, memory, wire bytes, requests a second,
//! and, for each, what is said of one arm against another. Owns which figure stands in which column; every figure comes out of
//! the run.

use super::serialization::{count, origin, words};
use super::table::{Group, Table, figure};
use crate::result::RunFile;
use crate::result::record::{Measurement, Status, VerdictRecord};

/// The suite's name in results.
const SUITE: &str = "http";

/// The arms, in the order of the columns.
const ARMS: [&str; 5] = ["hyper", "pooled-http", "zap-http", "native-zap", "floor"];

/// The workloads, in the order of the rows.
const WORKLOADS: [&str; 5] = ["tiny", "small", "chat", "medium", "large"];

/// The windows of the rates: row, wait, and what they are.
pub(super) const WINDOWS: [(&str, &str, &str); 3] = [
    ("concurrent", "block", "concurrent: a request in flight on each of many connections, both cores busy"),
    ("sequential", "block", "sequential, block: one request in flight, threads sleep in the kernel, as a node's do"),
    ("sequential", "poll", "sequential, poll: one request in flight, threads never park; the length of the path"),
];

/// The comparisons that are shown: an arm, what it is set against, and what that tells.
const COMPARISONS: [(&str, &str); 6] = [
    ("zap-http", "pooled-http"),
    ("native-zap", "pooled-http"),
    ("native-zap", "floor"),
    ("pooled-http", "hyper"),
    ("zap-http", "hyper"),
    ("native-zap", "hyper"),
];

/// The server that is not ours.
const NGINX: &str = "nginx";

/// The arm whose request bytes are those of HTTP/1.1.
const HTTP: &str = "pooled-http";

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
    let retaken = match (conditions.rounds_dropped, conditions.rounds_total) {
        (Some(dropped), Some(total)) => format!("; {dropped} of {total} sets of pairs were disturbed and taken anew"),
        _ => String::new(),
    };
    let incomplete = if run.run.complete { "" } else { " INCOMPLETE: the run was stopped or broke off." };
    format!(
        "{}; {} pairs of processes for each figure, client on core {}, server on core {}{retaken}; machine {fit}.{incomplete}",
        origin(run),
        setting("processes"),
        setting("client_core"),
        setting("server_core"),
    )
}

/// All tables of the suite.
#[must_use]
pub fn tables(run: &RunFile) -> Vec<Table> {
    let mut tables = vec![
        counted(run, "allocated-bytes", "Bytes allocated per request"),
        counted(run, "allocations", "Allocations per request"),
        memory(run),
        wire(run),
    ];
    for (row, wait, what) in WINDOWS {
        if of_suite(run).any(|m| is_row(m, row, wait)) {
            tables.push(rates(run, row, wait, what));
            tables.push(comparisons(run, row, wait));
        }
    }
    tables.extend(yardstick(run));
    tables
}

/// The suite's block of a Markdown file.
#[must_use]
pub fn markdown(run: &RunFile) -> String {
    let tables: Vec<_> = tables(run).iter().map(Table::markdown).collect();
    format!("{}\n\n{}", provenance(run), tables.join("\n"))
}

/// Bytes or allocations of both sides together, and in brackets of the client and of the server.
pub(super) fn counted(run: &RunFile, metric: &str, title: &str) -> Table {
    let cell = |arm: &str, workload: &str| {
        let of = |side| find(run, arm, workload, metric, side, None);
        let both = number_cell(of(None), count);
        match (of(Some("client")).and_then(number), of(Some("server")).and_then(number)) {
            (Some(client), Some(server)) if client + server > 0.0 => {
                format!("{both} ({} + {})", count(client), count(server))
            }
            _ => both,
        }
    };
    let windows = distinct(of_suite(run).filter(|m| m.metric == metric).filter_map(|m| m.window));
    let windows: Vec<_> = windows.iter().map(ToString::to_string).collect();
    let mut notes = vec![format!(
        "Client and server together, in brackets apart; counted over {} requests on a warm connection. A 0 is none in all of them.",
        windows.join(" or "),
    )];
    notes.extend(unmeasured(run, |m| m.metric == metric));
    by_workload(run, title.to_owned(), notes, cell)
}

/// Memory in RAM with many connections; where there are none of those figures, with one.
fn memory(run: &RunFile) -> Table {
    let cell = |arm: &str, workload: &str| {
        let of = |side| find(run, arm, workload, "resident-memory", Some(side), Some(("concurrent", "block")));
        let megabytes = |m: Option<&Measurement>| number_cell(m, |bytes| figure(bytes / 1e6));
        format!("{} + {}", megabytes(of("client")), megabytes(of("server")))
    };
    let connections = run.settings.get("connections").map_or_else(|| "?".to_owned(), ToString::to_string);
    let notes = vec![format!(
        "Client and server, at the end of the window with {connections} connections. It stands where the paper counts cycles of \
         garbage collection, of which there are none here.",
    )];
    by_workload(run, "Memory in RAM, MB".to_owned(), notes, cell)
}

fn wire(run: &RunFile) -> Table {
    let (http, others) = (HTTP, ["zap-http", "native-zap"]);
    let request = |arm: &str, workload: &str| find(run, arm, workload, "request-wire-bytes", None, None);
    let setting = |m: Option<&Measurement>, name: &str| m?.settings.get(name)?.as_u64();
    let share = |bytes: f64, of: f64| format!("{:+.1} %", 100.0 * (bytes / of - 1.0));
    let row = |workload: &str| {
        let like = request(http, workload);
        let of_http = like.and_then(number);
        let published = setting(like, "published");
        let mut cells =
            vec![workload.to_owned(), number_cell(request("hyper", workload), count), number_cell(like, count)];
        cells.push(published.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string()));
        for arm in others {
            let m = request(arm, workload);
            cells.push(number_cell(m, count));
            cells.push(
                m.and_then(number).zip(of_http).map_or_else(|| "-".to_owned(), |(bytes, http)| share(bytes, http)),
            );
            let (theirs, http) = (setting(m, "published"), published);
            let published = theirs.zip(http).map(|(bytes, http)| share(decimal(bytes), decimal(http)));
            cells.push(published.unwrap_or_else(|| "-".to_owned()));
        }
        cells
    };
    let mut notes = vec![
        "One request, as the client's socket counted it. Percentages are against HTTP/1.1: here, and as published."
            .to_owned(),
    ];
    notes.extend(remarks(run));
    Table {
        title: "Wire bytes of a request".to_owned(),
        head: vec![
            "workload",
            "hyper",
            "pooled-http",
            "HTTP/1.1, published",
            "zap-http",
            "of HTTP/1.1",
            "published",
            "native-zap",
            "of HTTP/1.1",
            "published",
        ],
        groups: vec![Group { title: "", rows: workloads(run).into_iter().map(row).collect() }],
        notes,
    }
}

/// Why a published size is not the one measured, and what the paper's sentence about the smallest request makes of it.
fn remarks(run: &RunFile) -> Vec<String> {
    let mut remarks = Vec::new();
    let requests = of_suite(run).filter(|m| m.metric == "request-wire-bytes" && m.protocol == HTTP);
    for m in requests {
        let (Some(remark), Some(published)) =
            (m.settings.get("published_remark").and_then(|text| text.as_str()), m.settings.get("published"))
        else {
            continue;
        };
        let Some(workload) = m.workload.as_deref() else { continue };
        remarks.push(format!("{workload}, published as {published}: {remark}."));
        let native = find(run, "native-zap", workload, "request-wire-bytes", None, None).and_then(number);
        if let (Some(native), Some(http)) = (native, m.number()) {
            let smaller = workloads(run).into_iter().any(|workload| {
                let bytes = |arm| find(run, arm, workload, "request-wire-bytes", None, None).and_then(number);
                bytes("native-zap").zip(bytes(HTTP)).is_some_and(|(native, http)| native < http)
            });
            remarks.push(format!(
                "The paper's sentence that the native message is smaller than HTTP/1.1 at {workload} and nowhere else rests on \
                 those bytes: like for like it is {} against {}, and {} smaller at any size measured here.",
                count(native),
                count(http),
                if smaller { "the native message is" } else { "no native message is" },
            ));
        }
    }
    remarks
}

pub(super) fn rates(run: &RunFile, row: &str, wait: &str, what: &str) -> Table {
    let unfit = if run.conditions.fit { "" } else { " (unfit)" };
    let cell = |arm: &str, workload: &str| {
        let time = find(run, arm, workload, "time", None, Some((row, wait)));
        number_cell(time, |ns| figure(1e9 / ns) + unfit)
    };
    let mut notes = vec!["Requests a second, of client and server on a core each.".to_owned()];
    notes.extend(unmeasured(run, |m| m.metric == "time" && is_row(m, row, wait)));
    by_workload(run, format!("Requests a second, {what}"), notes, cell)
}

/// What is said of one arm's time against another's.
fn comparisons(run: &RunFile, row: &str, wait: &str) -> Table {
    let (names, arms) = (workloads(run), arms(run));
    let cells = |(arm, reference): &(&str, &str)| {
        let mut cells = vec![format!("{arm} against {reference}")];
        for workload in &names {
            let over = find(run, arm, workload, &format!("time-over-{reference}"), None, Some((row, wait)));
            cells.push(match over {
                Some(m) if m.status == Status::Ok => m.verdict.as_ref().map_or_else(|| "-".to_owned(), said),
                Some(m) => m.status.word().to_owned(),
                None => "-".to_owned(),
            });
        }
        cells
    };
    let is_there = |(arm, reference): &&(&str, &str)| arms.contains(arm) && arms.contains(reference);
    let rows = COMPARISONS.iter().filter(is_there);
    let mut head = vec!["arm"];
    head.extend(&names);
    Table {
        title: format!("Time of a request against another arm's, {row}, {wait}"),
        head,
        groups: vec![Group { title: "", rows: rows.map(cells).collect() }],
        notes: vec!["The ratio of the times with its 90 % interval, and the verdict.".to_owned()],
    }
}

/// The matched baseline beside a server that is not ours.
fn yardstick(run: &RunFile) -> Option<Table> {
    let of = |server: &str, workload: &str, metric: &str, side| {
        find(run, server, workload, metric, side, Some(("wrk", "block")))
    };
    let time = |server: &str, workload: &str| of(server, workload, "time", None);
    let taken: Vec<_> = workloads(run).into_iter().filter(|workload| time(NGINX, workload).is_some()).collect();
    let unfit = if run.conditions.fit { "" } else { " (unfit)" };
    let row = |workload: &&str| {
        let mut cells = vec![(*workload).to_owned()];
        for server in [NGINX, HTTP] {
            let spent = of(server, workload, "cpu-time", Some("server")).and_then(number);
            let busy = spent.zip(time(server, workload).and_then(number)).map(|(spent, time)| 100.0 * spent / time);
            cells.push(number_cell(time(server, workload), |ns| figure(1e9 / ns) + unfit));
            cells.push(busy.map_or_else(|| "-".to_owned(), |busy| format!("{busy:.0} %{unfit}")));
        }
        let over = of(HTTP, workload, &format!("time-over-{NGINX}"), None);
        let verdict = over.map(|m| m.verdict.as_ref().map_or_else(|| m.status.word().to_owned(), said));
        cells.push(verdict.unwrap_or_else(|| "-".to_owned()));
        cells
    };
    let bytes = |workload: &&str| {
        let of = |server| of(server, workload, "response-wire-bytes", None).and_then(number).map(count);
        of(NGINX).zip(of(HTTP)).map(|(nginx, http)| format!("{nginx} and {http} at {workload}"))
    };
    let mut notes = vec![
        "nginx has one worker and answers `return 200` with the body and the fields that pooled-http echoes, which is looked at before \
         wrk begins; it adds two fields of its own, Server and Connection. Servers and wrk are pinned to a core each, and take turns in \
         fresh processes."
            .to_owned(),
        "How busy a server's core is: where it has time left, wrk's is the limit, and that server could do more.".to_owned(),
    ];
    let bytes: Vec<_> = taken.iter().filter_map(bytes).collect();
    if !bytes.is_empty() {
        notes.push(format!("Bytes of a response of nginx and of pooled-http: {}.", bytes.join(", ")));
    }
    notes.extend(unmeasured(run, |m| is_row(m, "wrk", "block")));
    (!taken.is_empty()).then(|| Table {
        title: "Requests a second of pooled-http and of nginx, both driven by wrk".to_owned(),
        head: vec!["workload", NGINX, "its core busy", HTTP, "its core busy", "pooled-http against nginx"],
        groups: vec![Group { title: "", rows: taken.iter().map(row).collect() }],
        notes,
    })
}

/// A table with a row for each workload and a column for each arm.
fn by_workload(run: &RunFile, title: String, notes: Vec<String>, cell: impl Fn(&str, &str) -> String) -> Table {
    let arms = arms(run);
    let row = |workload: &str| {
        let mut cells = vec![workload.to_owned()];
        cells.extend(arms.iter().map(|arm| cell(arm, workload)));
        cells
    };
    let mut head = vec!["workload"];
    head.extend(&arms);
    Table { title, head, groups: vec![Group { title: "", rows: workloads(run).into_iter().map(row).collect() }], notes }
}

/// A ratio of times that names its direction, and the verdict.
fn said(verdict: &VerdictRecord) -> String {
    let [low, high] = verdict.interval;
    format!("{:.2}x the time ({low:.2} to {high:.2}), {}", verdict.ratio, words(verdict))
}

fn number(measurement: &Measurement) -> Option<f64> {
    measurement.number().filter(|_| measurement.status == Status::Ok)
}

fn number_cell(measurement: Option<&Measurement>, text: impl Fn(f64) -> String) -> String {
    match measurement {
        Some(m) if m.status == Status::Ok => m.number().map_or_else(|| "-".to_owned(), text),
        Some(m) => m.status.word().to_owned(),
        None => "-".to_owned(),
    }
}

/// One sentence for each reason for which a figure is missing, with the arms that it is missing for.
fn unmeasured(run: &RunFile, is_meant: impl Fn(&Measurement) -> bool) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for m in of_suite(run).filter(|m| m.status != Status::Ok && is_meant(m)) {
        let reason = m.why();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, arms)) if arms.contains(&m.protocol.as_str()) => {}
            Some((_, arms)) => arms.push(&m.protocol),
            None => reasons.push((reason, vec![&m.protocol])),
        }
    }
    reasons.iter().map(|(reason, arms)| format!("{} {reason}.", arms.join(", "))).collect()
}

/// The arms that the run has figures of.
pub(super) fn arms(run: &RunFile) -> Vec<&'static str> {
    ARMS.into_iter().filter(|arm| of_suite(run).any(|m| m.protocol == *arm)).collect()
}

/// The workloads that the run has figures of.
pub(super) fn workloads(run: &RunFile) -> Vec<&'static str> {
    let has = |workload: &&str| of_suite(run).any(|m| m.workload.as_deref() == Some(*workload));
    WORKLOADS.into_iter().filter(has).collect()
}

pub(super) fn of_suite(run: &RunFile) -> impl Iterator<Item = &Measurement> {
    run.measurements.iter().filter(|m| m.suite == SUITE)
}

pub(super) fn is_row(measurement: &Measurement, row: &str, wait: &str) -> bool {
    measurement.row.as_deref() == Some(row) && measurement.wait.as_deref() == Some(wait)
}

pub(super) fn find<'a>(
    run: &'a RunFile,
    arm: &str,
    workload: &str,
    metric: &str,
    side: Option<&str>,
    window: Option<(&str, &str)>,
) -> Option<&'a Measurement> {
    of_suite(run).find(|m| {
        m.protocol == arm
            && m.workload.as_deref() == Some(workload)
            && m.metric == metric
            && m.side.as_deref() == side
            && (m.row.as_deref(), m.wait.as_deref()) == (window.map(|(row, _)| row), window.map(|(_, wait)| wait))
    })
}

fn distinct(values: impl Iterator<Item = u64>) -> Vec<u64> {
    values.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a request stay far below 2^53")]
fn decimal(whole: u64) -> f64 {
    whole as f64
}
