//! What can be wrong with a ZAP message: [`ParseError`] where it has no readable header, [`ViewError`] where a typed view
//! asks for more than the lenient reader does, [`BuildError`] where a message cannot be written.

use std::fmt;

/// Why bytes are not a ZAP message at all. Nothing but the header is looked at.
///
/// As wide as a pointer: in a result it then takes the place of one whole field of a message, and a compiler need not piece
/// that field together from the error's byte and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum ParseError {
    /// Fewer than 16 bytes, a size field below 16, or a size field above the number of bytes given.
    BufferTooSmall,
    /// The first four bytes are not `5A 41 50 00`.
    InvalidMagic,
    /// The version is neither 1 nor 2.
    UnsupportedVersion,
}

impl ParseError {
    /// The error's name in kebab-case, as the golden vectors have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BufferTooSmall => "buffer-too-small",
            Self::InvalidMagic => "invalid-magic",
            Self::UnsupportedVersion => "unsupported-version",
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BufferTooSmall => "the message is shorter than its header, or than its header says",
            Self::InvalidMagic => "the message does not start with the ZAP magic",
            Self::UnsupportedVersion => "the ZAP version is neither 1 nor 2",
        })
    }
}

impl std::error::Error for ParseError {}

/// Why a message holds no object of the wanted type. Typed views are strict where the lenient reader gives zeros: they
/// exist only where the object's whole fixed section lies in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewError {
    /// The bytes are no message.
    Parse(ParseError),
    /// The root offset lies inside the header, or at or behind the end of the message.
    RootOutOfBounds,
    /// The object starts inside the message, but its fixed section does not end within it.
    TruncatedObject,
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parse(error) => error.fmt(f),
            Self::RootOutOfBounds => f.write_str("the root object lies inside the header or outside the message"),
            Self::TruncatedObject => f.write_str("the object does not end within the message"),
        }
    }
}

impl std::error::Error for ViewError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Parse(error) => Some(error),
            Self::RootOutOfBounds | Self::TruncatedObject => None,
        }
    }
}

impl From<ParseError> for ViewError {
    #[inline]
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}

/// Why a message could not be built. A builder keeps the first error and reports it when the message is finished, so that
/// the many small calls in between need no checking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuildError {
    /// The message would not fit the 32-bit size and offsets of its header and slots.
    TooLarge,
    /// A field was set outside the fixed section that its object was started with.
    OutsideFixedSection {
        /// The field's offset.
        at: usize,
        /// The field's width in bytes.
        width: usize,
        /// The fixed section's size in bytes.
        size: usize,
    },
    /// The elements of one list were not all of the same kind, or structs not all of the same stride.
    MixedElements,
    /// Two values were set apart, or the message was finished as if none had been.
    Apart,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the message does not fit 32-bit offsets"),
            Self::OutsideFixedSection { at, width, size } => {
                write!(f, "a field of {width} bytes at {at} lies outside its object's fixed section of {size} bytes")
            }
            Self::MixedElements => f.write_str("a list has elements of different kinds"),
            Self::Apart => f.write_str("a value that is sent apart is not the only one, or was forgotten"),
        }
    }
}

impl std::error::Error for BuildError {}
