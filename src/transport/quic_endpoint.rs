//! What the three QUIC stacks share: the endpoint with its settings, accepting and dialling, the codes by which a peer is told
//! what was wrong, and what a connection has carried. What goes through a connection is the stacks' own.
//!
//! quinn is set up as its documentation advises for many small messages: thousands of streams at once, streams sent in the
//! order in which they were written instead of in turns, segmentation offload on. Packets are as large as an Ethernet frame
//! takes from the first on; discovery then has nothing to look for and remains for the paths that take less.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    Connection, ConnectionError, Endpoint, EndpointConfig, MtuDiscoveryConfig, ReadError, SendDatagramError,
    TokioRuntime, TransportConfig, TransportErrorCode, VarInt, WriteError,
};
use tokio::task::JoinSet;

use super::quic_socket::QuicSocket;
use super::{Address, CancellationToken, ClientConfig, ServerConfig, Traffic, TransportError, certificate};

/// The protocol's name in the handshake.
const ALPN: &[u8] = b"votebench/1";

/// Largest packet, in bytes of UDP payload: 1,500 bytes of Ethernet without the headers of IPv6 and UDP. It must not be more
/// than the peer takes, which by quinn's own default is 1,472.
const MTU: u16 = 1_452;

/// Bytes that a peer may have under way on one connection before it has been read.
const RECEIVE_WINDOW: u32 = 16 << 20;

/// Bytes that the socket may hold in each direction, as far as the system allows: one datagram counts there for several times
/// its length, and what does not fit is lost.
const SOCKET_BYTES: usize = 4 << 20;

/// A client that has nothing to say sends a packet this often, lest its connection be given up after [`IDLE`].
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// After how long without a packet a connection is given up.
const IDLE: Duration = Duration::from_secs(30);

/// How long a server that stops waits for its connections to have said so.
const FAREWELL: Duration = Duration::from_secs(1);

/// Whose UDP socket is under an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Udp {
    /// [`QuicSocket`], with its two shortcuts.
    Ours,
    /// quinn's own.
    Quinns,
}

/// What [`Udp::Ours`] is called in results.
pub(super) const OUR_SOCKET: (&str, &str) =
    ("udp_socket", "ours: ends receiving at a batch that is not full; not told when it can send");

/// What [`Udp::Quinns`] is called in results.
pub(super) const QUINNS_SOCKET: (&str, &str) = ("udp_socket", "quinn's own");

/// What the settings above are called in results; the socket and the number of streams are the stack's.
macro_rules! settings {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            $crate::transport::certificate::CIPHER,
            ("alpn", "votebench/1"),
            ("initial_mtu", "1452"),
            ("mtu_discovery", "up to 1452"),
            ("gso", "on"),
            ("send_fairness", "off"),
            ("receive_window", "16 MiB"),
            ("stream_receive_window", "1.25 MB (quinn's default)"),
            ("ack_frequency", "quinn's default: every second packet, or 25 ms"),
            ("congestion_control", "cubic (quinn's default)"),
            ("socket_buffers", "4 MiB, as far as the system allows"),
        ]
    };
}
pub(super) use settings;

/// How a peer is told that a stream or a connection is at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// Nothing is wrong: the server stops.
    Closing = 0,
    /// The message is no vote.
    NoVote = 1,
    /// The message is longer than the limit.
    TooLong = 2,
    /// There is no message.
    Empty = 3,
    /// The messages that the peer has begun and not ended hold too much memory together.
    Excess = 4,
    /// The server failed at something else.
    Failed = 5,
}

impl Code {
    /// The code of an error, where the error is the peer's.
    pub(super) const fn of(error: &TransportError) -> Self {
        match error {
            TransportError::Codec(_) | TransportError::Refused(_) => Self::NoVote,
            TransportError::TooLong { .. } => Self::TooLong,
            TransportError::Empty => Self::Empty,
            _ => Self::Failed,
        }
    }

    /// The code on the wire.
    pub(super) const fn number(self) -> VarInt {
        VarInt::from_u32(self as u32)
    }
}

/// The server refused a message, in QUIC's own way.
#[derive(Debug, thiserror::Error)]
#[error("the server refused the message with the code {code}{}", meaning(*.code))]
struct Refused {
    code: VarInt,
}

fn meaning(code: VarInt) -> &'static str {
    match code.into_inner() {
        1 => ": it is no vote",
        2 => ": it is too long",
        3 => ": it is empty",
        4 => ": too many unfinished messages",
        _ => "",
    }
}

/// What a client makes of the end of a connection.
pub(super) fn lost(error: ConnectionError) -> TransportError {
    match error {
        ConnectionError::ApplicationClosed(close) if close.error_code == Code::Closing.number() => {
            TransportError::Closed
        }
        ConnectionError::ApplicationClosed(close) => TransportError::stack(Refused { code: close.error_code }),
        error => TransportError::stack(error),
    }
}

/// What a client makes of a stream that cannot be read.
pub(super) fn unread(error: ReadError) -> TransportError {
    match error {
        ReadError::Reset(code) => TransportError::stack(Refused { code }),
        ReadError::ConnectionLost(error) => lost(error),
        error => TransportError::stack(error),
    }
}

/// What a client makes of a stream that cannot be written.
pub(super) fn unwritten(error: WriteError) -> TransportError {
    match error {
        WriteError::Stopped(code) => TransportError::stack(Refused { code }),
        WriteError::ConnectionLost(error) => lost(error),
        error => TransportError::stack(error),
    }
}

/// What either end makes of a datagram that cannot be sent.
pub(super) fn unsent(error: SendDatagramError) -> TransportError {
    match error {
        SendDatagramError::ConnectionLost(error) => lost(error),
        error => TransportError::stack(error),
    }
}

/// What a server makes of the end of a connection: nothing, where either side ended it as it should.
///
/// # Errors
/// Any other end.
pub(super) fn ended(error: ConnectionError) -> Result<(), TransportError> {
    match error {
        ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed => Ok(()),
        ConnectionError::ConnectionClosed(close) if close.error_code == TransportErrorCode::NO_ERROR => Ok(()),
        error => Err(TransportError::stack(error)),
    }
}

/// What a connection has carried: the UDP payload of its packets, the handshake's too.
pub(super) fn traffic(connection: &Connection) -> Traffic {
    let stats = connection.stats();
    Traffic {
        sent_bytes: stats.udp_tx.bytes,
        received_bytes: stats.udp_rx.bytes,
        sent_packets: stats.udp_tx.datagrams,
        received_packets: stats.udp_rx.datagrams,
    }
}

/// A bound server of any QUIC stack.
pub(super) struct QuicListener {
    endpoint: Endpoint,
    certificate_pem: String,
    config: ServerConfig,
}

impl QuicListener {
    /// Binds a server that lets each client have `streams` streams open at once.
    ///
    /// # Errors
    /// Where the address is not to be had, or the certificate cannot be used.
    pub(super) fn bind(
        stack: &'static str,
        config: ServerConfig,
        streams: u32,
        udp: Udp,
    ) -> Result<Self, TransportError> {
        config.payload.responder()?;
        let Some(socket) = config.bind.socket() else {
            return Err(TransportError::Address { stack, address: config.bind });
        };
        let identity = certificate::identity(&config)?;
        let crypto =
            QuicServerConfig::try_from(certificate::server(&identity, Some(ALPN))?).map_err(TransportError::stack)?;
        let mut server = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        server.transport_config(transport(streams, None)?);
        let endpoint = endpoint(socket, udp, Some(server))
            .map_err(|source| TransportError::Bind { address: config.bind.clone(), source })?;
        Ok(Self { endpoint, certificate_pem: identity.certificate_pem, config })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> Address {
        self.endpoint.local_addr().map_or(Address::LOOPBACK, Address::Socket)
    }

    /// The certificate that it shows.
    pub(super) fn certificate_pem(&self) -> Option<String> {
        Some(self.certificate_pem.clone())
    }

    /// Accepts connections until `shutdown`, and runs `serve` on each as a task of its own. What a connection ends with is
    /// logged where it is an error; it never ends the server. At the end every open connection is closed.
    ///
    /// # Errors
    /// Where the socket fails.
    pub(super) async fn serve<S, F>(
        self,
        stack: &'static str,
        shutdown: CancellationToken,
        serve: S,
    ) -> Result<(), TransportError>
    where
        S: Fn(Connection, ServerConfig) -> F + Copy + Send + 'static,
        F: Future<Output = Result<(), TransportError>> + Send + 'static,
    {
        let Self { endpoint, config, .. } = self;
        let mut connections = JoinSet::new();
        let outcome = loop {
            let incoming = tokio::select! {
                biased;
                () = shutdown.cancelled() => break Ok(()),
                incoming = endpoint.accept() => incoming,
                Some(_) = connections.join_next() => continue,
            };
            let Some(incoming) = incoming else { break Err(TransportError::stack("the UDP socket has failed")) };
            let (peer, config) = (incoming.remote_address(), config.clone());
            connections.spawn(async move {
                let log = config.log;
                let outcome = match incoming.await {
                    Ok(connection) => serve(connection, config).await,
                    Err(reason) => ended(reason),
                };
                if let Err(reason) = outcome {
                    log.closed(stack, &peer, &reason);
                }
            });
        };
        endpoint.close(Code::Closing.number(), b"the server stops");
        // Whoever has not acknowledged that by then learns it from silence.
        let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
        connections.shutdown().await;
        outcome
    }
}

/// Connects a client; the connection keeps its endpoint alive.
///
/// # Errors
/// Where nobody answers in time, or whoever does is not to be believed or speaks another protocol.
pub(super) async fn connect(
    stack: &'static str,
    config: &ClientConfig,
    udp: Udp,
) -> Result<Connection, TransportError> {
    let Some(address) = config.address.socket() else {
        return Err(TransportError::Address { stack, address: config.address.clone() });
    };
    let crypto = certificate::client(config.authority_pem.as_deref(), Some(ALPN))?;
    let crypto = QuicClientConfig::try_from(crypto).map_err(TransportError::stack)?;
    let mut client = quinn::ClientConfig::new(Arc::new(crypto));
    // A server opens no streams.
    client.transport_config(transport(0, Some(KEEP_ALIVE))?);
    let any = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let endpoint = endpoint(SocketAddr::new(any, 0), udp, None)?;
    // An IP address in text makes quinn ask for that address in the certificate, and send no server name.
    let connecting =
        endpoint.connect_with(client, address, &address.ip().to_string()).map_err(TransportError::connect)?;
    tokio::time::timeout(config.deadline, connecting)
        .await
        .map_err(|_| TransportError::Deadline(config.deadline))?
        .map_err(TransportError::connect)
}

fn endpoint(bind: SocketAddr, udp: Udp, server: Option<quinn::ServerConfig>) -> io::Result<Endpoint> {
    let socket = UdpSocket::bind(bind)?;
    let options = socket2::SockRef::from(&socket);
    // The system caps what is asked for, and says nothing.
    options.set_recv_buffer_size(SOCKET_BYTES)?;
    options.set_send_buffer_size(SOCKET_BYTES)?;
    let (config, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
    match udp {
        Udp::Ours => Endpoint::new_with_abstract_socket(config, server, Arc::new(QuicSocket::new(socket)?), runtime),
        Udp::Quinns => Endpoint::new(config, server, socket, runtime),
    }
}

fn transport(streams: u32, keep_alive: Option<Duration>) -> Result<Arc<TransportConfig>, TransportError> {
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(MTU);
    let mut config = TransportConfig::default();
    config
        .max_concurrent_bidi_streams(streams.into())
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .send_fairness(false)
        .receive_window(RECEIVE_WINDOW.into())
        .initial_mtu(MTU)
        .mtu_discovery_config(Some(discovery))
        .enable_segmentation_offload(true)
        .keep_alive_interval(keep_alive)
        .max_idle_timeout(Some(IDLE.try_into().map_err(TransportError::stack)?));
    Ok(Arc::new(config))
}
