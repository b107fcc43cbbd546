//! What the FlatBuffers codecs of all layouts share: how a refusal of the library's verifier becomes a [`CodecError`], and
//! the bounds-checked walk over a table that the variants called `-unverified` read by.

use flatbuffers::InvalidFlatbuffer;

use super::CodecError;
use crate::vote::Field;

/// The error for what the verifier said: a required field by its name, the rest in the verifier's words.
#[cold]
pub(super) fn refused(error: InvalidFlatbuffer) -> CodecError {
    if let InvalidFlatbuffer::MissingRequiredField { required, .. } = &error
        && let Some(field) = Field::ALL.into_iter().find(|field| field.name() == required)
    {
        return CodecError::missing_field(field);
    }
    CodecError::malformed("flatbuffers", error)
}

/// A root table and its vtable, for reading without the verifier.
///
/// What is checked is exactly: that the table and its vtable begin inside the message, that the vtable ends inside it, and
/// of each field that is asked for that it lies inside with its full width. Not checked are alignment (scalars are read
/// by copying), the table's own idea of its size, and fields not asked for. A field must lie in the table itself, as
/// scalars and structs do, and not be an offset to something else.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    /// The message from where the table begins.
    bytes: &'a [u8],
    /// The vtable: its length, the table's, and for each field its place in the table, or zero.
    vtable: &'a [u8],
}

impl<'a> Table<'a> {
    /// Finds the root table.
    pub(super) fn root(message: &'a [u8]) -> Result<Self, CodecError> {
        let (bytes, vtable) = root(message).ok_or_else(outside)?;
        let length = vtable.first_chunk().map(|length| usize::from(u16::from_le_bytes(*length)));
        let vtable = length.and_then(|length| vtable.get(..length)).ok_or_else(outside)?;
        Ok(Self { bytes, vtable })
    }

    /// The field with that index in the schema, or `None` where the table does not have it.
    pub(super) fn optional<const WIDTH: usize>(self, index: usize) -> Result<Option<&'a [u8; WIDTH]>, CodecError> {
        // An entry that the vtable is too short for is a field that the writer left out or did not know.
        match self.vtable.get(4 + 2 * index..).and_then(|entries| entries.first_chunk()) {
            None | Some([0, 0]) => Ok(None),
            Some(place) => field(self.bytes, u16::from_le_bytes(*place)).map(Some).ok_or_else(outside),
        }
    }

    /// The field with that index in the schema, which has to be there.
    pub(super) fn required<const WIDTH: usize>(
        self,
        index: usize,
        field: Field,
    ) -> Result<&'a [u8; WIDTH], CodecError> {
        self.optional(index)?.ok_or_else(|| CodecError::missing_field(field))
    }
}

/// A root table whose vtable has all the entries of the schema and no more, `ENTRIES` bytes, and whose fields are all
/// there: what nearly every message is. With one test a field, and no error to make, it takes half of the time of
/// [`Table`]; of whatever is not so it only says `None`.
#[derive(Clone, Copy)]
pub(super) struct FullTable<'a, const ENTRIES: usize> {
    bytes: &'a [u8],
    vtable: &'a [u8; ENTRIES],
}

impl<'a, const ENTRIES: usize> FullTable<'a, ENTRIES> {
    /// Finds the root table.
    #[inline(always)]
    pub(super) fn root(message: &'a [u8]) -> Option<Self> {
        let (bytes, vtable) = root(message)?;
        let vtable = vtable.first_chunk::<ENTRIES>()?;
        (usize::from(u16::from_le_bytes([vtable[0], vtable[1]])) == ENTRIES).then_some(Self { bytes, vtable })
    }

    /// The field with that index in the schema.
    #[inline(always)]
    pub(super) fn field<const WIDTH: usize>(self, index: usize) -> Option<&'a [u8; WIDTH]> {
        match u16::from_le_bytes([self.vtable[4 + 2 * index], self.vtable[5 + 2 * index]]) {
            0 => None,
            place => field(self.bytes, place),
        }
    }
}

/// The message from its root table on, and from that table's vtable on.
#[inline(always)]
fn root(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let root = u32::from_le_bytes(*message.first_chunk()?) as usize;
    let table = message.get(root..)?;
    let back = i32::from_le_bytes(*table.first_chunk()?);
    let vtable = message.get(root.wrapping_add_signed(-(back as isize))..)?;
    Some((table, vtable))
}

/// The field at the place that a vtable gives.
#[inline(always)]
fn field<const WIDTH: usize>(table: &[u8], place: u16) -> Option<&[u8; WIDTH]> {
    let place = usize::from(place);
    table.get(place..place + WIDTH)?.first_chunk()
}

#[cold]
fn outside() -> CodecError {
    CodecError::malformed("votebench", "an offset of the FlatBuffers table points outside the message")
}
