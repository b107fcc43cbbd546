//! `votebench claims`: what the papers claim, beside what the given runs measured. Owns the flags, which claims files are meant, and
//! the block of README.md; judging is [`claims`]'s.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::blocks::File;
use super::compare::sides;
use super::{BadInput, Outcome, print, write_whole};
use crate::claims::record::Report;
use crate::claims::{self, source};
use crate::report::claims as tables;
use crate::result::{RunFile, read};

/// The claims files of a checkout.
const FOLDER: &str = "results/claims";

/// The name of the block in README.md.
const BLOCK: &str = "claims";

/// Set every figure of the papers' tables beside what runs measured.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The runs, which together answer: results files, runs' folders, folders of such folders, or commits that have runs under
    /// --results. With --check they may be left out: README.md says which they are.
    #[arg(value_name = "RUN", required_unless_present = "check", num_args = 1..)]
    pub runs: Vec<String>,

    /// Markdown, for a pull request.
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,

    /// JSON in the shape of schemas/claims.v1.schema.json.
    #[arg(long)]
    pub json: bool,

    /// A claims file, or a folder of them [default: results/claims, or, where there is none, the files this program was built with].
    #[arg(long, value_name = "PATH")]
    pub claims: Option<PathBuf>,

    /// Folder that holds the runs, for those that are named by commit.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,

    /// Rewrite the block `claims` between its markers in README.md.
    #[arg(long, conflicts_with_all = ["markdown", "json"])]
    pub readme: bool,

    /// With --readme: change nothing, and fail where the block is not what its runs give.
    #[arg(long, requires = "readme")]
    pub check: bool,

    /// The file whose block is meant.
    #[arg(long, value_name = "FILE", default_value = "README.md")]
    pub file: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] where a run or a claims file is none, or the block is not what it should be.
pub fn run(args: &Args) -> Outcome {
    if args.readme {
        return block(args);
    }
    let report = claims::judge(&files(args.claims.as_deref(), Path::new(""))?, runs(args)?);
    let text = if args.json {
        serde_json::to_string_pretty(&report).context("the claims cannot be written as JSON")?
    } else if args.markdown {
        tables::markdown(&report)
    } else {
        tables::terminal(&report)
    };
    print(&text)
}

fn runs(args: &Args) -> Result<Vec<RunFile>, BadInput> {
    Ok(sides::load(&args.runs, &args.results)?.into_iter().flat_map(|side| side.runs).collect())
}

/// The claims files that are meant; those of a checkout lie under `base`.
fn files(named: Option<&Path>, base: &Path) -> Result<Vec<source::Claims>, BadInput> {
    let folder = base.join(FOLDER);
    let path = named.or_else(|| folder.is_dir().then_some(folder.as_path()));
    path.map_or_else(source::built_in, source::load).map_err(|error| BadInput(error.to_string()))
}

fn block(args: &Args) -> Outcome {
    let file = File::read(&args.file)?;
    if args.runs.is_empty() {
        if !check_block(&file)? {
            return Err(BadInput(format!("{}: its block {BLOCK} says no run", file.name())).into());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let report = claims::judge(&files(args.claims.as_deref(), file.folder())?, runs(args)?);
    let new = filled(&file, &report)?;
    if args.check {
        unchanged(&file, &new, &report)?;
    } else {
        write_whole(&args.file, &new).with_context(|| format!("{} cannot be written", file.name()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn filled(file: &File<'_>, report: &Report) -> Result<String, BadInput> {
    let runs: Vec<_> = report.runs.iter().map(|run| format!("results/{}/results.json", run.id)).collect();
    file.filled(&file.text, BLOCK, &runs.join(" "), &tables::block(report))
}

/// Holds the block `claims` of the file against the runs that it says it is from; `false` where there is no block or nothing in it.
///
/// # Errors
/// Where it is not what those runs give, or does not say which they are.
pub(super) fn check_block(file: &File<'_>) -> Result<bool, BadInput> {
    let Some(source) = file.source(BLOCK)? else { return Ok(false) };
    let runs: Result<Vec<_>, _> = source.split(' ').map(|path| read::run(&file.beside(path))).collect();
    let report = claims::judge(&files(None, file.folder())?, runs.map_err(|error| BadInput(error.to_string()))?);
    unchanged(file, &filled(file, &report)?, &report)?;
    Ok(true)
}

fn unchanged(file: &File<'_>, new: &str, report: &Report) -> Result<(), BadInput> {
    let runs: Vec<_> = report.runs.iter().map(|run| format!("results/{}", run.id)).collect();
    file.unchanged(new, &format!("claims --readme {}", runs.join(" ")))
}
