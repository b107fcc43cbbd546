//! Writing a vote as JSON by hand: in an object of fixed shape a serializer has nothing to decide. Owns the text's
//! punctuation. The tests hold it to what serde_json writes.

use super::integer;
use crate::vote::Vote;

/// Room for the longest vote, and for the slack that [`write()`] wants behind it.
pub const MAX_BYTES: usize = 420;

/// Room for the digits of a `u64`, rounded up to whole words.
pub(crate) const MAX_DIGITS: usize = 24;

/// Writes `vote` and says how many bytes it took: 347 and the digits of the three integers.
#[inline]
pub fn write(vote: &Vote, buffer: &mut [u8; MAX_BYTES]) -> usize {
    let mut out = Out { buffer, length: 0 };
    out.text(b"{\"round\":\"");
    out.integer(vote.round);
    out.text(b"\",\"block_hash\":\"0x");
    out.hex::<32, 64>(&vote.block_hash);
    out.text(b"\",\"voter_id\":\"0x");
    out.hex::<32, 64>(&vote.voter_id);
    out.text(b"\",\"signature\":\"0x");
    out.hex::<64, 128>(&vote.signature);
    out.text(b"\",\"timestamp\":\"");
    out.integer(vote.timestamp);
    out.text(b"\",\"vote_type\":");
    out.integer(u64::from(vote.vote_type));
    out.text(b"}");
    out.length
}

/// The buffer, and how much of it is written.
struct Out<'b> {
    buffer: &'b mut [u8; MAX_BYTES],
    length: usize,
}

impl Out<'_> {
    #[inline(always)]
    fn text<const N: usize>(&mut self, text: &[u8; N]) {
        self.buffer[self.length..][..N].copy_from_slice(text);
        self.length += N;
    }

    #[inline(always)]
    fn hex<const N: usize, const DIGITS: usize>(&mut self, bytes: &[u8; N]) {
        const { assert!(DIGITS == 2 * N) };
        // The lengths agree, so there is no error to look at.
        let _ = const_hex::encode_to_slice(bytes, &mut self.buffer[self.length..][..DIGITS]);
        self.length += DIGITS;
    }

    #[inline(always)]
    fn integer(&mut self, value: u64) {
        let place = &mut self.buffer[self.length..][..MAX_DIGITS];
        self.length += place.first_chunk_mut().map_or(0, |place| decimal(value, place));
    }
}

/// Writes `value` in decimal and says how many digits it took. The places behind the last digit are written, too: eight
/// digits at a time go out, and what follows is to overwrite them.
#[inline(always)]
fn decimal(value: u64, place: &mut [u8; MAX_DIGITS]) -> usize {
    let (mut rest, mut chunks) = (value, 0);
    let mut words = [0; 2];
    while rest >= integer::TEN_TO_8 {
        words[1 - chunks] = integer::spell(rest % integer::TEN_TO_8);
        rest /= integer::TEN_TO_8;
        chunks += 1;
    }
    let (first, digits) = integer::spell_short(rest);
    place[..8].copy_from_slice(&first.to_le_bytes());
    let mut length = digits;
    for word in &words[2 - chunks..] {
        place[length..length + 8].copy_from_slice(&word.to_le_bytes());
        length += 8;
    }
    length
}
