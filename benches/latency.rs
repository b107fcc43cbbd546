//! `cargo bench --bench latency`: the latency suite, with the flags of `votebench latency`. The loop is the library's.

use std::path::PathBuf;
use std::process::ExitCode;

use votebench::cmd::latency;
use votebench::measure::processes::Programs;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` says `--bench`; without it this is `cargo test`, and there is nothing to measure.
    let (benching, ours): (Vec<_>, Vec<_>) = arguments.into_iter().partition(|argument| argument == "--bench");
    if benching.is_empty() {
        return ExitCode::SUCCESS;
    }
    let args = match latency::parse(&ours) {
        Ok(args) => args,
        Err(error) => error.exit(),
    };
    let programs = Programs {
        plain: PathBuf::from(env!("CARGO_BIN_EXE_votebench")),
        counting: PathBuf::from(env!("CARGO_BIN_EXE_votebench-count")),
    };
    votebench::cmd::finish(latency::run_with(&args, &programs))
}
