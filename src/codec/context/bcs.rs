//! `bcs`: Binary Canonical Serialization, as Diem's successors use it, on serde. Integers are little-endian in their full
//! width; a byte field is BCS's `bytes`: a ULEB128 length and the bytes.
//!
//! Choices for fairness: BCS also has fixed arrays without a length, but serde cannot derive `[u8; 64]` and would pass any
//! array byte by byte; serde_bytes is what serde's documentation advises, costs one byte a field, and lets the reader borrow
//! from the message. `serialize_into` goes into a kept vector. `from_bytes` refuses what follows the message.

use serde::{Deserialize, Serialize};

use crate::codec::buffer::Buffer;
use crate::codec::error::fixed;
use crate::codec::{Class, Codec, CodecError, Info};
use crate::vote::{Digest, Field, PAYLOAD_BYTES, Vote};

static INFO: Info = Info {
    name: "bcs",
    class: Class::Context,
    crates: &["bcs", "serde_bytes"],
    summary: "serde_bytes: full-width integers, bytes behind a ULEB128 length, borrowed on reading",
    lead: 4,
    lacks: &[],
};

/// Three lengths of one byte, and the vote.
const MESSAGE_BYTES: usize = 3 + PAYLOAD_BYTES;

/// The codec `bcs`.
pub(in crate::codec) struct Bcs {
    buffer: Buffer<8, MESSAGE_BYTES>,
}

impl Bcs {
    pub(in crate::codec) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

impl Codec for Bcs {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        bcs::serialize_into(&mut &mut self.buffer.message[..], &Message::from(vote)).map_err(refused)?;
        Ok(&self.buffer.message)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(parse(message)?.round)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        let vote = parse(message)?;
        Ok(Digest::of_fields(
            vote.round,
            fixed(Field::BlockHash, vote.block_hash)?,
            fixed(Field::VoterId, vote.voter_id)?,
            fixed(Field::Signature, vote.signature)?,
            vote.timestamp,
            vote.vote_type,
        ))
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        let vote = parse(message)?;
        Ok(Vote {
            round: vote.round,
            block_hash: *fixed(Field::BlockHash, vote.block_hash)?,
            voter_id: *fixed(Field::VoterId, vote.voter_id)?,
            signature: *fixed(Field::Signature, vote.signature)?,
            timestamp: vote.timestamp,
            vote_type: vote.vote_type,
        })
    }
}

/// The message: bytes borrowed from the vote, or from what was received.
#[derive(Serialize, Deserialize)]
struct Message<'a> {
    round: u64,
    #[serde(borrow, with = "serde_bytes")]
    block_hash: &'a [u8],
    #[serde(borrow, with = "serde_bytes")]
    voter_id: &'a [u8],
    #[serde(borrow, with = "serde_bytes")]
    signature: &'a [u8],
    timestamp: u64,
    vote_type: u8,
}

impl<'a> From<&'a Vote> for Message<'a> {
    #[inline]
    fn from(vote: &'a Vote) -> Self {
        let Vote { round, block_hash, voter_id, signature, timestamp, vote_type } = vote;
        Self { round: *round, block_hash, voter_id, signature, timestamp: *timestamp, vote_type: *vote_type }
    }
}

#[inline]
fn parse(message: &[u8]) -> Result<Message<'_>, CodecError> {
    bcs::from_bytes(message).map_err(refused)
}

#[cold]
#[inline(never)]
fn refused(error: bcs::Error) -> CodecError {
    match error {
        bcs::Error::RemainingInput => CodecError::trailing_bytes(),
        error => CodecError::malformed("bcs", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_field_of_another_length_is_named() {
        let vote = Vote::canonical();
        for field in [Field::BlockHash, Field::VoterId, Field::Signature] {
            for actual in [0, 31, 33, 65] {
                let (mut message, bytes) = (Message::from(&vote), [7; 65]);
                *match field {
                    Field::BlockHash => &mut message.block_hash,
                    Field::VoterId => &mut message.voter_id,
                    _ => &mut message.signature,
                } = &bytes[..actual];
                let message = bcs::to_bytes(&message).unwrap();
                assert_eq!(Bcs::new().own(&message), Err(CodecError::wrong_length(field, actual)));
            }
        }
    }
}
