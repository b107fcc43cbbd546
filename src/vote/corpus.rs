//! The seeded corpus: the votes that every row is fed with. The same seed gives the same votes on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::Vote;

/// How many different votes a timed pass runs over; enough to defeat branch history, small enough for the L2 cache.
pub const SIZE: usize = 1_024;

/// The seed from which the published corpus is made.
pub const SEED: u64 = 1;

/// Raised by one whenever a timed region changes so that times from before are of other work (`CHANGELOG.md`, Not comparable).
const DRIVEN: u64 = 1;

/// Nanoseconds since the Unix epoch around which timestamps lie: 2023-11-14.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

/// A hash of these votes and of how they are driven: it tells runs apart whose times are of different work.
#[must_use]
pub fn hash(count: usize, seed: u64) -> String {
    let start = 0xcbf2_9ce4_8422_2325 ^ DRIVEN;
    let mix = |hash: u64, vote: &Vote| (hash ^ super::Digest::of(vote).0).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", votes(count, seed).iter().fold(start, mix))
}

/// `count` different votes of a plausible chain: hashes, ids and signatures are random bytes, the round takes one to four
/// bytes as a varint would count them, the timestamp lies within an hour, the type is 1 or 2, as in BFT protocols.
#[must_use]
pub fn votes(count: usize, seed: u64) -> Vec<Vote> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let mut vote = Vote::default();
            random.fill_bytes(&mut vote.block_hash);
            random.fill_bytes(&mut vote.voter_id);
            random.fill_bytes(&mut vote.signature);
            let width = 7 * (1 + random.next_u32() % 4);
            vote.round = random.next_u64() >> (64 - width);
            vote.timestamp = EPOCH_NS + random.next_u64() % 3_600_000_000_000;
            vote.vote_type = if random.next_u32().is_multiple_of(2) { 1 } else { 2 };
            vote
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_tells_corpora_apart() {
        assert_eq!(hash(16, 1), hash(16, 1));
        assert!(hash(16, 1) != hash(16, 2) && hash(16, 1) != hash(17, 1));
        assert_eq!(hash(SIZE, SEED).len(), 16);
    }

    #[test]
    fn is_the_same_everywhere_and_all_different() {
        let corpus = votes(SIZE, SEED);
        assert_eq!(corpus, votes(SIZE, SEED));
        assert_ne!(corpus[0], votes(1, SEED + 1)[0]);
        let signatures: std::collections::HashSet<_> = corpus.iter().map(|vote| vote.signature).collect();
        assert_eq!(signatures.len(), SIZE);
        // Pinned, so that a change of the generator, which would make results incomparable, is seen.
        assert_eq!(crate::vote::Digest::of(&corpus[SIZE - 1]).0, 9_522_903_163_435_241_926);
    }
}
