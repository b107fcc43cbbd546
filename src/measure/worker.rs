//! One fresh process. Owns what it is told ([`Plan`]), what it answers ([`Event`], one JSON line each on stdout) and its
//! three tasks: calibrate, time rounds, count allocations. The unit of replication is the process (`METHODOLOGY.md`).
//!
//! Inside the clock: the passes of one candidate, and two clock reads. Outside: making the corpus, checking every message
//! in full, one untimed pass before each slice, looking at who else used the machine.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::allocations;
use super::machine_load::Sample;
use super::pinning;
use super::workload::{Cell, CodecWorkload, SignatureWorkload, Workload};
use crate::codec::{self, Model, Pace};
use crate::vote::corpus;

/// How much longer than asked a slice is made, so that it is long enough in a faster process, too.
const SPARE: f64 = 1.25;

/// The protocol name of the row that verifies a signature.
pub const SIGNATURE: &str = "ed25519-verify";

/// What a worker is started for; the first line on its stdin, as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// Rounds of the serialization suite.
    Serialization(Plan),
    /// The server of one protocol.
    #[cfg(feature = "net")]
    Serve(super::server::ServePlan),
    /// The client of one protocol, in a closed loop.
    #[cfg(feature = "net")]
    Exchange(super::client::ExchangePlan),
}

/// What a worker of the serialization suite is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// The build that the driver is of; a worker of another build refuses.
    pub build: String,
    /// Process id of the driver: its tree is not foreign.
    pub root: u32,
    /// The core to run on.
    pub core: Option<usize>,
    /// Seed of the corpus.
    pub corpus_seed: u64,
    /// The candidates, in the order in which answers refer to them.
    pub candidates: Vec<Candidate>,
    /// The task.
    pub task: Task,
}

/// One timed region of one protocol.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Candidate {
    /// A codec's name, or [`SIGNATURE`].
    pub protocol: String,
    /// `encode`, `open`, `read`, `own`; `verify` for the signature.
    pub model: String,
    /// `stream` or `chained`.
    pub row: String,
    /// Different votes in the corpus.
    pub votes: usize,
}

/// What a worker does with the candidates.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Find for each candidate how many passes fill a slice of at least so many nanoseconds.
    Calibrate {
        /// Length of a slice.
        slice_ns: u64,
    },
    /// Time every candidate once a round, in an order shuffled anew.
    Rounds {
        /// How many rounds.
        rounds: usize,
        /// Seed of the order.
        order_seed: u64,
        /// Passes in a slice, one figure a candidate.
        passes: Vec<u64>,
    },
    /// Count allocations over so many messages.
    Count {
        /// The window; what is counted over is the largest multiple of a candidate's votes that fits.
        messages: u64,
    },
}

/// What a worker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// Passes in a slice, for one candidate.
    Calibrated {
        /// Which candidate.
        candidate: usize,
        /// Its passes.
        passes: u64,
    },
    /// One round is done.
    Round {
        /// Nanoseconds per operation of each candidate; `None` where it failed.
        ns_per_op: Vec<Option<f64>>,
        /// CPU time of foreign processes during the round, as a share of all cores' time.
        foreign_share: f64,
        /// Stolen time during the round, as a share of all cores' time.
        steal_share: f64,
    },
    /// Allocations of one candidate.
    Counted {
        /// Which candidate.
        candidate: usize,
        /// Messages counted over.
        window: u64,
        /// Calls for memory in that window.
        allocations: u64,
        /// Bytes asked for in that window.
        bytes: u64,
    },
    /// A candidate failed; it is left out from here on.
    Failed {
        /// Which candidate.
        candidate: usize,
        /// Why, in one sentence.
        reason: String,
    },
}

/// The build that this program is of: a driver and its workers must agree on it.
#[must_use]
pub fn build() -> String {
    let source = crate::result::source::Source::of_this_build();
    format!("{} {} {}", source.version, source.commit, source.profile)
}

/// Reads a job from the first line of `input` and does it, an event a line on `output`.
///
/// # Errors
/// A sentence, where the job makes no sense to this build or the machine refuses it.
pub fn run(mut input: impl BufRead + Send + 'static, output: impl Write + Send) -> Result<(), String> {
    let mut text = String::new();
    input.read_line(&mut text).map_err(|error| format!("the job cannot be read: {error}"))?;
    match serde_json::from_str(&text).map_err(|error| format!("the job makes no sense: {error}"))? {
        Job::Serialization(plan) => {
            accept(&plan.build, plan.core)?;
            Bench::new(&plan, output).carry_out()
        }
        #[cfg(feature = "net")]
        Job::Serve(plan) => {
            accept(&plan.build, plan.core)?;
            super::server::run(plan, input, output)
        }
        #[cfg(feature = "net")]
        Job::Exchange(plan) => {
            accept(&plan.build, plan.core)?;
            super::client::run(plan, input, output)
        }
    }
}

/// Checks that the driver is of this build, and pins this process.
fn accept(theirs: &str, core: Option<usize>) -> Result<(), String> {
    if theirs != build() {
        return Err(format!("this program is of the build {}, its driver of {theirs}", build()));
    }
    core.map_or(Ok(()), |core| pinning::pin(core).map_err(|error| format!("cannot run on core {core}: {error}")))
}

/// Writes `event` as a line for the driver, at once.
///
/// # Errors
/// Where the driver is gone.
pub fn say<E: Serialize>(output: &mut impl Write, event: &E) -> Result<(), String> {
    let mut line = serde_json::to_string(event).map_err(|error| error.to_string())?;
    line.push('\n');
    let written = output.write_all(line.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| format!("the driver does not listen any more: {error}"))
}

/// The candidates of one plan, and the workloads that they share.
struct Bench<'p, W> {
    plan: &'p Plan,
    workloads: HashMap<(&'p str, usize), Box<dyn Workload>>,
    cells: Vec<Cell>,
    failed: Vec<bool>,
    output: W,
}

impl<'p, W: Write> Bench<'p, W> {
    fn new(plan: &'p Plan, output: W) -> Self {
        let cells = plan.candidates.iter().map(cell).collect();
        Self { plan, workloads: HashMap::new(), cells, failed: vec![false; plan.candidates.len()], output }
    }

    fn carry_out(mut self) -> Result<(), String> {
        for index in 0..self.plan.candidates.len() {
            if let Err(reason) = self.prepare(index) {
                self.fail(index, reason)?;
            }
        }
        match &self.plan.task {
            Task::Calibrate { slice_ns } => self.calibrate(Duration::from_nanos(*slice_ns)),
            Task::Rounds { rounds, order_seed, passes } => self.rounds(*rounds, *order_seed, passes),
            Task::Count { messages } => self.count(*messages),
        }
    }

    fn prepare(&mut self, index: usize) -> Result<(), String> {
        let Candidate { protocol, votes, .. } = &self.plan.candidates[index];
        if self.workloads.contains_key(&(protocol.as_str(), *votes)) {
            return Ok(());
        }
        let corpus = corpus::votes(*votes, self.plan.corpus_seed);
        let workload: Box<dyn Workload> = if protocol == SIGNATURE {
            Box::new(SignatureWorkload::new(&corpus))
        } else {
            let codec = codec::by_name(protocol).ok_or_else(|| format!("there is no codec {protocol}"))?;
            Box::new(CodecWorkload::new(codec, corpus)?)
        };
        self.workloads.insert((protocol, *votes), workload);
        Ok(())
    }

    fn calibrate(&mut self, slice: Duration) -> Result<(), String> {
        let mut passes = vec![1; self.plan.candidates.len()];
        // Twice over all of them, and each time the fastest of three: a slow moment would make every later slice too short.
        for _ in 0..2 {
            for (candidate, passes) in passes.iter_mut().enumerate() {
                while let Some(elapsed) = self.slice(candidate, *passes, 3)? {
                    let wanted = slice.mul_f64(SPARE);
                    if elapsed >= wanted {
                        break;
                    }
                    let factor = wanted.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
                    *passes = scaled(*passes, factor).max(*passes + 1);
                }
            }
        }
        for (candidate, passes) in passes.into_iter().enumerate() {
            if self.failed[candidate] {
                continue;
            }
            self.say(&Event::Calibrated { candidate, passes })?;
        }
        Ok(())
    }

    fn rounds(&mut self, rounds: usize, order_seed: u64, passes: &[u64]) -> Result<(), String> {
        let mut random = ChaCha8Rng::seed_from_u64(order_seed);
        let mut order: Vec<usize> = (0..self.plan.candidates.len()).collect();
        for _ in 0..rounds {
            shuffle(&mut order, &mut random);
            let mut ns_per_op = vec![None; order.len()];
            let before = Sample::take(self.plan.root);
            for &candidate in &order {
                if let Some(elapsed) = self.slice(candidate, passes[candidate], 1)? {
                    let operations = self.operations(candidate) * passes[candidate];
                    ns_per_op[candidate] = Some(per_operation(elapsed, operations));
                }
            }
            let load = Sample::take(self.plan.root).since(&before);
            self.say(&Event::Round { ns_per_op, foreign_share: load.foreign_share, steal_share: load.steal_share })?;
        }
        Ok(())
    }

    fn count(&mut self, messages: u64) -> Result<(), String> {
        if !allocations::is_counting() {
            return Err("this program does not count allocations: votebench-count does".to_owned());
        }
        for candidate in 0..self.plan.candidates.len() {
            if self.failed[candidate] {
                continue;
            }
            let operations = self.operations(candidate).max(1);
            let passes = messages / operations;
            // The pass before the window fills the buffers that are reused from message to message.
            if self.slice(candidate, 1, 1)?.is_none() {
                continue;
            }
            let before = allocations::count();
            let outcome = self.passes(candidate, passes);
            let counted = allocations::count().since(before);
            match outcome {
                Ok(()) => self.say(&Event::Counted {
                    candidate,
                    window: passes * operations,
                    allocations: counted.allocations,
                    bytes: counted.bytes,
                })?,
                Err(reason) => self.fail(candidate, reason)?,
            }
        }
        Ok(())
    }

    /// Times `passes` passes after an untimed one, and gives the shortest of `attempts`; `None` where the candidate fails.
    fn slice(&mut self, candidate: usize, passes: u64, attempts: usize) -> Result<Option<Duration>, String> {
        let mut shortest = None;
        for _ in 0..attempts {
            if self.failed[candidate] {
                return Ok(None);
            }
            let outcome = self.passes(candidate, 1).and_then(|()| {
                let start = Instant::now();
                self.passes(candidate, passes)?;
                Ok(start.elapsed())
            });
            match outcome {
                Ok(elapsed) => shortest = Some(shortest.map_or(elapsed, |best: Duration| best.min(elapsed))),
                Err(reason) => self.fail(candidate, reason)?,
            }
        }
        Ok(shortest)
    }

    fn passes(&mut self, candidate: usize, passes: u64) -> Result<(), String> {
        let cell = self.cells[candidate];
        let workload = self.workload(candidate)?;
        for _ in 0..passes {
            workload.pass(cell)?;
        }
        Ok(())
    }

    fn operations(&mut self, candidate: usize) -> u64 {
        self.workload(candidate).map_or(1, |workload| workload.operations())
    }

    fn workload(&mut self, candidate: usize) -> Result<&mut Box<dyn Workload>, String> {
        let Candidate { protocol, votes, .. } = &self.plan.candidates[candidate];
        let key = (protocol.as_str(), *votes);
        self.workloads.get_mut(&key).ok_or_else(|| format!("{protocol} could not be set up"))
    }

    fn fail(&mut self, candidate: usize, reason: String) -> Result<(), String> {
        self.failed[candidate] = true;
        self.say(&Event::Failed { candidate, reason })
    }

    fn say(&mut self, event: &Event) -> Result<(), String> {
        say(&mut self.output, event)
    }
}

fn cell(candidate: &Candidate) -> Cell {
    let model = Model::ALL.into_iter().find(|model| model.name() == candidate.model).unwrap_or(Model::Read);
    let pace = Pace::ALL.into_iter().find(|pace| pace.name() == candidate.row).unwrap_or(Pace::Stream);
    Cell { model, pace }
}

/// Fisher-Yates; the bias of a 64-bit remainder is below 2^-50 for any list that fits in memory here.
pub fn shuffle<T>(order: &mut [T], random: &mut ChaCha8Rng) {
    for last in (1..order.len()).rev() {
        let pick = random.next_u64() % (last as u64 + 1);
        order.swap(last, usize::try_from(pick).unwrap_or(last));
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a slice and its operations stay far below 2^53")]
fn per_operation(elapsed: Duration, operations: u64) -> f64 {
    elapsed.as_nanos() as f64 / operations as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive count of passes, rounded up; casts from floats saturate"
)]
fn scaled(passes: u64, factor: f64) -> u64 {
    (passes as f64 * factor).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(task: Task) -> Plan {
        let candidate = |protocol: &str, model: &str, row: &str| Candidate {
            protocol: protocol.to_owned(),
            model: model.to_owned(),
            row: row.to_owned(),
            votes: 16,
        };
        let candidates = vec![
            candidate("packed-145", "encode", "stream"),
            candidate("no-such-codec", "read", "stream"),
            candidate("packed-145", "read", "chained"),
        ];
        Plan { build: build(), root: std::process::id(), core: None, corpus_seed: 1, candidates, task }
    }

    fn answers(plan: &Plan) -> Result<Vec<Event>, String> {
        let mut output = Vec::new();
        let job = serde_json::to_vec(&Job::Serialization(plan.clone())).unwrap();
        run(std::io::Cursor::new(job), &mut output)?;
        Ok(String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    #[test]
    fn times_every_candidate_in_every_round_and_leaves_out_what_failed() {
        let events = answers(&plan(Task::Rounds { rounds: 3, order_seed: 9, passes: vec![2, 2, 2] })).unwrap();
        assert!(matches!(&events[0], Event::Failed { candidate: 1, reason } if reason.contains("no-such-codec")));
        assert_eq!(events.len(), 4);
        for event in &events[1..] {
            let Event::Round { ns_per_op, .. } = event else { panic!("{event:?}") };
            assert!(ns_per_op[0].is_some_and(|ns| ns > 0.0) && ns_per_op[2].is_some_and(|ns| ns > 0.0));
            assert_eq!(ns_per_op[1], None);
        }
    }

    #[test]
    fn calibrates_to_the_slice() {
        let events = answers(&plan(Task::Calibrate { slice_ns: 100_000 })).unwrap();
        let passes: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                Event::Calibrated { candidate, passes } => Some((*candidate, *passes > 1)),
                _ => None,
            })
            .collect();
        assert_eq!(passes, [(0, true), (2, true)]);
    }

    #[test]
    fn refuses_another_build_and_counting_without_a_counter() {
        let mut other = plan(Task::Count { messages: 100 });
        assert!(answers(&other).unwrap_err().contains("votebench-count"));
        other.build = "0.0.0 something else".to_owned();
        assert!(answers(&other).unwrap_err().contains("0.0.0 something else"));
    }

    #[test]
    fn shuffles_into_every_order() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut order = [0, 1, 2];
        let mut seen = HashMap::new();
        for _ in 0..6_000 {
            shuffle(&mut order, &mut random);
            *seen.entry(order).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (850..1_150).contains(count)), "{seen:?}");
    }
}
