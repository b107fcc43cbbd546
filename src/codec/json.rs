//! `json`: the vote alone, as the JSON object of [`vote::json`](crate::vote::json), which owns the text and says what is
//! read besides. Library: serde_json, with hex by const-hex.
//!
//! Choices for fairness: what serde_json's documentation offers is used and no more. Written through its `Formatter`, the
//! extension point for how integers and bytes look, into a reused vector. Read from the slice through visitors that borrow
//! the text (`visit_borrowed_bytes`) and never go through `serde_json::Value`. `open` is the parsed struct: integers read,
//! byte fields still text; `read` and `own` decode the hex.

use super::{Class, Codec, CodecError, Info};
use crate::vote::json::{self, Parsed};
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "json",
    class: Class::Row,
    crates: &["serde_json", "const-hex"],
    summary: "the vote alone: decimal strings, 0x-hex, borrowed text",
    lead: 0,
    lacks: &[],
};

/// The codec `json`.
pub(super) struct Json {
    buffer: Text<{ json::MAX_BYTES }>,
}

/// Where JSON is written: `N` bytes, 512 at most, that cross no page, for the reason that [`buffer`](mod@super::buffer) gives.
#[repr(align(512))]
pub(super) struct Text<const N: usize>(pub(super) [u8; N]);

impl Json {
    pub(super) const fn new() -> Self {
        Self { buffer: Text([0; _]) }
    }
}

impl Codec for Json {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let length = json::write(vote, &mut self.buffer.0);
        Ok(&self.buffer.0[..length])
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        let mut parsed = Parsed::default();
        parsed.parse(message)?;
        Ok(parsed.round())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        let mut parsed = Parsed::default();
        parsed.parse(message)?;
        Ok(Digest::of(&parsed.vote()?))
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        let mut parsed = Parsed::default();
        parsed.parse(message)?;
        Ok(parsed.vote()?)
    }
}
