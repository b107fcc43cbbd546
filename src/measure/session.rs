//! One session of fresh processes over a list of candidates: who runs when, and every figure that came back. Owns no
//! statistics and no record; [`serialization`](super::serialization) makes those of it.

use std::collections::BTreeMap;

use super::conditions::is_disturbed;
use super::job::{Job, build};
use super::processes::{self, Ended, Programs, Stop};
use super::progress::Progress;
use super::turns;
use super::worker::{Candidate, Event, Plan, Task};
use crate::vote::corpus;

/// Messages that allocations are counted over.
pub const COUNT_WINDOW: u64 = 100_000;

/// Votes in the corpus that allocations are counted on: a divisor of the window.
const COUNT_VOTES: usize = 1_000;

/// What a session is asked to do.
#[derive(Debug, Clone)]
pub struct Design {
    /// The candidates.
    pub candidates: Vec<Candidate>,
    /// Fresh processes.
    pub processes: usize,
    /// Rounds in each.
    pub rounds: usize,
    /// Shortest slice, in nanoseconds.
    pub slice_ns: u64,
    /// Seed of the orders.
    pub seed: u64,
    /// Core that the workers are pinned to.
    pub core: Option<usize>,
    /// Whether each process waits for its turn.
    pub takes_turns: bool,
}

/// One round of one process.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Nanoseconds per operation of each candidate; `None` where it failed.
    pub ns_per_op: Vec<Option<f64>>,
    /// Whether the machine was disturbed meanwhile.
    pub disturbed: bool,
}

/// Heap traffic of one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Messages counted over.
    pub window: u64,
    /// Calls for memory in that window.
    pub allocations: u64,
    /// Bytes asked for in that window.
    pub bytes: u64,
}

/// Everything that a session has found out.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// Passes in a slice, by candidate.
    pub passes: Vec<u64>,
    /// Processes, each with its rounds.
    pub processes: Vec<Vec<Round>>,
    /// When each process began, in milliseconds since 1970.
    pub began_ms: Vec<u64>,
    /// Heap traffic, by candidate.
    pub counted: BTreeMap<usize, Counted>,
    /// Candidates that failed, and why.
    pub failed: BTreeMap<usize, String>,
    /// Why there are no counts, where there are none; the times do not depend on them.
    pub uncounted: Option<String>,
    /// Why times are missing, where they are: a process that could not be started or died.
    pub broken: Option<String>,
    /// Whether the user ended it.
    pub stopped: bool,
}

impl Session {
    /// How many rounds there were.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.processes.iter().map(Vec::len).sum()
    }

    /// The disturbed rounds, each as process and round.
    #[must_use]
    pub fn disturbed(&self) -> Vec<[usize; 2]> {
        let rounds = self.processes.iter().enumerate().flat_map(|(process, rounds)| {
            rounds.iter().enumerate().filter(|(_, round)| round.disturbed).map(move |(round, _)| [process, round])
        });
        rounds.collect()
    }

    /// A candidate's nanoseconds per operation by process and round; `None` where it failed or was never timed.
    #[must_use]
    pub fn times(&self, candidate: usize) -> Option<Vec<Vec<f64>>> {
        if self.failed.contains_key(&candidate) || self.processes.is_empty() {
            return None;
        }
        let times = |rounds: &Vec<Round>| rounds.iter().map(|round| round.ns_per_op[candidate]).collect();
        self.processes.iter().map(times).collect()
    }

    /// Counts the heap traffic of every candidate, in the counting program. Takes no time that matters and needs no quiet
    /// machine, so it comes first.
    pub fn count(&mut self, design: &Design, programs: &Programs, stop: &Stop) {
        let mut plan = plan(design, Task::Count { messages: COUNT_WINDOW });
        for candidate in &mut plan.candidates {
            candidate.votes = candidate.votes.min(COUNT_VOTES);
        }
        let ended = processes::run(&programs.counting, &Job::Serialization(plan), stop, &mut |event| match event {
            Event::Counted { candidate, window, allocations, bytes } => {
                self.counted.insert(candidate, Counted { window, allocations, bytes });
            }
            other => note_failure(&mut self.failed, other),
        });
        match ended {
            Ended::Failed(reason) => self.uncounted = Some(reason),
            other => self.end(other),
        }
    }

    /// Calibrates once, then times the candidates in fresh processes, one after another.
    pub fn time(&mut self, design: &Design, programs: &Programs, stop: &Stop, progress: &mut Progress) {
        self.calibrate(design, programs, stop);
        for process in 0..design.processes {
            if self.stopped || self.broken.is_some() {
                return;
            }
            if design.takes_turns && !turns::ask_here() {
                self.stopped = true;
                return;
            }
            self.began_ms.push(turns::now_ms());
            let order_seed = design.seed.wrapping_add(process as u64);
            let passes = self.passes.clone();
            let plan = plan(design, Task::Rounds { rounds: design.rounds, order_seed, passes });
            let mut rounds = Vec::with_capacity(design.rounds);
            let ended = processes::run(&programs.plain, &Job::Serialization(plan), stop, &mut |event| match event {
                Event::Round { ns_per_op, foreign_share, steal_share } => {
                    rounds.push(Round { ns_per_op, disturbed: is_disturbed(foreign_share, steal_share) });
                    progress.step();
                }
                other => note_failure(&mut self.failed, other),
            });
            if !rounds.is_empty() {
                self.processes.push(rounds);
            }
            self.end(ended);
        }
    }

    fn calibrate(&mut self, design: &Design, programs: &Programs, stop: &Stop) {
        self.passes = vec![1; design.candidates.len()];
        let plan = plan(design, Task::Calibrate { slice_ns: design.slice_ns });
        let ended = processes::run(&programs.plain, &Job::Serialization(plan), stop, &mut |event| match event {
            Event::Calibrated { candidate, passes } => self.passes[candidate] = passes,
            other => note_failure(&mut self.failed, other),
        });
        self.end(ended);
    }

    fn end(&mut self, ended: Ended) {
        match ended {
            Ended::Done => {}
            Ended::Stopped => self.stopped = true,
            Ended::Failed(reason) => self.broken = Some(reason),
        }
    }
}

fn plan(design: &Design, task: Task) -> Plan {
    Plan {
        build: build(),
        root: std::process::id(),
        core: design.core,
        corpus_seed: corpus::SEED,
        candidates: design.candidates.clone(),
        task,
    }
}

fn note_failure(failed: &mut BTreeMap<usize, String>, event: Event) {
    if let Event::Failed { candidate, reason } = event {
        failed.insert(candidate, reason);
    }
}
