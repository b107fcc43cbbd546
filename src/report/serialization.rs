//! The tables of the serialization suite: one for each model, one for sizes, one for scale. Owns which figure stands in
//! which column and in which words; every figure comes out of the run.

use super::table::{Group, Table, figure};
use crate::result::RunFile;
use crate::result::record::{Class, Judgement, Measurement, Number, Status, VerdictRecord};

/// The suite's name in results.
const SUITE: &str = "serialization";

/// The models, in the order of the tables, with the titles of theirs.
pub(super) const MODELS: [(&str, &str); 4] = [
    ("encode", "Encode: logical vote to message"),
    ("read", "Read: open the message, read all six fields"),
    ("own", "Own: message to an owned vote"),
    ("open", "Open: message to the format's own view of it"),
];

/// The groups of a table: which classes, and what they are called.
pub(super) const GROUPS: [(&[Class], &str); 3] = [
    (&[Class::Row, Class::Variant], ""),
    (&[Class::Floor], "yardsticks, not formats"),
    (&[Class::Context], "other formats, for context"),
];

/// Which run, build and machine the figures are from, and whether the machine was fit.
#[must_use]
pub fn provenance(run: &RunFile) -> String {
    let conditions = &run.conditions;
    let fit = if conditions.fit { "fit".to_owned() } else { format!("UNFIT ({})", conditions.reasons.join("; ")) };
    let setting = |name: &str| run.settings.get(name).map_or_else(|| "?".to_owned(), ToString::to_string);
    let rounds = match (conditions.rounds_dropped, conditions.rounds_total) {
        (Some(dropped), Some(total)) => format!(", {dropped} of {total} rounds dropped as disturbed"),
        _ => String::new(),
    };
    let incomplete = if run.run.complete { "" } else { " INCOMPLETE: the run was stopped or broke off." };
    format!(
        "{}; {} processes of {} rounds{rounds}; machine {fit}.{incomplete}",
        origin(run),
        setting("processes"),
        setting("rounds"),
    )
}

/// Which run it is, of which build, on which machine.
pub(super) fn origin(run: &RunFile) -> String {
    let (source, machine) = (&run.source, &run.machine);
    let dirty = if source.dirty { ", with changes that are not committed" } else { "" };
    format!(
        "Run {}: commit {}{dirty}, rustc {}; {} x {}, {} {}, kernel {}",
        run.run.id,
        source.commit,
        source.rustc,
        machine.cores,
        machine.cpu,
        machine.hypervisor,
        if machine.hypervisor == "none" { "hypervisor" } else { "virtual machine" },
        machine.kernel,
    )
}

/// Whether the run has figures of this suite's own tables; instruction counts have [a table](super::instructions) of theirs.
#[must_use]
pub fn is_in(run: &RunFile) -> bool {
    of_suite(run).any(|m| m.metric != "instructions")
}

/// All tables of the suite.
#[must_use]
pub fn tables(run: &RunFile) -> Vec<Table> {
    let mut tables: Vec<_> = MODELS.iter().map(|(model, title)| timed(run, model, title)).collect();
    tables.push(sizes(run));
    tables.extend(scale(run));
    tables
}

/// The suite's block of a Markdown file.
#[must_use]
pub fn markdown(run: &RunFile) -> String {
    let tables: Vec<_> = tables(run).iter().map(Table::markdown).collect();
    format!("{}\n\n{}", provenance(run), tables.join("\n"))
}

pub(super) fn timed(run: &RunFile, model: &str, title: &str) -> Table {
    let compares = model != "open";
    let mut head = vec!["codec", "chained ns", "90 % interval", "stream ns"];
    if compares {
        head.extend(["chained, against zap", "verdict", "stream, against zap"]);
    }
    head.extend(["allocations", "bytes allocated"]);
    let protocols = protocols(run, model);
    let groups = GROUPS.iter().map(|(classes, title)| {
        let rows = protocols.iter().filter(|row| classes.contains(&row.class));
        Group { title, rows: rows.map(|row| timed_row(run, model, row, compares)).collect() }
    });
    let mut notes = vec![
        "Sorted by the estimate: neighbours are tested against zap, not against each other. Code layout alone moves a row by \
         3 to 10 %, so a smaller difference is one of this build."
            .to_owned(),
    ];
    if !compares {
        notes.push("No ratios here: what is promised after opening differs from format to format.".to_owned());
    }
    notes.extend(windows(run, model));
    notes.extend(unmeasured(run, model));
    Table { title: title.to_owned(), head, groups: groups.collect(), notes }
}

/// A protocol of a table, and what it is sorted by.
pub(super) struct Row {
    pub(super) protocol: String,
    pub(super) class: Class,
    time: f64,
}

/// The protocols that have the model, the fastest first, those without a time last.
pub(super) fn protocols(run: &RunFile, model: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = of_suite(run)
        .filter(|m| m.metric == "time" && is_model(m, model) && m.row.as_deref() == Some("chained"))
        .filter(|m| m.workload.is_none() && m.status != Status::Unsupported)
        .map(|m| Row {
            protocol: m.protocol.clone(),
            class: m.class.unwrap_or(Class::Context),
            time: m.number().unwrap_or(f64::INFINITY),
        })
        .collect();
    rows.sort_by(|a, b| a.time.total_cmp(&b.time).then_with(|| a.protocol.cmp(&b.protocol)));
    rows
}

fn timed_row(run: &RunFile, model: &str, row: &Row, compares: bool) -> Vec<String> {
    let time = |pace| find(run, &row.protocol, Some(model), Some(pace), "time");
    let count = |metric| find(run, &row.protocol, Some(model), None, metric);
    let chained = time("chained");
    let interval = chained.and_then(|m| m.interval);
    let mut cells = vec![
        row.protocol.clone(),
        cell(chained, run),
        interval.map_or_else(|| "-".to_owned(), |[low, high]| format!("{} to {}", figure(low), figure(high))),
        cell(time("stream"), run),
    ];
    if compares {
        let verdict = chained.and_then(|m| m.verdict.as_ref());
        cells.extend([verdict.map_or_else(String::new, ratio), verdict.map_or_else(String::new, words)]);
        let stream = time("stream").and_then(|m| m.verdict.as_ref());
        cells.push(stream.map_or_else(String::new, |verdict| format!("{:.2}x, {}", verdict.ratio, words(verdict))));
    }
    cells.extend([count_cell(count("allocations")), count_cell(count("allocated-bytes"))]);
    cells
}

/// A ratio that names its direction.
pub(super) fn ratio(verdict: &VerdictRecord) -> String {
    let [low, high] = verdict.interval;
    let against = &verdict.against;
    if verdict.ratio >= 1.0 {
        format!("{:.2}x the time of {against} ({low:.2} to {high:.2})", verdict.ratio)
    } else {
        let less = |ratio: f64| 100.0 * (1.0 - ratio);
        format!("{:.0} % less time than {against} ({:.0} to {:.0} %)", less(verdict.ratio), less(high), less(low))
    }
}

pub(super) fn words(verdict: &VerdictRecord) -> String {
    match (verdict.verdict, verdict.would_see) {
        (Judgement::Faster, _) => "faster".to_owned(),
        (Judgement::Slower, _) => "slower".to_owned(),
        (Judgement::SameWithin3, _) => "same within 3 %".to_owned(),
        (Judgement::Unresolved, Some(share)) => format!("unresolved (would see {:.0} %)", (100.0 * share).ceil()),
        (Judgement::Unresolved, None) => "unresolved".to_owned(),
    }
}

/// A time, or the word for its absence; marked where it was forced on an unfit machine.
fn cell(measurement: Option<&Measurement>, run: &RunFile) -> String {
    let unfit = if run.conditions.fit { "" } else { " (unfit)" };
    match measurement {
        Some(m) if m.status == Status::Ok => m.number().map_or_else(|| "-".to_owned(), |n| figure(n) + unfit),
        Some(m) => m.status.word().to_owned(),
        None => "-".to_owned(),
    }
}

fn count_cell(measurement: Option<&Measurement>) -> String {
    match measurement {
        Some(m) if m.status == Status::Ok => m.number().map_or_else(|| "-".to_owned(), count),
        Some(m) => m.status.word().to_owned(),
        None => "-".to_owned(),
    }
}

/// A count per operation: whole where it is whole, else with what a window of 100,000 resolves.
pub(super) fn count(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { format!("{value:.5}").trim_end_matches('0').to_owned() }
}

/// Over how many messages the allocations were counted.
pub(super) fn windows(run: &RunFile, model: &str) -> Option<String> {
    let mut windows: Vec<u64> =
        of_suite(run).filter(|m| m.metric == "allocations" && is_model(m, model)).filter_map(|m| m.window).collect();
    windows.sort_unstable();
    windows.dedup();
    let words: Vec<_> = windows.iter().map(u64::to_string).collect();
    (!words.is_empty())
        .then(|| format!("Allocations and bytes: per message, counted over {} messages.", words.join(" or ")))
}

/// One sentence for each reason for which a time is missing.
fn unmeasured(run: &RunFile, model: &str) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for m in of_suite(run).filter(|m| m.metric == "time" && is_model(m, model) && m.status != Status::Ok) {
        let reason = m.why();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, protocols)) if protocols.contains(&m.protocol.as_str()) => {}
            Some((_, protocols)) => protocols.push(&m.protocol),
            None => reasons.push((reason, vec![&m.protocol])),
        }
    }
    let sentence = |(reason, protocols): &(String, Vec<&str>)| format!("{} {reason}.", protocols.join(", "));
    reasons.iter().map(sentence).collect()
}

pub(super) fn sizes(run: &RunFile) -> Table {
    let mut rows: Vec<&Measurement> = of_suite(run).filter(|m| m.metric == "wire-bytes").collect();
    rows.sort_by_key(|m| (m.number().map_or(u64::MAX, f64::to_bits), &m.protocol));
    let number = |number: Option<Number>| number.map_or_else(|| "-".to_owned(), |n| count(n.as_f64()));
    let groups = GROUPS.iter().map(|(classes, title)| Group {
        title,
        rows: rows
            .iter()
            .filter(|m| m.class.is_some_and(|class| classes.contains(&class)))
            .map(|m| vec![m.protocol.clone(), count_cell(Some(m)), number(m.min), number(m.max)])
            .collect(),
    });
    Table {
        title: "Encoded bytes".to_owned(),
        head: vec!["codec", "canonical vote", "least over the corpus", "most over the corpus"],
        groups: groups.collect(),
        notes: vec![
            "The vote's payload has 145 bytes. Prefix or header of the row's protocol are included.".to_owned(),
        ],
    }
}

/// What a vote costs besides its codec, and what a corpus that does not fit in a cache changes.
fn scale(run: &RunFile) -> Vec<Table> {
    let others: Vec<&Measurement> = of_suite(run)
        .filter(|m| m.metric == "time" && (m.model.as_deref() == Some("verify") || m.workload.is_some()))
        .collect();
    if others.is_empty() {
        return Vec::new();
    }
    let words = |m: &Measurement| {
        let parts = [m.model.as_deref(), m.row.as_deref(), m.workload.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    let interval = |m: &Measurement| {
        m.interval.map_or_else(|| "-".to_owned(), |[low, high]| format!("{} to {}", figure(low), figure(high)))
    };
    let rows = others.iter().map(|m| vec![m.protocol.clone(), words(m), cell(Some(m), run), interval(m)]);
    vec![Table {
        title: "For scale".to_owned(),
        head: vec!["what", "which", "ns", "90 % interval"],
        groups: vec![Group { title: "", rows: rows.collect() }],
        notes: Vec::new(),
    }]
}

pub(super) fn of_suite(run: &RunFile) -> impl Iterator<Item = &Measurement> {
    run.measurements.iter().filter(|m| m.suite == SUITE)
}

pub(super) fn is_model(measurement: &Measurement, model: &str) -> bool {
    measurement.model.as_deref() == Some(model)
}

pub(super) fn find<'a>(
    run: &'a RunFile,
    protocol: &str,
    model: Option<&str>,
    row: Option<&str>,
    metric: &str,
) -> Option<&'a Measurement> {
    of_suite(run).find(|m| {
        m.protocol == protocol
            && m.metric == metric
            && m.model.as_deref() == model
            && m.row.as_deref() == row
            && m.workload.is_none()
    })
}
