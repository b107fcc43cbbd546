//! An object being written: [`ObjectBuilder`]. Owns how fields and slots are set, and where bytes and texts go.

use super::builder::{Builder, ListRef, ObjectRef, Pending};
use super::error::BuildError;

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

impl<'b> ObjectBuilder<'b> {
    /// An object whose section lies from `position` to `end`, the end of what is built.
    #[inline]
    pub(super) fn new(builder: &'b mut Builder, position: usize, end: usize) -> Self {
        let pending = builder.pending.len();
        Self { builder, position, size: end - position, tails: end, pending }
    }

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

    /// Sets the slot at offset `at` to `length` bytes that will follow the whole message as it is built, from wherever they lie:
    /// see [`Builder::finish_apart`]. A message can have one such value.
    #[inline]
    pub fn set_bytes_apart(&mut self, at: usize, length: usize) -> &mut Self {
        self.set_slot(at, 0, 0);
        let apart = Pending { slot: self.position.saturating_add(at), length };
        if self.builder.apart.replace(apart).is_some() {
            self.builder.fail(BuildError::Apart);
        }
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
