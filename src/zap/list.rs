//! Lists: [`List`], as lenient as the reader of objects, and [`Elements`], the same with an element type, which is what
//! generated accessors return. Owns every rule of element access.
//!
//! The wire does not say what a list's elements are: the schema does. They are scalars packed back to back, byte arrays or
//! structs of a fixed size at a stride, or variable entries of a 32-bit length and that many bytes each.

use std::marker::PhantomData;

use super::Object;
use super::reader::to_usize;

/// A list: a place in a message and a number of elements. Null where there is none. Every access to an element checks that
/// it is below the list's length and inside the message; the length itself is only known to be at most the message's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List<'a> {
    /// The whole message, so that objects in the list can follow their slots; empty where the list is null.
    pub(super) message: &'a [u8],
    pub(super) position: usize,
    pub(super) length: usize,
}

macro_rules! scalars {
    ($($name:ident),* $(,)?) => {$(
        #[doc = concat!("Element `index` of a list of `", stringify!($name), "`; 0 where there is no such element.")]
        #[inline]
        #[must_use]
        pub fn $name(self, index: usize) -> $name {
            $name::read(self, index).unwrap_or_default()
        }
    )*};
}

impl<'a> List<'a> {
    /// The null list, which has no elements.
    pub const NULL: Self = Self { message: &[], position: 0, length: 0 };

    /// Whether there is no list.
    #[inline]
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.message.is_empty()
    }

    /// The number of elements that the list's slot gives; 0 for null.
    #[inline]
    #[must_use]
    pub const fn len(self) -> usize {
        self.length
    }

    /// Whether the list has no elements.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.length == 0
    }

    scalars!(u8, u32, u64);

    /// The whole list of `u8` at once; absent where the list is null or does not end within the message.
    #[inline]
    #[must_use]
    pub fn bytes(self) -> Option<&'a [u8]> {
        if self.is_null() { None } else { self.message.get(self.position..self.position.checked_add(self.length)?) }
    }

    /// Element `index` of a list of byte arrays of `N` bytes, packed back to back.
    #[inline]
    #[must_use]
    pub fn bytes_fixed<const N: usize>(self, index: usize) -> Option<&'a [u8; N]> {
        self.message.get(self.element(index, N)?..)?.first_chunk()
    }

    /// Element `index` of a list of structs that lie `stride` bytes apart; null where there is no such element, or where it
    /// does not end within the message.
    #[inline]
    #[must_use]
    pub fn object(self, index: usize, stride: usize) -> Object<'a> {
        match self.element(index, stride) {
            Some(position) if self.message.get(position..).is_some_and(|rest| rest.len() >= stride) => {
                Object { message: self.message, position }
            }
            _ => Object::NULL,
        }
    }

    /// The elements of a list of variable entries, in order, up to the first that does not end within the message.
    #[inline]
    #[must_use]
    pub fn entries(self) -> Entries<'a> {
        Entries { rest: self.message.get(self.position..).unwrap_or_default(), left: self.length }
    }

    /// The list with its element type.
    #[inline]
    #[must_use]
    pub const fn elements<T: Element<'a>>(self) -> Elements<'a, T> {
        Elements { list: self, element: PhantomData }
    }

    /// Where element `index` starts.
    #[inline]
    fn element(self, index: usize, stride: usize) -> Option<usize> {
        if index >= self.length {
            return None;
        }
        self.position.checked_add(index.checked_mul(stride)?)
    }
}

/// The entries of a list of variable entries: an iterator over their bytes.
///
/// A list that says that it has more entries than lie in the message simply ends; [`is_complete`](Self::is_complete) tells.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    rest: &'a [u8],
    left: usize,
}

impl Entries<'_> {
    /// Whether every entry that the list promised has been given: false while some are still to come, and for ever where
    /// they did not lie in the message.
    #[inline]
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.left == 0
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.left == 0 {
            return None;
        }
        let (length, behind) = self.rest.split_first_chunk()?;
        let (entry, rest) = behind.split_at_checked(to_usize(u32::from_le_bytes(*length)))?;
        self.rest = rest;
        self.left -= 1;
        Some(entry)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left.min(self.rest.len() / 4)))
    }
}

impl std::iter::FusedIterator for Entries<'_> {}

/// A type that a list can have as elements of a fixed width: the scalars, references to byte arrays, and generated views.
pub trait Element<'a>: Sized {
    /// Bytes from one element to the next.
    const STRIDE: usize;

    /// Element `index` of `list`, where there is one and it lies in the message.
    fn read(list: List<'a>, index: usize) -> Option<Self>;
}

macro_rules! elements {
    ($($type:ty),* $(,)?) => {$(
        impl<'a> Element<'a> for $type {
            const STRIDE: usize = size_of::<$type>();

            #[inline]
            fn read(list: List<'a>, index: usize) -> Option<Self> {
                list.bytes_fixed(index).map(|bytes| <$type>::from_le_bytes(*bytes))
            }
        }
    )*};
}

elements!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl<'a> Element<'a> for bool {
    const STRIDE: usize = 1;

    #[inline]
    fn read(list: List<'a>, index: usize) -> Option<Self> {
        u8::read(list, index).map(|byte| byte != 0)
    }
}

impl<'a, const N: usize> Element<'a> for &'a [u8; N] {
    const STRIDE: usize = N;

    #[inline]
    fn read(list: List<'a>, index: usize) -> Option<Self> {
        list.bytes_fixed(index)
    }
}

/// A list of elements of one type.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a, T> {
    list: List<'a>,
    element: PhantomData<fn() -> T>,
}

impl<'a, T: Element<'a>> Elements<'a, T> {
    /// The list without its element type.
    #[inline]
    #[must_use]
    pub const fn as_list(&self) -> List<'a> {
        self.list
    }

    /// The number of elements that the list's slot gives; 0 for null.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the list has no elements.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Element `index`, where there is one and it lies in the message.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        T::read(self.list, index)
    }

    /// The elements in order, up to the first that does not lie in the message.
    #[inline]
    #[must_use]
    pub fn iter(&self) -> ElementsIter<'a, T> {
        ElementsIter { list: self.list, index: 0, element: PhantomData }
    }
}

impl<'a, T: Element<'a>> IntoIterator for Elements<'a, T> {
    type Item = T;
    type IntoIter = ElementsIter<'a, T>;

    #[inline]
    fn into_iter(self) -> ElementsIter<'a, T> {
        self.iter()
    }
}

/// An iterator over a list's elements.
#[derive(Clone, Debug)]
pub struct ElementsIter<'a, T> {
    list: List<'a>,
    index: usize,
    element: PhantomData<fn() -> T>,
}

impl<'a, T: Element<'a>> Iterator for ElementsIter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let element = T::read(self.list, self.index)?;
        self.index += 1;
        Some(element)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.list.length - self.index))
    }
}

impl<'a, T: Element<'a>> std::iter::FusedIterator for ElementsIter<'a, T> {}
