//! `scale`: SCALE by parity-scale-codec, its own derive; integers little-endian in their full width (not the compact form,
//! which a schema has to ask for), fixed arrays as their bytes with no length. The bytes are those of `packed-145`.
//!
//! Choices for fairness: `encode_to` into a kept vector, arrays on reading; nothing is allocated in the steady state.

use std::hint::black_box;

use parity_scale_codec::{Decode, Encode, Output};

use crate::codec::buffer::Buffer;
use crate::codec::{Class, Codec, CodecError, Info};
use crate::vote::{Digest, PAYLOAD_BYTES, Vote};

static INFO: Info = Info {
    name: "scale",
    class: Class::Context,
    crates: &["parity-scale-codec"],
    summary: "own derive: full-width integers, arrays without length",
    lead: 4,
    lacks: &[],
};

/// The codec `scale`.
pub(in crate::codec) struct Scale {
    buffer: Buffer<8, PAYLOAD_BYTES>,
}

impl Scale {
    pub(in crate::codec) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

/// What is left of the buffer, as an output of the library's.
struct Rest<'a>(&'a mut [u8]);

impl Output for Rest<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        // The buffer has room for the whole vote, whose parts have fixed sizes.
        if let Some((place, rest)) = std::mem::take(&mut self.0).split_at_mut_checked(bytes.len()) {
            place.copy_from_slice(bytes);
            self.0 = rest;
        }
    }
}

impl Codec for Scale {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        Outgoing::from(vote).encode_to(&mut Rest(&mut self.buffer.message));
        Ok(&self.buffer.message)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        with(message, |vote| black_box(&vote).round)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        with(message, |vote| {
            Digest::of_fields(
                vote.round,
                &vote.block_hash,
                &vote.voter_id,
                &vote.signature,
                vote.timestamp,
                vote.vote_type,
            )
        })
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        with(message, Vote::from)
    }
}

#[derive(Encode)]
struct Outgoing<'a> {
    round: u64,
    block_hash: &'a [u8; 32],
    voter_id: &'a [u8; 32],
    signature: &'a [u8; 64],
    timestamp: u64,
    vote_type: u8,
}

impl<'a> From<&'a Vote> for Outgoing<'a> {
    #[inline]
    fn from(vote: &'a Vote) -> Self {
        let Vote { round, block_hash, voter_id, signature, timestamp, vote_type } = vote;
        Self { round: *round, block_hash, voter_id, signature, timestamp: *timestamp, vote_type: *vote_type }
    }
}

#[derive(Decode)]
struct Incoming {
    round: u64,
    block_hash: [u8; 32],
    voter_id: [u8; 32],
    signature: [u8; 64],
    timestamp: u64,
    vote_type: u8,
}

impl From<Incoming> for Vote {
    #[inline]
    fn from(message: Incoming) -> Self {
        let Incoming { round, block_hash, voter_id, signature, timestamp, vote_type } = message;
        Self { round, block_hash, voter_id, signature, timestamp, vote_type }
    }
}

/// What `take` makes of the parsed message, which is not moved through a result of ours.
#[inline(always)]
fn with<T>(message: &[u8], take: impl FnOnce(Incoming) -> T) -> Result<T, CodecError> {
    let mut rest = message;
    match Incoming::decode(&mut rest) {
        Ok(vote) if rest.is_empty() => Ok(take(vote)),
        Ok(_) => Err(CodecError::trailing_bytes()),
        Err(error) => Err(CodecError::malformed("parity-scale-codec", error)),
    }
}
