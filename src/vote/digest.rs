//! A digest of all 145 bytes of a vote: what a row of the model `read` computes to prove that it read every field.
//!
//! It must be cheap, because its cost is inside every `read` and would blur the differences between formats, and it must
//! depend on every bit and on where that bit stands, so that no field, and no part of one, can be skipped or swapped
//! unnoticed. The sixteen 8-byte words of hash, id and signature go in turn into four lanes, each a Horner sum in base 3
//! modulo 2^64 (odd weights 27, 9, 3, 1, so that a change of a single word always shows); lanes, round, timestamp and
//! type are combined under different rotations. It is a checksum for a benchmark and has no cryptographic use.

use super::Vote;

/// A position-sensitive 64-bit digest of a vote's six fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digest(pub u64);

impl Digest {
    /// Digest of an owned vote.
    #[inline]
    #[must_use]
    pub fn of(vote: &Vote) -> Self {
        Self::of_fields(vote.round, &vote.block_hash, &vote.voter_id, &vote.signature, vote.timestamp, vote.vote_type)
    }

    /// Digest of a vote whose fields lie anywhere.
    #[inline]
    #[must_use]
    pub fn of_fields(
        round: u64,
        block_hash: &[u8; 32],
        voter_id: &[u8; 32],
        signature: &[u8; 64],
        timestamp: u64,
        vote_type: u8,
    ) -> Self {
        Self::of_words(round, words(block_hash), words(voter_id), words(signature), timestamp, vote_type)
    }

    /// Digest of a vote whose byte fields are at hand as little-endian words, as some formats keep them.
    #[inline]
    #[must_use]
    pub fn of_words(
        round: u64,
        block_hash: [u64; 4],
        voter_id: [u64; 4],
        signature: [u64; 8],
        timestamp: u64,
        vote_type: u8,
    ) -> Self {
        let lane = |i: usize| {
            let mut sum = block_hash[i];
            for word in [voter_id[i], signature[i], signature[i + 4]] {
                sum = sum.wrapping_mul(3).wrapping_add(word);
            }
            sum
        };
        let lanes = (lane(0) ^ lane(1).rotate_left(16)) ^ (lane(2).rotate_left(32) ^ lane(3).rotate_left(48));
        let rest = round.rotate_left(8).wrapping_add(timestamp.rotate_left(24)) ^ u64::from(vote_type).rotate_left(56);
        Self(lanes.wrapping_add(rest))
    }
}

/// The little-endian 8-byte words of a byte field; `N` must be `8 * W`.
#[inline]
fn words<const N: usize, const W: usize>(bytes: &[u8; N]) -> [u64; W] {
    const { assert!(N == 8 * W) };
    let mut out = [0; W];
    for (word, chunk) in out.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        *word = u64::from_le_bytes(eight);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vote::corpus;

    fn flip(vote: &Vote, bit: usize) -> Vote {
        let mut vote = vote.clone();
        let (byte, mask) = (bit / 8, 1u8 << (bit % 8));
        match byte {
            0..8 => vote.round ^= 1 << bit,
            8..40 => vote.block_hash[byte - 8] ^= mask,
            40..72 => vote.voter_id[byte - 40] ^= mask,
            72..136 => vote.signature[byte - 72] ^= mask,
            136..144 => vote.timestamp ^= 1 << (bit - 136 * 8),
            _ => vote.vote_type ^= mask,
        }
        vote
    }

    #[test]
    fn every_bit_counts() {
        for vote in corpus::votes(8, 3) {
            for bit in 0..145 * 8 {
                assert_ne!(Digest::of(&flip(&vote, bit)), Digest::of(&vote), "bit {bit} does not show");
            }
        }
    }

    #[test]
    fn every_position_counts() {
        for vote in corpus::votes(8, 4) {
            let bytes = [&vote.block_hash[..], &vote.voter_id, &vote.signature].concat();
            let mut seen = std::collections::HashSet::from([Digest::of(&vote)]);
            for i in 0..16 {
                for j in 0..i {
                    let mut swapped = bytes.clone();
                    for k in 0..8 {
                        swapped.swap(8 * i + k, 8 * j + k);
                    }
                    let mut other = vote.clone();
                    other.block_hash.copy_from_slice(&swapped[..32]);
                    other.voter_id.copy_from_slice(&swapped[32..64]);
                    other.signature.copy_from_slice(&swapped[64..]);
                    assert!(seen.insert(Digest::of(&other)), "swap of words {i} and {j} collides");
                }
            }
            let other = Vote { round: vote.timestamp, timestamp: vote.round, ..vote.clone() };
            assert!(seen.insert(Digest::of(&other)), "swap of round and timestamp collides");
        }
    }

    #[test]
    fn worked_by_hand() {
        let vote = Vote { round: 1, timestamp: 2, vote_type: 3, ..Vote::default() };
        assert_eq!(Digest::of(&vote).0, ((1 << 8) + (2 << 24)) ^ (3 << 56));
        let mut vote = Vote::default();
        vote.block_hash[0] = 1; // word 0: lane 0, weight 27
        vote.voter_id[8] = 1; // word 5: lane 1, weight 9
        vote.signature[16] = 1; // word 10: lane 2, weight 3
        vote.signature[56] = 1; // word 15: lane 3, weight 1
        assert_eq!(Digest::of(&vote).0, 27 ^ (9 << 16) ^ (3 << 32) ^ (1 << 48));
    }
}
