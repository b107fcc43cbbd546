//! `zap`: the vote as one ZAP message (`docs/zap-wire.md`), over the runtime in [`zap`](crate::zap) and the accessors that
//! its code generator made of `schemas/vote.zap`.
//!
//! | at | width | what |
//! | --- | --- | --- |
//! | 0 | 16 | header: magic, version, flags, root offset 16, size 161 |
//! | 16 | 145 | the root object's fixed section, all six fields inline, at the offsets of `packed-145` |
//!
//! The runtime's reader is lenient: what does not lie in the message reads as zero. This codec is strict, because a vote
//! with zeros in it is worse than none. In this order it refuses: what the header check refuses; a message flagged as
//! compressed or encrypted (other flags are ignored); a root offset inside the header or not inside the message; a root
//! whose 145 bytes do not end within the message; bytes behind the message's size. Versions 1 and 2 are read, 1 is
//! written. One check covers all six fields; after it each is a plain load.

use super::buffer::Buffer;
use super::{Class, Codec, CodecError, Info};
use crate::schema::generated::vote_zap::{self, VoteFields};
use crate::vote::{Digest, Vote};
use crate::zap::{Flags, Message, ParseError, ViewError};

static INFO: Info = Info {
    name: "zap",
    class: Class::Row,
    crates: &[],
    summary: "16-byte header and one object of 145 bytes, all fields inline, by the generated fixed-size writer; one check for the \
              whole fixed section",
    lead: 4,
    lacks: &[],
};

/// The codec `zap`.
pub(super) struct Zap {
    buffer: Buffer<8, { vote_zap::Vote::MESSAGE_SIZE }>,
}

impl Zap {
    pub(super) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

impl Codec for Zap {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let Vote { round, block_hash, voter_id, signature, timestamp, vote_type } = vote;
        VoteFields { round: *round, block_hash, voter_id, signature, timestamp: *timestamp, vote_type: *vote_type }
            .write(&mut self.buffer.message);
        Ok(&self.buffer.message)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        let Some(vote) = view(message) else { return refuse(message) };
        Ok(vote.round())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        let Some(vote) = view(message) else { return refuse(message) };
        Ok(Digest::of_fields(
            vote.round(),
            vote.block_hash(),
            vote.voter_id(),
            vote.signature(),
            vote.timestamp(),
            vote.vote_type(),
        ))
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        let Some(vote) = view(message) else { return refuse(message) };
        Ok(Vote {
            round: vote.round(),
            block_hash: *vote.block_hash(),
            voter_id: *vote.voter_id(),
            signature: *vote.signature(),
            timestamp: vote.timestamp(),
            vote_type: vote.vote_type(),
        })
    }
}

/// The flags under which the data segment is not what it seems.
const REFUSED: Flags = Flags::COMPRESSED.union(Flags::ENCRYPTED);

/// `bytes` as exactly one message whose root is one whole vote.
#[inline]
fn check(bytes: &[u8]) -> Result<vote_zap::Vote<'_>, CodecError> {
    let message = Message::parse(bytes)?;
    if message.flags().intersects(REFUSED) {
        return Err(CodecError::unsupported_flags());
    }
    let vote = vote_zap::Vote::from_message(message)?;
    if message.size() == bytes.len() { Ok(vote) } else { Err(CodecError::trailing_bytes()) }
}

/// [`check`] without the reason, of which then nothing is left in the good case.
#[inline]
fn view(bytes: &[u8]) -> Option<vote_zap::Vote<'_>> {
    vote_zap::Vote::parse_exact(bytes, REFUSED)
}

/// The reason: what [`check`] says of bytes that [`view`] refused.
#[cold]
#[inline(never)]
fn refuse<T>(bytes: &[u8]) -> Result<T, CodecError> {
    Err(check(bytes).err().unwrap_or_else(CodecError::truncated_object))
}

impl From<ParseError> for CodecError {
    #[cold]
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::BufferTooSmall => Self::buffer_too_small(),
            ParseError::InvalidMagic => Self::invalid_magic(),
            ParseError::UnsupportedVersion => Self::unsupported_version(),
        }
    }
}

impl From<ViewError> for CodecError {
    #[cold]
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Parse(error) => error.into(),
            ViewError::RootOutOfBounds => Self::root_out_of_bounds(),
            ViewError::TruncatedObject => Self::truncated_object(),
        }
    }
}
