//! `votebench export`: a run in the formats of other programs. Owns the flags and where the text goes; the formats are
//! [`export`](crate::report::export)'s.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::words::Words;
use super::{BadInput, Outcome, print, write_whole};
use crate::measure::progress::tell;
use crate::report::export::{bencher, csv, github_action, go_bench, hgrm, openmetrics};
use crate::result::read;
use crate::result::record::{Better, Measurement};

/// Write a run in a format that another program reads.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The run: its folder or its results.json.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,

    /// The format.
    #[arg(long, value_name = "FORMAT")]
    pub format: Format,

    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags have theirs")]
    pub words: Words,

    /// A file in place of stdout; for `hgrm` a folder, which gets a file for each distribution.
    #[arg(long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Bencher Metric Format.
    Bencher,
    /// The list that github-action-benchmark reads as `customSmallerIsBetter`.
    GithubActionBenchmark,
    /// The Go benchmark format, for benchstat: a line a round.
    GoBench,
    /// OpenMetrics text.
    Openmetrics,
    /// Comma-separated values: a line a round.
    Csv,
    /// HdrHistogram's percentile text, one distribution at a time.
    Hgrm,
}

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] where the run is none, or has nothing for the format.
pub fn run(args: &Args) -> Outcome {
    let run = read::run(&args.run).map_err(|error| BadInput(error.to_string()))?;
    let words: Vec<String> = run.measurements.iter().map(Measurement::coordinates).collect();
    if let Some(unknown) = args.words.unknown(|| words.iter().map(|words| words.split(' ')).collect()) {
        return Err(BadInput(format!("--only: no figure has the words `{unknown}`")).into());
    }
    let wanted: Vec<&Measurement> = run
        .measurements
        .iter()
        .zip(&words)
        .filter(|(_, words)| args.words.keep(words.split(' ')))
        .map(|(measurement, _)| measurement)
        .collect();
    let json = "the figures cannot be written as JSON";
    let text = match args.format {
        Format::Hgrm => return distributions(&wanted, args),
        Format::Bencher => bencher::text(&wanted).context(json)?,
        Format::GithubActionBenchmark => {
            let higher = wanted.iter().filter(|measurement| measurement.better == Better::Higher).count();
            if higher > 0 {
                tell(&format_args!("votebench: {higher} figures of which more is better have no place in this format"));
            }
            github_action::text(&run.run.id, &wanted).context(json)?
        }
        Format::GoBench => go_bench::text(&run, &wanted),
        Format::Openmetrics => openmetrics::text(&run, &wanted),
        Format::Csv => csv::text(&run, &wanted),
    };
    write_out(&text, args.output.as_deref())
}

fn write_out(text: &str, output: Option<&Path>) -> Outcome {
    let Some(path) = output else { return print(text.trim_end_matches('\n')) };
    write_whole(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The distributions: one on stdout, or all of them as files of a folder.
fn distributions(wanted: &[&Measurement], args: &Args) -> Outcome {
    let mut found = Vec::new();
    for measurement in wanted {
        if let Some(text) = hgrm::text(measurement) {
            let name = measurement.coordinates();
            let text = text.map_err(|reason| BadInput(format!("{}: {name}: {reason}", args.run.display())))?;
            found.push((name, text));
        }
    }
    match (&found[..], &args.output) {
        ([], _) => Err(BadInput(format!("{}: no distribution is in it that was asked for", args.run.display())).into()),
        (_, Some(folder)) => {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
            for (name, text) in &found {
                write_out(text, Some(&folder.join(format!("{}.hgrm", name.replace(' ', "-")))))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        ([(_, text)], None) => print(text.trim_end_matches('\n')),
        (several, None) => Err(BadInput(format!(
            "export: {} distributions are meant, of which stdout takes one: choose with --only, or name a folder with --output",
            several.len()
        ))
        .into()),
    }
}
