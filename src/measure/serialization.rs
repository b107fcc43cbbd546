//! The driver of the serialization suite: which candidates there are, in which order things happen, and what becomes of the
//! figures. Inside the clock is what [`worker`](super::worker) says; here is none.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::conditions::{Findings, Watch, wait_until_fit};
use super::pinning;
use super::processes::{Programs, Stop};
use super::progress::{Progress, tell};
use super::records;
use super::session::{Design, Session};
use super::turns::{self, Part};
use super::worker::{Candidate, SIGNATURE};
use super::workload::SignatureWorkload;
use crate::codec::{self, Codec, Model, Pace};
use crate::result::machine::Machine;
use crate::result::record::{RunFile, RunInfo, SCHEMA};
use crate::result::source::Source;
use crate::vote::corpus;

/// The row that every other is set against.
pub const REFERENCE: &str = "zap";

/// Votes in the corpus of the row that shows what a larger one does.
pub const LARGE: usize = 65_536;

/// What the suite is asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Fresh processes.
    pub processes: usize,
    /// Rounds in each.
    pub rounds: usize,
    /// Shortest slice, in nanoseconds.
    pub slice_ns: u64,
    /// Only these codecs and the reference; empty for all.
    pub codecs: Vec<String>,
    /// Measure on an unfit machine too.
    pub force: bool,
    /// Seed of the orders; from the clock where there is none.
    pub seed: Option<u64>,
    /// Core for the workers; the last allowed one where there is none.
    pub core: Option<usize>,
    /// The part that this run takes in a session, where it takes turns with others.
    pub part: Option<Part>,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The results file.
    pub run: RunFile,
    /// What failed at run time, if something did; the file says it too.
    pub failed: Option<String>,
}

/// Runs the suite: counts first, which need no quiet machine, then, if the machine is fit, rates.
#[must_use]
pub fn run(options: &Options, programs: &Programs, stop: &Stop, id: &str) -> Outcome {
    let started = now();
    let codecs: Vec<_> = codec::all().into_iter().filter(|codec| is_wanted(codec.as_ref(), options)).collect();
    let design = design(options, &codecs);
    let mut session = Session { stopped: design.takes_turns && !turns::ask_here(), ..Session::default() };
    let watch = Watch::begin();
    if !session.stopped {
        session.count(&design, programs, stop);
    }
    let (waited, unfit) = if stop.is_set() || session.stopped {
        (Duration::ZERO, None)
    } else {
        wait_until_fit(options.force, stop, &mut |sentence| tell(&sentence))
    };
    let refused = unfit.clone().filter(|_| !options.force);
    if refused.is_none() && !stop.is_set() && !session.stopped {
        let steps = (design.processes * design.rounds) as u64;
        let mut progress = Progress::new("rounds", steps);
        progress.say(&plan_in_words(&design));
        session.time(&design, programs, stop, &mut progress);
    }
    session.stopped |= stop.is_set() || (design.takes_turns && !session.stopped && !turns::ask_here());
    let conditions = watch.end(Findings {
        reasons: unfit.into_iter().collect(),
        forced: options.force,
        waited,
        core: design.core,
        rounds_total: session.rounds(),
        dropped: session.disturbed(),
    });
    let failed = failure(&design, &session);
    let run = RunFile {
        schema: SCHEMA.to_owned(),
        run: RunInfo {
            id: id.to_owned(),
            started,
            finished: now(),
            complete: !session.stopped && session.broken.is_none() && session.uncounted.is_none(),
            command: command(),
            seed: design.seed,
        },
        source: Source::of_this_build(),
        machine: Machine::here(),
        measurements: records::measurements(codecs, &design, &session, &conditions, refused.as_deref()),
        conditions,
        settings: records::settings(&design, &session, options.part.as_ref()),
    };
    Outcome { run, failed }
}

fn is_wanted(codec: &dyn Codec, options: &Options) -> bool {
    let name = codec.name();
    options.codecs.is_empty() || name == REFERENCE || options.codecs.iter().any(|wanted| wanted == name)
}

fn design(options: &Options, codecs: &[Box<dyn Codec>]) -> Design {
    let mut candidates = Vec::new();
    let mut add = |protocol: &str, model: &str, pace: Pace, votes| {
        let (protocol, model, row) = (protocol.to_owned(), model.to_owned(), pace.name().to_owned());
        candidates.push(Candidate { protocol, model, row, votes });
    };
    for codec in codecs {
        for model in Model::ALL.into_iter().filter(|model| codec.info().lacks(*model).is_none()) {
            for pace in Pace::ALL {
                add(codec.name(), model.name(), pace, corpus::SIZE);
                if codec.name() == REFERENCE {
                    add(codec.name(), model.name(), pace, LARGE);
                }
            }
        }
    }
    add(SIGNATURE, "verify", Pace::Stream, SignatureWorkload::VOTES);
    let clock = OffsetDateTime::now_utc().unix_timestamp_nanos().unsigned_abs();
    Design {
        candidates,
        processes: options.processes,
        rounds: options.rounds,
        slice_ns: options.slice_ns,
        // Below 2^53, which every JSON reader keeps exactly.
        seed: options.seed.unwrap_or_else(|| u64::try_from(clock % (1 << 53)).unwrap_or(0)),
        takes_turns: options.part.is_some(),
        core: options.core.or_else(|| pinning::allowed().ok().and_then(|cores| cores.last().copied())),
    }
}

fn plan_in_words(design: &Design) -> String {
    let slices = (design.candidates.len() * design.processes * design.rounds) as u64;
    format!(
        "{} candidates, {} processes of {} rounds, slices of {} us: at least {} s on core {}",
        design.candidates.len(),
        design.processes,
        design.rounds,
        design.slice_ns / 1_000,
        slices * design.slice_ns / 1_000_000_000,
        design.core.map_or_else(|| "any".to_owned(), |core| core.to_string()),
    )
}

fn failure(design: &Design, session: &Session) -> Option<String> {
    let row = session.failed.iter().next().map(|(candidate, reason)| {
        let Candidate { protocol, model, .. } = &design.candidates[*candidate];
        format!("{protocol} failed at {model}: {reason}")
    });
    session.broken.clone().or_else(|| session.uncounted.clone()).or(row)
}

/// The command line, with the program by its name and not by where it lies on this machine.
pub(super) fn command() -> Vec<String> {
    let mut words: Vec<String> = std::env::args().collect();
    if let Some(program) = words.first_mut() {
        let name = std::path::Path::new(program.as_str()).file_name();
        if let Some(name) = name.map(|name| name.to_string_lossy().into_owned()) {
            *program = name;
        }
    }
    words
}

/// The time, as in a results file.
pub(super) fn now() -> String {
    let now = OffsetDateTime::now_utc().replace_nanosecond(0).unwrap_or_else(|_| OffsetDateTime::now_utc());
    now.format(&Rfc3339).unwrap_or_else(|_| now.unix_timestamp().to_string())
}
