//! What a user means by a side: a file, a run's folder, a folder of runs, or a commit. Owns the search and the sentences where it
//! finds nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cmd::BadInput;
use crate::compare::side::Side;
use crate::result::{RunFile, read};

/// Shortest beginning of a commit that is taken for one.
const COMMIT_DIGITS: usize = 4;

/// Digits of the commit in a folder's name.
const NAMED_DIGITS: usize = 12;

/// The sides that `names` stand for, each read in a thread of its own.
///
/// # Errors
/// A sentence for the first that is none.
pub(in crate::cmd) fn load(names: &[String], results: &Path) -> Result<Vec<Side>, BadInput> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = names.iter().map(|name| scope.spawn(move || side(name, results))).collect();
        let sides = threads.into_iter().zip(names);
        sides
            .map(|(thread, name)| {
                thread.join().unwrap_or_else(|_| Err(BadInput(format!("{name}: reading it has failed"))))
            })
            .collect()
    })
}

fn side(name: &str, results: &Path) -> Result<Side, BadInput> {
    let path = Path::new(name);
    let paths = if path.is_file() || path.join("results.json").is_file() {
        vec![path.to_owned()]
    } else if path.is_dir() {
        let found = runs_under(path);
        if found.is_empty() {
            return Err(BadInput(format!("{name}: the folder has no results.json, nor has any folder in it")));
        }
        found
    } else {
        of_commit(name, results)?
    };
    let runs: Result<Vec<RunFile>, _> = paths.iter().map(|path| read::run(path)).collect();
    runs.map(|runs| Side::new(name, runs)).map_err(|error| BadInput(error.to_string()))
}

/// The folders in `folder` that hold a run, in the order of their names.
fn runs_under(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.join("results.json").is_file()).collect();
    found.sort();
    found
}

fn of_commit(name: &str, results: &Path) -> Result<Vec<PathBuf>, BadInput> {
    let is_commit = name.len() >= COMMIT_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_commit {
        return Err(BadInput(format!("{name}: there is no such file or folder, and it is not a commit's digits")));
    }
    let wanted = name.to_ascii_lowercase();
    let wanted = wanted.get(..NAMED_DIGITS).unwrap_or(&wanted);
    let commit = |path: &Path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        name.split('-').nth(1).map(str::to_owned)
    };
    let mut found = runs_under(results);
    found.retain(|path| commit(path).is_some_and(|commit| commit.starts_with(wanted)));
    let mut commits: Vec<_> = found.iter().filter_map(|path| commit(path)).collect();
    commits.sort();
    commits.dedup();
    match commits.len() {
        0 => Err(BadInput(format!("{name}: no run of this commit lies under {}", results.display()))),
        1 => Ok(found),
        _ => Err(BadInput(format!("{name}: several commits begin like that: {}", commits.join(", ")))),
    }
}
