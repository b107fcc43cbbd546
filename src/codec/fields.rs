//! The six fields of a vote where they lie in a received message: what formats that are read in place share on the way to
//! a [`Digest`] or an owned [`Vote`]. Owns no wire format.

use crate::vote::{Digest, Vote};

/// All six fields, byte fields borrowed from the message and already of the right length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    pub(super) round: u64,
    pub(super) block_hash: &'a [u8; 32],
    pub(super) voter_id: &'a [u8; 32],
    pub(super) signature: &'a [u8; 64],
    pub(super) timestamp: u64,
    pub(super) vote_type: u8,
}

impl Fields<'_> {
    /// The digest of the fields.
    #[inline]
    pub(super) fn digest(&self) -> Digest {
        Digest::of_fields(self.round, self.block_hash, self.voter_id, self.signature, self.timestamp, self.vote_type)
    }

    /// The owned vote.
    #[inline]
    pub(super) fn vote(&self) -> Vote {
        Vote {
            round: self.round,
            block_hash: *self.block_hash,
            voter_id: *self.voter_id,
            signature: *self.signature,
            timestamp: self.timestamp,
            vote_type: self.vote_type,
        }
    }
}
