//! `capnp-words`: `schemas/vote_words.capnp`, the byte fields as sixteen words in the struct's own data section.
//!
//! | at | words | what |
//! | --- | --- | --- |
//! | 0 | 1 | segment table: segments less one, words of the segment |
//! | 8 | 1 | root pointer |
//! | 16 | 19 | data section: the packed vote and seven bytes of padding |
//!
//! One message is kept and its fields overwritten by their accessors, as in `capnp-overwrite`; every field of a data section
//! has its size for good. A data section may be shorter than the schema: what it lacks reads as zero. That is right for
//! timestamp and vote_type; a byte field that does not lie inside it is missing, and not a hash of zeros.
//!
//! Specification: <https://capnproto.org/encoding.html>.

use super::capnp_memory::Standing;
use super::capnp_message::{any_segments, one_segment, refused};
use super::{Class, Codec, CodecError, Info};
use crate::schema::generated::vote_words_capnp::vote;
use crate::vote::{Digest, Field, Vote};

static INFO: Info = Info {
    name: "capnp-words",
    class: Class::Variant,
    crates: &["capnp"],
    summary: "byte fields as 64-bit words; one message is kept and its fields overwritten; read in place, limits on",
    lead: 4,
    lacks: &[],
};

/// Where the byte fields end in the data section, in bytes.
const ENDS: [(Field, usize); 3] = [(Field::BlockHash, 40), (Field::VoterId, 72), (Field::Signature, 136)];

/// The codec `capnp-words`.
pub(super) struct Words {
    standing: Standing,
}

impl Words {
    pub(super) fn new() -> Self {
        Self { standing: Standing::new(|builder| write(builder.init_root(), &Vote::default())) }
    }
}

impl Codec for Words {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        write(self.standing.builder().get_root().map_err(refused)?, vote);
        Ok(self.standing.message())
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        with_root(message, |vote| Ok(vote.get_round()))
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        with_root(message, |vote| {
            complete(vote)?;
            Ok(Digest::of_words(
                vote.get_round(),
                block_hash(vote),
                voter_id(vote),
                signature(vote),
                vote.get_timestamp(),
                vote.get_vote_type(),
            ))
        })
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        with_root(message, |vote| {
            complete(vote)?;
            Ok(Vote {
                round: vote.get_round(),
                block_hash: bytes(block_hash(vote)),
                voter_id: bytes(voter_id(vote)),
                signature: bytes(signature(vote)),
                timestamp: vote.get_timestamp(),
                vote_type: vote.get_vote_type(),
            })
        })
    }
}

/// What `take` makes of the root of `message`.
#[inline(always)]
fn with_root<T>(message: &[u8], take: impl Fn(vote::Reader<'_>) -> Result<T, CodecError>) -> Result<T, CodecError> {
    #[cold]
    fn any<T>(message: &[u8], take: impl Fn(vote::Reader<'_>) -> Result<T, CodecError>) -> Result<T, CodecError> {
        take(any_segments(message)?.get_root().map_err(refused)?)
    }
    match one_segment(message) {
        Some(reader) => take(reader.get_root().map_err(refused)?),
        None => any(message, take),
    }
}

/// Checks that all three byte fields lie inside the data section.
#[inline(always)]
fn complete(vote: vote::Reader<'_>) -> Result<(), CodecError> {
    let bytes = capnp::raw::get_struct_data_section(vote).len();
    if bytes < ENDS[2].1 { Err(missing(bytes)) } else { Ok(()) }
}

/// The error for a data section of so few `bytes`.
#[cold]
fn missing(bytes: usize) -> CodecError {
    let field = ENDS.into_iter().find(|(_, end)| bytes < *end).map_or(Field::Signature, |(field, _)| field);
    CodecError::missing_field(field)
}

#[inline(always)]
fn write(mut root: vote::Builder<'_>, vote: &Vote) {
    root.set_round(vote.round);
    let mut group = root.reborrow().get_block_hash();
    let [w0, w1, w2, w3] = words(&vote.block_hash);
    group.set_w0(w0);
    group.set_w1(w1);
    group.set_w2(w2);
    group.set_w3(w3);
    let mut group = root.reborrow().get_voter_id();
    let [w0, w1, w2, w3] = words(&vote.voter_id);
    group.set_w0(w0);
    group.set_w1(w1);
    group.set_w2(w2);
    group.set_w3(w3);
    let mut group = root.reborrow().get_signature();
    let [w0, w1, w2, w3, w4, w5, w6, w7] = words(&vote.signature);
    group.set_w0(w0);
    group.set_w1(w1);
    group.set_w2(w2);
    group.set_w3(w3);
    group.set_w4(w4);
    group.set_w5(w5);
    group.set_w6(w6);
    group.set_w7(w7);
    root.set_timestamp(vote.timestamp);
    root.set_vote_type(vote.vote_type);
}

#[inline(always)]
fn block_hash(vote: vote::Reader<'_>) -> [u64; 4] {
    let group = vote.get_block_hash();
    [group.get_w0(), group.get_w1(), group.get_w2(), group.get_w3()]
}

#[inline(always)]
fn voter_id(vote: vote::Reader<'_>) -> [u64; 4] {
    let group = vote.get_voter_id();
    [group.get_w0(), group.get_w1(), group.get_w2(), group.get_w3()]
}

#[inline(always)]
fn signature(vote: vote::Reader<'_>) -> [u64; 8] {
    let group = vote.get_signature();
    [
        group.get_w0(),
        group.get_w1(),
        group.get_w2(),
        group.get_w3(),
        group.get_w4(),
        group.get_w5(),
        group.get_w6(),
        group.get_w7(),
    ]
}

/// The little-endian words of a byte field.
#[inline(always)]
fn words<const N: usize, const W: usize>(bytes: &[u8; N]) -> [u64; W] {
    const { assert!(N == 8 * W) };
    let (chunks, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|index| u64::from_le_bytes(chunks[index]))
}

/// The byte field of those words.
#[inline(always)]
fn bytes<const N: usize, const W: usize>(words: [u64; W]) -> [u8; N] {
    const { assert!(N == 8 * W) };
    let mut bytes = [0; N];
    let (chunks, _) = bytes.as_chunks_mut::<8>();
    for (chunk, word) in chunks.iter_mut().zip(words) {
        *chunk = word.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use capnp::message::Builder;
    use capnp::serialize;

    use super::*;

    fn own(message: &[u8]) -> Result<Vote, CodecError> {
        let mut codec = Words::new();
        let owned = codec.own(message);
        assert_eq!(codec.read(message), owned.as_ref().map(Digest::of).map_err(Clone::clone));
        owned
    }

    #[test]
    fn lies_as_documented_and_as_the_library_frames_it() {
        let vote = Vote::canonical();
        let mut codec = Words::new();
        for vote in [&vote.answer(), &vote] {
            let mut builder = Builder::new_default();
            write(builder.init_root(), vote);
            assert_eq!(codec.encode(vote).unwrap(), serialize::write_message_to_words(&builder));
        }
        let message = codec.encode(&vote).unwrap();
        assert_eq!((message.len(), &message[..8]), (168, &[0, 0, 0, 0, 20, 0, 0, 0][..]));
        let mut packed = [0; crate::vote::PAYLOAD_BYTES];
        super::super::packed::write(&mut packed, &vote);
        assert_eq!(message[16..161], packed);
        assert_eq!(own(message), Ok(vote));
    }

    /// The message with a data section cut to so many words.
    fn cut(words: u8) -> Vec<u8> {
        let mut message = Words::new().encode(&Vote::canonical()).unwrap().to_vec();
        message.truncate(16 + 8 * usize::from(words));
        (message[4], message[12]) = (1 + words, words);
        message
    }

    #[test]
    fn a_short_data_section_lacks_byte_fields_but_defaults_scalars() {
        assert_eq!(own(&cut(18)), Ok(Vote { vote_type: 0, ..Vote::canonical() }));
        assert_eq!(own(&cut(17)), Ok(Vote { vote_type: 0, timestamp: 0, ..Vote::canonical() }));
        for (words, field) in [
            (16, Field::Signature),
            (9, Field::Signature),
            (8, Field::VoterId),
            (5, Field::VoterId),
            (4, Field::BlockHash),
            (0, Field::BlockHash),
        ] {
            assert_eq!(own(&cut(words)), Err(CodecError::missing_field(field)), "{words} words");
        }
    }

    #[test]
    fn refuses_a_message_cut_short_or_followed_by_bytes() {
        let mut message = Words::new().encode(&Vote::canonical()).unwrap().to_vec();
        for length in 0..message.len() {
            assert_eq!(own(&message[..length]), Err(CodecError::buffer_too_small()), "of length {length}");
        }
        message.push(0);
        assert_eq!(own(&message), Err(CodecError::trailing_bytes()));
    }
}
