//! What generated code is made of: parts of byte arrays at places that are known when it is compiled, so that neither a
//! load nor a store is checked at run time, and the header.

use super::{Flags, HEADER_BYTES, MAGIC, Version};

/// The 16 bytes of a header.
#[inline]
#[must_use]
pub const fn header(version: Version, flags: Flags, root_offset: u32, size: u32) -> [u8; HEADER_BYTES] {
    let ([a, b, c, d], [e, f], [g, h]) = (MAGIC, version.number().to_le_bytes(), flags.0.to_le_bytes());
    let ([i, j, k, l], [m, n, o, p]) = (root_offset.to_le_bytes(), size.to_le_bytes());
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

/// The `N` bytes at `AT`. That they lie inside is checked when this is compiled, so nothing is left to check at run time.
#[inline]
#[must_use]
pub const fn part<const AT: usize, const N: usize, const SIZE: usize>(bytes: &[u8; SIZE]) -> &[u8; N] {
    const { assert!(AT <= SIZE && N <= SIZE - AT, "the part does not lie inside") };
    match bytes.split_at(AT).1.first_chunk() {
        Some(part) => part,
        None => const { &[0; N] },
    }
}

/// Overwrites the `N` bytes at `AT`. That they lie inside is checked when this is compiled.
#[inline]
pub const fn put<const AT: usize, const N: usize, const SIZE: usize>(bytes: &mut [u8; SIZE], value: &[u8; N]) {
    const { assert!(AT <= SIZE && N <= SIZE - AT, "the part does not lie inside") };
    if let Some(part) = bytes.split_at_mut(AT).1.first_chunk_mut() {
        *part = *value;
    }
}

/// Where the values behind a section go, one after another: what makes their slots.
#[derive(Clone, Debug)]
pub struct Tails {
    /// Where the next value goes, from the start of the section.
    next: u32,
}

impl Tails {
    /// Values behind a section of `size` bytes.
    #[inline]
    #[must_use]
    pub const fn new(size: u32) -> Self {
        Self { next: size }
    }

    /// The slot at offset `at` of the section for `value`, which goes behind the values before it. Positions saturate:
    /// whoever appends the values has seen to it that the message fits 32 bits.
    #[inline]
    #[must_use]
    pub fn slot(&mut self, at: u32, value: &[u8]) -> [u8; 8] {
        let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
        let offset = if length == 0 { 0 } else { self.next.saturating_sub(at) };
        self.next = self.next.saturating_add(length);
        (u64::from(offset) | u64::from(length) << 32).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_where_they_were_put() {
        let mut bytes = [0; 12];
        put::<3, 4, 12>(&mut bytes, &[1, 2, 3, 4]);
        put::<8, 4, 12>(&mut bytes, &[5, 6, 7, 8]);
        assert_eq!(bytes, [0, 0, 0, 1, 2, 3, 4, 0, 5, 6, 7, 8]);
        assert_eq!(part::<6, 3, 12>(&bytes), &[4, 0, 5]);
        assert_eq!(part::<12, 0, 12>(&bytes), &[0_u8; 0]);
    }

    #[test]
    fn slots_lead_to_values_one_after_another() {
        let mut tails = Tails::new(24);
        assert_eq!(tails.slot(0, b"abc"), [24, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(tails.slot(8, b""), [0; 8]);
        assert_eq!(tails.slot(16, b"d"), [11, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn the_header_is_the_specifications() {
        let header = header(Version::V2, Flags(0x0102), 16, 161);
        assert_eq!(header, *b"ZAP\0\x02\0\x02\x01\x10\0\0\0\xa1\0\0\0");
    }
}
