//! `votebench report`: what people read of runs. Owns the flags and what is written where; the blocks of README.md are
//! `readme`'s, its pictures `pictures`'.

mod pictures;
mod readme;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::{BadInput, Outcome, print, write_whole};
use crate::claims;
use crate::report::{html, terminal};
use crate::result::{Loaded, intervals};

/// Print runs' tables, or write them as a page, as pictures or into README.md.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The runs: their folders or their results.json. With --check they may be left out: README.md says which they are.
    #[arg(value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// Write a page of all runs: one file, to be opened in any browser. `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write the plots alone, an SVG file each.
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,

    /// Rewrite the blocks between markers in README.md from the runs; with --svg the block of pictures as well.
    #[arg(long)]
    pub readme: bool,

    /// With --readme: change nothing, and fail where a block or a picture is not what the runs give.
    #[arg(long, requires = "readme")]
    pub check: bool,

    /// The file whose blocks are meant.
    #[arg(long, value_name = "FILE", default_value = "README.md")]
    pub file: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] where a run or the file is not what it should be.
pub fn run(args: &Args) -> Outcome {
    if args.runs.is_empty() {
        if args.check && args.html.is_none() && args.svg.is_none() {
            readme::check_all(&args.file)?;
            return Ok(ExitCode::SUCCESS);
        }
        return Err(BadInput("report: which RUN is meant?".to_owned()).into());
    }
    let runs = args.runs.iter().map(|path| load(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(file) = &args.html {
        let files = claims::source::built_in().map_err(|error| BadInput(error.to_string()))?;
        let judged = claims::judge(&files, runs.iter().map(|loaded| loaded.run.clone()).collect());
        let page = html::page(&runs, &judged);
        if file == Path::new("-") {
            print(page.trim_end())?;
        } else {
            write_whole(file, &page).with_context(|| format!("{} cannot be written", file.display()))?;
        }
    }
    if let Some(folder) = args.svg.as_deref().filter(|_| !args.check) {
        pictures::write(&runs, folder)?;
    }
    if args.readme {
        readme::write(&runs, args)?;
    }
    if args.html.is_none() && args.svg.is_none() && !args.readme {
        let tables: Vec<_> = runs.iter().map(|loaded| terminal::run(&loaded.run)).collect();
        return print(&tables.join("\n\n\n"));
    }
    Ok(ExitCode::SUCCESS)
}

fn load(path: &Path) -> Result<Loaded, BadInput> {
    intervals::load(path).map_err(|error| BadInput(error.to_string()))
}
