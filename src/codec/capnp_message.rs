//! What the Cap'n Proto codecs share: how a received message is taken apart into segments, and how the library's errors
//! become [`CodecError`]s.

use capnp::message::{Reader, ReaderOptions, ReaderSegments};
use capnp::serialize::NoAllocSliceSegments;
use capnp::{Error, ErrorKind};

use super::CodecError;

/// The library's own limits: 8 Mi words traversed, 64 levels of nesting. They count anew for every message, because every
/// message gets a reader of its own.
pub(super) const OPTIONS: ReaderOptions = ReaderOptions::new();

/// The one segment of a message, as nearly all messages have it.
pub(super) struct OneSegment<'a>(&'a [u8]);

impl ReaderSegments for OneSegment<'_> {
    #[inline(always)]
    fn get_segment(&self, index: u32) -> Option<&[u8]> {
        (index == 0).then_some(self.0)
    }

    #[inline(always)]
    fn len(&self) -> usize {
        1
    }
}

/// A framed message of exactly one segment, or `None` for anything else.
#[inline(always)]
pub(super) fn one_segment(message: &[u8]) -> Option<Reader<OneSegment<'_>>> {
    let (table, segment) = message.split_first_chunk()?;
    let table = u64::from_le_bytes(*table);
    // The low half is the number of segments less one, the high half the segment's words.
    (table == (segment.len() as u64 / 8) << 32 && segment.len().is_multiple_of(8))
        .then(|| Reader::new(OneSegment(segment), OPTIONS))
}

/// A framed message of any number of segments, by the library's own parser, which does not allocate.
#[cold]
pub(super) fn any_segments(mut message: &[u8]) -> Result<Reader<NoAllocSliceSegments<'_>>, CodecError> {
    let segments = NoAllocSliceSegments::from_slice(&mut message, OPTIONS).map_err(refused)?;
    if !message.is_empty() {
        return Err(CodecError::trailing_bytes());
    }
    Ok(Reader::new(segments, OPTIONS))
}

/// The error for what the library said.
#[cold]
pub(super) fn refused(error: Error) -> CodecError {
    match error.kind {
        ErrorKind::MessageEndsPrematurely(..)
        | ErrorKind::EmptySlice
        | ErrorKind::EmptyBuffer
        | ErrorKind::PrematureEndOfFile
        | ErrorKind::PrematureEndOfPackedInput
        | ErrorKind::FailedToFillTheWholeBuffer => CodecError::buffer_too_small(),
        _ => CodecError::malformed("capnp", error),
    }
}
