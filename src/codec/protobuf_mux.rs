//! `protobuf-mux`: a protobuf vote behind its length as an unsigned varint, as protobuf's own delimited streams and libp2p's
//! protocols frame it. The muxer's frames are the transport's. The message is [`protobuf`](mod@super::protobuf)'s, with the
//! choices made there; the prefix is prost's, written by `encode_length_delimited`.
//!
//! A length may take up to ten bytes and need not be the shortest form of its value, as in protobuf. One that ends nowhere,
//! that is larger than 64 bits, or that is not the count of the bytes behind it is an invalid envelope.

use prost::bytes::Buf;

use super::buffer::Buffer;
use super::protobuf::{self, MAX_BYTES, Message};
use super::{Class, Codec, CodecError, Envelope, Info};
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "protobuf-mux",
    class: Class::Row,
    crates: &["prost"],
    summary: "protobuf behind its length as an unsigned varint",
    // yamux's header has twelve bytes.
    lead: 4,
    lacks: &[],
};

/// The codec `protobuf-mux`.
pub(super) struct ProtobufMux {
    message: Message,
    buffer: Buffer<6, { PREFIX_BYTES + MAX_BYTES }>,
}

/// Bytes of a vote's length.
const PREFIX_BYTES: usize = 2;

impl ProtobufMux {
    pub(super) fn new() -> Self {
        Self { message: Message::default(), buffer: Buffer::new() }
    }
}

impl Codec for ProtobufMux {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let length = self.message.encode_length_delimited(vote, &mut self.buffer.message)?;
        Ok(&self.buffer.message[..length])
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        Ok(self.message.merge(unframe(message)?)?.round)
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        protobuf::digest(self.message.merge(unframe(message)?)?)
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        protobuf::vote(self.message.merge(unframe(message)?)?)
    }
}

#[inline]
fn unframe(mut message: &[u8]) -> Result<&[u8], CodecError> {
    match prost::decode_length_delimiter(&mut message) {
        Ok(length) if length == message.remaining() => Ok(message),
        Ok(_) => Err(wrong(Envelope::Length)),
        Err(_) => Err(wrong(Envelope::Short)),
    }
}

#[cold]
fn wrong(envelope: Envelope) -> CodecError {
    CodecError::invalid_envelope(envelope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_may_be_long_but_must_be_right() {
        let mut codec = ProtobufMux::new();
        let message = codec.encode(&Vote::canonical()).unwrap().to_vec();
        assert_eq!(message[..2], [0x94, 0x01]);
        let body = &message[2..];
        for prefix in [&[0x94, 0x81, 0x00][..], &[0x94, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]] {
            assert_eq!(codec.own(&[prefix, body].concat()), Ok(Vote::canonical()));
        }
        for (bytes, envelope) in [
            (&[][..], Envelope::Short),
            (&[0x94], Envelope::Short),
            (&[&[0xff; 10], body].concat(), Envelope::Short),
            (&[&[0x94, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], body].concat(), Envelope::Short),
            (&message[..149], Envelope::Length),
            (&[&message[..], &[0]].concat(), Envelope::Length),
        ] {
            assert_eq!(codec.own(bytes), Err(CodecError::invalid_envelope(envelope)), "{bytes:x?}");
            assert_eq!(codec.open(bytes), Err(CodecError::invalid_envelope(envelope)), "{bytes:x?}");
        }
    }
}
