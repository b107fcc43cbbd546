//! The tables of the latency suite: round trips for each wait, and what a round trip takes. Owns which figure stands in which
//! column; every figure comes out of the run. Bytes, connections and the papers' bound are `latency_context`'s.

use std::collections::BTreeMap;

use super::latency_context;
use super::serialization::{count, origin, ratio, words};
use super::table::{Group, Table, figure};
use crate::result::RunFile;
use crate::result::histogram;
use crate::result::percentiles::{self, OF_PROCESSES, Row};
use crate::result::record::{Class, Judgement, Kind, Measurement, Processes, Status, Value, VerdictRecord};

/// The suite's name in results.
const SUITE: &str = "latency";

/// The waits, the headline first, and what each is.
pub(super) const WAITS: [(&str, &str); 2] = [
    ("block", "block: threads sleep in the kernel, as a node's do"),
    ("poll", "poll: threads never park; the length of the path"),
];

/// The rows that the others are set against, with the metric that holds the verdict.
pub(super) const REFERENCES: [(&str, &str); 2] =
    [("floor", "round-trip-p50"), ("floor-blocking", "round-trip-p50-blocking")];

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
    let is = |name: &str, value: &str| run.settings.get(name).is_some_and(|found| found.as_str() == Some(value));
    let of = if is("isolation", "thread") { "threads of one fresh process" } else { "processes" };
    let awake = if run.settings.get("keep_awake").and_then(serde_json::Value::as_bool) == Some(true) {
        ", both kept out of their idle states"
    } else {
        ""
    };
    let disturbed = match (conditions.rounds_disturbed, conditions.rounds_total) {
        (Some(disturbed), Some(total)) => format!(", {disturbed} of all {total} pairs disturbed and kept"),
        _ => String::new(),
    };
    let incomplete = if run.run.complete { "" } else { " INCOMPLETE: the run was stopped or broke off." };
    format!(
        "{}; {} pairs of {of} of {} round trips each{disturbed}; client on core {}, server on core {}{awake}; machine \
         {fit}.{incomplete}",
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
        tables.push(if wait == "poll" { looks(run, wait) } else { spent(run, wait) });
    }
    // In the other wait it is mostly how often a runtime looks, which no stack decides.
    let counted = WAITS.iter().map(|(wait, _)| *wait).find(|wait| measured(wait));
    tables.extend(counted.map(|wait| system_calls(run, wait)));
    tables.push(latency_context::connections(run));
    tables.push(latency_context::ledger(run));
    tables.extend(latency_context::bound(run));
    tables
}

/// The suite's block of a Markdown file.
#[must_use]
pub fn markdown(run: &RunFile) -> String {
    let tables: Vec<_> = tables(run).iter().map(Table::markdown).collect();
    format!("{}\n\n{}", provenance(run), tables.join("\n"))
}

/// Protocols in groups, by what `key` gives of each, the least first.
pub(super) fn grouped(
    run: &RunFile,
    key: impl Fn(&str) -> Option<f64>,
    row: impl Fn(&str) -> Vec<String>,
) -> Vec<Group> {
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

pub(super) fn round_trips(run: &RunFile, wait: &str, what: &str) -> Table {
    let trips = of_suite(run).filter(|m| m.metric == "round-trip" && m.wait.as_deref() == Some(wait));
    let trips: BTreeMap<&str, (&Measurement, Option<Row>)> =
        trips.map(|m| (m.protocol.as_str(), (m, percentiles_of(m)))).collect();
    let row = |name: &str| {
        let mut cells = vec![name.to_owned()];
        for percentile in ["p50", "p95", "p99", "p99_9", "p99_99", "max"] {
            cells.push(
                trips.get(name).map_or_else(|| "-".to_owned(), |(m, row)| percentile_cell(m, row, percentile, run)),
            );
        }
        for (_, metric) in REFERENCES {
            let against = verdict(run, name, wait, metric);
            cells.push(against.map_or_else(String::new, ratio));
            cells.push(against.map_or_else(String::new, words_both_ways));
        }
        cells
    };
    let p50 = |name: &str| trips.get(name).and_then(|(_, row)| row.as_ref()?.value.get("p50")?.map(|ns| ns.as_f64()));
    let levels = trips.values().filter_map(|(_, row)| Some(row.as_ref()?.intervals.get("p50")?.level));
    let level = levels.min_by(f64::total_cmp).map_or_else(String::new, |level| format!(" of {:.0} %", 100.0 * level));
    let mut notes = vec![
        format!(
            "In microseconds. p50, p95 and p99: the median over the processes of each process's own, with its rank \
             interval{level}; p99.9, p99.99 and max: of all samples together. n/a: fewer than ten separate stalls reach it, or \
             no more than half of the processes do (p99: not ten in more than half of them). max is of equally many round trips \
             a row, which take unequal times."
        ),
        "Sorted by p50: rows are tested against the floors, neighbours not against each other. The ratios are of the medians, \
         process by process."
            .to_owned(),
    ];
    notes.extend(unresolved(run, wait));
    notes.extend(disturbed(run, wait));
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
            "p50 against floor-blocking",
            "verdict",
        ],
        groups: grouped(run, p50, row),
        notes,
    }
}

/// A row's percentiles. Runs from before there were medians over the processes keep each process's samples: then they are
/// made here, as far as that goes, and what such a run did not tell stays untold.
pub(super) fn percentiles_of(measurement: &Measurement) -> Option<Row> {
    let Some(Value::Percentiles(value)) = &measurement.value else { return None };
    if value.contains_key("merged_p50") {
        return Some(Row { value: value.clone(), intervals: measurement.intervals.clone() });
    }
    let own: Result<Vec<_>, _> =
        measurement.process_histograms.iter().map(|record| histogram::decode(&record.data)).collect();
    let own = own.ok()?;
    // Without their places samples that reach a value stand for stalls.
    let reaching = |at: usize, ns: u64| usize::try_from(own[at].count_between(ns, u64::MAX)).unwrap_or(usize::MAX);
    let mut row = percentiles::of_processes(&own, reaching).ok()?;
    for (name, untold) in value.iter().filter(|(_, number)| number.is_none()) {
        row.value.insert(name.clone(), *untold);
        row.intervals.remove(name);
    }
    Some(row)
}

/// A percentile in microseconds, with its interval where it is a median over the processes, or the word for its absence.
fn percentile_cell(measurement: &Measurement, row: &Option<Row>, name: &str, run: &RunFile) -> String {
    if measurement.value.is_none() {
        return measurement.status.word().to_owned();
    }
    let Some(row) = row else { return "-".to_owned() };
    let Some(number) = row.value.get(name).copied().flatten() else { return "n/a".to_owned() };
    let us = |ns: f64| figure(ns / 1e3);
    let interval = row.intervals.get(name).filter(|_| OF_PROCESSES.iter().any(|(own, _)| *own == name));
    let interval = interval.map_or_else(String::new, |of| format!(" ({} to {})", us(of.low), us(of.high)));
    us(number.as_f64()) + &interval + mark(measurement, run)
}

fn verdict<'a>(run: &'a RunFile, name: &str, wait: &str, metric: &str) -> Option<&'a VerdictRecord> {
    find(run, name, Some(wait), None, metric).and_then(|m| m.verdict.as_ref())
}

/// A verdict; where it hangs on the disturbed pairs, what is said with them and what without.
fn words_both_ways(verdict: &VerdictRecord) -> String {
    let said = |judgement| match judgement {
        Judgement::Faster => "faster",
        Judgement::Slower => "slower",
        Judgement::SameWithin3 => "same within 3 %",
        Judgement::Unresolved => "unresolved",
    };
    match (verdict.undropped, verdict.undisturbed) {
        (Some(with), Some(without)) if with != without => {
            format!("unresolved (with the disturbed pairs {}, without them {})", said(with), said(without))
        }
        _ => words(verdict),
    }
}

/// Which rows are not told apart from a floor.
fn unresolved(run: &RunFile, wait: &str) -> Vec<String> {
    let sentence = |(reference, metric): (&str, &str)| {
        let names = of_suite(run)
            .filter(|m| m.metric == metric && m.wait.as_deref() == Some(wait))
            .filter(|m| m.verdict.as_ref().is_some_and(|verdict| verdict.verdict == Judgement::Unresolved));
        let names: Vec<_> = names.map(|m| m.protocol.as_str()).collect();
        (!names.is_empty()).then(|| format!("Not resolved from {reference}: {}.", names.join(", ")))
    };
    REFERENCES.into_iter().filter_map(sentence).collect()
}

/// In how many pairs of which rows the machine was disturbed.
fn disturbed(run: &RunFile, wait: &str) -> Option<String> {
    let of = |m: &Measurement| match (m.settings.get("disturbed"), m.settings.get("disturbed_processes")) {
        (Some(marks), _) => {
            marks.as_array().map(|marks| marks.iter().filter(|mark| mark.as_bool() == Some(true)).count() as u64)
        }
        (None, count) => count.and_then(serde_json::Value::as_u64),
    };
    let trips = of_suite(run).filter(|m| m.metric == "round-trip" && m.wait.as_deref() == Some(wait));
    let counts: Vec<_> =
        trips.filter_map(|m| of(m).filter(|pairs| *pairs > 0).map(|pairs| format!("{} {pairs}", m.protocol))).collect();
    (!counts.is_empty()).then(|| format!("Pairs in which the machine was disturbed, kept: {}.", counts.join(", ")))
}

/// CPU time of a round trip. Runs from before there were medians over the processes have the mean of all, which one slow process
/// moves: that is not told.
pub(super) fn cpu_time<'a>(run: &'a RunFile, name: &str, wait: &str, side: &str) -> Option<&'a Measurement> {
    find(run, name, Some(wait), Some(side), "cpu-time")
        .filter(|m| m.value.is_none() || matches!(m.processes, Some(Processes::Rounds(_))))
}

fn spent(run: &RunFile, wait: &str) -> Table {
    let cpu = |name: &str, side| cpu_time(run, name, wait, side);
    let row = |name: &str| {
        let mut cells = vec![name.to_owned()];
        for side in ["client", "server"] {
            let of = |metric| find(run, name, Some(wait), Some(side), metric);
            cells.push(thousandth(cpu(name, side), run));
            cells.push(number_cell(of("system-calls"), run, figure));
            cells.push(number_cell(of("voluntary-switches"), run, figure));
            cells.push(number_cell(of("allocations"), run, count));
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
            "CPU time and waits (voluntary context switches) in the timed processes, the median over them; system calls and \
             allocations in a counting pair of their own."
                .to_owned(),
        ],
    }
}

/// What a round trip takes where threads never park. CPU time is not there: one that never parks uses all of it.
fn looks(run: &RunFile, wait: &str) -> Table {
    let calls = |name: &str, side| {
        let m = find(run, name, Some(wait), Some(side), "system-calls")?;
        let nothing = m.settings.get("found_nothing").and_then(serde_json::Value::as_f64);
        Some((m, m.number().zip(nothing).map(|(all, nothing)| all - nothing)))
    };
    let row = |name: &str| {
        let mut cells = vec![name.to_owned()];
        for side in ["client", "server"] {
            cells.push(match calls(name, side) {
                Some((m, _)) if m.status != Status::Ok => m.status.word().to_owned(),
                Some((_, Some(calls))) => figure(calls),
                _ => "-".to_owned(),
            });
            let polls = find(run, name, Some(wait), Some(side), "polls").filter(|m| m.number() != Some(0.0));
            cells.push(number_cell(polls.filter(|m| m.status != Status::NotMeasured), run, figure));
            cells.push(number_cell(find(run, name, Some(wait), Some(side), "allocations"), run, count));
        }
        cells
    };
    let both = |name: &str| Some(calls(name, "client")?.1? + calls(name, "server")?.1?);
    Table {
        title: format!("What a round trip takes, {wait}"),
        head: vec![
            "protocol",
            "client system calls",
            "client looks",
            "client allocations",
            "server system calls",
            "server looks",
            "server allocations",
        ],
        groups: grouped(run, both, row),
        notes: vec![
            "System calls, in a counting pair of their own, without those that found nothing, of which there are as many as there \
             is time. Looks: how often the runtime asked for events, in the timed processes; the stacks with threads of their own \
             look without it, which nobody counts. CPU time is left out: a thread that never parks uses as much as there is time."
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
            other => number_cell(other, run, figure),
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
    let calls = measurement.settings.iter().filter(|(name, _)| *name != "found_nothing");
    let calls = calls.filter_map(|(name, calls)| Some((name, calls.as_f64()?)));
    let mut calls: Vec<_> = calls.filter(|(_, calls)| *calls >= 0.01).collect();
    calls.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let calls: Vec<_> = calls.iter().map(|(name, calls)| format!("{} {name}", figure(*calls))).collect();
    calls.join(", ")
}

/// The median over the processes of a percentile of a row, in nanoseconds.
pub(super) fn percentile(run: &RunFile, name: &str, wait: &str, percentile: &str) -> Option<f64> {
    let row = percentiles_of(find(run, name, Some(wait), None, "round-trip")?)?;
    row.value.get(percentile)?.map(|number| number.as_f64())
}

/// What has to be said of a rate wherever it stands: that its row failed, or that the machine was not fit for it.
pub(super) fn mark(measurement: &Measurement, run: &RunFile) -> &'static str {
    match measurement.kind {
        _ if measurement.status == Status::Failed => " (failed)",
        Kind::Rate if !run.conditions.fit || measurement.unfit.is_some() => " (unfit)",
        _ => "",
    }
}

/// A figure with its mark, or the word for its absence.
pub(super) fn number_cell(measurement: Option<&Measurement>, run: &RunFile, text: impl Fn(f64) -> String) -> String {
    match measurement {
        Some(m) if m.status == Status::Ok || m.value.is_some() => {
            m.number().map_or_else(|| "-".to_owned(), |number| text(number) + mark(m, run))
        }
        Some(m) => m.status.word().to_owned(),
        None => "-".to_owned(),
    }
}

/// Nanoseconds as microseconds.
pub(super) fn thousandth(measurement: Option<&Measurement>, run: &RunFile) -> String {
    number_cell(measurement, run, |ns| figure(ns / 1e3))
}

/// One sentence for each reason for which a round trip or its verdict is missing, or not to be relied on.
fn unmeasured(run: &RunFile, wait: &str) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for m in of_suite(run).filter(|m| m.wait.as_deref() == Some(wait)) {
        let reason = m.reason.as_deref().unwrap_or("no reason given");
        let has = m.processes.as_ref().map_or(0, |processes| match processes {
            Processes::Rounds(of) => of.len(),
            Processes::Percentiles(of) => of.len(),
        });
        said.extend(match (m.metric.as_str(), m.status, &m.unfit) {
            ("round-trip", Status::Ok, None) => None,
            ("round-trip", Status::Ok, Some(unfit)) => Some(format!("{} unfit: {unfit}.", m.protocol)),
            ("round-trip", other, _) if has > 0 => {
                Some(format!("{} {} after {has} pairs, which stand here: {reason}.", m.protocol, other.word()))
            }
            ("round-trip", ..) => Some(format!("{} {}.", m.protocol, m.why())),
            // A remark on a median is why it has no verdict.
            (metric, Status::Ok, _) if REFERENCES.iter().any(|(_, of)| *of == metric) => {
                m.reason.as_ref().map(|reason| format!("{}: {reason}.", m.protocol))
            }
            _ => None,
        });
    }
    said
}

pub(super) fn of_suite(run: &RunFile) -> impl Iterator<Item = &Measurement> {
    run.measurements.iter().filter(|m| m.suite == SUITE)
}

pub(super) fn find<'a>(
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
