//! Where the codecs of a fixed message length write: a buffer that lies the same in every process.
//!
//! An allocator may put a small buffer across the end of a page, and then each store that meets that end costs as much as
//! the rest of the message: an encoder was seen to take three times as long, for as long as the process lived. A buffer
//! that starts at a multiple of its own size, rounded up to a power of two, cannot cross a page.

/// A message of `N` bytes, `LEAD` bytes behind a multiple of 256.
///
/// With a lead of 8 the byte fields of a vote, which come behind an 8-byte round, and behind ZAP's header of 16 bytes where
/// there is one, are stored to whole 16-byte pieces, none of which crosses a cache line.
#[derive(Clone, Debug)]
#[repr(C, align(256))]
pub(super) struct Buffer<const LEAD: usize, const N: usize> {
    lead: [u8; LEAD],
    /// The message.
    pub(super) message: [u8; N],
}

impl<const LEAD: usize, const N: usize> Buffer<LEAD, N> {
    /// All zeros.
    pub(super) const fn new() -> Self {
        const { assert!(LEAD + N <= 256) };
        Self { lead: [0; LEAD], message: [0; N] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crosses_no_page() {
        for _ in 0..64 {
            let buffer = Box::new(Buffer::<8, 161>::new());
            let start = buffer.message.as_ptr().addr();
            assert_eq!((start % 16, start / 4096), (8, (start + 160) / 4096));
        }
    }
}
