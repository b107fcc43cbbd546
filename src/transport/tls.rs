//! `tls`: as [`tcp`](super::tcp), inside TLS 1.3: the neighbour by which QUIC's encryption is judged.
//!
//! A message is one record and one write. A handshake has as long as an answer; a client that leaves says so (`close_notify`),
//! so that its server can tell the end of the stream from a cut.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector, client::TlsStream};

use super::config::DEADLINE;
use super::framing::{FramedConnection, serve_stream};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server, ServerConfig,
    Traffic, Transport, TransportError, certificate, listener, traffic,
};
use crate::vote::Vote;

/// The stack `tls`.
#[derive(Debug)]
pub(super) struct Tls;

impl Transport for Tls {
    const INFO: Info = Info {
        name: "tls",
        delimiter: Delimiter::Length,
        codec: None,
        crates: &["tokio", "tokio-rustls", "rustls"],
        summary: "TLS 1.3 (rustls, ring) on one TCP connection on tokio, messages behind a 4-byte length",
        settings: &[("tcp_nodelay", "on"), certificate::CIPHER],
        secure: true,
        blocking: false,
    };

    type Server = TlsServer;
    type Connection = TlsConnection;

    async fn bind(config: ServerConfig) -> Result<TlsServer, TransportError> {
        config.payload.responder()?;
        let identity = certificate::identity(&config)?;
        let acceptor = TlsAcceptor::from(Arc::new(certificate::server(&identity, None)?));
        let listener = listener::bind(Self::INFO.name, &config.bind)?;
        Ok(TlsServer { listener, acceptor, certificate_pem: identity.certificate_pem, config })
    }

    async fn connect(config: ClientConfig) -> Result<TlsConnection, TransportError> {
        let connector = TlsConnector::from(Arc::new(certificate::client(config.authority_pem.as_deref(), None)?));
        let stream = listener::connect(Self::INFO.name, &config.address).await?;
        let name = certificate::server_name(stream.peer_addr()?.ip());
        let stream = tokio::time::timeout(config.deadline, connector.connect(name, stream))
            .await
            .map_err(|_| TransportError::Deadline(config.deadline))?
            .map_err(TransportError::connect)?;
        Ok(TlsConnection(FramedConnection::new(Session(stream), config.payload.requester()?, config.max_message_bytes)))
    }
}

/// A bound server of `tls`.
pub(super) struct TlsServer {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    certificate_pem: String,
    config: ServerConfig,
}

impl Server for TlsServer {
    fn address(&self) -> Address {
        listener::address_of(&self.listener)
    }

    fn certificate_pem(&self) -> Option<String> {
        Some(self.certificate_pem.clone())
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let Self { listener, acceptor, config, .. } = self;
        listener::serve(Tls::INFO.name, listener, shutdown, config.log, move |stream, _| {
            let (responder, limit, writes) = (config.payload.responder(), config.max_message_bytes, config.writes);
            let accepting = acceptor.accept(stream);
            async move {
                let stream = tokio::time::timeout(DEADLINE, accepting)
                    .await
                    .map_err(|_| TransportError::Deadline(DEADLINE))?
                    .map_err(TransportError::stack)?;
                serve_stream(stream, responder?, limit, writes).await
            }
        })
        .await
    }
}

/// A client's end of `tls`.
pub(super) struct TlsConnection(FramedConnection<Session>);

impl Connection for TlsConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.0.exchange(vote).await
    }

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        Ok(self.0.pipeline(flight, false))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        let peer = self.0.stream().0.get_ref().0.peer_addr().map_err(|error| error.to_string())?;
        traffic::of_tcp_to(peer)
    }
}

/// A session that says farewell when it is dropped.
struct Session(TlsStream<TcpStream>);

impl AsyncRead for Session {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Session {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(cx)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let (stream, session) = self.0.get_mut();
        session.send_close_notify();
        let mut record = Vec::new();
        if session.write_tls(&mut record).is_ok() {
            // A socket that takes no more at this moment, or is gone, needs no farewell.
            let _ = stream.try_write(&record);
        }
    }
}
