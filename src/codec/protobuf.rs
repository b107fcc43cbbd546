//! `protobuf`: the message `Vote` of `protos/vote.proto` (proto3), by prost, byte fields as `Vec<u8>`. Owns what every
//! protobuf row shares ([`Message`]); [`grpc`](super::grpc) and [`protobuf_mux`](super::protobuf_mux) put their prefix before it.
//!
//! Choices for fairness: one message is kept and written over, and one output array, so that encoding allocates nothing.
//! Reading merges into a kept message too. prost takes every byte field through `Buf::copy_to_bytes`, which the buffer's
//! type is free to do in its own way; a slice does it in three steps, [`Message::merge`]'s own buffer in one. What stays
//! is an allocation for each of the three fields. They could be counted references into shared bytes instead, as in
//! [`protobuf_bytes`](super::protobuf_bytes); there the atomic operations cost more than three calls of malloc and free, and
//! the gain is what vectors cannot have: fields that are never copied again.
//!
//! What proto3 means for a vote: an absent byte field is an empty one, so it is `wrong-length` with 0 bytes and not
//! `missing-field`; an absent integer is 0, and valid. Unknown fields are skipped, and of a field that comes twice the last
//! counts, as the encoding guide demands. A `vote_type` over 255 is out of range.

use bytes::{Buf, Bytes};
use prost::Message as _;

use super::buffer::Buffer;
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
pub(super) struct Protobuf {
    message: Message,
    buffer: Buffer<8, MAX_BYTES>,
}

impl Protobuf {
    pub(super) fn new() -> Self {
        Self { message: Message::default(), buffer: Buffer::new() }
    }
}

impl Codec for Protobuf {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let length = self.message.encode(vote, &mut self.buffer.message)?;
        Ok(&self.buffer.message[..length])
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

/// Room for the longest vote, 159 bytes. An array, because in a vector prost would ask for room before every byte.
pub(super) const MAX_BYTES: usize = 160;

/// A prost message, kept from vote to vote.
#[derive(Default)]
pub(super) struct Message(vote_proto::Vote);

impl Message {
    /// Writes the logical vote over the kept message, and that to the front of `buffer`; how many bytes it took.
    #[inline]
    pub(super) fn encode(&mut self, vote: &Vote, mut buffer: &mut [u8]) -> Result<usize, CodecError> {
        let room = buffer.len();
        self.fill(vote).encode(&mut buffer).map_err(refused)?;
        Ok(room - buffer.len())
    }

    /// The same, behind the message's length as a varint.
    #[inline]
    pub(super) fn encode_length_delimited(&mut self, vote: &Vote, mut buffer: &mut [u8]) -> Result<usize, CodecError> {
        let room = buffer.len();
        self.fill(vote).encode_length_delimited(&mut buffer).map_err(refused)?;
        Ok(room - buffer.len())
    }

    #[inline]
    fn fill(&mut self, vote: &Vote) -> &vote_proto::Vote {
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
        self.0.merge(Rest(bytes)).map_err(refused)?;
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

impl TryFrom<&vote_proto::Vote> for Vote {
    type Error = CodecError;

    /// The vote of a message that a protobuf library has parsed, every field checked.
    fn try_from(message: &vote_proto::Vote) -> Result<Self, CodecError> {
        vote(message)
    }
}

impl From<&Vote> for vote_proto::Vote {
    /// A message of its own, for a library that wants to write it itself.
    fn from(vote: &Vote) -> Self {
        Self {
            round: vote.round,
            block_hash: vote.block_hash.to_vec(),
            voter_id: vote.voter_id.to_vec(),
            signature: vote.signature.to_vec(),
            timestamp: vote.timestamp,
            vote_type: u32::from(vote.vote_type),
        }
    }
}

#[inline]
pub(super) fn vote_type(value: u32) -> Result<u8, CodecError> {
    u8::try_from(value).map_err(|_| CodecError::out_of_range(Field::VoteType))
}

#[cold]
#[inline(never)]
pub(super) fn refused(error: impl std::error::Error) -> CodecError {
    CodecError::malformed("prost", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::protobuf_bytes::ProtobufBytes;

    fn message(vote: &vote_proto::Vote) -> Vec<u8> {
        vote.encode_to_vec()
    }

    fn canonical() -> vote_proto::Vote {
        let mut message = Message::default();
        message.fill(&Vote::canonical()).clone()
    }

    /// What both field types make of `bytes`; they must agree.
    fn own(bytes: &[u8]) -> Result<Vote, CodecError> {
        let outcome = Protobuf::new().own(bytes);
        assert_eq!(ProtobufBytes::new().own(bytes), outcome);
        outcome
    }

    #[test]
    fn size_is_the_published_one() {
        assert_eq!(Protobuf::new().encode(&Vote::canonical()).unwrap().len(), 148);
        assert_eq!(Protobuf::new().encode(&Vote::canonical()).unwrap(), message(&canonical()));
    }

    #[test]
    fn a_byte_field_of_another_length_is_named() {
        for field in [Field::BlockHash, Field::VoterId, Field::Signature] {
            for actual in [0, 1, 31, 33, 63, 65, 1_000] {
                let mut vote = canonical();
                *match field {
                    Field::BlockHash => &mut vote.block_hash,
                    Field::VoterId => &mut vote.voter_id,
                    _ => &mut vote.signature,
                } = vec![7; actual];
                assert_eq!(own(&message(&vote)), Err(CodecError::wrong_length(field, actual)));
            }
        }
    }

    #[test]
    fn a_vote_type_over_255_is_out_of_range() {
        for vote_type in [256, 257, 65_536, u32::MAX] {
            let vote = vote_proto::Vote { vote_type, ..canonical() };
            assert_eq!(own(&message(&vote)), Err(CodecError::out_of_range(Field::VoteType)));
        }
    }

    #[test]
    fn absent_is_zero_for_integers_and_empty_for_bytes() {
        let vote = vote_proto::Vote { round: 0, timestamp: 0, vote_type: 0, ..canonical() };
        let bytes = message(&vote);
        assert_eq!(bytes.len(), 134);
        assert_eq!(own(&bytes), Ok(Vote { round: 0, timestamp: 0, vote_type: 0, ..Vote::canonical() }));
        assert_eq!(own(&[]), Err(CodecError::wrong_length(Field::BlockHash, 0)));
    }

    #[test]
    fn unknown_fields_are_skipped_and_the_last_of_a_field_counts() {
        let bytes = message(&canonical());
        // Field 15: a varint, eight bytes, a length of three, a group, four bytes.
        for unknown in [
            &[0x78, 0x85, 0x01][..],
            &[0x79, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0x7a, 3, 1, 2, 3],
            &[0x7b, 0x7c],
            &[0x7d, 1, 2, 3, 4],
        ] {
            assert_eq!(own(&[unknown, &bytes].concat()), Ok(Vote::canonical()));
            assert_eq!(own(&[&bytes, unknown].concat()), Ok(Vote::canonical()));
        }
        let other = message(&vote_proto::Vote { round: 7, block_hash: vec![9; 32], ..vote_proto::Vote::default() });
        let expected = Vote { round: 7, block_hash: [9; 32], ..Vote::canonical() };
        assert_eq!(own(&[&bytes[..], &other].concat()), Ok(expected));
    }

    #[test]
    fn what_prost_refuses_is_malformed() {
        let bytes = message(&canonical());
        for bad in
            [&[0x08][..], &[0x0a, 0x01, 0x00], &[0x12, 0x21], &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f], &[0x00], &[0x0f]]
        {
            assert_eq!(own(&[&bytes, bad].concat()).unwrap_err().kind(), "malformed", "{bad:x?}");
        }
    }
}
