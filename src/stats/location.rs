//! Where a sample lies: median, quantile and the Hodges-Lehmann estimates. Owns no test and no interval.
//!
//! All functions return `None` for an empty sample, and expect finite numbers.

/// The middle value; of an even number of values the mean of the two in the middle.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut scratch = values.to_vec();
    median_in_place(&mut scratch)
}

/// The quantile at `share` (0 to 1), by linear interpolation between order statistics: with the values sorted from
/// index 0, it lies at index `(n - 1) * share` (Hyndman and Fan's definition 7, the default of R and NumPy).
#[must_use]
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let (below, fraction) = split(index_to_f64(last) * share.clamp(0.0, 1.0));
    let below = below.min(last);
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * fraction)
}

/// The one-sample Hodges-Lehmann estimate: the median of all Walsh averages `(x_i + x_j) / 2` with `i <= j`.
#[must_use]
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    median_in_place(&mut walsh_averages(values))
}

/// The two-sample Hodges-Lehmann estimate of `left - right`: the median of all pairwise differences.
#[must_use]
pub fn hodges_lehmann_shift(left: &[f64], right: &[f64]) -> Option<f64> {
    median_in_place(&mut differences(left, right))
}

/// All `n (n + 1) / 2` Walsh averages, unsorted.
pub(super) fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, left) in values.iter().enumerate() {
        averages.extend(values[index..].iter().map(|right| f64::midpoint(*left, *right)));
    }
    averages
}

/// All `n * m` differences `left - right`, unsorted.
pub(super) fn differences(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().flat_map(|left| right.iter().map(move |right| left - right)).collect()
}

/// The median, reordering the values.
pub(super) fn median_in_place(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if !even {
        return Some(upper);
    }
    below.iter().copied().max_by(f64::total_cmp).map(|lower| f64::midpoint(lower, upper))
}

/// A count as a float; exact below 2^53, which no sample here comes near.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(super) const fn index_to_f64(index: usize) -> f64 {
    index as f64
}

/// A position of at least 0 as its whole part and its fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the position is not negative and small")]
fn split(position: f64) -> (usize, f64) {
    (position as usize, position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_by_hand() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }

    #[test]
    fn quantiles_by_hand() {
        // Index (5 - 1) * 0.95 = 3.8, between 40 and 50.
        assert!((quantile(&[50.0, 10.0, 40.0, 20.0, 30.0], 0.95).unwrap() - 48.0).abs() < 1e-12);
        assert_eq!(quantile(&[1.0, 2.0], 0.0), Some(1.0));
        assert_eq!(quantile(&[1.0, 2.0], 1.0), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 3.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn one_sample_estimate_by_hand() {
        // Walsh averages of 1, 2, 6: 1, 1.5, 3.5, 2, 4, 6; sorted 1, 1.5, 2, 3.5, 4, 6; median (2 + 3.5) / 2.
        assert_eq!(hodges_lehmann(&[6.0, 1.0, 2.0]), Some(2.75));
        assert_eq!(hodges_lehmann(&[]), None);
    }

    #[test]
    fn two_sample_estimate_by_hand() {
        // Differences of {5, 9} and {1, 2, 4}: 4, 3, 1, 8, 7, 5; sorted 1, 3, 4, 5, 7, 8; median 4.5.
        assert_eq!(hodges_lehmann_shift(&[5.0, 9.0], &[1.0, 2.0, 4.0]), Some(4.5));
        assert_eq!(hodges_lehmann_shift(&[1.0], &[]), None);
    }
}
