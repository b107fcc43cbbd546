//! `mux-stream`: one long yamux stream on one TCP connection, messages behind a 4-byte length, answered in order. The muxer's
//! frames without the price of a stream a message: what [`mux`](super::mux) pays is the difference.
//!
//! A client may open as many streams as yamux allows, and each is served like a connection of [`tcp`](super::tcp). A message
//! that is refused resets its stream; the connection and its other streams live on.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt};
use yamux::Mode;

use super::config::Log;
use super::framing::{FramedConnection, serve_stream};
use super::mux_connection::{self, Streams, drive};
use super::mux_socket::Keeps;
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server, ServerConfig,
    Traffic, Transport, TransportError, Writes, listener, traffic,
};
use crate::vote::Vote;

/// The stack `mux-stream`, or `mux-stream-plain`: the same with yamux straight on the TCP socket.
#[derive(Debug)]
pub(super) struct MuxStream<const PLAIN: bool = false>;

impl<const PLAIN: bool> Transport for MuxStream<PLAIN> {
    const INFO: Info = Info {
        name: if PLAIN { "mux-stream-plain" } else { "mux-stream" },
        delimiter: Delimiter::Length,
        codec: None,
        crates: &["yamux", "tokio"],
        summary: if PLAIN {
            "one long yamux stream on one TCP connection, straight on its socket, messages behind a 4-byte length"
        } else {
            "one long yamux stream on one TCP connection, messages behind a 4-byte length"
        },
        settings: mux_connection::settings(PLAIN),
        secure: false,
        blocking: false,
    };

    type Server = MuxStreamServer<PLAIN>;
    type Connection = MuxStreamConnection;

    async fn bind(config: ServerConfig) -> Result<MuxStreamServer<PLAIN>, TransportError> {
        config.payload.responder()?;
        Ok(MuxStreamServer { listener: listener::bind(Self::INFO.name, &config.bind)?, config })
    }

    /// The stream is announced with its first message, as yamux allows.
    async fn connect(config: ClientConfig) -> Result<MuxStreamConnection, TransportError> {
        let socket = listener::connect(Self::INFO.name, &config.address).await?;
        let peer = socket.peer_addr()?;
        let mut connection = mux_connection::over(socket, mux_connection::keeps(PLAIN), Mode::Client);
        let opened = poll_fn(|cx| connection.poll_new_outbound(cx)).await;
        let stream = opened.map_err(TransportError::connect)?.compat();
        let stream = LongStream { connection, stream, flushes: false };
        let framed = FramedConnection::new(stream, config.payload.requester()?, config.max_message_bytes);
        Ok(MuxStreamConnection { framed, peer })
    }
}

/// A stream with the connection under it: reading and writing drive both.
struct LongStream {
    connection: mux_connection::Connection,
    stream: Compat<yamux::Stream>,
    /// Whether a flush drives too.
    flushes: bool,
}

impl AsyncRead for LongStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Self { connection, stream, .. } = self.get_mut();
        // Whether or not the connection is still open, what has arrived is read, and then the stream ends.
        drive(connection, cx).map_err(io::Error::other)?;
        Pin::new(stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for LongStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { connection, stream, .. } = self.get_mut();
        let written = Pin::new(stream).poll_write(cx, bytes);
        if written.is_pending() {
            drive(connection, cx).map_err(io::Error::other)?;
        }
        written
    }

    /// In an exchange it is left to the read that follows at once, which drives the connection anyway. In a pipeline more
    /// messages may follow, and the server can have the first ones meanwhile.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.flushes {
            drive(&mut self.get_mut().connection, cx).map_err(io::Error::other)?;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

/// A bound server of `mux-stream`.
pub(super) struct MuxStreamServer<const PLAIN: bool> {
    listener: TcpListener,
    config: ServerConfig,
}

impl<const PLAIN: bool> Server for MuxStreamServer<PLAIN> {
    fn address(&self) -> Address {
        listener::address_of(&self.listener)
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let Self { listener, config } = self;
        let stack = MuxStream::<PLAIN>::INFO.name;
        listener::serve(stack, listener, shutdown, config.log, move |socket, peer| {
            let (payload, limit, log) = (config.payload.clone(), config.max_message_bytes, config.log);
            let writes = config.writes;
            let keeps = match (mux_connection::keeps(PLAIN), writes) {
                (Keeps::AllAtHand, Writes::Each) => Keeps::AFrame,
                (keeps, _) => keeps,
            };
            let answer = move |stream: yamux::Stream| {
                let responder = payload.responder();
                async move { serve_stream(stream.compat(), responder?, limit, writes).await }
            };
            let streams = LongStreams { stack, answer, open: FuturesUnordered::new(), peer, log };
            mux_connection::serve(socket, keeps, streams)
        })
        .await
    }
}

/// The streams of one connection, each served by a future that `answer` makes.
struct LongStreams<A, F> {
    stack: &'static str,
    answer: A,
    open: FuturesUnordered<F>,
    peer: SocketAddr,
    log: Log,
}

impl<A, F> Streams for LongStreams<A, F>
where
    A: FnMut(yamux::Stream) -> F,
    F: Future<Output = Result<(), TransportError>>,
{
    fn accept(&mut self, stream: yamux::Stream) {
        self.open.push((self.answer)(stream));
    }

    /// A stream that ends in an error is dropped here, which resets it.
    fn poll(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some(ended)) = self.open.poll_next_unpin(cx) {
            if let Err(reason) = ended {
                self.log.closed(self.stack, &self.peer, &reason);
            }
        }
    }
}

/// A client's end of `mux-stream`.
pub(super) struct MuxStreamConnection {
    framed: FramedConnection<LongStream>,
    peer: SocketAddr,
}

impl Connection for MuxStreamConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.framed.exchange(vote).await
    }

    fn pipeline(mut self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        self.framed.stream_mut().flushes = true;
        Ok(self.framed.pipeline(flight, false))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.peer)
    }
}
