//! `borsh`: its own derive; integers little-endian in their full width, fixed arrays as their bytes with no length. The bytes
//! are those of `packed-145`; what differs is how they are made and read.
//!
//! Choices for fairness: `to_writer` into a kept vector, arrays on reading; nothing is allocated in the steady state.

use std::hint::black_box;

use borsh::{BorshDeserialize, BorshSerialize};

use crate::codec::buffer::Buffer;
use crate::codec::{Class, Codec, CodecError, Info};
use crate::vote::{Digest, PAYLOAD_BYTES, Vote};

static INFO: Info = Info {
    name: "borsh",
    class: Class::Context,
    crates: &["borsh"],
    summary: "own derive: full-width integers, arrays without length",
    lead: 4,
    lacks: &[],
};

/// The codec `borsh`.
pub(in crate::codec) struct Borsh {
    buffer: Buffer<8, PAYLOAD_BYTES>,
}

impl Borsh {
    pub(in crate::codec) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

impl Codec for Borsh {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        borsh::to_writer(&mut self.buffer.message[..], &Outgoing::from(vote)).map_err(refused)?;
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

#[derive(BorshSerialize)]
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

#[derive(BorshDeserialize)]
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
    match Incoming::deserialize(&mut rest) {
        Ok(vote) if rest.is_empty() => Ok(take(vote)),
        Ok(_) => Err(CodecError::trailing_bytes()),
        Err(error) => Err(refused(error)),
    }
}

#[cold]
#[inline(never)]
fn refused(error: borsh::io::Error) -> CodecError {
    CodecError::malformed("borsh", error)
}
