//! `postcard`: the postcard wire format, version 1, on serde. Integers are LEB128 varints except `u8`; a byte field is a varint
//! length and the bytes.
//!
//! Choices for fairness: serde cannot derive `[u8; 64]` and would pass any array byte by byte; serde_bytes is what serde's
//! documentation advises, costs one byte a field, and lets the reader borrow from the message. `to_slice` goes into a kept
//! array. `take_from_bytes` says what is left over, which is refused.

use serde::{Deserialize, Serialize};

use crate::codec::buffer::Buffer;
use crate::codec::error::fixed;
use crate::codec::{Class, Codec, CodecError, Info};
use crate::vote::{Digest, Field, Vote};

static INFO: Info = Info {
    name: "postcard",
    class: Class::Context,
    crates: &["postcard", "serde_bytes"],
    summary: "serde_bytes: varints, bytes behind a varint length, borrowed on reading",
    lead: 4,
    lacks: &[],
};

/// The codec `postcard`.
pub(in crate::codec) struct Postcard {
    buffer: Buffer<8, MAX_BYTES>,
}

/// Two `u64` varints of ten bytes at most, three lengths of one, and the 129 bytes of the other fields.
const MAX_BYTES: usize = 2 * 10 + 3 + 129;

impl Postcard {
    pub(in crate::codec) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

impl Codec for Postcard {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        match postcard::to_slice(&Message::from(vote), &mut self.buffer.message) {
            Ok(message) => Ok(message),
            Err(error) => Err(refused(error)),
        }
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
    match postcard::take_from_bytes(message) {
        Ok((vote, [])) => Ok(vote),
        Ok(_) => Err(CodecError::trailing_bytes()),
        Err(error) => Err(refused(error)),
    }
}

#[cold]
#[inline(never)]
fn refused(error: postcard::Error) -> CodecError {
    CodecError::malformed("postcard", error)
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
                let message = postcard::to_slice(&message, &mut [0; 256]).unwrap().to_vec();
                assert_eq!(Postcard::new().own(&message), Err(CodecError::wrong_length(field, actual)));
            }
        }
    }
}
