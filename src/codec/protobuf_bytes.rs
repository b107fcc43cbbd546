//! `protobuf-bytes`: the same bytes as [`protobuf`](mod@super::protobuf), read into a prost message whose byte fields are
//! `bytes::Bytes`, as prost-build's `bytes` option makes them: references into the received message, counted, not copied.
//!
//! Choices for fairness: a stack that hands over `Bytes` has them already; here a message is a slice, so it is copied once
//! into a kept `BytesMut`, inside the clock, and the fields share that. Dropping them gives the buffer back, and `BytesMut`
//! then uses it anew, so that nothing is allocated in the steady state. Encoding has nothing that `protobuf` does not have:
//! a logical vote owns its bytes as arrays, which would have to be copied into shared ones first.

use bytes::{Buf, Bytes, BytesMut};
use prost::Message as _;

use super::error::fixed;
use super::protobuf::{refused, vote_type};
use super::{Class, Codec, CodecError, Info, protobuf};
use crate::schema::generated::vote_proto_bytes;
use crate::vote::{Digest, Field, Vote};

static INFO: Info = Info {
    name: "protobuf-bytes",
    class: Class::Variant,
    crates: &["prost", "bytes"],
    summary: "prost, Bytes fields that share one copy of the message; encoding is protobuf's",
    lead: 4,
    lacks: &[],
};

/// The codec `protobuf-bytes`.
#[derive(Default)]
pub(super) struct ProtobufBytes {
    encoder: protobuf::Protobuf,
    message: vote_proto_bytes::Vote,
    shared: BytesMut,
}

impl ProtobufBytes {
    #[inline]
    fn merge(&mut self, message: &[u8]) -> Result<&vote_proto_bytes::Vote, CodecError> {
        // The last message's fields go first: while they live, the buffer is theirs.
        self.message.clear();
        self.shared.clear();
        self.shared.extend_from_slice(message);
        self.message.merge(Shared { rest: message, copy: &mut self.shared }).map_err(refused)?;
        Ok(&self.message)
    }
}

impl Codec for ProtobufBytes {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        self.encoder.encode(vote)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(self.merge(message)?.round)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        let message = self.merge(message)?;
        Ok(Digest::of_fields(
            message.round,
            fixed(Field::BlockHash, &message.block_hash)?,
            fixed(Field::VoterId, &message.voter_id)?,
            fixed(Field::Signature, &message.signature)?,
            message.timestamp,
            vote_type(message.vote_type)?,
        ))
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        let message = self.merge(message)?;
        Ok(Vote {
            round: message.round,
            block_hash: *fixed(Field::BlockHash, &message.block_hash)?,
            voter_id: *fixed(Field::VoterId, &message.voter_id)?,
            signature: *fixed(Field::Signature, &message.signature)?,
            timestamp: message.timestamp,
            vote_type: vote_type(message.vote_type)?,
        })
    }
}

/// What is left of a message, and its shared copy, of which parts are given away.
struct Shared<'a> {
    rest: &'a [u8],
    /// Ends where `rest` ends; begins where the last part that was given away ended.
    copy: &'a mut BytesMut,
}

impl Buf for Shared<'_> {
    #[inline(always)]
    fn remaining(&self) -> usize {
        self.rest.len()
    }

    #[inline(always)]
    fn chunk(&self) -> &[u8] {
        self.rest
    }

    #[inline(always)]
    fn advance(&mut self, count: usize) {
        self.rest = &self.rest[count..];
    }

    #[inline(always)]
    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        self.copy.advance(self.copy.len() - self.rest.len());
        self.rest = &self.rest[length..];
        self.copy.split_to(length).freeze()
    }
}
