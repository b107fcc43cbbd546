//! `flatbuffers-vectors`: `schemas/vote_vectors.fbs`, the byte fields as vectors of bytes: offsets to a length and the bytes.
//!
//! | at | width | what |
//! | --- | --- | --- |
//! | 0 | 4 | offset to the table |
//! | 4 | 16 | vtable: its length, the table's, one 16-bit place for each field |
//! | 20 | 40 | table: offset back to the vtable, padding, three scalars, three offsets to vectors |
//! | 60 | 140 | block_hash, voter_id, signature: each a 32-bit length and the bytes |
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

#[cfg(test)]
mod tests {
    use super::*;

    fn message(lengths: [Option<usize>; 3]) -> Vec<u8> {
        let mut builder = builder();
        let [block_hash, voter_id, signature] =
            lengths.map(|length| length.map(|length| builder.create_vector(&vec![7u8; length])));
        let table = builder.start_table();
        for (slot, vector) in [
            (fbs::Vote::VT_BLOCK_HASH, block_hash),
            (fbs::Vote::VT_VOTER_ID, voter_id),
            (fbs::Vote::VT_SIGNATURE, signature),
        ] {
            if let Some(vector) = vector {
                builder.push_slot_always(slot, vector);
            }
        }
        let root = builder.end_table(table);
        builder.finish_minimal(root);
        builder.finished_data().to_vec()
    }

    #[test]
    fn lies_as_documented() {
        let vote = Vote::canonical();
        let mut codec = Vectors::new();
        let message = codec.encode(&vote).unwrap();
        assert_eq!((message.len(), &message[..4]), (200, &20u32.to_le_bytes()[..]));
        assert_eq!(message[60..64], 32u32.to_le_bytes());
        assert_eq!(message[64..96], vote.block_hash);
        assert_eq!(message[100..132], vote.voter_id);
        assert_eq!(message[136..], vote.signature);
    }

    #[test]
    fn names_the_field_that_is_missing_or_of_another_length() {
        let mut codec = Vectors::new();
        for (lengths, error) in [
            ([None, Some(32), Some(64)], CodecError::missing_field(Field::BlockHash)),
            ([Some(32), Some(32), None], CodecError::missing_field(Field::Signature)),
            ([Some(31), Some(32), Some(64)], CodecError::wrong_length(Field::BlockHash, 31)),
            ([Some(32), Some(33), Some(64)], CodecError::wrong_length(Field::VoterId, 33)),
            ([Some(32), Some(32), Some(0)], CodecError::wrong_length(Field::Signature, 0)),
        ] {
            let message = message(lengths);
            assert_eq!(codec.own(&message), Err(error.clone()));
            assert_eq!(codec.read(&message), Err(error));
        }
        let vote = Vote { block_hash: [7; 32], voter_id: [7; 32], signature: [7; 64], ..Vote::default() };
        assert_eq!(codec.own(&message([Some(32), Some(32), Some(64)])), Ok(vote));
    }
}
