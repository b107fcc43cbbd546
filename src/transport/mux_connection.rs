//! What the yamux stacks are made of: yamux's settings, [`drive`] for a client and [`serve`], the server's loop.
//!
//! A yamux connection does nothing of itself: somebody has to poll it for every byte of every stream. A task of its own would
//! cost a wake-up in each direction of each message. Here whoever exchanges polls the connection and its streams in one
//! future. They wake one another, and so their own task, once more than the socket does; keeping that from the runtime was
//! tried, and gained nothing that could be measured, since it happens while the other side is at work.

use std::future::poll_fn;
use std::task::{Context, Poll};

use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};
use yamux::{Config, Mode};

use super::TransportError;
use super::mux_socket::{Keeps, Socket};

/// Streams that may be open on one connection at a time.
const STREAMS: usize = 4_096;

/// Bytes that may be under way to one side of a connection: 256 KiB for each stream, as yamux demands, and what streams may
/// take beyond that where the connection's round trips are long.
const WINDOW_BYTES: usize = STREAMS * (256 << 10) + (64 << 20);

/// Bytes of a frame's body at most; a vote never comes near it.
const FRAME_BYTES: usize = 16 << 10;

/// What a stack's sockets keep, where votes are written together; straight yamux where it `is_plain`.
pub(super) const fn keeps(is_plain: bool) -> Keeps {
    if is_plain { Keeps::Nothing } else { Keeps::AllAtHand }
}

/// The settings of all stacks, as they are recorded.
pub(super) const fn settings(is_plain: bool) -> &'static [(&'static str, &'static str)] {
    const fn with(buffering: &'static str) -> [(&'static str, &'static str); 5] {
        [
            ("tcp_nodelay", "on"),
            ("yamux_max_num_streams", "4096"),
            ("yamux_max_connection_receive_window", "1088 MiB"),
            ("yamux_split_send_size", "16 KiB"),
            ("socket_buffering", buffering),
        ]
    }
    const OURS: &[(&str, &str)] = &with("ours: one write for all frames at hand");
    const PLAIN: &[(&str, &str)] = &with("none: yamux on the TCP socket");
    if is_plain { PLAIN } else { OURS }
}

/// New streams that are taken before those at hand are answered.
const ACCEPTED: usize = 256;

/// A yamux connection over TCP.
pub(super) type Connection = yamux::Connection<Compat<Socket>>;

fn config() -> Config {
    let mut config = Config::default();
    // The window first: with the streams first yamux panics, since for a moment they would not fit.
    config.set_max_connection_receive_window(Some(WINDOW_BYTES));
    config.set_max_num_streams(STREAMS);
    config.set_split_send_size(FRAME_BYTES);
    config
}

/// Speaks yamux over `stream`: nothing is sent yet.
pub(super) fn over(stream: TcpStream, keeps: Keeps, mode: Mode) -> Connection {
    yamux::Connection::new(Socket::new(stream, keeps).compat(), config(), mode)
}

/// Lets the connection read and write. Streams that the peer opens are reset: a client takes none. Whether it is still open.
///
/// # Errors
/// Where it fails.
pub(super) fn drive(connection: &mut Connection, cx: &mut Context<'_>) -> Result<bool, TransportError> {
    loop {
        match connection.poll_next_inbound(cx) {
            Poll::Ready(Some(Ok(stream))) => drop(stream),
            Poll::Ready(Some(Err(error))) => return Err(TransportError::stack(error)),
            Poll::Ready(None) => return Ok(false),
            Poll::Pending => return Ok(true),
        }
    }
}

/// What a server does with a connection's streams.
pub(super) trait Streams {
    /// Takes a stream that the client has opened.
    fn accept(&mut self, stream: yamux::Stream);

    /// Does for every stream what can be done now; never waits for one of them.
    fn poll(&mut self, cx: &mut Context<'_>);
}

/// Serves one connection until the client closes it.
///
/// # Errors
/// Where it fails, or the client does not speak yamux.
pub(super) async fn serve(stream: TcpStream, keeps: Keeps, mut streams: impl Streams) -> Result<(), TransportError> {
    let mut connection = over(stream, keeps, Mode::Server);
    poll_fn(|cx| serve_step(&mut connection, &mut streams, cx)).await
}

fn serve_step(
    connection: &mut Connection,
    streams: &mut impl Streams,
    cx: &mut Context<'_>,
) -> Poll<Result<(), TransportError>> {
    let mut ended = None;
    for accepted in 1.. {
        match connection.poll_next_inbound(cx) {
            Poll::Ready(Some(Ok(stream))) => streams.accept(stream),
            Poll::Ready(Some(Err(error))) => ended = Some(Err(TransportError::stack(error))),
            Poll::Ready(None) => ended = Some(Ok(())),
            Poll::Pending => break,
        }
        if ended.is_some() {
            break;
        }
        if accepted == ACCEPTED {
            // The task is polled again after the others have had their turn.
            cx.waker().wake_by_ref();
            break;
        }
    }
    // At the end, too: streams that have come to half of a message say so.
    streams.poll(cx);
    ended.map_or(Poll::Pending, Poll::Ready)
}
