//! The driver of the HTTP study: arms that answer the same request, in fresh pairs of processes. Owns which pair runs when, what is
//! taken anew, and every figure that came back; the loop itself, with its clock, is [`http_client`](super::http_client)'s.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::arm::{Arms, Wait};
use super::conditions::{Findings, Watch, is_disturbed, wait_until_fit};
use super::http_client::{Length, WindowPlan};
use super::http_pair::{self, Found, Outcome as PairOutcome, PairPlan};
use super::latency::seed_from_clock;
use super::machine_load::Sample;
use super::processes::{Programs, Stop};
use super::progress::Progress;
use super::serialization::{Outcome, command, now};
use super::shuffle::shuffle;
use super::{http_records, http_yardstick};
use crate::result::machine::Machine;
use crate::result::record::{RunFile, RunInfo, SCHEMA};
use crate::result::source::Source;

/// Blocks that a window is cut into.
pub const BLOCKS: u32 = 5;

/// Connections, each with a request in flight, of the concurrent window.
pub const CONNECTIONS: usize = 32;

/// Requests that allocations, bytes and system calls are counted over: as many as the paper's.
pub const COUNT_WINDOW: u64 = 5_000;

/// Requests before the first that counts: on one connection, and on each of many.
pub const WARM_UP: [u64; 2] = [1_000, 100];

/// How often a set of pairs is taken before a disturbance is put up with.
const ATTEMPTS: usize = 3;

/// The names of the windows, as results have them.
pub const WINDOWS: [&str; 2] = ["sequential", "concurrent"];

/// What the study is asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The arms.
    pub arms: Vec<String>,
    /// The workloads.
    pub workloads: Vec<String>,
    /// Fresh pairs of processes for each.
    pub processes: usize,
    /// How long a block is.
    pub block: Duration,
    /// The waits, in the order of the tables. The concurrent window is taken in `block` alone.
    pub waits: Vec<Wait>,
    /// Cores of client and server; where there are none, nobody is pinned.
    pub cores: Option<(usize, usize)>,
    /// Measure on an unfit machine too.
    pub force: bool,
    /// Seed of the orders; from the clock where there is none.
    pub seed: Option<u64>,
}

/// One arm, asked for one workload, in one wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The arm.
    pub arm: String,
    /// The workload.
    pub workload: String,
    /// The wait.
    pub wait: Wait,
}

/// What the windows of each process found; `None` where it failed or never ran.
pub type Timed = BTreeMap<Key, Vec<Option<Vec<Found>>>>;

/// Everything that a run has found out.
#[derive(Debug, Default)]
pub struct Session {
    /// Timed pairs, by process.
    pub timed: Timed,
    /// The same with the first attempt in each place: what would have counted if nothing had been taken anew.
    pub first: Timed,
    /// The pairs that count, by arm and workload.
    pub counted: BTreeMap<(String, String), Found>,
    /// What failed, and why.
    pub failed: BTreeMap<Key, String>,
    /// Why there are no counts.
    pub uncounted: BTreeMap<(String, String), String>,
    /// Sets of pairs that were disturbed and taken anew: the process, and the place of workload and wait in their list.
    pub retaken: BTreeSet<[usize; 2]>,
    /// Sets that were disturbed every time, and count all the same: process, workload, wait.
    pub disturbed: BTreeSet<(usize, String, Wait)>,
    /// Sets of pairs that were taken.
    pub sets: usize,
    /// The arm beside a server that is not ours; `None` where that was not taken.
    pub yardstick: Option<http_yardstick::Outcome>,
    /// Whether the user ended the run.
    pub stopped: bool,
}

/// Runs the study.
#[must_use]
pub fn run(arms: impl Arms, options: &Options, programs: &Programs, stop: &Stop, id: &str) -> Outcome {
    let started = now();
    let seed = options.seed.unwrap_or_else(seed_from_clock);
    let mut found = Session::default();
    let watch = Watch::begin();
    let counted = options.arms.len() * options.workloads.len();
    let mut progress = Progress::new("pairs", (counted * (1 + options.processes * options.waits.len())) as u64);
    count(options, programs, stop, &mut found, &mut progress);
    let (waited, unfit) = if stop.is_set() {
        (Duration::ZERO, None)
    } else {
        wait_until_fit(options.force, stop, &mut |sentence| progress.say(sentence))
    };
    let refused = unfit.clone().filter(|_| !options.force);
    if refused.is_none() && !stop.is_set() {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        time(options, &mut random, programs, stop, &mut found, &mut progress);
        if !stop.is_set() && !http_yardstick::workloads(options).is_empty() {
            progress.say("nginx and an arm, driven by wrk");
            found.yardstick = Some(http_yardstick::run(arms, options, programs, &mut random, stop));
        }
    }
    found.stopped |= stop.is_set();
    let conditions = watch.end(Findings {
        reasons: unfit.into_iter().collect(),
        forced: options.force,
        waited,
        core: options.cores.map(|(client, _)| client),
        rounds_total: found.sets,
        dropped: found.retaken.iter().copied().collect(),
    });
    let run = RunFile {
        schema: SCHEMA.to_owned(),
        run: RunInfo {
            id: id.to_owned(),
            started,
            finished: now(),
            complete: !found.stopped,
            command: command(),
            seed,
        },
        source: Source::of_this_build(),
        machine: Machine::here(),
        measurements: http_records::measurements(arms, options, &found, refused.as_deref()),
        conditions,
        settings: http_records::settings(options),
    };
    Outcome { run, failed: failure(&found) }
}

fn failure(found: &Session) -> Option<String> {
    let timed = found.failed.iter().map(|(key, reason)| format!("{} ({}): {reason}", key.arm, key.workload));
    let counted = found.uncounted.iter().map(|((arm, workload), reason)| format!("{arm} ({workload}): {reason}"));
    let beside = match &found.yardstick {
        Some(http_yardstick::Outcome::Failed(reason)) if !found.stopped => Some(reason.clone()),
        _ => None,
    };
    timed.chain(counted).chain(beside).next()
}

/// The windows of a pair that is timed.
pub(super) fn windows(options: &Options, wait: Wait) -> Vec<WindowPlan> {
    let length = Length::Blocks { blocks: BLOCKS, block: options.block };
    let connections = [1, CONNECTIONS].into_iter().zip(WARM_UP);
    let windows = connections.map(|(connections, warm_up)| WindowPlan { connections, warm_up, length });
    windows.take(if wait == Wait::Block { 2 } else { 1 }).collect()
}

/// The pairs that count, one an arm and workload: they need no quiet machine, so they come first.
fn count(options: &Options, programs: &Programs, stop: &Stop, found: &mut Session, progress: &mut Progress) {
    let length = Length::Requests(COUNT_WINDOW);
    for workload in &options.workloads {
        for arm in &options.arms {
            let plan = PairPlan {
                arm: arm.clone(),
                workload: workload.clone(),
                wait: Wait::Block,
                cores: options.cores,
                windows: vec![WindowPlan { connections: 1, warm_up: WARM_UP[0], length }],
                count: true,
            };
            let key = (arm.clone(), workload.clone());
            match http_pair::run(&programs.counting, &plan, stop) {
                PairOutcome::Found(windows) => {
                    found.counted.extend(windows.into_iter().next().map(|found| (key, found)))
                }
                PairOutcome::Failed(reason) => drop(found.uncounted.insert(key, reason)),
                PairOutcome::Stopped => return,
            }
            progress.step();
        }
    }
}

/// The timed pairs. A set is all arms at one workload and wait, in an order shuffled anew; for each process all sets, in an order
/// shuffled anew. A set in which any pair was disturbed is taken anew, for all arms, before any value of it is looked at.
fn time(
    options: &Options,
    random: &mut ChaCha8Rng,
    programs: &Programs,
    stop: &Stop,
    found: &mut Session,
    progress: &mut Progress,
) {
    let sets = options.waits.iter().flat_map(|wait| options.workloads.iter().map(|workload| (*wait, workload)));
    let mut sets: Vec<_> = sets.enumerate().collect();
    for process in 0..options.processes {
        shuffle(&mut sets, random);
        for (place, (wait, workload)) in &sets {
            found.sets += 1;
            for attempt in 1..=ATTEMPTS {
                let mut order: Vec<&String> = options.arms.iter().collect();
                shuffle(&mut order, random);
                let mut disturbed = false;
                for arm in order {
                    let key = Key { arm: arm.clone(), workload: (*workload).clone(), wait: *wait };
                    // What fails once is left out from then on.
                    if found.failed.contains_key(&key) {
                        progress.step();
                        continue;
                    }
                    match pair(options, &key, programs, stop) {
                        (PairOutcome::Found(windows), was_disturbed) => {
                            disturbed |= was_disturbed;
                            keep(found, key, process, options.processes, windows);
                        }
                        (PairOutcome::Failed(reason), _) => drop(found.failed.insert(key, reason)),
                        (PairOutcome::Stopped, _) => return,
                    }
                    if attempt == 1 {
                        progress.step();
                    }
                }
                if !disturbed {
                    break;
                }
                found.retaken.insert([process, *place]);
                if attempt == ATTEMPTS {
                    found.disturbed.insert((process, (*workload).clone(), *wait));
                }
            }
        }
    }
}

/// One pair, and whether the machine was disturbed meanwhile.
fn pair(options: &Options, key: &Key, programs: &Programs, stop: &Stop) -> (PairOutcome, bool) {
    let plan = PairPlan {
        arm: key.arm.clone(),
        workload: key.workload.clone(),
        wait: key.wait,
        cores: options.cores,
        windows: windows(options, key.wait),
        count: false,
    };
    let before = Sample::take(std::process::id());
    let outcome = http_pair::run(&programs.plain, &plan, stop);
    let load = Sample::take(std::process::id()).since(&before);
    (outcome, is_disturbed(load.foreign_share, load.steal_share))
}

/// Keeps what a pair found: the last attempt counts, the first is kept beside it.
fn keep(found: &mut Session, key: Key, process: usize, processes: usize, windows: Vec<Found>) {
    let slots = found.first.entry(key.clone()).or_insert_with(|| vec![None; processes]);
    slots[process].get_or_insert_with(|| windows.clone());
    let slots = found.timed.entry(key).or_insert_with(|| vec![None; processes]);
    slots[process] = Some(windows);
}
