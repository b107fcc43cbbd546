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
        response: table.distribution(&every, &censored, seed)?,
        undisturbed: if quiet.len() == every.len() || quiet.is_empty() {
            None
        } else {
            Some(table.distribution(&quiet, &histogram(), seed)?)
        },
        windows: windows(&entries)
            .map(|(minute, window)| match window {
                Some(window) => Ok((minute, Some(table.distribution(&window, &histogram(), seed)?))),
                None => Ok((minute, None)),
            })
            .collect::<Result<_, String>>()?,
        service: Table::of(&service).distribution(&every, &histogram(), seed)?,
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
        drift: drift(&table, &entries, seed),
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

/// An interval's values with their counts, in order: what an hour of them needs is a thousandth of as many histograms.
type Counts = Vec<(u64, u64)>;

fn counts(histogram: &Histogram<u64>) -> Counts {
    histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

/// Response and service times of every interval.
fn read_log(path: &Path, count: usize) -> Result<(Vec<Counts>, Vec<Counts>), String> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let (mut response, mut service) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for entry in IntervalLogIterator::new(&bytes) {
        match entry {
            Ok(LogEntry::Interval(interval)) => {
                let decoded = decode(interval.encoded_histogram()).map_err(|error| format!("{name}: {error}"))?;
                if interval.tag().is_some() { &mut service } else { &mut response }.push(counts(&decoded));
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
    fn of(intervals: &[Counts]) -> Self {
        let values: BTreeSet<u64> = intervals.iter().flatten().map(|(value, _)| *value).collect();
        let values: Vec<u64> = values.into_iter().collect();
        let block = |one: &Counts| {
            let counts = one.iter().filter_map(|(value, count)| {
                let bucket = values.binary_search(value).ok()?;
                Some((u32::try_from(bucket).ok()?, u32::try_from(*count).unwrap_or(u32::MAX)))
            });
            counts.collect()
        };
        let blocks = intervals.iter().map(block).collect();
        Self { values, blocks }
    }

    fn value(&self, bucket: usize) -> u64 {
        self.values.get(bucket).copied().unwrap_or(0)
    }

    /// What may be said of the intervals of these numbers; `censored` holds the ages of votes that were never answered.
    fn distribution(&self, chosen: &[usize], censored: &Histogram<u64>, seed: u64) -> Result<Distribution, String> {
        let blocks: Vec<&Block> = chosen.iter().map(|number| &self.blocks[*number]).collect();
        let mut all = histogram();
        for (bucket, count) in blocks.iter().copied().flatten() {
            all.saturating_record_n(self.value(*bucket as usize), u64::from(*count));
        }
        all.add(censored).map_err(|error| error.to_string())?;
        let (mut percentiles, mut beyond) = (BTreeMap::new(), Vec::new());
        let longest = |block: &&Block| block.last().map_or(0, |(bucket, _)| self.value(*bucket as usize));
        for (name, share) in PERCENTILES {
            let value = all.value_at_quantile(share);
            let reached = all.lowest_equivalent(value);
            let reach = blocks.iter().filter(|block| longest(block) >= reached).count();
            let is_beyond = !censored.is_empty() && value >= censored.min();
            if is_beyond {
                beyond.push(name);
            }
            percentiles.insert(name, (!all.is_empty() && (reach >= ENOUGH || is_beyond)).then_some(value));
        }
        let shares = PERCENTILES.map(|(_, share)| share);
        let found = if censored.is_empty() { blocks::intervals(&blocks, &shares, seed) } else { None };
        let intervals = PERCENTILES
            .iter()
            .zip(found.unwrap_or_default())
            .filter(|((name, _), _)| percentiles[name].is_some())
            .map(|((name, _), [low, high])| (*name, [self.value(low), self.value(high)]))
            .collect();
        Ok(Distribution { all, percentiles, intervals, beyond })
    }
}

/// The drift of the 99th percentile over the minutes after the first.
fn drift(table: &Table, entries: &[Entry], seed: u64) -> Result<Drift, String> {
    let minutes = minutes(entries);
    if minutes.len() < DRIFT_MINUTES + 1 {
        return Err(format!("the row lasted fewer than {} whole minutes", DRIFT_MINUTES + 1));
    }
    let p99 = |table: &Table| {
        let groups: Vec<Vec<&Block>> =
            minutes[1..].iter().map(|minute| minute.iter().map(|number| &table.blocks[*number]).collect()).collect();
        let value = |bucket: usize| nanoseconds(table.value(bucket));
        blocks::drift(&groups, 0.99, &value, seed)
    };
    let (slope, interval) = p99(table).ok_or("a minute has no answers")?;
    let gaps = entries.iter().map(|entry| Ok::<_, String>(counts(&decode(&entry.distributions.gaps)?)));
    let gaps: Result<Vec<_>, _> = gaps.collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::load::books::End;
    use crate::measure::sustained::row::Part;

    const SECOND: u64 = 1_000_000_000;

    fn seconds(count: usize) -> Vec<Entry> {
        (0..count as u64)
            .map(|n| Entry { index: n, start_ns: n * SECOND, length_ns: SECOND, ..Entry::default() })
            .collect()
    }

    #[test]
    fn windows_are_the_minutes_that_end_where_the_papers_have_them() {
        let windows: Vec<_> = windows(&seconds(600)).collect();
        assert_eq!(windows[0], (1, Some((0..60).collect())));
        assert_eq!(windows[1], (10, Some((540..600).collect())));
        assert_eq!(windows[2], (60, None));
        let minutes = minutes(&seconds(150));
        assert_eq!(minutes, [(0..60).collect::<Vec<_>>(), (60..120).collect()], "the half minute is none");
    }

    #[test]
    fn a_percentile_needs_ten_intervals_that_reach_it() {
        let quiet: Counts = vec![(1_000, 9_999)];
        let stalled: Counts = vec![(1_000, 9_000), (50_000, 1_000)];
        let of = |stalls: usize| {
            let all: Vec<Counts> = (0..60).map(|n| if n < stalls { stalled.clone() } else { quiet.clone() }).collect();
            let every: Vec<usize> = (0..60).collect();
            Table::of(&all).distribution(&every, &histogram(), 1).unwrap()
        };
        // 9,000 and 10,000 of some 600,000 samples: more than the 99th percentile needs, but as many stalls as seconds.
        assert_eq!((of(9).percentiles["p99"], of(9).percentiles["p50"]), (None, Some(1_000)));
        let ten = of(10);
        assert!(ten.percentiles["p99"].is_some_and(|p99| p99.abs_diff(50_000) < 50));
        let [low, high] = ten.intervals["p99"];
        assert!(low <= high && high.abs_diff(50_000) < 50);
        assert!(ten.beyond.is_empty());
    }

    #[test]
    fn votes_that_were_never_answered_are_in_the_percentiles_that_they_reach() {
        let every: Vec<usize> = (0..60).collect();
        let table = Table::of(&vec![vec![(1_000, 990)]; 60]);
        let mut ages = histogram();
        ages.record_n(3 * SECOND, 600).unwrap();
        let censored = table.distribution(&every, &ages, 1).unwrap();
        // 600 of 60,000: one per cent and a little less than that is above the 99th percentile.
        assert_eq!(censored.beyond, ["p99_9", "p99_99"]);
        assert_eq!(censored.percentiles["p99"], Some(1_000));
        assert!(censored.percentiles["p99_9"].is_some_and(|age| age.abs_diff(3 * SECOND) < SECOND / 100));
        assert_eq!(censored.all.len(), 60_000);
    }

    #[test]
    fn a_part_that_was_killed_counts_by_its_whole_intervals() {
        let mut entries = seconds(5);
        for entry in &mut entries {
            (entry.offered, entry.answered) = (100, 99);
        }
        let part = |offset_ns: u64, end: Option<End>| Part { began_ns: 0, offset_ns, seed: 0, end };
        let end = End { offered: 250, answered_in_time: 249, end_ns: 2 * SECOND, ..End::default() };
        let facts = RowFacts { parts: vec![part(0, None), part(3 * SECOND, Some(end))], ..RowFacts::default() };
        assert_eq!(load_of(&facts, &entries), (300 + 250, 297 + 249, 5 * SECOND));
    }
}
