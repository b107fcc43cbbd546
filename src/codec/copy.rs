//! `copy-161`: 16 zero bytes and the packed 145 bytes, as long as a ZAP message, and only ever copied. It is the unit of
//! the tables: what moving 161 bytes costs that a program knows the length of only at run time. It is no bound (a copy of
//! a length known at compile time is faster) and no format.
//!
//! What is timed, in both of its models, is one call that is not inlined and copies the corpus's message, at a length that
//! is opaque to the compiler, into a reused buffer: as `encode` (what a sender that already had the bytes would do) and as
//! `open` (what a receiver that only kept them would do). The single-message methods are whole, so that what is copied is
//! known to be the vote.

use std::hint::black_box;

use super::batch::{each, touch};
use super::buffer::Buffer;
use super::{Batch, Class, Codec, CodecError, Envelope, Info, Model, Pace, packed};
use crate::vote::{Digest, PAYLOAD_BYTES, Vote};

static INFO: Info = Info {
    name: "copy-161",
    class: Class::Floor,
    crates: &[],
    summary: "a run-time-length copy of the corpus's 161-byte message into a reused buffer; the unit of the tables",
    lead: 4,
    lacks: &[(Model::Read, "a copy reads no fields"), (Model::Own, "a copy reads no fields")],
};

/// Bytes in front of the packed vote, all zero: as many as ZAP's header.
const HEADER_BYTES: usize = 16;

/// Bytes of a message.
const MESSAGE_BYTES: usize = HEADER_BYTES + PAYLOAD_BYTES;

/// The codec `copy-161`.
pub(super) struct Copy {
    buffer: Buffer<8, MESSAGE_BYTES>,
}

impl Copy {
    pub(super) const fn new() -> Self {
        Self { buffer: Buffer::new() }
    }
}

impl Codec for Copy {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        if let Some(payload) = self.buffer.message.last_chunk_mut() {
            packed::write(payload, vote);
        }
        Ok(&self.buffer.message)
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(view(message)?.round())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        Ok(view(message)?.digest())
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        Ok(view(message)?.vote())
    }

    fn encode_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        copy_batch(&mut self.buffer.message, batch, pace)
    }

    fn open_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        copy_batch(&mut self.buffer.message, batch, pace)
    }
}

/// The packed vote behind the zeros.
#[inline]
fn view(message: &[u8]) -> Result<packed::View<'_>, CodecError> {
    match message.split_first_chunk::<HEADER_BYTES>() {
        None => Err(CodecError::invalid_envelope(Envelope::Short)),
        Some((header, payload)) if *header == [0; HEADER_BYTES] => packed::View::new(payload),
        Some(_) => Err(CodecError::invalid_envelope(Envelope::Flags)),
    }
}

/// One pass: every message copied by a call of its own. Chained as an encoded message is, by a byte of each eight of the copy.
#[inline(always)]
fn copy_batch(buffer: &mut [u8], batch: &Batch, pace: Pace) -> Result<(), CodecError> {
    let copy = |span| {
        let message = batch.at(span);
        let outcome = copy_one(buffer, message);
        let copied = black_box(&*buffer);
        outcome.map(|()| match pace {
            Pace::Stream => 0,
            Pace::Chained => touch(copied.get(..message.len()).unwrap_or_default()),
        })
    };
    each(batch, pace, copy, |bytes| u64::from(*bytes))
}

/// The copy. Neither where its ends lie nor its length is known to the compiler.
#[inline(never)]
fn copy_one(buffer: &mut [u8], message: &[u8]) -> Result<(), CodecError> {
    buffer.get_mut(..message.len()).ok_or_else(CodecError::trailing_bytes)?.copy_from_slice(message);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vote::corpus;

    #[test]
    fn both_models_copy_every_message() {
        let mut codec = Copy::new();
        let batch = Batch::new(&mut codec, corpus::votes(5, 1)).unwrap();
        for model in [Model::Encode, Model::Open] {
            for pace in Pace::ALL {
                codec.buffer.message.fill(0xff);
                codec.run_batch(model, &batch, pace).unwrap();
                assert_eq!(Some(&codec.buffer.message[..]), batch.messages().last());
            }
        }
    }

    #[test]
    fn refuses_what_is_not_a_vote_behind_sixteen_zeros() {
        let mut codec = Copy::new();
        let message = codec.encode(&Vote::canonical()).unwrap().to_vec();
        assert_eq!(codec.own(&message), Ok(Vote::canonical()));
        assert_eq!(codec.own(&message[..15]), Err(CodecError::invalid_envelope(Envelope::Short)));
        assert_eq!(codec.own(&message[..160]), Err(CodecError::buffer_too_small()));
        assert_eq!(codec.own(&[&message[..], &[0]].concat()), Err(CodecError::trailing_bytes()));
        for at in 0..16 {
            let mut damaged = message.clone();
            damaged[at] = 1;
            assert_eq!(codec.read(&damaged), Err(CodecError::invalid_envelope(Envelope::Flags)));
        }
    }
}
