//! `grpc`: a vote a call, `Submit` of `protos/vote.proto`, by tonic over one HTTP/2 connection. Owns the client;
//! [`grpc_server`](super::grpc_server) answers it. What both clients share is here too: the channel, and what a status means.

use std::fmt;
use std::net::SocketAddr;

use tonic::Status;
use tonic::transport::{Channel, Endpoint};

use super::callers::{self, Callers, OwnTasks};
use super::grpc_server::{GrpcServer, SETTINGS, WINDOW_BYTES};
use super::{
    ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, ServerConfig, Traffic, Transport, TransportError,
    traffic,
};
use crate::schema::generated::vote_proto;
use crate::schema::generated::vote_service::vote_service_client::VoteServiceClient;
use crate::vote::Vote;

/// The stack `grpc`.
#[derive(Debug)]
pub(super) struct Grpc;

impl Transport for Grpc {
    const INFO: Info = Info {
        name: "grpc",
        delimiter: Delimiter::Protocol,
        codec: Some("grpc"),
        crates: &["tonic", "tonic-prost", "prost", "hyper", "hyper-util", "tokio"],
        summary: "tonic, a unary call a vote over one HTTP/2 connection",
        settings: SETTINGS,
        secure: false,
        blocking: false,
    };

    type Server = GrpcServer;
    type Connection = GrpcConnection;

    async fn bind(config: ServerConfig) -> Result<GrpcServer, TransportError> {
        GrpcServer::bind(Self::INFO.name, config)
    }

    async fn connect(config: ClientConfig) -> Result<GrpcConnection, TransportError> {
        let (client, address) = connect(Self::INFO.name, &config).await?;
        Ok(GrpcConnection { client, address })
    }
}

/// The service's client over one connection, without Nagle's delay.
pub(super) async fn connect(
    stack: &'static str,
    config: &ClientConfig,
) -> Result<(VoteServiceClient<Channel>, SocketAddr), TransportError> {
    let Some(address) = config.address.socket() else {
        return Err(TransportError::Address { stack, address: config.address.clone() });
    };
    let channel = Endpoint::from_shared(format!("http://{address}"))
        .map_err(TransportError::connect)?
        .tcp_nodelay(true)
        .connect_timeout(config.deadline)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .http2_adaptive_window(false)
        .connect()
        .await
        .map_err(TransportError::connect)?;
    let limit = usize::try_from(config.max_message_bytes).unwrap_or(usize::MAX);
    Ok((VoteServiceClient::new(channel).max_decoding_message_size(limit), address))
}

/// Checks that `answer` is the answer to `vote`.
pub(super) fn check(vote: &Vote, answer: &vote_proto::Vote) -> Result<(), TransportError> {
    if vote.is_answered_by(&Vote::try_from(answer)?) { Ok(()) } else { Err(TransportError::WrongAnswer) }
}

/// A status as this project's error.
pub(super) fn failed(status: Status) -> TransportError {
    TransportError::stack(Failure(status))
}

/// A status other than OK, in one sentence; tonic's own words are spread over three lines of debug output.
#[derive(Debug)]
struct Failure(Status);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gRPC status {:?}: {}", self.0.code(), self.0.message())
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// A client's end of `grpc`.
pub(super) struct GrpcConnection {
    client: VoteServiceClient<Channel>,
    address: SocketAddr,
}

impl Connection for GrpcConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        let answer = self.client.submit(vote_proto::Vote::from(vote)).await.map_err(failed)?;
        check(vote, answer.get_ref())
    }

    const MOST_IN_FLIGHT: Option<usize> = Some(callers::MOST);

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let caller = || Ok(Self { client: self.client.clone(), address: self.address });
        Ok(Box::new(Callers::new(&flight, OwnTasks, caller)?))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.address)
    }
}
