//! The buffer that the FlatBuffers codecs build their messages in: of fixed size, inside the codec, never grown. The crate
//! lets its builder be given such an allocator; with a length that the compiler knows, most of the builder's own bounds
//! checks fall away.

use std::fmt;
use std::ops::{Deref, DerefMut};

use flatbuffers::{Allocator, FlatBufferBuilder};

/// More than the largest message of any of the layouts.
const CAPACITY: usize = 256;

/// A builder over a buffer of fixed size.
pub(super) type Builder = FlatBufferBuilder<'static, Buffer>;

/// A builder that never allocates for its message.
pub(super) fn builder() -> Builder {
    FlatBufferBuilder::new_in(Buffer([0; CAPACITY]))
}

/// The buffer. Aligned to its own size it crosses no page, and lies over the same cache lines in every process
/// ([`buffer`](super::buffer) says what that is worth).
#[repr(align(256))]
pub(super) struct Buffer([u8; CAPACITY]);

/// A message larger than the buffer: it cannot come from a vote.
#[derive(Debug)]
pub(super) struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message is larger than its buffer of fixed size")
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

// SAFETY: the buffer dereferences to the same zero-initialised bytes at every call, `len` is their number, and it never
// claims to have grown.
#[expect(unsafe_code, reason = "the crate's trait for a builder's memory is unsafe to implement")]
unsafe impl Allocator for Buffer {
    type Error = Full;

    #[cold]
    fn grow_downwards(&mut self) -> Result<(), Full> {
        Err(Full)
    }

    #[inline(always)]
    fn len(&self) -> usize {
        CAPACITY
    }
}
