//! `protobuf-bytes`: the same bytes as [`protobuf`](mod@super::protobuf), read into a prost message whose byte fields are
//! `bytes::Bytes`, as prost-build's `bytes` option makes them: references into the received message, counted, not copied.
//!
//! Choices for fairness: stacks that hand over `Bytes` are what this is for, so the timed loops start from counted references
//! into the buffer that holds the corpus, made inside the clock as a receiver makes them. One message that comes as a slice is
//! copied into a kept `BytesMut` first. Nothing is allocated in the steady state either way. Encoding has nothing that
//! `protobuf` does not have: a logical vote owns its bytes as arrays, which would have to be copied into shared ones first.

use bytes::{Bytes, BytesMut};
use prost::Message as _;

use super::batch::{each, link_digest, link_round, link_vote};
use super::error::fixed;
use super::protobuf::{refused, vote_type};
use super::{Batch, Class, Codec, CodecError, Info, Pace, protobuf};
use crate::schema::generated::vote_proto_bytes;
use crate::vote::{Digest, Field, Vote};

static INFO: Info = Info {
    name: "protobuf-bytes",
    class: Class::Variant,
    crates: &["prost", "bytes"],
    summary: "prost, Bytes fields that refer into the shared bytes of the message; encoding is protobuf's",
    lead: 4,
    lacks: &[],
};

/// The codec `protobuf-bytes`.
pub(super) struct ProtobufBytes {
    encoder: protobuf::Protobuf,
    message: vote_proto_bytes::Vote,
    shared: BytesMut,
}

impl ProtobufBytes {
    pub(super) fn new() -> Self {
        Self { encoder: protobuf::Protobuf::new(), message: vote_proto_bytes::Vote::default(), shared: BytesMut::new() }
    }

    /// The message as shared bytes.
    #[inline]
    fn share(&mut self, message: &[u8]) -> Bytes {
        // The last message's fields go first: while they live, the buffer is theirs.
        self.message.clear();
        self.shared.extend_from_slice(message);
        self.shared.split().freeze()
    }

    #[inline]
    fn merge(&mut self, message: Bytes) -> Result<&vote_proto_bytes::Vote, CodecError> {
        self.message.clear();
        self.message.merge(message).map_err(refused)?;
        Ok(&self.message)
    }

    #[inline]
    fn round_of(&mut self, message: Bytes) -> Result<u64, CodecError> {
        Ok(self.merge(message)?.round)
    }

    #[inline]
    fn digest_of(&mut self, message: Bytes) -> Result<Digest, CodecError> {
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
    fn vote_of(&mut self, message: Bytes) -> Result<Vote, CodecError> {
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
        let message = self.share(message);
        self.round_of(message)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        let message = self.share(message);
        self.digest_of(message)
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        let message = self.share(message);
        self.vote_of(message)
    }

    fn open_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        match pace {
            Pace::Stream => each(batch, pace, |span| open_one(self, batch.shared(span)), |()| 0),
            Pace::Chained => each(batch, pace, |span| open_round_one(self, batch.shared(span)), link_round),
        }
    }

    fn read_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        each(batch, pace, |span| read_one(self, batch.shared(span)), link_digest)
    }

    fn own_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        each(batch, pace, |span| own_one(self, batch.shared(span)), link_vote)
    }
}

#[inline(never)]
fn open_one(codec: &mut ProtobufBytes, message: Bytes) -> Result<(), CodecError> {
    codec.round_of(message).map(drop)
}

#[inline(never)]
fn open_round_one(codec: &mut ProtobufBytes, message: Bytes) -> Result<u64, CodecError> {
    codec.round_of(message)
}

#[inline(never)]
fn read_one(codec: &mut ProtobufBytes, message: Bytes) -> Result<Digest, CodecError> {
    codec.digest_of(message)
}

#[inline(never)]
fn own_one(codec: &mut ProtobufBytes, message: Bytes) -> Result<Vote, CodecError> {
    codec.vote_of(message)
}
