//! `capnp` and `capnp-overwrite`: the normative `schemas/vote.capnp`, byte fields as `Data`, in the standard stream framing.
//!
//! | at | words | what |
//! | --- | --- | --- |
//! | 0 | 1 | segment table: segments less one, words of the segment |
//! | 8 | 1 | root pointer |
//! | 16 | 3 | data section: round, timestamp, vote_type |
//! | 40 | 3 | pointers to the byte fields |
//! | 64 | 4 + 4 + 8 | the byte fields |
//!
//! The row builds every message anew, as the documentation has it, over memory that is reused, framed where it lies. The
//! library's builder keeps a list of its segments on the heap: that is the one allocation. `capnp-overwrite` keeps one
//! message and overwrites its fields in place by their accessors: it saves allocation, wiping and pointers, and works only
//! because no field of a vote changes its size. Reading is the same: nothing is copied before the fields, and limits on
//! traversal and nesting count anew for each message. A scalar that the data section is too short for reads as zero, as
//! the encoding says; a byte field that is a null pointer is missing.
//!
//! Specification: <https://capnproto.org/encoding.html>.

use capnp::message::{Allocator, Builder, Reader, ReaderSegments};

use super::capnp_memory::{Memory, Standing};
use super::capnp_message::{any_segments, one_segment, refused};
use super::fields::Fields;
use super::{Class, Codec, CodecError, Info};
use crate::schema::generated::vote_capnp::vote;
use crate::vote::{Digest, Field, Vote};

static INFO: Info = Info {
    name: "capnp",
    class: Class::Row,
    crates: &["capnp"],
    summary: "Data fields; built anew over reused memory, framed in place; read in place, limits on",
    lead: 4,
    lacks: &[],
};

static OVERWRITE_INFO: Info = Info {
    name: "capnp-overwrite",
    class: Class::Variant,
    crates: &["capnp"],
    summary: "as capnp, but one message is kept and its fields overwritten",
    lead: 4,
    lacks: &[],
};

/// The codec `capnp`.
pub(super) struct Capnp {
    memory: Memory,
}

impl Capnp {
    pub(super) fn new() -> Self {
        Self { memory: Memory::new() }
    }
}

impl Codec for Capnp {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let mut builder = Builder::new(&mut self.memory);
        build(&mut builder, vote);
        let words = builder.size_in_words();
        drop(builder);
        Ok(self.memory.framed(words))
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        open_round(message)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        with_fields(message, |fields| fields.digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        with_fields(message, |fields| fields.vote())
    }
}

/// The codec `capnp-overwrite`.
pub(super) struct Overwrite {
    standing: Standing,
}

impl Overwrite {
    pub(super) fn new() -> Self {
        Self { standing: Standing::new(|builder| build(builder, &Vote::default())) }
    }
}

impl Codec for Overwrite {
    fn info(&self) -> &'static Info {
        &OVERWRITE_INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let mut root: vote::Builder<'_> = self.standing.builder().get_root().map_err(refused)?;
        root.set_round(vote.round);
        root.set_timestamp(vote.timestamp);
        root.set_vote_type(vote.vote_type);
        root.reborrow().get_block_hash().map_err(refused)?.copy_from_slice(&vote.block_hash);
        root.reborrow().get_voter_id().map_err(refused)?.copy_from_slice(&vote.voter_id);
        root.get_signature().map_err(refused)?.copy_from_slice(&vote.signature);
        Ok(self.standing.message())
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        open_round(message)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        with_fields(message, |fields| fields.digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        with_fields(message, |fields| fields.vote())
    }
}

/// Builds `vote` as the root of an empty message.
#[inline(always)]
pub(super) fn build<A: Allocator>(builder: &mut Builder<A>, vote: &Vote) {
    let mut root: vote::Builder<'_> = builder.init_root();
    root.set_round(vote.round);
    root.set_block_hash(&vote.block_hash);
    root.set_voter_id(&vote.voter_id);
    root.set_signature(&vote.signature);
    root.set_timestamp(vote.timestamp);
    root.set_vote_type(vote.vote_type);
}

#[inline(always)]
fn open_round(message: &[u8]) -> Result<u64, CodecError> {
    #[cold]
    fn any(message: &[u8]) -> Result<u64, CodecError> {
        Ok(root(&any_segments(message)?)?.get_round())
    }
    match one_segment(message) {
        Some(reader) => Ok(root(&reader)?.get_round()),
        None => any(message),
    }
}

/// What `take` makes of the fields of `message`.
#[inline(always)]
fn with_fields<T>(message: &[u8], take: impl Fn(&Fields<'_>) -> T) -> Result<T, CodecError> {
    #[cold]
    fn any<T>(message: &[u8], take: impl Fn(&Fields<'_>) -> T) -> Result<T, CodecError> {
        Ok(take(&fields(&any_segments(message)?)?))
    }
    match one_segment(message) {
        Some(reader) => Ok(take(&fields(&reader)?)),
        None => any(message, take),
    }
}

#[inline(always)]
pub(super) fn root<S: ReaderSegments>(reader: &Reader<S>) -> Result<vote::Reader<'_>, CodecError> {
    reader.get_root().map_err(refused)
}

/// The fields of a message that has been taken apart into segments.
#[inline(always)]
pub(super) fn fields<S: ReaderSegments>(reader: &Reader<S>) -> Result<Fields<'_>, CodecError> {
    let vote = root(reader)?;
    Ok(Fields {
        round: vote.get_round(),
        block_hash: bytes(Field::BlockHash, vote.get_block_hash(), || vote.has_block_hash())?,
        voter_id: bytes(Field::VoterId, vote.get_voter_id(), || vote.has_voter_id())?,
        signature: bytes(Field::Signature, vote.get_signature(), || vote.has_signature())?,
        timestamp: vote.get_timestamp(),
        vote_type: vote.get_vote_type(),
    })
}

#[inline(always)]
fn bytes<const N: usize>(
    field: Field,
    data: capnp::Result<&[u8]>,
    has: impl Fn() -> bool,
) -> Result<&[u8; N], CodecError> {
    let data = data.map_err(refused)?;
    match data.try_into() {
        Ok(bytes) => Ok(bytes),
        // A null pointer reads as no bytes.
        Err(_) if !has() => Err(CodecError::missing_field(field)),
        Err(_) => Err(CodecError::wrong_length(field, data.len())),
    }
}

#[cfg(test)]
mod tests {
    use capnp::message::{AllocationStrategy, HeapAllocator};
    use capnp::serialize;

    use super::super::capnp_message::OPTIONS;
    use super::*;

    fn own(message: &[u8]) -> Result<Vote, CodecError> {
        let mut codec = Capnp::new();
        let owned = codec.own(message);
        assert_eq!(codec.read(message), owned.as_ref().map(Digest::of).map_err(Clone::clone));
        owned
    }

    /// A message that the library frames, its fields set by `set`.
    fn message(set: impl FnOnce(vote::Builder<'_>)) -> Vec<u8> {
        let mut builder = Builder::new_default();
        set(builder.init_root());
        serialize::write_message_to_words(&builder)
    }

    #[test]
    fn lies_as_documented_and_as_the_library_frames_it() {
        let vote = Vote::canonical();
        let (mut anew, mut over) = (Capnp::new(), Overwrite::new());
        // Twice, over a vote that leaves other bytes behind.
        for vote in [&vote.answer(), &vote] {
            let mut builder = Builder::new_default();
            build(&mut builder, vote);
            let expected = serialize::write_message_to_words(&builder);
            assert_eq!(anew.encode(vote).unwrap(), expected);
            assert_eq!(over.encode(vote).unwrap(), expected);
        }
        let message = anew.encode(&vote).unwrap();
        assert_eq!((message.len(), &message[..8]), (192, &[0, 0, 0, 0, 23, 0, 0, 0][..]));
        assert_eq!(message[16..24], vote.round.to_le_bytes());
        assert_eq!(message[24..32], vote.timestamp.to_le_bytes());
        assert_eq!(message[64..], [&vote.block_hash[..], &vote.voter_id, &vote.signature].concat());
    }

    #[test]
    fn names_the_field_that_is_missing_or_of_another_length() {
        let error = CodecError::missing_field(Field::BlockHash);
        assert_eq!(own(&message(|_| ())), Err(error.clone()));
        // No root at all.
        assert_eq!(own(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Err(error));
        let short = message(|mut vote| {
            vote.set_block_hash(&[1; 32]);
            vote.set_voter_id(&[2; 31]);
        });
        assert_eq!(own(&short), Err(CodecError::wrong_length(Field::VoterId, 31)));
        let empty = message(|mut vote| {
            vote.set_block_hash(&[1; 32]);
            vote.set_voter_id(&[2; 32]);
            vote.set_signature(&[]);
        });
        assert_eq!(own(&empty), Err(CodecError::wrong_length(Field::Signature, 0)));
    }

    #[test]
    fn reads_segments_and_far_pointers() {
        let vote = Vote::canonical();
        let allocator = HeapAllocator::new().first_segment_words(1).allocation_strategy(AllocationStrategy::FixedSize);
        let mut builder = Builder::new(allocator);
        build(&mut builder, &vote);
        assert!(builder.get_segments_for_output().len() > 1);
        let mut message = serialize::write_message_to_words(&builder);
        assert_eq!(own(&message), Ok(vote));
        for length in 0..message.len() {
            assert_eq!(own(&message[..length]), Err(CodecError::buffer_too_small()), "of length {length}");
        }
        message.push(0);
        assert_eq!(own(&message), Err(CodecError::trailing_bytes()));
    }

    #[test]
    fn refuses_a_message_cut_short_or_followed_by_bytes() {
        let mut message = Capnp::new().encode(&Vote::canonical()).unwrap().to_vec();
        for length in 0..message.len() {
            assert_eq!(own(&message[..length]), Err(CodecError::buffer_too_small()), "of length {length}");
        }
        for _ in 0..9 {
            message.push(0);
            assert_eq!(own(&message), Err(CodecError::trailing_bytes()));
        }
    }

    #[test]
    fn refuses_hostile_segment_tables_and_pointers() {
        // 2^32 segments, 512 segments, a segment of 2^32 words.
        for table in [[0xff; 8], [0xff, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]] {
            assert!(matches!(own(&table).unwrap_err().kind(), "malformed" | "buffer-too-small"));
        }
        let message = Capnp::new().encode(&Vote::canonical()).unwrap().to_vec();
        // The root pointer, and that of the signature: outside, a list for a struct, a capability, a far pointer.
        for at in [8, 56] {
            for low in [0xffff_fff8u32, 0x7fff_fffd, 3, 2] {
                let mut damaged = message.clone();
                damaged[at..at + 4].copy_from_slice(&low.to_le_bytes());
                assert_eq!(own(&damaged).unwrap_err().kind(), "malformed", "{low:#x} at {at}");
            }
        }
    }

    #[test]
    fn reads_any_number_of_messages() {
        let message = Capnp::new().encode(&Vote::canonical()).unwrap().to_vec();
        let mut codec = Capnp::new();
        // More words than one limit on traversal: it counts anew for each message.
        for _ in 0..OPTIONS.traversal_limit_in_words.unwrap() / 20 {
            assert!(codec.read(&message).is_ok());
        }
    }
}
