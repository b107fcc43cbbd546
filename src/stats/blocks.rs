//! Percentiles of samples that depend on one another, as response times under load do: naive intervals would cover a third of
//! what they promise. Owns the bootstrap over blocks of time (Kuensch 1989), within which samples may depend as they like.
//!
//! A block is a histogram: pairs of a bucket's index and its count, in the order of the indices.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::location::quantile;

/// Blocks below which there is no interval.
pub const ENOUGH_BLOCKS: usize = 30;

/// Resamples.
const RESAMPLES: usize = 200;

/// One block of time: buckets with their counts.
pub type Block = Vec<(u32, u32)>;

/// The bucket that holds the quantile at `share` of all counts; `None` where there are none.
#[must_use]
pub fn bucket_at(counts: &[u64], share: f64) -> Option<usize> {
    let total: u64 = counts.iter().sum();
    let rank = rank(total, share)?;
    let mut seen = 0;
    counts.iter().position(|count| {
        seen += count;
        seen >= rank
    })
}

/// The rank of a quantile, from 1: the least at which that share of the samples is reached, as HdrHistogram has it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts stay far below 2^53"
)]
fn rank(total: u64, share: f64) -> Option<u64> {
    (total > 0).then(|| ((share * total as f64).ceil() as u64).clamp(1, total))
}

/// The 95 % intervals of the quantiles at `shares`, as buckets; `None` where there are too few blocks.
#[must_use]
pub fn intervals(blocks: &[&Block], shares: &[f64], seed: u64) -> Option<Vec<[usize; 2]>> {
    if blocks.len() < ENOUGH_BLOCKS {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut counts = vec![0; buckets(blocks)];
    let mut found: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES); shares.len()];
    for _ in 0..RESAMPLES {
        resample(blocks, &mut random, &mut counts);
        for (share, found) in shares.iter().zip(&mut found) {
            found.push(float(bucket_at(&counts, *share)?));
        }
    }
    found.iter().map(|found| Some([whole(quantile(found, 0.025)?), whole(quantile(found, 0.975)?)])).collect()
}

/// The slope of the quantile at `share` over groups of blocks, a group a step, with its 95 % interval: Theil and Sen's, of the
/// values that `value` gives of buckets. `None` where there are fewer than three groups, or one is empty.
#[must_use]
pub fn drift(groups: &[Vec<&Block>], share: f64, value: &dyn Fn(usize) -> f64, seed: u64) -> Option<(f64, [f64; 2])> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut counts = vec![0; groups.iter().map(|group| buckets(group)).max()?];
    let mut slope = |resampled: bool| {
        let mut values = Vec::with_capacity(groups.len());
        for group in groups {
            if resampled {
                resample(group, &mut random, &mut counts);
            } else {
                counts.fill(0);
                group.iter().for_each(|block| add(block, &mut counts));
            }
            values.push(value(bucket_at(&counts, share)?));
        }
        theil_sen(&values)
    };
    let estimate = slope(false)?;
    let slopes: Option<Vec<f64>> = (0..RESAMPLES).map(|_| slope(true)).collect();
    let slopes = slopes?;
    Some((estimate, [quantile(&slopes, 0.025)?, quantile(&slopes, 0.975)?]))
}

/// The median of the slopes between all pairs of values, which are one step apart.
#[must_use]
pub fn theil_sen(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let mut slopes = Vec::with_capacity(values.len() * values.len() / 2);
    for (later, high) in values.iter().enumerate() {
        slopes.extend(values[..later].iter().enumerate().map(|(earlier, low)| (high - low) / float(later - earlier)));
    }
    super::location::median(&slopes)
}

fn buckets(blocks: &[&Block]) -> usize {
    blocks.iter().filter_map(|block| block.last()).map(|(bucket, _)| *bucket as usize + 1).max().unwrap_or(0)
}

/// As many blocks as there are, drawn with replacement, added up.
fn resample(blocks: &[&Block], random: &mut ChaCha8Rng, counts: &mut [u64]) {
    counts.fill(0);
    for _ in 0..blocks.len() {
        let drawn = random.next_u64() % blocks.len().max(1) as u64;
        add(blocks[usize::try_from(drawn).unwrap_or(0)], counts);
    }
}

fn add(block: &Block, counts: &mut [u64]) {
    for (bucket, count) in block {
        counts[*bucket as usize] += u64::from(*count);
    }
}

#[expect(clippy::cast_precision_loss, reason = "indices of buckets and of minutes")]
fn float(index: usize) -> f64 {
    index as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what was made of an index is one again")]
fn whole(bucket: f64) -> usize {
    bucket.round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bucket_of_a_quantile() {
        let counts = [0, 90, 9, 0, 1];
        let at = |share| bucket_at(&counts, share).unwrap();
        assert_eq!([at(0.0), at(0.5), at(0.9), at(0.91), at(0.99), at(0.991), at(1.0)], [1, 1, 1, 2, 2, 4, 4]);
        assert_eq!(bucket_at(&[0, 0], 0.5), None);
    }

    /// Blocks within which everything is alike: one in ten is slow.
    fn clustered(random: &mut ChaCha8Rng) -> Vec<Block> {
        (0..60)
            .map(|_| if random.next_u64().is_multiple_of(10) { vec![(5, 1_000)] } else { vec![(1, 1_000)] })
            .collect()
    }

    #[test]
    fn knows_that_samples_of_one_block_are_one_observation() {
        // Of 60,000 samples a tenth is slow, and a naive interval of the 80th percentile would not reach 1 to 5 at all; yet
        // with 60 blocks, of which 6 are slow on average, 12 slow ones are no rarity.
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut wide = 0;
        for seed in 0..100 {
            let blocks = clustered(&mut random);
            let blocks: Vec<&Block> = blocks.iter().collect();
            let [low, high] = intervals(&blocks, &[0.87], seed).unwrap()[0];
            wide += usize::from((low, high) == (1, 5));
        }
        assert!(wide > 60, "{wide} of 100");
        assert!(intervals(&[&vec![(1, 1)]; 29], &[0.5], 1).is_none());
    }

    #[test]
    fn theil_and_sen_are_not_moved_by_an_outlier() {
        let mut values: Vec<f64> = (0..20).map(|n| 3.0 * f64::from(n)).collect();
        values[7] = 1e9;
        assert!((theil_sen(&values).unwrap() - 3.0).abs() < 1e-9);
        assert!(theil_sen(&[1.0, 2.0]).is_none());
    }

    #[test]
    fn a_drift_is_told_from_noise() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let minute = |level: u32, random: &mut ChaCha8Rng| -> Vec<Block> {
            (0..60).map(|_| vec![(level + u32::try_from(random.next_u64() % 20).unwrap(), 1_000)]).collect()
        };
        let of = |step: u32, random: &mut ChaCha8Rng| {
            let minutes: Vec<Vec<Block>> = (0..30).map(|n| minute(100 + step * n, random)).collect();
            let groups: Vec<Vec<&Block>> = minutes.iter().map(|minute| minute.iter().collect()).collect();
            drift(&groups, 0.5, &float, 9).unwrap()
        };
        let (slope, [low, high]) = of(2, &mut random);
        assert!(low > 0.0 && low <= slope && slope <= high && high < 4.0, "{slope} in {low} to {high}");
        let (_, [low, high]) = of(0, &mut random);
        assert!(low <= 0.0 && high >= 0.0, "{low} to {high}");
    }
}
