//! The server of both gRPC stacks: `VoteService` of `protos/vote.proto` and its description (reflection, v1 and v1alpha), by
//! tonic over hyper's HTTP/2. Owns what is answered, and how a refusal is said.
//!
//! Connections are accepted here and not by tonic's `Server`: one that stops waits for every open stream to end by itself,
//! and one that is handed its streams leaves Nagle's delay on. tonic's services are given to hyper's connection, as in
//! tonic's own example of a server with an accept loop; which of the three a call is for is told by its path.
//!
//! What cannot be a vote is `INVALID_ARGUMENT`, whoever finds it out: tonic says `INTERNAL` of bytes that prost refuses or
//! that end too soon, and `OUT_OF_RANGE` of a length over the limit. Both are the peer's fault here, because nothing in this
//! service can fail by itself.

use std::convert::Infallible;
use std::future::Future;
use std::hint::black_box;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::Stream;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::Service as HyperService;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::NamedService;
use tonic::{Code, Request, Response, Status, Streaming};

use super::config::Log;
use super::{Address, CancellationToken, Server, ServerConfig, TransportError, listener};
use crate::schema::generated::vote_proto;
use crate::schema::generated::vote_service::vote_service_server::{VoteService, VoteServiceServer};
use crate::vote::Vote;

/// The serialized descriptors of `protos/vote.proto`.
const DESCRIPTORS: &[u8] = include_bytes!("../schema/generated/vote_service.descriptors");

/// Bytes of unread messages that either side takes of a stream and of a connection: an update of the window then comes once
/// in thousands of votes and not once in hundreds, as with HTTP/2's own 64 KiB.
pub(super) const WINDOW_BYTES: u32 = 1 << 20;

/// Calls that a connection may have open.
const STREAMS: u32 = 4_096;

/// What is recorded of both stacks.
pub(super) const SETTINGS: &[(&str, &str)] = &[
    ("tcp_nodelay", "on"),
    ("http2_initial_stream_window_size", "1048576"),
    ("http2_initial_connection_window_size", "1048576"),
    ("http2_adaptive_window", "off"),
    ("http2_max_concurrent_streams", "4096"),
    ("http2_keep_alive", "off"),
    ("tonic_buffer_size", "1024"),
    ("compression", "off"),
    ("timeout", "none: the driver has one timer"),
    ("client", "one tonic Channel"),
    ("server", "tonic's service on hyper's HTTP/2 connection"),
];

/// A bound server of `grpc` or `grpc-stream`.
pub(super) struct GrpcServer {
    stack: &'static str,
    listener: TcpListener,
    config: ServerConfig,
}

impl GrpcServer {
    pub(super) fn bind(stack: &'static str, config: ServerConfig) -> Result<Self, TransportError> {
        Ok(Self { stack, listener: listener::bind(stack, &config.bind)?, config })
    }
}

impl Server for GrpcServer {
    fn address(&self) -> Address {
        listener::address_of(&self.listener)
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let Self { stack, listener, config } = self;
        let description =
            || tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(DESCRIPTORS);
        let v1 = description().build_v1().map_err(TransportError::stack)?;
        let v1alpha = description().build_v1alpha().map_err(TransportError::stack)?;
        let limit = usize::try_from(config.max_message_bytes).unwrap_or(usize::MAX);
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .adaptive_window(false)
            .max_concurrent_streams(STREAMS);
        listener::serve(stack, listener, shutdown, config.log, move |stream, peer| {
            let account = Account { stack, peer, log: config.log };
            let votes = VoteServiceServer::new(Votes(account)).max_decoding_message_size(limit);
            let services = Services { votes, v1: v1.clone(), v1alpha: v1alpha.clone(), account };
            http2.serve_connection(TokioIo::new(stream), services)
        })
        .await
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
    fn refused(self, status: &Status) {
        self.log.closed(self.stack, &self.peer, &format_args!("{:?}: {}", status.code(), status.message()));
    }
}

/// The service.
struct Votes(Account);

#[tonic::async_trait]
impl VoteService for Votes {
    type ExchangeStream = Answers;

    async fn submit(&self, request: Request<vote_proto::Vote>) -> Result<Response<vote_proto::Vote>, Status> {
        answer(request.get_ref()).map(Response::new)
    }

    async fn exchange(&self, request: Request<Streaming<vote_proto::Vote>>) -> Result<Response<Answers>, Status> {
        Ok(Response::new(Answers { requests: request.into_inner(), account: self.0 }))
    }
}

fn answer(request: &vote_proto::Vote) -> Result<vote_proto::Vote, Status> {
    let vote = Vote::try_from(request).map_err(|error| Status::invalid_argument(error.to_string()))?;
    // The answer needs four of the six fields; a validator needs them all.
    Ok((&black_box(&vote).answer()).into())
}

/// What the peer is told of `status`, which tonic found while it read a request.
fn blamed(status: Status) -> Status {
    match status.code() {
        Code::Internal | Code::OutOfRange => Status::invalid_argument(status.message()),
        _ => status,
    }
}

/// The answers of one `Exchange`: each made when its request is polled for, with no task or queue between the two. The first
/// refusal ends the stream, as gRPC ends a stream at its status.
struct Answers {
    requests: Streaming<vote_proto::Vote>,
    account: Account,
}

impl Stream for Answers {
    type Item = Result<vote_proto::Vote, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let request = ready!(Pin::new(&mut self.requests).poll_next(cx));
        let answered = request.map(|request| request.map_err(blamed).and_then(|request| answer(&request)));
        if let Some(Err(status)) = &answered
            && status.code() != Code::Cancelled
        {
            self.account.refused(status);
        }
        Poll::Ready(answered)
    }
}

/// A call of generated code.
type Call = BoxFuture<http::Response<Body>, Infallible>;

/// The services of one connection.
struct Services<A, B> {
    votes: VoteServiceServer<Votes>,
    v1: A,
    v1alpha: B,
    account: Account,
}

impl<A, B> HyperService<http::Request<Incoming>> for Services<A, B>
where
    A: Generated,
    B: Generated,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Refusal;

    fn call(&self, request: http::Request<Incoming>) -> Refusal {
        let name = request.uri().path().split('/').nth(1);
        let call = if name == Some(A::NAME) {
            self.v1.clone().call(request)
        } else if name == Some(B::NAME) {
            self.v1alpha.clone().call(request)
        } else {
            // Which says `UNIMPLEMENTED` of a call that nobody has.
            self.votes.clone().call(request)
        };
        Refusal { call, account: self.account }
    }
}

/// What tonic generates of a service. It is ready at any time.
trait Generated:
    Service<http::Request<Incoming>, Response = http::Response<Body>, Error = Infallible, Future = Call>
    + NamedService
    + Clone
{
}

impl<S> Generated for S where
    S: Service<http::Request<Incoming>, Response = http::Response<Body>, Error = Infallible, Future = Call>
        + NamedService
        + Clone
{
}

/// A call whose refusal puts the blame where it belongs, and is logged.
struct Refusal {
    call: Call,
    account: Account,
}

impl Future for Refusal {
    type Output = Result<http::Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Ok(response) = ready!(self.call.as_mut().poll(cx));
        // Of a call that succeeds, the status comes behind its messages and is not here.
        Poll::Ready(Ok(match Status::from_header_map(response.headers()) {
            Some(status) if status.code() != Code::Ok => {
                let status = blamed(status);
                self.account.refused(&status);
                status.into_http()
            }
            _ => response,
        }))
    }
}
