//! The longest samples of a window, with their places. A percentile rests on as many observations as there were separate
//! stalls, not samples: a hundred round trips that wait for the same interrupt are one.

use serde::{Deserialize, Serialize};

/// Share of the samples that is kept: enough for the 99th percentile of a window twice as slow as the others.
const KEPT: usize = 50;

/// The longest samples of one window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// Places and values, in the order of their places.
    samples: Vec<(usize, u64)>,
}

impl Tail {
    /// The longest two per cent of `samples`.
    #[must_use]
    pub fn of(samples: &[u64]) -> Self {
        let mut places: Vec<usize> = (0..samples.len()).collect();
        let kept = samples.len().div_ceil(KEPT);
        places.sort_unstable_by_key(|place| std::cmp::Reverse(samples[*place]));
        places.truncate(kept);
        places.sort_unstable();
        Self { samples: places.into_iter().map(|place| (place, samples[place])).collect() }
    }

    /// How many separate stalls reached `threshold`: samples in a row count as one.
    #[must_use]
    pub fn stalls(&self, threshold: u64) -> usize {
        let mut stalls = 0;
        let mut last = None;
        for (place, _) in self.samples.iter().filter(|(_, value)| *value >= threshold) {
            if last != Some(place.wrapping_sub(1)) {
                stalls += 1;
            }
            last = Some(*place);
        }
        stalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_stall() {
        let mut samples = vec![10; 1_000];
        for place in [5, 6, 7, 100, 102, 999] {
            samples[place] = 1_000 + place as u64;
        }
        let tail = Tail::of(&samples);
        assert_eq!(tail.samples.len(), 20);
        assert_eq!((tail.stalls(1_000), tail.stalls(1_100), tail.stalls(1_006), tail.stalls(2_000)), (4, 3, 4, 0));
    }
}
