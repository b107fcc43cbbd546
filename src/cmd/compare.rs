//! `votebench compare`: what has changed from one run to another. Owns the flags, what is shown and the exit status;
//! matching and verdicts are [`compare`](mod@crate::compare)'s.

pub(super) mod sides;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::words::Words;
use super::{BadInput, Outcome, print};
use crate::compare;
use crate::compare::basis::Terms;
use crate::compare::record::{Coordinates, Report, Summary};

/// Compare runs, the oldest first: what got worse, what got better, and what nobody can say.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The sides: a results file, a run's folder, a folder of such folders, or a commit that has runs under --results.
    /// With more than two, each figure is followed from one to the next.
    #[arg(value_name = "OLD NEW", required = true, num_args = 2..)]
    pub sides: Vec<String>,

    /// Markdown, for a pull request.
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,

    /// JSON in the shape of schemas/compare.v1.schema.json, every line of it.
    #[arg(long)]
    pub json: bool,

    /// Show what has not changed, too.
    #[arg(long)]
    pub all: bool,

    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags have theirs")]
    pub words: Words,

    /// When to end with status 1: where something shown got `worse`, or `never`.
    #[arg(long, value_name = "WHEN", default_value = "worse", value_parser = ["worse", "never"])]
    pub fail_on: String,

    /// Compare the counts of different machines; their rates are not comparable whatever is asked.
    #[arg(long)]
    pub across_machines: bool,

    /// Folder that holds the runs, for sides that are commits.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] where a side is none, or a filter matches nothing.
pub fn run(args: &Args) -> Outcome {
    let sides = sides::load(&args.sides, &args.results)?;
    let mut report = compare::compare(&sides, Terms { across_machines: args.across_machines });
    filter(&mut report, &args.words)?;
    let text = if args.json {
        serde_json::to_string_pretty(&report).context("the comparison cannot be written as JSON")?
    } else if args.markdown {
        table::markdown(&report, args.all)
    } else {
        table::terminal(&report, args.all)
    };
    print(&text)?;
    let fails = report.summary.fails > 0 && args.fail_on == "worse";
    Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Takes out what is not asked for. The verdicts of the rest stay those of the whole comparison.
fn filter(report: &mut Report, words: &Words) -> Result<(), BadInput> {
    let all = || {
        let lines = report.lines.iter().map(|line| &line.at);
        lines.chain(report.trends.iter().map(|trend| &trend.at)).map(Coordinates::words).collect()
    };
    if let Some(unknown) = words.unknown(all) {
        return Err(BadInput(format!("--only: no figure has the words `{unknown}`")));
    }
    let keep = |at: &Coordinates| {
        let own: Vec<&str> = at.words().collect();
        words.keep(own.iter().copied())
    };
    report.lines.retain(|line| keep(&line.at));
    report.trends.retain(|trend| keep(&trend.at));
    report.summary = Summary::of(&report.lines);
    Ok(())
}
