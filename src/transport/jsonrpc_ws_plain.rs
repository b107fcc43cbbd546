//! `jsonrpc-ws-plain`: `jsonrpc-ws` through jsonrpsee's public client, built as its documentation shows: with a timer around every
//! call, for which it has a thread, and the library's own logging layer. What [`jsonrpc_ws`](super::jsonrpc_ws) saves is the
//! difference.

use std::net::SocketAddr;
use std::sync::Arc;

use jsonrpsee::ws_client::{WsClient, WsClientBuilder};

use super::callers::{self, Callers, OwnTasks};
use super::jsonrpc_client::request;
use super::jsonrpc_server::{JsonRpcServer, WEBSOCKET_BYTES};
use super::{
    ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, ServerConfig, Traffic, Transport, TransportError,
    listener, traffic,
};
use crate::vote::Vote;

/// The stack `jsonrpc-ws-plain`.
#[derive(Debug)]
pub(super) struct JsonRpcWsPlain;

impl Transport for JsonRpcWsPlain {
    const INFO: Info = Info {
        name: "jsonrpc-ws-plain",
        delimiter: Delimiter::Protocol,
        codec: Some("json-rpc"),
        crates: &["jsonrpsee", "hyper", "hyper-util", "serde_json", "tokio"],
        summary: "jsonrpsee's public client, a WebSocket text message a vote on one connection",
        settings: &[
            ("tcp_nodelay", "on"),
            ("client", "the public one: a timer a call, on a thread of its own"),
            ("ping", "off"),
            ("compression", "off"),
            ("logging_middleware", "jsonrpsee's default"),
            ("max_message_bytes", "65536: room is made for what a frame declares"),
            ("server", "jsonrpsee's tower service, an accept loop of ours"),
        ],
        secure: false,
        blocking: false,
    };

    type Server = JsonRpcServer;
    type Connection = WsPlainConnection;

    async fn bind(config: ServerConfig) -> Result<JsonRpcServer, TransportError> {
        JsonRpcServer::bind(Self::INFO.name, config)
    }

    async fn connect(config: ClientConfig) -> Result<WsPlainConnection, TransportError> {
        let stream = listener::connect(Self::INFO.name, &config.address).await?;
        let address = stream.peer_addr()?;
        let limit = u32::try_from(config.max_message_bytes).unwrap_or(u32::MAX).min(WEBSOCKET_BYTES);
        let client = WsClientBuilder::default()
            .connection_timeout(config.deadline)
            .max_request_size(limit)
            .max_response_size(limit)
            .disable_ws_ping()
            .build_with_stream(format!("ws://{address}/"), stream);
        let client = tokio::time::timeout(config.deadline, client)
            .await
            .map_err(|_| TransportError::Deadline(config.deadline))?
            .map_err(TransportError::connect)?;
        Ok(WsPlainConnection { client: Arc::new(client), address })
    }
}

/// A client's end of `jsonrpc-ws-plain`.
pub(super) struct WsPlainConnection {
    client: Arc<WsClient>,
    address: SocketAddr,
}

impl Connection for WsPlainConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        match request(&*self.client, vote).await? {
            Some(()) => Ok(()),
            None => Err(TransportError::stack(self.client.on_disconnect().await)),
        }
    }

    const MOST_IN_FLIGHT: Option<usize> = Some(callers::MOST);

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let caller = || Ok(Self { client: Arc::clone(&self.client), address: self.address });
        Ok(Box::new(Callers::new(&flight, OwnTasks, caller)?))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.address)
    }
}
