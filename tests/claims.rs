//! What the papers claim, judged on runs that a test makes: that the mapping covers every figure, and that true, false and
//! unresolved claims are told apart.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::path::Path;

use votebench::claims;
use votebench::claims::answer::{Name, Reference, Saying};
use votebench::claims::mapping::{COLUMNS, CONTRADICTED, SAYINGS, TABLES};
use votebench::claims::record::{Cell, Line, Paper, Report, Verdict};
use votebench::claims::source::{self, Claims};
use votebench::measure::arm::Arms;
use votebench::result::read;
use votebench::result::record::{Better, Kind, Measurement, Number, Processes, RunFile, Status};

const VOTES: &str = include_str!("../results/claims/lux-zap-benchmarks.json");

/// Every figure and every claim of a file that has neither an answer nor a reason in the mapping.
fn uncovered(claims: &Claims) -> Vec<String> {
    let mut all = Vec::new();
    for table in &claims.tables {
        if TABLES.iter().all(|known| known.name != table.name) {
            all.push(table.name.clone());
        }
        for cell in &table.cells {
            let entry = COLUMNS.iter().find(|entry| (entry.table, entry.column) == (&*table.name, &*cell.column));
            let covered = entry.is_some_and(|entry| {
                !entry.reason.is_empty()
                    || entry.answers.iter().any(|answer| known(answer.suite, answer.protocol(&cell.row)))
            });
            if !covered {
                all.push(format!("{} {} {}", table.name, cell.row, cell.column));
            }
        }
    }
    let is_known = |saying: &source::Saying| SAYINGS.iter().any(|(of, _)| *of == saying.of);
    all.extend(claims.sayings.iter().filter(|saying| !is_known(saying)).map(|saying| saying.of.clone()));
    all
}

/// Whether that suite measures somebody of that name.
fn known(suite: &str, protocol: Option<&str>) -> bool {
    protocol.is_some_and(|protocol| match suite {
        "serialization" => votebench::codec::by_name(protocol).is_some(),
        "latency" | "sustained" => votebench::protocol::by_name(protocol).is_ok(),
        "http" => votebench::http::Study.infos().iter().any(|arm| arm.name == protocol),
        _ => false,
    })
}

#[test]
fn the_mapping_covers_every_figure_and_every_claim() {
    for claims in source::built_in().unwrap() {
        assert_eq!(uncovered(&claims), Vec::<String>::new(), "{}: mend src/claims/mapping.rs", claims.file);
    }
    // And the check sees what is not covered: a row, a column and a claim that nobody has thought of.
    let changed = VOTES
        .replacen("\"protocol\": \"capnp\"", "\"protocol\": \"bebop\"", 1)
        .replacen("\"p95\": 14.2", "\"p90\": 14.2", 1)
        .replacen("round_trip p50 grpc / zap", "round_trip p50 zap / grpc", 1);
    let claims = source::parse(&changed, Path::new("changed.json")).unwrap();
    let missing = uncovered(&claims);
    assert!(missing.contains(&"encode bebop encode_ns".to_owned()), "{missing:?}");
    assert!(missing.contains(&"round_trip zap p90".to_owned()), "{missing:?}");
    assert!(missing.contains(&"round_trip p50 zap / grpc".to_owned()), "{missing:?}");
}

#[test]
fn the_mapping_has_nothing_that_no_paper_has() {
    let all = source::built_in().unwrap();
    let table = |name: &str| all.iter().flat_map(|claims| &claims.tables).find(|table| table.name == name);
    for entry in COLUMNS {
        let claimed = table(entry.table).unwrap();
        let cell = claimed.cells.iter().find(|cell| cell.column == entry.column);
        let cell = cell.unwrap_or_else(|| panic!("{} has no {}", entry.table, entry.column));
        if let Some(unit) = &cell.unit {
            assert_eq!(unit, entry.unit, "{} {}", entry.table, entry.column);
        }
        for answer in entry.answers {
            if let Name::Only(rows) = answer.name {
                for (row, _) in rows {
                    assert!(claimed.value(row, entry.column).is_some(), "{} has no row {row}", entry.table);
                }
            }
        }
    }
    for known in TABLES {
        let claimed = table(known.name).unwrap();
        match known.against {
            None => {}
            Some(Reference::Row(row)) => assert!(claimed.cells.iter().any(|cell| cell.row == row)),
            Some(Reference::Column(column)) => assert!(claimed.columns().contains(&column)),
        }
    }
    for (of, saying) in SAYINGS {
        assert!(all.iter().flat_map(|claims| &claims.sayings).any(|saying| saying.of == *of), "no paper says {of}");
        if let Saying::Ratio { table: name, column, row, against } = saying {
            let claimed = table(name).unwrap();
            assert!(claimed.value(row, column).is_some() && claimed.value(against, column).is_some(), "{of}");
        }
    }
    for (name, column, row, number) in CONTRADICTED {
        let claims = all.iter().find(|claims| claims.tables.iter().any(|table| table.name == *name)).unwrap();
        assert!((1..=claims.contradictions.len()).contains(number), "{name} {column} {number}");
        let cells = &table(name).unwrap().cells;
        assert!(
            cells.iter().any(|cell| cell.column == *column && row.is_none_or(|row| row == cell.row)),
            "{name} {column}"
        );
    }
}

#[test]
fn the_http_studys_inputs_are_the_papers() {
    let all = source::built_in().unwrap();
    let inputs = &all[1].tables[0];
    for workload in votebench::http::workload::all() {
        let own = (workload.body.len() as f64, workload.headers.len() as f64);
        let value = |column| inputs.value(workload.name, column).unwrap();
        assert_eq!((value("body"), value("headers")), own, "{}", workload.name);
    }
}

/// A run of these figures on a fit machine.
fn run(measurements: Vec<Measurement>) -> RunFile {
    let mut run = read::parse(include_str!("../schemas/results.v1.example.json"), Path::new("example")).unwrap();
    run.run.id = "20260101T000000Z-111111111111".to_owned();
    run.measurements = measurements;
    run
}

/// 15 processes of 5 rounds around `centre`, up to `spread` apart, in an order that no two rows share.
fn rounds(centre: f64, spread: f64, seed: u32) -> Vec<Vec<f64>> {
    let time = |process: u32, round: u32| {
        centre * (1.0 + spread * f64::from((process * (31 + 6 * seed) + round * 11) % 23) / 23.0)
    };
    (0..15).map(|process| (0..5).map(|round| time(process, round)).collect()).collect()
}

fn codec_time(protocol: &str, model: &str, row: &str, rounds: Vec<Vec<f64>>) -> Measurement {
    let begun = Measurement::new("serialization", protocol).model(model).row(row);
    begun.metric("time", "ns/op", Kind::Rate, Better::Lower).value(rounds[0][0]).rounds(rounds)
}

fn wire(protocol: &str, bytes: u64) -> Measurement {
    Measurement::new("serialization", protocol).metric("wire-bytes", "B", Kind::Exact, Better::Lower).value(bytes)
}

/// Encoding times against zap's: flatbuffers as claimed, capnp twice as slow as claimed, grpc faster than zap, json-rpc too noisy.
fn encode() -> Vec<Measurement> {
    vec![
        codec_time("zap", "encode", "stream", rounds(10.0, 0.01, 1)),
        codec_time("flatbuffers", "encode", "stream", rounds(11.0, 0.01, 2)),
        codec_time("capnp", "encode", "stream", rounds(27.0, 0.01, 3)),
        codec_time("grpc", "encode", "stream", rounds(5.0, 0.01, 4)),
        // From half of zap's time to twice as much, process by process.
        codec_time(
            "json-rpc",
            "encode",
            "stream",
            (0..15).map(|process| vec![10.0 * (f64::from(process - 7) / 10.0).exp(); 5]).collect(),
        ),
    ]
}

fn judged(runs: Vec<RunFile>) -> Report {
    claims::judge(&source::built_in().unwrap(), runs)
}

fn cell<'r>(report: &'r Report, table: &str, row: &str, column: &str) -> &'r Cell {
    let tables = report.papers.iter().flat_map(|paper| &paper.tables);
    let table = tables.into_iter().find(|one| one.name == table).unwrap();
    table.cells.iter().find(|cell| cell.row == row && cell.column == column).unwrap()
}

fn line<'r>(report: &'r Report, table: &str, row: &str, column: &str, reading: &str) -> &'r Line {
    cell(report, table, row, column).lines.iter().find(|line| line.reading == reading).unwrap()
}

fn said<'p>(paper: &'p Paper, claim: &str) -> &'p [Line] {
    &paper.claims.iter().find(|one| one.claim.contains(claim)).unwrap().lines
}

#[test]
fn true_false_and_unresolved_ratios_are_told_apart() {
    let report = judged(vec![run(encode())]);
    let of = |row: &str| {
        let line = line(&report, "encode", row, "encode_ns", "stream");
        let against = line.against.as_ref().unwrap();
        assert_eq!((line.verdict, against.name.as_str()), (Verdict::Shown, "zap"));
        (against.order, against.factor, against.ratio)
    };
    let (order, factor, ratio) = of("flatbuffers");
    assert_eq!((order, factor), (Verdict::Reproduced, Verdict::Reproduced));
    assert!((ratio.unwrap() - 1.1).abs() < 0.01);
    assert_eq!(of("capnp").0, Verdict::Reproduced);
    assert_eq!(of("capnp").1, Verdict::OrderOnly);
    assert_eq!((of("grpc").0, of("grpc").1), (Verdict::Contradicted, Verdict::Contradicted));
    assert_eq!((of("json-rpc").0, of("json-rpc").1), (Verdict::Unresolved, Verdict::Unresolved));
    // The reference has nothing to be set against; what was not measured says so.
    assert_eq!(line(&report, "encode", "zap", "encode_ns", "stream").against, None);
    let missing = line(&report, "encode", "quic-raw", "encode_ns", "stream");
    assert_eq!((missing.verdict, missing.ours), (Verdict::NotMeasured, None));
    assert_eq!(missing.reason.as_deref(), Some("no run that was given has this figure of the serialization suite"));
    let chained = line(&report, "encode", "zap", "encode_ns", "chained");
    assert_eq!(chained.verdict, Verdict::NotMeasured);
}

#[test]
fn rows_are_held_to_the_order_of_the_papers_figures() {
    let report = judged(vec![run(encode())]);
    let after = |row: &str| line(&report, "encode", row, "encode_ns", "stream").after.clone();
    assert_eq!(after("zap"), None);
    let grpc = after("grpc").unwrap();
    assert_eq!((grpc.name.as_str(), grpc.order), ("capnp", Verdict::Contradicted));
    assert_eq!(
        after("capnp").map(|after| (after.name, after.order)),
        Some(("flatbuffers".to_owned(), Verdict::Reproduced))
    );
    let json = after("json-rpc").unwrap();
    assert_eq!((json.name.as_str(), json.order), ("protobuf-mux", Verdict::Unresolved));
    assert_eq!(json.reason.as_deref(), Some("protobuf-mux was not measured"));
}

#[test]
fn rates_of_an_unfit_machine_or_another_build_judge_nothing() {
    let reason = |change: &dyn Fn(&mut RunFile)| {
        let mut run = run(encode());
        change(&mut run);
        let report = judged(vec![run]);
        let against = line(&report, "encode", "flatbuffers", "encode_ns", "stream").against.clone().unwrap();
        assert_eq!((against.order, against.factor), (Verdict::Unresolved, Verdict::Unresolved));
        against.reason.unwrap()
    };
    assert_eq!(reason(&|run| run.conditions.fit = false), "the machine was unfit");
    assert_eq!(reason(&|run| run.source.profile = "debug".to_owned()), "the run was built without optimisation");
    assert_eq!(
        reason(&|run| run.measurements[1].unfit = Some("half of its pairs were disturbed".to_owned())),
        "flatbuffers is unfit: half of its pairs were disturbed"
    );
    let few = |run: &mut RunFile| {
        for measurement in &mut run.measurements {
            let Some(Processes::Rounds(processes)) = &mut measurement.processes else { panic!() };
            processes.truncate(2);
        }
    };
    assert_eq!(reason(&few), "2 processes are too few for an interval");
}

#[test]
fn disturbed_rounds_are_left_out_and_decide_nothing() {
    // The first round of every process was disturbed: only in it flatbuffers is slower.
    let mut run = run(encode());
    let even: Vec<Vec<f64>> =
        (0..15).map(|process| vec![40.0, 40.0, 40.0, 9.0 + f64::from(process) / 100.0, 9.0]).collect();
    run.measurements[1] = codec_time("flatbuffers", "encode", "stream", even);
    run.conditions.dropped = (0..15).flat_map(|process| [[process, 0], [process, 1], [process, 2]]).collect();
    let report = judged(vec![run]);
    let against = line(&report, "encode", "flatbuffers", "encode_ns", "stream").against.clone().unwrap();
    assert_eq!(
        (against.order, against.reason.as_deref()),
        (Verdict::Unresolved, Some("it hangs on what was disturbed"))
    );
    assert!(against.ratio.unwrap() < 1.0, "what is shown is without the disturbed rounds");
}

#[test]
fn counts_are_the_same_or_contradicted_in_every_reading() {
    let bytes = [("zap", 161), ("grpc", 153), ("protobuf", 148), ("flatbuffers", 176), ("quic-raw", 161)];
    let report = judged(vec![run(bytes.map(|(protocol, bytes)| wire(protocol, bytes)).to_vec())]);
    let of = |row, column, reading| line(&report, "wire_size", row, column, reading).verdict;
    assert_eq!(of("zap", "wire_bytes", "message"), Verdict::Reproduced);
    assert_eq!(of("zap", "overhead_percent", "message"), Verdict::Reproduced);
    assert_eq!(of("grpc", "wire_bytes", "message"), Verdict::Contradicted);
    assert_eq!(of("grpc", "wire_bytes", "without its frame"), Verdict::Reproduced);
    assert_eq!(of("flatbuffers", "wire_bytes", "message"), Verdict::Contradicted);
    // 80 bytes for the same message: the source contradicts itself, and says where.
    let other = cell(&report, "encode", "zap", "bytes_per_msg");
    assert_eq!((other.lines[0].verdict, other.contradiction), (Verdict::Contradicted, Some(1)));
    let quic = line(&report, "wire_size", "quic-raw", "wire_bytes", "message").against.clone().unwrap();
    assert_eq!((quic.order, quic.ratio), (Verdict::Reproduced, Some(1.0)), "as many bytes as zap, as claimed");
}

fn allocations(protocol: &str, allocations: f64) -> Measurement {
    let begun = Measurement::new("serialization", protocol).model("open");
    begun.metric("allocations", "1/op", Kind::Exact, Better::Lower).value(allocations)
}

#[test]
fn that_nothing_is_allocated_is_checked_and_how_often_is_not() {
    let report =
        judged(vec![run(vec![allocations("zap", 0.0), allocations("capnp", 0.001), allocations("grpc", 3.0)])]);
    let of = |row| line(&report, "decode", row, "allocs_per_op", "open").verdict;
    assert_eq!((of("zap"), of("capnp")), (Verdict::Reproduced, Verdict::Contradicted));
    let grpc = line(&report, "decode", "grpc", "allocs_per_op", "open");
    assert_eq!((grpc.verdict, grpc.ours), (Verdict::NotComparable, Some(3.0)));
}

/// A tail of ten processes around `us`.
fn tail(protocol: &str, us: u64) -> Measurement {
    let percentiles = |add: u64| {
        let names = ["p95", "p99", "p99_9"].map(|name| (name.to_owned(), Some(Number::Whole(us * 1_000 + add))));
        names.into_iter().collect::<std::collections::BTreeMap<_, _>>()
    };
    let begun = Measurement::new("latency", protocol).wait("block");
    let mut tail = begun.metric("round-trip", "ns", Kind::Rate, Better::Lower).value(percentiles(0));
    tail.processes = Some(Processes::Percentiles((0..10).map(percentiles).collect()));
    tail
}

#[test]
fn tails_need_ten_processes_and_the_marks_of_disturbed_ones() {
    let p99 = |measurements: Vec<Measurement>| {
        let report = judged(vec![run(measurements)]);
        let against = line(&report, "round_trip", "grpc", "p99", "block").against.clone().unwrap();
        (against.order, against.factor, against.reason)
    };
    let (zap, grpc) = (tail("zap", 20), tail("grpc", 98));
    assert_eq!(p99(vec![zap.clone(), grpc.clone()]), (Verdict::Reproduced, Verdict::Reproduced, None));
    let nine = |mut measurement: Measurement| {
        let Some(Processes::Percentiles(processes)) = &mut measurement.processes else { panic!() };
        processes.pop();
        measurement
    };
    let few = p99(vec![nine(zap.clone()), nine(grpc.clone())]);
    assert_eq!(
        few,
        (Verdict::Unresolved, Verdict::Unresolved, Some("a tail is compared over 10 processes at least".to_owned()))
    );
    // A row that has lost a process has nobody to be paired with.
    let uneven = p99(vec![zap.clone(), nine(grpc.clone())]).2;
    assert_eq!(uneven.as_deref(), Some("the two have not the same processes"));
    let all = |mark: bool, measurement: Measurement| measurement.setting("disturbed", vec![mark; 10]);
    let disturbed = p99(vec![all(true, zap.clone()), all(false, grpc.clone())]);
    assert_eq!(disturbed.2.as_deref(), Some("every process was disturbed"));
    assert_eq!(p99(vec![all(false, zap), all(false, grpc)]).0, Verdict::Reproduced);
}

#[test]
fn the_bound_is_held_against_the_measured_one() {
    let with_interval = |us: u64| {
        let mut zap = tail("zap", us);
        let interval =
            votebench::result::record::RankInterval { low: us as f64 * 990.0, high: us as f64 * 1_010.0, level: 0.97 };
        zap.intervals.insert("p99".to_owned(), interval);
        zap
    };
    let bound = |awake: bool| {
        let begun = Measurement::new("latency", "machine")
            .metric("p99-bound", "ns", Kind::Rate, Better::Lower)
            .value(60_000_u64);
        let begun = begun.setting("tau_syscall_ns", 5_000).setting("tau_sched_ns", 50_000);
        if awake { begun.setting("tau_sched_is", "a wake-up") } else { begun }
    };
    let of = |us, bound| {
        let report = judged(vec![run(vec![with_interval(us), bound])]);
        let against = said(&report.papers[0], "p99 round trip <=")[0].against.clone().unwrap();
        (against.order, against.reason)
    };
    assert_eq!(of(59, bound(true)), (Verdict::Reproduced, None));
    assert_eq!(of(61, bound(true)), (Verdict::Contradicted, None));
    assert_eq!(of(60, bound(true)).0, Verdict::Unresolved);
    let (verdict, reason) = of(61, bound(false));
    assert!(verdict == Verdict::Unresolved && reason.unwrap().contains("hiccup"));
}

#[test]
fn claims_in_words_are_judged_by_their_own_ratio() {
    let report = judged(vec![run(encode())]);
    // The words say 1.07, the table 1.09; the run has 1.1.
    let claim = report.papers[0].claims.iter().find(|claim| claim.claim.starts_with("FlatBuffers")).unwrap();
    assert_eq!(claim.claimed, Some(1.07));
    assert!((claim.table.unwrap() - 26.0 / 23.8).abs() < 1e-12);
    let against = claim.lines[0].against.as_ref().unwrap();
    assert_eq!((against.claimed, against.factor), (Some(1.07), Verdict::Reproduced));
    let json = said(&report.papers[0], "JSON-RPC encodes")[0].against.clone().unwrap();
    assert_eq!((json.claimed, json.order), (Some(17.0), Verdict::Unresolved));
}

#[test]
fn of_two_runs_the_fuller_one_is_taken_then_the_newer_one_and_it_is_said() {
    let (mut full, mut part) = (run(encode()), run(encode()));
    part.run.id = "20260102T000000Z-222222222222".to_owned();
    part.measurements.retain(|m| m.protocol == "zap");
    part.measurements.push(codec_time("quic-raw", "encode", "stream", rounds(12.0, 0.01, 5)));
    let report = judged(vec![part.clone(), full.clone()]);
    let of = |report: &Report, row: &str| line(report, "encode", row, "encode_ns", "stream").clone();
    assert_eq!(of(&report, "zap").run.as_deref(), Some("20260101T000000Z-111111111111"));
    let quic = of(&report, "quic-raw");
    assert_eq!(quic.run.as_deref(), Some("20260102T000000Z-222222222222"), "what the one has not, the other gives");
    assert!(quic.against.unwrap().reason.unwrap().starts_with("the two are of two runs"));
    let notes = |report: &Report| report.papers[0].tables[0].notes.join("\n");
    assert!(
        notes(&report).contains("20260101T000000Z-111111111111 is taken, which has more of them"),
        "{}",
        notes(&report)
    );
    full.measurements.truncate(2);
    let report = judged(vec![part, full]);
    assert_eq!(of(&report, "zap").run.as_deref(), Some("20260102T000000Z-222222222222"));
    assert!(notes(&report).contains("is taken, the newest"), "{}", notes(&report));
}

#[test]
fn load_is_that_of_the_papers_or_it_is_another() {
    let minute = Measurement::new("sustained", "json-rpc").row("batched").wait("poll");
    let minute = minute.metric("response-minute-1", "ns", Kind::Rate, Better::Lower);
    let percentiles =
        [("p99".to_owned(), Some(Number::Whole(5_000_000)))].into_iter().collect::<std::collections::BTreeMap<_, _>>();
    let mut minute = minute.value(percentiles).setting("percentiles_beyond", vec!["p99"]);
    (minute.status, minute.reason) = (Status::Saturated, Some("saturated at 45156 messages/s".to_owned()));
    let of = |rate: f64| {
        let mut run = run(vec![minute.clone()]);
        run.settings.insert("rate".to_owned(), rate.into());
        run.settings.insert("arrivals".to_owned(), "poisson".into());
        let report = judged(vec![run]);
        ["constant", "poisson"].map(|reading| line(&report, "sustained", "json-rpc", "p99_1min", reading).clone())
    };
    let [constant, poisson] = of(50_000.0);
    assert_eq!(constant.reason.as_deref(), Some("no run at 50000/s with constant arrivals was given"));
    assert_eq!((poisson.ours, poisson.beyond, poisson.verdict), (Some(5_000.0), true, Verdict::Shown));
    assert_eq!(poisson.reason.as_deref(), Some("saturated at 45156 messages/s"));
    assert_eq!(of(40_000.0)[1].reason.as_deref(), Some("no run at 50000/s with poisson arrivals was given"));
}
