//! `jsonrpc-ws`: a WebSocket text message a vote, by jsonrpsee: what HTTP's headers cost. Owns the client;
//! [`jsonrpc_server`](super::jsonrpc_server) answers it.

use std::net::SocketAddr;
use std::sync::Arc;

use jsonrpsee::core::middleware::RpcServiceBuilder;
use jsonrpsee::ws_client::{RpcService, WsClient, WsClientBuilder};

use super::callers::{self, Callers, OwnTasks};
use super::jsonrpc_client::{Caller, Slot};
use super::jsonrpc_server::{JsonRpcServer, WEBSOCKET_BYTES};
use super::{
    ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, ServerConfig, Traffic, Transport, TransportError,
    listener, traffic,
};
use crate::vote::Vote;

/// Calls that may wait for the client's sending task; jsonrpsee's own limit is 256.
const WAITING: usize = 4_096;

/// The stack `jsonrpc-ws`.
#[derive(Debug)]
pub(super) struct JsonRpcWs;

impl Transport for JsonRpcWs {
    const INFO: Info = Info {
        name: "jsonrpc-ws",
        delimiter: Delimiter::Protocol,
        codec: Some("json-rpc"),
        crates: &["jsonrpsee", "hyper", "hyper-util", "serde_json", "tokio"],
        summary: "jsonrpsee, a WebSocket text message a vote on one connection",
        settings: &[
            ("tcp_nodelay", "on"),
            ("client", "its inner service, called by us: no timer a call"),
            ("ping", "off"),
            ("compression", "off"),
            ("logging_middleware", "off"),
            ("max_message_bytes", "65536: room is made for what a frame declares"),
            ("server", "jsonrpsee's tower service, an accept loop of ours"),
        ],
        secure: false,
        blocking: false,
    };

    type Server = JsonRpcServer;
    type Connection = WsConnection;

    async fn bind(config: ServerConfig) -> Result<JsonRpcServer, TransportError> {
        JsonRpcServer::bind(Self::INFO.name, config)
    }

    async fn connect(config: ClientConfig) -> Result<WsConnection, TransportError> {
        let stream = listener::connect(Self::INFO.name, &config.address).await?;
        let address = stream.peer_addr()?;
        let limit = u32::try_from(config.max_message_bytes).unwrap_or(u32::MAX).min(WEBSOCKET_BYTES);
        let service = Slot::default();
        let seen = service.clone();
        let client = WsClientBuilder::default()
            .connection_timeout(config.deadline)
            .max_request_size(limit)
            .max_response_size(limit)
            .max_concurrent_requests(WAITING)
            .disable_ws_ping()
            .set_rpc_middleware(RpcServiceBuilder::new().layer_fn(move |inner: RpcService| {
                // Keeping a clone is all that the layer does, and it is asked once.
                let _ = seen.set(inner.clone());
                inner
            }))
            .build_with_stream(format!("ws://{address}/"), stream);
        let client = tokio::time::timeout(config.deadline, client)
            .await
            .map_err(|_| TransportError::Deadline(config.deadline))?
            .map_err(TransportError::connect)?;
        Ok(WsConnection { caller: Caller::new(&service)?, client: Arc::new(client), address })
    }
}

/// A client's end of `jsonrpc-ws`. The client keeps the tasks that send and receive.
pub(super) struct WsConnection {
    caller: Caller<RpcService>,
    client: Arc<WsClient<RpcService>>,
    address: SocketAddr,
}

impl Connection for WsConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        match self.caller.exchange(vote).await? {
            Some(()) => Ok(()),
            None => Err(TransportError::stack(self.client.on_disconnect().await)),
        }
    }

    const MOST_IN_FLIGHT: Option<usize> = Some(callers::MOST);

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let caller =
            || Ok(Self { caller: self.caller.clone(), client: Arc::clone(&self.client), address: self.address });
        Ok(Box::new(Callers::new(&flight, OwnTasks, caller)?))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.address)
    }
}
