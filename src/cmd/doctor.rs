//! `votebench doctor`: is this machine fit, and what to change. Owns the flags and the words; the judgement is
//! [`doctor`]'s. An unfit machine is said, and is no error.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Context;

use super::{BadInput, Outcome, print};
use crate::measure::doctor::{self, Check, Grade};

/// Say whether this machine is fit to measure on, and what would mend it.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// How long the hiccup meter watches all cores, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub meter: f64,

    /// JSON: a list of checks.
    #[arg(long)]
    pub json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] for a time that makes no sense.
pub fn run(args: &Args) -> Outcome {
    if !(0.001..=3_600.0).contains(&args.meter) {
        return Err(BadInput("--meter: between 0.001 and 3600 seconds are wanted".to_owned()).into());
    }
    let checks = doctor::examine(Duration::from_secs_f64(args.meter));
    if args.json {
        return print(&serde_json::to_string_pretty(&checks).context("the checks cannot be written as JSON")?);
    }
    print(&text(&checks))
}

/// One line a check, and below it what mends it.
fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for Check { name, grade, found, mend } in checks {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<5} {name:<24}{found}", grade.name());
        if let Some(mend) = mend {
            let _ = writeln!(text, "{:<30}-> {mend}", "");
        }
    }
    let count = |grade| checks.iter().filter(|check| check.grade == grade).count();
    text + &match (count(Grade::Bad), count(Grade::Warn)) {
        (0, 0) => "Fit.".to_owned(),
        (0, warnings) => format!("Fit, with {warnings} warnings."),
        (bad, warnings) => format!("Not fit: {bad} bad, {warnings} warnings."),
    }
}
