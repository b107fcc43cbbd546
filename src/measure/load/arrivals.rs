//! When votes are due: the arrival plans of the one scheduler. Owns the plans, and nothing that depends on what has happened
//! to earlier votes: a due time never moves, and none is skipped.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// How votes are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// As of many senders that know nothing of one another: exponential gaps.
    Poisson,
    /// At equal gaps, as in the papers, which hides queueing.
    Constant,
    /// Each as soon as it may go: no load of its own, but whatever the stack takes.
    Closed,
}

impl Arrivals {
    /// The name in results and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Constant => "constant",
            Self::Closed => "closed",
        }
    }
}

/// A load: its shape, its rate and its end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// How votes, or bursts of them, are spread over time.
    pub arrivals: Arrivals,
    /// Votes in a second, over all connections; of no meaning where arrivals are closed.
    pub rate: f64,
    /// Votes that are due at once.
    pub burst: u32,
    /// Seed of the gaps.
    pub seed: u64,
    /// How long votes become due, in nanoseconds.
    pub duration_ns: u64,
}

/// The due times of a load, one after another, in nanoseconds from its start.
#[derive(Clone, Debug)]
pub struct Plan {
    load: Load,
    random: ChaCha8Rng,
    /// Mean gap between bursts.
    gap_ns: f64,
    /// Bursts so far.
    bursts: u64,
    /// Of the burst under way, those that are still to come.
    left: u32,
    /// When the burst under way is due, to a fraction of a nanosecond.
    at_ns: f64,
    /// The same, whole.
    due: u64,
    number: u64,
}

impl Plan {
    /// Begins `load`. Its first burst is due after one gap.
    #[must_use]
    pub fn new(load: Load) -> Self {
        let mut plan = Self {
            load,
            random: ChaCha8Rng::seed_from_u64(load.seed),
            gap_ns: f64::from(load.burst) * 1e9 / load.rate,
            bursts: 0,
            left: 0,
            at_ns: 0.0,
            due: 0,
            number: 0,
        };
        plan.next_burst();
        plan
    }

    /// When the next vote is due, seen at `now`; `None` where no other will be.
    #[must_use]
    pub fn due(&self, now: u64) -> Option<u64> {
        let due = if self.load.arrivals == Arrivals::Closed { now } else { self.due };
        (due < self.load.duration_ns).then_some(due)
    }

    /// The number of the next vote.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Goes on to the vote after it.
    pub fn advance(&mut self) {
        self.number += 1;
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.next_burst();
        }
    }

    /// No vote is due from `now` on.
    pub fn end_at(&mut self, now: u64) {
        self.load.duration_ns = self.load.duration_ns.min(now);
    }

    /// When the last vote can be due.
    #[must_use]
    pub const fn end_ns(&self) -> u64 {
        self.load.duration_ns
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an hour in nanoseconds needs 42 bits of a float's 53, and the sum never falls"
    )]
    fn next_burst(&mut self) {
        self.left = self.load.burst;
        self.bursts += 1;
        match self.load.arrivals {
            Arrivals::Closed => return,
            // From its number and not from the last one, so that nothing adds up.
            Arrivals::Constant => self.at_ns = self.bursts as f64 * self.gap_ns,
            Arrivals::Poisson => self.at_ns -= self.gap_ns * open_unit(self.random.next_u64()).ln(),
        }
        self.due = self.at_ns as u64;
    }
}

/// A number above 0 and at most 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits are just what a float holds")]
fn open_unit(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dues(arrivals: Arrivals, burst: u32) -> Vec<u64> {
        let load = Load { arrivals, rate: 50_000.0, burst, seed: 7, duration_ns: 1_000_000_000 };
        let mut plan = Plan::new(load);
        let mut dues = Vec::new();
        while let Some(due) = plan.due(0) {
            assert_eq!(plan.number(), dues.len() as u64);
            dues.push(due);
            plan.advance();
        }
        dues
    }

    #[test]
    fn constant_arrivals_are_where_arithmetic_puts_them() {
        let dues = dues(Arrivals::Constant, 1);
        assert_eq!(dues.len(), 49_999);
        assert!(dues.iter().zip(1..).all(|(due, number)| *due == number * 20_000));
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread_of_their_name() {
        let dues = dues(Arrivals::Poisson, 1);
        // Mean and standard deviation of the count are 50,000 and 224.
        assert!((49_000..51_000).contains(&dues.len()), "{}", dues.len());
        let long = dues.windows(2).filter(|pair| pair[1] - pair[0] > 60_000).count();
        // Of exponential gaps exp(-3), 4.98 %, are over three times the mean.
        assert!((2_200..2_800).contains(&long), "{long}");
        assert!(dues.is_sorted());
    }

    #[test]
    fn a_burst_is_due_at_once_and_the_rate_stays() {
        let dues = dues(Arrivals::Constant, 100);
        assert_eq!(dues.len(), 49_900);
        assert!(dues.chunks(100).zip(1..).all(|(burst, n)| burst.iter().all(|due| *due == n * 2_000_000)));
    }

    #[test]
    fn a_plan_that_is_ended_gives_no_more() {
        let mut plan = Plan::new(Load { arrivals: Arrivals::Closed, rate: 1.0, burst: 1, seed: 0, duration_ns: 1_000 });
        assert_eq!((plan.due(5), plan.due(999), plan.due(1_000)), (Some(5), Some(999), None));
        plan.end_at(500);
        assert_eq!((plan.due(499), plan.due(500)), (Some(499), None));
    }
}
