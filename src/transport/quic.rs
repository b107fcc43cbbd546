//! `quic`: a bidirectional stream for each message, whose end is the stream's; streams are answered as they are complete, in
//! whatever order that is.
//!
//! Data and end are handed over together, so that a vote is one packet in one datagram, and so is its answer, which carries the
//! acknowledgement along. The server reads each stream where it is accepted: a vote that has arrived whole, which is the rule,
//! is answered there, out of one buffer and without a task. Only a stream that is not complete, or whose peer does not take its
//! answer, gets a task of its own, and so holds nobody up.

use std::fmt::Display;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use quinn::{RecvStream, SendStream};

use super::callers::{self, Callers, OwnTasks};
use super::payload::{Requester, Responder};
use super::quic_endpoint::{self, Code, QuicListener, Udp};
use super::quic_message::{Account, Broken, Message, Share};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Payload, Pipeline, Server,
    ServerConfig, Traffic, Transport, TransportError,
};
use crate::vote::Vote;

/// Streams that a client may have open at once, at least: quinn's default. It makes room for all of them with the connection.
const STREAMS: u32 = 100;

/// What is said of them.
const MOST_STREAMS: (&str, &str) =
    ("max_concurrent_bidi_streams", "the votes that may be in flight, at least 100 (quinn's default)");

/// The stack `quic`, or `quic-plain`: the same on quinn's own UDP socket.
#[derive(Debug)]
pub(super) struct Quic<const PLAIN: bool = false>;

impl<const PLAIN: bool> Quic<PLAIN> {
    const UDP: Udp = if PLAIN { Udp::Quinns } else { Udp::Ours };
}

impl<const PLAIN: bool> Transport for Quic<PLAIN> {
    const INFO: Info = Info {
        name: if PLAIN { "quic-plain" } else { "quic" },
        delimiter: Delimiter::StreamEnd,
        codec: None,
        crates: &["quinn", "rustls"],
        summary: if PLAIN {
            "QUIC (quinn on its own UDP socket; rustls, ring), a bidirectional stream a message"
        } else {
            "QUIC (quinn; rustls, ring), a bidirectional stream a message"
        },
        settings: if PLAIN {
            quic_endpoint::settings![quic_endpoint::QUINNS_SOCKET, MOST_STREAMS]
        } else {
            quic_endpoint::settings![quic_endpoint::OUR_SOCKET, MOST_STREAMS]
        },
        secure: true,
        blocking: false,
    };

    type Server = QuicServer<PLAIN>;
    type Connection = QuicConnection;

    async fn bind(config: ServerConfig) -> Result<QuicServer<PLAIN>, TransportError> {
        let streams = config.in_flight.max(STREAMS);
        Ok(QuicServer(QuicListener::bind(Self::INFO.name, config, streams, Self::UDP)?))
    }

    async fn connect(config: ClientConfig) -> Result<QuicConnection, TransportError> {
        let requester = config.payload.requester()?;
        let connection = quic_endpoint::connect(Self::INFO.name, &config, Self::UDP).await?;
        let (payload, limit) = (config.payload, config.max_message_bytes);
        Ok(QuicConnection { connection, requester, answer: Message::new(limit), payload, limit })
    }
}

/// A client's end of `quic`.
pub(super) struct QuicConnection {
    connection: quinn::Connection,
    requester: Box<dyn Requester>,
    answer: Message,
    payload: Payload,
    limit: u64,
}

impl Connection for QuicConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        let Self { connection, requester, answer, .. } = self;
        let (mut send, mut receive) = connection.open_bi().await.map_err(quic_endpoint::lost)?;
        send.write_all(requester.request(vote)?).await.map_err(quic_endpoint::unwritten)?;
        send.finish().map_err(TransportError::stack)?;
        answer.clear();
        poll_fn(|context| answer.poll_arrive(context, &mut receive)).await?;
        requester.check(vote, answer.bytes())
    }

    const MOST_IN_FLIGHT: Option<usize> = Some(callers::MOST);

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let caller = || {
            let (connection, payload) = (self.connection.clone(), self.payload.clone());
            let (requester, answer) = (payload.requester()?, Message::new(self.limit));
            Ok(Self { connection, requester, answer, payload, limit: self.limit })
        };
        Ok(Box::new(Callers::new(&flight, OwnTasks, caller)?))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(quic_endpoint::traffic(&self.connection))
    }
}

/// A bound server of `quic`.
pub(super) struct QuicServer<const PLAIN: bool>(QuicListener);

impl<const PLAIN: bool> Server for QuicServer<PLAIN> {
    fn address(&self) -> Address {
        self.0.address()
    }

    fn certificate_pem(&self) -> Option<String> {
        self.0.certificate_pem()
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let stack = Quic::<PLAIN>::INFO.name;
        self.0.serve(stack, shutdown, move |connection, config| serve_connection(stack, connection, config)).await
    }
}

/// Answers the streams of one connection, until it ends.
async fn serve_connection(
    stack: &'static str,
    connection: quinn::Connection,
    config: ServerConfig,
) -> Result<(), TransportError> {
    let mut responder = config.payload.responder()?;
    let mut message = Message::new(config.max_message_bytes);
    let server = Arc::new(Shared {
        stack,
        account: Arc::new(Account::new(config.max_message_bytes)),
        peer: connection.remote_address(),
        config,
    });
    loop {
        match connection.accept_bi().await {
            Ok((send, receive)) => serve_now(Stream { send, receive }, &mut message, responder.as_mut(), &server),
            Err(error) => return quic_endpoint::ended(error),
        }
    }
}

/// Answers a stream that is complete; any other gets a task, and what has arrived of it goes along.
fn serve_now(mut stream: Stream, message: &mut Message, responder: &mut dyn Responder, server: &Arc<Shared>) {
    // Nobody need be woken for what is only looked at: a task looks again as soon as it starts.
    let mut now = Context::from_waker(Waker::noop());
    message.clear();
    match message.poll_arrive(&mut now, &mut stream.receive) {
        Poll::Pending => {
            let begun = std::mem::replace(message, Message::new(server.config.max_message_bytes));
            tokio::spawn(finish_message(stream, begun, Arc::clone(server)));
        }
        Poll::Ready(Err(broken)) => server.refuse_broken(stream, &broken),
        Poll::Ready(Ok(())) => match responder.respond(message.bytes()) {
            Ok(answer) => answer_now(stream, answer, &mut now, server),
            Err(error) => server.refuse(stream, Code::NoVote, &error),
        },
    }
}

/// Both halves of a stream.
struct Stream {
    send: SendStream,
    receive: RecvStream,
}

/// What the streams of one connection have in common.
struct Shared {
    stack: &'static str,
    config: ServerConfig,
    account: Arc<Account>,
    peer: SocketAddr,
}

impl Shared {
    /// Gives `stream` up and says why, to the peer and in the log; the connection goes on.
    fn refuse(&self, mut stream: Stream, code: Code, reason: &dyn Display) {
        // Either half may have come to its end already; then there is nothing to give up.
        let _ = stream.send.reset(code.number());
        let _ = stream.receive.stop(code.number());
        self.config.log.closed(self.stack, &self.peer, reason);
    }

    fn refuse_broken(&self, stream: Stream, broken: &Broken) {
        if let Some(code) = broken.code() {
            self.refuse(stream, code, broken);
        }
    }
}

/// Hands `answer` and the stream's end over, without waiting where it can be done at once.
fn answer_now(mut stream: Stream, answer: &[u8], now: &mut Context<'_>, server: &Arc<Shared>) {
    let mut rest = answer;
    while !rest.is_empty() {
        match Pin::new(&mut stream.send).poll_write(now, rest) {
            Poll::Ready(Ok(written)) => rest = &rest[written..],
            // The peer does not want the answer, or is gone.
            Poll::Ready(Err(_)) => return,
            Poll::Pending => match server.account.share(rest.len() as u64) {
                Ok(share) => {
                    tokio::spawn(finish_answer(stream, rest.to_vec(), share));
                    return;
                }
                Err(broken) => return server.refuse_broken(stream, &broken),
            },
        }
    }
    // This fails where the peer does not want the answer.
    let _ = stream.send.finish();
}

/// The rest of an answer that the peer does not take all at once.
async fn finish_answer(mut stream: Stream, rest: Vec<u8>, _share: Share) {
    if stream.send.write_all(&rest).await.is_ok() {
        // As above.
        let _ = stream.send.finish();
    }
}

/// The rest of a message that did not arrive all at once, and the answer to it.
async fn finish_message(mut stream: Stream, mut message: Message, server: Arc<Shared>) {
    let arrived = match message.charge(&server.account) {
        Ok(()) => poll_fn(|context| message.poll_arrive(context, &mut stream.receive)).await,
        Err(broken) => Err(broken),
    };
    if let Err(broken) = arrived {
        return server.refuse_broken(stream, &broken);
    }
    // A codec keeps buffers of its own, so that this one cannot be the connection's.
    let mut responder = match server.config.payload.responder() {
        Ok(responder) => responder,
        Err(error) => return server.refuse(stream, Code::Failed, &error),
    };
    match responder.respond(message.bytes()) {
        Ok(answer) => {
            if stream.send.write_all(answer).await.is_ok() {
                // As above.
                let _ = stream.send.finish();
            }
        }
        Err(error) => server.refuse(stream, Code::NoVote, &error),
    }
}
