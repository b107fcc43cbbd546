//! What both yamux stacks are made of: yamux's settings, [`Multiplexer`], which drives its connection, and [`serve`], the
//! server's loop.
//!
//! A yamux connection does nothing of itself: somebody has to poll it for every byte of every stream. A task of its own would
//! cost a wake-up in each direction of each message. Here whoever exchanges polls the connection and the streams in one
//! future, and a [`Gate`] keeps the wake-ups that these give one another from the runtime: a round trip polls the task twice,
//! once to send and once when the socket has the answer.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};
use yamux::{Config, Mode};

use super::TransportError;
use super::mux_socket::Socket;

/// Streams that may be open on one connection at a time.
const STREAMS: usize = 4_096;

/// Bytes that may be under way to one side of a connection: 256 KiB for each stream, as yamux demands, and what streams may
/// take beyond that where the connection's round trips are long.
const WINDOW_BYTES: usize = STREAMS * (256 << 10) + (64 << 20);

/// Bytes of a frame's body at most; a vote never comes near it.
const FRAME_BYTES: usize = 16 << 10;

/// The settings of both stacks, as they are recorded.
pub(super) const SETTINGS: &[(&str, &str)] = &[
    ("tcp_nodelay", "on"),
    ("yamux_max_num_streams", "4096"),
    ("yamux_max_connection_receive_window", "1088 MiB"),
    ("yamux_split_send_size", "16 KiB"),
    ("socket_buffering", "one write for all frames at hand"),
];

/// How often a connection is polled in one go before other tasks have their turn.
const ROUNDS: usize = 16;

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

/// A yamux connection, and what it takes to poll it together with its streams.
pub(super) struct Multiplexer {
    connection: Connection,
    gate: Arc<Gate>,
    waker: Waker,
}

impl Multiplexer {
    /// Speaks yamux over `stream`: nothing is sent yet.
    pub(super) fn new(stream: TcpStream, mode: Mode) -> Self {
        let gate = Arc::new(Gate::default());
        let waker = Waker::from(Arc::clone(&gate));
        Self { connection: yamux::Connection::new(Socket::new(stream).compat(), config(), mode), gate, waker }
    }

    /// Polls `step` until nothing that it does makes more to do. `step` polls the connection, and whichever of its streams
    /// it cares for, in any order and with the context that it is given.
    pub(super) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut step: impl FnMut(&mut Connection, &mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.gate.enter(cx.waker());
        let mut inner = Context::from_waker(&self.waker);
        for _ in 0..ROUNDS {
            let outcome = step(&mut self.connection, &mut inner);
            if outcome.is_ready() {
                self.gate.leave();
                return outcome;
            }
            if self.gate.leave_if_idle() {
                return Poll::Pending;
            }
        }
        // A busy peer, or the runtime's own budget, which ends only with this poll.
        self.gate.leave();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
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
pub(super) async fn serve(stream: TcpStream, mut streams: impl Streams) -> Result<(), TransportError> {
    let mut multiplexer = Multiplexer::new(stream, Mode::Server);
    poll_fn(|cx| multiplexer.poll(cx, |connection, cx| serve_step(connection, &mut streams, cx))).await
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
            cx.waker().wake_by_ref();
            break;
        }
    }
    // At the end, too: streams that have come to half of a message say so.
    streams.poll(cx);
    ended.map_or(Poll::Pending, Poll::Ready)
}

/// Nobody is polling the connection.
const OUTSIDE: u8 = 0;

/// Somebody is.
const INSIDE: u8 = 1;

/// Somebody is, and since it began something was woken.
const AGAIN: u8 = 2;

/// The waker of a connection and its streams. What wakes it while they are being polled has them polled once more, there and
/// then; what wakes it later, which is the socket, wakes the task.
#[derive(Debug, Default)]
struct Gate {
    state: AtomicU8,
    task: AtomicWaker,
}

impl Gate {
    fn enter(&self, task: &Waker) {
        self.task.register(task);
        self.state.store(INSIDE, Ordering::SeqCst);
    }

    fn leave(&self) {
        self.state.store(OUTSIDE, Ordering::SeqCst);
    }

    /// Leaves, unless something was woken since the last look: then one is still inside.
    fn leave_if_idle(&self) -> bool {
        let left = self.state.compare_exchange(INSIDE, OUTSIDE, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !left {
            self.state.store(INSIDE, Ordering::SeqCst);
        }
        left
    }
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let outside = self.state.compare_exchange(INSIDE, AGAIN, Ordering::SeqCst, Ordering::SeqCst) == Err(OUTSIDE);
        if outside {
            self.task.wake();
        }
    }
}
