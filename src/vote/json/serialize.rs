//! Writing a vote as serde_json writes: [`AsJson`] says which fields there are, [`Compact`] how integers and bytes look. The
//! formatter is the place that serde_json names for that; through it bytes reach the output as hex without the search for
//! characters to escape that a string would take.

use std::io;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::ser::{CompactFormatter, Formatter};

use crate::vote::{Field, Vote};

/// Writes `value` into `buffer` and says how many bytes it took.
///
/// # Errors
/// serde_json's, where the buffer is too short.
#[inline]
pub(crate) fn write_serialized(value: &impl Serialize, buffer: &mut [u8]) -> Result<usize, serde_json::Error> {
    let room = buffer.len();
    let mut rest = buffer;
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut rest, Compact))?;
    Ok(room - rest.len())
}

/// A vote, to be serialised through [`Compact`].
pub(crate) struct AsJson<'a>(pub(crate) &'a Vote);

impl Serialize for AsJson<'_> {
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
struct Compact;

impl Formatter for Compact {
    #[inline]
    fn write_u64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        writer.write_all(b"\"")?;
        CompactFormatter.write_u64(writer, value)?;
        writer.write_all(b"\"")
    }

    #[inline]
    fn write_byte_array<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: &[u8]) -> io::Result<()> {
        match value.len() {
            32 => writer.write_all(&quoted::<32, 68>(value)?),
            64 => writer.write_all(&quoted::<64, 132>(value)?),
            _ => CompactFormatter.write_byte_array(writer, value),
        }
    }
}

/// The JSON string of `N` bytes in hex, quotes and prefix included: `QUOTED` is `2 * N + 4`.
#[inline]
fn quoted<const N: usize, const QUOTED: usize>(bytes: &[u8]) -> io::Result<[u8; QUOTED]> {
    const { assert!(QUOTED == 2 * N + 4) };
    let mut text = [b'"'; QUOTED];
    text[1..3].copy_from_slice(b"0x");
    const_hex::encode_to_slice(bytes, &mut text[3..QUOTED - 1]).map_err(io::Error::other)?;
    Ok(text)
}
