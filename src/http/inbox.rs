//! What has arrived on a connection and was not taken yet. Owns the buffer that every arm of ours reads into; it grows with what
//! arrives, never with what is announced.

use std::io;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Bytes that a connection's buffer starts with.
const INITIAL_BYTES: usize = 16 << 10;

/// Bytes that it grows to for the sake of long reads alone; only a longer message makes it larger.
const AMPLE_BYTES: usize = 128 << 10;

/// A connection's buffer.
#[derive(Debug)]
pub struct Inbox {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Default for Inbox {
    fn default() -> Self {
        Self { buffer: vec![0; INITIAL_BYTES], start: 0, end: 0 }
    }
}

impl Inbox {
    /// What has arrived.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The first `count` bytes have been dealt with.
    pub(super) fn take(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Reads what the kernel has. How many bytes that was; 0 where the peer has ended the stream.
    pub(super) async fn fill(&mut self, stream: &mut TcpStream) -> io::Result<usize> {
        let bytes = stream.read(self.room()).await?;
        self.arrived(bytes);
        Ok(bytes)
    }

    /// Where the next read goes: never empty. Moves what has arrived to the front, and makes room where there is none.
    fn room(&mut self) -> &mut [u8] {
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

    fn arrived(&mut self, bytes: usize) {
        self.end += bytes;
        if self.end == self.buffer.len() && self.buffer.len() < AMPLE_BYTES {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
    }

    /// Puts bytes in as if they had been read.
    #[cfg(test)]
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let taken = room.len().min(bytes.len());
            room[..taken].copy_from_slice(&bytes[..taken]);
            self.arrived(taken);
            bytes = &bytes[taken..];
        }
    }
}
