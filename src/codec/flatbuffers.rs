//! `flatbuffers` and `flatbuffers-unverified`: the normative `schemas/vote.fbs`, one table with the byte fields as structs.
//!
//! | at | width | what |
//! | --- | --- | --- |
//! | 0 | 4 | offset to the table |
//! | 4 | 2 | padding |
//! | 6 | 16 | vtable: its length, the table's, one 16-bit place for each field |
//! | 22 | 2 | padding |
//! | 24 | 4 | table: offset back to the vtable |
//! | ... | 145 | the fields, where the vtable says |
//!
//! Written as the crate's documentation advises: one builder, reset and reused, and the generated `create`. The row runs
//! the crate's verifier, as whoever reads from a network has to. `-unverified` does not: it skips to the generated
//! accessors by way of `root_as_vote_unchecked`, behind [`check`](super::flatbuffers_table::check), a bounds check of our
//! own, because a [`Codec`] takes any bytes. A scalar that is zero is left out of the table and read as zero, as the
//! schema says; the byte fields are `required`. A FlatBuffer does not know where it ends: bytes behind it are accepted.
//!
//! Specification: <https://flatbuffers.dev/internals/>.

use super::fields::Fields;
use super::flatbuffers_buffer::{Builder, builder};
use super::flatbuffers_table::{FullTable, Table, refused};
use super::{Class, Codec, CodecError, Info};
use crate::schema::generated::vote_fbs::votebench::v_1 as fbs;
use crate::vote::{Digest, Field, Vote};

static VERIFIED_INFO: Info = Info {
    name: "flatbuffers",
    class: Class::Row,
    crates: &["flatbuffers"],
    summary: "a table with struct fields; verified; the builder is reused",
    lead: 4,
    lacks: &[],
};

static UNVERIFIED_INFO: Info = Info {
    name: "flatbuffers-unverified",
    class: Class::Variant,
    crates: &["flatbuffers"],
    summary: "a table with struct fields; not verified: a bounds check of our own, then unchecked accessors",
    lead: 4,
    lacks: &[],
};

/// Bytes of a vtable with its two lengths and an entry for each of the six fields.
const ENTRIES: usize = 4 + 2 * 6;

/// The codec `flatbuffers`, or `flatbuffers-unverified`.
pub(super) struct Flatbuffers<const VERIFIED: bool> {
    builder: Builder,
}

impl<const VERIFIED: bool> Flatbuffers<VERIFIED> {
    pub(super) fn new() -> Self {
        Self { builder: builder() }
    }
}

impl<const VERIFIED: bool> Codec for Flatbuffers<VERIFIED> {
    fn info(&self) -> &'static Info {
        if VERIFIED { &VERIFIED_INFO } else { &UNVERIFIED_INFO }
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        self.builder.reset();
        let root = fbs::Vote::create(
            &mut self.builder,
            &fbs::VoteArgs {
                round: vote.round,
                block_hash: Some(bytes32(&vote.block_hash)),
                voter_id: Some(bytes32(&vote.voter_id)),
                signature: Some(bytes64(&vote.signature)),
                timestamp: vote.timestamp,
                vote_type: vote.vote_type,
            },
        );
        self.builder.finish_minimal(root);
        Ok(self.builder.finished_data())
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        if VERIFIED {
            return Ok(fbs::root_as_vote(message).map_err(refused)?.round());
        }
        with_fields::<false, _>(message, |fields| fields.round)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        with_fields::<VERIFIED, _>(message, |fields| fields.digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        with_fields::<VERIFIED, _>(message, |fields| fields.vote())
    }
}

/// What `take` makes of the fields of `message`.
#[inline(always)]
fn with_fields<const VERIFIED: bool, T>(
    message: &[u8],
    take: impl Fn(&Fields<'_>) -> T,
) -> Result<T, CodecError> {
    if VERIFIED {
        return Ok(take(&verified(message)?));
    }
    match unverified_full(message) {
        Some(fields) => Ok(take(&fields)),
        None => unverified_any(message, take),
    }
}

#[inline(always)]
fn verified(message: &[u8]) -> Result<Fields<'_>, CodecError> {
    let vote = fbs::root_as_vote(message).map_err(refused)?;
    Ok(Fields {
        round: vote.round(),
        block_hash: &vote.block_hash().0,
        voter_id: &vote.voter_id().0,
        signature: &vote.signature().0,
        timestamp: vote.timestamp(),
        vote_type: vote.vote_type(),
    })
}

#[inline(always)]
fn unverified_full(message: &[u8]) -> Option<Fields<'_>> {
    let table = FullTable::<ENTRIES>::root(message)?;
    Some(Fields {
        round: u64::from_le_bytes(*table.field(0)?),
        block_hash: table.field(1)?,
        voter_id: table.field(2)?,
        signature: table.field(3)?,
        timestamp: u64::from_le_bytes(*table.field(4)?),
        vote_type: u8::from_le_bytes(*table.field(5)?),
    })
}

#[cold]
fn unverified_any<T>(message: &[u8], take: impl Fn(&Fields<'_>) -> T) -> Result<T, CodecError> {
    let table = Table::root(message)?;
    Ok(take(&Fields {
        round: table.optional(0)?.map_or(0, |bytes| u64::from_le_bytes(*bytes)),
        block_hash: table.required(1, Field::BlockHash)?,
        voter_id: table.required(2, Field::VoterId)?,
        signature: table.required(3, Field::Signature)?,
        timestamp: table.optional(4)?.map_or(0, |bytes| u64::from_le_bytes(*bytes)),
        vote_type: table.optional(5)?.map_or(0, |bytes| u8::from_le_bytes(*bytes)),
    }))
}

/// The bytes as the generated struct of the same layout, where they lie: a copy of 32 bytes on the stack, read back at once
/// in larger pieces than it was written in, stalls the CPU for longer than all the rest of the field takes.
#[inline(always)]
fn bytes32(bytes: &[u8; 32]) -> &fbs::Bytes32 {
    // SAFETY: `Bytes32` is `repr(transparent)` over `[u8; 32]`.
    #[expect(unsafe_code, reason = "the generated type has no constructor by reference")]
    unsafe {
        &*std::ptr::from_ref(bytes).cast()
    }
}

/// As [`bytes32`], for the signature.
#[inline(always)]
fn bytes64(bytes: &[u8; 64]) -> &fbs::Bytes64 {
    // SAFETY: `Bytes64` is `repr(transparent)` over `[u8; 64]`.
    #[expect(unsafe_code, reason = "the generated type has no constructor by reference")]
    unsafe {
        &*std::ptr::from_ref(bytes).cast()
    }
}
