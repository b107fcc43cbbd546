//! Network stacks behind one trait. Owns the [`Transport`] and [`Connection`] traits, what each stack says of itself
//! ([`Info`]) and the registry ([`visit`]). A stack is one file here and one line in the registry.
//!
//! The traits are used statically: a future behind a `dyn` would cost an allocation a message, which is just what the floor
//! row has to prove away. Whoever wants a stack by its name passes a [`Visitor`] to [`visit`], which calls it with the type.
//!
//! | module | owns |
//! | --- | --- |
//! | [`pipeline`] | many votes in flight on one connection, for open-loop load |
//! | [`payload`] | what a byte-carrying stack carries: a codec's votes, or bytes that nobody reads |
//! | [`framing`] | 4-byte length prefixes over any byte stream, for client and server |
//! | [`config`] | what a server and a client are set up with |
//! | [`address`] | where a server listens |
//! | [`certificate`] | the certificate that a server shows and a client checks |
//! | [`wait`] | runtimes that sleep in the kernel, and runtimes that never park |
//! | [`traffic`] | what a connection's socket has carried |

pub mod address;
pub mod certificate;
pub mod config;
pub mod error;
pub mod framing;
pub mod payload;
pub mod pipeline;
pub mod traffic;
pub mod wait;

mod callers;
mod framed_pipeline;
mod grpc;
mod grpc_server;
mod grpc_stream;
mod jsonrpc_client;
mod jsonrpc_http;
mod jsonrpc_http_plain;
mod jsonrpc_server;
mod jsonrpc_ws;
mod jsonrpc_ws_plain;
mod listener;
mod memory;
mod mux;
mod mux_connection;
mod mux_socket;
mod mux_stream;
mod quic;
mod quic_datagram;
mod quic_endpoint;
mod quic_message;
mod quic_socket;
mod quic_stream;
mod tcp;
mod tcp_blocking;
mod tcp_uring;
mod tls;
mod uds;

use std::future::Future;

pub use address::Address;
pub use config::{ClientConfig, ServerConfig};
pub use error::TransportError;
pub use payload::Payload;
pub use pipeline::{Answered, Clock, Flight, Pipeline, Writes};
pub use tokio_util::sync::CancellationToken;
pub use traffic::Traffic;
pub use wait::Wait;

use crate::vote::Vote;

/// How a stack parts one message from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delimiter {
    /// A 4-byte big-endian length before each message.
    Length,
    /// The end of the stream: a stream a message.
    StreamEnd,
    /// The datagram.
    Datagram,
    /// The protocol's own frames, which bring their codec along.
    Protocol,
}

impl Delimiter {
    /// The delimiter's name in results and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Length => "4-byte length",
            Self::StreamEnd => "end of stream",
            Self::Datagram => "datagram",
            Self::Protocol => "the protocol's own",
        }
    }
}

/// What a stack says of itself.
#[derive(Debug)]
pub struct Info {
    /// Name in kebab-case, as in results and on the command line.
    pub name: &'static str,
    /// How it parts messages.
    pub delimiter: Delimiter,
    /// The one codec that it carries, where its standard prescribes it; `None` where it carries any.
    pub codec: Option<&'static str>,
    /// The crates under test, by their registry names; empty where there is nothing but the kernel.
    pub crates: &'static [&'static str],
    /// What it is made of, in one line.
    pub summary: &'static str,
    /// The settings that matter, each with its value, as they are recorded with every result.
    pub settings: &'static [(&'static str, &'static str)],
    /// Whether its server shows a certificate.
    pub secure: bool,
    /// Whether its connections live on threads of their own, in blocking calls: then nobody else may spin on their cores.
    pub blocking: bool,
}

/// A network stack: how a server listens and how a client connects. Never instantiated.
pub trait Transport: 'static {
    /// What this stack is.
    const INFO: Info;

    /// A server that is bound and not yet serving.
    type Server: Server;

    /// A client's end of one connection.
    type Connection: Connection;

    /// Binds a server.
    ///
    /// # Errors
    /// Where the address is taken or not to be had, or the certificate cannot be used.
    fn bind(config: ServerConfig) -> impl Future<Output = Result<Self::Server, TransportError>> + Send;

    /// Connects a client; done when the first vote could be sent.
    ///
    /// # Errors
    /// Where nobody listens, or whoever listens does not speak this protocol.
    fn connect(config: ClientConfig) -> impl Future<Output = Result<Self::Connection, TransportError>> + Send;
}

/// A bound server.
pub trait Server: Send + 'static {
    /// Where it listens.
    fn address(&self) -> Address;

    /// The certificate that it shows, in PEM: what its clients need as
    /// [`authority_pem`](ClientConfig::authority_pem). `None` where the stack is not [secure](Info::secure).
    fn certificate_pem(&self) -> Option<String> {
        None
    }

    /// Serves until `shutdown` is cancelled; connections that are open then are closed. Bad peers cost their connection,
    /// stream or call, never the server.
    ///
    /// # Errors
    /// Where the listening socket itself fails.
    fn serve(self, shutdown: CancellationToken) -> impl Future<Output = Result<(), TransportError>> + Send;
}

/// A client's end of one connection.
pub trait Connection: Send + 'static {
    /// Sends `vote` and receives, decodes and checks the answer: one round trip of the closed loop.
    ///
    /// # Errors
    /// Where the connection fails, or the answer is not [the answer](Vote::answer) to `vote`. The connection is then of no
    /// further use.
    fn exchange(&mut self, vote: &Vote) -> impl Future<Output = Result<(), TransportError>> + Send;

    /// The most votes that one connection's pipeline carries, where the stack sets a bound of its own.
    const MOST_IN_FLIGHT: Option<usize> = None;

    /// Goes on with many votes in flight; at least one has been exchanged before, and none is under way.
    ///
    /// # Errors
    /// Where the stack's library refuses, or [`TransportError::Unsupported`] where the stack has one vote in flight only.
    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError>;

    /// What the connection has carried so far, or why nobody knows.
    ///
    /// # Errors
    /// A sentence.
    fn traffic(&self) -> Result<Traffic, String>;
}

/// Something that is done with a stack, whichever it is.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it with the stack `T`.
    fn visit<T: Transport>(self) -> Self::Output;
}

macro_rules! registry {
    ($($stack:ty),* $(,)?) => {
        /// What every stack says of itself, in the order of the tables.
        #[must_use]
        pub fn all() -> Vec<&'static Info> {
            vec![$(const { &<$stack as Transport>::INFO }),*]
        }

        /// Calls `visitor` with the stack of that name; `None` where there is none.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            $(if name == <$stack as Transport>::INFO.name {
                return Some(visitor.visit::<$stack>());
            })*
            None
        }
    };
}

registry! {
    tcp::Tcp,
    uds::Uds,
    tls::Tls,
    quic::Quic,
    quic::Quic<true>,
    quic_stream::QuicStream,
    quic_datagram::QuicDatagram,
    mux::Mux,
    mux::Mux<true>,
    mux_stream::MuxStream,
    mux_stream::MuxStream<true>,
    grpc::Grpc,
    grpc_stream::GrpcStream,
    jsonrpc_http::JsonRpcHttp,
    jsonrpc_http_plain::JsonRpcHttpPlain,
    jsonrpc_ws::JsonRpcWs,
    jsonrpc_ws_plain::JsonRpcWsPlain,
    memory::Memory,
    tcp_blocking::TcpBlocking,
    tcp_uring::TcpUring,
}

/// What the stack of that name says of itself.
#[must_use]
pub fn info(name: &str) -> Option<&'static Info> {
    all().into_iter().find(|info| info.name == name)
}
