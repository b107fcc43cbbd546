//! A digest of all 145 bytes of a vote: what a row of the model `read` computes to prove that it read every field.
//!
//! It must be cheap, because its cost is inside every `read` and would blur the differences between formats, and it must
//! depend on every bit and on where that bit stands, so that no field, and no part of one, can be skipped or swapped
//! unnoticed. The 8-byte words of hash, id and signature go into four lanes, lane `i` being `3 * (hash[i] - id[i]) +
//! signature[i] - signature[i + 4]` modulo 2^64, so the four words of a lane have the different odd weights 3, -3, 1 and -1, and a change
//! of a single word always shows. The lanes are combined under different rotations with `round - timestamp` and the type
//! under others. It is a checksum for a benchmark and has no cryptographic use.

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
            let ids = block_hash[i].wrapping_sub(voter_id[i]);
            ids.wrapping_mul(3).wrapping_add(signature[i]).wrapping_sub(signature[i + 4])
        };
        let lanes = (lane(0) ^ lane(1).rotate_left(16)) ^ (lane(2).rotate_left(32) ^ lane(3).rotate_left(48));
        let rest = round.wrapping_sub(timestamp).rotate_left(24) ^ u64::from(vote_type).rotate_left(56);
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
        let vote = Vote { round: 3, timestamp: 2, vote_type: 3, ..Vote::default() };
        assert_eq!(Digest::of(&vote).0, (1 << 24) ^ (3 << 56));
        let mut vote = Vote::default();
        vote.block_hash[0] = 1; // word 0 of the hash: lane 0, weight 3
        vote.signature[8] = 1; // word 1 of the signature: lane 1, weight 1
        assert_eq!(Digest::of(&vote).0, 3 ^ (1 << 16));
        vote.voter_id[16] = 1; // word 2 of the id: lane 2, weight -3: all ones but one
        assert_eq!(Digest::of(&vote).0, 3 ^ (1 << 16) ^ (!2_u64).rotate_left(32));
        vote.signature[56] = 1; // word 7 of the signature: lane 3, weight -1, all ones
        assert_eq!(Digest::of(&vote).0, 3 ^ (1 << 16) ^ (!2_u64).rotate_left(32) ^ u64::MAX);
    }
}
