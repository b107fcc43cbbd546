//! A row's capacity: the highest rate that it holds. Owns the search, by bisection, and what it means to hold a rate: over the
//! whole probe the backlog stays where it is, nothing fails, and the generator itself is not late.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::options::{Options, nanoseconds};
use super::rig::{Failure, Listener, Rig};
use crate::measure::account::Account;
use crate::measure::conditions::is_disturbed;
use crate::measure::hiccup::histogram;
use crate::measure::load::arrivals::{Arrivals, Load};
use crate::measure::load::books::{End, Page};
use crate::measure::machine_load::Sample;
use crate::measure::processes::Stop;
use crate::result::histogram::decode;

/// How long the closed loop runs that says where to begin.
pub const CLOSED: Duration = Duration::from_secs(2);

/// Probes at most, beside those of a disturbed machine.
pub const PROBES: u32 = 8;

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
    /// Whether the rate that is next was missed already, on a disturbed machine.
    once_more: bool,
    /// Probes that counted.
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

    /// What came of `rate`. One that was missed while others used the machine is tried once more: a miss bounds all that follows.
    fn tried(&mut self, rate: f64, held: bool, disturbed: bool) {
        self.once_more = !held && disturbed && !self.once_more;
        if self.once_more {
            return;
        }
        self.counted += 1;
        if held {
            self.held = Some(rate);
        } else {
            self.missed = Some(rate);
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
        let missed = missed(&end, &pacer.late, pacer_limit);
        search.tried(rate, missed.is_none(), disturbed);
        let achieved = per_second(end.answered_in_time, end.end_ns);
        let once_more = if search.once_more { "; others used the machine: once more" } else { "" };
        say(&format!("{rate:.0} votes/s: {}{once_more}", missed.as_deref().unwrap_or("held")));
        capacity.probes.push(Probe { rate, achieved, missed, disturbed });
        if let Some(broken) = end.broken {
            return Err(Failure::Failed(broken));
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

/// Why a rate was not held.
fn missed(end: &End, late: &Histogram<u64>, pacer_limit: u64) -> Option<String> {
    if let Some(broken) = &end.broken {
        return Some(broken.clone());
    }
    if end.failed > 0 {
        return Some(format!("{} votes failed", end.failed));
    }
    let share = share(end.answered_in_time, end.offered);
    if share < HELD {
        return Some(format!("{:.2} % answered while the load lasted", 100.0 * share));
    }
    let pacer = late.value_at_quantile(0.99);
    (pacer > pacer_limit).then(|| format!("the generator was late itself: p99 {:.1} us", micros(pacer)))
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
            let others = disturbed.contains(&probes);
            search.tried(rate, rate <= capacity && !others, others);
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
    fn a_rate_that_was_missed_on_a_disturbed_machine_is_tried_once_more() {
        let undisturbed = found(100_000.0, 90_000.0, &[]);
        let (held, probes) = found(100_000.0, 90_000.0, &[0, 3]);
        assert_eq!((held, probes), (undisturbed.0, undisturbed.1 + 2));
        let (held, _) = found(100_000.0, 90_000.0, &[0, 1]);
        assert!(held.unwrap() < 90_000.0, "twice is a miss");
        let (_, probes) = found(100_000.0, 90_000.0, &(0..100).collect::<Vec<_>>());
        assert!(probes <= 2 * PROBES, "{probes}: it ends");
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
        assert_eq!(missed(&end, &late, PACER_LIMIT_NS), None);
        assert!(
            missed(&End { answered_in_time: 99_800, ..end.clone() }, &late, PACER_LIMIT_NS)
                .unwrap()
                .contains("99.80 %")
        );
        assert!(missed(&End { failed: 1, ..end.clone() }, &late, PACER_LIMIT_NS).is_some());
        late.record_n(9_000, 10).unwrap();
        assert!(missed(&end, &late, PACER_LIMIT_NS).unwrap().contains("late"));
        assert_eq!(missed(&end, &late, pacer_limit(4_600)), None, "so late is the machine");
    }
}
