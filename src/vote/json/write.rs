//! Writing a vote as JSON. Owns the [`Formatter`] that says how integers and bytes look, which is the place that serde_json
//! names for it: bytes reach the output as hex without passing the escape scan that a string would take.

use std::io;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::ser::Formatter;

use super::VoteJsonError;
use crate::vote::{Field, Vote};

/// Appends `vote` to `out`.
///
/// # Errors
/// None in practice: neither the vector nor the vote can refuse.
#[inline]
pub fn write(vote: &Vote, out: &mut Vec<u8>) -> Result<(), VoteJsonError> {
    Body(vote).serialize(&mut serde_json::Serializer::with_formatter(out, Compact)).map_err(VoteJsonError::Syntax)
}

/// A vote, to be serialised through [`Compact`].
pub(crate) struct Body<'a>(pub(crate) &'a Vote);

impl Serialize for Body<'_> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let vote = self.0;
        let mut fields = serializer.serialize_struct("Vote", Field::ALL.len())?;
        fields.serialize_field(Field::Round.name(), &vote.round)?;
        fields.serialize_field(Field::BlockHash.name(), &Bytes(&vote.block_hash))?;
        fields.serialize_field(Field::VoterId.name(), &Bytes(&vote.voter_id))?;
        fields.serialize_field(Field::Signature.name(), &Bytes(&vote.signature))?;
        fields.serialize_field(Field::Timestamp.name(), &vote.timestamp)?;
        fields.serialize_field(Field::VoteType.name(), &vote.vote_type)?;
        fields.end()
    }
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Compact JSON with `u64` as a decimal string and bytes as a hex string. Every other type looks as usual.
#[derive(Clone, Copy)]
pub(crate) struct Compact;

impl Formatter for Compact {
    #[inline]
    fn write_u64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        writer.write_all(b"\"")?;
        serde_json::ser::CompactFormatter.write_u64(writer, value)?;
        writer.write_all(b"\"")
    }

    #[inline]
    fn write_byte_array<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: &[u8]) -> io::Result<()> {
        match value.len() {
            32 => writer.write_all(&hex::<32, 68>(value)?),
            64 => writer.write_all(&hex::<64, 132>(value)?),
            _ => {
                writer.write_all(b"\"0x")?;
                for byte in value {
                    let mut digits = [0; 2];
                    const_hex::encode_to_slice([*byte], &mut digits).map_err(io::Error::other)?;
                    writer.write_all(&digits)?;
                }
                writer.write_all(b"\"")
            }
        }
    }
}

/// The JSON string of `N` bytes in hex, quotes and prefix included: `QUOTED` is `2 * N + 4`.
#[inline]
fn hex<const N: usize, const QUOTED: usize>(bytes: &[u8]) -> io::Result<[u8; QUOTED]> {
    const { assert!(QUOTED == 2 * N + 4) };
    let mut text = [b'"'; QUOTED];
    text[1..3].copy_from_slice(b"0x");
    const_hex::encode_to_slice(bytes, &mut text[3..QUOTED - 1]).map_err(io::Error::other)?;
    Ok(text)
}
