//! `cargo bench --bench serialization`: every codec and model under criterion, for people who expect its filters,
//! baselines and HTML; then the suite's own driver, whose figures are the ones that count. The loops are the library's.
//!
//! Our own flags (those of `votebench serialize`) are taken out of the command line first; what is left is criterion's. It
//! runs in a child of this program, because it reads the command line by itself.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use criterion::{Criterion, Throughput};
use votebench::cmd::serialize;
use votebench::codec::{self, Batch, Model, Pace};
use votebench::measure::processes::Programs;
use votebench::vote::corpus;

/// Set in the child that runs criterion.
const CRITERION: &str = "VOTEBENCH_CRITERION";

/// Arguments of criterion's after which there is nothing for the driver to do.
const CRITERION_ONLY: [&str; 8] =
    ["--test", "--list", "--help", "-h", "--version", "--profile-time", "--load-baseline", "--export"];

fn main() -> ExitCode {
    if std::env::var_os(CRITERION).is_some() {
        criterion();
        return ExitCode::SUCCESS;
    }
    let (ours, theirs) = serialize::split_arguments(std::env::args().skip(1));
    let args = match serialize::parse(&ours) {
        Ok(args) => args,
        Err(error) => error.exit(),
    };
    // `cargo bench` says `--bench`; without it this is `cargo test`, which only asks whether everything runs.
    let benching = theirs.iter().any(|argument| argument == "--bench");
    let only_criterion = !benching || theirs.iter().any(|argument| CRITERION_ONLY.contains(&argument.as_str()));
    if only_criterion || !args.quick {
        match run_criterion(&theirs) {
            Ok(true) => {}
            Ok(false) => return ExitCode::from(2),
            Err(error) => {
                eprintln!("votebench: criterion cannot be started: {error}");
                return ExitCode::from(3);
            }
        }
    }
    if only_criterion {
        return ExitCode::SUCCESS;
    }
    let programs = Programs {
        plain: PathBuf::from(env!("CARGO_BIN_EXE_votebench")),
        counting: PathBuf::from(env!("CARGO_BIN_EXE_votebench-count")),
    };
    votebench::cmd::finish(serialize::run_with(&args, &programs))
}

fn run_criterion(arguments: &[String]) -> std::io::Result<bool> {
    let program = std::env::current_exe()?;
    Ok(Command::new(program).args(arguments).env(CRITERION, "1").status()?.success())
}

fn criterion() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .sample_size(20)
        .nresamples(10_000)
        .configure_from_args();
    let votes = corpus::votes(corpus::SIZE, corpus::SEED);
    for mut codec in codec::all() {
        let name = codec.name();
        let batch = Batch::new(codec.as_mut(), votes.clone()).expect("every codec encodes every vote");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(batch.len() as u64));
        let info = codec.info();
        for model in Model::ALL.into_iter().filter(|model| info.lacks(*model).is_none()) {
            group.bench_function(model.name(), |bencher| {
                bencher.iter(|| codec.run_batch(model, &batch, Pace::Stream).expect("the corpus is valid"));
            });
        }
        group.finish();
    }
    criterion.final_summary();
}
