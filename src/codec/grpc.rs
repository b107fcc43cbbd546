//! `grpc`: a protobuf vote as gRPC frames it (gRPC over HTTP/2, "Length-Prefixed-Message"): one byte that says whether the
//! message is compressed (here always 0), its length as a big-endian u32, the message. HTTP/2's own frames are the
//! transport's. The message is [`protobuf`](mod@super::protobuf)'s, with the choices made there.
//!
//! A prefix that is cut short, that says compressed (no compression is negotiated) or whose length is not that of the bytes
//! behind it is an invalid envelope. gRPC knows no third value of the first byte: any other than 0 counts as compressed.

use super::buffer::Buffer;
use super::protobuf::{self, MAX_BYTES, Message};
use super::{Class, Codec, CodecError, Envelope, Info};
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "grpc",
    class: Class::Row,
    crates: &["prost"],
    summary: "protobuf behind gRPC's 5-byte prefix, never compressed",
    // HTTP/2's frame header has nine bytes.
    lead: 1,
    lacks: &[],
};

/// Bytes of the prefix.
const PREFIX_BYTES: usize = 5;

/// The codec `grpc`.
pub(super) struct Grpc {
    message: Message,
    buffer: Buffer<3, { PREFIX_BYTES + MAX_BYTES }>,
}

impl Grpc {
    pub(super) fn new() -> Self {
        Self { message: Message::default(), buffer: Buffer::new() }
    }
}

impl Codec for Grpc {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let (prefix, body) = self.buffer.message.split_at_mut(PREFIX_BYTES);
        let length = self.message.encode(vote, body)?;
        // The first byte stays 0, and no vote is longer than a u32 can say.
        prefix[1..].copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
        Ok(&self.buffer.message[..PREFIX_BYTES + length])
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
fn unframe(message: &[u8]) -> Result<&[u8], CodecError> {
    let Some(([compressed, length @ ..], body)) = message.split_first_chunk::<PREFIX_BYTES>() else {
        return Err(wrong(Envelope::Short));
    };
    if *compressed != 0 {
        return Err(wrong(Envelope::Compressed));
    }
    if usize::try_from(u32::from_be_bytes(*length)) != Ok(body.len()) {
        return Err(wrong(Envelope::Length));
    }
    Ok(body)
}

#[cold]
fn wrong(envelope: Envelope) -> CodecError {
    CodecError::invalid_envelope(envelope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_is_as_grpc_writes_it_and_nothing_else_is_read() {
        let mut codec = Grpc::new();
        let message = codec.encode(&Vote::canonical()).unwrap().to_vec();
        assert_eq!(message[..5], [0, 0, 0, 0, 148]);
        assert_eq!(codec.own(&message), Ok(Vote::canonical()));
        for (bytes, envelope) in [
            (&message[..4], Envelope::Short),
            (&message[..message.len() - 1], Envelope::Length),
            (&[&message[..], &[0]].concat(), Envelope::Length),
            (&[&[1], &message[1..]].concat(), Envelope::Compressed),
            (&[&[0, 0xff, 0xff, 0xff, 0xff], &message[5..]].concat(), Envelope::Length),
        ] {
            assert_eq!(codec.own(bytes), Err(CodecError::invalid_envelope(envelope)));
            assert_eq!(codec.open(bytes), Err(CodecError::invalid_envelope(envelope)));
        }
    }
}
