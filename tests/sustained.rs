//! The sustained suite end to end, under short loads: what it keeps, what it says, and that nothing which was measured is lost
//! when somebody is killed. How fast anything was is not looked at: the machine may be busy.
#![cfg(feature = "net")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use votebench::measure::load::books::Entry;
use votebench::result::histogram::decode;
use votebench::result::read;
use votebench::result::record::{Measurement, RunFile, Status, Value};

/// A short load: intervals of 50 ms, no counting, no search worth its name.
const SHORT: &[&str] = &[
    "--rate",
    "400",
    "--warm-up",
    "20ms",
    "--interval",
    "50ms",
    "--count",
    "0s",
    "--probe",
    "50ms",
    "--seed",
    "7",
    "--force",
];

fn votebench(results: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_votebench"));
    command.arg("sustained").args(SHORT).args(arguments).arg("--results").arg(results);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The one run that lies in `results`.
fn folder(results: &Path) -> PathBuf {
    let mut folders: Vec<PathBuf> = fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
}

fn find<'a>(run: &'a RunFile, protocol: &str, metric: &str) -> &'a Measurement {
    let found = run.measurements.iter().find(|m| m.protocol == protocol && m.metric == metric && m.side.is_none());
    found.unwrap_or_else(|| panic!("{protocol} {metric} is missing"))
}

fn histogram(measurement: &Measurement) -> Histogram<u64> {
    decode(&measurement.histogram.as_ref().unwrap().data).unwrap()
}

/// The response times of a log, all intervals together, and how many intervals there are.
fn merged(log: &Path) -> (Histogram<u64>, usize) {
    let bytes = fs::read(log).unwrap();
    let mut all = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    let mut intervals = 0;
    for entry in IntervalLogIterator::new(&bytes) {
        if let LogEntry::Interval(interval) = entry.unwrap()
            && interval.tag().is_none()
        {
            all.add(decode(interval.encoded_histogram()).unwrap()).unwrap();
            intervals += 1;
        }
    }
    (all, intervals)
}

fn entries(folder: &Path, row: &str) -> Vec<Entry> {
    let text = fs::read_to_string(folder.join(format!("{row}.intervals.jsonl"))).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until `row` has `count` intervals on the disk.
fn wait_for(results: &Path, row: &str, count: usize) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(120) {
        let there = fs::read_dir(results).ok().and_then(|mut folders| Some(folders.next()?.unwrap().path()));
        if there.is_some_and(|folder| entries(&folder, row).len() >= count) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{row} has no {count} intervals after two minutes");
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The processes that `driver` has started, the first one first.
fn workers(driver: &Child) -> Vec<u32> {
    let driver = i32::try_from(driver.id()).unwrap();
    let all = procfs::process::all_processes().unwrap().flatten().filter_map(|process| process.stat().ok());
    let mut own: Vec<_> = all.filter(|stat| stat.ppid == driver).map(|stat| (stat.starttime, stat.pid)).collect();
    own.sort_unstable();
    own.into_iter().map(|(_, pid)| u32::try_from(pid).unwrap()).collect()
}

#[test]
fn every_stack_is_loaded_and_what_is_kept_adds_up() {
    let results = tempfile::tempdir().unwrap();
    let rows = "zap,zap+uds,zap+tls,zap+mux,zap+mux-stream,zap+quic,zap+quic-stream,quic-raw-datagram,grpc,grpc-stream,\
                json-rpc,json-rpc-ws,floor-blocking,zap+memory,zap+tcp-uring";
    let arguments = ["--protocol", rows, "--duration", "400ms", "--writes", "each,batched", "--connections", "2"];
    let output = votebench(results.path(), &arguments).output().unwrap();
    let folder = folder(results.path());
    let run = read::run(&folder).unwrap();
    assert!(run.run.complete, "{}", said(&output));
    for row in run.measurements.iter().filter(|m| m.metric == "response") {
        let name = format!("{} {}", row.protocol, row.row.as_deref().unwrap());
        if ["zap+memory", "zap+tcp-uring"].contains(&row.protocol.as_str()) {
            // One lives within a process, the other has one vote in flight: both say so.
            assert!(matches!(row.status, Status::Unsupported | Status::Failed), "{name}: {row:?}");
            continue;
        }
        // On a busy machine a row may be saturated; it may not fail.
        assert!(matches!(row.status, Status::Ok | Status::Saturated), "{name}: {:?}", row.reason);
        let find = |metric: &str| {
            let found =
                run.measurements.iter().find(|m| m.protocol == row.protocol && m.row == row.row && m.metric == metric);
            found.unwrap()
        };
        let offered = find("offered-rate").window.unwrap();
        let censored = find("censored").number().unwrap();
        assert_eq!(find("errors").number(), Some(0.0), "{name}");
        let samples = row.samples.unwrap();
        assert_eq!(samples, offered, "{name}: {censored} censored are among the samples");
        assert!((100..250).contains(&offered), "{name}: {offered} of about 160");
        let (logged, intervals) = merged(&folder.join(row.settings["hlog"].as_str().unwrap()));
        assert_eq!(logged.len(), samples - votes(censored), "{name}");
        assert_eq!(row.settings["intervals"].as_u64(), Some(intervals as u64), "{name}");
        if censored == 0.0 {
            assert_eq!(logged, histogram(row), "{name}");
        }
        for wait in ["wait-blocked", "wait-client", "wait-pacer"] {
            assert_eq!(find(wait).samples, Some(samples), "{name} {wait}");
        }
        let Some(Value::Percentiles(percentiles)) = &row.value else { panic!("{name}") };
        assert!(percentiles.contains_key("p99_99") && percentiles["max"].is_some(), "{name}");
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn votes(count: f64) -> u64 {
    count as u64
}

#[test]
fn a_run_that_is_killed_is_resumed_under_the_same_settings_and_its_parts_add_up() {
    let results = tempfile::tempdir().unwrap();
    let arguments = ["--protocol", "zap,floor", "--duration", "1500ms"];
    let mut driver = votebench(results.path(), &arguments).spawn().unwrap();
    wait_for(results.path(), "zap", 6);
    signal(driver.id(), rustix::process::Signal::KILL);
    driver.wait().unwrap();
    let folder = folder(results.path());
    let before = entries(&folder, "zap");
    assert!(before.len() >= 6 && !folder.join("results.json").exists());
    // What a kill may leave of an interval under way.
    let half = |name: &str, text: &str| {
        let mut there = fs::read_to_string(folder.join(name)).unwrap();
        there.push_str(text);
        fs::write(folder.join(name), there).unwrap();
    };
    half("zap.intervals.jsonl", "{\"index\":99,\"start");
    half("zap.hlog", "0.350,0.050,1.000,HISTFAAA");
    let dir = folder.to_str().unwrap();

    let other =
        votebench(results.path(), &["--protocol", "zap", "--duration", "1500ms", "--resume", dir]).output().unwrap();
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(said(&other).contains("protocols is [\"zap\",\"floor\"] there"), "{}", said(&other));

    let output = votebench(results.path(), &[&arguments[..], &["--resume", dir]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let run = read::run(&folder).unwrap();
    let after = entries(&folder, "zap");
    assert!(run.run.complete && after.len() > before.len());
    assert_eq!(after[..before.len()], before, "what was on the disk has stayed as it was");
    assert!(after.windows(2).all(|pair| pair[1].start_ns >= pair[0].start_ns + pair[0].length_ns));
    let row = find(&run, "zap", "response");
    assert_eq!(row.settings["resumed"].as_u64(), Some(1));
    let (logged, intervals) = merged(&folder.join("zap.hlog"));
    assert_eq!((logged.len(), intervals), (row.samples.unwrap(), after.len()));
    assert_eq!(logged, histogram(row), "the whole is the sum of its parts");
    assert_eq!(after.iter().map(|entry| entry.answered).sum::<u64>(), logged.len());
    let log = fs::read_to_string(folder.join("zap.hlog")).unwrap();
    assert_eq!(log.matches("#resumed after a gap of ").count(), 1);
    // The load itself is as long as was asked for, give or take the interval that was cut off and the drain.
    let loaded: u64 = after.iter().map(|entry| entry.length_ns).sum();
    assert!(loaded >= 1_490_000_000, "{loaded}");

    // There is nothing left to do, and so nothing changes.
    let again = votebench(results.path(), &[&arguments[..], &["--resume", dir]].concat()).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    assert_eq!(fs::read_to_string(folder.join("zap.hlog")).unwrap(), log);
}

#[test]
fn an_interrupted_run_is_valid_and_can_go_on() {
    let results = tempfile::tempdir().unwrap();
    let arguments = ["--protocol", "zap,grpc", "--duration", "20s"];
    let driver = votebench(results.path(), &arguments).spawn().unwrap();
    wait_for(results.path(), "zap", 3);
    signal(driver.id(), rustix::process::Signal::INT);
    let output = driver.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("--resume"), "{}", said(&output));
    let run = read::run(&folder(results.path())).unwrap();
    assert!(!run.run.complete);
    let row = find(&run, "zap", "response");
    assert!(row.samples.unwrap() > 20 && matches!(row.status, Status::Ok | Status::Saturated), "{row:?}");
    assert_eq!(find(&run, "grpc", "response").status, Status::NotMeasured);
}

#[test]
fn a_server_that_dies_costs_its_row_and_no_other() {
    for (row, next) in [("zap", "floor"), ("grpc", "zap"), ("quic-raw", "zap")] {
        let results = tempfile::tempdir().unwrap();
        let names = format!("{row},{next}");
        // The next row is short: it is ended by a file.
        let arguments = ["--protocol", &names, "--duration", "2s", "--deadline", "1s"];
        let driver = votebench(results.path(), &arguments).spawn().unwrap();
        wait_for(results.path(), row, 3);
        signal(workers(&driver)[0], rustix::process::Signal::KILL);
        let output = driver.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        let run = read::run(&folder(results.path())).unwrap();
        let failed = find(&run, row, "response");
        assert_eq!(failed.status, Status::Failed, "{failed:?}");
        assert!(!failed.reason.as_ref().unwrap().is_empty() && failed.samples.unwrap() > 20, "{failed:?}");
        let whole = find(&run, next, "response");
        assert!(matches!(whole.status, Status::Ok | Status::Saturated), "{whole:?}");
        assert!(said(&output).contains(&format!("votebench: {row} (writes batched): ")), "{}", said(&output));
    }
}

#[test]
fn a_dry_run_says_how_long_it_takes_and_leaves_nothing() {
    let results = tempfile::tempdir().unwrap();
    let output =
        votebench(results.path(), &["--protocol", "zap,grpc", "--duration", "60m", "--dry-run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("zap (writes batched): answers") && text.contains("2 rows, 1h each: about 2 hours"),
        "{text}"
    );
    assert_eq!(fs::read_dir(results.path()).unwrap().count(), 0);
}

#[test]
fn what_cannot_come_to_its_end_is_refused_in_one_sentence_before_it_begins() {
    let results = tempfile::tempdir().unwrap();
    let file = results.path().join("file");
    fs::write(&file, "").unwrap();
    let in_file = file.to_str().unwrap();
    let centuries = ["--duration", "100000d", "--protocol", "zap"];
    let cases: [(&[&str], &str, i32); 9] = [
        (&["--rate", "fast"], "votes a second are wanted", 2),
        (&["--rate=-5"], "--rate", 2),
        (&["--rate", "0%"], "--rate", 2),
        (&["--duration", "soon"], "--duration", 2),
        (&["--duration", "10ms"], "at least one --interval", 2),
        (&["--protocol", "zip"], "there is no protocol `zip`", 2),
        (&["--writes", "never"], "neither each nor batched", 2),
        (&["--resume", in_file], "holds no sustained run", 2),
        (&centuries, "MiB are free there", 2),
    ];
    for (arguments, sentence, status) in cases {
        let output = Command::new(env!("CARGO_BIN_EXE_votebench"))
            .args(["sustained", "--force", "--results"])
            .arg(results.path().join("runs"))
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(sentence), "{arguments:?}: {}", said(&output));
    }
    let output = votebench(&file, &["--protocol", "zap", "--duration", "1s"]).output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(said(&output).contains(in_file), "{}", said(&output));
}

#[test]
fn a_search_alone_tells_what_was_tried_and_what_was_held() {
    let results = tempfile::tempdir().unwrap();
    let output = votebench(results.path(), &["--protocol", "zap", "--search"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("CAPACITY: THE HIGHEST RATE THAT WAS HELD"), "{}", said(&output));
    let run = read::run(&folder(results.path())).unwrap();
    assert!(run.measurements.iter().all(|m| m.metric != "response"), "nobody was loaded at a rate that was asked for");
    let capacity = find(&run, "zap", "capacity");
    let probes = capacity.settings["probes"].as_array().unwrap();
    assert!(!probes.is_empty() && capacity.settings["closed_loop_rate"].as_f64() > Some(0.0));
    // On a busy machine no rate may be held; what is said must then be that.
    let held = probes.iter().filter(|probe| probe["missed"].is_null()).filter_map(|probe| probe["rate"].as_f64());
    assert_eq!(capacity.number(), held.reduce(f64::max));
    assert_eq!(capacity.status, if capacity.number().is_some() { Status::Ok } else { Status::Failed });
}
