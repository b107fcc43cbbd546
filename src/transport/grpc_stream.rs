//! `grpc-stream`: as [`grpc`](super::grpc), with all votes of a connection on one call, `Exchange`: what a call a vote costs.
//! Owns the client.
//!
//! The stream is opened by the first vote, because a server may keep back its half of the stream until it has an answer to
//! put into it.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Stream, stream};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tonic::Streaming;
use tonic::transport::Channel;

use super::grpc::{check, connect, failed};
use super::grpc_server::{GrpcServer, SETTINGS};
use super::pipeline::InOrder;
use super::{
    Answered, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, ServerConfig, Traffic, Transport,
    TransportError, traffic,
};
use crate::schema::generated::vote_proto;
use crate::schema::generated::vote_service::vote_service_client::VoteServiceClient;
use crate::vote::Vote;

/// Votes that may wait for HTTP/2 to take them.
const WAITING: usize = 4_096;

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

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let Some((requests, answers)) = self.stream else {
            return Err(TransportError::stack("the stream opens with the first vote, and none has been exchanged"));
        };
        Ok(Box::new(StreamPipeline { requests, answers, votes: InOrder::new(flight) }))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.address)
    }
}

/// The stream with many votes on it.
struct StreamPipeline {
    requests: mpsc::Sender<vote_proto::Vote>,
    answers: Streaming<vote_proto::Vote>,
    votes: InOrder,
}

impl Pipeline for StreamPipeline {
    fn poll_submit(&mut self, _: &mut Context<'_>, number: u64) -> Poll<Result<(), TransportError>> {
        if self.votes.is_full() {
            return Poll::Pending;
        }
        match self.requests.try_reserve() {
            Ok(place) => {
                place.send(vote_proto::Vote::from(self.votes.flight.vote(number)));
                self.votes.sent(number);
                Poll::Ready(Ok(()))
            }
            // Where nobody takes it any more, the answers say why.
            Err(TrySendError::Full(()) | TrySendError::Closed(())) => Poll::Pending,
        }
    }

    /// HTTP/2's task takes what there is.
    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answered, TransportError>> {
        let answer = match ready!(Pin::new(&mut self.answers).poll_next(cx)) {
            Some(answer) => answer.map_err(failed)?,
            None => return Poll::Ready(Err(TransportError::Closed)),
        };
        Poll::Ready(self.votes.answered(|vote| check(vote, &answer)))
    }

    fn has_tasks(&self) -> bool {
        true
    }
}
