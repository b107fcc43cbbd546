//! The UDP socket under quinn. Owns one thing that quinn's own does otherwise: when to stop receiving.
//!
//! quinn receives until the kernel says that there is nothing more, which for one datagram a round trip makes two `recvmmsg` a
//! side. But a call that returns fewer datagrams than it had room for has said so already: it stopped because the queue was
//! empty, and whatever comes later makes a new event of the edge-triggered queue that the runtime waits on. tokio ends its own
//! reads of streams by the same rule. Everything else is quinn's: its batches, segmentation and receive offload, its errors.

use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// A UDP socket that knows when it is empty.
#[derive(Debug)]
pub(super) struct QuicSocket {
    io: UdpSocket,
    state: UdpSocketState,
}

impl QuicSocket {
    /// Puts `socket` on the runtime that this is called in.
    ///
    /// # Errors
    /// Where the system refuses one of its options, or the event queue refuses the socket.
    pub(super) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        // This also makes it non-blocking, and turns receive offload on.
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self { io: UdpSocket::from_std(socket)?, state })
    }

    /// One receive, after which the socket counts as empty where it did not fill the batch.
    fn receive(&self, buffers: &mut [IoSliceMut<'_>], metas: &mut [RecvMeta]) -> io::Result<usize> {
        let mut received = 0;
        // Within `try_io`, so that an event which comes between the system call and the end of this closure is kept.
        let outcome = self.io.try_io(Interest::READABLE, || {
            received = self.state.recv((&self.io).into(), buffers, metas)?;
            if received < buffers.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        match outcome {
            Err(_) if received > 0 => Ok(received),
            outcome => outcome.map(|()| received),
        }
    }
}

impl AsyncUdpSocket for QuicSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.io.try_io(Interest::WRITABLE, || self.state.send((&self.io).into(), transmit))
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(context))?;
            match self.receive(buffers, metas) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return Poll::Ready(outcome),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

type Waiting = Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>;

/// Waits until the socket takes more, for one connection of the several that share it: each needs a future of its own, since
/// the socket itself keeps but one waker. As good as always the socket takes more at once, which costs one look at its state.
struct Writable {
    socket: Arc<QuicSocket>,
    waiting: Option<Waiting>,
}

impl UdpPoller for Writable {
    fn poll_writable(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.waiting.is_none() && self.socket.io.try_io(Interest::WRITABLE, || Ok(())).is_ok() {
            return Poll::Ready(Ok(()));
        }
        let socket = Arc::clone(&self.socket);
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(async move { socket.io.writable().await }));
        let outcome = ready!(waiting.as_mut().poll(context));
        self.waiting = None;
        Poll::Ready(outcome)
    }
}

impl fmt::Debug for Writable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writable").finish_non_exhaustive()
    }
}
