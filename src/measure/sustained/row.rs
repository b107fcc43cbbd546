//! One row from start to end: what is counted, what it can take, and the load. Owns the order of these, and what is known of
//! the row when it has to be broken off.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::Watcher;
use super::capacity::{self, Capacity, HELD, pacer_limit, share};
use super::logs::{self, RowLogs};
use super::options::{Options, Rate, RowKey, nanoseconds};
use super::rig::{Failure, Listener, Rig};
use crate::measure::account::Account;
use crate::measure::conditions::is_disturbed;
use crate::measure::hiccup;
use crate::measure::load::arrivals::Load;
use crate::measure::load::books::{self, End, Page};
use crate::measure::machine_load::{Sample, Sampler};
use crate::measure::processes::{Programs, Stop};

/// How long the machine is watched before a row.
const METER: Duration = Duration::from_secs(1);

/// What is known of a row beside its intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowFacts {
    /// Why the stack cannot do it.
    pub unsupported: Option<String>,
    /// Why it failed.
    pub failed: Option<String>,
    /// Why it was not run; never on the disk.
    #[serde(skip)]
    pub not_run: Option<String>,
    /// Whether the user ended it.
    pub stopped: bool,
    /// Votes in flight at most, as far as the stack allows.
    pub in_flight: Option<usize>,
    /// What was counted.
    pub counted: Option<Counted>,
    /// Why nothing was.
    pub uncounted: Option<String>,
    /// What it can take.
    pub capacity: Option<Capacity>,
    /// How late a loop that only reads the clock would have been before the row: the 99th percentile, in nanoseconds.
    pub pacer_floor_ns: Option<u64>,
    /// Votes a second that were asked for.
    pub rate: Option<f64>,
    /// Its load: one part, or more where the run was resumed.
    pub parts: Vec<Part>,
}

/// A stretch of load without a break.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// When it began, in nanoseconds since 1970.
    pub began_ns: i128,
    /// How much later than the row's start.
    pub offset_ns: u64,
    /// Seed of its arrivals.
    pub seed: u64,
    /// How it ended; `None` where it was killed.
    pub end: Option<End>,
}

/// What the counting processes found under a short load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Votes that were answered meanwhile.
    pub answered: u64,
    /// What the generator's process spent.
    pub client: Account,
    /// What the server's did.
    pub server: Option<Account>,
}

impl RowFacts {
    /// Of a row that was never begun.
    #[must_use]
    pub fn not_run(reason: &str) -> Self {
        Self { not_run: Some(reason.to_owned()), ..Self::default() }
    }

    /// Whether there is nothing left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let ended = self.parts.last().is_some_and(|part| part.end.is_some());
        !self.stopped && (self.failed.is_some() || self.unsupported.is_some() || ended)
    }

    /// Votes that were due, and those of them that were answered while the load lasted, as far as parts have ended.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        let ends = || self.parts.iter().filter_map(|part| part.end.as_ref());
        let sum = |of: fn(&End) -> u64| ends().map(of).sum();
        share(sum(|end| end.answered_in_time), sum(|end| end.offered)) < HELD
    }
}

/// Runs `row`, or what is left of it; `facts` is what is known already.
///
/// # Errors
/// A sentence, where its files cannot be written. A row that fails is no error: its facts say so.
pub fn run(
    options: &Options,
    row: &RowKey,
    programs: &Programs,
    stop: &Stop,
    folder: &Path,
    mut facts: RowFacts,
    watcher: &mut dyn Watcher,
) -> Result<RowFacts, String> {
    (facts.stopped, facts.failed) = (false, None);
    let mut work = Work { options, row, stop, folder, watcher, kept: Ok(()) };
    match work.run(programs, &mut facts) {
        Ok(()) => {}
        Err(Failure::Unsupported(reason)) => facts.unsupported = Some(reason),
        Err(Failure::Failed(reason)) => facts.failed = Some(reason),
    }
    facts.stopped = stop.is_set() && facts.failed.is_none();
    let kept = work.kept;
    logs::write_facts(folder, row, &facts)?;
    kept.map(|()| facts)
}

/// A row under way.
struct Work<'a> {
    options: &'a Options,
    row: &'a RowKey,
    stop: &'a Stop,
    folder: &'a Path,
    watcher: &'a mut dyn Watcher,
    /// Why the row's files could not be written.
    kept: Result<(), String>,
}

impl Work<'_> {
    fn run(&mut self, programs: &Programs, facts: &mut RowFacts) -> Result<(), Failure> {
        if let Some(cores) = self.options.cores {
            let gaps = hiccup::measure_both(cores, METER).map_err(|error| Failure::Failed(error.to_string()))?;
            facts.pacer_floor_ns = Some(hiccup::lateness(&gaps, 0.99));
        }
        let mut rig = Rig::start(&programs.plain, self.options, self.row, false)?;
        facts.in_flight = Some(rig.in_flight);
        if facts.capacity.is_none() && (self.options.search || matches!(self.options.rate, Rate::Share(_))) {
            self.seek(&mut rig, facts)?;
        }
        let rate = match (self.options.rate, &facts.capacity) {
            (Rate::Votes(rate), _) => rate,
            (Rate::Share(share), Some(Capacity { rate: Some(rate), .. })) => share * rate,
            (Rate::Share(_), Some(_)) => {
                return Err(Failure::Failed("no rate was held, so there is no share of it".into()));
            }
            (Rate::Share(_), None) => return Ok(()),
        };
        facts.rate = Some(rate);
        if let (Some(count), None) = (self.options.count, &facts.counted) {
            match self.count(programs, rate, nanoseconds(count)) {
                Ok(counted) => facts.counted = Some(counted),
                Err(Failure::Failed(reason) | Failure::Unsupported(reason)) => facts.uncounted = Some(reason),
            }
        }
        let Some(duration) = self.options.duration.filter(|_| !self.stop.is_set()) else { return Ok(()) };
        self.load(&mut rig, facts, rate, nanoseconds(duration))?;
        if facts.capacity.is_none() && facts.is_saturated() && !self.stop.is_set() {
            self.seek(&mut rig, facts)?;
        }
        Ok(())
    }

    fn seek(&mut self, rig: &mut Rig, facts: &mut RowFacts) -> Result<(), Failure> {
        let label = self.row.label();
        let watcher = &mut *self.watcher;
        let mut say = |sentence: &str| watcher.say(&format!("{label}: {sentence}"));
        let limit = pacer_limit(facts.pacer_floor_ns.unwrap_or(0));
        facts.capacity = capacity::seek(rig, self.options, limit, self.stop, &mut say)?;
        self.keep(facts);
        Ok(())
    }

    fn keep(&mut self, facts: &RowFacts) {
        if self.kept.is_ok() {
            self.kept = logs::write_facts(self.folder, self.row, facts);
        }
    }

    /// Allocations and system calls, in processes that count them.
    fn count(&mut self, programs: &Programs, rate: f64, duration_ns: u64) -> Result<Counted, Failure> {
        let mut rig = Rig::start(&programs.counting, self.options, self.row, true)?;
        let load = self.load_of(rate, duration_ns, self.options.seed);
        rig.run(Load { duration_ns: duration_ns / 2, ..load }, 0, self.stop, None)?;
        let mut counter = Counter::default();
        let end = rig.run(load, 0, self.stop, Some(&mut counter))?;
        match end.broken {
            Some(reason) => Err(Failure::Failed(reason)),
            None => Ok(counter.0),
        }
    }

    fn load_of(&self, rate: f64, duration_ns: u64, seed: u64) -> Load {
        Load { arrivals: self.options.arrivals, rate, burst: self.options.burst, seed, duration_ns }
    }

    /// The load that counts, or what is left of it.
    fn load(&mut self, rig: &mut Rig, facts: &mut RowFacts, rate: f64, duration_ns: u64) -> Result<(), Failure> {
        let mut logs = RowLogs::open(self.folder, self.row).map_err(Failure::Failed)?;
        let left = duration_ns.saturating_sub(logs.loaded_ns);
        if left == 0 {
            return Ok(());
        }
        let seed = self.options.seed.wrapping_add(facts.parts.len() as u64);
        let warm_up = self.load_of(rate, nanoseconds(self.options.warm_up), seed ^ u64::MAX);
        let warmed = rig.run(warm_up, 0, self.stop, None)?;
        if let Some(reason) = warmed.broken {
            return Err(Failure::Failed(reason));
        }
        let began_ns = OffsetDateTime::now_utc().unix_timestamp_nanos();
        let since_start = facts.parts.first().map_or(0, |first| began_ns - first.began_ns);
        let offset_ns = u64::try_from(since_start).unwrap_or(0).max(logs.end_ns);
        if logs.kept > 0 {
            logs.mark_gap(offset_ns - logs.end_ns).map_err(Failure::Failed)?;
        }
        facts.parts.push(Part { began_ns, offset_ns, seed, end: None });
        self.keep(facts);
        let (first, load) = (logs.kept, self.load_of(rate, left, seed));
        let mut booking = Booking {
            logs,
            first,
            row: self.row,
            watcher: &mut *self.watcher,
            duration_ns,
            pacer_limit: pacer_limit(facts.pacer_floor_ns.unwrap_or(0)),
            sampler: Sampler::default(),
            sample: Sample::take(std::process::id()),
        };
        let end = rig.run(load, offset_ns, self.stop, Some(&mut booking))?;
        let broken = end.broken.clone();
        if let Some(part) = facts.parts.last_mut() {
            part.end = Some(end);
        }
        self.keep(facts);
        broken.map_or(Ok(()), |reason| Err(Failure::Failed(reason)))
    }
}

/// Adds up what a short load spends.
#[derive(Default)]
struct Counter(Counted);

impl Listener for Counter {
    fn interval(&mut self, page: Page, server: Option<Account>) -> Result<(), String> {
        if page.entry.index == 0 {
            // A load begins with room for its own books.
            return Ok(());
        }
        let Self(counted) = self;
        counted.answered += page.entry.answered;
        counted.client = counted.client + page.entry.client_account;
        counted.server = match (counted.server, server) {
            (Some(sum), Some(server)) => Some(sum + server),
            (sum, server) => sum.or(server),
        };
        Ok(())
    }
}

/// Puts a load's intervals on the disk, and says how it goes.
struct Booking<'a> {
    logs: RowLogs,
    /// Intervals of the parts before.
    first: u64,
    row: &'a RowKey,
    watcher: &'a mut dyn Watcher,
    duration_ns: u64,
    pacer_limit: u64,
    sampler: Sampler,
    sample: Sample,
}

impl Listener for Booking<'_> {
    fn interval(&mut self, page: Page, server: Option<Account>) -> Result<(), String> {
        let Page { mut entry, log } = page;
        let sample = self.sampler.take(std::process::id(), &mut books::pause);
        let load = sample.since(&self.sample);
        self.sample = sample;
        entry.index += self.first;
        entry.server_account = server;
        (entry.foreign_share, entry.steal_share) = (load.foreign_share, load.steal_share);
        entry.disturbed = is_disturbed(load.foreign_share, load.steal_share);
        entry.invalid = entry.pacer.p99 > self.pacer_limit;
        self.logs.append(&entry, &log)?;
        let left = Duration::from_nanos(self.duration_ns.saturating_sub(self.logs.loaded_ns));
        self.watcher.interval(self.row, &entry, left);
        Ok(())
    }
}
