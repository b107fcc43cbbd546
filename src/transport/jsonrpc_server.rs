//! The server of both JSON-RPC stacks: `vote_submit` over HTTP POST and over WebSocket on one port, by jsonrpsee. Owns what is
//! answered, and how a refusal is said.
//!
//! Connections are accepted here and handed to jsonrpsee's tower service, as its documentation shows, so that they are
//! counted, logged and closed like those of every other stack. A vote is read and written by [`vote::json`], as raw JSON
//! that jsonrpsee puts into its envelope: a `Value` in between would cost twice as much.
//!
//! [`vote::json`]: crate::vote::json

use std::future::Future;
use std::hint::black_box;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::Incoming;
use jsonrpsee::RpcModule;
use jsonrpsee::core::{BoxError, JsonRawValue, RegisterMethodError};
use jsonrpsee::server::{HttpResponse, Methods, ServerBuilder, ServerConfig as RpcConfig, TowerService, ws};
use jsonrpsee::types::error::{INTERNAL_ERROR_CODE, INVALID_PARAMS_CODE};
use jsonrpsee::types::{ErrorObjectOwned, Params};
use tokio::net::TcpListener;
use tonic::codegen::http::{Request, StatusCode};
use tower::Service;
use tower::layer::util::Identity;

use super::config::Log;
use super::{Address, CancellationToken, Server, ServerConfig, TransportError, listener};
use crate::vote::{Vote, json};

/// The method.
pub(super) const METHOD: &str = "vote_submit";

/// Requests that may be open at once, over all connections; jsonrpsee's own limit is 100.
const OPEN: u32 = 1 << 16;

/// Longest message that is taken over WebSocket, whatever the limit is: the library makes room for as much as a frame
/// declares before any of it has arrived. HTTP's bodies are read as they come.
pub(super) const WEBSOCKET_BYTES: u32 = 64 << 10;

/// How long WebSocket sessions may take to end when the server stops.
const FAREWELL: Duration = Duration::from_secs(1);

/// A bound server of `jsonrpc-http` or `jsonrpc-ws`.
pub(super) struct JsonRpcServer {
    stack: &'static str,
    listener: TcpListener,
    config: ServerConfig,
}

impl JsonRpcServer {
    pub(super) fn bind(stack: &'static str, config: ServerConfig) -> Result<Self, TransportError> {
        Ok(Self { stack, listener: listener::bind(stack, &config.bind)?, config })
    }
}

impl Server for JsonRpcServer {
    fn address(&self) -> Address {
        listener::address_of(&self.listener)
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let Self { stack, listener, config } = self;
        let limit = u32::try_from(config.max_message_bytes).unwrap_or(u32::MAX);
        let builder = |limit| {
            let settings = RpcConfig::builder()
                .max_request_body_size(limit)
                .max_connections(OPEN)
                .disable_ws_ping()
                .set_tcp_no_delay(true)
                .build();
            ServerBuilder::new().set_config(settings).to_service_builder()
        };
        let (http, websocket) = (builder(limit), builder(limit.min(WEBSOCKET_BYTES)));
        let (stopping, server) = jsonrpsee::server::stop_channel();
        listener::serve(stack, listener, shutdown, config.log, move |stream, peer| {
            let account = Account { stack, peer, log: config.log };
            let services = methods(account).map(|methods| Services {
                http: http.clone().build(methods.clone(), stopping.clone()),
                websocket: websocket.clone().build(methods, stopping.clone()),
                account,
            });
            async move { jsonrpsee::server::serve(stream, services?).await }
        })
        .await?;
        // Sessions over WebSocket are tasks of the library's own, which end when they are told to.
        if server.stop().is_ok() {
            let _ = tokio::time::timeout(FAREWELL, server.stopped()).await;
        }
        Ok(())
    }
}

/// To whom a connection belongs, and where it is said what was wrong with it.
#[derive(Clone, Copy)]
struct Account {
    stack: &'static str,
    peer: SocketAddr,
    log: Log,
}

impl Account {
    fn refused(self, reason: &dyn std::fmt::Display) {
        self.log.closed(self.stack, &self.peer, reason);
    }
}

/// The methods of one connection.
fn methods(account: Account) -> Result<Methods, RegisterMethodError> {
    let mut module = RpcModule::new(account);
    module.register_method(METHOD, |params, account, _| {
        submit(&params).inspect_err(|error| account.refused(&error.message()))
    })?;
    Ok(module.into())
}

fn submit(params: &Params<'_>) -> Result<Box<JsonRawValue>, ErrorObjectOwned> {
    let vote = json::parse_parameters(params.as_str().unwrap_or("{}").as_bytes())
        .map_err(|error| refusal(INVALID_PARAMS_CODE, &format!("Invalid params: {error}")))?;
    // The answer needs four of the six fields; a validator needs them all.
    raw(&black_box(&vote).answer()).map_err(|error| refusal(INTERNAL_ERROR_CODE, &error.to_string()))
}

fn refusal(code: i32, message: &str) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(code, message, None::<()>)
}

/// `vote` as raw JSON, which jsonrpsee copies into its envelope as it is. serde_json reads the text once more before it believes
/// that it is JSON. Having it serialise a vote into raw JSON itself was measured, and takes longer: it then searches every
/// string for characters to escape, where this text is known to have none.
pub(super) fn raw(vote: &Vote) -> Result<Box<JsonRawValue>, serde_json::Error> {
    let mut text = [0; json::MAX_BYTES];
    let length = json::write(vote, &mut text);
    let text = String::from_utf8(text[..length].to_vec()).map_err(serde::ser::Error::custom)?;
    JsonRawValue::from_string(text)
}

/// The services of one connection: one port for both.
#[derive(Clone)]
struct Services {
    http: TowerService<Identity, Identity>,
    websocket: TowerService<Identity, Identity>,
    account: Account,
}

impl Service<Request<Incoming>> for Services {
    type Response = HttpResponse;
    type Error = BoxError;
    type Future = Call;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Call {
        let service = if ws::is_upgrade_request(&request) { &mut self.websocket } else { &mut self.http };
        Call { call: service.call(request), account: self.account }
    }
}

/// A call of the library's service.
struct Call {
    call: Pin<Box<dyn Future<Output = Result<HttpResponse, BoxError>> + Send>>,
    account: Account,
}

impl Future for Call {
    type Output = Result<HttpResponse, BoxError>;

    /// What HTTP itself refuses is logged, but for other methods than POST, which do no more than ask who is there. What
    /// JSON-RPC refuses is in a response that HTTP calls good.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.call.as_mut().poll(cx));
        if let Ok(response) = &response
            && response.status().is_client_error()
            && response.status() != StatusCode::METHOD_NOT_ALLOWED
        {
            self.account.refused(&response.status());
        }
        Poll::Ready(response)
    }
}
