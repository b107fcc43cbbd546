//! The writer: [`Builder`] and [`ObjectBuilder`], over one buffer that is reused from message to message. Owns where things
//! are put and how slots are patched; lists are in [`list_builder`](super::list_builder).
//!
//! Objects and lists start at multiples of 8, an object's whole fixed section is laid down as zeros at once, and its bytes
//! and texts follow, in the order in which they were set, when it is finished. An object borrows the builder while it is
//! open, so nothing else can come in between, and a value can be appended the moment it is set; what is built inside of
//! [`ObjectBuilder::nest`] goes between the section and those values, as in the reference.

use super::layout::header;
use super::{ALIGNMENT, BuildError, Flags, HEADER_BYTES, ListBuilder, Version};

/// Where a finished object lies in the message being built: what its parent's slot, or the header, is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectRef(usize);

/// Where a finished list lies in the message being built, and its number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRef {
    pub(super) position: usize,
    pub(super) length: usize,
}

/// Builds one message after another in a buffer that it keeps.
///
/// ```
/// use votebench::zap::{Builder, Message};
///
/// let mut builder = Builder::new();
/// for round in [7, 8] {
///     builder.reset();
///     let mut vote = builder.object(16);
///     vote.set_u64(0, round);
///     vote.set_bytes(8, b"block");
///     let root = vote.finish();
///     let message = builder.finish(root)?;
///
///     let vote = Message::parse(message)?.root();
///     assert_eq!((vote.u64(0), vote.bytes(8)), (round, Some(&b"block"[..])));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    pub(super) buffer: Vec<u8>,
    /// The values whose slots wait for their object to be finished: those of the open objects, outermost first.
    pending: Vec<Pending>,
    version: Version,
    flags: Flags,
    error: Option<BuildError>,
}

/// A value behind an open object's section: where its slot lies, and how long it is.
#[derive(Clone, Copy, Debug)]
struct Pending {
    slot: usize,
    length: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// A builder of version 1 messages without flags.
    #[must_use]
    pub fn new() -> Self {
        Self::with_buffer(Vec::new())
    }

    /// A builder that builds into `buffer`, whatever it held before.
    #[must_use]
    pub fn with_buffer(buffer: Vec<u8>) -> Self {
        let mut builder = Self { buffer, pending: Vec::new(), version: Version::V1, flags: Flags::NONE, error: None };
        builder.reset();
        builder
    }

    /// Begins a new message, keeping the buffer, the version and the flags.
    #[inline]
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.buffer.resize(HEADER_BYTES, 0);
        self.pending.clear();
        self.error = None;
    }

    /// Chooses the version in the header. The data segment is the same in both.
    #[inline]
    pub fn set_version(&mut self, version: Version) {
        self.version = version;
    }

    /// Chooses the flags in the header.
    #[inline]
    pub fn set_flags(&mut self, flags: Flags) {
        self.flags = flags;
    }

    /// Starts an object with a fixed section of `size` bytes.
    #[inline]
    pub fn object(&mut self, size: usize) -> ObjectBuilder<'_> {
        let position = self.align();
        let end = self.grow(size);
        ObjectBuilder { position, size: end - position, tails: end, pending: self.pending.len(), builder: self }
    }

    /// Starts a list.
    #[inline]
    pub fn list(&mut self) -> ListBuilder<'_> {
        ListBuilder::new(self)
    }

    /// Writes a list of `u8`.
    #[inline]
    pub fn list_u8(&mut self, elements: &[u8]) -> ListRef {
        let position = self.align();
        self.buffer.extend_from_slice(elements);
        ListRef { position, length: elements.len() }
    }

    /// Writes a list of `u32`.
    #[inline]
    pub fn list_u32(&mut self, elements: &[u32]) -> ListRef {
        let position = self.align();
        self.buffer.extend(elements.iter().flat_map(|element| element.to_le_bytes()));
        ListRef { position, length: elements.len() }
    }

    /// Writes a list of `u64`.
    #[inline]
    pub fn list_u64(&mut self, elements: &[u64]) -> ListRef {
        let position = self.align();
        self.buffer.extend(elements.iter().flat_map(|element| element.to_le_bytes()));
        ListRef { position, length: elements.len() }
    }

    /// Writes a list of variable entries: byte strings, texts, or whole ZAP messages.
    #[inline]
    pub fn list_entries<T: AsRef<[u8]>>(&mut self, entries: impl IntoIterator<Item = T>) -> ListRef {
        let mut list = self.list();
        for entry in entries {
            list.push_entry(entry.as_ref());
        }
        list.finish()
    }

    /// Finishes the message with `root` as its root object. The bytes stay until the builder is [`reset`](Self::reset).
    ///
    /// # Errors
    /// The first thing that went wrong since the message was begun.
    #[inline]
    pub fn finish(&mut self, root: ObjectRef) -> Result<&[u8], BuildError> {
        match (self.error, u32::try_from(root.0), u32::try_from(self.buffer.len())) {
            (None, Ok(root), Ok(size)) => {
                let (head, _) = self.buffer.split_at_mut_checked(HEADER_BYTES).ok_or(BuildError::TooLarge)?;
                head.copy_from_slice(&header(self.version, self.flags, root, size));
                Ok(&self.buffer)
            }
            (Some(error), ..) => Err(error),
            _ => Err(BuildError::TooLarge),
        }
    }

    /// Finishes the message and gives its buffer away.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn into_message(mut self, root: ObjectRef) -> Result<Vec<u8>, BuildError> {
        self.finish(root)?;
        Ok(self.buffer)
    }

    /// Pads with zeros to a multiple of 8; where the next byte goes.
    #[inline]
    pub(super) fn align(&mut self) -> usize {
        let position = self.buffer.len().next_multiple_of(ALIGNMENT);
        self.buffer.resize(position, 0);
        position
    }

    /// Appends `size` zeros, unless a message of that size could not be finished anyway; where the next byte goes.
    #[inline]
    fn grow(&mut self, size: usize) -> usize {
        match self.buffer.len().checked_add(size) {
            Some(end) if u32::try_from(end).is_ok() => self.buffer.resize(end, 0),
            _ => self.fail(BuildError::TooLarge),
        }
        self.buffer.len()
    }

    /// Keeps the first error.
    #[cold]
    pub(super) fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }
}

/// An object being built. It is finished when it is dropped; [`finish`](Self::finish) also says where it lies.
#[derive(Debug)]
pub struct ObjectBuilder<'b> {
    builder: &'b mut Builder,
    position: usize,
    size: usize,
    /// Where this object's bytes and texts start: behind its section, and behind what was nested.
    tails: usize,
    /// How many values of enclosing objects wait.
    pending: usize,
}

macro_rules! scalars {
    ($($name:ident: $type:ty),* $(,)?) => {$(
        #[doc = concat!("Sets the `", stringify!($type), "` at offset `at`.")]
        #[inline]
        pub fn $name(&mut self, at: usize, value: $type) -> &mut Self {
            self.set_bytes_fixed(at, &value.to_le_bytes())
        }
    )*};
}

impl ObjectBuilder<'_> {
    scalars! {
        set_u8: u8, set_u16: u16, set_u32: u32, set_u64: u64,
        set_i8: i8, set_i16: i16, set_i32: i32, set_i64: i64,
        set_f32: f32, set_f64: f64,
    }

    /// Sets the `bool` at offset `at`.
    #[inline]
    pub fn set_bool(&mut self, at: usize, value: bool) -> &mut Self {
        self.set_u8(at, u8::from(value))
    }

    /// Sets the `N` bytes inline at offset `at`.
    #[inline]
    pub fn set_bytes_fixed<const N: usize>(&mut self, at: usize, value: &[u8; N]) -> &mut Self {
        match at.checked_add(N).filter(|end| *end <= self.size) {
            Some(end) => put(&mut self.builder.buffer, self.position + at..self.position + end, value),
            None => self.builder.fail(BuildError::OutsideFixedSection { at, width: N, size: self.size }),
        }
        self
    }

    /// Appends `value` and sets the slot at offset `at` to it; an empty value is written as an absent one.
    #[inline]
    pub fn set_bytes(&mut self, at: usize, value: &[u8]) -> &mut Self {
        self.set_slot(at, 0, 0);
        self.builder.buffer.extend_from_slice(value);
        self.builder.pending.push(Pending { slot: self.position.saturating_add(at), length: value.len() });
        self
    }

    /// Appends `value` and sets the slot at offset `at` to it; an empty text is written as an absent one.
    #[inline]
    pub fn set_text(&mut self, at: usize, value: &str) -> &mut Self {
        self.set_bytes(at, value.as_bytes())
    }

    /// Sets the 4-byte slot at offset `at` to a finished object, which may lie before or behind this one.
    #[inline]
    pub fn set_object(&mut self, at: usize, object: ObjectRef) -> &mut Self {
        let offset = self.offset(at, object.0);
        self.set_i32(at, offset)
    }

    /// Sets the slot at offset `at` to a finished list.
    #[inline]
    pub fn set_list(&mut self, at: usize, list: ListRef) -> &mut Self {
        let offset = self.offset(at, list.position);
        match u32::try_from(list.length) {
            Ok(length) => self.set_slot(at, offset.cast_unsigned(), length),
            Err(_) => self.builder.fail(BuildError::TooLarge),
        }
        self
    }

    /// Builds objects and lists while this object stays open. They lie between this object's section and its bytes and
    /// texts, including those that were set before.
    pub fn nest<T>(&mut self, build: impl FnOnce(&mut Builder) -> T) -> T {
        let buffer = &mut self.builder.buffer;
        let tails = buffer.split_off(self.tails.min(buffer.len()));
        let built = build(self.builder);
        self.tails = self.builder.buffer.len();
        self.builder.buffer.extend_from_slice(&tails);
        built
    }

    /// Finishes the object.
    #[inline]
    #[must_use]
    pub fn finish(self) -> ObjectRef {
        ObjectRef(self.position)
    }

    /// Writes an 8-byte slot.
    #[inline]
    fn set_slot(&mut self, at: usize, offset: u32, length: u32) {
        self.set_u64(at, u64::from(offset) | u64::from(length) << 32);
    }

    /// The signed offset from the slot at `at` to `target`.
    #[inline]
    fn offset(&mut self, at: usize, target: usize) -> i32 {
        let distance = i64::try_from(target).ok().zip(i64::try_from(self.position.saturating_add(at)).ok());
        match distance.map(|(target, slot)| i32::try_from(target - slot)) {
            Some(Ok(offset)) => offset,
            _ => {
                self.builder.fail(BuildError::TooLarge);
                0
            }
        }
    }
}

impl Drop for ObjectBuilder<'_> {
    /// Patches the slots of the bytes and texts, now that it is known where they lie.
    #[inline]
    fn drop(&mut self) {
        let Builder { buffer, pending, error, .. } = &mut *self.builder;
        let mut target = self.tails;
        for Pending { slot, length } in pending.drain(self.pending.min(pending.len())..) {
            let offset = u32::try_from(target.saturating_sub(slot));
            match (offset, u32::try_from(length)) {
                _ if length == 0 => put(buffer, slot..slot.saturating_add(8), &[0; 8]),
                (Ok(offset), Ok(length)) => {
                    let value = u64::from(offset) | u64::from(length) << 32;
                    put(buffer, slot..slot.saturating_add(8), &value.to_le_bytes());
                }
                _ => {
                    error.get_or_insert(BuildError::TooLarge);
                }
            }
            target += length;
        }
    }
}

/// Overwrites a range that lies in the buffer.
#[inline]
fn put(buffer: &mut [u8], range: std::ops::Range<usize>, value: &[u8]) {
    if let Some(place) = buffer.get_mut(range) {
        place.copy_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zap::Message;

    #[test]
    fn a_value_set_again_is_the_later_one() {
        let mut builder = Builder::new();
        let mut object = builder.object(8);
        object.set_bytes(0, b"first").set_bytes(0, b"").set_bytes(0, b"last");
        let root = object.finish();
        let message = builder.finish(root).unwrap();
        assert_eq!((Message::parse(message).unwrap().root().bytes(0), message.len()), (Some(&b"last"[..]), 16 + 8 + 9));
    }

    #[test]
    fn what_is_nested_lies_between_section_and_values() {
        let mut builder = Builder::new();
        let mut object = builder.object(12);
        object.set_text(0, "value");
        let inner = object.nest(|builder| {
            let mut inner = builder.object(8);
            inner.set_text(0, "inner");
            inner.finish()
        });
        object.set_object(8, inner);
        let root = object.finish();
        let message = builder.finish(root).unwrap();
        assert_eq!(&message[16 + 16 + 8..], b"innervalue");
        let root = Message::parse(message).unwrap().root();
        assert_eq!((root.text(0), root.object(8).text(0)), (Some("value"), Some("inner")));
    }

    #[test]
    fn an_object_left_unfinished_disturbs_nothing() {
        let mut builder = Builder::new();
        let mut object = builder.object(8);
        object.nest(|builder| {
            builder.object(8).set_bytes(0, b"lost");
        });
        object.set_bytes(0, b"kept");
        let root = object.finish();
        let message = builder.finish(root).unwrap();
        assert_eq!(Message::parse(message).unwrap().root().bytes(0), Some(&b"kept"[..]));
    }

    #[test]
    fn the_first_mistake_is_reported_until_the_builder_is_reset() {
        let mut builder = Builder::new();
        let mut object = builder.object(10);
        object.set_u64(3, 1).set_u32(usize::MAX, 1).set_bytes(2, b"fits").set_bytes(3, b"does not");
        let root = object.finish();
        let error = BuildError::OutsideFixedSection { at: 3, width: 8, size: 10 };
        assert_eq!(builder.finish(root), Err(error));
        assert_eq!(builder.clone().into_message(root), Err(error));
        builder.reset();
        let root = builder.object(0).finish();
        assert_eq!(builder.finish(root).map(<[u8]>::len), Ok(16));
    }

    #[test]
    fn what_does_not_fit_is_reported_and_not_allocated() {
        let mut builder = Builder::new();
        let root = builder.object(usize::MAX).finish();
        assert_eq!(builder.finish(root), Err(BuildError::TooLarge));
        assert!(builder.buffer.capacity() < 1 << 10);
    }

    #[test]
    fn a_list_has_elements_of_one_kind() {
        let mut builder = Builder::new();
        let mut list = builder.list();
        list.push_u32(1).push_f32(1.0).push_u8(1);
        let list = list.finish();
        assert_eq!(list.length, 3);
        let root = builder.object(0).finish();
        assert_eq!(builder.finish(root), Err(BuildError::MixedElements));
    }

    #[test]
    fn misuse_inside_of_nest_does_no_harm() {
        let mut builder = Builder::new();
        let mut object = builder.object(16);
        object.set_bytes(0, b"gone");
        object.nest(Builder::reset);
        object.set_bytes(8, b"too").set_u64(0, 1);
        let root = object.finish();
        let message = builder.finish(root).unwrap();
        assert_eq!(Message::parse(message).map(Message::size), Ok(message.len()));
    }
}
