//! A row's capacity: the highest rate that it holds. Owns the search, by bisection, and what it means to hold a rate: over the
//! whole probe the backlog stays where it is, nothing fails, and the generator itself is not late.
//!
//! A miss bounds all that follows, so that it has to be the row's: one that others may have caused, because they used the
//! machine or because the generator was late with nothing to do, counts only if it comes again.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::options::{Options, nanoseconds};
use super::rig::{Failure, Listener, Rig};
use crate::measure::account::Account;
use crate::measure::conditions::is_disturbed;
use crate::measure::hiccup::{self, histogram};
use crate::measure::load::arrivals::{Arrivals, Load};
use crate::measure::load::books::{End, Page};
use crate::measure::machine_load::Sample;
use crate::measure::processes::Stop;
use crate::result::histogram::decode;

/// How long the closed loop runs that says where to begin.
pub const CLOSED: Duration = Duration::from_secs(2);

/// Rates that are tried at most.
pub const PROBES: u32 = 8;

/// How often a rate is tried at most, while others may be why it was missed.
const TRIES: u32 = 4;

/// Such tries at most, over all rates: a search takes three times as long as it should, and no longer.
const DOUBTS: u32 = 8;

/// How often the machine is looked at before such a rate is tried again, until it is calm.
const LOOKS: u32 = 8;

/// How long each look is at most; at a probe of 10 s, and less, a tenth of that. A connection that says nothing for half a minute
/// is given up by QUIC.
const LOOK: Duration = Duration::from_secs(1);

/// Votes answered while they were due, as a share of those that were due, from which a rate is held.
pub const HELD: f64 = 0.999;

/// The 99th percentile of the pacer's lateness, in nanoseconds, up to which a figure is never about the generator.
pub const PACER_LIMIT_NS: u64 = 5_000;

/// How late the pacer may be, where a loop that does nothing else would be `floor` late on the same cores.
#[must_use]
pub fn pacer_limit(floor: u64) -> u64 {
    PACER_LIMIT_NS.max(2 * floor)
}

/// How close the highest rate that was held must be to the lowest that was not.
const CLOSE: f64 = 1.02;

/// The step upwards while every rate is held.
const STEP: f64 = 1.3;

/// One rate that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Votes a second.
    pub rate: f64,
    /// Votes answered a second.
    pub achieved: f64,
    /// Why it was not held; `None` where it was.
    pub missed: Option<String>,
    /// Whether others used the machine meanwhile.
    #[serde(default)]
    pub disturbed: bool,
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The highest rate that was held, in votes a second; `None` where none was.
    pub rate: Option<f64>,
    /// The lowest that was not; `None` where none was missed.
    pub missed: Option<f64>,
    /// What a closed loop with the same bound made.
    pub closed: f64,
    /// Everything that was tried.
    pub probes: Vec<Probe>,
}

/// Where the search goes next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Search {
    held: Option<f64>,
    missed: Option<f64>,
    /// How often the rate that is next was missed already, with others as the likely reason.
    doubts: u32,
    /// The same, over all rates.
    all_doubts: u32,
    /// Rates of which it is known whether they are held.
    counted: u32,
}

impl Search {
    fn next(self, closed: f64) -> Option<f64> {
        let rate = match (self.held, self.missed) {
            (None, None) => Some(closed),
            (Some(held), None) => Some(held * STEP),
            (None, Some(missed)) => Some(missed / STEP / STEP),
            (Some(held), Some(missed)) if missed / held > CLOSE => Some((held * missed).sqrt()),
            _ => None,
        };
        rate.filter(|rate| *rate >= 1.0 && self.counted < PROBES)
    }

    /// What came of `rate`.
    fn tried(&mut self, rate: f64, outcome: Outcome) {
        if outcome == Outcome::Doubtful && self.doubts + 1 < TRIES && self.all_doubts < DOUBTS {
            self.doubts += 1;
            self.all_doubts += 1;
            return;
        }
        self.doubts = 0;
        self.counted += 1;
        match outcome {
            Outcome::Held => self.held = Some(rate),
            Outcome::Missed | Outcome::Doubtful => self.missed = Some(rate),
        }
    }
}

/// What came of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Held,
    Missed,
    /// Missed, and perhaps not by the row.
    Doubtful,
}

/// Why a rate was not held.
#[derive(Clone, Debug, PartialEq)]
enum Miss {
    /// The row itself.
    Row(String),
    /// Everything came back, and the generator was late with nothing else to do; the 99th percentile, in nanoseconds.
    Generator(u64),
}

impl std::fmt::Display for Miss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Row(reason) => f.write_str(reason),
            Self::Generator(late) => write!(f, "the generator was late itself: p99 {:.1} us", micros(*late)),
        }
    }
}

/// Seeks the capacity of the row that `rig` is of; `None` where the user ended it.
///
/// # Errors
/// Where the rig fails.
pub fn seek(
    rig: &mut Rig,
    options: &Options,
    pacer_limit: u64,
    stop: &Stop,
    say: &mut dyn FnMut(&str),
) -> Result<Option<Capacity>, Failure> {
    let closed = Load { arrivals: Arrivals::Closed, duration_ns: nanoseconds(CLOSED), ..load(options, 1.0) };
    let end = rig.run(closed, 0, stop, None)?;
    let closed = per_second(end.answered_in_time, end.end_ns);
    let mut capacity = Capacity { rate: None, missed: None, closed, probes: Vec::new() };
    let mut search = Search::default();
    while let Some(rate) = search.next(closed).filter(|_| !stop.is_set()) {
        let mut pacer = Pacer { late: histogram() };
        let before = Sample::take(std::process::id());
        let end = rig.run(load(options, rate), 0, stop, Some(&mut pacer))?;
        if stop.is_set() {
            return Ok(None);
        }
        let others = Sample::take(std::process::id()).since(&before);
        let disturbed = is_disturbed(others.foreign_share, others.steal_share);
        let miss = miss(&end, &pacer.late, pacer_limit);
        search.tried(rate, outcome(miss.as_ref(), disturbed));
        let missed = miss.map(|miss| miss.to_string());
        let again = match (search.doubts, disturbed) {
            (0, _) => "",
            (_, true) => "; others used the machine: again",
            (_, false) => "; again",
        };
        say(&format!("{rate:.0} votes/s: {}{again}", missed.as_deref().unwrap_or("held")));
        let achieved = per_second(end.answered_in_time, end.end_ns);
        capacity.probes.push(Probe { rate, achieved, missed, disturbed });
        if let Some(broken) = end.broken {
            return Err(Failure::Failed(broken));
        }
        if let (1.., Some((client, _))) = (search.doubts, options.cores) {
            wait_for_calm(client, LOOK.min(options.probe / 10), stop)?;
        }
    }
    (capacity.rate, capacity.missed) = (search.held, search.missed);
    Ok((!stop.is_set()).then_some(capacity))
}

/// A probe at `rate`.
fn load(options: &Options, rate: f64) -> Load {
    let arrivals = options.arrivals;
    Load { arrivals, rate, burst: options.burst, seed: options.seed, duration_ns: nanoseconds(options.probe) }
}

/// Why a rate was not held; `None` where it was.
fn miss(end: &End, late: &Histogram<u64>, pacer_limit: u64) -> Option<Miss> {
    if let Some(broken) = &end.broken {
        return Some(Miss::Row(broken.clone()));
    }
    if end.failed > 0 {
        return Some(Miss::Row(format!("{} votes failed", end.failed)));
    }
    let share = share(end.answered_in_time, end.offered);
    if share < HELD {
        return Some(Miss::Row(format!("{:.2} % answered while the load lasted", 100.0 * share)));
    }
    let pacer = late.value_at_quantile(0.99);
    (pacer > pacer_limit).then_some(Miss::Generator(pacer))
}

fn outcome(miss: Option<&Miss>, disturbed: bool) -> Outcome {
    match miss {
        None => Outcome::Held,
        Some(Miss::Row(_)) if !disturbed => Outcome::Missed,
        Some(_) => Outcome::Doubtful,
    }
}

/// Until a loop that does nothing else on the generator's core would be in time, or for as long as a connection may be left alone.
/// The server keeps the other core as busy as it ever does.
fn wait_for_calm(core: usize, look: Duration, stop: &Stop) -> Result<(), Failure> {
    for _ in 0..LOOKS {
        let gaps = hiccup::measure(core, look).map_err(|error| Failure::Failed(error.to_string()))?;
        if stop.is_set() || pacer_limit(hiccup::lateness(&gaps, 0.99)) == PACER_LIMIT_NS {
            break;
        }
    }
    Ok(())
}

/// Gathers how late the pacer was.
struct Pacer {
    late: Histogram<u64>,
}

impl Listener for Pacer {
    fn interval(&mut self, page: Page, _: Option<Account>) -> Result<(), String> {
        let late = decode(&page.entry.distributions.pacer)?;
        self.late.add(&late).map_err(|error| error.to_string())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of votes stay far below 2^53")]
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "counts of votes stay far below 2^53")]
pub(super) fn per_second(count: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { count as f64 * 1e9 / ns as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "lateness stays far below 2^53")]
fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found of a row that holds `capacity`, and in how many probes; those whose number is in `disturbed` are missed.
    fn found(capacity: f64, closed: f64, disturbed: &[u32]) -> (Option<f64>, u32) {
        let (mut search, mut probes) = (Search::default(), 0);
        while let Some(rate) = search.next(closed) {
            let outcome = match (disturbed.contains(&probes), rate <= capacity) {
                (true, _) => Outcome::Doubtful,
                (false, true) => Outcome::Held,
                (false, false) => Outcome::Missed,
            };
            search.tried(rate, outcome);
            probes += 1;
        }
        (search.held, probes)
    }

    #[test]
    fn closes_in_on_the_capacity_from_wherever_it_begins() {
        for closed in [70_000.0, 90_000.0, 110_000.0, 150_000.0] {
            let (held, probes) = found(100_000.0, closed, &[]);
            let held = held.unwrap();
            assert!(held <= 100_000.0 && held > 100_000.0 / CLOSE, "{held} from {closed}");
            assert!(probes <= PROBES, "{probes}");
        }
        assert_eq!(found(7.0, 1e9, &[]).0, None, "so far off it gives up");
    }

    #[test]
    fn a_miss_counts_only_where_it_is_not_somebody_else_s_or_comes_again() {
        let undisturbed = found(100_000.0, 90_000.0, &[]);
        let (held, probes) = found(100_000.0, 90_000.0, &[0, 1, 2, 5]);
        assert_eq!((held, probes), (undisturbed.0, undisturbed.1 + 4));
        let (held, _) = found(100_000.0, 90_000.0, &[0, 1, 2, 3]);
        assert!(held.unwrap() < 90_000.0, "{TRIES} times is a miss");
        let (_, probes) = found(100_000.0, 90_000.0, &(0..100).collect::<Vec<_>>());
        assert_eq!(probes, DOUBTS + PROBES, "it ends");

        let row = Miss::Row("half of it".into());
        assert_eq!(outcome(None, true), Outcome::Held, "held although others used the machine");
        assert_eq!(outcome(Some(&row), false), Outcome::Missed);
        assert_eq!(outcome(Some(&row), true), Outcome::Doubtful);
        assert_eq!(outcome(Some(&Miss::Generator(9_000)), false), Outcome::Doubtful, "all came back");
    }

    #[test]
    fn a_rate_is_held_only_where_all_came_back_and_nobody_was_late() {
        let end = End {
            offered: 100_000,
            answered_in_time: 99_950,
            failed: 0,
            censored: 0,
            censored_ages: None,
            end_ns: 1,
            broken: None,
        };
        let mut late = histogram();
        late.record_n(300, 100).unwrap();
        assert_eq!(miss(&end, &late, PACER_LIMIT_NS), None);
        let few = miss(&End { answered_in_time: 99_800, ..end.clone() }, &late, PACER_LIMIT_NS).unwrap();
        assert!(few.to_string().contains("99.80 %"), "{few}");
        let failed = miss(&End { failed: 1, ..end.clone() }, &late, PACER_LIMIT_NS);
        assert_eq!(failed, Some(Miss::Row("1 votes failed".into())));
        late.record_n(9_000, 10).unwrap();
        let pacer = miss(&end, &late, PACER_LIMIT_NS).unwrap();
        assert!(matches!(pacer, Miss::Generator(_)) && pacer.to_string().contains("late"), "{pacer}");
        assert_eq!(miss(&end, &late, pacer_limit(4_600)), None, "so late is the machine");
    }
}
