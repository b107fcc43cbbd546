//! `jsonrpc-http`: an HTTP POST a vote on a connection that is kept, by jsonrpsee. Owns the client;
//! [`jsonrpc_server`](super::jsonrpc_server) answers it.
//!
//! jsonrpsee's HTTP client connects with its first request, and so does this one.

use std::net::SocketAddr;

use jsonrpsee::core::middleware::RpcServiceBuilder;
use jsonrpsee::http_client::transport::HttpBackend;
use jsonrpsee::http_client::{HttpClientBuilder, RpcService};

use super::callers::{self, Callers, OwnTasks};
use super::jsonrpc_client::{Caller, Slot};
use super::jsonrpc_server::JsonRpcServer;
use super::{
    ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, ServerConfig, Traffic, Transport, TransportError,
    traffic,
};
use crate::vote::Vote;

/// The stack `jsonrpc-http`.
#[derive(Debug)]
pub(super) struct JsonRpcHttp;

impl Transport for JsonRpcHttp {
    const INFO: Info = Info {
        name: "jsonrpc-http",
        delimiter: Delimiter::Protocol,
        codec: Some("json-rpc"),
        crates: &["jsonrpsee", "hyper", "hyper-util", "serde_json", "tokio"],
        summary: "jsonrpsee, an HTTP/1.1 POST a vote on one connection that is kept",
        settings: &[
            ("tcp_nodelay", "on"),
            ("keep_alive", "on"),
            ("client", "its inner service, called by us: no timer a call"),
            ("logging_middleware", "off"),
            ("server", "jsonrpsee's tower service, an accept loop of ours"),
        ],
        secure: false,
        blocking: false,
    };

    type Server = JsonRpcServer;
    type Connection = HttpConnection;

    async fn bind(config: ServerConfig) -> Result<JsonRpcServer, TransportError> {
        JsonRpcServer::bind(Self::INFO.name, config)
    }

    async fn connect(config: ClientConfig) -> Result<HttpConnection, TransportError> {
        let Some(address) = config.address.socket() else {
            return Err(TransportError::Address { stack: Self::INFO.name, address: config.address });
        };
        let url = format!("http://{address}/");
        let limit = u32::try_from(config.max_message_bytes).unwrap_or(u32::MAX);
        let service = Slot::default();
        let seen = service.clone();
        HttpClientBuilder::new()
            .set_tcp_no_delay(true)
            .max_request_size(limit)
            .max_response_size(limit)
            .set_rpc_middleware(RpcServiceBuilder::new().layer_fn(move |inner: RpcService<HttpBackend>| {
                // Keeping a clone is all that the layer does, and it is asked once.
                let _ = seen.set(inner.clone());
                inner
            }))
            .build(&url)
            .map_err(TransportError::connect)?;
        Ok(HttpConnection { caller: Caller::new(&service)?, address })
    }
}

/// A client's end of `jsonrpc-http`.
pub(super) struct HttpConnection {
    caller: Caller<RpcService<HttpBackend>>,
    address: SocketAddr,
}

impl Connection for HttpConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.caller.exchange(vote).await?.ok_or(TransportError::Closed)
    }

    /// HTTP/1.1 has one call in flight on a connection, so that each of these is one; without a bound descriptors run out.
    const MOST_IN_FLIGHT: Option<usize> = Some(callers::MOST);

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let caller = || Ok(Self { caller: self.caller.clone(), address: self.address });
        Ok(Box::new(Callers::new(&flight, OwnTasks, caller)?))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.address)
    }
}
