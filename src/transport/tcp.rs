//! `tcp`: messages behind a 4-byte length on one TCP connection, answered in order, any number in flight.
//!
//! Set up as small messages want it: `TCP_NODELAY` on both ends; one write a message, one read for whatever has arrived.

use tokio::net::{TcpListener, TcpStream};

use super::framing::{FramedConnection, serve_stream};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server, ServerConfig,
    Traffic, Transport, TransportError, listener, traffic,
};
use crate::vote::Vote;

/// The stack `tcp`.
#[derive(Debug)]
pub(super) struct Tcp;

impl Transport for Tcp {
    const INFO: Info = Info {
        name: "tcp",
        delimiter: Delimiter::Length,
        codec: None,
        crates: &["tokio"],
        summary: "one TCP connection on tokio, messages behind a 4-byte length",
        settings: &[("tcp_nodelay", "on")],
        secure: false,
        blocking: false,
    };

    type Server = TcpServer;
    type Connection = TcpConnection;

    async fn bind(config: ServerConfig) -> Result<TcpServer, TransportError> {
        config.payload.responder()?;
        Ok(TcpServer { listener: listener::bind(Self::INFO.name, &config.bind)?, config })
    }

    async fn connect(config: ClientConfig) -> Result<TcpConnection, TransportError> {
        let stream = listener::connect(Self::INFO.name, &config.address).await?;
        Ok(TcpConnection(FramedConnection::new(stream, config.payload.requester()?, config.max_message_bytes)))
    }
}

/// A bound server of `tcp`.
pub(super) struct TcpServer {
    listener: TcpListener,
    config: ServerConfig,
}

impl Server for TcpServer {
    fn address(&self) -> Address {
        listener::address_of(&self.listener)
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let Self { listener, config } = self;
        listener::serve(Tcp::INFO.name, listener, shutdown, config.log, move |stream, _| {
            let (responder, limit, writes) = (config.payload.responder(), config.max_message_bytes, config.writes);
            async move { serve_stream(stream, responder?, limit, writes).await }
        })
        .await
    }
}

/// A client's end of `tcp`.
pub(super) struct TcpConnection(FramedConnection<TcpStream>);

impl Connection for TcpConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.0.exchange(vote).await
    }

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        Ok(self.0.pipeline(flight, false))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        let peer = self.0.stream().peer_addr().map_err(|error| error.to_string())?;
        traffic::of_tcp_to(peer)
    }
}
