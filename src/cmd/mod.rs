//! One subcommand a file, each `run(args)`. Owns the dispatch and the exit status; `anyhow` is at home here and in `main`.

pub mod list;
pub mod report;
pub mod serialize;
pub mod worker;

use std::process::ExitCode;

use crate::cli::Command;

/// What a subcommand ends with (`contracts`: 0 done, 1 something got worse, 2 bad input or usage, 3 failed at run time).
pub type Outcome = anyhow::Result<ExitCode>;

/// A mistake of the user's: bad input or usage, exit status 2. Any other error is 3.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// Runs one subcommand.
///
/// # Errors
/// [`BadInput`] where the user can mend it, anything else where the run itself failed.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::List(args) => list::run(&args),
        Command::Serialize(args) => serialize::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Worker => worker::run(),
    }
}

/// The whole program: parse the command line, run it, turn an error into one sentence on stderr and an exit status.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match <crate::cli::Cli as clap::Parser>::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    finish(run(cli.command))
}

/// The exit status of an outcome; an error is said in one sentence on stderr.
#[must_use]
pub fn finish(outcome: Outcome) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        eprintln!("votebench: {error:#}");
        ExitCode::from(if error.is::<BadInput>() { 2 } else { 3 })
    })
}
