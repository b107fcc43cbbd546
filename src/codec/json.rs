//! `json`: the vote alone, as the JSON object of [`vote::json`](crate::vote::json), which owns the text and says what is
//! read besides; and `json-by-hand`, the same text written without a serializer. Library: serde_json, with hex by const-hex.
//!
//! Choices for fairness: what serde_json's documentation offers is used and no more. Written through its `Formatter`, the
//! extension point for how integers and bytes look, into a reused buffer. Read from the slice through visitors that borrow
//! the text (`visit_borrowed_bytes`) and never go through `serde_json::Value`. `open` is the parsed struct: integers read,
//! byte fields still text; `read` and `own` decode the hex. `json-by-hand` writes the fixed text and fills in the fields,
//! which is several times faster and no library's way.

use super::{Class, Codec, CodecError, Info, Model};
use crate::vote::json::{self, AsJson, Parsed};
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "json",
    class: Class::Row,
    crates: &["serde_json", "const-hex"],
    summary: "the vote alone, by serde_json: decimal strings, 0x-hex, borrowed text",
    lead: 0,
    lacks: &[],
};

const READ_AS_JSON: &str = "it is read as `json` is";

static BY_HAND: Info = Info {
    name: "json-by-hand",
    class: Class::Variant,
    crates: &["const-hex"],
    summary: "the text of json, written by hand; read as json is",
    lead: 0,
    lacks: &[(Model::Open, READ_AS_JSON), (Model::Read, READ_AS_JSON), (Model::Own, READ_AS_JSON)],
};

/// The codec `json`, or `json-by-hand`.
pub(super) struct Json<const HAND: bool> {
    buffer: Text<{ json::MAX_BYTES }>,
}

/// Where JSON is written: `N` bytes, 512 at most, that cross no page, for the reason that [`buffer`](mod@super::buffer) gives.
#[repr(align(512))]
pub(super) struct Text<const N: usize>(pub(super) [u8; N]);

impl<const HAND: bool> Json<HAND> {
    pub(super) const fn new() -> Self {
        Self { buffer: Text([0; _]) }
    }
}

impl<const HAND: bool> Codec for Json<HAND> {
    fn info(&self) -> &'static Info {
        if HAND { &BY_HAND } else { &INFO }
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let length = if HAND {
            json::write(vote, &mut self.buffer.0)
        } else {
            json::write_serialized(&AsJson(vote), &mut self.buffer.0).map_err(json::VoteJsonError::Syntax)?
        };
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
