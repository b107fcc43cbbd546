//! The TCP socket under a yamux connection. Owns when it is read and when it is written, and nothing of yamux.
//!
//! yamux writes each frame's header and body, and flushes, one after the other, and reads them in the same steps. On a bare
//! socket a stream a message would leave in three writes. So [`Socket`] keeps what is written until yamux has nothing more to
//! say, which is when it wants to read and all that has arrived has been taken: then everything leaves in one write, and one
//! read takes whatever the kernel has.
//!
//! That is a shortcut of ours, open to whoever gives yamux a socket of his own. The stacks whose names end in `-plain` go
//! without it: their [`Socket`] hands every call on as it comes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::framing::WRITE_BYTES;

/// Bytes that a connection's buffer for reading starts with.
const INITIAL_BYTES: usize = 16 << 10;

/// Bytes that it grows to where reads fill it.
const AMPLE_BYTES: usize = 256 << 10;

/// What is kept for one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Nothing, and nothing is read ahead: yamux has the TCP stream to itself.
    Nothing,
    /// A frame, header and body.
    AFrame,
    /// All frames at hand.
    AllAtHand,
}

/// A TCP stream with a buffer for each direction, or by itself.
#[derive(Debug)]
pub(super) struct Socket {
    keeps: Keeps,
    stream: TcpStream,
    input: Vec<u8>,
    start: usize,
    end: usize,
    output: Vec<u8>,
    written: usize,
}

impl Socket {
    /// Nothing is buffered yet.
    pub(super) fn new(stream: TcpStream, keeps: Keeps) -> Self {
        Self { keeps, stream, input: vec![0; INITIAL_BYTES], start: 0, end: 0, output: Vec::new(), written: 0 }
    }

    /// Writes what is kept, in one call where the kernel takes it.
    fn poll_write_out(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.output.len() {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, &self.output[self.written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                bytes => self.written += bytes,
            }
        }
        self.output.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    /// Reads whatever the kernel has; nothing is the end of the stream.
    fn poll_read_in(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.end == self.input.len() && self.input.len() < AMPLE_BYTES {
            // The last read filled it: there may be more than it takes.
            self.input.resize(2 * self.input.len(), 0);
        }
        let mut room = ReadBuf::new(&mut self.input);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut room))?;
        (self.start, self.end) = (0, room.filled().len());
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.keeps == Keeps::Nothing {
            return Pin::new(&mut this.stream).poll_read(cx, buffer);
        }
        if this.start == this.end {
            // Where the kernel takes no more now, it wakes the same task as the read does, and this is tried again.
            if let Poll::Ready(Err(error)) = this.poll_write_out(cx) {
                return Poll::Ready(Err(error));
            }
            if buffer.remaining() >= this.input.len() {
                return Pin::new(&mut this.stream).poll_read(cx, buffer);
            }
            ready!(this.poll_read_in(cx))?;
        }
        let taken = buffer.remaining().min(this.end - this.start);
        buffer.put_slice(&this.input[this.start..this.start + taken]);
        this.start += taken;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.keeps == Keeps::Nothing {
            return Pin::new(&mut this.stream).poll_write(cx, bytes);
        }
        if this.output.len() >= WRITE_BYTES {
            ready!(this.poll_write_out(cx))?;
        }
        this.output.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    /// yamux flushes after every frame, and reads after the last: where all at hand are kept it is left to that read.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.keeps == Keeps::AFrame { self.get_mut().poll_write_out(cx) } else { Poll::Ready(Ok(())) }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_write_out(cx))?;
        Pin::new(&mut this.stream).poll_shutdown(cx)
    }
}
