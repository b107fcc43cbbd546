//! `jsonrpc-http-plain`: `jsonrpc-http` through jsonrpsee's public client, built as its documentation shows: with a timer around
//! every call and the library's own logging layer. What [`jsonrpc_http`](super::jsonrpc_http) saves is the difference.

use std::net::SocketAddr;

use jsonrpsee::http_client::{HttpClient, HttpClientBuilder};

use super::callers::{self, Callers, OwnTasks};
use super::jsonrpc_client::request;
use super::jsonrpc_server::JsonRpcServer;
use super::{
    ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, ServerConfig, Traffic, Transport, TransportError,
    traffic,
};
use crate::vote::Vote;

/// The stack `jsonrpc-http-plain`.
#[derive(Debug)]
pub(super) struct JsonRpcHttpPlain;

impl Transport for JsonRpcHttpPlain {
    const INFO: Info = Info {
        name: "jsonrpc-http-plain",
        delimiter: Delimiter::Protocol,
        codec: Some("json-rpc"),
        crates: &["jsonrpsee", "hyper", "hyper-util", "serde_json", "tokio"],
        summary: "jsonrpsee's public client, an HTTP/1.1 POST a vote on one connection that is kept",
        settings: &[
            ("tcp_nodelay", "on (jsonrpsee's default)"),
            ("keep_alive", "on"),
            ("client", "the public one: a timer a call"),
            ("logging_middleware", "jsonrpsee's default"),
            ("server", "jsonrpsee's tower service, an accept loop of ours"),
        ],
        secure: false,
        blocking: false,
    };

    type Server = JsonRpcServer;
    type Connection = HttpPlainConnection;

    async fn bind(config: ServerConfig) -> Result<JsonRpcServer, TransportError> {
        JsonRpcServer::bind(Self::INFO.name, config)
    }

    async fn connect(config: ClientConfig) -> Result<HttpPlainConnection, TransportError> {
        let Some(address) = config.address.socket() else {
            return Err(TransportError::Address { stack: Self::INFO.name, address: config.address });
        };
        let limit = u32::try_from(config.max_message_bytes).unwrap_or(u32::MAX);
        let client = HttpClientBuilder::new()
            .max_request_size(limit)
            .max_response_size(limit)
            .build(format!("http://{address}/"))
            .map_err(TransportError::connect)?;
        Ok(HttpPlainConnection { client, address })
    }
}

/// A client's end of `jsonrpc-http-plain`.
pub(super) struct HttpPlainConnection {
    client: HttpClient,
    address: SocketAddr,
}

impl Connection for HttpPlainConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        request(&self.client, vote).await?.ok_or(TransportError::Closed)
    }

    /// One call in flight on a connection, as in `jsonrpc-http`.
    const MOST_IN_FLIGHT: Option<usize> = Some(callers::MOST);

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let caller = || Ok(Self { client: self.client.clone(), address: self.address });
        Ok(Box::new(Callers::new(&flight, OwnTasks, caller)?))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.address)
    }
}
