//! The memory that the Cap'n Proto codecs build their messages in: one buffer for the segment table and the one segment
//! behind it, so that a finished message lies framed where it was built and nothing is copied to send it.
//!
//! The crate asks whoever wishes to provide memory of their own to implement [`Allocator`], which is `unsafe`; the crate's
//! own allocators give a segment away until the builder is dropped and wipe it then, so that a message has to be copied
//! out. This one wipes before the next message instead.

use std::ptr::NonNull;

use capnp::Word;
use capnp::message::{Allocator, Builder, HeapAllocator};

/// Words of the buffer: one of segment table, and twice what any of the layouts takes.
const WORDS: usize = 64;

/// Words that a segment can have.
const SEGMENT_WORDS: u32 = 63;

/// Bytes of the segment table of a message of one segment.
const TABLE_BYTES: usize = 8;

/// The buffer. Aligned to its own size it crosses no page, and lies over the same cache lines in every process
/// ([`buffer`](super::buffer) says what that is worth).
#[repr(align(512))]
struct Buffer([Word; WORDS]);

/// One buffer, for one message at a time.
pub(super) struct Memory {
    /// The words of a boxed [`Buffer`], owned. A pointer, because the library keeps one to the same words while it builds.
    start: NonNull<Word>,
    /// Whether the segment is given away.
    lent: bool,
    /// Words of the segment that a message was written to.
    used: u32,
    /// For segments after the first, which no vote needs; the trait cannot refuse them.
    heap: HeapAllocator,
}

// SAFETY: the pointer is the only one to words that this struct owns.
#[expect(unsafe_code, reason = "a pointer that owns its memory may change threads")]
unsafe impl Send for Memory {}

impl Memory {
    pub(super) fn new() -> Self {
        let buffer = Box::new(Buffer([capnp::word(0, 0, 0, 0, 0, 0, 0, 0); WORDS]));
        Self { start: NonNull::from(&mut Box::leak(buffer).0).cast(), lent: false, used: 0, heap: HeapAllocator::new() }
    }

    /// Writes the table of one segment of `words` words and gives the framed message.
    ///
    /// While a builder holds the segment, what it writes later is not seen through this borrow: it needs `&mut self`.
    #[inline(always)]
    pub(super) fn framed(&mut self, words: usize) -> &[u8] {
        let words = words.min(SEGMENT_WORDS as usize);
        // SAFETY: the buffer has `WORDS` words, all initialised, and more than `words` of them.
        #[expect(unsafe_code, reason = "the buffer is reached by the pointer that the library has, too")]
        let message = unsafe { NonNull::slice_from_raw_parts(self.start, 1 + words).as_mut() };
        let message = Word::words_to_bytes_mut(message);
        message[..TABLE_BYTES].copy_from_slice(&table_of(words));
        message
    }

    #[inline(always)]
    fn segment(&self) -> NonNull<u8> {
        // SAFETY: the buffer has more than one word.
        #[expect(unsafe_code, reason = "pointer arithmetic inside the buffer")]
        unsafe {
            self.start.add(1).cast()
        }
    }
}

/// The segment table of a message of one segment: segments less one, then the segment's words, 32 bits each.
#[inline(always)]
fn table_of(words: usize) -> [u8; TABLE_BYTES] {
    ((words as u64) << 32).to_le_bytes()
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a boxed `Buffer` in `new`, and a builder that has lent the segment is gone
        // before its allocator is.
        #[expect(unsafe_code, reason = "gives the Box back")]
        drop(unsafe { Box::from_raw(self.start.cast::<Buffer>().as_ptr()) });
    }
}

// SAFETY: a segment is zero when it is given away, because the words that the last message was written to, which the
// library reports, are wiped before; it is valid until `self` is dropped; it is given away once at a time; words are
// 8-byte aligned. Segments after the first are the library's own.
#[expect(unsafe_code, reason = "the crate's trait for a builder's memory is unsafe to implement")]
unsafe impl Allocator for Memory {
    #[inline(always)]
    fn allocate_segment(&mut self, minimum_size: u32) -> (NonNull<u8>, u32) {
        if self.lent || minimum_size > SEGMENT_WORDS {
            return self.heap.allocate_segment(minimum_size);
        }
        let segment = self.segment();
        // SAFETY: `used` is at most the size that was given away.
        unsafe { segment.write_bytes(0, 8 * self.used as usize) };
        self.lent = true;
        (segment, SEGMENT_WORDS)
    }

    #[inline(always)]
    unsafe fn deallocate_segment(&mut self, segment: NonNull<u8>, words: u32, used: u32) {
        if segment == self.segment() {
            self.lent = false;
            self.used = used.min(SEGMENT_WORDS);
        } else {
            // SAFETY: by the trait's contract it came from `allocate_segment`, and not from our buffer.
            unsafe { self.heap.deallocate_segment(segment, words, used) };
        }
    }
}

/// One message that is built once and then overwritten, over and over, in place.
pub(super) struct Standing {
    builder: Builder<Memory>,
    /// The framed message, inside the builder's memory.
    message: NonNull<[u8]>,
}

// SAFETY: the pointer leads into memory that the builder, which may change threads, owns.
#[expect(unsafe_code, reason = "a pointer into memory that the same struct owns may change threads")]
unsafe impl Send for Standing {}

impl Standing {
    /// Builds the message for the first time. It must fit one segment.
    pub(super) fn new(build: impl FnOnce(&mut Builder<Memory>)) -> Self {
        let memory = Memory::new();
        let start = memory.start;
        let mut builder = Builder::new(memory);
        build(&mut builder);
        let words = builder.size_in_words();
        assert!(
            builder.get_segments_for_output().len() == 1 && words <= SEGMENT_WORDS as usize,
            "a vote is one segment"
        );
        // SAFETY: the table's eight bytes are the first of the buffer, which the builder now owns and does not look at.
        #[expect(unsafe_code, reason = "the table lies in front of the memory that the library knows of")]
        unsafe {
            start.cast().write(table_of(words));
        }
        Self { builder, message: NonNull::slice_from_raw_parts(start.cast(), TABLE_BYTES + 8 * words) }
    }

    /// The builder. What is written must not make the message longer.
    #[inline(always)]
    pub(super) fn builder(&mut self) -> &mut Builder<Memory> {
        &mut self.builder
    }

    /// The framed message as it now is.
    #[inline(always)]
    pub(super) fn message(&mut self) -> &[u8] {
        // SAFETY: the bytes are initialised, and valid as long as the builder, which is never replaced; nothing writes to
        // them while they are borrowed, because that needs `&mut self`.
        #[expect(unsafe_code, reason = "the library gives the segment only without the table in front of it")]
        unsafe {
            self.message.as_ref()
        }
    }
}
