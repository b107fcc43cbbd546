//! `grpc-stream`: as [`grpc`](super::grpc), with all votes of a connection on one call, `Exchange`: what a call a vote costs.
//! Owns the client.
//!
//! The stream is opened by the first vote, because a server may keep back its half of the stream until it has an answer to
//! put into it.

use std::net::SocketAddr;

use futures_util::stream;
use tokio::sync::mpsc;
use tonic::Streaming;
use tonic::transport::Channel;

use super::grpc::{check, connect, failed};
use super::grpc_server::{GrpcServer, SETTINGS};
use super::{ClientConfig, Connection, Delimiter, Info, ServerConfig, Traffic, Transport, TransportError, traffic};
use crate::schema::generated::vote_proto;
use crate::schema::generated::vote_service::vote_service_client::VoteServiceClient;
use crate::vote::Vote;

/// Votes that may wait for HTTP/2 to take them.
const WAITING: usize = 64;

/// The stack `grpc-stream`.
#[derive(Debug)]
pub(super) struct GrpcStream;

impl Transport for GrpcStream {
    const INFO: Info = Info {
        name: "grpc-stream",
        delimiter: Delimiter::Protocol,
        codec: Some("grpc"),
        crates: &["tonic", "tonic-prost", "prost", "hyper", "hyper-util", "tokio"],
        summary: "tonic, one bidirectional stream over one HTTP/2 connection",
        settings: SETTINGS,
        secure: false,
        blocking: false,
    };

    type Server = GrpcServer;
    type Connection = GrpcStreamConnection;

    async fn bind(config: ServerConfig) -> Result<GrpcServer, TransportError> {
        GrpcServer::bind(Self::INFO.name, config)
    }

    async fn connect(config: ClientConfig) -> Result<GrpcStreamConnection, TransportError> {
        let (client, address) = connect(Self::INFO.name, &config).await?;
        Ok(GrpcStreamConnection { client, stream: None, address })
    }
}

/// A client's end of `grpc-stream`.
pub(super) struct GrpcStreamConnection {
    client: VoteServiceClient<Channel>,
    stream: Option<(mpsc::Sender<vote_proto::Vote>, Streaming<vote_proto::Vote>)>,
    address: SocketAddr,
}

impl Connection for GrpcStreamConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        let message = vote_proto::Vote::from(vote);
        let answers = match &mut self.stream {
            Some((requests, answers)) => {
                // Where nobody takes it any more, the answers say why.
                let _ = requests.send(message).await;
                answers
            }
            stream => {
                let (requests, mut waiting) = mpsc::channel(WAITING);
                let _ = requests.send(message).await;
                let requests_taken = stream::poll_fn(move |cx| waiting.poll_recv(cx));
                let answers = self.client.exchange(requests_taken).await.map_err(failed)?.into_inner();
                &mut stream.insert((requests, answers)).1
            }
        };
        let answer = answers.message().await.map_err(failed)?.ok_or(TransportError::Closed)?;
        check(vote, &answer)
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.address)
    }
}
