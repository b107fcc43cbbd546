//! `protobuf`: the message `Vote` of `protos/vote.proto` (proto3), by prost, byte fields as `Vec<u8>`. Owns what every
//! protobuf row shares ([`Message`]); [`grpc`](super::grpc) and [`protobuf_mux`](super::protobuf_mux) put their prefix before it.
//!
//! Choices for fairness: one message is kept and written over, and one output buffer, so that encoding allocates nothing.
//! Reading merges into a kept message too. prost takes every byte field through `Buf::copy_to_bytes`, which the buffer's
//! type is free to do in its own way; a slice does it in three steps, [`Message::merge`]'s own buffer in one. What stays
//! is an allocation for each of the three fields. They could be counted references into a kept `BytesMut` instead; measured,
//! the six atomic operations cost more than three calls of malloc and free. [`protobuf_bytes`](super::protobuf_bytes) does
//! that, and gains by it what vectors cannot: fields that are never copied again.
//!
//! What proto3 means for a vote: an absent byte field is an empty one, so it is `wrong-length` with 0 bytes and not
//! `missing-field`; an absent integer is 0, and valid. Unknown fields are skipped, and of a field that comes twice the last
//! counts, as the encoding guide demands. A `vote_type` over 255 is out of range.

use bytes::{Buf, Bytes};
use prost::Message as _;

use super::error::fixed;
use super::{Class, Codec, CodecError, Info};
use crate::schema::generated::vote_proto;
use crate::vote::{Digest, Field, Vote};

static INFO: Info = Info {
    name: "protobuf",
    class: Class::Row,
    crates: &["prost", "bytes"],
    summary: "prost, Vec fields; one message written over, or merged into",
    lead: 4,
    lacks: &[],
};

/// The codec `protobuf`.
#[derive(Default)]
pub(super) struct Protobuf {
    message: Message,
    buffer: Vec<u8>,
}

impl Codec for Protobuf {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        self.buffer.clear();
        self.message.fill(vote).encode(&mut self.buffer).map_err(encoding)?;
        Ok(&self.buffer)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(self.message.merge(message)?.round)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        digest(self.message.merge(message)?)
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        vote(self.message.merge(message)?)
    }
}

/// A prost message, kept from vote to vote.
#[derive(Default)]
pub(super) struct Message(vote_proto::Vote);

impl Message {
    /// Writes the logical vote over the kept message.
    #[inline]
    pub(super) fn fill(&mut self, vote: &Vote) -> &vote_proto::Vote {
        let message = &mut self.0;
        message.round = vote.round;
        refill(&mut message.block_hash, &vote.block_hash);
        refill(&mut message.voter_id, &vote.voter_id);
        refill(&mut message.signature, &vote.signature);
        message.timestamp = vote.timestamp;
        message.vote_type = u32::from(vote.vote_type);
        message
    }

    /// Parses `bytes` into the kept message.
    #[inline]
    pub(super) fn merge(&mut self, bytes: &[u8]) -> Result<&vote_proto::Vote, CodecError> {
        self.0.clear();
        self.0.merge(Rest(bytes)).map_err(decoding)?;
        Ok(&self.0)
    }
}

/// What is left of a message, as a buffer that makes `Bytes` by one allocation and one copy.
struct Rest<'a>(&'a [u8]);

impl Buf for Rest<'_> {
    #[inline(always)]
    fn remaining(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn chunk(&self) -> &[u8] {
        self.0
    }

    #[inline(always)]
    fn advance(&mut self, count: usize) {
        self.0 = &self.0[count..];
    }

    #[inline(always)]
    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Bytes::copy_from_slice(bytes)
    }
}

#[inline]
fn refill(field: &mut Vec<u8>, bytes: &[u8]) {
    field.clear();
    field.extend_from_slice(bytes);
}

/// The digest of a parsed message, every field checked.
#[inline]
pub(super) fn digest(message: &vote_proto::Vote) -> Result<Digest, CodecError> {
    Ok(Digest::of_fields(
        message.round,
        fixed(Field::BlockHash, &message.block_hash)?,
        fixed(Field::VoterId, &message.voter_id)?,
        fixed(Field::Signature, &message.signature)?,
        message.timestamp,
        vote_type(message.vote_type)?,
    ))
}

/// The logical vote of a parsed message, every field checked.
#[inline]
pub(super) fn vote(message: &vote_proto::Vote) -> Result<Vote, CodecError> {
    Ok(Vote {
        round: message.round,
        block_hash: *fixed(Field::BlockHash, &message.block_hash)?,
        voter_id: *fixed(Field::VoterId, &message.voter_id)?,
        signature: *fixed(Field::Signature, &message.signature)?,
        timestamp: message.timestamp,
        vote_type: vote_type(message.vote_type)?,
    })
}

#[inline]
pub(super) fn vote_type(value: u32) -> Result<u8, CodecError> {
    u8::try_from(value).map_err(|_| CodecError::OutOfRange { field: Field::VoteType })
}

#[cold]
#[inline(never)]
pub(super) fn decoding(error: prost::DecodeError) -> CodecError {
    CodecError::malformed("prost", error)
}

#[cold]
#[inline(never)]
pub(super) fn encoding(error: prost::EncodeError) -> CodecError {
    CodecError::malformed("prost", error)
}
