//! Rank tests and the intervals that invert them. Owns the null distributions of Mann and Whitney's U, of Wilcoxon's
//! signed-rank sum and of the sign test, exact where the sample is small and without ties, else by the normal approximation.
//!
//! Nothing here assumes that the noise is normal: the p values and intervals hold for any continuous distribution.

use super::location::{differences, index_to_f64, walsh_averages};

/// Up to this many numbers a side the distribution of U is counted exactly; C(60, 30) still fits a signed 64-bit integer.
const EXACT_SIDE: usize = 30;

/// Up to this many numbers the signed-rank distribution is counted exactly; 2^50 is still exact in a float.
const EXACT_ONE_SAMPLE: usize = 50;

/// A confidence interval. Rank statistics are discrete, so that the level asked for is seldom met exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The level asked for, such as 0.9.
    pub asked: f64,
    /// The level that it has: at least what was asked, unless the sample is too small for that; then this is the widest
    /// interval there is, and its level is below what was asked.
    pub achieved: f64,
}

impl Interval {
    /// Whether the level asked for was reached at all.
    #[must_use]
    pub fn is_achieved(&self) -> bool {
        self.achieved >= self.asked - 1e-12
    }

    /// The larger of the distances from `estimate` to the ends.
    #[must_use]
    pub fn reach(&self, estimate: f64) -> f64 {
        (self.high - estimate).max(estimate - self.low)
    }
}

/// The two-sided p value of Mann and Whitney's test that `left` and `right` come from one distribution.
///
/// Exact with at most 30 numbers a side and no ties; else the normal approximation with corrections for ties and
/// continuity. 1 where a side is empty or all numbers are equal.
#[must_use]
pub fn mann_whitney(left: &[f64], right: &[f64]) -> f64 {
    if left.is_empty() || right.is_empty() {
        return 1.0;
    }
    let (mut below, mut ties) = (0_usize, 0_usize);
    for value in left {
        below += right.iter().filter(|other| *other < value).count();
        ties += right.iter().filter(|other| *other == value).count();
    }
    let pooled: Vec<f64> = left.iter().chain(right).copied().collect();
    let groups = tie_groups(pooled);
    if groups.is_empty() && left.len() <= EXACT_SIDE && right.len() <= EXACT_SIDE {
        let smaller = below.min(left.len() * right.len() - below);
        return (2.0 * Null::mann_whitney(left.len(), right.len()).at_most(smaller)).min(1.0);
    }
    let (n, m) = (index_to_f64(left.len()), index_to_f64(right.len()));
    let total = n + m;
    let correction: f64 = groups.iter().map(|size| size.powi(3) - size).sum::<f64>() / (total * (total - 1.0));
    let deviation = (n * m / 12.0 * (total + 1.0 - correction)).max(0.0).sqrt();
    two_sided_normal(index_to_f64(below) + index_to_f64(ties) / 2.0 - n * m / 2.0, deviation)
}

/// The two-sided p value of Wilcoxon's test that `values` lie symmetrically around 0. Zeros are left out.
///
/// Exact with at most 50 numbers and no ties among their sizes; else the normal approximation with corrections for ties
/// and continuity. It cannot fall below `2 / 2^n`: with 5 numbers it never reaches 0.05.
#[must_use]
pub fn signed_rank(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| *value != 0.0).collect();
    sorted.sort_unstable_by(|left, right| left.abs().total_cmp(&right.abs()));
    let n = sorted.len();
    if n == 0 {
        return 1.0;
    }
    let groups = tie_groups(sorted.iter().map(|value| value.abs()).collect());
    if groups.is_empty() && n <= EXACT_ONE_SAMPLE {
        let positive: usize = sorted.iter().enumerate().filter(|(_, value)| **value > 0.0).map(|(at, _)| at + 1).sum();
        let smaller = positive.min(n * (n + 1) / 2 - positive);
        return (2.0 * Null::signed_rank(n).at_most(smaller)).min(1.0);
    }
    let mut positive = 0.0;
    for value in sorted.iter().filter(|value| **value > 0.0) {
        let smaller = sorted.iter().filter(|other| other.abs() < value.abs()).count();
        let equal = sorted.iter().filter(|other| other.abs() == value.abs()).count();
        positive += index_to_f64(smaller) + (index_to_f64(equal) + 1.0) / 2.0;
    }
    let count = index_to_f64(n);
    let correction: f64 = groups.iter().map(|size| size.powi(3) - size).sum::<f64>() / 48.0;
    let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0 - correction;
    two_sided_normal(positive - count * (count + 1.0) / 4.0, variance.max(0.0).sqrt())
}

/// The distribution-free interval of the one-sample Hodges-Lehmann estimate: order statistics of the Walsh averages, cut
/// where Wilcoxon's signed-rank test would no longer reject. `None` for an empty sample.
#[must_use]
pub fn one_sample_interval(values: &[f64], level: f64) -> Option<Interval> {
    invert(walsh_averages(values), &Null::signed_rank(values.len()), level)
}

/// The distribution-free interval of the two-sample Hodges-Lehmann estimate of `left - right`: order statistics of the
/// pairwise differences, cut where Mann and Whitney's test would no longer reject. `None` where a side is empty.
#[must_use]
pub fn two_sample_interval(left: &[f64], right: &[f64], level: f64) -> Option<Interval> {
    invert(differences(left, right), &Null::mann_whitney(left.len(), right.len()), level)
}

/// The distribution-free interval of the median: order statistics, cut where the sign test would no longer reject. `None` for
/// an empty sample.
#[must_use]
pub fn median_interval(values: &[f64], level: f64) -> Option<Interval> {
    invert(values.to_vec(), &Null::sign(values.len()), level)
}

/// The k-th value from either end, k being the largest for which the test still rejects beyond it.
fn invert(mut values: Vec<f64>, null: &Null, level: f64) -> Option<Interval> {
    let count = values.len();
    if count == 0 {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let outside = 1.0 - level;
    let mut cut = 0;
    while cut + 1 < count.div_ceil(2) && 2.0 * null.at_most(cut + 1) <= outside + 1e-12 {
        cut += 1;
    }
    let achieved = (1.0 - 2.0 * null.at_most(cut)).max(0.0);
    Some(Interval { low: values[cut], high: values[count - 1 - cut], asked: level, achieved })
}

/// The distribution of a rank statistic where nothing differs.
enum Null {
    /// Cumulative probabilities from 0 on.
    Counted(Vec<f64>),
    /// The normal approximation, continuity-corrected.
    Normal { mean: f64, deviation: f64 },
}

impl Null {
    /// Of U: how many of the `n * m` pairs are in one order.
    fn mann_whitney(n: usize, m: usize) -> Self {
        if n > EXACT_SIDE || m > EXACT_SIDE {
            let (n, m) = (index_to_f64(n), index_to_f64(m));
            return Self::Normal { mean: n * m / 2.0, deviation: (n * m * (n + m + 1.0) / 12.0).sqrt() };
        }
        Self::counted(&u_counts(n, m))
    }

    /// Of the sum of the ranks that belong to positive numbers.
    fn signed_rank(n: usize) -> Self {
        if n > EXACT_ONE_SAMPLE {
            let n = index_to_f64(n);
            return Self::Normal {
                mean: n * (n + 1.0) / 4.0,
                deviation: (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt(),
            };
        }
        Self::counted(&signed_rank_counts(n))
    }

    /// Of how many numbers lie above the median.
    fn sign(n: usize) -> Self {
        if n > EXACT_ONE_SAMPLE {
            return Self::Normal { mean: index_to_f64(n) / 2.0, deviation: index_to_f64(n).sqrt() / 2.0 };
        }
        let mut counts = vec![0_i64; n + 1];
        counts[0] = 1;
        for _ in 0..n {
            // The next row of Pascal's triangle.
            for at in (1..counts.len()).rev() {
                counts[at] += counts[at - 1];
            }
        }
        Self::counted(&counts)
    }

    #[expect(clippy::cast_precision_loss, reason = "a relative error of 2^-53 in a probability")]
    fn counted(counts: &[i64]) -> Self {
        let total = counts.iter().sum::<i64>() as f64;
        let mut below = 0_i64;
        Self::Counted(
            counts
                .iter()
                .map(|count| {
                    below += count;
                    below as f64 / total
                })
                .collect(),
        )
    }

    /// The probability of at most `value`.
    fn at_most(&self, value: usize) -> f64 {
        match self {
            Self::Counted(cumulative) => cumulative.get(value).copied().unwrap_or(1.0),
            Self::Normal { mean, deviation } => normal_tail((mean - index_to_f64(value) - 0.5) / deviation),
        }
    }
}

/// How many orders of `n` and `m` things have each U: the coefficients of the Gaussian binomial, built up one thing at a
/// time by multiplying with `1 - q^(m+i)` and dividing by `1 - q^i`.
fn u_counts(n: usize, m: usize) -> Vec<i64> {
    let mut counts = vec![0_i64; n * m + 1];
    counts[0] = 1;
    for step in 1..=n {
        for at in (m + step..counts.len()).rev() {
            counts[at] -= counts[at - m - step];
        }
        for at in step..counts.len() {
            counts[at] += counts[at - step];
        }
    }
    counts
}

/// How many of the `2^n` choices of signs have each sum of positive ranks.
fn signed_rank_counts(n: usize) -> Vec<i64> {
    let mut counts = vec![0_i64; n * (n + 1) / 2 + 1];
    counts[0] = 1;
    for rank in 1..=n {
        for at in (rank..counts.len()).rev() {
            counts[at] += counts[at - rank];
        }
    }
    counts
}

/// The sizes of the groups of equal numbers, of those that have more than one.
fn tie_groups(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.chunk_by(|left, right| left == right).map(<[f64]>::len).filter(|size| *size > 1).map(index_to_f64).collect()
}

/// Two-sided p of a statistic that lies `distance` from its mean, continuity-corrected by a half.
fn two_sided_normal(distance: f64, deviation: f64) -> f64 {
    if deviation == 0.0 {
        return 1.0;
    }
    (2.0 * normal_tail((distance.abs() - 0.5).max(0.0) / deviation)).min(1.0)
}

/// The probability that a standard normal variable exceeds `z`.
fn normal_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < 3.0 {
        // The series z + z^3/3 + z^5/(3*5) + ..., all terms positive.
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    // Laplace's continued fraction z + 1/(z + 2/(z + ...)), from the inside out.
    let fraction = (1..=80).rev().fold(z, |inner, step| z + f64::from(step) / inner);
    density / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn counts_by_hand() {
        // Two and two things: six orders with U = 0, 1, 2, 2, 3, 4.
        assert_eq!(u_counts(2, 2), vec![1, 1, 2, 1, 1]);
        assert_eq!(u_counts(5, 5).iter().sum::<i64>(), 252);
        assert_eq!(u_counts(30, 30).iter().sum::<i64>(), 118_264_581_564_861_424);
        // Ranks 1, 2, 3: the sums of the subsets are 0, 1, 2, 3, 3, 4, 5, 6.
        assert_eq!(signed_rank_counts(3), vec![1, 1, 1, 2, 1, 1, 1]);
    }

    #[test]
    fn mann_whitney_by_hand() {
        // All of one side below the other: 2 of the 252 orders of five and five are as extreme.
        close(mann_whitney(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]), 2.0 / 252.0);
        // {1, 4} and {2, 3, 5}: U = 2 of 6; orders of two and three with U <= 2: 1 + 1 + 2 of 10, so p = 0.8.
        close(mann_whitney(&[1.0, 4.0], &[2.0, 3.0, 5.0]), 0.8);
        close(mann_whitney(&[1.0; 9], &[1.0; 9]), 1.0);
        close(mann_whitney(&[], &[1.0]), 1.0);
    }

    #[test]
    fn mann_whitney_with_ties_by_hand() {
        // {1, 2} and {2, 3}: U = 0.5 of 4; variance 4/12 * (5 - (8 - 2)/(4 * 3)) = 1.5; z = (1.5 - 0.5)/sqrt(1.5).
        close(mann_whitney(&[1.0, 2.0], &[2.0, 3.0]), 2.0 * normal_tail(1.0 / 1.5_f64.sqrt()));
    }

    #[test]
    fn signed_rank_by_hand() {
        close(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 32.0);
        // Ranks of 1, -2, 3: positive sum 4, mirrored 2; sums up to 2: three of eight, p = 0.75.
        close(signed_rank(&[1.0, -2.0, 3.0]), 0.75);
        // 1, 1, -1 (and a zero, left out): ranks 2 each; sum 4 against 3; variance 3*4*7/24 - (27-3)/48 = 3.
        close(signed_rank(&[1.0, 0.0, 1.0, -1.0]), 2.0 * normal_tail(0.5 / 3.0_f64.sqrt()));
        close(signed_rank(&[0.0; 4]), 1.0);
    }

    #[test]
    fn one_sample_interval_by_hand() {
        // Five numbers: the whole range of the Walsh averages holds with 1 - 2/32.
        let interval = one_sample_interval(&[1.0, 2.0, 4.0, 8.0, 16.0], 0.90).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 16.0));
        close(interval.achieved, 0.9375);
        assert!(interval.is_achieved());
        let interval = one_sample_interval(&[1.0, 2.0, 4.0, 8.0, 16.0], 0.95).unwrap();
        close(interval.achieved, 0.9375);
        assert!(!interval.is_achieved());
        // Ten numbers at 95 %: the classical table cuts 8 Walsh averages off each end (P(T <= 8) = 25/1024).
        let numbers: Vec<f64> = (0..10).map(f64::from).collect();
        let interval = one_sample_interval(&numbers, 0.95).unwrap();
        close(interval.achieved, 1.0 - 50.0 / 1_024.0);
        // Sorted Walsh averages 0, .5, 1, 1, 1.5, 1.5, 2, 2, 2, ...: eight are cut off, and the ninth is 2.
        assert_eq!((interval.low, interval.high), (2.0, 7.0));
        assert!(one_sample_interval(&[], 0.9).is_none());
    }

    #[test]
    fn two_sample_interval_by_hand() {
        // Three and three at 90 %: all 9 differences, 1 - 2/20.
        let interval = two_sample_interval(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0], 0.90).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 5.0));
        close(interval.achieved, 0.9);
        assert!(interval.is_achieved());
        // Five and five at 95 %: the classical critical value is 2 (P(U <= 2) = 4/252).
        let five: Vec<f64> = (0..5).map(f64::from).collect();
        let interval = two_sample_interval(&five, &five, 0.95).unwrap();
        close(interval.achieved, 1.0 - 8.0 / 252.0);
        // Sorted differences -4, -3, -3, -2, ...: two are cut off, and the third stands.
        assert_eq!((interval.low, interval.high), (-3.0, 3.0));
    }

    #[test]
    fn median_interval_by_hand() {
        // Ten numbers: up to one of ten on one side has 11 of 1,024 chances, up to two have 56.
        let numbers: Vec<f64> = (1..=10).map(f64::from).collect();
        let interval = median_interval(&numbers, 0.90).unwrap();
        assert_eq!((interval.low, interval.high), (2.0, 9.0));
        close(interval.achieved, 1.0 - 22.0 / 1_024.0);
        let interval = median_interval(&numbers, 0.89).unwrap();
        assert_eq!((interval.low, interval.high), (3.0, 8.0));
        // Three numbers: no more than their range, which is too little.
        let interval = median_interval(&[3.0, 1.0, 2.0], 0.90).unwrap();
        assert_eq!((interval.low, interval.high, interval.is_achieved()), (1.0, 3.0, false));
        close(interval.achieved, 0.75);
        let many: Vec<f64> = (0..100).map(f64::from).collect();
        let interval = median_interval(&many, 0.90).unwrap();
        assert_eq!((interval.low, interval.high), (41.0, 58.0));
        assert!(median_interval(&[], 0.9).is_none());
    }

    #[test]
    fn normal_tail_matches_the_table() {
        close(normal_tail(0.0), 0.5);
        assert!((normal_tail(1.959_963_984_540_054) - 0.025).abs() < 1e-12);
        assert!((normal_tail(-1.0) - 0.841_344_746_068_543).abs() < 1e-12);
        assert!((normal_tail(6.0) / 9.865_876_450_377e-10 - 1.0).abs() < 1e-9);
        assert!((normal_tail(2.999_999) - normal_tail(3.000_001)).abs() < 1e-7);
    }

    #[test]
    fn large_samples_use_the_normal_approximation() {
        let left: Vec<f64> = (0..40).map(|at| f64::from(2 * at)).collect();
        let right: Vec<f64> = (0..40).map(|at| f64::from(2 * at + 1)).collect();
        assert!(mann_whitney(&left, &right) > 0.8);
        let interval = two_sample_interval(&left, &right, 0.95).unwrap();
        assert!(interval.low < -1.0 && interval.high > -1.0 && (interval.achieved - 0.95).abs() < 0.005);
    }
}
