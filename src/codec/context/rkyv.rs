//! `rkyv`: total zero-copy: the message is the archived struct itself, checked by bytecheck and then read where it lies.
//!
//! Choices for fairness: the crate's feature `unaligned` is on. Without it an archive must start on a multiple of 8, which a
//! message behind a 4-byte length does not, and would first have to be copied; with it the layout has no padding, and the
//! bytes are those of `packed-145`. `access` checks that the root lies inside the bytes (every bit pattern of these fields is
//! valid). rkyv finds its root from the end and ignores what comes before it, so another length is refused here. The vote's
//! arrays are archived from where they are (`Inline`), through the low-level API into a kept array: nothing is allocated.

use rkyv::api::low;
use rkyv::rancor::Failure;
use rkyv::ser::allocator::SubAllocator;
use rkyv::ser::writer;
use rkyv::with::Inline;
use rkyv::{Archive, Serialize};

use crate::codec::buffer::Buffer;
use crate::codec::{Class, Codec, CodecError, Info};
use crate::vote::PAYLOAD_BYTES;
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "rkyv",
    class: Class::Context,
    crates: &["rkyv"],
    summary: "the archived struct in place, unaligned, checked by bytecheck",
    lead: 4,
    lacks: &[],
};

/// The codec `rkyv`.
pub(in crate::codec) struct Rkyv {
    buffer: Buffer<8, PAYLOAD_BYTES>,
}

impl Rkyv {
    pub(in crate::codec) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

impl Codec for Rkyv {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let Vote { round, block_hash, voter_id, signature, timestamp, vote_type } = vote;
        let message =
            Message { round: *round, block_hash, voter_id, signature, timestamp: *timestamp, vote_type: *vote_type };
        let writer = writer::Buffer::from(&mut self.buffer.message);
        low::to_bytes_in_with_alloc::<_, _, Failure>(&message, writer, SubAllocator::new(&mut [])).map_err(refused)?;
        Ok(&self.buffer.message)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(access(message)?.round.to_native())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        let vote = access(message)?;
        Ok(Digest::of_fields(
            vote.round.to_native(),
            &vote.block_hash,
            &vote.voter_id,
            &vote.signature,
            vote.timestamp.to_native(),
            vote.vote_type,
        ))
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        let vote = access(message)?;
        Ok(Vote {
            round: vote.round.to_native(),
            block_hash: vote.block_hash,
            voter_id: vote.voter_id,
            signature: vote.signature,
            timestamp: vote.timestamp.to_native(),
            vote_type: vote.vote_type,
        })
    }
}

#[derive(Archive, Serialize)]
struct Message<'a> {
    round: u64,
    #[rkyv(with = Inline)]
    block_hash: &'a [u8; 32],
    #[rkyv(with = Inline)]
    voter_id: &'a [u8; 32],
    #[rkyv(with = Inline)]
    signature: &'a [u8; 64],
    timestamp: u64,
    vote_type: u8,
}

const _: () = assert!(size_of::<ArchivedMessage<'_>>() == PAYLOAD_BYTES && align_of::<ArchivedMessage<'_>>() == 1);

#[inline]
fn access(message: &[u8]) -> Result<&ArchivedMessage<'_>, CodecError> {
    match message.len() {
        PAYLOAD_BYTES => low::access::<ArchivedMessage<'_>, Failure>(message).map_err(refused),
        ..PAYLOAD_BYTES => Err(CodecError::buffer_too_small()),
        _ => Err(CodecError::trailing_bytes()),
    }
}

#[cold]
#[inline(never)]
fn refused(error: Failure) -> CodecError {
    CodecError::malformed("rkyv", error)
}
