//! The driver of the sustained suite: open-loop load on one protocol after another, for as long as is asked. Owns which row
//! runs when, and that nothing which was measured is lost.
//!
//! | module | owns |
//! | --- | --- |
//! | [`options`] | what is asked for, and what a resumed run must have in common with what it resumes |
//! | [`rig`] | a server and a generator, from start to end |
//! | [`row`] | one row: counts, capacity, warm-up, load |
//! | [`capacity`] | the highest rate that is held, by bisection |
//! | [`logs`] | a row's files: written as intervals end, read back for the summary |
//! | [`summary`] | what a row's logs come to |
//! | [`records`] | summaries as the records of a results file |
//! | [`preflight`] | whether a run can come to its end, asked before it begins |

pub mod capacity;
pub mod logs;
pub mod options;
pub mod preflight;
pub mod records;
pub mod rig;
pub mod row;
pub mod summary;

use std::path::Path;
use std::time::Duration;

use super::conditions::{Findings, Watch, wait_until_fit};
use super::pinning;
use super::processes::{Programs, Stop};
use super::serialization::{Outcome, command, now};
use crate::result::machine::Machine;
use crate::result::record::{RunFile, RunInfo, SCHEMA};
use crate::result::source::Source;

pub use options::{Options, Rate, RowKey};
use row::RowFacts;

/// What tells whoever watches how far the run is.
pub trait Watcher {
    /// A sentence.
    fn say(&mut self, sentence: &str);

    /// An interval of a row is over.
    fn interval(&mut self, row: &RowKey, entry: &super::load::books::Entry, left: Duration);
}

/// Runs the suite, or goes on with what lies in `folder` already; the [plan](logs::write_plan) is there.
///
/// # Errors
/// A sentence, where the folder cannot be written or read.
pub fn run(
    options: &Options,
    programs: &Programs,
    stop: &Stop,
    folder: &Path,
    id: &str,
    watcher: &mut (dyn Watcher + Send),
) -> Result<Outcome, String> {
    let started = now();
    let watch = Watch::begin();
    let (waited, unfit) = if stop.is_set() {
        (Duration::ZERO, None)
    } else {
        wait_until_fit(options.force, stop, &mut |sentence| watcher.say(sentence))
    };
    let refused = unfit.clone().filter(|_| !options.force);
    // Whatever the driver does beside the load happens on the client's core, where the generator sees it; its own thread is
    // free again afterwards, to meter every core.
    let rows = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            if let Some((client, _)) = options.cores {
                pinning::pin(client).map_err(|error| format!("cannot run on core {client}: {error}"))?;
            }
            run_rows(options, programs, stop, folder, refused.as_deref(), watcher)
        });
        running.join().unwrap_or_else(|_| Err("the driver stopped".to_owned()))
    })?;
    let stopped = stop.is_set() || rows.iter().any(|(_, facts)| facts.stopped);
    let mut summaries = Vec::new();
    for (key, facts) in rows {
        let summary = summary::of(folder, &key, &facts, options)?;
        summaries.push((key, facts, summary));
    }
    let conditions = watch.end(Findings {
        reasons: unfit.into_iter().collect(),
        forced: options.force,
        waited,
        core: options.cores.map(|(client, _)| client),
        rounds_total: summaries.iter().filter_map(|(.., summary)| Some(summary.as_ref()?.intervals)).sum(),
        dropped: Vec::new(),
    });
    let failed = summaries
        .iter()
        .find_map(|(key, facts, _)| facts.failed.as_ref().map(|reason| format!("{}: {reason}", key.label())));
    let run = RunFile {
        schema: SCHEMA.to_owned(),
        run: RunInfo {
            id: id.to_owned(),
            started,
            finished: now(),
            complete: !stopped,
            command: command(),
            seed: options.seed,
        },
        source: Source::of_this_build(),
        machine: Machine::here(),
        measurements: records::measurements(options, &summaries),
        conditions,
        settings: options.settings(),
    };
    Ok(Outcome { run, failed })
}

/// Every row with what is known of it in the end. `refused` is the reason for which none may run, where there is one.
fn run_rows(
    options: &Options,
    programs: &Programs,
    stop: &Stop,
    folder: &Path,
    refused: Option<&str>,
    watcher: &mut (dyn Watcher + Send),
) -> Result<Vec<(RowKey, RowFacts)>, String> {
    let mut rows = Vec::new();
    for key in options.rows() {
        let facts = match (refused, logs::read_facts(folder, &key)?) {
            (_, Some(done)) if done.is_over() => done,
            (Some(reason), _) => RowFacts::not_run(reason),
            _ if stop.is_set() => RowFacts::not_run("the run was ended before it"),
            (None, begun) => row::run(options, &key, programs, stop, folder, begun.unwrap_or_default(), watcher)?,
        };
        rows.push((key, facts));
    }
    Ok(rows)
}
