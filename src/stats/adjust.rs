//! Many comparisons at once. Owns the adjustment of p values by Benjamini and Hochberg (1995).

use super::location::index_to_f64;

/// The p values adjusted so that calling every row whose result is below `q` keeps the expected share of false calls
/// among the calls at `q` (and, where nothing differs, the probability of any call). In the order of the input.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|left, right| p[*left].total_cmp(&p[*right]));
    let mut adjusted = vec![1.0; p.len()];
    let mut smallest = 1.0_f64;
    for (rank, row) in order.iter().enumerate().rev() {
        smallest = smallest.min(p[*row] * index_to_f64(p.len()) / index_to_f64(rank + 1));
        adjusted[*row] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusts_by_hand() {
        // Sorted 0.01, 0.02, 0.03, 0.5 times 4 / rank: 0.04, 0.04, 0.04, 0.5.
        let adjusted = benjamini_hochberg(&[0.5, 0.03, 0.01, 0.02]);
        for (found, expected) in adjusted.iter().zip([0.5, 0.04, 0.04, 0.04]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        // 0.04 * 2 / 1 = 0.08 is brought down by the larger 0.045 * 2 / 2.
        let adjusted = benjamini_hochberg(&[0.04, 0.045]);
        assert!((adjusted[0] - 0.045).abs() < 1e-12 && (adjusted[1] - 0.045).abs() < 1e-12, "{adjusted:?}");
        assert_eq!(benjamini_hochberg(&[]), Vec::<f64>::new());
        assert_eq!(benjamini_hochberg(&[0.9, 1.0]), vec![1.0, 1.0]);
    }
}
