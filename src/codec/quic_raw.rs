//! `quic-raw`: a 16-byte header, big-endian, and the packed vote of [`packed`](mod@super::packed), little-endian.
//!
//! | part | at | width |
//! | --- | --- | --- |
//! | body length, 145 | 0 | 4 |
//! | kind: 1 vote, 2 answer | 4 | 2 |
//! | flags, 0 | 6 | 2 |
//! | sequence | 8 | 8 |
//!
//! The sequence counts from 0 in each codec as it encodes votes; an answer has its vote's. A reader takes any, because which
//! one is due only the connection knows. Any other length, kind or flag is an invalid envelope.

use super::buffer::Buffer;
use super::packed::{self, View};
use super::{Class, Codec, CodecError, Envelope, Info};
use crate::vote::{Digest, PAYLOAD_BYTES, Vote};

static INFO: Info = Info {
    name: "quic-raw",
    class: Class::Row,
    crates: &[],
    summary: "16-byte header of length, kind, flags and sequence; then packed-145",
    lead: 4,
    lacks: &[],
};

/// Bytes of the header.
const HEADER_BYTES: usize = 16;

/// The first eight bytes of a vote's header: length, kind and flags.
const VOTE_HEAD: u64 = head(1);

/// The first eight bytes of an answer's header.
const ANSWER_HEAD: u64 = head(2);

const fn head(kind: u64) -> u64 {
    (PAYLOAD_BYTES as u64) << 32 | kind << 16
}

/// The codec `quic-raw`.
pub(super) struct QuicRaw {
    sequence: u64,
    buffer: Buffer<8, { HEADER_BYTES + PAYLOAD_BYTES }>,
}

impl QuicRaw {
    pub(super) const fn new() -> Self {
        Self { sequence: 0, buffer: Buffer::new() }
    }

    #[inline]
    fn write(&mut self, head: u64, sequence: u64, vote: &Vote) -> &[u8] {
        let message = &mut self.buffer.message;
        message[..8].copy_from_slice(&head.to_be_bytes());
        message[8..HEADER_BYTES].copy_from_slice(&sequence.to_be_bytes());
        if let Some(body) = message.last_chunk_mut() {
            packed::write(body, vote);
        }
        message
    }
}

impl Codec for QuicRaw {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        Ok(self.write(VOTE_HEAD, sequence, vote))
    }

    #[inline]
    fn encode_answer(&mut self, request: &[u8], vote: &Vote) -> Result<&[u8], CodecError> {
        let sequence = of_kind(request, VOTE_HEAD)?;
        Ok(self.write(ANSWER_HEAD, sequence, vote))
    }

    #[inline]
    fn own_answer(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        let vote = self.own(message)?;
        of_kind(message, ANSWER_HEAD)?;
        Ok(vote)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(unframe(message)?.round())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        Ok(unframe(message)?.digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        Ok(unframe(message)?.vote())
    }
}

/// The sequence of a good message whose header begins with `head`; one of the other kind is refused.
#[inline]
fn of_kind(message: &[u8], head: u64) -> Result<u64, CodecError> {
    let Some((header, _)) = message.split_first_chunk::<HEADER_BYTES>() else {
        return Err(CodecError::invalid_envelope(Envelope::Short));
    };
    let halves = header.first_chunk().zip(header.last_chunk());
    let (begins, sequence) = halves.map_or((0, 0), |(b, s)| (u64::from_be_bytes(*b), u64::from_be_bytes(*s)));
    if begins == head { Ok(sequence) } else { Err(CodecError::invalid_envelope(Envelope::Kind)) }
}

#[inline]
fn unframe(message: &[u8]) -> Result<View<'_>, CodecError> {
    match message.split_first_chunk::<HEADER_BYTES>() {
        Some((header, body)) if body.len() == PAYLOAD_BYTES => {
            let head = header.first_chunk().map_or(0, |head| u64::from_be_bytes(*head));
            if head == VOTE_HEAD || head == ANSWER_HEAD { View::new(body) } else { Err(wrong(header)) }
        }
        Some((header, _)) => Err(wrong(header)),
        None => Err(CodecError::invalid_envelope(Envelope::Short)),
    }
}

/// What is wrong with `header`, which is neither a vote's nor an answer's, or does not fit what follows it.
#[cold]
#[inline(never)]
fn wrong(header: &[u8; HEADER_BYTES]) -> CodecError {
    let [_, _, _, _, kind_high, kind_low, flags_high, flags_low, ..] = *header;
    CodecError::invalid_envelope(match ([kind_high, kind_low], [flags_high, flags_low]) {
        ([0, 1 | 2], [0, 0]) => Envelope::Length,
        ([0, 1 | 2], _) => Envelope::Flags,
        _ => Envelope::Kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_as_the_contract_says() {
        let mut codec = QuicRaw::new();
        for sequence in 0..300_u64 {
            let message = codec.encode(&Vote::canonical()).unwrap();
            let (header, body) = message.split_at(16);
            assert_eq!(header[..8], [0, 0, 0, 145, 0, 1, 0, 0]);
            assert_eq!(header[8..], sequence.to_be_bytes());
            assert_eq!(View::new(body).unwrap().vote(), Vote::canonical());
        }
    }

    #[test]
    fn votes_are_answered_and_answers_are_not() {
        let mut codec = QuicRaw::new();
        let vote = codec.encode(&Vote::canonical()).unwrap().to_vec();
        let answer = codec.encode_answer(&vote, &Vote::canonical().answer()).unwrap().to_vec();
        assert_eq!(codec.own_answer(&answer), Ok(Vote::canonical().answer()));
        let kind = CodecError::invalid_envelope(Envelope::Kind);
        assert_eq!(codec.own_answer(&vote).unwrap_err(), kind);
        assert_eq!(codec.encode_answer(&answer, &Vote::canonical()).unwrap_err(), kind);
        let short = CodecError::invalid_envelope(Envelope::Length);
        assert_eq!(codec.own_answer(&answer[..160]).unwrap_err(), short);
    }

    #[test]
    fn only_votes_and_answers_are_read() {
        let mut codec = QuicRaw::new();
        let message = codec.encode(&Vote::canonical()).unwrap().to_vec();
        let changed = |at: usize, byte: u8| {
            let mut message = message.clone();
            message[at] = byte;
            message
        };
        assert_eq!(codec.own(&changed(5, 2)), Ok(Vote::canonical()));
        assert_eq!(codec.own(&changed(15, 77)), Ok(Vote::canonical()));
        for (bytes, envelope) in [
            (message[..15].to_vec(), Envelope::Short),
            (message[..160].to_vec(), Envelope::Length),
            ([&message[..], &[0]].concat(), Envelope::Length),
            (changed(3, 144), Envelope::Length),
            (changed(0, 1), Envelope::Length),
            (changed(5, 0), Envelope::Kind),
            (changed(5, 3), Envelope::Kind),
            (changed(4, 1), Envelope::Kind),
            (changed(6, 1), Envelope::Flags),
            (changed(7, 128), Envelope::Flags),
        ] {
            assert_eq!(codec.own(&bytes), Err(CodecError::invalid_envelope(envelope)));
            assert_eq!(codec.read(&bytes), Err(CodecError::invalid_envelope(envelope)));
        }
    }
}
