//! Messages over a byte stream: a 4-byte big-endian length before each. Owns both halves, [`Input`] and [`Output`], and the
//! two loops that every stream stack shares: [`FramedConnection`] for a client, [`serve_stream`] for a server.
//!
//! A read takes whatever the kernel has, however many messages that is; a server answers all of them and then writes once, so
//! what arrives together is answered together and a single message costs one read and one write. A declared length is believed
//! only as far as bytes follow it: the buffer grows with what arrives, never with what is announced.

use std::io;
use std::ops::Range;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::framed_pipeline::FramedPipeline;
use super::payload::{Requester, Responder};
use super::pipeline::{Flight, Pipeline, Writes};
use super::{Traffic, TransportError};
use crate::vote::Vote;

/// Bytes of a message's length.
pub const LENGTH_BYTES: usize = 4;

/// Bytes that a connection's buffer starts with.
const INITIAL_BYTES: usize = 16 << 10;

/// Bytes that it grows to for the sake of long reads alone; only a longer message makes it larger.
const AMPLE_BYTES: usize = 256 << 10;

/// Bytes after which either side writes although more is at hand: some 85 votes. Were it more than all that is in flight, the two
/// sides would take turns instead of working at once.
pub(super) const WRITE_BYTES: usize = 16 << 10;

/// What has arrived and not been taken yet.
#[derive(Debug)]
pub struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    limit: u64,
}

impl Input {
    /// Nothing yet; messages over `limit` bytes are refused.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { buffer: vec![0; INITIAL_BYTES], start: 0, end: 0, limit }
    }

    /// Where the next message lies, if the whole of it has arrived; it is taken.
    ///
    /// # Errors
    /// Where its length is 0 or over the limit.
    pub fn take(&mut self) -> Result<Option<Range<usize>>, TransportError> {
        let arrived = &self.buffer[self.start..self.end];
        let Some((length, rest)) = arrived.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length);
        if u64::from(length) > self.limit {
            return Err(TransportError::TooLong { length: length.into(), limit: self.limit });
        }
        if length == 0 {
            return Err(TransportError::Empty);
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if rest.len() < length {
            return Ok(None);
        }
        let start = self.start + LENGTH_BYTES;
        self.start = start + length;
        Ok(Some(start..start + length))
    }

    /// The bytes of a message that was [taken](Self::take), until more is read.
    #[must_use]
    pub fn message(&self, place: Range<usize>) -> &[u8] {
        &self.buffer[place]
    }

    /// Where the next read goes: never empty. Moves what has arrived to the front, and makes room where there is none.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        &mut self.buffer[self.end..]
    }

    /// `bytes` have been read into the [room](Self::room).
    pub fn arrived(&mut self, bytes: usize) {
        self.end += bytes;
        if self.end == self.buffer.len() && self.buffer.len() < AMPLE_BYTES {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
    }

    /// Whether a message has begun to arrive and is not complete.
    #[must_use]
    pub const fn is_mid_message(&self) -> bool {
        self.start < self.end
    }

    /// The next message, reading as often as it takes; `None` where the peer has ended the stream between two messages.
    ///
    /// # Errors
    /// Where reading fails, the stream ends in mid-message, or a length is refused.
    pub async fn next<S: AsyncRead + Unpin>(&mut self, stream: &mut S) -> Result<Option<Range<usize>>, TransportError> {
        loop {
            if let Some(place) = self.take()? {
                return Ok(Some(place));
            }
            match stream.read(self.room()).await? {
                0 if self.is_mid_message() => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                0 => return Ok(None),
                bytes => self.arrived(bytes),
            }
        }
    }
}

/// What is ready to be written.
#[derive(Debug, Default)]
pub struct Output {
    buffer: Vec<u8>,
}

impl Output {
    /// Puts `message` behind what is there, with its length.
    ///
    /// # Errors
    /// Where its length does not fit 32 bits.
    pub fn push(&mut self, message: &[u8]) -> Result<(), TransportError> {
        let length = u32::try_from(message.len())
            .map_err(|_| TransportError::TooLong { length: message.len() as u64, limit: u32::MAX.into() })?;
        self.buffer.extend_from_slice(&length.to_be_bytes());
        self.buffer.extend_from_slice(message);
        Ok(())
    }

    /// The bytes to write.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// They have been written.
    pub fn clear(&mut self) {
        self.buffer.clear();
    }

    /// Writes everything in one call where the stream takes it, and flushes.
    ///
    /// # Errors
    /// Where writing fails.
    pub async fn write_to<S: AsyncWrite + Unpin>(&mut self, stream: &mut S) -> io::Result<()> {
        stream.write_all(&self.buffer).await?;
        self.buffer.clear();
        stream.flush().await
    }
}

/// A client's end of a framed byte stream.
pub struct FramedConnection<S> {
    stream: S,
    input: Input,
    output: Output,
    requester: Box<dyn Requester>,
    traffic: Traffic,
}

impl<S: AsyncRead + AsyncWrite + Unpin> FramedConnection<S> {
    /// Speaks as `requester` over `stream`.
    #[must_use]
    pub fn new(stream: S, requester: Box<dyn Requester>, limit: u64) -> Self {
        Self { stream, input: Input::new(limit), output: Output::default(), requester, traffic: Traffic::default() }
    }

    /// The stream.
    pub const fn stream(&self) -> &S {
        &self.stream
    }

    /// The stream, to be changed: for what its protocol has to say outside of messages.
    pub const fn stream_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// The frames that it has carried, counted here: for streams of which the kernel keeps no account.
    pub const fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Goes on with many messages in flight; `has_tasks` where the stream only hands bytes to tasks of its stack.
    pub fn pipeline(self, flight: Flight, has_tasks: bool) -> Box<dyn Pipeline>
    where
        S: Send + 'static,
    {
        Box::new(FramedPipeline::new(self.stream, self.input, self.requester, flight, has_tasks))
    }

    /// One round trip.
    ///
    /// # Errors
    /// As [`Connection::exchange`](super::Connection::exchange).
    pub async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.output.push(self.requester.request(vote)?)?;
        self.traffic.sent_bytes += self.output.bytes().len() as u64;
        self.output.write_to(&mut self.stream).await?;
        let place = self.input.next(&mut self.stream).await?.ok_or(TransportError::Closed)?;
        self.traffic.received_bytes += (LENGTH_BYTES + place.len()) as u64;
        self.requester.check(vote, self.input.message(place))
    }
}

/// Answers every message of `stream`, in order, until the peer ends it.
///
/// # Errors
/// Where the stream fails, a length is refused, or a message is no vote.
pub async fn serve_stream<S>(
    mut stream: S,
    mut responder: Box<dyn Responder>,
    limit: u64,
    writes: Writes,
) -> Result<(), TransportError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut input, mut output) = (Input::new(limit), Output::default());
    while let Some(place) = input.next(&mut stream).await? {
        let answered = answer(responder.as_mut(), &mut input, place, &mut output, writes);
        output.write_to(&mut stream).await?;
        answered?;
    }
    Ok(())
}

/// Answers the message at `place`, and, where answers are batched, those that have arrived behind it, until there is enough to
/// write. Where one is
/// refused, the answers to those before it are in `output` all the same: they are written before the connection ends.
///
/// # Errors
/// Where a length is refused, or a message is no vote.
pub fn answer(
    responder: &mut dyn Responder,
    input: &mut Input,
    place: Range<usize>,
    output: &mut Output,
    writes: Writes,
) -> Result<(), TransportError> {
    output.push(responder.respond(input.message(place))?)?;
    while writes == Writes::Batched && output.bytes().len() < WRITE_BYTES {
        let Some(place) = input.take()? else { break };
        output.push(responder.respond(input.message(place))?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(input: &mut Input, mut bytes: &[u8], chunk: usize) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        while !bytes.is_empty() {
            let room = input.room();
            let taken = chunk.min(bytes.len()).min(room.len());
            room[..taken].copy_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            input.arrived(taken);
            while let Some(place) = input.take().unwrap() {
                messages.push(input.message(place).to_vec());
            }
        }
        messages
    }

    #[test]
    fn whatever_the_pieces_the_messages_are_the_same() {
        let messages: Vec<Vec<u8>> = (1..=255_u8).map(|n| vec![n; usize::from(n) * 70 % 3_000 + 1]).collect();
        let mut output = Output::default();
        for message in &messages {
            output.push(message).unwrap();
        }
        for chunk in [1, 3, 4, 5, 165, 4_096, 1 << 20] {
            let mut input = Input::new(1 << 20);
            assert_eq!(feed(&mut input, output.bytes(), chunk), messages, "in pieces of {chunk}");
            assert!(!input.is_mid_message());
        }
    }

    #[test]
    fn believes_a_length_only_as_far_as_bytes_follow_it() {
        let mut input = Input::new(u64::from(u32::MAX));
        feed(&mut input, &[0x03, 0xff, 0xff, 0xff, 1, 2, 3], 7);
        assert!(input.is_mid_message());
        assert_eq!(input.buffer.len(), INITIAL_BYTES);
    }

    #[test]
    fn refuses_none_and_too_many() {
        let mut input = Input::new(1_000);
        input.room()[..4].copy_from_slice(&[0xff; 4]);
        input.arrived(4);
        let limit = 1_000;
        assert!(matches!(input.take(), Err(TransportError::TooLong { length: 0xffff_ffff, limit: l }) if l == limit));
        let mut input = Input::new(1_000);
        input.room()[..4].copy_from_slice(&[0; 4]);
        input.arrived(4);
        assert!(matches!(input.take(), Err(TransportError::Empty)));
    }
}
