//! `votebench worker`: one fresh process of a run. Not for people: a driver starts it, with a plan on stdin.

use std::io::BufReader;
use std::process::ExitCode;

use super::Outcome;
use crate::measure::job;

/// Runs the subcommand.
///
/// # Errors
/// Where the plan is not of this build, or the machine refuses.
pub fn run() -> Outcome {
    let done = job::run_with(
        #[cfg(feature = "net")]
        crate::http::Study,
        BufReader::new(std::io::stdin()),
        std::io::stdout(),
    );
    done.map_err(anyhow::Error::msg)?;
    Ok(ExitCode::SUCCESS)
}
