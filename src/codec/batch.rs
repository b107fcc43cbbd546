//! The timed loops over a corpus, the same for every codec. Owns how messages lie in memory and how one call follows
//! another; owns no clock.
//!
//! Every message costs one call that is not inlined (the functions `*_one`): the compiler sees neither where the message
//! lies nor how long it is, and what comes out goes through `black_box`. Two paces: back to back, and chained, where the
//! address of the next message depends on what the last one gave, so that a CPU cannot overlap them. The dependency is a
//! mask that is zero at run time and opaque at compile time: addresses are the same in both paces, and so are inputs and
//! order.
//!
//! `black_box` gets a reference to the outcome where the call left it. Taking the value out first would copy it, and a
//! copy in wider pieces than the call wrote it in waits until the stores have left the CPU's store buffer: that doubled an
//! encoder of fixed offsets and trebled an owner, the same for every format.

use std::hint::black_box;

use bytes::Bytes;

use super::{Codec, CodecError};
use crate::vote::{Digest, Vote};

/// How one message follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pace {
    /// Back to back: throughput.
    Stream,
    /// The next message's address depends on the last one's outcome: latency.
    Chained,
}

impl Pace {
    /// Both paces.
    pub const ALL: [Self; 2] = [Self::Stream, Self::Chained];

    /// The pace's name in results, where it is the `row`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Chained => "chained",
        }
    }
}

/// The boundary that messages are laid out against, in bytes: a cache line, so that every codec's corpus starts alike.
const BOUNDARY: usize = 64;

/// Votes, and the messages that one codec made of them, lying as a receive buffer holds them.
#[derive(Debug)]
pub struct Batch {
    votes: Vec<Vote>,
    arena: Bytes,
    spans: Vec<Span>,
}

/// Where a message lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: usize,
    length: usize,
}

impl Batch {
    /// Encodes `votes` and lays the messages out, each [`lead`](super::Info::lead) bytes behind an 8-byte boundary.
    ///
    /// # Errors
    /// The first error of the codec's `encode`.
    pub fn new<C: Codec + ?Sized>(codec: &mut C, votes: Vec<Vote>) -> Result<Self, CodecError> {
        let lead = codec.info().lead;
        let mut bytes = Vec::new();
        let mut spans = Vec::with_capacity(votes.len());
        for vote in &votes {
            let message = codec.encode(vote)?;
            bytes.resize(bytes.len().next_multiple_of(8) + lead, 0);
            spans.push(Span { start: bytes.len(), length: message.len() });
            bytes.extend_from_slice(message);
        }
        let mut arena: Vec<u8> = Vec::with_capacity(bytes.len() + BOUNDARY);
        arena.resize(arena.as_ptr().align_offset(BOUNDARY), 0);
        let base = arena.len();
        arena.extend_from_slice(&bytes);
        for span in &mut spans {
            span.start += base;
        }
        Ok(Self { votes, arena: Bytes::from(arena), spans })
    }

    /// The votes.
    #[must_use]
    pub fn votes(&self) -> &[Vote] {
        &self.votes
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The messages, in the order of the votes.
    pub fn messages(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|span| self.at(*span))
    }

    #[inline(always)]
    pub(super) fn at(&self, span: Span) -> &[u8] {
        &self.arena[span.start..][..span.length]
    }

    /// The message as a counted reference, for libraries that read out of shared bytes.
    #[inline(always)]
    pub(super) fn shared(&self, span: Span) -> Bytes {
        self.arena.slice(span.start..span.start + span.length)
    }
}

/// One pass of the model `encode`: votes to messages. Chained by a byte of each eight of the message.
///
/// # Errors
/// The first error of the codec.
#[inline(always)]
pub fn encode<C: Codec + ?Sized>(codec: &mut C, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
    match pace {
        Pace::Stream => {
            for vote in &batch.votes {
                let outcome = encode_one(codec, vote);
                black_box(&outcome);
                outcome?;
            }
        }
        Pace::Chained => {
            let zero = black_box(0);
            let mut shift = 0;
            for place in 0..batch.votes.len() {
                let outcome = encode_one(codec, &batch.votes[place + shift]);
                match &outcome {
                    Ok(message) => shift = usize::from(touch(message)) & zero,
                    Err(error) => return Err(error.clone()),
                }
                black_box(&outcome);
            }
        }
    }
    Ok(())
}

/// One pass of the model `open`. Chained by the round, the first value that depends on the opened message: without it a
/// CPU that predicts branches would begin with the next message before it has looked at this one.
///
/// # Errors
/// The first error of the codec.
#[inline(always)]
pub fn open<C: Codec + ?Sized>(codec: &mut C, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
    match pace {
        Pace::Stream => each(batch, pace, |span| open_one(codec, batch.at(span)), |()| 0),
        Pace::Chained => each(batch, pace, |span| open_round_one(codec, batch.at(span)), link_round),
    }
}

/// One pass of the model `read`. Chained by the digest.
///
/// # Errors
/// The first error of the codec.
#[inline(always)]
pub fn read<C: Codec + ?Sized>(codec: &mut C, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
    each(batch, pace, |span| read_one(codec, batch.at(span)), link_digest)
}

/// One pass of the model `own`. Chained by something of each of the vote's six fields.
///
/// # Errors
/// The first error of the codec.
#[inline(always)]
pub fn own<C: Codec + ?Sized>(codec: &mut C, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
    each(batch, pace, |span| own_one(codec, batch.at(span)), link_vote)
}

/// What a chain draws from an opened message.
#[inline(always)]
pub(super) fn link_round(round: &u64) -> u64 {
    *round
}

/// What a chain draws from a read message.
#[inline(always)]
pub(super) fn link_digest(digest: &Digest) -> u64 {
    digest.0
}

/// What a chain draws from an owned vote: something of each of its six fields.
#[inline(always)]
pub(super) fn link_vote(vote: &Vote) -> u64 {
    let bytes = vote.block_hash[0] ^ vote.voter_id[0] ^ vote.signature[0] ^ vote.vote_type;
    vote.round ^ vote.timestamp ^ u64::from(bytes)
}

/// Calls `one` with where every message lies. What it gives goes through `black_box`; in the pace `Chained`, `link` draws from it
/// what the next message's address depends on.
#[inline(always)]
pub(super) fn each<T>(
    batch: &Batch,
    pace: Pace,
    mut one: impl FnMut(Span) -> Result<T, CodecError>,
    link: impl Fn(&T) -> u64,
) -> Result<(), CodecError> {
    match pace {
        Pace::Stream => {
            for span in &batch.spans {
                let outcome = one(*span);
                black_box(&outcome);
                outcome?;
            }
        }
        Pace::Chained => {
            let zero = black_box(0);
            let mut shift = 0;
            for span in &batch.spans {
                let outcome = one(Span { start: span.start + shift, ..*span });
                // Linked before `black_box`: after it the value would come back through memory, for all rows alike.
                match &outcome {
                    Ok(value) => shift = word(link(value)) & zero,
                    Err(error) => return Err(error.clone()),
                }
                black_box(&outcome);
            }
        }
    }
    Ok(())
}

/// A byte of each eight of a message, and the last, by which the next vote's address depends on the whole of this message
/// having been written. Single bytes, because a load that is wider than the store before it would wait for the store.
#[inline(always)]
pub(super) fn touch(message: &[u8]) -> u8 {
    let last = message.last().copied().unwrap_or(0);
    message.iter().step_by(8).fold(last, |bytes, byte| bytes ^ byte)
}

#[expect(clippy::cast_possible_truncation, reason = "only the dependency counts: the value is masked away")]
#[inline(always)]
fn word(value: u64) -> usize {
    value as usize
}

#[inline(never)]
fn encode_one<'c, C: Codec + ?Sized>(codec: &'c mut C, vote: &Vote) -> Result<&'c [u8], CodecError> {
    codec.encode(vote)
}

#[inline(never)]
fn open_one<C: Codec + ?Sized>(codec: &mut C, message: &[u8]) -> Result<(), CodecError> {
    codec.open(message)
}

#[inline(never)]
fn open_round_one<C: Codec + ?Sized>(codec: &mut C, message: &[u8]) -> Result<u64, CodecError> {
    codec.open_round(message)
}

#[inline(never)]
fn read_one<C: Codec + ?Sized>(codec: &mut C, message: &[u8]) -> Result<Digest, CodecError> {
    codec.read(message)
}

#[inline(never)]
fn own_one<C: Codec + ?Sized>(codec: &mut C, message: &[u8]) -> Result<Vote, CodecError> {
    codec.own(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vote::corpus;

    #[test]
    fn messages_lie_as_the_stack_delivers_them() {
        for mut codec in crate::codec::all() {
            let votes = corpus::votes(33, 5);
            let batch = Batch::new(codec.as_mut(), votes.clone()).unwrap();
            assert_eq!((batch.len(), batch.votes()), (33, &votes[..]));
            assert!(batch.messages().eq(batch.spans.iter().map(|span| batch.shared(*span))));
            for (message, vote) in batch.messages().zip(&votes) {
                assert_eq!(message.as_ptr().addr() % 8, codec.info().lead % 8, "{}", codec.name());
                assert_eq!(codec.own(message).as_ref(), Ok(vote), "{}", codec.name());
            }
        }
    }
}
