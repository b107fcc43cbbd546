//! Integers of a JSON vote: numbers, or strings of decimal digits. Owns the digits' arithmetic and the range checks.

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use crate::vote::Field;

/// Reads an unsigned integer no greater than `max`; a greater one is noted, because an error of serde's
/// cannot carry a field.
pub(super) struct Integer<'p> {
    pub(super) field: Field,
    pub(super) max: u64,
    pub(super) out_of_range: &'p mut Option<Field>,
}

impl Integer<'_> {
    #[cold]
    #[inline(never)]
    fn out_of_range<E: Error>(self) -> E {
        *self.out_of_range = Some(self.field);
        E::custom("integer out of range")
    }
}

impl<'de> DeserializeSeed<'de> for Integer<'_> {
    type Value = u64;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Integer<'_> {
    type Value = u64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, an unsigned integer or a string of its decimal digits", self.field)
    }

    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        if value > self.max { Err(self.out_of_range()) } else { Ok(value) }
    }

    #[cold]
    fn visit_i64<E: Error>(self, _: i64) -> Result<u64, E> {
        Err(self.out_of_range())
    }

    #[cold]
    fn visit_f64<E: Error>(self, _: f64) -> Result<u64, E> {
        Err(self.out_of_range())
    }

    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        match short(text.as_bytes()) {
            Some(value) if value <= self.max => Ok(value),
            _ => self.visit_odd(text),
        }
    }
}

impl Integer<'_> {
    /// A string that is longer than any usual integer, or is none.
    #[cold]
    #[inline(never)]
    fn visit_odd<E: Error>(self, text: &str) -> Result<u64, E> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(E::custom(format_args!("{} is not a decimal integer", self.field)));
        }
        match text.parse() {
            Ok(value) if value <= self.max => Ok(value),
            _ => Err(self.out_of_range()),
        }
    }
}

/// The value of one to nineteen decimal digits, which no `u64` is too small for; `None` for anything else.
///
/// Eight digits at a time: a digit a step would cost a chain of nineteen dependent multiplications for a timestamp.
#[inline]
fn short(digits: &[u8]) -> Option<u64> {
    let length = digits.len();
    let (mut value, rest) = match length {
        1..4 => {
            let mut value = 0;
            for digit in digits {
                let digit = digit.wrapping_sub(b'0');
                if digit > 9 {
                    return None;
                }
                value = value * 10 + u64::from(digit);
            }
            return Some(value);
        }
        4..8 => {
            // The first and the last four overlap in the same digits, so that `|` joins them.
            let first = u64::from(u32::from_le_bytes(*digits.first_chunk()?));
            let last = u64::from(u32::from_le_bytes(*digits.last_chunk()?));
            return eight(first << (64 - 8 * length) | last << 32 | ZEROS >> (8 * length));
        }
        8..20 => {
            let first = u64::from_le_bytes(*digits.first_chunk()?);
            match length % 8 {
                0 => (0, digits),
                head => (eight(first << (64 - 8 * head) | ZEROS >> (8 * head))?, &digits[head..]),
            }
        }
        _ => return None,
    };
    for chunk in rest.as_chunks().0 {
        value = value * 100_000_000 + eight(u64::from_le_bytes(*chunk))?;
    }
    Some(value)
}

/// Eight characters `0`.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The value of eight decimal digits, the first in the lowest byte; `None` where one is no digit.
#[inline]
const fn eight(text: u64) -> Option<u64> {
    // A digit has 3 in its high half, and still has after 6 is added.
    if high_half(text) != ZEROS || high_half(text.wrapping_add(0x0606_0606_0606_0606)) != ZEROS {
        return None;
    }
    let ones = text - ZEROS;
    // Neighbours are joined: eight digits to four pairs, two fours, one eight, each in the upper of the two places.
    let pairs = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

const fn high_half(word: u64) -> u64 {
    word & 0xf0f0_f0f0_f0f0_f0f0
}

/// What fits into eight digits is less.
pub(super) const TEN_TO_8: u64 = 100_000_000;

/// The eight decimal digits of `value`, leading zeros included, the first in the lowest byte. `value` has no more.
#[inline]
pub(super) const fn spell(value: u64) -> u64 {
    ZEROS + digits(value)
}

/// The digits of `value` without leading zeros, the first in the lowest byte, and their count. `value` has at most eight.
#[inline]
pub(super) const fn spell_short(value: u64) -> (u64, usize) {
    let digits = digits(value);
    // Of zero, one digit stays.
    let leading = (digits | 1 << 56).trailing_zeros() / 8;
    (ZEROS + (digits >> (8 * leading)), 8 - leading as usize)
}

/// The inverse of the joining in [`eight`]: one number to two fours, four pairs, eight digits. Division by 100 and by 10 is
/// multiplication by a reciprocal, exact over the few values that occur.
#[inline]
const fn digits(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let upper = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = upper | ((fours - upper * 100) << 16);
    let upper = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    upper | ((pairs - upper * 10) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_worth_what_they_say() {
        for value in [0, 1, 9, 10, 42, 999, 1_000, 9_999_999, 12_345_678, 123_456_789, 1_700_000_000_123_456_789] {
            assert_eq!(short(value.to_string().as_bytes()), Some(value), "{value}");
        }
        for length in 1..20 {
            let digits: String = "1234567890123456789".chars().take(length).collect();
            assert_eq!(short(digits.as_bytes()), digits.parse().ok(), "{digits}");
            for at in 0..length {
                for bad in [b'/', b':', b'a', b'-', 0, 0xff, b'0' | 0x80] {
                    let mut bytes = digits.clone().into_bytes();
                    bytes[at] = bad;
                    assert_eq!(short(&bytes), None, "{bytes:?}");
                }
            }
        }
        assert_eq!(short(b""), None);
        assert_eq!(short(b"18446744073709551615"), None);
    }

    #[test]
    fn spelling_is_right_for_every_four_digits() {
        for value in (0..10_000).chain((0..10_000).map(|upper| upper * 10_000)).chain([12_345_678, 99_999_999]) {
            assert_eq!(spell(value).to_le_bytes(), *format!("{value:08}").as_bytes(), "{value}");
            let (word, length) = spell_short(value);
            assert_eq!(word.to_le_bytes()[..length], *value.to_string().as_bytes(), "{value}");
        }
    }
}
