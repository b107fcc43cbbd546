//! `flatbuffers-one-struct` and its `-unverified`: `schemas/vote_one_struct.fbs`, all six fields in one struct of 152 bytes,
//! the only field of the root table.
//!
//! | at | width | what |
//! | --- | --- | --- |
//! | 0 | 4 | offset to the table |
//! | 4 | 2 | padding |
//! | 6 | 6 | vtable: its length, the table's, the place of the struct |
//! | 12 | 4 | table: offset back to the vtable |
//! | 16 | 152 | the struct: the packed vote and seven bytes of padding |
//!
//! Otherwise as [`flatbuffers`](super::flatbuffers). The generated accessor of a byte array gives its elements one by one,
//! so the arrays are taken out of the struct's own bytes, which the generated type makes public.
//!
//! Specification: <https://flatbuffers.dev/internals/>.

use flatbuffers::{Push, PushAlignment};

use super::fields::Fields;
use super::flatbuffers_buffer::{Builder, builder};
use super::flatbuffers_table::{FullTable, Table, refused};
use super::{Class, Codec, CodecError, Info, packed};
use crate::schema::generated::vote_one_struct_fbs::votebench::v_1::one_struct as fbs;
use crate::vote::{Digest, Field, Vote};

static VERIFIED_INFO: Info = Info {
    name: "flatbuffers-one-struct",
    class: Class::Variant,
    crates: &["flatbuffers"],
    summary: "a table with one struct of all six fields; verified; the builder is reused",
    lead: 4,
    lacks: &[],
};

static UNVERIFIED_INFO: Info = Info {
    name: "flatbuffers-one-struct-unverified",
    class: Class::Variant,
    crates: &["flatbuffers"],
    summary: "a table with one struct of all six fields; not verified: a bounds-checked walk of our own",
    lead: 4,
    lacks: &[],
};

/// The bytes of the struct.
const STRUCT_BYTES: usize = 152;

/// Bytes of a vtable with its two lengths and an entry for the one field.
const ENTRIES: usize = 4 + 2;

/// The codec `flatbuffers-one-struct`, or its `-unverified`.
pub(super) struct OneStruct<const VERIFIED: bool> {
    builder: Builder,
}

impl<const VERIFIED: bool> OneStruct<VERIFIED> {
    pub(super) fn new() -> Self {
        Self { builder: builder() }
    }
}

impl<const VERIFIED: bool> Codec for OneStruct<VERIFIED> {
    fn info(&self) -> &'static Info {
        if VERIFIED { &VERIFIED_INFO } else { &UNVERIFIED_INFO }
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        self.builder.reset();
        let table = self.builder.start_table();
        self.builder.push_slot_always(fbs::Vote::VT_FIELDS, InPlace(vote));
        let root = self.builder.end_table(table);
        self.builder.finish_minimal(root);
        Ok(self.builder.finished_data())
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(round(bytes::<VERIFIED>(message)?))
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        Ok(fields(bytes::<VERIFIED>(message)?).digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        Ok(fields(bytes::<VERIFIED>(message)?).vote())
    }
}

/// The struct's bytes.
#[inline(always)]
fn bytes<const VERIFIED: bool>(message: &[u8]) -> Result<&[u8; STRUCT_BYTES], CodecError> {
    if VERIFIED {
        return Ok(&fbs::root_as_vote(message).map_err(refused_struct)?.fields().0);
    }
    match FullTable::<ENTRIES>::root(message).and_then(|table| table.field(0)) {
        Some(bytes) => Ok(bytes),
        None => unverified_any(message),
    }
}

#[cold]
fn unverified_any(message: &[u8]) -> Result<&[u8; STRUCT_BYTES], CodecError> {
    // A table without the struct misses every field; the first of those that are required is named.
    Table::root(message)?.required(0, Field::BlockHash)
}

#[inline(always)]
fn round(bytes: &[u8; STRUCT_BYTES]) -> u64 {
    u64::from_le_bytes(*part::<0, 8>(bytes))
}

#[inline(always)]
fn fields(bytes: &[u8; STRUCT_BYTES]) -> Fields<'_> {
    Fields {
        round: round(bytes),
        block_hash: part::<8, 32>(bytes),
        voter_id: part::<40, 32>(bytes),
        signature: part::<72, 64>(bytes),
        timestamp: u64::from_le_bytes(*part::<136, 8>(bytes)),
        vote_type: bytes[144],
    }
}

#[cold]
fn refused_struct(error: flatbuffers::InvalidFlatbuffer) -> CodecError {
    match error {
        // The only required field of this table is the struct.
        flatbuffers::InvalidFlatbuffer::MissingRequiredField { .. } => CodecError::missing_field(Field::BlockHash),
        other => refused(other),
    }
}

/// The `N` bytes at `AT`; that they lie inside is checked when this is compiled.
#[inline(always)]
fn part<const AT: usize, const N: usize>(bytes: &[u8; STRUCT_BYTES]) -> &[u8; N] {
    const { assert!(AT + N <= STRUCT_BYTES) };
    match bytes[AT..].first_chunk() {
        Some(part) => part,
        None => unreachable!(),
    }
}

/// A vote that is written as the struct straight into the builder's buffer. The generated constructor fills a struct on the
/// stack, which the builder then copies in larger pieces than it was written in: that stalls the CPU for longer than all
/// the rest of the message takes.
struct InPlace<'a>(&'a Vote);

impl Push for InPlace<'_> {
    type Output = fbs::VoteFields;

    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "the trait's method is an unsafe one; nothing here relies on what the caller promises"
    )]
    unsafe fn push(&self, dst: &mut [u8], _written_len: usize) {
        if let Some(fields) = dst.first_chunk_mut() {
            packed::write(fields, self.0);
        }
        // The seven bytes of padding are the builder's zeros.
    }

    #[inline(always)]
    fn alignment() -> PushAlignment {
        fbs::VoteFields::alignment()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lies_as_documented_and_as_the_generated_accessors_have_it() {
        let vote = Vote::canonical();
        let mut codec = OneStruct::<true>::new();
        let message = codec.encode(&vote).unwrap();
        assert_eq!((message.len(), &message[..4]), (168, &12u32.to_le_bytes()[..]));
        let generated = fbs::root_as_vote(message).unwrap();
        let fields = generated.fields();
        assert_eq!(fields.0.as_ptr(), message[16..].as_ptr());
        assert_eq!(fields.round(), vote.round);
        assert_eq!(<[u8; 32]>::from(fields.block_hash()), vote.block_hash);
        assert_eq!(<[u8; 32]>::from(fields.voter_id()), vote.voter_id);
        assert_eq!(<[u8; 64]>::from(fields.signature()), vote.signature);
        assert_eq!((fields.timestamp(), fields.vote_type()), (vote.timestamp, vote.vote_type));
        let constructed = fbs::VoteFields::new(
            vote.round,
            &vote.block_hash,
            &vote.voter_id,
            &vote.signature,
            vote.timestamp,
            vote.vote_type,
        );
        assert!(*fields == constructed);
    }

    #[test]
    fn refuses_a_table_without_the_struct_and_every_truncation() {
        let (mut verified, mut unverified) = (OneStruct::<true>::new(), OneStruct::<false>::new());
        let mut builder = builder();
        let table = builder.start_table();
        let root = builder.end_table(table);
        builder.finish_minimal(root);
        let error = CodecError::missing_field(Field::BlockHash);
        assert_eq!(verified.own(builder.finished_data()), Err(error.clone()));
        assert_eq!(unverified.own(builder.finished_data()), Err(error));
        let message = verified.encode(&Vote::canonical()).unwrap().to_vec();
        for length in 0..message.len() {
            assert_eq!(verified.own(&message[..length]).unwrap_err().kind(), "malformed", "of length {length}");
            assert_eq!(unverified.own(&message[..length]).unwrap_err().kind(), "malformed", "of length {length}");
        }
        assert_eq!(unverified.own(&message), Ok(Vote::canonical()));
    }
}
