//! A row's files, and the run's plan beside them. Owns their names, that each interval is on the disk before the next one
//! ends, and that whatever a kill has left is read back to the last whole interval.
//!
//! | file | holds |
//! | --- | --- |
//! | `plan.json` | the run's settings: what it may be resumed with |
//! | `ROW.hlog` | response times as a standard interval log; service times in it have the tag `service` |
//! | `ROW.intervals.jsonl` | everything else of each interval, a line each |
//! | `ROW.json` | what is known of the row beside its intervals |
//!
//! An interval counts when its line stands in `ROW.intervals.jsonl`; it goes there last.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use time::OffsetDateTime;

use super::options::{Options, RowKey};
use super::row::RowFacts;
use crate::measure::load::books::Entry;

/// Lines that an interval has in the interval log.
const LOG_LINES: usize = 2;

/// The plan's file.
pub const PLAN: &str = "plan.json";

fn named(path: &Path) -> impl Fn(io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}

/// Where a row's file lies.
#[must_use]
pub fn path(folder: &Path, row: &RowKey, extension: &str) -> PathBuf {
    folder.join(format!("{}.{extension}", row.stem()))
}

/// Why a folder cannot be a run's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The run there has other settings.
    #[error("{path}: the run there has other settings: {differences}")]
    Other {
        /// Its plan.
        path: String,
        /// Which.
        differences: String,
    },
    /// Its plan cannot be read or written.
    #[error("{0}")]
    File(String),
}

/// Writes the run's settings, or makes sure that they are those of the run that lies there.
///
/// # Errors
/// Where they are not, or the file cannot be written.
pub fn write_plan(folder: &Path, options: &Options) -> Result<(), PlanError> {
    let path = folder.join(PLAN);
    let plan = serde_json::to_string_pretty(&options.settings());
    let plan = plan.map_err(|error| PlanError::File(error.to_string()))? + "\n";
    match fs::read_to_string(&path) {
        Ok(there) if there == plan => Ok(()),
        Ok(there) => {
            Err(PlanError::Other { path: path.display().to_string(), differences: differences(&there, options) })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => whole(&path, plan.as_bytes()).map_err(PlanError::File),
        Err(error) => Err(PlanError::File(named(&path)(error))),
    }
}

/// The seed of the run that lies in `folder`.
///
/// # Errors
/// A sentence, where no run's plan lies there.
pub fn recorded_seed(folder: &Path) -> Result<u64, String> {
    let path = folder.join(PLAN);
    let text = fs::read_to_string(&path).map_err(named(&path))?;
    let plan: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    plan["arrival_seed"].as_u64().ok_or_else(|| format!("{}: it is no plan of a sustained run", path.display()))
}

/// The settings in which the run that lies there differs.
fn differences(there: &str, options: &Options) -> String {
    let Ok(there) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(there) else {
        return "its plan makes no sense".to_owned();
    };
    let here = options.settings();
    let other = here.iter().filter(|(name, value)| there.get(*name) != Some(value));
    let words: Vec<_> = other
        .map(|(name, value)| {
            format!("{name} is {} there and {value} here", there.get(name).unwrap_or(&serde_json::Value::Null))
        })
        .collect();
    words.join(", ")
}

/// What is known of a row; `None` where it has not begun.
///
/// # Errors
/// A sentence, where its file cannot be read.
pub fn read_facts(folder: &Path, row: &RowKey) -> Result<Option<RowFacts>, String> {
    let path = path(folder, row, "json");
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(&path)(error)),
    }
}

/// Keeps what is known of a row.
///
/// # Errors
/// A sentence, where its file cannot be written.
pub fn write_facts(folder: &Path, row: &RowKey, facts: &RowFacts) -> Result<(), String> {
    let text = serde_json::to_string(facts).map_err(|error| error.to_string())? + "\n";
    whole(&path(folder, row, "json"), text.as_bytes())
}

/// Writes a file whole or leaves what was there.
fn whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(".votebench-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
        }
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(named(path))
}

/// A row's logs, open to be written on.
#[derive(Debug)]
pub struct RowLogs {
    hlog: (PathBuf, File),
    intervals: (PathBuf, File),
    /// Intervals that are on the disk.
    pub kept: u64,
    /// When the last of them ended, in nanoseconds from the row's start.
    pub end_ns: u64,
    /// How much load they hold, without the time between two parts.
    pub loaded_ns: u64,
}

impl RowLogs {
    /// Opens the logs of `row`. What a kill has left of an interval under way is cut off; where there is nothing yet, the log
    /// begins with a heading.
    ///
    /// # Errors
    /// A sentence, where a file cannot be written, or is not what this program writes.
    pub fn open(folder: &Path, row: &RowKey) -> Result<Self, String> {
        let entries = read_entries(folder, row)?;
        let (hlog, intervals) = (path(folder, row, "hlog"), path(folder, row, "intervals.jsonl"));
        cut(&intervals, |_| true, entries.len())?;
        cut(&hlog, |line| !line.starts_with('#') && !line.starts_with('"'), LOG_LINES * entries.len())?;
        let open = |path: PathBuf| {
            let file = OpenOptions::new().append(true).create(true).open(&path).map_err(named(&path))?;
            Ok::<_, String>((path, file))
        };
        let mut logs = Self {
            hlog: open(hlog)?,
            intervals: open(intervals)?,
            kept: entries.len() as u64,
            end_ns: entries.last().map_or(0, |entry| entry.start_ns + entry.length_ns),
            loaded_ns: entries.iter().map(|entry| entry.length_ns).sum(),
        };
        if logs.hlog.1.metadata().map_err(named(&logs.hlog.0))?.len() == 0 {
            let heading = heading(row);
            logs.hlog.1.write_all(heading.as_bytes()).map_err(named(&logs.hlog.0))?;
        }
        Ok(logs)
    }

    /// Marks in the log that the load goes on after it has lain still.
    ///
    /// # Errors
    /// A sentence, where the log cannot be written.
    pub fn mark_gap(&mut self, gap_ns: u64) -> Result<(), String> {
        let line = format!("#resumed after a gap of {:.3} s\n", std::time::Duration::from_nanos(gap_ns).as_secs_f64());
        self.hlog.1.write_all(line.as_bytes()).map_err(named(&self.hlog.0))
    }

    /// Puts an interval on the disk.
    ///
    /// # Errors
    /// A sentence, where a log cannot be written.
    pub fn append(&mut self, entry: &Entry, log: &str) -> Result<(), String> {
        let mut line = serde_json::to_vec(entry).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let (path, file) = &mut self.hlog;
        file.write_all(log.as_bytes()).and_then(|()| file.sync_data()).map_err(named(path))?;
        let (path, file) = &mut self.intervals;
        file.write_all(&line).and_then(|()| file.sync_data()).map_err(named(path))?;
        self.kept += 1;
        (self.end_ns, self.loaded_ns) = (entry.start_ns + entry.length_ns, self.loaded_ns + entry.length_ns);
        Ok(())
    }
}

/// The first lines of an interval log, as the other implementations write them.
fn heading(row: &RowKey) -> String {
    let now = OffsetDateTime::now_utc();
    let millis = now.unix_timestamp_nanos() / 1_000_000;
    format!(
        "#[votebench sustained: {}; response times in nanoseconds, service times tagged]\n\
         #[Histogram log format version 1.3]\n\
         #[StartTime: {}.{:03} (seconds since epoch), {}]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        row.label(),
        millis / 1_000,
        millis % 1_000,
        now,
    )
}

/// A row's intervals, to the last whole one.
///
/// # Errors
/// A sentence, where the file cannot be read, or holds something else before its last line.
pub fn read_entries(folder: &Path, row: &RowKey) -> Result<Vec<Entry>, String> {
    let path = path(folder, row, "intervals.jsonl");
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(named(&path)(error)),
    };
    let mut entries = Vec::new();
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(named(&path))? == 0 || line.last() != Some(&b'\n') {
            return Ok(entries);
        }
        let entry = serde_json::from_slice(&line);
        entries.push(entry.map_err(|error| format!("{}: line {}: {error}", path.display(), entries.len() + 1))?);
    }
}

/// Shortens a file to its first `count` lines of those that `counts`, with what stands between them; a file that has fewer is
/// no log of this row.
fn cut(path: &Path, counts: impl Fn(&str) -> bool, count: usize) -> Result<(), String> {
    let mut bytes = Vec::new();
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound && count == 0 => return Ok(()),
        Err(error) => return Err(named(path)(error)),
    };
    file.read_to_end(&mut bytes).map_err(named(path))?;
    let (mut end, mut counted) = (0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let whole = line.last() == Some(&b'\n');
        let is_one = counts(&String::from_utf8_lossy(line));
        if !whole || (is_one && counted == count) {
            break;
        }
        counted += usize::from(is_one);
        end += line.len();
    }
    if counted < count {
        return Err(format!("{}: {counted} intervals are there, and {count} should be", path.display()));
    }
    file.set_len(end as u64).map_err(named(path))
}
