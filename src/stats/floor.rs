//! The A/A floor. Owns one question: how far does the same thing under two labels differ from itself?
//!
//! The labels A and A' are handed out at random to numbers that come from one binary, the effect between them is taken as
//! it is taken between two binaries, and the 95th percentile of its sizes over many hand-outs is what this row shows with
//! nothing changed. An effect that is not above it is not believed, whatever its p value says. There are three
//! situations, and in each the hand-out is of the design that it stands for:
//!
//! - one run's row by itself ([`of_row`]): halves of its P numbers, the hand-out A, B, B, A among them;
//! - a row of two runs ([`of_two_runs`]): both runs' numbers, each from its own centre, dealt out into two sides of the
//!   runs' sizes. (Halves of one run would be half as many processes a side as the comparison has, and its floor 1.4 times
//!   too high.)
//! - a row beside its reference in every process ([`of_pairs`]): the two swap labels in a random half of the processes,
//!   which turns the sign of their log ratios, taken from their centre.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::location::{hodges_lehmann, quantile};

/// How hand-outs are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resplits {
    /// How many.
    pub count: usize,
    /// From which seed.
    pub seed: u64,
    /// The floor is at least this.
    pub least: f64,
}

impl Resplits {
    fn floor(&self, sizes: &[f64]) -> f64 {
        quantile(sizes, 0.95).map_or(self.least, |size| size.max(self.least))
    }
}

/// The floor of one run's row by itself, from its P logarithms in the order of the processes.
#[must_use]
pub fn of_row(logs: &[f64], resplits: &Resplits) -> f64 {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (at, log) in logs.iter().enumerate() {
        if matches!(at % 4, 0 | 3) { left.push(*log) } else { right.push(*log) }
    }
    let abba = hodges_lehmann(&left).zip(hodges_lehmann(&right)).map(|(left, right)| (left - right).abs());
    let half = logs.len() / 2;
    let effect = |left: &[f64], right: &[f64]| Some((hodges_lehmann(left)? - hodges_lehmann(right)?).abs());
    resplits.floor(&abba.into_iter().chain(deals(logs, half, resplits, effect)).collect::<Vec<_>>())
}

/// The floor of a row of two runs, from the logarithms of either. `hands` are those of [`Hands::deal`] for both runs' sizes;
/// they depend on nothing else, so that all rows of a family share them.
#[must_use]
pub fn of_two_runs(left: &[f64], right: &[f64], hands: &Hands) -> f64 {
    let pooled: Vec<f64> = from_centre(left).chain(from_centre(right)).collect();
    let differences = Differences::between(&pooled);
    let mut sets = Sets::default();
    let median = |hand: &Vec<usize>| differences.median(hand, hands.first, &mut sets);
    let sizes: Vec<f64> = hands.all.iter().filter_map(median).map(f64::abs).collect();
    hands.resplits.floor(&sizes)
}

/// Random hand-outs of so many numbers, the first so many of them to one side.
#[derive(Debug)]
pub struct Hands {
    resplits: Resplits,
    first: usize,
    /// Of each, the places of the numbers in the order in which they are dealt.
    all: Vec<Vec<usize>>,
}

impl Hands {
    /// Deals out `count` numbers, `first` of them to the one side.
    #[must_use]
    pub fn deal(count: usize, first: usize, resplits: &Resplits) -> Self {
        let mut shuffled: Vec<usize> = (0..count).collect();
        let mut random = ChaCha8Rng::seed_from_u64(resplits.seed);
        let all = (0..resplits.count).map(|_| {
            shuffle(&mut shuffled, first, &mut random);
            shuffled.clone()
        });
        Self { resplits: *resplits, first, all: all.collect() }
    }
}

/// All differences between two of some numbers, in ascending order. Which of them lie between two sides is told by sets of
/// places in that order, so that their median is found without looking at a number: it is what
/// [`hodges_lehmann_shift`](super::location::hodges_lehmann_shift) finds, many times as fast.
struct Differences {
    ascending: Vec<f64>,
    /// Words of a set.
    words: usize,
    /// For each number, the places of the differences that it is the first of.
    from: Vec<u64>,
    /// For each number, the places of the differences that it is the second of.
    to: Vec<u64>,
}

/// The sets of one hand; kept from hand to hand, of which there are many.
#[derive(Default)]
struct Sets {
    from: Vec<u64>,
    to: Vec<u64>,
}

impl Differences {
    fn between(numbers: &[f64]) -> Self {
        let count = numbers.len();
        let mut order: Vec<(f64, usize, usize)> = (0..count * count)
            .map(|pair| (numbers[pair / count] - numbers[pair % count], pair / count, pair % count))
            .collect();
        order.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
        let words = order.len().div_ceil(64);
        let (mut from, mut to) = (vec![0; count * words], vec![0; count * words]);
        for (place, (_, first, second)) in order.iter().enumerate() {
            from[first * words + place / 64] |= 1 << (place % 64);
            to[second * words + place / 64] |= 1 << (place % 64);
        }
        Self { ascending: order.into_iter().map(|(difference, _, _)| difference).collect(), words, from, to }
    }

    /// The median difference between the first `first` numbers of `hand` and the others.
    fn median(&self, hand: &[usize], first: usize, sets: &mut Sets) -> Option<f64> {
        let (left, right) = hand.split_at(first);
        self.union(&self.from, left, &mut sets.from);
        self.union(&self.to, right, &mut sets.to);
        for (mark, to) in sets.from.iter_mut().zip(&sets.to) {
            *mark &= to;
        }
        let marks = &sets.from;
        let marked = left.len() * right.len();
        let lower = nth_mark(marks, marked.checked_sub(1)? / 2)?;
        if !marked.is_multiple_of(2) {
            return Some(self.ascending[lower]);
        }
        let upper = next_mark(marks, lower)?;
        Some(f64::midpoint(self.ascending[lower], self.ascending[upper]))
    }

    fn union(&self, sets: &[u64], numbers: &[usize], union: &mut Vec<u64>) {
        union.clear();
        union.resize(self.words, 0);
        for number in numbers {
            for (word, other) in union.iter_mut().zip(&sets[number * self.words..]) {
                *word |= other;
            }
        }
    }
}

/// The place of the mark that has `before` marks before it.
fn nth_mark(marks: &[u64], mut before: usize) -> Option<usize> {
    for (at, word) in marks.iter().enumerate() {
        let here = word.count_ones() as usize;
        if before < here {
            let rest = (0..before).fold(*word, |rest, _| rest & (rest - 1));
            return Some(64 * at + rest.trailing_zeros() as usize);
        }
        before -= here;
    }
    None
}

/// The place of the first mark behind `place`.
fn next_mark(marks: &[u64], place: usize) -> Option<usize> {
    let at = (place + 1) / 64;
    let rest = marks.get(at)? & (u64::MAX << ((place + 1) % 64));
    let words = std::iter::once(rest).chain(marks[at + 1..].iter().copied()).enumerate();
    words
        .filter(|(_, word)| *word != 0)
        .map(|(skipped, word)| 64 * (at + skipped) + word.trailing_zeros() as usize)
        .next()
}

/// The floor of a row beside its reference, from the log ratio of each process.
#[must_use]
pub fn of_pairs(ratios: &[f64], resplits: &Resplits) -> f64 {
    let mut signed: Vec<f64> = from_centre(ratios).collect();
    let mut random = ChaCha8Rng::seed_from_u64(resplits.seed);
    let sizes: Vec<f64> = (0..resplits.count)
        .filter_map(|_| {
            for value in &mut signed {
                if random.next_u32() & 1 == 1 {
                    *value = -*value;
                }
            }
            hodges_lehmann(&signed).map(f64::abs)
        })
        .collect();
    resplits.floor(&sizes)
}

/// The numbers as distances from their own Hodges-Lehmann estimate.
fn from_centre(logs: &[f64]) -> impl Iterator<Item = f64> {
    let centre = hodges_lehmann(logs).unwrap_or(0.0);
    logs.iter().map(move |log| log - centre)
}

/// The effects of random hand-outs of `first` numbers to the one side and the others to the other.
fn deals(
    numbers: &[f64],
    first: usize,
    resplits: &Resplits,
    effect: impl Fn(&[f64], &[f64]) -> Option<f64>,
) -> Vec<f64> {
    let mut shuffled = numbers.to_vec();
    let mut random = ChaCha8Rng::seed_from_u64(resplits.seed);
    (0..resplits.count)
        .filter_map(|_| {
            shuffle(&mut shuffled, first, &mut random);
            let (left, right) = shuffled.split_at(first);
            effect(left, right)
        })
        .collect()
}

/// Brings `first` things, drawn at random, to the front.
fn shuffle<T>(things: &mut [T], first: usize, random: &mut ChaCha8Rng) {
    for at in 0..first {
        let other = at + below(random, things.len() - at);
        things.swap(at, other);
    }
}

/// A uniform index below `bound`; the remainder's bias of `bound / 2^64` is nothing here.
#[expect(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
fn below(random: &mut ChaCha8Rng, bound: usize) -> usize {
    (random.next_u64() % bound as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::super::location::index_to_f64;
    use super::*;

    const RESPLITS: Resplits = Resplits { count: 1_000, seed: 1, least: 0.01 };

    #[test]
    fn of_a_row_by_hand() {
        // 0, 1, 3, 7 in pairs: means (0,1)-(3,7) = 4.5, (0,3)-(1,7) = 2.5, (0,7)-(1,3) = 1.5, each a third of the time.
        assert_eq!(of_row(&[0.0, 1.0, 3.0, 7.0], &RESPLITS), 4.5);
        let mut sizes = deals(&[0.0, 1.0, 3.0, 7.0], 2, &RESPLITS, |left, right| {
            Some((hodges_lehmann(left)? - hodges_lehmann(right)?).abs())
        });
        assert_eq!(sizes.len(), 1_000);
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        assert_eq!(sizes, vec![1.5, 2.5, 4.5]);
    }

    #[test]
    fn of_two_runs_by_hand() {
        // From their centres both runs are -1, 1. Of the six hand-outs of two numbers two give both of one sign:
        // differences of 2, a third of the time; the others 0.
        assert!((of_two_runs(&[9.0, 11.0], &[1.0, 3.0], &Hands::deal(4, 2, &RESPLITS)) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn marks_find_the_median_difference_that_the_numbers_have() {
        for (first, second) in [(1, 1), (2, 3), (4, 4), (15, 15), (7, 30)] {
            // With ties, and in no order.
            let numbers: Vec<f64> = (0..first + second).map(|at| index_to_f64(at * 7919 % 101 / 3)).collect();
            let differences = Differences::between(&numbers);
            let hands = Hands::deal(first + second, first, &RESPLITS);
            assert_eq!(hands.all.len(), RESPLITS.count);
            for hand in &hands.all {
                let side = |places: &[usize]| places.iter().map(|at| numbers[*at]).collect::<Vec<_>>();
                let (left, right) = (side(&hand[..first]), side(&hand[first..]));
                let found = differences.median(hand, first, &mut Sets::default());
                assert_eq!(found, super::super::location::hodges_lehmann_shift(&left, &right), "{hand:?}");
            }
        }
    }

    #[test]
    fn of_pairs_by_hand() {
        // From the centre: -2, 2; swapped labels give centres of 2, 0 or -2, the ends half of the time.
        assert_eq!(of_pairs(&[1.0, 5.0], &RESPLITS), 2.0);
    }

    #[test]
    fn stays_at_least_the_least() {
        assert_eq!(of_row(&[2.0; 15], &RESPLITS), 0.01);
        assert_eq!(of_row(&[], &RESPLITS), 0.01);
        assert_eq!(of_two_runs(&[2.0; 5], &[3.0; 6], &Hands::deal(11, 5, &RESPLITS)), 0.01);
        assert_eq!(of_two_runs(&[], &[], &Hands::deal(0, 0, &RESPLITS)), 0.01);
        assert_eq!(of_pairs(&[0.7; 15], &RESPLITS), 0.01);
    }

    #[test]
    fn is_repeatable_and_depends_on_the_seed() {
        let logs: Vec<f64> = (0..15).map(|index| f64::from(index * index % 11)).collect();
        let sizes = |seed| deals(&logs, 7, &Resplits { seed, ..RESPLITS }, |left, _| hodges_lehmann(left));
        assert_eq!(sizes(1), sizes(1));
        assert_ne!(sizes(1), sizes(2));
        assert_eq!(of_row(&logs, &RESPLITS), of_row(&logs, &RESPLITS));
    }
}
