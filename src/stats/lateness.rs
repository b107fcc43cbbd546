//! How long something that falls due at a random moment waits for a loop that leaves gaps. A gap counts by its length, and what
//! falls into it waits for a part of it: of all time, the share that lies more than x before a gap's end.

/// The wait that a share of what falls due does not exceed, for each of `shares`; in the unit of the gaps. `gaps` are lengths with how
/// often each was seen, in rising order.
#[must_use]
pub fn quantiles(gaps: &[(f64, f64)], shares: &[f64]) -> Vec<f64> {
    // All that waits longer than x: the sum of (gap - x) over the gaps above x, which are those from one on.
    let mut above = vec![(0.0, 0.0); gaps.len() + 1];
    for (at, (length, count)) in gaps.iter().enumerate().rev() {
        let (counted, summed) = above[at + 1];
        above[at] = (counted + count, summed + length * count);
    }
    let whole = above.first().map_or(0.0, |(_, summed)| *summed);
    let of_share = |share: &f64| {
        let allowed = (1.0 - share.clamp(0.0, 1.0)) * whole;
        let waiting_over = |at: usize| above[at + 1].1 - gaps[at].0 * above[at + 1].0;
        // The first gap beyond which no more than that waits; the wait lies between the gap before and it.
        let first = (0..gaps.len()).collect::<Vec<_>>().partition_point(|at| waiting_over(*at) > allowed);
        let Some((counted, summed)) = above.get(first).filter(|(counted, _)| *counted > 0.0) else { return 0.0 };
        ((summed - allowed) / counted).max(0.0)
    };
    shares.iter().map(of_share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_counts_by_its_length() {
        assert_eq!(quantiles(&[], &[0.5]), [0.0]);
        // One gap of 100: half of what falls due waits no longer than 50.
        assert_eq!(quantiles(&[(100.0, 1.0)], &[0.0, 0.5, 1.0]), [0.0, 50.0, 100.0]);
        // A tenth of the time is one gap of 1 ms, the rest is nothing to speak of.
        let found = quantiles(&[(50.0, 180_000.0), (1e6, 1.0)], &[0.5, 0.99]);
        assert!(found[0] <= 50.0 && (found[1] - 900_000.0).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn is_what_counting_every_moment_gives() {
        let gaps = [(3.0, 2.0), (10.0, 1.0), (40.0, 3.0)];
        let mut waits: Vec<f64> = Vec::new();
        for (length, count) in gaps {
            let moments = (0..).map(|n| (f64::from(n) + 0.5) / 100.0).take_while(|moment| *moment < length);
            let moments: Vec<f64> = moments.collect();
            (0..3).filter(|n| f64::from(*n) < count).for_each(|_| waits.extend(&moments));
        }
        waits.sort_by(f64::total_cmp);
        let shares = [0.1, 0.5, 0.9, 0.99];
        for (share, found) in shares.iter().zip(quantiles(&gaps, &shares)) {
            let below = waits.iter().filter(|wait| **wait <= found).count() as f64 / waits.len() as f64;
            assert!((below - share).abs() < 0.001, "{share}: {found} {below}");
        }
    }
}
