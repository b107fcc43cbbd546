//! What a row's logs come to: the same whether the row ran in one piece, was resumed, or was killed, since it is made of what is
//! on the disk and nothing else. Owns which percentiles are printed, which of them the censored votes reach, and drift.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use super::logs;
use super::options::{Options, RowKey};
use super::row::RowFacts;
use crate::measure::account::Account;
use crate::measure::hiccup::histogram;
use crate::measure::load::books::Entry;
use crate::result::histogram::decode;
use crate::stats::blocks::{self, Block};

/// The percentiles: their names, and the share below each.
pub const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.999_9)];

/// Intervals that must reach a percentile for it to be printed. What reaches it within one interval may be one stall.
pub const ENOUGH: usize = 10;

/// The papers' windows: the minutes that end here.
pub const WINDOWS: [u64; 3] = [1, 10, 60];

/// Nanoseconds of a minute.
const MINUTE_NS: u64 = 60_000_000_000;

/// Minutes below which nothing is said of drift; the first does not count.
const DRIFT_MINUTES: usize = 5;

/// A distribution, with what may be said of it.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// All of it.
    pub all: Histogram<u64>,
    /// Percentiles in nanoseconds; `None` where too few intervals reach one.
    pub percentiles: BTreeMap<&'static str, Option<u64>>,
    /// Their 95 % intervals, where there are enough blocks of time.
    pub intervals: BTreeMap<&'static str, [u64; 2]>,
    /// Percentiles that votes reach which were never answered: the true ones are above what is said.
    pub beyond: Vec<&'static str>,
}

/// How a percentile moves over the minutes, in nanoseconds a minute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The slope.
    pub slope: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// The same of the machine's own gaps; `None` where they are too few.
    pub machine: Option<[f64; 2]>,
}

impl Drift {
    /// Whether the row drifts, and not the machine under it.
    #[must_use]
    pub fn is_drift(&self) -> bool {
        let excludes_zero = |[low, high]: [f64; 2]| low > 0.0 || high < 0.0;
        excludes_zero(self.interval) && !self.machine.is_some_and(excludes_zero)
    }
}

/// What a row comes to.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Intervals.
    pub intervals: usize,
    /// Those in which something else used the machine.
    pub disturbed: usize,
    /// Those in which the generator itself was late.
    pub invalid: usize,
    /// From due to answered.
    pub response: Distribution,
    /// The same without the intervals that were disturbed or invalid; `None` where there are none such.
    pub undisturbed: Option<Distribution>,
    /// The same over the papers' windows; `None` where the row did not last so long.
    pub windows: Vec<(u64, Option<Distribution>)>,
    /// From handed over to answered.
    pub service: Distribution,
    /// Why votes were handed over later than they were due, in the order blocked, client, pacer.
    pub waits: [Histogram<u64>; 3],
    /// The hiccup meter in place.
    pub gaps: Histogram<u64>,
    /// Votes that became due, and how many of them were answered while the load lasted.
    pub offered: u64,
    /// See [`offered`](Self::offered).
    pub answered_in_time: u64,
    /// How long the load lasted, in nanoseconds.
    pub loaded_ns: u64,
    /// Votes that were never answered.
    pub censored: u64,
    /// Votes that came to nothing, by the kind of failure.
    pub errors: BTreeMap<String, u64>,
    /// Samples longer than the histograms go.
    pub clipped: u64,
    /// Votes answered over all intervals, and what both sides spent on them.
    pub answered: u64,
    /// See [`answered`](Self::answered).
    pub client: Account,
    /// See [`answered`](Self::answered).
    pub server: Option<Account>,
    /// Growth of resident memory from the tenth of the row to its end, of client and server, in bytes.
    pub memory_growth: [Option<i128>; 2],
    /// Drift, or why nothing is said of it.
    pub drift: Result<Drift, String>,
    /// How often the row was broken off and resumed.
    pub resumed: usize,
}

/// The summary of `row`; `None` where it has no interval.
///
/// # Errors
/// A sentence, where its files cannot be read or do not belong together.
pub fn of(folder: &Path, row: &RowKey, facts: &RowFacts, options: &Options) -> Result<Option<Summary>, String> {
    let entries = logs::read_entries(folder, row)?;
    if entries.is_empty() {
        return Ok(None);
    }
    let (response, service) = read_log(&logs::path(folder, row, "hlog"), entries.len())?;
    let mut censored = histogram();
    for part in facts.parts.iter().filter_map(|part| part.end.as_ref()) {
        if let Some(ages) = &part.censored_ages {
            censored.add(decode(ages)?).map_err(|error| error.to_string())?;
        }
    }
    let table = Table::of(&response);
    let every: Vec<usize> = (0..entries.len()).collect();
    let quiet: Vec<usize> = every.iter().copied().filter(|n| !entries[*n].disturbed && !entries[*n].invalid).collect();
    let seed = options.seed;
    let sum = |of: fn(&Entry) -> u64| entries.iter().map(of).sum::<u64>();
    let mut errors = BTreeMap::new();
    for (kind, count) in entries.iter().flat_map(|entry| &entry.errors) {
        *errors.entry(kind.clone()).or_default() += count;
    }
    let merged = |of: fn(&Entry) -> &str| {
        let mut all = histogram();
        for entry in &entries {
            all.add(decode(of(entry))?).map_err(|error| error.to_string())?;
        }
        Ok::<_, String>(all)
    };
    let (offered, answered_in_time, loaded_ns) = load_of(facts, &entries);
    Ok(Some(Summary {
        intervals: entries.len(),
        disturbed: entries.iter().filter(|entry| entry.disturbed).count(),
        invalid: entries.iter().filter(|entry| entry.invalid).count(),
        response: table.distribution(&response, &every, &censored, seed)?,
        undisturbed: if quiet.len() == every.len() || quiet.is_empty() {
            None
        } else {
            Some(table.distribution(&response, &quiet, &histogram(), seed)?)
        },
        windows: windows(&entries)
            .map(|(minute, window)| match window {
                Some(window) => Ok((minute, Some(table.distribution(&response, &window, &histogram(), seed)?))),
                None => Ok((minute, None)),
            })
            .collect::<Result<_, String>>()?,
        service: Table::of(&service).distribution(&service, &every, &histogram(), seed)?,
        waits: [
            merged(|entry| &entry.distributions.blocked)?,
            merged(|entry| &entry.distributions.client)?,
            merged(|entry| &entry.distributions.pacer)?,
        ],
        gaps: merged(|entry| &entry.distributions.gaps)?,
        offered,
        answered_in_time,
        loaded_ns,
        censored: facts.parts.iter().filter_map(|part| Some(part.end.as_ref()?.censored)).sum(),
        errors,
        clipped: sum(|entry| entry.clipped),
        answered: sum(|entry| entry.answered),
        client: entries.iter().map(|entry| entry.client_account).reduce(|sum, more| sum + more).unwrap_or_default(),
        server: entries.iter().filter_map(|entry| entry.server_account).reduce(|sum, more| sum + more),
        memory_growth: [
            growth(&entries, |entry| entry.client_account.resident_bytes),
            growth(&entries, |entry| entry.server_account?.resident_bytes),
        ],
        drift: drift(&table, &response, &entries, seed),
        resumed: facts.parts.len().saturating_sub(1),
    }))
}

/// Votes due, those answered while the load lasted, and how long it did. A part that was killed has no end of its own: there
/// its whole intervals count.
fn load_of(facts: &RowFacts, entries: &[Entry]) -> (u64, u64, u64) {
    let (mut offered, mut answered, mut loaded) = (0, 0, 0);
    for (number, part) in facts.parts.iter().enumerate() {
        if let Some(end) = &part.end {
            (offered, answered, loaded) = (offered + end.offered, answered + end.answered_in_time, loaded + end.end_ns);
            continue;
        }
        let until = facts.parts.get(number + 1).map_or(u64::MAX, |next| next.offset_ns);
        for entry in entries.iter().filter(|entry| (part.offset_ns..until).contains(&entry.start_ns)) {
            (offered, answered, loaded) =
                (offered + entry.offered, answered + entry.answered, loaded + entry.length_ns);
        }
    }
    (offered, answered, loaded)
}

/// The intervals of each of the papers' windows.
fn windows(entries: &[Entry]) -> impl Iterator<Item = (u64, Option<Vec<usize>>)> + '_ {
    let loaded: u64 = entries.iter().map(|entry| entry.length_ns).sum();
    WINDOWS.into_iter().map(move |minute| {
        let (begin, end) = ((minute - 1) * MINUTE_NS, minute * MINUTE_NS);
        let mut at = 0;
        let mut window = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let middle = at + entry.length_ns / 2;
            if (begin..end).contains(&middle) {
                window.push(number);
            }
            at += entry.length_ns;
        }
        (minute, (loaded >= end).then_some(window))
    })
}

/// Growth from the tenth of the row to its end: what comes before is warming up.
fn growth(entries: &[Entry], of: impl Fn(&Entry) -> Option<u64>) -> Option<i128> {
    let first = of(entries.get(entries.len() / 10)?)?;
    let last = of(entries.last()?)?;
    Some(i128::from(last) - i128::from(first))
}

/// Response and service times of every interval.
type Times = (Vec<Histogram<u64>>, Vec<Histogram<u64>>);

fn read_log(path: &Path, count: usize) -> Result<Times, String> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let (mut response, mut service) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for entry in IntervalLogIterator::new(&bytes) {
        match entry {
            Ok(LogEntry::Interval(interval)) => {
                let decoded = decode(interval.encoded_histogram()).map_err(|error| format!("{name}: {error}"))?;
                if interval.tag().is_some() { service.push(decoded) } else { response.push(decoded) }
            }
            Ok(_) => {}
            Err(error) => return Err(format!("{name}: no interval log: {error:?}")),
        }
    }
    if response.len() < count || service.len() < count {
        return Err(format!("{name}: {} intervals are there, and {count} should be", response.len()));
    }
    response.truncate(count);
    service.truncate(count);
    Ok((response, service))
}

/// The values that occur, and every interval as counts of them.
struct Table {
    values: Vec<u64>,
    blocks: Vec<Block>,
}

impl Table {
    fn of(intervals: &[Histogram<u64>]) -> Self {
        let values: BTreeSet<u64> =
            intervals.iter().flat_map(|one| one.iter_recorded().map(|step| step.value_iterated_to())).collect();
        let values: Vec<u64> = values.into_iter().collect();
        let block = |one: &Histogram<u64>| {
            let counts = one.iter_recorded().filter_map(|step| {
                let bucket = values.binary_search(&step.value_iterated_to()).ok()?;
                Some((u32::try_from(bucket).ok()?, u32::try_from(step.count_at_value()).unwrap_or(u32::MAX)))
            });
            counts.collect()
        };
        let blocks = intervals.iter().map(block).collect();
        Self { values, blocks }
    }

    /// What may be said of the intervals of these numbers; `censored` holds the ages of votes that were never answered.
    fn distribution(
        &self,
        intervals: &[Histogram<u64>],
        chosen: &[usize],
        censored: &Histogram<u64>,
        seed: u64,
    ) -> Result<Distribution, String> {
        let mut all = histogram();
        for number in chosen {
            all.add(&intervals[*number]).map_err(|error| error.to_string())?;
        }
        all.add(censored).map_err(|error| error.to_string())?;
        let (mut percentiles, mut beyond) = (BTreeMap::new(), Vec::new());
        for (name, share) in PERCENTILES {
            let value = all.value_at_quantile(share);
            let reach = chosen.iter().filter(|number| intervals[**number].max() >= value).count();
            let is_beyond = !censored.is_empty() && value >= censored.min();
            if is_beyond {
                beyond.push(name);
            }
            percentiles.insert(name, (!all.is_empty() && (reach >= ENOUGH || is_beyond)).then_some(value));
        }
        let blocks: Vec<&Block> = chosen.iter().map(|number| &self.blocks[*number]).collect();
        let shares = PERCENTILES.map(|(_, share)| share);
        let found = if censored.is_empty() { blocks::intervals(&blocks, &shares, seed) } else { None };
        let of = |bucket: usize| self.values.get(bucket).copied().unwrap_or(0);
        let intervals = PERCENTILES
            .iter()
            .zip(found.unwrap_or_default())
            .filter(|((name, _), _)| percentiles[name].is_some())
            .map(|((name, _), [low, high])| (*name, [of(low), of(high)]))
            .collect();
        Ok(Distribution { all, percentiles, intervals, beyond })
    }
}

/// The drift of the 99th percentile over the minutes after the first.
fn drift(table: &Table, response: &[Histogram<u64>], entries: &[Entry], seed: u64) -> Result<Drift, String> {
    let minutes = minutes(entries);
    if minutes.len() < DRIFT_MINUTES + 1 {
        return Err(format!("the row lasted fewer than {} whole minutes", DRIFT_MINUTES + 1));
    }
    let p99 = |table: &Table| {
        let groups: Vec<Vec<&Block>> =
            minutes[1..].iter().map(|minute| minute.iter().map(|number| &table.blocks[*number]).collect()).collect();
        let value = |bucket: usize| nanoseconds(table.values.get(bucket).copied().unwrap_or(0));
        blocks::drift(&groups, 0.99, &value, seed)
    };
    debug_assert_eq!(response.len(), entries.len(), "an interval has one histogram");
    let (slope, interval) = p99(table).ok_or("a minute has no answers")?;
    let gaps: Result<Vec<_>, String> = entries.iter().map(|entry| decode(&entry.distributions.gaps)).collect();
    let machine = p99(&Table::of(&gaps?)).map(|(_, interval)| interval);
    Ok(Drift { slope, interval, machine })
}

/// The intervals of each whole minute of load.
fn minutes(entries: &[Entry]) -> Vec<Vec<usize>> {
    let mut minutes: Vec<Vec<usize>> = Vec::new();
    let mut at = 0;
    for (number, entry) in entries.iter().enumerate() {
        let minute = usize::try_from((at + entry.length_ns / 2) / MINUTE_NS).unwrap_or(usize::MAX);
        if minute >= minutes.len() {
            minutes.resize(minute + 1, Vec::new());
        }
        minutes[minute].push(number);
        at += entry.length_ns;
    }
    let whole = usize::try_from(at / MINUTE_NS).unwrap_or(0);
    minutes.truncate(whole);
    minutes
}

#[expect(clippy::cast_precision_loss, reason = "an hour in nanoseconds stays below 2^53")]
fn nanoseconds(value: u64) -> f64 {
    value as f64
}
