//! The HTTP study's tables, from a run that is written down here: what was not measured never looks like a figure, and what the
//! paper's sentence about the smallest request is told follows from the figures.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::path::Path;

use votebench::report::{http, table::Table, terminal};
use votebench::result::read;
use votebench::result::record::{Better, Class, Kind, Measurement, RunFile, Status};

const ARMS: [&str; 5] = ["hyper", "pooled-http", "zap-http", "native-zap", "floor"];

fn begin(arm: &str, metric: &str) -> Measurement {
    let class = if arm == "floor" { Class::Floor } else { Class::Row };
    let measurement = Measurement::new("http", arm).class(class).workload("tiny");
    measurement.metric(metric, "1", Kind::TimedCount, Better::Lower)
}

/// A run of one workload in which each arm's request has the bytes given.
fn run(bytes: [u64; 5]) -> RunFile {
    let mut run = read::parse(include_str!("../schemas/results.v1.example.json"), Path::new("example")).unwrap();
    run.measurements.clear();
    for (arm, bytes) in ARMS.into_iter().zip(bytes) {
        let mut wire = begin(arm, "request-wire-bytes").value(bytes);
        if arm == "pooled-http" {
            wire = wire.setting("published", 243).setting("published_remark", "Go adds a field");
        }
        run.measurements.push(wire);
        for side in ["client", "server"] {
            run.measurements.push(begin(arm, "allocations").side(side).value(2.0).window(5_000));
        }
        run.measurements.push(begin(arm, "allocations").value(4.0).window(5_000));
        let time = begin(arm, "time").row("concurrent").wait("block");
        run.measurements.push(match arm {
            "floor" => time.without(Status::Failed, "the server ended"),
            _ => time.without(Status::NotMeasured, "the machine was not fit"),
        });
    }
    run
}

fn table(run: &RunFile, title: &str) -> Table {
    http::tables(run).into_iter().find(|table| table.title.starts_with(title)).unwrap()
}

#[test]
fn what_was_not_measured_says_so_with_its_reason() {
    let run = run([211, 211, 272, 212, 212]);
    let rates = table(&run, "Requests a second, concurrent");
    let row = rates.groups[0].rows[0].join(" | ");
    assert_eq!(row, "tiny | not measured | not measured | not measured | not measured | failed");
    let notes = rates.notes.join("\n");
    assert!(
        notes.contains("hyper, pooled-http, zap-http, native-zap not measured: the machine was not fit."),
        "{notes}"
    );
    assert!(notes.contains("floor failed: the server ended."), "{notes}");
    assert!(terminal::run(&run).contains("the machine was not fit"));
}

#[test]
fn both_sides_stand_together_and_apart() {
    let run = run([211, 211, 272, 212, 212]);
    let allocations = table(&run, "Allocations");
    assert_eq!(allocations.groups[0].rows[0][1], "4 (2 + 2)");
    assert!(allocations.notes[0].contains("counted over 5000 requests"), "{:?}", allocations.notes);
}

#[test]
fn the_papers_sentence_is_told_what_the_figures_say() {
    let notes = |bytes| table(&run(bytes), "Wire bytes").notes.join("\n");
    let larger = notes([211, 211, 272, 212, 212]);
    assert!(larger.contains("tiny, published as 243: Go adds a field."), "{larger}");
    assert!(larger.contains("like for like it is 212 against 211, and no native message is smaller"), "{larger}");
    let smaller = notes([211, 211, 272, 210, 210]);
    assert!(smaller.contains("like for like it is 210 against 211, and the native message is smaller"), "{smaller}");
}

#[test]
fn beside_nginx_stands_how_busy_each_server_was() {
    let mut run = run([211, 211, 272, 212, 212]);
    run.conditions.fit = true;
    for (server, cpu_ns, bytes) in [("nginx", 8_000.0, 310_u64), ("pooled-http", 4_000.0, 268)] {
        let begin = |metric: &str| begin(server, metric).row("wrk").wait("block");
        run.measurements.push(begin("time").value(8_000.0));
        run.measurements.push(begin("cpu-time").side("server").value(cpu_ns));
        run.measurements.push(begin("response-wire-bytes").value(bytes));
    }
    let beside = table(&run, "Requests a second of pooled-http and of nginx");
    assert_eq!(beside.groups[0].rows[0][..5], ["tiny", "125,000", "100 %", "125,000", "50 %"]);
    let notes = beside.notes.join("\n");
    assert!(notes.contains("Bytes of a response of nginx and of pooled-http: 310 and 268 at tiny."), "{notes}");
}
