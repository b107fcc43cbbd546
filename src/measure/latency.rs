//! The driver of the latency suite: closed loop, in fresh pairs of processes, every protocol in both waits. Owns which pair
//! runs when, and every figure that came back; the loop itself, with its clock, is [`client`](super::client)'s.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use hdrhistogram::Histogram;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use time::OffsetDateTime;

use super::conditions::{Findings, Watch, is_disturbed, is_too_much, wait_until_fit};
use super::job::{Isolation, build};
use super::keep_awake::KeptAwake;
use super::machine_load::Sample;
use super::pair::{self, Found, Outcome as PairOutcome, PairPlan};
use super::processes::{Programs, Stop};
use super::progress::Progress;
use super::serialization::{Outcome, command, now};
use super::shuffle::shuffle;
use super::socket_pair::WriteRead;
use super::{hiccup, latency_records, pinning, socket_pair, wake_up};
use crate::protocol::Protocol;
use crate::result::machine::Machine;
use crate::result::record::{RunFile, RunInfo, SCHEMA};
use crate::result::source::Source;
use crate::transport::{Address, Wait};

/// Blocks that a window is cut into; each gives a median.
pub const BLOCKS: u64 = 5;

/// Round trips before the first that counts.
pub const WARM_UP: u64 = 2_000;

/// Round trips before the first of a pair that counts: by then every buffer, table and list of a stack has the size that it
/// keeps.
pub const COUNT_WARM_UP: u64 = 12_000;

/// Round trips that allocations and system calls are counted over.
pub const COUNT_WINDOW: u64 = 10_000;

/// What the suite is asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The protocols.
    pub protocols: Vec<Protocol>,
    /// Fresh pairs of processes for each.
    pub processes: usize,
    /// Round trips in each window.
    pub round_trips: u64,
    /// The waits, in the order of the tables.
    pub waits: Vec<Wait>,
    /// How long the hiccup meter watches the cores between two pairs.
    pub meter: Duration,
    /// What keeps a client and its server apart.
    pub isolation: Isolation,
    /// Whether to keep both cores out of their idle states.
    pub keep_awake: bool,
    /// Cores of client and server; where there are none, nobody is pinned.
    pub cores: Option<(usize, usize)>,
    /// A server that is there already, and the certificate that it must show.
    pub connect: Option<(Address, Option<String>)>,
    /// Longest message.
    pub max_message_bytes: u64,
    /// How long an answer may take.
    pub deadline: Duration,
    /// Measure on an unfit machine too.
    pub force: bool,
    /// Seed of the orders; from the clock where there is none.
    pub seed: Option<u64>,
}

/// One protocol in one wait.
pub type Key = (String, Wait);

/// One timed pair.
#[derive(Debug, Clone)]
pub struct Timed {
    /// What it found.
    pub found: Found,
    /// Whether the machine was disturbed meanwhile.
    pub disturbed: bool,
}

/// Everything that a run has found out.
#[derive(Debug, Default)]
pub struct Session {
    /// Timed pairs, by process; `None` where it failed or never ran.
    pub timed: BTreeMap<Key, Vec<Option<Timed>>>,
    /// The pair that counts.
    pub counted: BTreeMap<Key, Found>,
    /// What failed, and why.
    pub failed: BTreeMap<Key, String>,
    /// What this machine does not support, and why.
    pub unsupported: BTreeMap<Key, String>,
    /// Why there are no counts.
    pub uncounted: BTreeMap<Key, String>,
    /// What the hiccup meter saw between the pairs.
    pub hiccups: Option<Histogram<u64>>,
    /// Cost of writing a message to a socket and reading it from its peer.
    pub write_read: Option<Result<WriteRead, String>>,
    /// What it takes to wake a thread on the server's core.
    pub wake_ups: Option<Result<Histogram<u64>, String>>,
    /// Whether the user ended the run.
    pub stopped: bool,
}

impl Session {
    /// How often the machine was disturbed in the pairs of one protocol and wait.
    #[must_use]
    pub fn disturbance_of(&self, key: &Key) -> Disturbance {
        let pairs = self.timed.get(key).into_iter().flatten().flatten();
        pairs.fold(Disturbance::default(), |sum, timed| Disturbance {
            pairs: sum.pairs + 1,
            disturbed: sum.disturbed + usize::from(timed.disturbed),
            ..sum
        })
    }

    /// How often it was in all pairs, and whether a row was that every verdict is against.
    fn disturbance(&self) -> Disturbance {
        let mut all = Disturbance::default();
        for key in self.timed.keys() {
            let own = self.disturbance_of(key);
            (all.pairs, all.disturbed) = (all.pairs + own.pairs, all.disturbed + own.disturbed);
            if key.0 == latency_records::REFERENCE {
                all.references.extend(own.unfit().map(|reason| format!("{} ({}): {reason}", key.0, key.1.name())));
            }
        }
        all
    }
}

/// In how many pairs the machine was disturbed.
#[derive(Debug, Clone, Default)]
pub struct Disturbance {
    /// Pairs that were timed.
    pub pairs: usize,
    /// Those in which it was.
    pub disturbed: usize,
    /// Why the rows are unfit that every verdict is against.
    references: Vec<String>,
}

impl Disturbance {
    /// Why that is too often, if it is.
    #[must_use]
    pub fn unfit(&self) -> Option<String> {
        let own = is_too_much(self.disturbed, self.pairs)
            .then(|| format!("{} of {} pairs were disturbed", self.disturbed, self.pairs));
        let reasons: Vec<String> = own.into_iter().chain(self.references.iter().cloned()).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// Runs the suite.
#[must_use]
pub fn run(options: &Options, programs: &Programs, stop: &Stop, id: &str) -> Outcome {
    let started = now();
    let seed = options.seed.unwrap_or_else(seed_from_clock);
    let cores = options.cores;
    let mut found = Session::default();
    let watch = Watch::begin();
    let mut progress = Progress::new("pairs", steps(options));
    count(options, cores, programs, stop, &mut found, &mut progress);
    let (waited, unfit) = if stop.is_set() {
        (Duration::ZERO, None)
    } else {
        wait_until_fit(options.force, stop, &mut |sentence| progress.say(sentence))
    };
    let awake = cores.filter(|_| options.keep_awake).map(|(client, server)| KeptAwake::on(&[client, server]));
    let asleep = awake.as_ref().and_then(|kept| kept.as_ref().err()).map(|why| format!("--keep-awake: {why}"));
    let unfit = asleep.or(unfit);
    let refused = unfit.clone().filter(|_| !options.force);
    if refused.is_none() && !stop.is_set() {
        found.write_read = cores.map(|(client, _)| socket_pair::write_read(client).map_err(|error| error.to_string()));
        found.wake_ups =
            cores.map(|(client, server)| wake_up::measure(client, server).map_err(|error| error.to_string()));
        time(options, cores, seed, programs, stop, &mut found, &mut progress);
    }
    drop(awake);
    found.stopped |= stop.is_set();
    let disturbance = found.disturbance();
    let mut conditions = watch.end(Findings {
        reasons: unfit.into_iter().chain(disturbance.unfit()).collect(),
        forced: options.force,
        waited,
        core: cores.map(|(client, _)| client),
        rounds_total: disturbance.pairs,
        // Nothing is dropped from a tail.
        dropped: Vec::new(),
    });
    conditions.rounds_disturbed = Some(disturbance.disturbed as u64);
    let failed = found.failed.iter().chain(&found.uncounted).next().map(|((protocol, wait), reason)| {
        let reason = reason.strip_prefix(&format!("{protocol} ")).unwrap_or(reason);
        format!("{protocol} ({}): {reason}", wait.name())
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
        measurements: latency_records::measurements(options, &found, refused.as_deref()),
        conditions,
        settings: latency_records::settings(options, cores),
    };
    Outcome { run, failed }
}

fn steps(options: &Options) -> u64 {
    ((options.processes + 1) * options.protocols.len() * options.waits.len()) as u64
}

fn plan(options: &Options, cores: Option<(usize, usize)>, protocol: &Protocol, wait: Wait) -> PairPlan {
    PairPlan {
        build: build(),
        isolation: options.isolation,
        protocol: protocol.clone(),
        wait,
        client_core: cores.map(|(client, _)| client),
        server_core: cores.map(|(_, server)| server),
        connect: options.connect.clone(),
        max_message_bytes: options.max_message_bytes,
        deadline: options.deadline,
        warm_up: WARM_UP,
        blocks: BLOCKS,
        block: options.round_trips.div_ceil(BLOCKS),
        count: false,
    }
}

/// The pairs that count, one a protocol and wait: they need no quiet machine, so they come first.
fn count(
    options: &Options,
    cores: Option<(usize, usize)>,
    programs: &Programs,
    stop: &Stop,
    found: &mut Session,
    progress: &mut Progress,
) {
    for wait in &options.waits {
        for protocol in &options.protocols {
            let window = COUNT_WINDOW.min(options.round_trips);
            let plan = plan(options, cores, protocol, *wait);
            let plan = PairPlan { count: true, warm_up: COUNT_WARM_UP, block: window.div_ceil(BLOCKS), ..plan };
            let key = (protocol.name.clone(), *wait);
            match pair::run(&programs.counting, &plan, stop) {
                PairOutcome::Found(pair) => drop(found.counted.insert(key, *pair)),
                PairOutcome::Unsupported(reason) => drop(found.unsupported.insert(key, reason)),
                PairOutcome::Failed(reason) => drop(found.uncounted.insert(key, reason)),
                PairOutcome::Stopped => return,
            }
            progress.step();
        }
    }
}

/// The timed pairs: for each process all protocols in both waits, in an order shuffled anew. What fails once is left out from
/// then on.
fn time(
    options: &Options,
    cores: Option<(usize, usize)>,
    seed: u64,
    programs: &Programs,
    stop: &Stop,
    found: &mut Session,
    progress: &mut Progress,
) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let waits = options.waits.iter();
    let mut order: Vec<(&Protocol, Wait)> =
        waits.flat_map(|wait| options.protocols.iter().map(|protocol| (protocol, *wait))).collect();
    let mut hiccups = hiccup::histogram();
    for process in 0..options.processes {
        shuffle(&mut order, &mut random);
        for (protocol, wait) in &order {
            let key = (protocol.name.clone(), *wait);
            if found.unsupported.contains_key(&key) {
                progress.step();
                continue;
            }
            let slots = found.timed.entry(key.clone()).or_insert_with(|| vec![None; options.processes]);
            if let Entry::Vacant(failure) = found.failed.entry(key) {
                meter(options.meter, &mut hiccups);
                let before = Sample::take(std::process::id());
                let outcome = pair::run(&programs.plain, &plan(options, cores, protocol, *wait), stop);
                let load = Sample::take(std::process::id()).since(&before);
                let disturbed = is_disturbed(load.foreign_share, load.steal_share);
                match outcome {
                    PairOutcome::Found(pair) => slots[process] = Some(Timed { found: *pair, disturbed }),
                    PairOutcome::Unsupported(reason) => drop(found.unsupported.insert(failure.into_key(), reason)),
                    PairOutcome::Failed(reason) => drop(failure.insert(reason)),
                    PairOutcome::Stopped => return,
                }
            }
            progress.step();
        }
    }
    meter(options.meter, &mut hiccups);
    found.hiccups = Some(hiccups);
}

/// Watches every core at once, alone, while nothing is measured.
fn meter(duration: Duration, into: &mut Histogram<u64>) {
    let cores = pinning::allowed().unwrap_or_default();
    std::thread::scope(|scope| {
        let meters: Vec<_> =
            cores.into_iter().map(|core| scope.spawn(move || hiccup::measure(core, duration))).collect();
        for meter in meters {
            if let Ok(Ok(gaps)) = meter.join() {
                // Both have the same bounds.
                let _ = into.add(&gaps);
            }
        }
    });
}

/// A seed that nobody has chosen.
pub(super) fn seed_from_clock() -> u64 {
    let clock = OffsetDateTime::now_utc().unix_timestamp_nanos().unsigned_abs();
    // Below 2^53, which every JSON reader keeps exactly.
    u64::try_from(clock % (1 << 53)).unwrap_or(0)
}
