//! `votebench http` as a program: what a run's file says, and that the arms are there for other programs.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use votebench::report;
use votebench::result::RunFile;
use votebench::result::record::{Kind, Measurement, Processes, Status};

/// Runs `votebench http` with `arguments` into a folder of its own: the run, and what was printed.
fn http(arguments: &[&str]) -> (RunFile, String) {
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_votebench"))
        .args(["http", "--quick", "--force", "--results"])
        .arg(results.path())
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let run = std::fs::read_dir(results.path()).unwrap().next().unwrap().unwrap().path();
    (votebench::result::read::run(&run).unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn find<'a>(run: &'a RunFile, arm: &str, workload: &str, metric: &str, side: Option<&str>) -> &'a Measurement {
    let is_meant = |m: &&Measurement| {
        m.protocol == arm && m.workload.as_deref() == Some(workload) && m.metric == metric && m.side.as_deref() == side
    };
    run.measurements.iter().find(is_meant).unwrap_or_else(|| panic!("{arm} has no {metric}"))
}

#[test]
fn the_arms_of_ours_allocate_nothing_and_carry_the_published_bytes() {
    let (run, printed) = http(&["--workload", "tiny,medium,large", "--processes", "2", "--block-ms", "10"]);
    let settings = |m: &Measurement, name: &str| m.settings[name].as_u64();
    for workload in ["tiny", "medium", "large"] {
        for arm in ["pooled-http", "zap-http", "native-zap", "floor"] {
            for side in [Some("client"), Some("server"), None] {
                let allocations = find(&run, arm, workload, "allocations", side);
                assert_eq!(allocations.number(), Some(0.0), "{arm}, {workload}, {side:?}");
                assert_eq!((allocations.window, settings(allocations, "in_window")), (Some(5_000), Some(0)));
            }
        }
        let both = find(&run, "hyper", workload, "allocations", None).number().unwrap();
        assert!(both > 10.0, "a counter that counts nothing proves nothing: {both}");
        for arm in ["hyper", "pooled-http", "zap-http", "native-zap"] {
            let bytes = find(&run, arm, workload, "request-wire-bytes", None);
            assert_eq!(bytes.kind, Kind::Exact);
            assert_eq!(bytes.number(), settings(bytes, "published_like_for_like").map(|bytes| bytes as f64), "{arm}");
        }
    }
    assert_eq!(settings(find(&run, "pooled-http", "tiny", "request-wire-bytes", None), "published"), Some(243));
    for m in run.measurements.iter().filter(|m| m.metric == "time") {
        let Some(Processes::Rounds(rounds)) = &m.processes else { panic!("{} has no rounds", m.coordinates()) };
        // wrk tells one figure a start.
        let blocks = if m.coordinates().contains(" wrk ") { 1 } else { 5 };
        assert_eq!((rounds.len(), rounds[0].len()), (2, blocks), "{}", m.coordinates());
        assert!(rounds.iter().flatten().all(|ns| (1_000.0..1e9).contains(ns)), "{}", m.coordinates());
    }
    let over = run.measurements.iter().filter(|m| m.metric.starts_with("time-over-"));
    assert!(over.clone().count() > 0 && over.clone().all(|m| m.status == Status::Ok && m.verdict.is_some()));
    for words in ["ALLOCATIONS PER REQUEST", "like for like it is 212 against 211", "no native message is smaller"] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    assert!(
        report::http::markdown(&run)
            .contains("| tiny | 211 | 211 | 243 | 272 | +28.9 % | +11.9 % | 212 | +0.5 % | -12.8 % |")
    );
}

#[test]
fn flags_that_make_no_sense_are_refused_in_a_sentence() {
    for (arguments, words) in [
        (&["--arm", "nginx"][..], "there is no `nginx`; there are hyper, pooled-http"),
        (&["--workload", "huge"], "there is no `huge`"),
        (&["--serve", "hyper,floor", "--bind", "127.0.0.1:8080"], "port 0"),
        (&["--serve", "nobody"], "there is no `nobody`"),
        (&["--cores", "1"], "two cores"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_votebench")).arg("http").args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn serves_arms_until_it_is_told_to_stop() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_votebench"))
        .args(["http", "--serve", "hyper,pooled-http"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    for arm in ["hyper", "pooled-http"] {
        let line = lines.next().unwrap().unwrap();
        let address = line.strip_prefix(&format!("{arm} listening on ")).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok"), "{answer}");
    }
    let stopped = Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(stopped.success() && server.wait().unwrap().success());
}
