//! A ZAP runtime in its own right: zero-copy reader, builder, schema parser, code generator. It knows nothing of the rest
//! of this crate. The wire format is written down in `docs/zap-wire.md`; golden bytes of the reference runtime are in
//! `tests/golden/zap/`.
//!
//! | to | take |
//! | --- | --- |
//! | read any message by offsets, leniently | [`Message`], [`Object`], [`List`] |
//! | write any message by offsets | [`Builder`] |
//! | turn a schema into typed views and writers | [`schema::parse`], [`codegen::generate`], or `votebench zapc` |
//! | read and write typed | what was generated, as `votebench::schema::generated::vote_zap` was |
//!
//! # Example
//! A message with a number, a text and a list, written and read back by the offsets that its author chose:
//!
//! ```
//! use votebench::zap::{Builder, Message};
//!
//! let mut builder = Builder::new();
//! let heights = builder.list_u64(&[11, 12]); // a list lies where it is started: before the object
//! let mut object = builder.object(24);
//! object.set_u64(0, 42).set_text(8, "votes").set_list(16, heights);
//! let root = object.finish();
//! let bytes = builder.finish(root)?;
//! assert_eq!(bytes.len(), 16 + 2 * 8 + 24 + 5);
//!
//! let object = Message::parse(bytes)?.root(); // checks the 16 bytes of the header, and nothing else
//! assert_eq!(object.u64(0), 42);
//! assert_eq!(object.text(8), Some("votes"));
//! assert_eq!(object.list(16).u64(1), 12);
//! assert_eq!(object.u64(1_000), 0); // what does not lie in the message reads as zero
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
pub mod codegen;
mod error;
pub mod layout;
mod list;
mod list_builder;
mod object_builder;
mod reader;
pub mod schema;

pub use builder::{Builder, ListRef, ObjectRef};
pub use error::{BuildError, ParseError, ViewError};
pub use list::{Element, Elements, ElementsIter, Entries, List};
pub use list_builder::ListBuilder;
pub use object_builder::ObjectBuilder;
pub use reader::{Message, Object};

/// What every message starts with: "ZAP" and a zero byte.
pub const MAGIC: [u8; 4] = *b"ZAP\0";

/// Bytes of the header, behind which the data segment starts.
pub const HEADER_BYTES: usize = 16;

/// Objects and lists start at multiples of this many bytes from the start of the message when written; a reader does not
/// ask for it.
pub const ALIGNMENT: usize = 8;

/// The version of a message's header. What follows the header is the same in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// Version 1, which writers emit unless asked otherwise.
    #[default]
    V1,
    /// Version 2.
    V2,
}

impl Version {
    /// The number in the header.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }
}

/// The flags of a message's header: three bits, and in the high byte a message type where a protocol uses one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Bit 0: what follows the header is compressed.
    pub const COMPRESSED: Self = Self(1);
    /// Bit 1: what follows the header is encrypted.
    pub const ENCRYPTED: Self = Self(2);
    /// Bit 2: the message is signed.
    pub const SIGNED: Self = Self(4);

    /// No flag, and a message type in the high byte.
    #[inline]
    #[must_use]
    pub const fn of_type(message_type: u8) -> Self {
        Self(u16::from_le_bytes([0, message_type]))
    }

    /// The message type in the high byte.
    #[inline]
    #[must_use]
    pub const fn message_type(self) -> u8 {
        self.0.to_le_bytes()[1]
    }

    /// Whether any bit of `other` is set.
    #[inline]
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The bits of both.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
