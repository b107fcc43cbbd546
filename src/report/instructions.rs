//! The table of instructions per message: codecs down, models across, at the larger batch size; below it the rows whose two
//! batch sizes disagree, and what was taken off for the loop. Every figure comes out of the run.

use super::serialization::{GROUPS, origin};
use super::table::{Group, Table, figure};
use crate::result::RunFile;
use crate::result::record::{Class, Measurement, Status};

/// The metric's name in results.
pub(super) const METRIC: &str = "instructions";

/// The models, in the order of the columns.
pub(super) const MODELS: [&str; 4] = ["encode", "read", "own", "open"];

/// The protocol under which the loop itself stands.
pub(super) const LOOP: &str = "loop";

/// The workload that the table shows.
pub(super) const MANY: &str = "batch-1024";

/// The workload that it is held against.
const ONE: &str = "batch-1";

/// Whether the run has instruction counts, measured or not.
#[must_use]
pub fn is_in(run: &RunFile) -> bool {
    run.measurements.iter().any(|m| m.metric == METRIC)
}

/// Which run, build and machine the counts are from.
#[must_use]
pub fn provenance(run: &RunFile) -> String {
    let tool = run.settings.get("valgrind").and_then(|tool| tool.as_str()).unwrap_or("valgrind");
    let incomplete = if run.run.complete { "" } else { " INCOMPLETE: the run was stopped or broke off." };
    format!("{}; counted by callgrind of {tool}, which no load disturbs.{incomplete}", origin(run))
}

/// The table.
#[must_use]
pub fn table(run: &RunFile) -> Table {
    let protocols = protocols(run);
    let groups = GROUPS.iter().map(|(classes, title)| {
        let rows = protocols.iter().filter(|(_, class)| classes.contains(class));
        Group { title, rows: rows.map(|(protocol, _)| cells(run, protocol)).collect() }
    });
    let mut notes = vec![
        "Per message of a batch of 1,024 canonical votes, back to back, the loop taken off; kernel excluded. The C library \
         picks its copying routines for the processor that valgrind shows it."
            .to_owned(),
    ];
    notes.extend(of_loop(run));
    notes.extend(disagreements(run));
    notes.extend(unmeasured(run));
    let mut head = vec!["codec"];
    head.extend(MODELS);
    Table { title: "Instructions per message".to_owned(), head, groups: groups.collect(), notes }
}

/// The suite's block of a Markdown file.
#[must_use]
pub fn markdown(run: &RunFile) -> String {
    format!("{}\n\n{}", provenance(run), table(run).markdown())
}

/// The codecs, the cheapest to read first, those without a count last.
pub(super) fn protocols(run: &RunFile) -> Vec<(&str, Class)> {
    let mut found: Vec<(&str, Class)> = Vec::new();
    for m in run.measurements.iter().filter(|m| m.metric == METRIC && m.protocol != LOOP) {
        if !found.iter().any(|(protocol, _)| *protocol == m.protocol) {
            found.push((&m.protocol, m.class.unwrap_or(Class::Context)));
        }
    }
    let reading = |protocol| find(run, protocol, "read", MANY).and_then(Measurement::number).unwrap_or(f64::INFINITY);
    found.sort_by(|(a, _), (b, _)| reading(a).total_cmp(&reading(b)).then_with(|| a.cmp(b)));
    found
}

fn cells(run: &RunFile, protocol: &str) -> Vec<String> {
    let counts = MODELS.iter().map(|model| match find(run, protocol, model, MANY) {
        Some(m) if m.status == Status::Ok => m.number().map_or_else(|| "-".to_owned(), count),
        Some(m) => m.status.word().to_owned(),
        None => "-".to_owned(),
    });
    [protocol.to_owned()].into_iter().chain(counts).collect()
}

/// A count with one decimal where it is not whole to that digit; the file has all of them.
pub(super) fn count(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    match rounded {
        small if small.abs() >= 100.0 => figure(small),
        small if small.fract() == 0.0 => format!("{small:.0}"),
        small => format!("{small:.1}"),
    }
}

fn of_loop(run: &RunFile) -> Option<String> {
    let counts = MODELS.iter().filter_map(|model| {
        let number = find(run, LOOP, model, MANY)?.number()?;
        Some(format!("{model} {}", count(number)))
    });
    let counts: Vec<_> = counts.collect();
    if counts.is_empty() {
        return None;
    }
    Some(format!(
        "Taken off for the loop and its call: {} (own has the loop of read); a row that does less than the empty call comes out \
         below zero.",
        counts.join(", ")
    ))
}

/// The rows whose batch sizes the run itself says to disagree, with both figures.
fn disagreements(run: &RunFile) -> Option<String> {
    let mut rows = Vec::new();
    for (protocol, _) in protocols(run) {
        for model in MODELS {
            let Some(many) = find(run, protocol, model, MANY).filter(|m| m.status == Status::Ok && m.reason.is_some())
            else {
                continue;
            };
            let one = find(run, protocol, model, ONE).and_then(Measurement::number);
            if let (Some(many), Some(one)) = (many.number(), one) {
                rows.push(format!("{protocol} {model} {} and {}", count(one), count(many)));
            }
        }
    }
    (!rows.is_empty()).then(|| {
        format!(
            "More than one instruction apart at batch 1 and batch 1,024 (paid once a batch, or not by every message alike): {}.",
            rows.join("; ")
        )
    })
}

/// One sentence for each reason for which a count is missing.
fn unmeasured(run: &RunFile) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for m in run.measurements.iter().filter(|m| m.metric == METRIC && m.protocol != LOOP && m.status != Status::Ok) {
        let reason = m.why();
        let row = format!("{} {}", m.protocol, m.model.as_deref().unwrap_or("-"));
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rows)) if rows.contains(&row) => {}
            Some((_, rows)) => rows.push(row),
            None => reasons.push((reason, vec![row])),
        }
    }
    reasons.iter().map(|(reason, rows)| format!("{} {reason}.", rows.join(", "))).collect()
}

pub(super) fn find<'a>(run: &'a RunFile, protocol: &str, model: &str, workload: &str) -> Option<&'a Measurement> {
    run.measurements.iter().find(|m| {
        m.metric == METRIC
            && m.protocol == protocol
            && m.model.as_deref() == Some(model)
            && m.workload.as_deref() == Some(workload)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::report::terminal;
    use crate::result::read;
    use crate::result::record::{Better, Kind};

    fn counted(protocol: &str, class: Class, model: &str, workload: &str) -> Measurement {
        Measurement::new("serialization", protocol).class(class).model(model).workload(workload).metric(
            METRIC,
            "1/op",
            Kind::Exact,
            Better::Lower,
        )
    }

    fn run() -> RunFile {
        let example = include_str!("../../schemas/results.v1.example.json");
        let mut run = read::parse(example, Path::new("example")).unwrap();
        let (row, floor) = (Class::Row, Class::Floor);
        let mut parted = counted("json", row, "read", MANY).value(1_500.04);
        parted.reason = Some("the batch sizes disagree".to_owned());
        run.measurements = vec![
            parted,
            counted("json", row, "read", ONE).value(1_510.0),
            counted("json", row, "open", MANY).without(Status::Unsupported, "no view of its own"),
            counted("zap", row, "read", MANY).value(50.25),
            counted("zap", row, "read", ONE).value(50.0),
            counted("copy-161", floor, "read", MANY).value(20.0),
            counted(LOOP, floor, "read", MANY).value(9.01),
        ];
        run
    }

    #[test]
    fn the_table_by_hand() {
        let table = table(&run());
        let rows: Vec<Vec<String>> =
            table.filled().flat_map(|group| group.rows.iter().map(|cells| cells[..].to_vec())).collect();
        assert_eq!(
            rows,
            [
                ["zap", "-", "50.3", "-", "-"],
                ["json", "-", "1,500", "-", "unsupported"],
                ["copy-161", "-", "20", "-", "-"],
            ]
        );
    }

    #[test]
    fn what_disagrees_and_what_is_missing_is_said() {
        let (terminal, markdown) = (terminal::run(&run()), markdown(&run()));
        for text in [terminal, markdown] {
            assert!(text.contains("json read 1,510 and 1,500.") && !text.contains("zap read"), "{text}");
            assert!(text.contains("json open unsupported: no view of its own."), "{text}");
            assert!(text.contains("Taken off for the loop and its call: read 9 "), "{text}");
            assert!(!text.to_lowercase().contains("rounds") && !text.contains("Encoded bytes"), "{text}");
        }
    }
}
