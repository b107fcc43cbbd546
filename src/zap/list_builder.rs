//! Lists being written, element by element: [`ListBuilder`].

use super::builder::{Builder, ListRef};
use super::error::BuildError;

/// A list being built. All its elements are of one kind: scalars of one width, structs of one stride, or variable entries.
#[derive(Debug)]
pub struct ListBuilder<'b> {
    builder: &'b mut Builder,
    position: usize,
    length: usize,
    kind: Option<Kind>,
}

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Stride(usize),
    Entries,
}

macro_rules! scalars {
    ($($name:ident: $type:ty),* $(,)?) => {$(
        #[doc = concat!("Appends a `", stringify!($type), "`.")]
        #[inline]
        pub fn $name(&mut self, element: $type) -> &mut Self {
            self.push_fixed(&element.to_le_bytes())
        }
    )*};
}

impl<'b> ListBuilder<'b> {
    #[inline]
    pub(super) fn new(builder: &'b mut Builder) -> Self {
        let position = builder.align();
        Self { builder, position, length: 0, kind: None }
    }

    scalars! {
        push_u8: u8, push_u16: u16, push_u32: u32, push_u64: u64,
        push_i8: i8, push_i16: i16, push_i32: i32, push_i64: i64,
        push_f32: f32, push_f64: f64,
    }

    /// Appends a `bool`.
    #[inline]
    pub fn push_bool(&mut self, element: bool) -> &mut Self {
        self.push_u8(u8::from(element))
    }

    /// Appends a byte array, or the fixed section of a struct; the list's stride is its length.
    #[inline]
    pub fn push_fixed(&mut self, element: &[u8]) -> &mut Self {
        self.element(Kind::Stride(element.len()));
        self.builder.buffer.extend_from_slice(element);
        self
    }

    /// Appends a variable entry: its length in 32 bits, and its bytes.
    #[inline]
    pub fn push_entry(&mut self, entry: &[u8]) -> &mut Self {
        self.element(Kind::Entries);
        match u32::try_from(entry.len()) {
            Ok(length) => {
                self.builder.buffer.extend_from_slice(&length.to_le_bytes());
                self.builder.buffer.extend_from_slice(entry);
            }
            Err(_) => self.builder.fail(BuildError::TooLarge),
        }
        self
    }

    /// Finishes the list.
    #[inline]
    #[must_use]
    pub fn finish(self) -> ListRef {
        ListRef { position: self.position, length: self.length }
    }

    /// Counts an element, and sees to it that it is of the same kind as those before it.
    #[inline]
    fn element(&mut self, kind: Kind) {
        if *self.kind.get_or_insert(kind) != kind {
            self.builder.fail(BuildError::MixedElements);
        }
        self.length += 1;
    }
}
