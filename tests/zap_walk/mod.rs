//! Reads everything that can be reached in a ZAP message, and compares each answer with the rules of `docs/zap-wire.md`
//! written down a second time, in arithmetic too wide to wrap around. For the property tests and the fuzz target.

use votebench::zap::{List, Message, Object, ParseError};

/// How many objects and lists one walk visits at most: slots may lead in circles.
const VISITS: usize = 10;

/// Walks through `bytes` as a message, where they are one.
///
/// # Panics
/// Where an answer is not what the rules say.
pub(crate) fn walk(bytes: &[u8]) {
    let message = match Message::parse(bytes) {
        Ok(message) => message,
        Err(error) => {
            assert_eq!(Some(error), refusal(bytes));
            return;
        }
    };
    assert_eq!(refusal(bytes), None);
    assert_eq!(message.as_bytes(), &bytes[..message.size()]);
    assert_eq!(message.version().number(), u16::from_le_bytes([bytes[4], bytes[5]]));
    assert_eq!(message.flags().0, u16::from_le_bytes([bytes[6], bytes[7]]));
    let mut walk = Walk { message: message.as_bytes(), left: VISITS };
    walk.object(message.root(), i128::from(message.root_offset()));
}

/// What is wrong with a header, by the order of the rules.
fn refusal(bytes: &[u8]) -> Option<ParseError> {
    let word = |at: usize| bytes[at..at + 4].iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    if bytes.len() < 16 {
        Some(ParseError::BufferTooSmall)
    } else if bytes[..4] != [0x5a, 0x41, 0x50, 0] {
        Some(ParseError::InvalidMagic)
    } else if bytes[5] != 0 || !matches!(bytes[4], 1 | 2) {
        Some(ParseError::UnsupportedVersion)
    } else if word(12) < 16 || word(12) > bytes.len() as u64 {
        Some(ParseError::BufferTooSmall)
    } else {
        None
    }
}

struct Walk<'a> {
    message: &'a [u8],
    left: usize,
}

impl Walk<'_> {
    /// The bytes from `start` on, where they all lie in the message.
    fn at(&self, start: i128, length: i128) -> Option<&[u8]> {
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(start + length).ok()?);
        self.message.get(start..end)
    }

    /// A little-endian number of at most 8 bytes, or 0.
    fn number(&self, start: i128, width: i128) -> u64 {
        let bytes = self.at(start, width).unwrap_or_default();
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn signed(&self, start: i128) -> i128 {
        let number = i128::from(self.number(start, 4));
        if number < 1 << 31 { number } else { number - (1 << 32) }
    }

    /// Where a struct's or list's slot leads.
    fn target(&self, slot: i128) -> Option<i128> {
        let offset = self.signed(slot);
        let target = slot + offset;
        (offset != 0 && target >= 16 && target < self.message.len() as i128).then_some(target)
    }

    fn object(&mut self, object: Object<'_>, position: i128) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        for at in (0..12).chain([16, 24, 40, 64, 136, 144, 1 << 20, u32::MAX as usize, usize::MAX - 3, usize::MAX]) {
            let place = position + at as i128;
            self.scalars(object, at, place);
            self.bytes(object, at, place);
            let (nested, target) = (object.object(at), self.target(place));
            assert_eq!((nested.is_null(), !nested.is_null()), (target.is_none(), target.is_some()));
            let length = self.number(place + 4, 4);
            let list = object.list(at);
            let list_target = target.filter(|_| length <= self.message.len() as u64);
            assert_eq!(
                (list.is_null(), list.len() as u64),
                (list_target.is_none(), if list.is_null() { 0 } else { length })
            );
            if let Some(target) = target {
                assert_eq!(nested.position() as i128, target);
                self.object(nested, target);
            }
            if let Some(target) = list_target {
                self.list(list, target);
            }
        }
    }

    fn scalars(&self, object: Object<'_>, at: usize, place: i128) {
        let number = |width| self.number(place, width);
        assert_eq!((u64::from(object.u8(at)), u64::from(object.u16(at))), (number(1), number(2)));
        assert_eq!((u64::from(object.u32(at)), object.u64(at)), (number(4), number(8)));
        assert_eq!((object.i8(at).cast_unsigned(), object.i16(at).cast_unsigned()), (object.u8(at), object.u16(at)));
        assert_eq!((object.i32(at).cast_unsigned(), object.i64(at).cast_unsigned()), (object.u32(at), object.u64(at)));
        assert_eq!((object.f32(at).to_bits(), object.f64(at).to_bits()), (object.u32(at), object.u64(at)));
        assert_eq!(object.bool(at), object.u8(at) != 0);
        assert_eq!(object.bytes_fixed::<32>(at).map(|bytes| &bytes[..]), self.at(place, 32));
        assert_eq!(object.bytes_fixed::<0>(at).is_some(), self.at(place, 0).is_some());
    }

    fn bytes(&self, object: Object<'_>, at: usize, place: i128) {
        let (offset, length) = (self.number(place, 4), self.number(place + 4, 4));
        let start = place + i128::from(offset);
        let bytes = if offset == 0 || start < 16 { None } else { self.at(start, i128::from(length)) };
        assert_eq!(object.bytes(at), bytes);
        assert_eq!(object.try_text(at), bytes.map(str::from_utf8).transpose());
        assert_eq!(object.text(at), bytes.and_then(|bytes| str::from_utf8(bytes).ok()));
        if let Some(read) = object.bytes(at) {
            assert!(
                self.message.as_ptr_range().start <= read.as_ptr()
                    && read.as_ptr_range().end <= self.message.as_ptr_range().end
            );
        }
    }

    fn list(&mut self, list: List<'_>, position: i128) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let length = list.len();
        for index in (0..8).chain([length.saturating_sub(1), length, usize::MAX]) {
            let element = |width: i128| {
                let at = position + index as i128 * width;
                if index < length { self.at(at, width) } else { None }
            };
            assert_eq!(list.bytes_fixed::<8>(index).map(|bytes| &bytes[..]), element(8));
            assert_eq!(list.u64(index).to_le_bytes(), element(8).unwrap_or(&[0; 8]));
            assert_eq!(list.u32(index).to_le_bytes(), element(4).unwrap_or(&[0; 4]));
            assert_eq!([list.u8(index)], element(1).unwrap_or(&[0]));
            let object = list.object(index, 12);
            assert_eq!(object.is_null(), element(12).is_none());
            if !object.is_null() && index < 2 {
                self.object(object, position + index as i128 * 12);
            }
        }
        assert_eq!(list.bytes(), self.at(position, length as i128));
        assert!(list.object(0, usize::MAX).is_null());
        let mut place = position;
        let mut entries = list.entries();
        for entry in entries.by_ref() {
            let length = i128::from(self.number(place, 4));
            assert_eq!(Some(entry), self.at(place + 4, length));
            place += 4 + length;
        }
        let fits = self.at(place, 4).is_some_and(|_| self.at(place + 4, i128::from(self.number(place, 4))).is_some());
        assert!(entries.is_complete() || !fits, "the entries ended early");
        assert_eq!(
            list.elements::<u16>().iter().count(),
            (0..length).take_while(|i| self.at(position + 2 * *i as i128, 2).is_some()).count()
        );
    }
}
