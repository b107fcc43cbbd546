//! `votebench report`: what people read of a run. With `--readme` it writes the blocks between markers in README.md anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::{BadInput, Outcome, print, write_whole};
use crate::report::readme::BlockError;
use crate::report::{http, instructions, latency, readme, serialization, sustained, terminal};
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

/// A block of README.md: its name, whether a run has something for it, and what that is.
struct Block {
    name: &'static str,
    is_in: fn(&RunFile) -> bool,
    markdown: fn(&RunFile) -> String,
}

const BLOCKS: [Block; 5] = [
    Block { name: "serialization", is_in: serialization::is_in, markdown: serialization::markdown },
    Block { name: "instructions", is_in: instructions::is_in, markdown: instructions::markdown },
    Block { name: "latency", is_in: latency::is_in, markdown: latency::markdown },
    Block { name: "sustained", is_in: sustained::is_in, markdown: sustained::markdown },
    Block { name: "http", is_in: http::is_in, markdown: http::markdown },
];

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] where the run or the file is not what it should be.
pub fn run(args: &Args) -> Outcome {
    if !args.readme {
        let path = args.run.as_deref().ok_or_else(|| BadInput("report: which RUN is meant?".to_owned()))?;
        return print(&terminal::run(&load(path)?));
    }
    let name = args.file.display();
    let text = fs::read_to_string(&args.file).map_err(|error| BadInput(format!("{name}: {error}")))?;
    match &args.run {
        None if args.check => check_all(&text, &args.file)?,
        None => return Err(BadInput("report --readme: which RUN is meant?".to_owned()).into()),
        Some(path) => {
            let new = with_run(&text, path, &args.file)?;
            if args.check {
                unchanged(&text, &new, path, &args.file)?;
            } else {
                write_whole(&args.file, &new).with_context(|| format!("{name} cannot be written"))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The text with every block anew that the run at `path` has something for.
fn with_run(text: &str, path: &Path, file: &Path) -> Result<String, BadInput> {
    let run = load(path)?;
    let mut new = text.to_owned();
    let mut blocks = BLOCKS.iter().filter(|block| (block.is_in)(&run)).peekable();
    if blocks.peek().is_none() {
        return Err(BadInput(format!("{}: the run has no figures for {}", path.display(), file.display())));
    }
    for block in blocks {
        new = filled(&new, block, &run).map_err(|error| of_file(&error, file))?;
    }
    Ok(new)
}

fn filled(text: &str, block: &Block, run: &RunFile) -> Result<String, BlockError> {
    let content = format!("{FROM}results/{}/results.json -->\n\n{}", run.run.id, (block.markdown)(run));
    readme::replace(text, block.name, &content)
}

/// Holds every block against the run that it says it is from. An empty one is from none; one at least must name a run.
fn check_all(text: &str, file: &Path) -> Result<(), BadInput> {
    let mut checked = 0;
    for block in &BLOCKS {
        let content = match readme::block(text, block.name) {
            Ok("") | Err(BlockError::NoOpening(_)) => continue,
            Ok(content) => content,
            Err(error) => return Err(of_file(&error, file)),
        };
        let path = source(content, file)?;
        let new = filled(text, block, &load(&path)?).map_err(|error| of_file(&error, file))?;
        unchanged(text, &new, &path, file)?;
        checked += 1;
    }
    checked += usize::from(super::claims::check_block(text, file)?);
    if checked == 0 {
        return Err(BadInput(format!("{}: no block in it says which run it is from", file.display())));
    }
    Ok(())
}

fn unchanged(text: &str, new: &str, path: &Path, file: &Path) -> Result<(), BadInput> {
    if new == text {
        return Ok(());
    }
    let command = format!("votebench report --readme {}", path.display());
    Err(BadInput(format!("{}: its tables are not those of the run; write them with `{command}`", file.display())))
}

fn of_file(error: &BlockError, file: &Path) -> BadInput {
    BadInput(format!("{}: {error}", file.display()))
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
