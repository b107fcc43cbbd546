//! The lenient, zero-copy reader: [`Message`] and [`Object`]. Owns every rule of what damaged bytes read as; lists are in
//! [`list`](super::list).
//!
//! Parsing looks at the 16 bytes of the header and nothing else. Every later access checks its own bounds, and what does
//! not lie in the message reads as zero, absent or null: never an error, never a panic, and never a byte from outside. Who
//! needs "all or nothing" takes a generated view, or [`Object::section`].

use std::str::Utf8Error;

use super::layout::part;
use super::list::List;
use super::{Flags, HEADER_BYTES, MAGIC, ParseError, Version, ViewError};

/// A ZAP message whose header is sound. It borrows the bytes; copying it copies no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Exactly `size` bytes, at least a header: what follows them is not part of the message.
    bytes: &'a [u8],
    /// The header's second word: version, and flags above it.
    version_flags: u32,
    /// The header's third word.
    root_offset: u32,
}

impl<'a> Message<'a> {
    /// Checks the header, in this order: at least 16 bytes, magic, version 1 or 2, a size of at least 16 and at most the
    /// bytes given. Bytes behind the size are cut off.
    ///
    /// # Errors
    /// The first check that fails.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(ParseError::BufferTooSmall);
        };
        let [magic, version_flags, root_offset, size] = words(header);
        if magic != u32::from_le_bytes(MAGIC) {
            return Err(ParseError::InvalidMagic);
        }
        if (version_flags & 0xffff).wrapping_sub(1) > 1 {
            return Err(ParseError::UnsupportedVersion);
        }
        match bytes.get(..to_usize(size)) {
            Some(bytes) if bytes.len() >= HEADER_BYTES => Ok(Self { bytes, version_flags, root_offset }),
            _ => Err(ParseError::BufferTooSmall),
        }
    }

    /// The message's bytes, header included, without anything that follows them.
    #[inline]
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The message's size in bytes, header included.
    #[inline]
    #[must_use]
    pub const fn size(self) -> usize {
        self.bytes.len()
    }

    /// The version of the header.
    #[inline]
    #[must_use]
    pub const fn version(self) -> Version {
        if self.version_flags & 2 == 0 { Version::V1 } else { Version::V2 }
    }

    /// The flags of the header, as they are: no flag changes how the rest is read.
    #[inline]
    #[must_use]
    pub const fn flags(self) -> Flags {
        let [_, _, low, high] = self.version_flags.to_le_bytes();
        Flags(u16::from_le_bytes([low, high]))
    }

    /// The root offset of the header, unchecked.
    #[inline]
    #[must_use]
    pub const fn root_offset(self) -> u32 {
        self.root_offset
    }

    /// The root object, wherever the header says that it lies: inside the header and unaligned are read like any other
    /// place, and outside the message everything reads as zero.
    #[inline]
    #[must_use]
    pub fn root(self) -> Object<'a> {
        Object { message: self.bytes, position: to_usize(self.root_offset()) }
    }

    /// The root object where its fixed section of `N` bytes lies wholly behind the header and inside the message: what
    /// generated views are made from.
    ///
    /// # Errors
    /// [`ViewError::RootOutOfBounds`] where the root offset is below 16 or not below the size, else
    /// [`ViewError::TruncatedObject`] where the section does not end within the message.
    #[inline]
    pub fn root_section<const N: usize>(self) -> Result<(Object<'a>, &'a [u8; N]), ViewError> {
        match section(self.bytes, self.root_offset) {
            Some(section) => Ok((self.root(), section)),
            None if self.has_root() => Err(ViewError::TruncatedObject),
            None => Err(ViewError::RootOutOfBounds),
        }
    }

    /// The root's fixed section of `N` bytes, where `bytes` are exactly one message, none of the flags `refused` is set, and
    /// the section lies wholly behind the header: [`parse`](Self::parse), [`flags`](Self::flags),
    /// [`root_section`](Self::root_section) and a comparison of the sizes in one, without a reason where it is none.
    ///
    /// What a connection delivers is one message in a frame of its own, so this is all that a receiver asks.
    #[inline]
    #[must_use]
    pub fn exact_root_section<const N: usize>(bytes: &'a [u8], refused: Flags) -> Option<&'a [u8; N]> {
        let [magic, version_flags, root_offset, size] = words(bytes.first_chunk()?);
        if to_usize(size) != bytes.len() || magic != u32::from_le_bytes(MAGIC) {
            return None;
        }
        if (version_flags & 0xffff).wrapping_sub(1) > 1 || version_flags & u32::from(refused.0) << 16 != 0 {
            return None;
        }
        section(bytes, root_offset)
    }

    /// Whether the root starts in the data segment.
    #[inline]
    fn has_root(self) -> bool {
        (HEADER_BYTES..self.bytes.len()).contains(&to_usize(self.root_offset))
    }
}

/// An object: a place in a message from which fields are read by offset. Null where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object<'a> {
    /// The whole message, so that slots can be followed; empty where the object is null, so that everything is absent.
    pub(super) message: &'a [u8],
    pub(super) position: usize,
}

macro_rules! scalars {
    ($($name:ident: $type:ty),* $(,)?) => {$(
        #[doc = concat!("The `", stringify!($type), "` at offset `at`; 0 where it does not lie in the message.")]
        #[inline]
        #[must_use]
        pub fn $name(self, at: usize) -> $type {
            self.bytes_fixed(at).map_or(<$type>::default(), |bytes| <$type>::from_le_bytes(*bytes))
        }
    )*};
}

impl<'a> Object<'a> {
    /// The null object: every field of it reads as zero, absent or null.
    pub const NULL: Self = Self { message: &[], position: 0 };

    /// Whether there is no object.
    #[inline]
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.message.is_empty()
    }

    /// Where the object lies, in bytes from the start of the message.
    #[inline]
    #[must_use]
    pub const fn position(self) -> usize {
        self.position
    }

    scalars! {
        u8: u8, u16: u16, u32: u32, u64: u64,
        i8: i8, i16: i16, i32: i32, i64: i64,
        f32: f32, f64: f64,
    }

    /// The `bool` at offset `at`: any byte but 0 is true; false where it does not lie in the message.
    #[inline]
    #[must_use]
    pub fn bool(self, at: usize) -> bool {
        self.u8(at) != 0
    }

    /// The `N` bytes inline at offset `at` (ids, keys, signatures); absent where they do not all lie in the message.
    #[inline]
    #[must_use]
    pub fn bytes_fixed<const N: usize>(self, at: usize) -> Option<&'a [u8; N]> {
        self.message.get(self.position.saturating_add(at)..)?.first_chunk()
    }

    /// The `N` bytes from the object's position: its whole fixed section, for reading all fields after one check.
    #[inline]
    #[must_use]
    pub fn section<const N: usize>(self) -> Option<&'a [u8; N]> {
        if self.is_null() { None } else { self.bytes_fixed(0) }
    }

    /// The `bytes` whose slot is at offset `at`. Absent where the slot's offset is 0, where they would start inside the
    /// header, and where they do not end within the message.
    #[inline]
    #[must_use]
    pub fn bytes(self, at: usize) -> Option<&'a [u8]> {
        let offset = self.u32(at);
        if offset == 0 {
            return None;
        }
        // An offset other than 0 was read, so the slot lies in the message; and in 64 bits nothing wraps around.
        let start = u64::try_from(self.position + at).ok()? + u64::from(offset);
        let end = start + u64::from(self.u32(at + 4));
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        if start < HEADER_BYTES { None } else { self.message.get(start..end) }
    }

    /// The `text` whose slot is at offset `at`: as [`bytes`](Self::bytes), and absent too where it is not UTF-8.
    #[inline]
    #[must_use]
    pub fn text(self, at: usize) -> Option<&'a str> {
        self.try_text(at).ok().flatten()
    }

    /// As [`text`](Self::text), telling absent from damaged.
    ///
    /// # Errors
    /// Where the bytes are there and are not UTF-8.
    #[inline]
    pub fn try_text(self, at: usize) -> Result<Option<&'a str>, Utf8Error> {
        self.bytes(at).map(str::from_utf8).transpose()
    }

    /// The nested object whose slot is at offset `at`; null where the slot's offset is 0, or leads into the header or to
    /// the message's end or behind it. Its own fields check their own bounds.
    #[inline]
    #[must_use]
    pub fn object(self, at: usize) -> Self {
        self.target(at).map_or(Self::NULL, |position| Self { message: self.message, position })
    }

    /// The list whose slot is at offset `at`; null as a nested object is, and where its length is above the message's
    /// size.
    #[inline]
    #[must_use]
    pub fn list(self, at: usize) -> List<'a> {
        let Some(position) = self.target(at) else {
            return List::NULL;
        };
        let length = to_usize(self.u32(at + 4));
        if length > self.message.len() { List::NULL } else { List { message: self.message, position, length } }
    }

    /// Where the signed offset of the slot at `at` leads: somewhere in the data segment, or nowhere.
    #[inline]
    fn target(self, at: usize) -> Option<usize> {
        let offset = self.i32(at);
        if offset == 0 {
            return None;
        }
        let slot = i64::try_from(self.position + at).ok()?;
        let target = usize::try_from(slot + i64::from(offset)).ok()?;
        (target >= HEADER_BYTES && target < self.message.len()).then_some(target)
    }
}

/// The `N` bytes from `offset` on, behind the header and inside of the message.
#[inline]
fn section<const N: usize>(message: &[u8], offset: u32) -> Option<&[u8; N]> {
    let offset = to_usize(offset);
    if offset < HEADER_BYTES { None } else { message.get(offset..offset.checked_add(N)?)?.first_chunk() }
}

/// The header's four words.
#[inline]
const fn words(header: &[u8; HEADER_BYTES]) -> [u32; 4] {
    [
        u32::from_le_bytes(*part::<0, 4, HEADER_BYTES>(header)),
        u32::from_le_bytes(*part::<4, 4, HEADER_BYTES>(header)),
        u32::from_le_bytes(*part::<8, 4, HEADER_BYTES>(header)),
        u32::from_le_bytes(*part::<12, 4, HEADER_BYTES>(header)),
    ]
}

/// A 32-bit offset as an index; on a machine of 16 bits, an index that lies in no message.
#[inline]
pub(super) fn to_usize(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
