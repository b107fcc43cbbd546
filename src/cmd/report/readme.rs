//! The blocks of README.md: each suite's tables from a run, and the pictures of several. Owns which run a block is from, writing
//! them, and the check that nobody typed there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::super::{BadInput, write_whole};
use super::{Args, load, pictures};
use crate::report::plot;
use crate::report::readme::{self, BlockError};
use crate::report::suites::{self, Suite};
use crate::result::{Loaded, RunFile};

/// The line by which a block says which runs it is from.
const FROM: &str = "<!-- from ";

/// The block of pictures.
const PICTURES: &str = "pictures";

/// What stands between the runs and the folder in the pictures' line.
const IN: &str = " in ";

/// Writes the blocks that the runs have something for, or with `--check` holds them against it.
///
/// # Errors
/// [`BadInput`] where a run has nothing for any block, two have the same one, or a check fails.
pub(super) fn write(runs: &[Loaded], args: &Args) -> anyhow::Result<()> {
    let text = read(&args.file)?;
    let mut new = text.clone();
    let mut filled_by: Vec<(&str, &Path)> = Vec::new();
    for (loaded, path) in runs.iter().zip(&args.runs) {
        let mut suites = suites::ALL.iter().filter(|suite| (suite.is_in)(&loaded.run)).peekable();
        if suites.peek().is_none() {
            return Err(
                BadInput(format!("{}: the run has no figures for {}", path.display(), args.file.display())).into()
            );
        }
        for suite in suites {
            if let Some((_, other)) = filled_by.iter().find(|(name, _)| *name == suite.name) {
                let (one, other) = (path.display(), other.display());
                return Err(
                    BadInput(format!("{one} and {other} both have figures for the block {}", suite.name)).into()
                );
            }
            filled_by.push((suite.name, path));
            new = filled(&new, suite, &loaded.run).map_err(|error| of_file(&error, &args.file))?;
        }
    }
    if let Some(folder) = &args.svg {
        let content = of_pictures(runs, &beside(folder, &args.file)?);
        new = readme::replace(&new, PICTURES, &content).map_err(|error| of_file(&error, &args.file))?;
    }
    if !args.check {
        return write_whole(&args.file, &new).with_context(|| format!("{} cannot be written", args.file.display()));
    }
    let named: Vec<_> = args.runs.iter().map(|path| path.display().to_string()).collect();
    unchanged(&text, &new, &named.join(" "), &args.file)?;
    args.svg.as_ref().map_or(Ok(()), |folder| pictures::check(runs, folder))
}

/// Holds every block against the runs that it says it is from. An empty one is from none; one at least must name a run.
///
/// # Errors
/// [`BadInput`] where one differs, or says nothing.
pub(super) fn check_all(file: &Path) -> anyhow::Result<()> {
    let text = read(file)?;
    let content = |name: &str| match readme::block(&text, name) {
        Ok("") | Err(BlockError::NoOpening(_)) => Ok(None),
        Ok(content) => Ok(Some(content)),
        Err(error) => Err(of_file(&error, file)),
    };
    let mut checked = 0;
    for suite in &suites::ALL {
        let Some(content) = content(suite.name)? else { continue };
        let path = beside_file(source(content, file)?, file);
        let new = filled(&text, suite, &load(&path)?.run).map_err(|error| of_file(&error, file))?;
        unchanged(&text, &new, &path.display().to_string(), file)?;
        checked += 1;
    }
    if let Some(content) = content(PICTURES)? {
        let line = source(content, file)?;
        let (runs, folder) = line.rsplit_once(IN).ok_or_else(|| silent(file))?;
        let paths: Vec<PathBuf> = runs.split(", ").map(|path| beside_file(path, file)).collect();
        let runs = paths.iter().map(|path| load(path)).collect::<Result<Vec<_>, _>>()?;
        let new =
            readme::replace(&text, PICTURES, &of_pictures(&runs, folder)).map_err(|error| of_file(&error, file))?;
        let named: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        unchanged(&text, &new, &format!("--svg {folder} {}", named.join(" ")), file)?;
        pictures::check(&runs, &beside_file(folder, file))?;
        checked += 1;
    }
    checked += usize::from(super::super::claims::check_block(&text, file)?);
    if checked == 0 {
        return Err(BadInput(format!("{}: no block in it says which run it is from", file.display())).into());
    }
    Ok(())
}

fn filled(text: &str, suite: &Suite, run: &RunFile) -> Result<String, BlockError> {
    let content = format!("{FROM}{} -->\n\n{}", committed(run), (suite.markdown)(run));
    readme::replace(text, suite.name, &content)
}

/// Where a run lies that is committed.
fn committed(run: &RunFile) -> String {
    format!("results/{}/results.json", run.run.id)
}

/// The block of pictures: those of the plots that a README has room for.
fn of_pictures(runs: &[Loaded], folder: &str) -> String {
    let from: Vec<_> = runs.iter().map(|loaded| committed(&loaded.run)).collect();
    let mut content = format!("{FROM}{}{IN}{folder} -->\n", from.join(", "));
    for figure in plot::of(runs).iter().filter(|figure| figure.in_readme) {
        let words = format!("{}. {}. {}", figure.title, figure.unit, figure.source);
        content += &format!("\n![{}]({folder}/{}.svg)\n", words.replace(['[', ']', '\n'], " "), figure.name);
    }
    content
}

/// The folder as the file's readers find it: it lies beside the file or below.
fn beside(folder: &Path, file: &Path) -> Result<String, BadInput> {
    let base = file.parent().unwrap_or(Path::new(""));
    let below = folder.strip_prefix(base).ok().filter(|below| below.is_relative());
    let words = below.and_then(Path::to_str).map(|below| below.trim_end_matches('/').to_owned());
    words.ok_or_else(|| BadInput(format!("{} does not lie beside {}", folder.display(), file.display())))
}

fn read(file: &Path) -> Result<String, BadInput> {
    fs::read_to_string(file).map_err(|error| BadInput(format!("{}: {error}", file.display())))
}

fn unchanged(text: &str, new: &str, runs: &str, file: &Path) -> Result<(), BadInput> {
    if new == text {
        return Ok(());
    }
    let command = format!("votebench report --readme {runs}");
    Err(BadInput(format!("{}: its tables are not those of the run; write them with `{command}`", file.display())))
}

fn of_file(error: &BlockError, file: &Path) -> BadInput {
    BadInput(format!("{}: {error}", file.display()))
}

fn silent(file: &Path) -> BadInput {
    BadInput(format!("{}: its block does not say which run it is from", file.display()))
}

/// What a block says it is from.
fn source<'a>(block: &'a str, file: &Path) -> Result<&'a str, BadInput> {
    let line = block.lines().next().and_then(|line| line.strip_prefix(FROM)?.strip_suffix(" -->"));
    line.ok_or_else(|| silent(file))
}

/// Paths in a file count from its own folder.
fn beside_file(path: &str, file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(path)
}
