//! A row's capacity: the highest rate that it holds. Owns the search, by bisection, and what it means to hold a rate: over the
//! whole probe the backlog stays where it is, nothing fails, and the generator itself is not late.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::options::{Options, nanoseconds};
use super::rig::{Failure, Listener, Rig};
use crate::measure::account::Account;
use crate::measure::hiccup::histogram;
use crate::measure::load::arrivals::{Arrivals, Load};
use crate::measure::load::books::{End, Page};
use crate::measure::processes::Stop;
use crate::result::histogram::decode;

/// How long the closed loop runs that says where to begin.
pub const CLOSED: Duration = Duration::from_secs(2);

/// Probes at most.
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
#[derive(Clone, Copy, Debug, PartialEq)]
struct Search {
    held: Option<f64>,
    missed: Option<f64>,
}

impl Search {
    fn next(self, closed: f64) -> Option<f64> {
        match (self.held, self.missed) {
            (None, None) => Some(closed),
            (Some(held), None) => Some(held * STEP),
            (None, Some(missed)) => Some(missed / STEP / STEP),
            (Some(held), Some(missed)) if missed / held > CLOSE => Some((held * missed).sqrt()),
            _ => None,
        }
    }

    fn tried(&mut self, rate: f64, held: bool) {
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
    let mut search = Search { held: None, missed: None };
    while let Some(rate) = search.next(closed).filter(|rate| *rate >= 1.0) {
        if stop.is_set() || capacity.probes.len() == PROBES as usize {
            break;
        }
        let mut pacer = Pacer { late: histogram() };
        let end = rig.run(load(options, rate), 0, stop, Some(&mut pacer))?;
        if stop.is_set() {
            return Ok(None);
        }
        let missed = missed(&end, &pacer.late, pacer_limit);
        search.tried(rate, missed.is_none());
        let achieved = per_second(end.answered_in_time, end.end_ns);
        say(&format!("{rate:.0} votes/s: {}", missed.as_deref().unwrap_or("held")));
        capacity.probes.push(Probe { rate, achieved, missed });
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

    fn found(capacity: f64, closed: f64) -> (f64, usize) {
        let mut search = Search { held: None, missed: None };
        let mut probes = 0;
        while let Some(rate) = search.next(closed) {
            search.tried(rate, rate <= capacity);
            probes += 1;
            assert!(probes < 20);
        }
        (search.held.unwrap(), probes)
    }

    #[test]
    fn closes_in_on_the_capacity_from_wherever_it_begins() {
        for (capacity, closed) in [(100_000.0, 110_000.0), (100_000.0, 90_000.0), (100_000.0, 300_000.0), (7.0, 1.0)] {
            let (held, probes) = found(capacity, closed);
            assert!(held <= capacity && held > capacity / CLOSE, "{held} of {capacity} from {closed}");
            assert!(probes <= 14, "{probes}");
        }
        assert!(found(100_000.0, 110_000.0).1 <= PROBES as usize);
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
