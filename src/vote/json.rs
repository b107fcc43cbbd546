//! The vote as JSON: `{"round":"42","block_hash":"0x…","voter_id":"0x…","signature":"0x…","timestamp":"17…","vote_type":1}`.
//! Owns the text form of one vote and its errors, on serde_json; knows no codec and no envelope.
//!
//! Written compactly, in the vote's order: 64-bit integers as decimal strings, because a JSON number over 2^53 is not safe
//! in every reader; bytes as `0x` and lower-case hex; `vote_type` as a number.
//!
//! What is read, beyond that:
//! - keys in any order; a key twice is an error, an unknown key is skipped with its value, as protobuf skips unknown fields;
//! - every integer as a number or as a decimal string. A negative one, one with a fraction or an exponent, and one too
//!   large are out of range; a string that is no integer is a syntax error;
//! - hex in either case, with or without `0x`;
//! - strings with escapes, like any JSON;
//! - nothing but white space behind the object.
//!
//! Nesting costs no stack: serde_json skips unknown values without recursion, and nothing else here nests.

mod integer;
mod read;
mod serialize;
mod write;

pub use read::Parsed;
pub(crate) use read::{Body, parse_all};
pub(crate) use serialize::{AsJson, write_serialized};
pub(crate) use write::MAX_DIGITS;
pub use write::{MAX_BYTES, write};

use super::{Field, Vote};

/// Why a text is not a vote.
#[derive(Debug, thiserror::Error)]
pub enum VoteJsonError {
    /// Not JSON, or JSON of another shape: another type of value, a key twice, an integer that is none.
    #[error("{0}")]
    Syntax(serde_json::Error),
    /// A byte field is not hexadecimal, or has half a byte.
    #[error("{field} is not hexadecimal")]
    InvalidHex {
        /// The field.
        field: Field,
    },
    /// A field is absent.
    #[error("{field} is missing")]
    MissingField {
        /// The field.
        field: Field,
    },
    /// A byte field has another length than the vote's.
    #[error("{field} has {actual} bytes instead of {}", field.bytes())]
    WrongLength {
        /// The field.
        field: Field,
        /// How many bytes it has.
        actual: usize,
    },
    /// A number does not fit the vote's field: too large, negative, or not whole.
    #[error("{field} is out of range: it takes {} byte(s), unsigned", field.bytes())]
    OutOfRange {
        /// The field.
        field: Field,
    },
}

/// Reads one vote.
///
/// # Errors
/// Where `text` is not exactly one vote.
pub fn parse(text: &[u8]) -> Result<Vote, VoteJsonError> {
    let mut parsed = Parsed::default();
    parsed.parse(text)?;
    parsed.vote()
}

/// Reads one vote that is the parameters of a call: an object, or a list of its six values in the vote's order.
///
/// # Errors
/// Where `text` is not exactly one vote.
pub fn parse_parameters(text: &[u8]) -> Result<Vote, VoteJsonError> {
    let mut parsed = Parsed::default();
    if let Err(error) = parse_all(text, Body { vote: &mut parsed, list: true }) {
        return Err(parsed.error(error));
    }
    parsed.complete()?;
    parsed.vote()
}

#[cfg(test)]
mod tests;
