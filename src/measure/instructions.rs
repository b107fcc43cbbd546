//! Instructions per message, from what callgrind counted. Owns which cases there are, the reading of gungraun's summaries,
//! and the records made of them; the cases themselves run in `benches/instructions.rs`.
//!
//! What is counted is one pass over a batch, the loop included. The same pass of a codec that does nothing ([`LOOP`]) says
//! what the loop and its call cost; that is taken off before the rest is divided by the number of messages.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::conditions::{Findings, Watch};
use super::records::{SUITE, class};
use super::serialization::{command, now};
use crate::codec::{Info, Model, Pace};
use crate::result::machine::Machine;
use crate::result::record::{Better, Kind, Measurement, Number, RunFile, RunInfo, SCHEMA, Status};
use crate::result::source::Source;
use crate::result::{ResultError, store};

/// The protocol name of the codec that does nothing.
pub const LOOP: &str = "loop";

/// Messages in a batch: one, and so many that what is paid once a batch vanishes.
pub const BATCHES: [usize; 2] = [1, 1_024];

/// By how many instructions per message the two batch sizes may differ without a word.
const TOLERANCE: f64 = 1.0;

/// One run under callgrind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// The codec's name, or [`LOOP`].
    pub protocol: String,
    /// The model.
    pub model: Model,
    /// Messages in the batch.
    pub batch: usize,
}

/// Every model that these codecs have, at both batch sizes, in an order that depends on nothing else: a case is known to
/// gungraun by its place in it.
#[must_use]
pub fn cases(infos: &[&Info]) -> Vec<Case> {
    let mut cases = Vec::new();
    for info in infos {
        for model in Model::ALL.into_iter().filter(|model| info.lacks(*model).is_none()) {
            cases.extend(BATCHES.map(|batch| Case { protocol: info.name.to_owned(), model, batch }));
        }
    }
    cases
}

/// Why gungraun's summaries cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// The operating system refused to read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file is not JSON.
    #[error("{}: is not JSON: {reason}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        reason: String,
    },
    /// The summary's id does not end in the number of a case.
    #[error("{}: belongs to none of the cases", path.display())]
    UnknownCase {
        /// The file.
        path: PathBuf,
    },
    /// The summary has no whole number of instructions from callgrind.
    #[error("{}: holds no instruction count of callgrind", path.display())]
    NoCount {
        /// The file.
        path: PathBuf,
    },
    /// Two summaries are of one case.
    #[error("{}: is the second summary of its case", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
    },
}

/// What callgrind counted: instructions of one pass over each batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<Case, u64>);

impl Counts {
    /// Reads every `summary.json` below `folder`. A case without one has no count, which is no error here.
    ///
    /// # Errors
    /// Where a summary is not what gungraun 0.20 writes, or does not belong to `cases`.
    pub fn read(folder: &Path, cases: &[Case]) -> Result<Self, SummaryError> {
        let mut counts = BTreeMap::new();
        for path in summaries(folder)? {
            let text = fs::read_to_string(&path).map_err(|cause| SummaryError::Read { path: path.clone(), cause })?;
            let summary: Value = serde_json::from_str(&text)
                .map_err(|error| SummaryError::NotJson { path: path.clone(), reason: error.to_string() })?;
            let Some(case) = place(&summary).and_then(|place| cases.get(place)) else {
                return Err(SummaryError::UnknownCase { path });
            };
            let Some(count) = instructions(&summary) else { return Err(SummaryError::NoCount { path }) };
            if counts.insert(case.clone(), count).is_some() {
                return Err(SummaryError::Twice { path });
            }
        }
        Ok(Self(counts))
    }

    fn get(&self, protocol: &str, model: Model, batch: usize) -> Option<u64> {
        self.0.get(&Case { protocol: protocol.to_owned(), model, batch }).copied()
    }

    /// Instructions per message, the loop taken off.
    fn figure(&self, protocol: &str, model: Model, batch: usize) -> Option<Figure> {
        let counted = self.get(protocol, model, batch)?;
        let of_loop = self.get(LOOP, loop_model(model), batch)?;
        let whole = |count: u64| Number::from(count).as_f64();
        let per_message = (whole(counted) - whole(of_loop)) / whole(batch as u64);
        Some(Figure { counted, of_loop, per_message })
    }
}

/// The loop that a model's count has in it. There is no owned vote for nothing: of `own` only the loop of `read` is taken
/// off, which has the same shape.
const fn loop_model(model: Model) -> Model {
    match model {
        Model::Own => Model::Read,
        other => other,
    }
}

struct Figure {
    counted: u64,
    of_loop: u64,
    per_message: f64,
}

/// Every `summary.json` below `folder`, sorted.
fn summaries(folder: &Path) -> Result<Vec<PathBuf>, SummaryError> {
    let failed = |cause| SummaryError::Read { path: folder.to_owned(), cause };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.extend(summaries(&path)?);
        } else if path.file_name().is_some_and(|name| name == "summary.json") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The place of a summary's case: gungraun numbers what an iterator gives, as `NAME_0`, `NAME_1`, ...
fn place(summary: &Value) -> Option<usize> {
    summary.get("id")?.as_str()?.rsplit_once('_')?.1.parse().ok()
}

fn instructions(summary: &Value) -> Option<u64> {
    let profiles = summary.get("profiles")?.as_array()?;
    let callgrind = profiles.iter().find(|profile| profile.get("tool").is_some_and(|tool| tool == "Callgrind"))?;
    callgrind.pointer("/data/total/metrics/Ir/values/new")?.as_u64()
}

/// A measurement for every model, codec and batch size, measured or not; `absent` is why one may be missing.
#[must_use]
pub fn measurements(infos: &[&Info], counts: &Counts, absent: &str) -> Vec<Measurement> {
    let mut all = Vec::new();
    for info in infos {
        for model in Model::ALL {
            all.extend(BATCHES.map(|batch| {
                let measurement = begin(info, model, batch);
                if let Some(reason) = info.lacks(model) {
                    return measurement.without(Status::Unsupported, reason);
                }
                if info.name == LOOP {
                    return of_loop(measurement, counts.get(LOOP, model, batch), batch, absent);
                }
                let Some(figure) = counts.figure(info.name, model, batch) else {
                    return measurement.without(Status::NotMeasured, absent);
                };
                let mut measurement = measurement
                    .value(figure.per_message)
                    .setting("instructions_counted", figure.counted)
                    .setting("instructions_of_loop", figure.of_loop);
                measurement.reason = disagreement(counts, info.name, model);
                measurement
            }));
        }
    }
    all
}

fn begin(info: &Info, model: Model, batch: usize) -> Measurement {
    Measurement::new(SUITE, info.name)
        .class(class(info))
        .model(model.name())
        .row(Pace::Stream.name())
        .workload(&format!("batch-{batch}"))
        .metric("instructions", "1/op", Kind::Exact, Better::Lower)
        .setting("batch", batch)
}

/// The loop's own row: what was taken off the others.
fn of_loop(measurement: Measurement, counted: Option<u64>, batch: usize, absent: &str) -> Measurement {
    let Some(counted) = counted else { return measurement.without(Status::NotMeasured, absent) };
    let per_message = Number::from(counted).as_f64() / Number::from(batch as u64).as_f64();
    let mut measurement = measurement.value(per_message).setting("instructions_counted", counted);
    measurement.reason = Some("the loop and its call, which the other rows have taken off".to_owned());
    measurement
}

/// What is said of a row whose two batch sizes do not agree.
fn disagreement(counts: &Counts, protocol: &str, model: Model) -> Option<String> {
    let [one, many] = BATCHES.map(|batch| counts.figure(protocol, model, batch).map(|figure| figure.per_message));
    let (one, many) = (one?, many?);
    ((one - many).abs() > TOLERANCE).then(|| {
        let [small, large] = BATCHES;
        format!(
            "the batch sizes disagree by {:.2} instructions: {one:.2} per message at {small}, {many:.2} at {large}",
            (one - many).abs()
        )
    })
}

/// A run folder that is being filled.
#[derive(Debug)]
pub struct Recorder {
    folder: store::Folder,
    started: String,
    watch: Watch,
}

impl Recorder {
    /// Makes the folder and begins to watch the machine. Counts do not need a quiet one, but the file says what it was like.
    ///
    /// # Errors
    /// Where the folder cannot be made: found out before anything is counted.
    pub fn begin(results: &Path) -> Result<Self, ResultError> {
        let folder = store::create(results)?;
        Ok(Self { folder, started: now(), watch: Watch::begin() })
    }

    /// Writes the results file. `failed` says what went wrong, where something did; then the run is not complete.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn finish(
        self,
        infos: &[&Info],
        counts: &Counts,
        failed: Option<&str>,
    ) -> Result<(PathBuf, RunFile), ResultError> {
        let absent = failed.unwrap_or("gungraun was not asked for this case");
        let run = RunFile {
            schema: SCHEMA.to_owned(),
            run: RunInfo {
                id: self.folder.id.clone(),
                started: self.started,
                finished: now(),
                complete: failed.is_none(),
                command: command(),
                seed: 0,
            },
            source: Source::of_this_build(),
            machine: Machine::here(),
            conditions: self.watch.end(Findings::default()),
            settings: BTreeMap::from([
                ("batches".to_owned(), BATCHES.to_vec().into()),
                ("votes".to_owned(), "canonical".into()),
                ("valgrind".to_owned(), valgrind().into()),
            ]),
            measurements: measurements(infos, counts, absent),
        };
        let path = store::save(&self.folder, &run)?;
        Ok((path, run))
    }
}

/// The version of the valgrind that is first in the path.
fn valgrind() -> String {
    let output = Command::new("valgrind").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { "unknown".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::codec::Class;

    static ROW: Info = Info {
        name: "row",
        class: Class::Row,
        crates: &[],
        summary: "a row",
        lead: 0,
        lacks: &[(Model::Open, "it has no view")],
    };
    static NOTHING: Info = Info {
        name: LOOP,
        class: Class::Floor,
        crates: &[],
        summary: "the loop",
        lead: 0,
        lacks: &[(Model::Own, "nothing to own")],
    };

    fn case(protocol: &str, model: Model, batch: usize) -> Case {
        Case { protocol: protocol.to_owned(), model, batch }
    }

    /// A summary as gungraun 0.20 writes it, as far as it is read.
    fn summary(id: &str, instructions: impl Into<Value>) -> Value {
        let metrics = json!({"Ir": {"values": {"new": instructions.into()}}});
        json!({"id": id, "version": "7", "profiles": [
            {"tool": "Memcheck", "data": {"parts": [], "total": {"metrics": {"Ir": {"values": {"new": 1}}}}}},
            {"tool": "Callgrind", "data": {"parts": [], "total": {"metrics": metrics, "regressions": []}}},
        ]})
    }

    fn write(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("summary.json"), text).unwrap();
    }

    #[test]
    fn cases_leave_out_what_a_codec_lacks() {
        let cases = cases(&[&ROW, &NOTHING]);
        assert_eq!(cases.len(), 2 * 3 * 2);
        assert_eq!(
            cases[..3],
            [case("row", Model::Encode, 1), case("row", Model::Encode, 1_024), case("row", Model::Read, 1)]
        );
        assert!(!cases.contains(&case("row", Model::Open, 1)) && !cases.contains(&case(LOOP, Model::Own, 1)));
    }

    #[test]
    fn a_summary_is_known_by_the_number_of_its_case() {
        let folder = tempfile::tempdir().unwrap();
        let cases = cases(&[&ROW]);
        write(folder.path(), "a/pass.each_0", &summary("each_0", 120).to_string());
        write(folder.path(), "a/pass.each_3", &summary("each_3", 45_000).to_string());
        fs::write(folder.path().join("a/other.json"), "not ours").unwrap();
        let counts = Counts::read(folder.path(), &cases).unwrap();
        assert_eq!(
            counts.0,
            BTreeMap::from([(case("row", Model::Encode, 1), 120), (case("row", Model::Read, 1_024), 45_000)])
        );
    }

    #[test]
    fn a_summary_that_is_not_understood_is_an_error() {
        let read = |texts: &[String]| {
            let folder = tempfile::tempdir().unwrap();
            for (number, text) in texts.iter().enumerate() {
                write(folder.path(), &number.to_string(), text);
            }
            Counts::read(folder.path(), &cases(&[&ROW])).unwrap_err()
        };
        assert!(matches!(read(&["{".to_owned()]), SummaryError::NotJson { .. }));
        for id in ["each_6", "each_x", "each", "each_-1"] {
            assert!(matches!(read(&[summary(id, 1).to_string()]), SummaryError::UnknownCase { .. }), "{id}");
        }
        for count in [json!(null), json!(1.5), json!("7"), json!(-1)] {
            assert!(matches!(read(&[summary("each_0", count).to_string()]), SummaryError::NoCount { .. }));
        }
        let one = summary("each_0", 1).to_string();
        assert!(matches!(read(&[one.clone(), one]), SummaryError::Twice { .. }));
        assert!(matches!(Counts::read(Path::new("/nowhere/at/all"), &[]), Err(SummaryError::Read { .. })));
    }

    fn counts(of_row: [u64; 2]) -> Counts {
        let [small, large] = BATCHES;
        Counts(BTreeMap::from([
            (case("row", Model::Read, small), of_row[0]),
            (case("row", Model::Read, large), of_row[1]),
            (case("row", Model::Own, large), 20_480 + 13),
            (case(LOOP, Model::Read, small), 30),
            (case(LOOP, Model::Read, large), 20 + 10 * 1_024),
        ]))
    }

    fn find(all: &[Measurement], protocol: &str, model: Model, batch: usize) -> Measurement {
        let workload = format!("batch-{batch}");
        let mut found = all.iter().filter(|m| {
            m.protocol == protocol
                && m.model.as_deref() == Some(model.name())
                && m.workload.as_deref() == Some(&workload)
        });
        found.next().unwrap().clone()
    }

    #[test]
    fn the_loop_is_taken_off() {
        // 25 instructions a message, and one more a batch than the loop's own.
        let all = measurements(&[&ROW, &NOTHING], &counts([30 + 26, 20 + 35 * 1_024 + 1]), "absent");
        assert_eq!(all.len(), 2 * 4 * 2);
        let (one, many) = (find(&all, "row", Model::Read, 1), find(&all, "row", Model::Read, 1_024));
        assert_eq!((one.number(), one.reason), (Some(26.0), None));
        assert_eq!((many.number(), many.reason), (Some(25.0 + 1.0 / 1_024.0), None));
        assert_eq!(many.settings["instructions_of_loop"], 10_260);
        assert_eq!(find(&all, LOOP, Model::Read, 1_024).number(), Some(10_260.0 / 1_024.0));
        // `own` has the loop of `read` taken off.
        assert_eq!(find(&all, "row", Model::Own, 1_024).number(), Some((20_493.0 - 10_260.0) / 1_024.0));
    }

    #[test]
    fn batch_sizes_that_disagree_say_so_in_both_rows() {
        let all = measurements(&[&ROW], &counts([30 + 27, 20 + 35 * 1_024]), "absent");
        for batch in BATCHES {
            let row = find(&all, "row", Model::Read, batch);
            assert_eq!(row.status, Status::Ok);
            assert!(
                row.reason.unwrap().contains("disagree by 2.00 instructions: 27.00 per message at 1, 25.00 at 1024")
            );
        }
        let all = measurements(&[&ROW], &counts([30 + 26, 20 + 35 * 1_024]), "absent");
        assert_eq!(find(&all, "row", Model::Read, 1).reason, None, "exactly one apart is within the tolerance");
    }

    #[test]
    fn nothing_is_silently_missing() {
        let all = measurements(&[&ROW], &counts([57, 35_860]), "absent");
        let (lacking, absent) = (find(&all, "row", Model::Open, 1), find(&all, "row", Model::Own, 1));
        assert_eq!((lacking.status, lacking.reason.as_deref()), (Status::Unsupported, Some("it has no view")));
        assert_eq!(
            (absent.status, absent.reason.as_deref(), absent.value),
            (Status::NotMeasured, Some("absent"), None)
        );
        let coordinates: std::collections::HashSet<_> = all.iter().map(Measurement::coordinates).collect();
        assert_eq!(coordinates.len(), all.len());
    }
}
