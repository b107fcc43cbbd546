//! `votebench latency` as a program: what its counts say of the harness itself.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use votebench::measure::job::{self, Isolation};
use votebench::measure::latency::{COUNT_WARM_UP, COUNT_WINDOW};
use votebench::measure::pair::{self, Outcome, PairPlan};
use votebench::measure::processes::Stop;
use votebench::protocol::{self, Protocol};
use votebench::result::RunFile;
use votebench::result::record::{Histogram, Measurement, Status};
use votebench::transport::Wait;

/// Runs `votebench latency` with `arguments` into a folder of its own: the run, and what was said.
fn latency(arguments: &[&str]) -> (RunFile, String) {
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_votebench"))
        .args(["latency", "--quick", "--force", "--results"])
        .arg(results.path())
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let run = std::fs::read_dir(results.path()).unwrap().next().unwrap().unwrap().path();
    (votebench::result::read::run(&run).unwrap(), said)
}

fn find<'a>(run: &'a RunFile, protocol: &str, side: Option<&str>, metric: &str) -> &'a Measurement {
    let of = |m: &&Measurement| m.metric == metric && m.protocol == protocol && m.side.as_deref() == side;
    run.measurements.iter().find(of).unwrap_or_else(|| panic!("{protocol} has no {metric}"))
}

#[test]
fn the_harness_allocates_nothing_for_a_message() {
    for isolation in ["process", "thread"] {
        let (run, _) = latency(&["--protocol", "floor,floor-blocking,zap", "--wait", "poll", "--isolation", isolation]);
        assert_eq!(run.settings["isolation"], isolation);
        for name in ["floor", "floor-blocking", "zap"] {
            let trips = find(&run, name, None, "round-trip");
            assert!(trips.value.is_some(), "{name}");
            let histogram = |record: &Histogram| votebench::result::histogram::decode(&record.data).unwrap();
            let mut sum = histogram(trips.histogram.as_ref().unwrap());
            assert_eq!((sum.len(), trips.process_histograms.len()), (3 * 2_000, 3), "{name}");
            let mean = sum.mean();
            for own in &trips.process_histograms {
                sum.subtract(histogram(own)).unwrap();
            }
            assert!(sum.is_empty(), "{name}");
            for side in ["client", "server"] {
                let number = |metric| find(&run, name, Some(side), metric).number();
                assert_eq!(number("allocations"), Some(0.0), "{name}, {side}, {isolation}");
                // In this wait one thread a side works all the time: no less than nothing, and no more than there was.
                let cpu = number("cpu-time").unwrap();
                assert!(cpu > 500.0 && cpu < 1.25 * mean + 500.0, "{name}, {side}, {isolation}: {cpu} of {mean} ns");
            }
        }
    }
}

#[test]
fn threads_of_one_process_have_accounts_of_their_own() {
    // The server of `zap+tcp-blocking` answers on a thread that it starts itself.
    let protocols = "floor,grpc,quic-raw,protobuf-mux,json-rpc-ws,zap-tls,zap+tcp-blocking,protobuf+tcp-blocking";
    let (run, _) = latency(&["--protocol", protocols, "--wait", "block", "--isolation", "thread"]);
    for name in protocols.split(',') {
        assert!(find(&run, name, None, "round-trip").value.is_some(), "{name}");
        for side in ["client", "server"] {
            let waits = find(&run, name, Some(side), "voluntary-switches").number().unwrap();
            assert!(waits > 0.0, "{name}, {side}: {waits} waits");
            assert_eq!(find(&run, name, Some(side), "resident-memory").status, Status::NotMeasured, "{name}");
        }
    }
    let zap = find(&run, "zap+tcp-blocking", Some("server"), "allocations");
    assert_eq!(zap.number(), Some(0.0));
    // That thread has joined nobody, and a vote in protobuf allocates on it.
    let protobuf = find(&run, "protobuf+tcp-blocking", Some("server"), "allocations");
    assert_eq!(protobuf.status, Status::NotMeasured);
}

/// Allocations of a message on each side, counted over `block` round trips after the warm-up of the pairs that count.
fn allocations(protocol: &Protocol, block: u64) -> Option<[f64; 2]> {
    let plan = PairPlan {
        build: job::build(),
        isolation: Isolation::Process,
        protocol: protocol.clone(),
        wait: Wait::Poll,
        client_core: None,
        server_core: None,
        connect: None,
        max_message_bytes: 64 << 20,
        deadline: Duration::from_secs(20),
        warm_up: COUNT_WARM_UP,
        blocks: 1,
        block,
        count: true,
    };
    let program = Path::new(env!("CARGO_BIN_EXE_votebench-count"));
    match pair::run(program, &plan, &Stop::default()) {
        Outcome::Found(found) => {
            let accounts = [found.window.account, found.server.unwrap()];
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            Some(accounts.map(|account| account.allocations.unwrap() as f64 / block as f64))
        }
        Outcome::Unsupported(_) => None,
        other => panic!("{}: {other:?}", protocol.name),
    }
}

#[test]
fn counted_allocations_are_those_of_the_steady_state() {
    let mut counted = 0;
    for protocol in protocol::rows() {
        let Some(long) = allocations(&protocol, COUNT_WINDOW) else { continue };
        let short = allocations(&protocol, COUNT_WINDOW / 4).unwrap();
        for (side, (long, short)) in ["client", "server"].into_iter().zip(long.into_iter().zip(short)) {
            // What comes by the clock, as acknowledgements do, is a few in ten thousand messages. A message and its end that yamux
            // writes one by one arrive together or apart, as the kernel has it.
            let allowed = if protocol.transport == "mux-plain" { 1.0 } else { 0.02 };
            assert!(
                (long - short).abs() < allowed,
                "{}, {side}: {long} over all, {short} over a quarter",
                protocol.name
            );
            counted += 1;
        }
    }
    assert!(counted >= 2 * 10, "{counted} sides were counted");
}

#[test]
fn a_file_ends_the_run_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stop");
    let there = file.clone();
    let ending = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1_500));
        std::fs::write(there, "").unwrap();
    });
    let path = file.to_str().unwrap();
    let began = std::time::Instant::now();
    let (run, said) = latency(&["--protocol", "zap", "--processes", "1000", "--stop-file", path]);
    ending.join().unwrap();
    assert!(!run.run.complete && began.elapsed().as_secs() < 30, "{said}");
    assert!(said.contains("did not come to its end"), "{said}");
    let again = Command::new(env!("CARGO_BIN_EXE_votebench"))
        .args(["latency", "--protocol", "zap", "--stop-file", path, "--results"])
        .arg(folder.path().join("results"))
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already"));
    assert!(!folder.path().join("results").exists());
}
