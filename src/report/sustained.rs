//! The tables of the sustained suite: response times, whether the rate was held, the papers' windows, and what a vote takes. Owns
//! which figure stands in which column; every figure comes out of the run. Capacities have [a table](capacity) of their own.

use super::capacity;
use super::serialization::{count, origin};
use super::table::{self, Group, Table, figure};
use crate::result::RunFile;
use crate::result::record::{Class, Measurement, Status, Value};

/// The suite's name in results.
const SUITE: &str = "sustained";

/// The ways in which votes are written, and what each is.
pub(super) const WRITES: [(&str, &str); 2] =
    [("batched", "votes at hand written together"), ("each", "each vote written by itself")];

/// The groups of a table.
const GROUPS: [(&[Class], &str); 3] = [
    (&[Class::Row], ""),
    (&[Class::Variant, Class::Context], "variants"),
    (&[Class::Floor], "floors: bytes with no protocol"),
];

/// The papers' windows, in minutes.
const WINDOWS: [u64; 3] = [1, 10, 60];

/// Whether the run has figures of this suite.
#[must_use]
pub fn is_in(run: &RunFile) -> bool {
    of_suite(run).next().is_some() && !capacity::is_in(run)
}

/// Which run, build and machine the figures are from, how it was loaded, and whether the machine was fit.
#[must_use]
pub fn provenance(run: &RunFile) -> String {
    let number = |name: &str| run.settings.get(name).and_then(serde_json::Value::as_f64);
    let seconds = number("duration_ns").map_or_else(|| "?".to_owned(), |ns| figure(ns / 1e9));
    under(run, &format!("{seconds} s a row, {} votes/s offered", setting(run, "rate")))
}

/// Which run it is, with what `load` says of how rows were loaded, and what is the same for every load.
pub(super) fn under(run: &RunFile, load: &str) -> String {
    let conditions = &run.conditions;
    let fit = if conditions.fit { "fit".to_owned() } else { format!("UNFIT ({})", conditions.reasons.join("; ")) };
    let incomplete = if run.run.complete { "" } else { " INCOMPLETE: the run was stopped or broke off." };
    let setting = |name| setting(run, name);
    format!(
        "{}; {load} ({} arrivals), {} connection(s), at most {} in flight, generator on core {}, server on core {} ({}); \
         machine {fit}.{incomplete}",
        origin(run),
        setting("arrivals"),
        setting("connections"),
        setting("in_flight"),
        setting("client_core"),
        setting("server_core"),
        setting("server_wait"),
    )
}

fn setting(run: &RunFile, name: &str) -> String {
    match run.settings.get(name) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "?".to_owned(),
    }
}

/// All tables of the suite.
#[must_use]
pub fn tables(run: &RunFile) -> Vec<Table> {
    let mut tables = Vec::new();
    for (writes, what) in WRITES {
        let has = |metric: &str| of_suite(run).any(|m| m.row.as_deref() == Some(writes) && m.metric == metric);
        if has("response") {
            tables.extend([response(run, writes, what), rates(run, writes, what), windows(run, writes, what)]);
            tables.push(spent(run, writes, what));
        }
    }
    tables.extend(capacity::tables(run));
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
    metric: &str,
    key: impl Fn(&str) -> Option<f64>,
    row: impl Fn(&str) -> Vec<String>,
) -> Vec<Group> {
    let mut protocols: Vec<(&str, Class)> = Vec::new();
    for m in of_suite(run).filter(|m| m.metric == metric) {
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

pub(super) fn response(run: &RunFile, writes: &str, what: &str) -> Table {
    let of = |name: &str, metric: &str| find(run, name, writes, None, metric);
    let row = |name: &str| {
        let mut cells = vec![name.to_owned()];
        for percentile in ["p50", "p99", "p99_9", "p99_99", "max"] {
            cells.push(time(of(name, "response"), percentile, run));
        }
        cells.push(time(of(name, "response-undisturbed"), "p99_9", run));
        cells.push(time(of(name, "service"), "p50", run));
        cells.push(time(of(name, "service"), "p99", run));
        for wait in ["wait-blocked", "wait-client", "wait-pacer"] {
            cells.push(time(of(name, wait), "p99", run));
        }
        cells.push(number(of(name, "pacer-floor"), |ns| figure(ns / 1e3)));
        cells.push(of(name, "response").map_or_else(|| "-".to_owned(), intervals));
        cells
    };
    let mut notes = vec![
        "Response: from the moment a vote was due to its answer, decoded and checked; service: from the moment it was handed \
         to the stack. The p99 of the wait in between is split into what the stack or the bound on votes in flight held up \
         (blocked), what the generator spent inside the client's stack (client), and what is its own fault (pacer). In \
         microseconds; n/a where fewer than ten intervals reach a percentile; >x where votes that were never answered reach \
         it. The machine's own: what votes at random moments would have waited for a loop that only reads the clock, on the \
         same cores, before the row. Intervals: all, disturbed by others, invalid because the pacer's p99 was over twice \
         that and over 5 us; p99.9 undisturbed is without them."
            .to_owned(),
    ];
    notes.extend(remarks(run, writes));
    Table {
        title: format!("Response times under load, {what}"),
        head: vec![
            "protocol",
            "p50 us",
            "p99 us",
            "p99.9 us",
            "p99.99 us",
            "max us",
            "p99.9 undisturbed",
            "service p50",
            "service p99",
            "blocked p99",
            "client p99",
            "pacer p99",
            "machine's own p99",
            "intervals",
        ],
        groups: grouped(run, "response", |name| percentile(of(name, "response")?, "p99"), row),
        notes,
    }
}

pub(super) fn rates(run: &RunFile, writes: &str, what: &str) -> Table {
    let of = |name: &str, metric: &str| find(run, name, writes, None, metric);
    let row = |name: &str| {
        let achieved = of(name, "achieved-rate");
        let share = achieved.and_then(|m| m.settings.get("share")).and_then(serde_json::Value::as_f64);
        vec![
            name.to_owned(),
            number(of(name, "offered-rate"), whole),
            number_or_value(achieved, whole),
            share.map_or_else(|| "-".to_owned(), |share| format!("{:.2} %", 100.0 * share)),
            achieved
                .map_or("-", |m| match m.status {
                    Status::Ok => "held",
                    other => other.word(),
                })
                .to_owned(),
            number(of(name, "errors"), figure),
            number(of(name, "censored"), figure),
            drift(of(name, "response-p99-drift")),
        ]
    };
    Table {
        title: format!("Whether the rate was held, {what}"),
        head: vec![
            "protocol",
            "offered/s",
            "achieved/s",
            "achieved",
            "verdict",
            "errors",
            "never answered",
            "p99 drift us/min",
        ],
        groups: grouped(run, "response", |name| of(name, "achieved-rate")?.number().map(|rate| -rate), row),
        notes: vec!["Held: 99.9 % of what was due was answered while the load lasted.".to_owned()],
    }
}

fn windows(run: &RunFile, writes: &str, what: &str) -> Table {
    let of = |name: &str, minute: u64| find(run, name, writes, None, &format!("response-minute-{minute}"));
    let row = |name: &str| {
        let mut cells = vec![name.to_owned()];
        for minute in WINDOWS {
            for percentile in ["p50", "p99", "p99_9"] {
                cells.push(time(of(name, minute), percentile, run));
            }
        }
        cells
    };
    Table {
        title: format!("The papers' windows, {what}"),
        head: vec![
            "protocol",
            "minute 1 p50 us",
            "p99 us",
            "p99.9 us",
            "minute 10 p50 us",
            "p99 us",
            "p99.9 us",
            "minute 60 p50 us",
            "p99 us",
            "p99.9 us",
        ],
        groups: grouped(run, "response", |name| percentile(of(name, 1)?, "p99"), row),
        notes: vec![
            "The minutes that end at 1, 10 and 60 of each row's load; `not measured` where a row did not last so long."
                .to_owned(),
        ],
    }
}

fn spent(run: &RunFile, writes: &str, what: &str) -> Table {
    let row = |name: &str| {
        let mut cells = vec![name.to_owned()];
        for side in ["client", "server"] {
            let of = |metric| find(run, name, writes, Some(side), metric);
            cells.push(number(of("cpu-time"), |ns| figure(ns / 1e3)));
            cells.push(number(of("allocations"), count));
            cells.push(number(of("system-calls"), figure));
            cells.push(number(of("resident-memory-growth"), |bytes| figure(bytes / 1e3)));
            cells.push(number(of("involuntary-switches"), |each| figure(each * 1e6)));
        }
        cells
    };
    let both = |name: &str| {
        let of = |side| find(run, name, writes, Some(side), "allocations")?.number();
        Some(of("client")? + of("server")?)
    };
    Table {
        title: format!("In place of garbage collection, {what}"),
        head: vec![
            "protocol",
            "client CPU us",
            "client allocations",
            "client system calls",
            "client memory growth kB",
            "client preempted per million",
            "server CPU us",
            "server allocations",
            "server system calls",
            "server memory growth kB",
            "server preempted per million",
        ],
        groups: grouped(run, "response", both, row),
        notes: vec![
            "This is Rust: there is no collector, and no pause of one. What could play its part, for each vote: allocations \
             and system calls (counted in processes of their own), growth of resident memory from the tenth of the row to its \
             end, involuntary context switches. The generator's CPU time includes its spinning."
                .to_owned(),
        ],
    }
}

fn intervals(response: &Measurement) -> String {
    let of = |name: &str| response.settings.get(name).and_then(serde_json::Value::as_u64);
    match (of("intervals"), of("intervals_disturbed"), of("intervals_invalid")) {
        (Some(all), Some(disturbed), Some(invalid)) => format!("{all}, {disturbed} disturbed, {invalid} invalid"),
        _ => "-".to_owned(),
    }
}

fn drift(measurement: Option<&Measurement>) -> String {
    match measurement {
        Some(m) if m.status == Status::Ok => {
            let is_drift = m.settings.get("is_drift").and_then(serde_json::Value::as_bool) == Some(true);
            let slope = m.number().map_or_else(|| "-".to_owned(), |ns| figure(ns / 1e3));
            if is_drift { slope } else { format!("{slope} (none)") }
        }
        Some(m) => m.status.word().to_owned(),
        None => "-".to_owned(),
    }
}

pub(super) fn percentile(measurement: &Measurement, name: &str) -> Option<f64> {
    match &measurement.value {
        Some(Value::Percentiles(percentiles)) => percentiles.get(name)?.map(|number| number.as_f64()),
        _ => None,
    }
}

/// A percentile in microseconds, or the word for its absence; marked where it is a lower bound, or forced on an unfit machine.
fn time(measurement: Option<&Measurement>, name: &str, run: &RunFile) -> String {
    let unfit = if run.conditions.fit { "" } else { " (unfit)" };
    match measurement {
        Some(m) if m.value.is_some() => {
            let mark = if m.is_beyond(name) { ">" } else { "" };
            percentile(m, name).map_or_else(|| "n/a".to_owned(), |ns| format!("{mark}{}{unfit}", figure(ns / 1e3)))
        }
        Some(m) => m.status.word().to_owned(),
        None => "-".to_owned(),
    }
}

/// A number, or the word for its absence.
pub(super) fn number(measurement: Option<&Measurement>, text: impl Fn(f64) -> String) -> String {
    match measurement {
        Some(m) if m.status == Status::Ok => m.number().map_or_else(|| "-".to_owned(), text),
        Some(m) => m.status.word().to_owned(),
        None => "-".to_owned(),
    }
}

/// A number that is shown even where its row is saturated or has failed.
fn number_or_value(measurement: Option<&Measurement>, text: impl Fn(f64) -> String) -> String {
    match measurement.and_then(Measurement::number) {
        Some(value) => text(value),
        None => number(measurement, text),
    }
}

/// A rate without its fraction.
pub(super) fn whole(rate: f64) -> String {
    table::grouped(&format!("{rate:.0}"))
}

/// One sentence for each reason for which a row is not what was asked for.
fn remarks(run: &RunFile, writes: &str) -> Vec<String> {
    let missing = of_suite(run)
        .filter(|m| m.metric == "response" && m.row.as_deref() == Some(writes) && m.status != Status::Ok)
        .map(|m| format!("{} {}.", m.protocol, m.why()));
    missing.collect()
}

pub(super) fn of_suite(run: &RunFile) -> impl Iterator<Item = &Measurement> {
    run.measurements.iter().filter(|m| m.suite == SUITE)
}

pub(super) fn find<'a>(
    run: &'a RunFile,
    protocol: &str,
    writes: &str,
    side: Option<&str>,
    metric: &str,
) -> Option<&'a Measurement> {
    of_suite(run).find(|m| {
        m.protocol == protocol && m.metric == metric && m.row.as_deref() == Some(writes) && m.side.as_deref() == side
    })
}
