//! A message that is a whole QUIC stream: reading it until the peer ends the stream. Owns the buffer, which is reused and grows
//! with what arrives, and the account of what the unfinished messages of one connection hold together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use quinn::{ReadError, RecvStream};

use super::TransportError;
use super::quic_endpoint::{self, Code};

/// Bytes that a buffer starts with: several votes in the wordiest format.
const INITIAL_BYTES: usize = 4 << 10;

/// What the unfinished messages of one connection may hold besides one message of the greatest length: as many small ones as
/// there may be streams have room in it twice.
const ROOM_BYTES: u64 = 32 << 20;

/// Why a message did not arrive.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    /// The stream failed: its peer gave it up, or the connection is lost.
    #[error(transparent)]
    Stream(ReadError),
    /// It is longer than the limit.
    #[error("a message of at least {length} bytes is over the limit of {limit}")]
    TooLong {
        /// Bytes that have arrived.
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// It ended before it began.
    #[error("a message of 0 bytes")]
    Empty,
    /// The unfinished messages of its connection hold too much together.
    #[error("the unfinished messages of one connection hold too much memory together")]
    Excess,
}

impl Broken {
    /// What to tell the peer; `None` where it is the peer who has given up, or is gone.
    pub(super) const fn code(&self) -> Option<Code> {
        match self {
            Self::Stream(_) => None,
            Self::TooLong { .. } => Some(Code::TooLong),
            Self::Empty => Some(Code::Empty),
            Self::Excess => Some(Code::Excess),
        }
    }
}

impl From<Broken> for TransportError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Stream(error) => quic_endpoint::unread(error),
            Broken::TooLong { length, limit } => Self::TooLong { length, limit },
            Broken::Empty => Self::Empty,
            Broken::Excess => Self::stack(broken),
        }
    }
}

/// A message, as far as it has arrived.
#[derive(Debug)]
pub(super) struct Message {
    buffer: Vec<u8>,
    length: usize,
    limit: u64,
    share: Option<Share>,
}

impl Message {
    /// None yet; more than `limit` bytes are refused.
    pub(super) const fn new(limit: u64) -> Self {
        Self { buffer: Vec::new(), length: 0, limit, share: None }
    }

    /// From now on what the message holds counts against `account`.
    ///
    /// # Errors
    /// Where it is too much already.
    pub(super) fn charge(&mut self, account: &Arc<Account>) -> Result<(), Broken> {
        self.share = Some(account.share(self.buffer.len() as u64)?);
        Ok(())
    }

    /// Forgets the message and keeps the room.
    pub(super) const fn clear(&mut self) {
        self.length = 0;
    }

    /// What has arrived.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Reads what there is; ready when the peer has ended the stream. quinn finds data and end in one look, so that a message
    /// in one packet is ready at the first call.
    pub(super) fn poll_arrive(
        &mut self,
        context: &mut Context<'_>,
        stream: &mut RecvStream,
    ) -> Poll<Result<(), Broken>> {
        loop {
            if self.length == self.buffer.len() {
                self.make_room()?;
            }
            match ready!(stream.poll_read(context, &mut self.buffer[self.length..])).map_err(Broken::Stream)? {
                0 if self.length == 0 => return Poll::Ready(Err(Broken::Empty)),
                0 => return Poll::Ready(Ok(())),
                bytes => self.length += bytes,
            }
            let (length, limit) = (self.length as u64, self.limit);
            if length > limit {
                return Poll::Ready(Err(Broken::TooLong { length, limit }));
            }
        }
    }

    /// Twice the room, or just enough to find that a message is too long.
    fn make_room(&mut self) -> Result<(), Broken> {
        let most = usize::try_from(self.limit).unwrap_or(usize::MAX).saturating_add(1);
        let length = (2 * self.buffer.len()).max(INITIAL_BYTES).min(most);
        if let Some(share) = &mut self.share {
            share.grow_to(length as u64)?;
        }
        self.buffer.resize(length, 0);
        Ok(())
    }
}

/// What the unfinished messages of one connection hold together.
#[derive(Debug)]
pub(super) struct Account {
    held: AtomicU64,
    most: u64,
}

impl Account {
    /// Nothing yet; a single message of `limit` bytes always fits.
    pub(super) const fn new(limit: u64) -> Self {
        Self { held: AtomicU64::new(0), most: limit.saturating_add(ROOM_BYTES) }
    }

    /// A share of `bytes`, given back when it is dropped.
    ///
    /// # Errors
    /// Where that is too much.
    pub(super) fn share(self: &Arc<Self>, bytes: u64) -> Result<Share, Broken> {
        let mut share = Share { account: Arc::clone(self), bytes: 0 };
        share.grow_to(bytes)?;
        Ok(share)
    }
}

/// What one unfinished message holds of its connection's account.
#[derive(Debug)]
pub(super) struct Share {
    account: Arc<Account>,
    bytes: u64,
}

impl Share {
    fn grow_to(&mut self, bytes: u64) -> Result<(), Broken> {
        let more = bytes.saturating_sub(self.bytes);
        let held = self.account.held.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        self.bytes += more;
        if held > self.account.most { Err(Broken::Excess) } else { Ok(()) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.account.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_takes_the_longest_message_and_gives_back_what_is_dropped() {
        let account = Arc::new(Account::new(64 << 20));
        let longest = account.share((64 << 20) + 1).unwrap();
        let small: Vec<_> = (0..4_096).map(|_| account.share(INITIAL_BYTES as u64).unwrap()).collect();
        assert!(matches!(account.share(64 << 20), Err(Broken::Excess)));
        drop((longest, small));
        assert_eq!(account.held.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn room_grows_no_further_than_it_takes_to_see_that_a_message_is_too_long() {
        let mut message = Message::new(10_000);
        let mut rooms = Vec::new();
        for _ in 0..3 {
            message.make_room().unwrap();
            rooms.push(message.buffer.len());
        }
        assert_eq!(rooms, [4_096, 8_192, 10_001]);
    }
}
