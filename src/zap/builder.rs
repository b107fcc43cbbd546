//! The writer: [`Builder`], over one buffer that is reused from message to message. Owns where things are put; what an object
//! has in it is [`ObjectBuilder`]'s, and a list [`ListBuilder`]'s.
//!
//! Objects and lists start at multiples of 8, an object's whole fixed section is laid down as zeros at once, and its bytes
//! and texts follow, in the order in which they were set, when it is finished. An object borrows the builder while it is
//! open, so nothing else can come in between, and a value can be appended the moment it is set; what is built inside of
//! [`ObjectBuilder::nest`] goes between the section and those values, as in the reference.

use super::layout::header;
use super::{ALIGNMENT, BuildError, Flags, HEADER_BYTES, ListBuilder, ObjectBuilder, Version};

/// Where a finished object lies in the message being built: what its parent's slot, or the header, is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectRef(pub(super) usize);

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
    pub(super) pending: Vec<Pending>,
    /// The value that is sent from where it lies, right behind what is built.
    pub(super) apart: Option<Pending>,
    version: Version,
    flags: Flags,
    pub(super) error: Option<BuildError>,
}

/// A value behind an open object's section: where its slot lies, and how long it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) slot: usize,
    pub(super) length: usize,
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
        let (pending, apart, error) = (Vec::new(), None, None);
        let mut builder = Self { buffer, pending, apart, version: Version::V1, flags: Flags::NONE, error };
        builder.reset();
        builder
    }

    /// Begins a new message, keeping the buffer, the version and the flags.
    #[inline]
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.buffer.resize(HEADER_BYTES, 0);
        self.pending.clear();
        self.apart = None;
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
        ObjectBuilder::new(self, position, end)
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
    /// The first thing that went wrong since the message was begun; a value that was set
    /// [apart](ObjectBuilder::set_bytes_apart), which is for [`finish_apart`](Self::finish_apart).
    #[inline]
    pub fn finish(&mut self, root: ObjectRef) -> Result<&[u8], BuildError> {
        if self.apart.is_some() {
            self.fail(BuildError::Apart);
        }
        self.write_header(root, self.buffer.len())
    }

    /// Finishes a message of which one value was set [apart](ObjectBuilder::set_bytes_apart): gives all of it but that value,
    /// which has to follow these bytes at once, from wherever it lies.
    ///
    /// # Errors
    /// The first thing that went wrong since the message was begun.
    #[inline]
    pub fn finish_apart(&mut self, root: ObjectRef) -> Result<&[u8], BuildError> {
        let Some(Pending { slot, length }) = self.apart else { return self.finish(root) };
        let target = self.buffer.len();
        match (u32::try_from(target.saturating_sub(slot)), u32::try_from(length)) {
            (Ok(offset), Ok(length)) if length > 0 => {
                let value = u64::from(offset) | u64::from(length) << 32;
                if let Some(place) = self.buffer.get_mut(slot..slot.saturating_add(8)) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }
            (Ok(_), Ok(_)) => {}
            _ => self.fail(BuildError::TooLarge),
        }
        self.write_header(root, target.saturating_add(length))
    }

    /// Writes the header of a message of `size` bytes, and gives what is built of it.
    #[inline]
    fn write_header(&mut self, root: ObjectRef, size: usize) -> Result<&[u8], BuildError> {
        match (self.error, u32::try_from(root.0), u32::try_from(size)) {
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

#[cfg(test)]
mod tests {
    use super::super::Message;
    use super::*;

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
    fn a_value_apart_makes_the_message_that_a_copied_one_makes() {
        let value = [7; 100];
        for value in [&value[..], b""] {
            let mut builder = Builder::new();
            let mut object = builder.object(24);
            object.set_text(0, "text").set_u32(16, 9).set_bytes(8, value);
            let root = object.finish();
            let whole = builder.finish(root).unwrap().to_vec();
            builder.reset();
            let mut object = builder.object(24);
            object.set_text(0, "text").set_u32(16, 9).set_bytes_apart(8, value.len());
            let root = object.finish();
            let head = builder.finish_apart(root).unwrap();
            assert_eq!(head.len(), whole.len() - value.len());
            assert_eq!([head, value].concat(), whole);
            // Without the value it would be cut off.
            assert_eq!(builder.finish(root), Err(BuildError::Apart));
        }
        let mut builder = Builder::new();
        let mut object = builder.object(16);
        object.set_bytes_apart(0, 1).set_bytes_apart(8, 1);
        let root = object.finish();
        assert_eq!(builder.finish_apart(root), Err(BuildError::Apart));
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
