//! `bincode`: bincode 2, its own derive (not serde's), standard configuration: integers as little-endian varints (one byte
//! up to 250, else a marker byte and two, four or eight), fixed arrays as their bytes with no length.
//!
//! Choices for fairness: `encode_into_slice` into a kept array, `decode_from_slice` into arrays; nothing is allocated.

use std::hint::black_box;

use bincode::config::{self, Configuration};

use crate::codec::buffer::Buffer;
use crate::codec::{Class, Codec, CodecError, Info};
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "bincode",
    class: Class::Context,
    crates: &["bincode"],
    summary: "bincode 2, own derive, standard configuration: varints, arrays without length",
    lead: 4,
    lacks: &[],
};

const CONFIGURATION: Configuration = config::standard();

/// Two `u64` varints of nine bytes at most, and the 129 bytes of the other fields.
const MAX_BYTES: usize = 2 * 9 + 129;

/// The codec `bincode`.
pub(in crate::codec) struct Bincode {
    buffer: Buffer<8, MAX_BYTES>,
}

impl Bincode {
    pub(in crate::codec) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

impl Codec for Bincode {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let length = bincode::encode_into_slice(Outgoing::from(vote), &mut self.buffer.message, CONFIGURATION)
            .map_err(|error| CodecError::malformed("bincode", error))?;
        Ok(&self.buffer.message[..length])
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

#[derive(bincode::Encode)]
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

#[derive(bincode::Decode)]
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
    match bincode::decode_from_slice(message, CONFIGURATION) {
        Ok((vote, length)) if length == message.len() => Ok(take(vote)),
        Ok(_) => Err(CodecError::trailing_bytes()),
        Err(error) => Err(CodecError::malformed("bincode", error)),
    }
}
