//! Why a message was refused, in any wire format. Owns [`CodecError`] and the names of its kinds; formats map their
//! libraries' errors here by value, never by matching on a text.

use std::fmt;

use crate::vote::Field;
use crate::vote::json::VoteJsonError;

/// Why bytes are not a vote, or a vote could not be written.
///
/// One machine word, and the [`Reason`] behind it: a result then comes back in registers, for every row, and the good case
/// pays nothing for what the bad one has to say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(Box<Reason>);

impl CodecError {
    /// What exactly is wrong.
    #[must_use]
    pub const fn reason(&self) -> &Reason {
        &self.0
    }

    /// The error's kind as the command line prints it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.0.kind()
    }
}

// A constructor for each reason. All are cold and never inlined, and take what fits a register: a decoder that might refuse
/// keeps nothing of the refusal in its own code and stack.
macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident($($value:ident: $type:ty),*) = $reason:expr;)*) => {
        impl CodecError {$(
            $(#[$doc])*
            #[cold]
            #[inline(never)]
            #[must_use]
            pub fn $name($($value: $type),*) -> Self {
                Self(Box::new($reason))
            }
        )*}
    };
}

constructors! {
    /// [`Reason::InvalidHex`] in `field`.
    invalid_hex(field: Field) = Reason::InvalidHex { field };
    /// [`Reason::MissingField`]: `field`.
    missing_field(field: Field) = Reason::MissingField { field };
    /// [`Reason::WrongLength`]: `field` has `actual` bytes.
    wrong_length(field: Field, actual: usize) = Reason::WrongLength { field, actual };
    /// [`Reason::OutOfRange`]: `field`.
    out_of_range(field: Field) = Reason::OutOfRange { field };
    /// [`Reason::BufferTooSmall`].
    buffer_too_small() = Reason::BufferTooSmall;
    /// [`Reason::InvalidMagic`].
    invalid_magic() = Reason::InvalidMagic;
    /// [`Reason::UnsupportedVersion`].
    unsupported_version() = Reason::UnsupportedVersion;
    /// [`Reason::UnsupportedFlags`].
    unsupported_flags() = Reason::UnsupportedFlags;
    /// [`Reason::RootOutOfBounds`].
    root_out_of_bounds() = Reason::RootOutOfBounds;
    /// [`Reason::TruncatedObject`].
    truncated_object() = Reason::TruncatedObject;
    /// [`Reason::TrailingBytes`].
    trailing_bytes() = Reason::TrailingBytes;
    /// [`Reason::InvalidEnvelope`]: what is wrong with it.
    invalid_envelope(envelope: Envelope) = Reason::InvalidEnvelope(envelope);
    /// [`Reason::Malformed`]: what the format's own `parser` gave as its reason.
    malformed(parser: &'static str, reason: impl fmt::Display) =
        Reason::Malformed(Malformed { parser, reason: in_one_line(&reason.to_string()) });
}

impl From<VoteJsonError> for CodecError {
    #[cold]
    #[inline(never)]
    fn from(error: VoteJsonError) -> Self {
        Self(Box::new(match error {
            VoteJsonError::Syntax(error) => {
                Reason::InvalidJson(Malformed { parser: "serde_json", reason: error.to_string() })
            }
            VoteJsonError::InvalidHex { field } => Reason::InvalidHex { field },
            VoteJsonError::MissingField { field } => Reason::MissingField { field },
            VoteJsonError::WrongLength { field, actual } => Reason::WrongLength { field, actual },
            VoteJsonError::OutOfRange { field } => Reason::OutOfRange { field },
        }))
    }
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A byte field in a text format is not hexadecimal.
    #[error("{field} is not hexadecimal")]
    InvalidHex {
        /// The field.
        field: Field,
    },
    /// A text format's message is not JSON, or not a JSON object of the expected shape.
    #[error("{0}")]
    InvalidJson(Malformed),
    /// A field that every vote has is absent.
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
    /// A number does not fit the vote's field.
    #[error("{field} is out of range: it takes {} byte(s), unsigned", field.bytes())]
    OutOfRange {
        /// The field.
        field: Field,
    },
    /// Fewer bytes than the format's header, or than the header says.
    #[error("the message is shorter than its format or its header says")]
    BufferTooSmall,
    /// A ZAP message does not start with its magic.
    #[error("the message does not start with the ZAP magic")]
    InvalidMagic,
    /// A ZAP message of a version other than 1 and 2.
    #[error("the ZAP version is neither 1 nor 2")]
    UnsupportedVersion,
    /// A ZAP message that says it is compressed or encrypted.
    #[error("the ZAP message is flagged as compressed or encrypted")]
    UnsupportedFlags,
    /// A ZAP root that lies inside the header or outside the message.
    #[error("the root object lies inside the header or outside the message")]
    RootOutOfBounds,
    /// A ZAP root whose fixed section does not end within the message.
    #[error("the root object does not end within the message")]
    TruncatedObject,
    /// Bytes behind the message's end, in a format that knows where it ends.
    #[error("bytes follow the end of the message")]
    TrailingBytes,
    /// The protocol's own header or prefix around the vote is wrong.
    #[error("the envelope is wrong: {0}")]
    InvalidEnvelope(Envelope),
    /// The format's own parser refused the bytes.
    #[error("{0}")]
    Malformed(Malformed),
}

impl Reason {
    /// The error's kind as the command line prints it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::InvalidHex { .. } => "invalid-hex",
            Self::InvalidJson(_) => "invalid-json",
            Self::MissingField { .. } => "missing-field",
            Self::WrongLength { .. } => "wrong-length",
            Self::OutOfRange { .. } => "out-of-range",
            Self::BufferTooSmall => "buffer-too-small",
            Self::InvalidMagic => "invalid-magic",
            Self::UnsupportedVersion => "unsupported-version",
            Self::UnsupportedFlags => "unsupported-flags",
            Self::RootOutOfBounds => "root-out-of-bounds",
            Self::TruncatedObject => "truncated-object",
            Self::TrailingBytes => "trailing-bytes",
            Self::InvalidEnvelope(_) => "invalid-envelope",
            Self::Malformed(_) => "malformed",
        }
    }
}

/// What a format's own parser said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The parser, by its crate's name.
    pub parser: &'static str,
    /// Its words.
    pub reason: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} refused the message: {}", self.parser, self.reason)
    }
}

/// What is wrong with a protocol's envelope around the vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Envelope {
    /// Fewer bytes than the envelope itself has.
    #[error("it is cut short")]
    Short,
    /// Its length does not agree with the bytes that follow.
    #[error("its length does not agree with the bytes that follow")]
    Length,
    /// A compression flag that was not negotiated.
    #[error("it is flagged as compressed")]
    Compressed,
    /// A kind of message that is neither vote nor answer.
    #[error("its kind is neither vote nor answer")]
    Kind,
    /// Flags that no version defines.
    #[error("its flags are not zero")]
    Flags,
    /// A protocol version other than the one spoken.
    #[error("its protocol version is another one")]
    Version,
    /// A method that the service does not have.
    #[error("its method is unknown")]
    Method,
    /// A request's id that is neither a whole number nor a string.
    #[error("its id is neither a whole number nor a string")]
    Id,
    /// A part that every request has is absent.
    #[error("a part of it is missing")]
    Missing,
}

/// What a library said, without its line breaks and the full stop that follows from ours.
fn in_one_line(reason: &str) -> String {
    let words: Vec<_> = reason.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_owned()
}

/// `bytes` as the fixed array that `field` is, or the error that names it.
#[inline]
pub(crate) fn fixed<const N: usize>(field: Field, bytes: &[u8]) -> Result<&[u8; N], CodecError> {
    bytes.try_into().map_err(|_| CodecError::wrong_length(field, bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_fit_two_registers() {
        assert_eq!(size_of::<Result<(), CodecError>>(), 8);
        assert_eq!(size_of::<Result<crate::vote::Digest, CodecError>>(), 16);
        assert_eq!(size_of::<Result<&[u8], CodecError>>(), 16);
    }

    #[test]
    fn names_the_field() {
        let error = fixed::<32>(Field::VoterId, &[0; 31]).unwrap_err();
        assert_eq!(error.to_string(), "voter_id has 31 bytes instead of 32");
        assert_eq!(error.kind(), "wrong-length");
    }
}
