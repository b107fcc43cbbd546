//! A run with what lies beside its results file: the intervals of rows that were under load. Owns reading them; which files
//! there are stands in the run's own measurements, and whoever writes them is `measure`'s.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::ResultError;
use super::read;
use super::record::RunFile;

/// The setting of a measurement that names the file of its row's intervals.
pub const FILE: &str = "interval_file";

/// A run, and the intervals that lie beside it, by the name of their file.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The run.
    pub run: RunFile,
    /// The intervals of each row that has any, in order.
    pub intervals: BTreeMap<String, Vec<Interval>>,
}

/// What a report needs of an interval: of the line that stands in a `.intervals.jsonl`, the rest is skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Interval {
    /// When it began, in nanoseconds from the row's start; where a run was resumed, the time it lay still is counted.
    pub start_ns: u64,
    /// How long it was, in nanoseconds.
    pub length_ns: u64,
    /// Votes that were answered well.
    pub answered: u64,
    /// From due to answered.
    pub response: Digest,
    /// Whether others disturbed the machine too much.
    pub disturbed: bool,
    /// Whether the generator itself was too late.
    pub invalid: bool,
}

/// What a distribution comes to, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Digest {
    /// Samples.
    pub count: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
}

impl From<RunFile> for Loaded {
    /// A run of which nothing lies beside.
    fn from(run: RunFile) -> Self {
        Self { run, intervals: BTreeMap::new() }
    }
}

/// Reads a run, by its folder or its results file, and the intervals beside it. A file that is not there is none.
///
/// # Errors
/// As [`read::run`]; and where a file of intervals cannot be read or holds something else before its last line.
pub fn load(path: &Path) -> Result<Loaded, ResultError> {
    let run = read::run(path)?;
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let mut intervals = BTreeMap::new();
    for name in run.measurements.iter().filter_map(|m| m.settings.get(FILE)?.as_str()) {
        // A name with a path in it is none of ours.
        if Path::new(name).file_name().is_some_and(|own| own == name)
            && let Some(found) = read_file(&folder.join(name))?
        {
            intervals.insert(name.to_owned(), found);
        }
    }
    Ok(Loaded { run, intervals })
}

fn read_file(path: &Path) -> Result<Option<Vec<Interval>>, ResultError> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text, path).map(Some),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(ResultError::Read { path: path.to_owned(), cause }),
    }
}

/// The intervals of a file's text; a last line without an end was cut off when its run was killed, and does not count.
fn parse(text: &str, path: &Path) -> Result<Vec<Interval>, ResultError> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let wrong = |number: usize, error: &serde_json::Error| ResultError::Shape {
        path: PathBuf::from(path),
        reason: format!("line {}: {error}", number + 1),
    };
    let line = |(number, line)| serde_json::from_str(line).map_err(|error| wrong(number, &error));
    whole.lines().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"index":0,"start_ns":5,"length_ns":10,"answered":3,"response":{"count":3,"p50":1,"p99":2,"p99_9":2,"max":2},"disturbed":true,"invalid":false,"foreign_share":0.5}"#;

    #[test]
    fn a_line_that_was_cut_off_does_not_count() {
        let read = |text: &str| parse(text, Path::new("zap.intervals.jsonl"));
        let one = read(&format!("{LINE}\n{}", &LINE[..40])).unwrap();
        assert_eq!((one.len(), one[0].start_ns, one[0].response.p99, one[0].disturbed), (1, 5, 2, true));
        assert!(read("").unwrap().is_empty() && read("{").unwrap().is_empty());
        let error = read(&format!("{LINE}\n{{}}\n")).unwrap_err().to_string();
        assert!(error.contains("zap.intervals.jsonl") && error.contains("line 2"), "{error}");
    }

    #[test]
    fn only_files_beside_the_run_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        fs::create_dir(&run).unwrap();
        fs::write(folder.path().join("outside.jsonl"), format!("{LINE}\n")).unwrap();
        fs::write(run.join("inside.jsonl"), format!("{LINE}\n")).unwrap();
        let mut file: RunFile =
            read::parse(include_str!("../../schemas/results.v1.example.json"), Path::new("example")).unwrap();
        for (m, name) in file.measurements.iter_mut().zip(["../outside.jsonl", "inside.jsonl", "gone.jsonl"]) {
            m.settings.insert(FILE.to_owned(), name.into());
        }
        fs::write(run.join("results.json"), serde_json::to_string(&file).unwrap()).unwrap();
        for path in [run.clone(), run.join("results.json")] {
            let loaded = load(&path).unwrap();
            assert_eq!(loaded.intervals.keys().collect::<Vec<_>>(), ["inside.jsonl"]);
        }
    }
}
