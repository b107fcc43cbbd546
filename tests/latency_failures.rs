//! `votebench latency` where something goes wrong half-way: connections that fail go through a relay of ours, which lets some
//! through to a good server and none of the others.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::io::{BufRead, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use votebench::report::terminal;
use votebench::result::RunFile;
use votebench::result::record::{Measurement, Processes, Status};

/// `votebench serve --protocol zap`, for as long as this lives.
struct Serve(Child, SocketAddr);

impl Serve {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_votebench"));
        command.args(["serve", "--protocol", "zap"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("zap listening on ").unwrap().trim().parse().unwrap();
        Self(child, address)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Relays connections to `server`, but that with the number `refused`, counted from 0.
fn relay(server: SocketAddr, refused: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, near) in listener.incoming().enumerate() {
            let near = near.unwrap();
            if number == refused {
                continue;
            }
            let far = TcpStream::connect(server).unwrap();
            for (mut from, mut to) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
                to.set_nodelay(true).unwrap();
                thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    address
}

/// Three pairs of zap, after the one that counts, through a relay that refuses one of them: the run, and what was said.
fn run_with(refused: usize) -> (RunFile, String) {
    let serve = Serve::start();
    let address = relay(serve.1, refused).to_string();
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_votebench"))
        .args(["latency", "--protocol", "zap", "--wait", "block", "--quick", "--force", "--connect", &address])
        .arg("--results")
        .arg(results.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    let run = std::fs::read_dir(results.path()).unwrap().next().unwrap().unwrap().path();
    (votebench::result::read::run(&run).unwrap(), said)
}

fn find<'a>(run: &'a RunFile, side: Option<&str>, metric: &str) -> &'a Measurement {
    let of = |m: &&Measurement| m.metric == metric && m.protocol == "zap" && m.side.as_deref() == side;
    run.measurements.iter().find(of).unwrap_or_else(|| panic!("there is no {metric}"))
}

#[test]
fn a_row_that_fails_half_way_keeps_what_it_has_and_says_so() {
    // The pair that counts is connection 0; so this is the third of the timed ones.
    let (run, said) = run_with(3);
    assert!(said.contains("zap"), "{said}");
    let trips = find(&run, None, "round-trip");
    assert_eq!((trips.status, trips.samples), (Status::Failed, Some(2 * 2_000)));
    assert!(matches!(&trips.processes, Some(Processes::Percentiles(of)) if of.len() == 2));
    for (side, metric) in [(None, "round-trip-p50"), (None, "set-up-time"), (Some("client"), "cpu-time")] {
        let m = find(&run, side, metric);
        assert!(m.status == Status::Failed && m.number().is_some() && m.reason.is_some(), "{metric}: {m:?}");
    }
    // The pair that counts was well.
    let bytes = find(&run, Some("client"), "carried-bytes");
    assert_eq!((bytes.status, bytes.number()), (Status::Ok, Some(165.0)));
    let text = terminal::run(&run);
    assert!(text.contains("zap failed after 2 pairs, which stand here: "), "{text}");
    assert!(text.lines().any(|line| line.trim_start().starts_with("zap ") && line.contains("(failed)")), "{text}");
}

#[test]
fn a_pair_that_counts_and_fails_fails_the_run() {
    let (run, said) = run_with(0);
    assert!(said.contains("zap (block)"), "{said}");
    let trips = find(&run, None, "round-trip");
    assert_eq!((trips.status, trips.samples), (Status::Ok, Some(3 * 2_000)));
    assert_eq!(find(&run, Some("client"), "allocations").status, Status::Failed);
    assert!(!terminal::run(&run).contains("(failed)"));
}
