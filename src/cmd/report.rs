//! `votebench report`: what people read of a run. With `--readme` it writes the blocks between markers in README.md anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::{BadInput, Outcome};
use crate::report::{readme, serialization, terminal};
use crate::result::{RunFile, read};

/// The line by which a block says which run it is from.
const FROM: &str = "<!-- from ";

/// Print a run's tables, or write them into README.md.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The run: its folder or its results.json. With --check it may be left out: README.md says which it is.
    #[arg(value_name = "RUN")]
    pub run: Option<PathBuf>,

    /// Rewrite the blocks between markers in README.md from the run.
    #[arg(long)]
    pub readme: bool,

    /// With --readme: change nothing, and fail where a block is not what the run gives.
    #[arg(long, requires = "readme")]
    pub check: bool,

    /// The file whose blocks are meant.
    #[arg(long, value_name = "FILE", default_value = "README.md")]
    pub file: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] where the run or the file is not what it should be.
pub fn run(args: &Args) -> Outcome {
    if !args.readme {
        let path = args.run.as_deref().ok_or_else(|| BadInput("report: which RUN is meant?".to_owned()))?;
        println!("{}", terminal::serialization(&load(path)?));
        return Ok(ExitCode::SUCCESS);
    }
    let name = args.file.display();
    let text = fs::read_to_string(&args.file).map_err(|error| BadInput(format!("{name}: {error}")))?;
    let block = readme::block(&text, "serialization").map_err(|error| BadInput(format!("{name}: {error}")))?;
    let path = match &args.run {
        Some(path) => path.clone(),
        None if args.check => source(block, &args.file)?,
        None => return Err(BadInput("report --readme: which RUN is meant?".to_owned()).into()),
    };
    let run = load(&path)?;
    let content = format!("{FROM}results/{}/results.json -->\n\n{}", run.run.id, serialization::markdown(&run));
    let new =
        readme::replace(&text, "serialization", &content).map_err(|error| BadInput(format!("{name}: {error}")))?;
    if args.check {
        if new == text {
            return Ok(ExitCode::SUCCESS);
        }
        let command = format!("votebench report --readme {}", path.display());
        return Err(
            BadInput(format!("{name}: its tables are not those of the run; write them with `{command}`")).into()
        );
    }
    fs::write(&args.file, new).with_context(|| format!("{name} cannot be written"))?;
    Ok(ExitCode::SUCCESS)
}

fn load(path: &Path) -> Result<RunFile, BadInput> {
    read::run(path).map_err(|error| BadInput(error.to_string()))
}

/// The results file that a block says it is from; paths in it count from the file's own folder.
fn source(block: &str, file: &Path) -> Result<PathBuf, BadInput> {
    let line = block.lines().next().and_then(|line| line.strip_prefix(FROM)?.strip_suffix(" -->"));
    let path =
        line.ok_or_else(|| BadInput(format!("{}: its block does not say which run it is from", file.display())))?;
    Ok(file.parent().unwrap_or(Path::new("")).join(path))
}
