//! The blocks of README.md: each suite's tables from a run, and the pictures of several. Owns which run a block is from, writing
//! them, and the check that nobody typed there.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::super::blocks::File;
use super::super::{BadInput, claims, write_whole};
use super::{Args, load, pictures};
use crate::report::plot;
use crate::report::suites::{self, Suite};
use crate::result::{Loaded, RunFile};

/// The block of pictures.
const PICTURES: &str = "pictures";

/// What stands between the runs and the folder in the pictures' line.
const IN: &str = " in ";

/// Writes the blocks that the runs have something for, or with `--check` holds them against it. Runs of one suite stand in its
/// block one under the other, in the order in which they are given.
///
/// # Errors
/// [`BadInput`] where a run has nothing for any block, one is given twice, or a check fails.
pub(super) fn write(runs: &[Loaded], args: &Args) -> anyhow::Result<()> {
    let file = File::read(&args.file)?;
    let mut new = file.text.clone();
    for (place, (loaded, path)) in runs.iter().zip(&args.runs).enumerate() {
        let path = path.display();
        if !suites::ALL.iter().any(|suite| (suite.is_in)(&loaded.run)) {
            return Err(BadInput(format!("{path}: the run has no figures for {}", args.file.display())).into());
        }
        if runs[..place].iter().any(|other| other.run.run.id == loaded.run.run.id) {
            return Err(BadInput(format!("{path}: the run is given twice")).into());
        }
    }
    for suite in &suites::ALL {
        let of_suite: Vec<_> = runs.iter().map(|loaded| &loaded.run).filter(|run| (suite.is_in)(run)).collect();
        if !of_suite.is_empty() {
            new = with_suite(&file, &new, suite, &of_suite)?;
        }
    }
    if let Some(folder) = &args.svg {
        new = with_pictures(&file, &new, runs, &below(folder, &file)?)?;
    }
    if !args.check {
        return write_whole(&args.file, &new).with_context(|| format!("{} cannot be written", args.file.display()));
    }
    file.unchanged(&new, &format!("report --readme {}", listed(&args.runs)))?;
    args.svg.as_ref().map_or(Ok(()), |folder| pictures::check(runs, folder))
}

/// Holds every block against the runs that it says it is from. An empty one is from none; one at least must name a run.
///
/// # Errors
/// [`BadInput`] where one differs, or says nothing.
pub(super) fn check_all(path: &Path) -> anyhow::Result<()> {
    let file = File::read(path)?;
    let mut checked = 0;
    for suite in &suites::ALL {
        let Some(source) = file.source(suite.name)? else { continue };
        let paths: Vec<PathBuf> = source.split(' ').map(|path| file.beside(path)).collect();
        let runs = paths.iter().map(|path| load(path)).collect::<Result<Vec<_>, _>>()?;
        let runs: Vec<_> = runs.iter().map(|loaded| &loaded.run).collect();
        let new = with_suite(&file, &file.text, suite, &runs)?;
        file.unchanged(&new, &format!("report --readme {}", listed(&paths)))?;
        checked += 1;
    }
    if let Some(source) = file.source(PICTURES)? {
        let (runs, folder) = source.rsplit_once(IN).ok_or_else(|| file.silent(PICTURES))?;
        let paths: Vec<PathBuf> = runs.split(", ").map(|path| file.beside(path)).collect();
        let runs = paths.iter().map(|path| load(path)).collect::<Result<Vec<_>, _>>()?;
        let new = with_pictures(&file, &file.text, &runs, folder)?;
        file.unchanged(&new, &format!("report --readme --svg {folder} {}", listed(&paths)))?;
        pictures::check(&runs, &file.beside(folder))?;
        checked += 1;
    }
    checked += usize::from(claims::check_block(&file)?);
    if checked == 0 {
        return Err(BadInput(format!("{}: no block in it says which run it is from", path.display())).into());
    }
    Ok(())
}

fn with_suite(file: &File<'_>, text: &str, suite: &Suite, runs: &[&RunFile]) -> Result<String, BadInput> {
    let from: Vec<_> = runs.iter().map(|run| committed(run)).collect();
    let tables: Vec<_> = runs.iter().map(|run| (suite.markdown)(run)).collect();
    file.filled(text, suite.name, &from.join(" "), &tables.join("\n"))
}

/// Where a run lies that is committed.
fn committed(run: &RunFile) -> String {
    format!("results/{}/results.json", run.run.id)
}

/// The block of pictures: those of the plots that a README has room for.
fn with_pictures(file: &File<'_>, text: &str, runs: &[Loaded], folder: &str) -> Result<String, BadInput> {
    let from: Vec<_> = runs.iter().map(|loaded| committed(&loaded.run)).collect();
    let figures = plot::of(runs);
    let shown = figures.iter().filter(|figure| figure.in_readme).map(|figure| {
        let words = format!("{}. {}. {}", figure.title, figure.unit, figure.source);
        format!("![{}]({folder}/{}.svg)", words.replace(['[', ']', '\n'], " "), figure.name)
    });
    let content = shown.collect::<Vec<_>>().join("\n\n");
    file.filled(text, PICTURES, &format!("{}{IN}{folder}", from.join(", ")), &content)
}

/// The folder as the file's readers find it: it lies beside the file or below.
fn below(folder: &Path, file: &File<'_>) -> Result<String, BadInput> {
    let below = folder.strip_prefix(file.folder()).ok().filter(|below| below.is_relative());
    let words = below.and_then(Path::to_str).map(|below| below.trim_end_matches('/').to_owned());
    words.ok_or_else(|| BadInput(format!("{} does not lie beside {}", folder.display(), file.name())))
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
}
