//! The serialization suite's tables, from a run that is written down here: their order, their words, and that what was
//! not measured never looks like a figure.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::path::Path;

use votebench::report::{serialization, table::Table, terminal};
use votebench::result::read;
use votebench::result::record::{Better, Class, Kind, Measurement, RunFile, Status, VerdictRecord};
use votebench::stats::{self, Paired, Rule};

/// Rounds of five processes around `ns`, a little apart.
fn rounds(ns: f64) -> Vec<Vec<f64>> {
    (0..5).map(|process| (0..5).map(|round| ns * (1.0 + 0.001 * f64::from(process + round))).collect()).collect()
}

fn time(protocol: &str, class: Class, row: &str) -> Measurement {
    Measurement::new("serialization", protocol).model("encode").row(row).class(class).metric(
        "time",
        "ns/op",
        Kind::Rate,
        Better::Lower,
    )
}

fn run() -> RunFile {
    let example = include_str!("../schemas/results.v1.example.json");
    let mut run = read::parse(example, Path::new("example")).unwrap();
    run.measurements.clear();
    let rule = Rule::default();
    let zap = rounds(4.0);
    let codecs = [
        ("json", Class::Row, 80.0),
        ("zap", Class::Row, 4.0),
        ("capnp", Class::Row, 3.0),
        ("protobuf", Class::Row, 4.01),
        ("copy-161", Class::Floor, 2.0),
        ("bincode", Class::Context, 9.0),
    ];
    for (protocol, class, ns) in codecs {
        let times = rounds(ns);
        let estimate = stats::estimate(&rule, &times, &[]).unwrap();
        let family = stats::paired(&rule, &[Paired { row: &times, reference: &zap }], &[]).unwrap();
        let mut chained = time(protocol, class, "chained").estimate(&estimate).rounds(times);
        if protocol != "zap" {
            chained = chained.verdict(VerdictRecord::new("zap", &family[0]));
        }
        run.measurements.push(chained);
        run.measurements.push(time(protocol, class, "stream").without(Status::NotMeasured, "the machine was not fit"));
    }
    run.measurements.push(time("grpc", Class::Row, "chained").without(Status::Failed, "the worker ended early"));
    run
}

fn encode(run: &RunFile) -> Table {
    serialization::tables(run).into_iter().find(|table| table.title.starts_with("Encode")).unwrap()
}

/// The row of `protocol`, its cells joined.
fn row(table: &Table, protocol: &str) -> String {
    let mut rows = table.groups.iter().flat_map(|group| &group.rows);
    rows.find(|cells| cells[0] == protocol).unwrap().join(" | ")
}

#[test]
fn the_fastest_stands_first_and_yardsticks_apart() {
    let table = encode(&run());
    let names: Vec<Vec<&str>> =
        table.filled().map(|group| group.rows.iter().map(|cells| cells[0].as_str()).collect()).collect();
    assert_eq!(names, [vec!["capnp", "zap", "protobuf", "json", "grpc"], vec!["copy-161"], vec!["bincode"]]);
}

#[test]
fn a_ratio_names_its_direction() {
    let table = encode(&run());
    let json = row(&table, "json");
    assert!(json.contains("20.00x the time of zap") && json.ends_with("slower |  | - | -"), "{json}");
    let capnp = row(&table, "capnp");
    assert!(capnp.contains("25 % less time than zap") && capnp.contains("faster"), "{capnp}");
    let protobuf = row(&table, "protobuf");
    assert!(protobuf.contains("same within 3 %"), "{protobuf}");
}

#[test]
fn what_was_not_measured_says_so_with_its_reason() {
    let run = run();
    let table = encode(&run);
    let grpc = row(&table, "grpc");
    assert!(grpc.starts_with("grpc | failed") && !grpc.contains('0'), "{grpc}");
    assert!(row(&table, "zap").contains("not measured"));
    for notes in [table.notes.join("\n"), terminal::run(&run), serialization::markdown(&run)] {
        assert!(notes.contains("the machine was not fit"), "{notes}");
        assert!(notes.contains("the worker ended early"), "{notes}");
    }
}

#[test]
fn rates_of_an_unfit_machine_are_marked() {
    let mut run = run();
    assert!(!terminal::run(&run).contains("unfit"));
    run.conditions.fit = false;
    run.conditions.reasons = vec!["other programs used 40 % of the processors".to_owned()];
    let text = terminal::run(&run);
    assert!(
        text.contains("UNFIT (other programs used 40 % of the processors)") && text.contains("4.02 (unfit)"),
        "{text}"
    );
}

#[test]
fn a_run_that_was_stopped_is_said_to_be_incomplete() {
    let mut run = run();
    run.run.complete = false;
    assert!(serialization::provenance(&run).contains("INCOMPLETE"));
}
