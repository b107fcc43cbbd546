//! `flatbuffers-vectors`: `schemas/vote_vectors.fbs`, the byte fields as vectors of bytes: offsets to a length and the bytes.
//!
//! | at | width | what |
//! | --- | --- | --- |
//! | 0 | 4 | offset to the table |
//! | 4 | 2 | padding |
//! | 6 | 16 | vtable: its length, the table's, one 16-bit place for each field |
//! | ... | 36 | table: offset back to the vtable, three scalars, three offsets to vectors |
//! | ... | 140 | three vectors: a 32-bit length and the bytes |
//!
//! Verified, and otherwise as [`flatbuffers`](super::flatbuffers). What the verifier cannot know is how long a vector has to
//! be; that is checked after it.
//!
//! Specification: <https://flatbuffers.dev/internals/>.

use super::error::fixed;
use super::fields::Fields;
use super::flatbuffers_buffer::{Builder, builder};
use super::flatbuffers_table::refused;
use super::{Class, Codec, CodecError, Info};
use crate::schema::generated::vote_vectors_fbs::votebench::v_1::vectors as fbs;
use crate::vote::{Digest, Field, Vote};

static INFO: Info = Info {
    name: "flatbuffers-vectors",
    class: Class::Variant,
    crates: &["flatbuffers"],
    summary: "a table with byte vectors; verified; the builder is reused",
    lead: 4,
    lacks: &[],
};

/// The codec `flatbuffers-vectors`.
pub(super) struct Vectors {
    builder: Builder,
}

impl Vectors {
    pub(super) fn new() -> Self {
        Self { builder: builder() }
    }
}

impl Codec for Vectors {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        self.builder.reset();
        // Built back to front, so the first vector written is the last in the message.
        let signature = self.builder.create_vector(&vote.signature);
        let voter_id = self.builder.create_vector(&vote.voter_id);
        let block_hash = self.builder.create_vector(&vote.block_hash);
        let root = fbs::Vote::create(
            &mut self.builder,
            &fbs::VoteArgs {
                round: vote.round,
                block_hash: Some(block_hash),
                voter_id: Some(voter_id),
                signature: Some(signature),
                timestamp: vote.timestamp,
                vote_type: vote.vote_type,
            },
        );
        self.builder.finish_minimal(root);
        Ok(self.builder.finished_data())
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(fbs::root_as_vote(message).map_err(refused)?.round())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        Ok(fields(message)?.digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        Ok(fields(message)?.vote())
    }
}

#[inline(always)]
fn fields(message: &[u8]) -> Result<Fields<'_>, CodecError> {
    let vote = fbs::root_as_vote(message).map_err(refused)?;
    Ok(Fields {
        round: vote.round(),
        block_hash: fixed(Field::BlockHash, vote.block_hash().bytes())?,
        voter_id: fixed(Field::VoterId, vote.voter_id().bytes())?,
        signature: fixed(Field::Signature, vote.signature().bytes())?,
        timestamp: vote.timestamp(),
        vote_type: vote.vote_type(),
    })
}
