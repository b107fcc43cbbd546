//! The UDP socket under quinn. Owns how it meets the runtime, in which it does two things otherwise than quinn's own; the rest,
//! batches, segmentation and receive offload, is quinn's.
//!
//! *It knows when it is empty.* quinn receives until the kernel says that there is nothing more, which for one datagram a round
//! trip makes two `recvmmsg` a side. But a call that returns fewer datagrams than it had room for has said so already: it
//! stopped because the queue was empty, and whatever comes later makes a new event in the edge-triggered queue that the runtime
//! waits on. tokio ends its own reads of streams by the same rule.
//!
//! *It does not ask to be told that it can send.* The kernel reports that whenever a datagram has left, over the loopback
//! interface within the `sendmsg` itself, so that every wait that follows a send ends at once and for nothing, and has to be
//! begun again. A UDP socket takes a datagram unless its buffer is full; only then is there anything to wait for, and only then
//! is it waited for. With both a round trip costs each side one `sendmsg`, one `epoll_wait` and one `recvmmsg`.

use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A UDP socket on the runtime.
#[derive(Debug)]
pub(super) struct QuicSocket {
    io: AsyncFd<UdpSocket>,
    state: UdpSocketState,
    /// Whether its buffer was full at the last attempt.
    is_full: AtomicBool,
}

impl QuicSocket {
    /// Puts `socket` on the runtime that this is called in.
    ///
    /// # Errors
    /// Where the system refuses one of its options, or the event queue refuses the socket.
    pub(super) fn new(socket: UdpSocket) -> io::Result<Self> {
        // This makes it non-blocking, too.
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self { io: on_runtime(socket, Interest::READABLE)?, state, is_full: AtomicBool::new(false) })
    }

    /// Waits until the buffer is no longer full: on a second descriptor, which is put on the event queue for this one wait.
    async fn writable(self: Arc<Self>) -> io::Result<()> {
        let waiting = on_runtime(self.io.get_ref().try_clone()?, Interest::WRITABLE)?;
        let _ = waiting.writable().await?;
        self.is_full.store(false, Ordering::Relaxed);
        Ok(())
    }
}

/// Puts a socket on the event queue for `interest` alone, which tokio's own type of UDP socket has no means to ask for.
#[expect(
    deprecated,
    reason = "unsound for types that change their descriptor, which a socket does not; else only in unsafe"
)]
fn on_runtime(socket: UdpSocket, interest: Interest) -> io::Result<AsyncFd<UdpSocket>> {
    AsyncFd::with_interest(socket, interest)
}

impl AsyncUdpSocket for QuicSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let outcome = self.state.send(self.io.get_ref().into(), transmit);
        if matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            self.is_full.store(true, Ordering::Relaxed);
        }
        outcome
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            // The event is taken before the system call, so that one which comes after it is not cleared along.
            let mut event = ready!(self.io.poll_read_ready(context))?;
            match self.state.recv(event.get_inner().into(), buffers, metas) {
                Ok(received) => {
                    if received < buffers.len() {
                        event.clear_ready();
                    }
                    return Poll::Ready(Ok(received));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => event.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get_ref().local_addr()
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

/// Tells one of the connections that share the socket when to send. As good as always that is at once.
struct Writable {
    socket: Arc<QuicSocket>,
    waiting: Option<Waiting>,
}

impl UdpPoller for Writable {
    fn poll_writable(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.waiting.is_none() {
            if !self.socket.is_full.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
            self.waiting = Some(Box::pin(Arc::clone(&self.socket).writable()));
        }
        let Some(waiting) = &mut self.waiting else { return Poll::Ready(Ok(())) };
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

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn transmit(destination: SocketAddr, contents: &[u8]) -> Transmit<'_> {
        Transmit { destination, ecn: None, contents, segment_size: None, src_ip: None }
    }

    async fn receive(socket: &QuicSocket, batch: usize) -> usize {
        let mut bytes = vec![[0; 64]; batch];
        let mut buffers: Vec<_> = bytes.iter_mut().map(|bytes| IoSliceMut::new(bytes)).collect();
        let mut metas = vec![RecvMeta::default(); batch];
        std::future::poll_fn(|context| socket.poll_recv(context, &mut buffers, &mut metas)).await.unwrap()
    }

    fn socket() -> Arc<QuicSocket> {
        Arc::new(QuicSocket::new(UdpSocket::bind("127.0.0.1:0").unwrap()).unwrap())
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_secs(10), test).await.unwrap() });
    }

    #[test]
    fn every_datagram_comes_whatever_the_batches_and_pauses() {
        run(async {
            let (sender, receiver) = (socket(), socket());
            let to = receiver.local_addr().unwrap();
            for (sent, batch) in [(1, 1), (1, 32), (3, 2), (4, 2), (32, 32), (33, 32), (5, 32)] {
                for _ in 0..sent {
                    sender.try_send(&transmit(to, b"vote")).unwrap();
                }
                let mut received = 0;
                while received < sent {
                    received += receive(&receiver, batch).await;
                }
                assert_eq!(received, sent, "in batches of {batch}");
            }
        });
    }

    #[test]
    fn a_full_socket_is_waited_for() {
        run(async {
            let socket = socket();
            let mut poller = Arc::clone(&socket).create_io_poller();
            assert!(poller.as_mut().poll_writable(&mut Context::from_waker(Waker::noop())).is_ready());
            // It has room at once, since nothing is under way.
            socket.is_full.store(true, Ordering::Relaxed);
            assert!(poller.as_mut().poll_writable(&mut Context::from_waker(Waker::noop())).is_pending());
            std::future::poll_fn(|context| poller.as_mut().poll_writable(context)).await.unwrap();
            assert!(!socket.is_full.load(Ordering::Relaxed));
        });
    }
}
