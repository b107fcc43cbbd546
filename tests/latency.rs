//! `votebench latency` as a program: what its counts say of the harness itself.

#![cfg(feature = "net")]

use std::process::Command;

#[test]
fn the_harness_allocates_nothing_for_a_message() {
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_votebench"))
        .args([
            "latency",
            "--protocol",
            "floor,floor-blocking,zap",
            "--wait",
            "poll",
            "--quick",
            "--force",
            "--results",
        ])
        .arg(results.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let run = std::fs::read_dir(results.path()).unwrap().next().unwrap().unwrap().path();
    let run = votebench::result::read::run(&run).unwrap();
    let whole = run.measurements.iter().filter(|m| m.metric == "round-trip" && m.value.is_some());
    assert_eq!(whole.count(), 3);
    let allocations = |name: &str, side: &str| {
        let of = |m: &&votebench::result::record::Measurement| {
            m.metric == "allocations" && m.protocol == name && m.side.as_deref() == Some(side)
        };
        run.measurements.iter().find(of).unwrap().number()
    };
    for name in ["floor", "floor-blocking", "zap"] {
        assert_eq!((allocations(name, "client"), allocations(name, "server")), (Some(0.0), Some(0.0)), "{name}");
    }
}
