//! Accepting TCP connections: one loop for every stack that begins with one. Owns the socket's options and what happens to
//! connections when the server stops.

use std::fmt::Display;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::config::Log;
use super::{Address, CancellationToken, TransportError};

/// Connections that the kernel keeps for us while we are busy: a thousand at once must not be turned away.
const BACKLOG: u32 = 4_096;

/// How long to wait before the next attempt where the system is out of descriptors or memory.
pub(super) const EXHAUSTED: Duration = Duration::from_millis(50);

/// Binds a TCP listener.
///
/// # Errors
/// Where the address is no socket address, is taken, or is not ours.
pub(super) fn bind(stack: &'static str, address: &Address) -> Result<TcpListener, TransportError> {
    let Some(socket) = address.socket() else {
        return Err(TransportError::Address { stack, address: address.clone() });
    };
    let listen = || {
        let listener =
            if socket.is_ipv4() { tokio::net::TcpSocket::new_v4()? } else { tokio::net::TcpSocket::new_v6()? };
        listener.set_reuseaddr(true)?;
        listener.bind(socket)?;
        listener.listen(BACKLOG)
    };
    listen().map_err(|source| TransportError::Bind { address: address.clone(), source })
}

/// Where a listener listens.
pub(super) fn address_of(listener: &TcpListener) -> Address {
    listener.local_addr().map_or(Address::LOOPBACK, Address::Socket)
}

/// Connects a TCP stream, without Nagle's delay.
///
/// # Errors
/// Where nobody listens there.
pub(super) async fn connect(stack: &'static str, address: &Address) -> Result<TcpStream, TransportError> {
    let Some(socket) = address.socket() else {
        return Err(TransportError::Address { stack, address: address.clone() });
    };
    let stream = TcpStream::connect(socket).await.map_err(TransportError::connect)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Accepts connections until `shutdown`, and runs `serve` on each as a task of its own. What a connection ends with is
/// logged where it is an error; it never ends the server. At the end every open connection is closed.
///
/// # Errors
/// None: a listener that fails is tried again, since what fails it, exhaustion, passes.
pub(super) async fn serve<F, E>(
    stack: &'static str,
    listener: TcpListener,
    shutdown: CancellationToken,
    log: Log,
    serve: impl Fn(TcpStream, SocketAddr) -> F,
) -> Result<(), TransportError>
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted.and_then(|(stream, peer)| stream.set_nodelay(true).map(|()| (stream, peer))) {
            Ok((stream, peer)) => {
                let connection = serve(stream, peer);
                connections.spawn(async move {
                    if let Err(reason) = connection.await {
                        log.closed(stack, &peer, &reason);
                    }
                });
            }
            Err(error) if is_exhaustion(&error) => tokio::time::sleep(EXHAUSTED).await,
            // The peer gave up before it was accepted.
            Err(_) => {}
        }
    }
    connections.shutdown().await;
    Ok(())
}

fn is_exhaustion(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}
