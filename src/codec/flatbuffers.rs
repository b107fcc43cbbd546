//! `flatbuffers` and `flatbuffers-unverified`: the normative `schemas/vote.fbs`, one table with the byte fields as structs.
//!
//! | at | width | what |
//! | --- | --- | --- |
//! | 0 | 4 | offset to the table |
//! | 4 | 4 | padding |
//! | 8 | 16 | vtable: its length, the table's, one 16-bit place for each field |
//! | 24 | 4 | table: offset back to the vtable |
//! | 28 | 3 | padding |
//! | 31 | 1 | vote_type |
//! | 32 | 128 | block_hash, voter_id, signature |
//! | 160 | 16 | round, timestamp |
//!
//! Written as the crate's documentation advises: one builder, reset and reused, and the generated `create`. The row runs
//! the crate's verifier, as whoever reads from a network has to, and then uses the generated accessors.
//!
//! `-unverified` runs no verifier. The crate's own way there, `root_unchecked`, is undefined behaviour for bytes that are
//! not a FlatBuffer, and a [`Codec`] takes any bytes; so this variant finds the fields with a bounds-checked walk of its own
//! over the table ([`flatbuffers_table`](super::flatbuffers_table) says what is checked). It looks the vtable up once,
//! where the generated accessors do for every field.
//!
//! A scalar that is zero is left out of the table and read as zero, as the schema says; the byte fields are `required`. A
//! FlatBuffer does not know where it ends: bytes behind it are accepted.
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
    summary: "a table with struct fields; not verified: a bounds-checked walk of our own",
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
fn with_fields<const VERIFIED: bool, T>(message: &[u8], take: impl Fn(&Fields<'_>) -> T) -> Result<T, CodecError> {
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

#[cfg(test)]
mod tests {
    use flatbuffers::{FlatBufferBuilder, Push, VOffsetT};

    use super::*;

    type Both = [Result<Vote, CodecError>; 2];

    /// What the verified and the unverified codec make of a message; read and own must agree.
    fn own(message: &[u8]) -> Both {
        let (mut verified, mut unverified) = (Flatbuffers::<true>::new(), Flatbuffers::<false>::new());
        let owned = [verified.own(message), unverified.own(message)];
        assert_eq!(verified.read(message), owned[0].as_ref().map(Digest::of).map_err(Clone::clone));
        assert_eq!(unverified.read(message), owned[1].as_ref().map(Digest::of).map_err(Clone::clone));
        owned
    }

    struct Message(FlatBufferBuilder<'static>);

    impl Message {
        fn field<X: Push>(mut self, slot: VOffsetT, value: X) -> Self {
            self.0.push_slot_always(slot, value);
            self
        }
    }

    /// A table with any fields, written by the crate's builder without the generated code.
    fn table(fields: impl FnOnce(Message) -> Message) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let start = builder.start_table();
        let mut builder = fields(Message(builder)).0;
        let root = builder.end_table(start);
        builder.finish_minimal(root);
        builder.finished_data().to_vec()
    }

    #[test]
    fn lies_as_documented() {
        let vote = Vote::canonical();
        let mut codec = Flatbuffers::<true>::new();
        let message = codec.encode(&vote).unwrap();
        assert_eq!(message.len(), 176);
        assert_eq!(message[..4], 24u32.to_le_bytes());
        assert_eq!(message[31], vote.vote_type);
        assert_eq!(message[32..160], [&vote.block_hash[..], &vote.voter_id, &vote.signature].concat());
        assert_eq!(message[160..168], vote.round.to_le_bytes());
        assert_eq!(message[168..], vote.timestamp.to_le_bytes());
    }

    #[test]
    fn zero_scalars_are_left_out_and_read_as_zero() {
        let vote = Vote { round: 0, timestamp: 0, vote_type: 0, ..Vote::canonical() };
        let message = Flatbuffers::<true>::new().encode(&vote).unwrap().to_vec();
        assert!(message.len() < 160);
        assert_eq!(own(&message), [Ok(vote.clone()), Ok(vote)]);
    }

    #[test]
    fn takes_any_order_of_fields_and_a_longer_table() {
        let vote = Vote { round: 0, ..Vote::canonical() };
        let message = table(|message| {
            message
                .field(16, 7u64)
                .field(fbs::Vote::VT_VOTE_TYPE, vote.vote_type)
                .field(fbs::Vote::VT_BLOCK_HASH, bytes32(&vote.block_hash))
                .field(fbs::Vote::VT_TIMESTAMP, vote.timestamp)
                .field(fbs::Vote::VT_SIGNATURE, bytes64(&vote.signature))
                .field(fbs::Vote::VT_VOTER_ID, bytes32(&vote.voter_id))
        });
        assert_eq!(own(&message), [Ok(vote.clone()), Ok(vote)]);
    }

    #[test]
    fn names_the_missing_field() {
        let vote = Vote::canonical();
        let message = table(|message| message.field(fbs::Vote::VT_BLOCK_HASH, bytes32(&vote.block_hash)));
        let error = CodecError::missing_field(Field::VoterId);
        assert_eq!(own(&message), [Err(error.clone()), Err(error)]);
        let error = CodecError::missing_field(Field::BlockHash);
        assert_eq!(own(&table(|message| message)), [Err(error.clone()), Err(error)]);
    }

    #[test]
    fn refuses_what_points_outside() {
        let message = Flatbuffers::<true>::new().encode(&Vote::canonical()).unwrap().to_vec();
        // The root offset, the offset to the vtable, the vtable's length, the place of the signature.
        for (at, bytes) in [
            (0, &[0xff; 4][..]),
            (24, &[0xff, 0xff, 0xff, 0x7f]),
            (24, &[0, 0, 0, 0x80]),
            (8, &[0xfe, 0xff]),
            (18, &[0xff, 0xff]),
        ] {
            let mut damaged = message.clone();
            damaged[at..at + bytes.len()].copy_from_slice(bytes);
            for outcome in own(&damaged) {
                assert_eq!(outcome.unwrap_err().kind(), "malformed", "at {at}");
            }
        }
        for length in 0..message.len() {
            for outcome in own(&message[..length]) {
                assert_eq!(outcome.unwrap_err().kind(), "malformed", "of length {length}");
            }
        }
    }
}
