//! `capnp-packed`: the message of [`capnp`](super::capnp) in the packed encoding, which leaves zero bytes out.
//!
//! Each word of eight bytes becomes a tag byte, a bit for each byte that is not zero, and those bytes; a run of zero words
//! is counted, and a run of words with few zeros is copied behind a count. Random hashes do not compress: only pointers and
//! scalars get shorter.
//!
//! Packed and unpacked by the library, into memory that is reused. Unpacking stops at [`UNPACKED_BYTES`]: two packed bytes
//! can stand for two thousand, and no vote needs that much.
//!
//! Specification: <https://capnproto.org/encoding.html#packing>.

use capnp::message::Builder;
use capnp::serialize_packed;

use super::capnp::{build, fields, root};
use super::capnp_memory::Memory;
use super::capnp_message::{OPTIONS, refused};
use super::fields::Fields;
use super::{Class, Codec, CodecError, Info};
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "capnp-packed",
    class: Class::Variant,
    crates: &["capnp"],
    summary: "as capnp, packed: zero bytes left out, by the library",
    lead: 4,
    lacks: &[],
};

/// The largest message, unpacked, that is read.
const UNPACKED_BYTES: usize = 4096;

/// The codec `capnp-packed`.
pub(super) struct Packed {
    memory: Memory,
    packed: Vec<u8>,
    unpacked: Box<[u8; UNPACKED_BYTES]>,
}

impl Packed {
    pub(super) fn new() -> Self {
        Self { memory: Memory::new(), packed: Vec::with_capacity(256), unpacked: Box::new([0; UNPACKED_BYTES]) }
    }
}

impl Codec for Packed {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let mut builder = Builder::new(&mut self.memory);
        build(&mut builder, vote);
        self.packed.clear();
        serialize_packed::write_message(&mut self.packed, &builder).map_err(refused)?;
        Ok(&self.packed)
    }

    #[inline]
    fn open_round(&mut self, mut message: &[u8]) -> Result<u64, CodecError> {
        let reader = serialize_packed::read_message_no_alloc(&mut message, &mut self.unpacked[..], OPTIONS);
        let reader = reader.map_err(refused)?;
        Ok(root(&reader)?.get_round())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        self.with_fields(message, |fields| fields.digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        self.with_fields(message, |fields| fields.vote())
    }
}

impl Packed {
    /// What `take` makes of the fields of `message`.
    #[inline(always)]
    fn with_fields<T>(&mut self, mut message: &[u8], take: impl Fn(&Fields<'_>) -> T) -> Result<T, CodecError> {
        let reader = serialize_packed::read_message_no_alloc(&mut message, &mut self.unpacked[..], OPTIONS);
        let reader = reader.map_err(refused)?;
        if !message.is_empty() {
            return Err(CodecError::trailing_bytes());
        }
        Ok(take(&fields(&reader)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(message: &[u8]) -> Result<Vote, CodecError> {
        let mut codec = Packed::new();
        let owned = codec.own(message);
        assert_eq!(codec.read(message), owned.as_ref().map(Digest::of).map_err(Clone::clone));
        owned
    }

    #[test]
    fn packs_pointers_and_scalars() {
        let mut codec = Packed::new();
        let message = codec.encode(&Vote::canonical()).unwrap();
        assert_eq!(message.len(), 161);
        // Segment table and root pointer, with the zero bytes of each left out.
        assert_eq!(message[..6], [0x10, 23, 0x50, 3, 3, 0x01]);
        assert_eq!(own(message), Ok(Vote::canonical()));
        assert!(codec.encode(&Vote::default()).unwrap().len() < 40);
    }

    #[test]
    fn refuses_a_message_cut_short_or_followed_by_bytes() {
        let mut message = Packed::new().encode(&Vote::canonical()).unwrap().to_vec();
        for length in 0..message.len() {
            assert!(own(&message[..length]).is_err(), "of length {length}");
        }
        message.push(0);
        assert_eq!(own(&message), Err(CodecError::trailing_bytes()));
    }

    #[test]
    fn refuses_what_would_unpack_to_more_than_it_holds() {
        // A segment of 2^16 words, all zero: 6 bytes that stand for 512 KiB.
        let bomb = [0x40, 0x01, 0x00, 0xff, 0x00, 0xff];
        assert_eq!(own(&bomb).unwrap_err().kind(), "malformed");
    }
}
