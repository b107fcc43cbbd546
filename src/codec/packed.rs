//! `packed-145`: the six fields laid end to end, little-endian, in the vote's order, with no header and no check but the
//! length. It is the plain struct on a wire: a yardstick for what any format adds, not a bound and not a protocol.
//!
//! | field | at | width |
//! | --- | --- | --- |
//! | round | 0 | 8 |
//! | block_hash | 8 | 32 |
//! | voter_id | 40 | 32 |
//! | signature | 72 | 64 |
//! | timestamp | 136 | 8 |
//! | vote_type | 144 | 1 |

use super::buffer::Buffer;
use super::{Class, Codec, CodecError, Info};
use crate::vote::{Digest, PAYLOAD_BYTES, Vote};

static INFO: Info = Info {
    name: "packed-145",
    class: Class::Floor,
    crates: &[],
    summary: "the six fields end to end, little-endian; only the length is checked",
    lead: 4,
    lacks: &[],
};

/// The codec `packed-145`.
pub(super) struct Packed {
    buffer: Buffer<8, PAYLOAD_BYTES>,
}

impl Packed {
    pub(super) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

impl Codec for Packed {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        write(&mut self.buffer.message, vote);
        Ok(&self.buffer.message)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(View::new(message)?.round())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        Ok(View::new(message)?.digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        Ok(View::new(message)?.vote())
    }
}

/// Writes the packed form of `vote`.
#[inline]
pub(super) fn write(buffer: &mut [u8; PAYLOAD_BYTES], vote: &Vote) {
    buffer[..8].copy_from_slice(&vote.round.to_le_bytes());
    buffer[8..40].copy_from_slice(&vote.block_hash);
    buffer[40..72].copy_from_slice(&vote.voter_id);
    buffer[72..136].copy_from_slice(&vote.signature);
    buffer[136..144].copy_from_slice(&vote.timestamp.to_le_bytes());
    buffer[144] = vote.vote_type;
}

/// A packed vote of the right length.
#[derive(Clone, Copy)]
pub(super) struct View<'a>(&'a [u8; PAYLOAD_BYTES]);

impl<'a> View<'a> {
    /// `bytes` as a packed vote: one check, of the length.
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, CodecError> {
        match bytes.try_into() {
            Ok(bytes) => Ok(Self(bytes)),
            Err(_) if bytes.len() < PAYLOAD_BYTES => Err(CodecError::buffer_too_small()),
            Err(_) => Err(CodecError::trailing_bytes()),
        }
    }

    #[inline]
    pub(super) fn round(self) -> u64 {
        u64::from_le_bytes(self.part::<0, 8>())
    }

    #[inline]
    pub(super) fn digest(self) -> Digest {
        let signature = self.part::<72, 64>();
        Digest::of_fields(
            self.round(),
            &self.part::<8, 32>(),
            &self.part::<40, 32>(),
            &signature,
            u64::from_le_bytes(self.part::<136, 8>()),
            self.0[144],
        )
    }

    #[inline]
    pub(super) fn vote(self) -> Vote {
        Vote {
            round: self.round(),
            block_hash: self.part::<8, 32>(),
            voter_id: self.part::<40, 32>(),
            signature: self.part::<72, 64>(),
            timestamp: u64::from_le_bytes(self.part::<136, 8>()),
            vote_type: self.0[144],
        }
    }

    /// The `N` bytes at `AT`; that they lie inside is checked when this is compiled.
    #[inline]
    fn part<const AT: usize, const N: usize>(self) -> [u8; N] {
        const { assert!(AT + N <= PAYLOAD_BYTES) };
        let mut part = [0; N];
        part.copy_from_slice(&self.0[AT..AT + N]);
        part
    }
}
