//! The latency suite's records and tables, from sessions that are written down here: disturbed pairs, a floor that has failed,
//! and what a machine that is not fit does to the figures.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::time::Duration;

use votebench::measure::account::Account;
use votebench::measure::client::{Ready, Window};
use votebench::measure::hiccup;
use votebench::measure::job::Isolation;
use votebench::measure::latency::{Options, Session, Timed};
use votebench::measure::latency_records::measurements;
use votebench::measure::pair::Found;
use votebench::measure::tail::Tail;
use votebench::protocol;
use votebench::report::{latency, terminal};
use votebench::result::record::{Judgement, Kind, Measurement, RunFile, Status};
use votebench::result::{histogram, read};
use votebench::transport::{Traffic, Wait};

const PROCESSES: usize = 10;

fn options() -> Options {
    let names: Vec<String> = ["zap", "grpc", "floor"].map(str::to_owned).to_vec();
    Options {
        protocols: protocol::by_names(&names).unwrap(),
        processes: PROCESSES,
        round_trips: 1_000,
        waits: vec![Wait::Block],
        meter: Duration::ZERO,
        isolation: Isolation::Process,
        keep_awake: false,
        cores: Some((1, 0)),
        connect: None,
        max_message_bytes: 1 << 20,
        deadline: Duration::from_secs(1),
        force: false,
        seed: Some(1),
    }
}

/// A pair whose round trips take `ns`, give or take 2 %.
fn pair(ns: u64, process: usize) -> Timed {
    let samples: Vec<u64> = (0..1_000).map(|n| ns + ns * (n * 7 % 20 + process as u64) / 1_000).collect();
    let mut all = hiccup::histogram();
    samples.iter().for_each(|sample| all.record(*sample).unwrap());
    let traffic =
        Ok(Traffic { sent_bytes: 165_000, received_bytes: 165_000, sent_packets: 1_000, received_packets: 1_000 });
    let account = Account { cpu_ns: ns * 500, resident_bytes: Some(7_000_000), ..Account::default() };
    let ready = Ready { set_up_ns: 5 * ns, set_up_traffic: traffic.clone(), warm_up: 0, warm_up_ns: 1 };
    let window = Window {
        round_trips: 1_000,
        medians_ns: samples.chunks(200).map(|block| block[100]).collect(),
        histogram: histogram::encode(&all).unwrap(),
        tail: Tail::of(&samples),
        account,
        uncounted: None,
        traffic,
    };
    let found = Found { ready, window, server: Some(account), server_uncounted: None, other_allocations: None };
    Timed { found, disturbed: false }
}

/// Ten pairs of zap, gRPC and the floor, all well.
fn session() -> Session {
    let mut session = Session::default();
    for (name, ns) in [("zap", 60_000), ("grpc", 80_000), ("floor", 60_000)] {
        let pairs = (0..PROCESSES).map(|process| Some(pair(ns, process))).collect();
        session.timed.insert((name.to_owned(), Wait::Block), pairs);
    }
    session
}

fn slots<'a>(session: &'a mut Session, name: &str) -> &'a mut Vec<Option<Timed>> {
    session.timed.get_mut(&(name.to_owned(), Wait::Block)).unwrap()
}

/// The run of a session, with what the driver makes of it.
fn run(session: &Session) -> RunFile {
    let example = include_str!("../schemas/results.v1.example.json");
    let mut run = read::parse(example, std::path::Path::new("example")).unwrap();
    run.measurements = measurements(&options(), session, None);
    run
}

fn find<'a>(run: &'a RunFile, name: &str, metric: &str) -> &'a Measurement {
    run.measurements.iter().find(|m| m.protocol == name && m.metric == metric).unwrap()
}

fn said_of_grpc(run: &RunFile) -> (Judgement, Option<Judgement>, Option<Judgement>) {
    let verdict = find(run, "grpc", "round-trip-p50").verdict.as_ref().unwrap();
    (verdict.verdict, verdict.undropped, verdict.undisturbed)
}

#[test]
fn disturbed_pairs_are_kept_marked_and_judged_both_ways() {
    let mut session = session();
    assert_eq!(said_of_grpc(&run(&session)), (Judgement::Slower, None, None));
    // Two of ten are borne with.
    for pair in slots(&mut session, "grpc")[3..5].iter_mut().flatten() {
        pair.disturbed = true;
    }
    let two = run(&session);
    let slower = Judgement::Slower;
    assert_eq!(said_of_grpc(&two), (slower, Some(slower), Some(slower)));
    let trips = find(&two, "grpc", "round-trip");
    let marks: Vec<bool> = serde_json::from_value(trips.settings["disturbed"].clone()).unwrap();
    assert_eq!(marks, [false, false, false, true, true, false, false, false, false, false]);
    assert_eq!((trips.samples, &trips.unfit), (Some(10_000), &None));
    // Nine of ten are not, and what is left cannot say what they said.
    for pair in slots(&mut session, "grpc")[..9].iter_mut().flatten() {
        pair.disturbed = true;
    }
    let nine = run(&session);
    let (verdict, with, without) = said_of_grpc(&nine);
    assert_eq!((verdict, with), (Judgement::Unresolved, Some(slower)));
    assert_ne!(without, Some(slower));
    for metric in ["round-trip", "round-trip-p50", "cpu-time", "set-up-time"] {
        let unfit = |name| find(&nine, name, metric).unfit.clone();
        assert_eq!(unfit("grpc").as_deref(), Some("9 of 10 pairs were disturbed"), "{metric}");
        assert_eq!(unfit("zap"), None, "{metric}");
    }
    let text = terminal::run(&nine);
    assert!(text.contains("unresolved (with the disturbed pairs slower, without them unresolved)"), "{text}");
    assert!(text.contains("grpc unfit: 9 of 10 pairs were disturbed.") && text.contains("(unfit)"), "{text}");
}

#[test]
fn a_floor_that_fails_leaves_no_verdict_and_says_why() {
    let mut session = session();
    slots(&mut session, "floor")[9] = None;
    session.failed.insert(("floor".to_owned(), Wait::Block), "the server ended".to_owned());
    let run = run(&session);
    let zap = find(&run, "zap", "round-trip-p50");
    assert!(zap.status == Status::Ok && zap.verdict.is_none());
    assert_eq!(zap.reason.as_deref(), Some("no verdict, for floor has failed: the server ended"));
    let floor = find(&run, "floor", "round-trip");
    assert_eq!((floor.status, floor.samples), (Status::Failed, Some(9_000)));
    let text = terminal::run(&run);
    assert!(text.contains("zap: no verdict, for floor has failed: the server ended."), "{text}");
    assert!(text.contains("floor failed after 9 pairs, which stand here: the server ended."), "{text}");
}

#[test]
fn a_run_that_was_stopped_is_judged_by_the_pairs_that_both_have() {
    let mut session = session();
    slots(&mut session, "floor")[8..].fill_with(|| None);
    slots(&mut session, "grpc")[9] = None;
    let run = run(&session);
    assert_eq!(said_of_grpc(&run).0, Judgement::Slower);
}

#[test]
fn every_rate_has_its_processes_and_an_unfit_machine_marks_it() {
    let mut run = run(&session());
    for m in run.measurements.iter().filter(|m| m.kind == Kind::Rate && m.status == Status::Ok) {
        assert!(m.processes.is_some() && (m.interval.is_some() || !m.intervals.is_empty()), "{}", m.coordinates());
    }
    assert!(!terminal::run(&run).contains("(unfit)"));
    run.conditions.fit = false;
    for table in latency::tables(&run) {
        let marked =
            table.groups.iter().flat_map(|group| &group.rows).flatten().filter(|cell| cell.contains("(unfit)"));
        let expected = match table.title.as_str() {
            // p99.9 and p99.99 of so few samples are not told.
            title if title.starts_with("Round trip") => 3 * 4,
            title if title.starts_with("What a round trip takes") => 3 * 2,
            "A connection" => 3,
            _ => 0,
        };
        assert_eq!(marked.count(), expected, "{}", table.title);
    }
}
