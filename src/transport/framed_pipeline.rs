//! Many messages in flight on a framed byte stream: the pipeline of every stack whose framing is [`framing`](super::framing)'s.
//! Owns when a message is written, and the sockets that are asked again instead of waited for.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::TransportError;
use super::framing::{Input, Output, WRITE_BYTES};
use super::payload::Requester;
use super::pipeline::{Answered, Flight, InOrder, Pipeline, Writes};

/// The pipeline over `stream`.
pub(super) struct FramedPipeline<S> {
    stream: S,
    input: Input,
    output: Output,
    written: usize,
    requester: Box<dyn Requester>,
    votes: InOrder,
    has_tasks: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> FramedPipeline<S> {
    /// Goes on where a connection with nothing in flight has stopped. `has_tasks` where the stream only hands bytes to tasks
    /// of its stack.
    pub(super) fn new(stream: S, input: Input, requester: Box<dyn Requester>, flight: Flight, has_tasks: bool) -> Self {
        Self { stream, input, output: Output::default(), written: 0, requester, votes: InOrder::new(flight), has_tasks }
    }

    /// Writes until nothing is left; pending where the stream takes no more now.
    fn poll_write_out(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.output.bytes().len() {
            let rest = &self.output.bytes()[self.written..];
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                bytes => self.written += bytes,
            }
        }
        self.output.clear();
        self.written = 0;
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Pipeline for FramedPipeline<S> {
    fn poll_submit(&mut self, cx: &mut Context<'_>, number: u64) -> Poll<Result<(), TransportError>> {
        if self.votes.is_full() {
            return Poll::Pending;
        }
        let at_hand = self.output.bytes().len();
        let enough = match self.votes.flight.writes {
            Writes::Each => at_hand > 0,
            Writes::Batched => at_hand >= WRITE_BYTES,
        };
        if enough {
            ready!(self.poll_write_out(cx))?;
        }
        self.output.push(self.requester.request(self.votes.flight.vote(number))?)?;
        self.votes.sent(number);
        match self.votes.flight.writes {
            // It has been taken in any case: what the stream does not take now goes before the next.
            Writes::Each => match self.poll_flush(cx) {
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                _ => Poll::Ready(Ok(())),
            },
            Writes::Batched => Poll::Ready(Ok(())),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.poll_write_out(cx).map_err(TransportError::from)
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answered, TransportError>> {
        loop {
            if let Some(place) = self.input.take()? {
                let (requester, input) = (&mut self.requester, &self.input);
                return Poll::Ready(self.votes.answered(|vote| requester.check(vote, input.message(place))));
            }
            if self.votes.is_empty() {
                return Poll::Pending;
            }
            let mut room = ReadBuf::new(self.input.room());
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut room))?;
            match room.filled().len() {
                0 => return Poll::Ready(Err(TransportError::Closed)),
                bytes => self.input.arrived(bytes),
            }
        }
    }

    fn has_tasks(&self) -> bool {
        self.has_tasks
    }
}

/// A socket that does not block, asked again and again: nobody is woken by it.
pub(super) struct Asked(pub(super) TcpStream);

fn asked<T>(outcome: io::Result<T>) -> Poll<io::Result<T>> {
    match outcome {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Poll::Pending,
        outcome => Poll::Ready(outcome),
    }
}

impl AsyncRead for Asked {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let bytes = ready!(asked(self.get_mut().0.read(buffer.initialize_unfilled())))?;
        buffer.advance(bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Asked {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        asked(self.get_mut().0.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.get_mut().0.shutdown(std::net::Shutdown::Write))
    }
}
