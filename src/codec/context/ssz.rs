//! `ssz`: SimpleSerialize as Ethereum's consensus layer has it, by ethereum_ssz. A vote is a container of fixed-size parts, so
//! its bytes are the parts end to end, integers little-endian: those of `packed-145`. Every other length is refused.
//!
//! Choices for fairness: the traits are written by hand, as the crate's documentation shows for containers, because its
//! derive for this version is a beta; each part is encoded and decoded by the crate. `ssz_append` goes into a kept vector.

use std::hint::black_box;

use ssz::{Decode, DecodeError, Encode};

use crate::codec::{Class, Codec, CodecError, Info};
use crate::vote::PAYLOAD_BYTES;
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "ssz",
    class: Class::Context,
    crates: &["ethereum_ssz"],
    summary: "a container of fixed-size parts, end to end; its two traits implemented by hand where the crate's derive would be",
    lead: 4,
    lacks: &[],
};

/// The codec `ssz`.
#[derive(Default)]
pub(in crate::codec) struct Ssz {
    buffer: Vec<u8>,
}

impl Codec for Ssz {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        self.buffer.clear();
        Outgoing(vote).ssz_append(&mut self.buffer);
        Ok(&self.buffer)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        // The format's own message is the decoded vote; without this nothing but the round would be decoded.
        Ok(black_box(&parse(message)?).round)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        Ok(Digest::of(&parse(message)?))
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        parse(message)
    }
}

struct Outgoing<'a>(&'a Vote);

impl Encode for Outgoing<'_> {
    fn is_ssz_fixed_len() -> bool {
        true
    }

    fn ssz_fixed_len() -> usize {
        PAYLOAD_BYTES
    }

    fn ssz_bytes_len(&self) -> usize {
        PAYLOAD_BYTES
    }

    #[inline]
    fn ssz_append(&self, buffer: &mut Vec<u8>) {
        buffer.reserve(PAYLOAD_BYTES);
        self.0.round.ssz_append(buffer);
        self.0.block_hash.ssz_append(buffer);
        self.0.voter_id.ssz_append(buffer);
        self.0.signature.ssz_append(buffer);
        self.0.timestamp.ssz_append(buffer);
        self.0.vote_type.ssz_append(buffer);
    }
}

struct Incoming(Vote);

impl Decode for Incoming {
    fn is_ssz_fixed_len() -> bool {
        true
    }

    fn ssz_fixed_len() -> usize {
        PAYLOAD_BYTES
    }

    #[inline]
    fn from_ssz_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        if bytes.len() != PAYLOAD_BYTES {
            return Err(DecodeError::InvalidByteLength { len: bytes.len(), expected: PAYLOAD_BYTES });
        }
        Ok(Self(Vote {
            round: u64::from_ssz_bytes(&bytes[..8])?,
            block_hash: Decode::from_ssz_bytes(&bytes[8..40])?,
            voter_id: Decode::from_ssz_bytes(&bytes[40..72])?,
            signature: Decode::from_ssz_bytes(&bytes[72..136])?,
            timestamp: u64::from_ssz_bytes(&bytes[136..144])?,
            vote_type: u8::from_ssz_bytes(&bytes[144..145])?,
        }))
    }
}

#[inline]
fn parse(message: &[u8]) -> Result<Vote, CodecError> {
    match Incoming::from_ssz_bytes(message) {
        Ok(vote) => Ok(vote.0),
        Err(error) => Err(refused(&error)),
    }
}

#[cold]
#[inline(never)]
fn refused(error: &DecodeError) -> CodecError {
    match error {
        DecodeError::InvalidByteLength { len, expected: PAYLOAD_BYTES } if *len > PAYLOAD_BYTES => {
            CodecError::trailing_bytes()
        }
        // The crate's error has no words of its own.
        error => CodecError::malformed("ethereum_ssz", format_args!("{error:?}")),
    }
}
