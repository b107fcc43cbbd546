//! `quic-datagram`: a message is a QUIC datagram (RFC 9221), encrypted and acknowledged but never sent again.
//!
//! The client sends one and takes the next that comes for its answer, which in a closed loop it is. Where either of the two is
//! lost, no answer comes, and what ends the wait is the driver's deadline: nothing here tries again, since a stack that did
//! would no longer be the one that was asked for. A message must fit one packet.
//!
//! A datagram has no stream that could be given up, so a server answers a bad one by closing the connection with a code.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};

use super::payload::Requester;
use super::pipeline::InOrder;
use super::quic_endpoint::{self, Code, QuicListener, Udp};
use super::{
    Address, Answered, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server,
    ServerConfig, Traffic, Transport, TransportError,
};
use crate::vote::Vote;

/// The stack `quic-datagram`.
#[derive(Debug)]
pub(super) struct QuicDatagram;

impl Transport for QuicDatagram {
    const INFO: Info = Info {
        name: "quic-datagram",
        delimiter: Delimiter::Datagram,
        codec: None,
        crates: &["quinn", "rustls"],
        summary: "QUIC (quinn; rustls, ring), a datagram a message, unreliable",
        settings: quic_endpoint::settings![
            quic_endpoint::OUR_SOCKET,
            ("max_concurrent_bidi_streams", "0"),
            ("datagram_receive_buffer", "1.25 MB (quinn's default)"),
            ("datagram_send_buffer", "1 MiB (quinn's default)"),
        ],
        secure: true,
        blocking: false,
    };

    type Server = QuicDatagramServer;
    type Connection = QuicDatagramConnection;

    async fn bind(config: ServerConfig) -> Result<QuicDatagramServer, TransportError> {
        Ok(QuicDatagramServer(QuicListener::bind(Self::INFO.name, config, 0, Udp::Ours)?))
    }

    async fn connect(config: ClientConfig) -> Result<QuicDatagramConnection, TransportError> {
        let requester = config.payload.requester()?;
        let connection = quic_endpoint::connect(Self::INFO.name, &config, Udp::Ours).await?;
        Ok(QuicDatagramConnection { connection, requester, pool: Pool::default(), limit: config.max_message_bytes })
    }
}

/// A bound server of `quic-datagram`.
pub(super) struct QuicDatagramServer(QuicListener);

impl Server for QuicDatagramServer {
    fn address(&self) -> Address {
        self.0.address()
    }

    fn certificate_pem(&self) -> Option<String> {
        self.0.certificate_pem()
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        self.0.serve(QuicDatagram::INFO.name, shutdown, serve_connection).await
    }
}

/// Answers the datagrams of one connection, until it ends or one of them is no vote.
async fn serve_connection(connection: quinn::Connection, config: ServerConfig) -> Result<(), TransportError> {
    let (mut responder, mut pool) = (config.payload.responder()?, Pool::default());
    let limit = config.max_message_bytes;
    let mut answer = |request: &Bytes| {
        bounded(request, limit)?;
        let answer = pool.copy(responder.respond(request)?);
        connection.send_datagram(answer).map_err(quic_endpoint::unsent)
    };
    loop {
        let request = match connection.read_datagram().await {
            Ok(request) => request,
            Err(error) => return quic_endpoint::ended(error),
        };
        if let Err(error) = answer(&request) {
            connection.close(Code::of(&error).number(), error.to_string().as_bytes());
            return Err(error);
        }
    }
}

/// A client's end of `quic-datagram`.
pub(super) struct QuicDatagramConnection {
    connection: quinn::Connection,
    requester: Box<dyn Requester>,
    pool: Pool,
    limit: u64,
}

impl Connection for QuicDatagramConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        let request = self.pool.copy(self.requester.request(vote)?);
        self.connection.send_datagram(request).map_err(quic_endpoint::unsent)?;
        let answer = self.connection.read_datagram().await.map_err(quic_endpoint::lost)?;
        bounded(&answer, self.limit)?;
        self.requester.check(vote, &answer)
    }

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        Ok(Box::new(DatagramPipeline { connection: self, votes: InOrder::new(flight), lost: 0, kept: None }))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(quic_endpoint::traffic(&self.connection))
    }
}

/// A connection with many datagrams under way.
struct DatagramPipeline {
    connection: QuicDatagramConnection,
    votes: InOrder,
    /// Votes at the front that will have no answer, and the answer that has shown it.
    lost: usize,
    kept: Option<Bytes>,
}

impl Pipeline for DatagramPipeline {
    fn poll_submit(&mut self, _: &mut Context<'_>, number: u64) -> Poll<Result<(), TransportError>> {
        let QuicDatagramConnection { connection, requester, pool, .. } = &mut self.connection;
        if self.votes.is_full() {
            return Poll::Pending;
        }
        let request = pool.copy(requester.request(self.votes.flight.vote(number))?);
        // Beyond that quinn would throw the oldest away.
        if connection.datagram_send_buffer_space() < request.len() {
            return Poll::Pending;
        }
        connection.send_datagram(request).map_err(quic_endpoint::unsent)?;
        self.votes.sent(number);
        Poll::Ready(Ok(()))
    }

    /// quinn's task takes what there is.
    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    /// A datagram that is lost is never answered: the votes that went before the one that is answered now are given up.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answered, TransportError>> {
        if let Some(lost) = self.lost.checked_sub(1) {
            self.lost = lost;
            let gave_up = |_: &Vote| Ok(());
            let answered = self.votes.answered(gave_up)?;
            return Poll::Ready(Ok(Answered { outcome: Err(TransportError::Lost), ..answered }));
        }
        let QuicDatagramConnection { connection, requester, limit, .. } = &mut self.connection;
        let answer = match self.kept.take() {
            Some(answer) => answer,
            // The future is made anew for every look; what it has registered is not missed, for it is asked again.
            None => ready!(pin!(connection.read_datagram()).poll(cx)).map_err(quic_endpoint::lost)?,
        };
        bounded(&answer, *limit)?;
        let flight = &self.votes.flight;
        let place = self.votes.under_way().position(|number| requester.check(flight.vote(number), &answer).is_ok());
        match place {
            Some(0) => Poll::Ready(self.votes.answered(|_| Ok(()))),
            Some(lost) => {
                (self.lost, self.kept) = (lost, Some(answer));
                self.poll_answer(cx)
            }
            None => Poll::Ready(Err(TransportError::WrongAnswer)),
        }
    }

    fn has_tasks(&self) -> bool {
        true
    }
}

fn bounded(message: &Bytes, limit: u64) -> Result<(), TransportError> {
    match message.len() as u64 {
        0 => Err(TransportError::Empty),
        length if length > limit => Err(TransportError::TooLong { length, limit }),
        _ => Ok(()),
    }
}

/// Where messages wait for their packet. quinn takes a datagram as a counted share of a buffer; these are all shares of one,
/// which is used again as soon as nobody holds any, so that a message costs a copy and no allocation.
#[derive(Debug, Default)]
struct Pool {
    buffer: BytesMut,
}

/// Bytes that a pool grows by: some hundred votes.
const POOL_BYTES: usize = 64 << 10;

impl Pool {
    fn copy(&mut self, message: &[u8]) -> Bytes {
        if self.buffer.capacity() < message.len() {
            // Takes the old room back where it is free again.
            self.buffer.reserve(POOL_BYTES.max(message.len()));
        }
        self.buffer.extend_from_slice(message);
        self.buffer.split().freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_uses_its_room_again_and_never_what_is_still_held() {
        let mut pool = Pool::default();
        let held = pool.copy(&[7; 161]);
        let mut rooms = std::collections::HashSet::new();
        for (n, byte) in (0..=u8::MAX).cycle().take(10_000).enumerate() {
            let message = pool.copy(&[byte; 161]);
            assert_eq!(message, [byte; 161][..]);
            // The room that `held` is in is lost to the pool; from then on it needs no other.
            if n >= 1_000 {
                rooms.insert(message.as_ptr() as usize / POOL_BYTES);
            }
        }
        assert_eq!(held, [7; 161][..]);
        assert!(rooms.len() <= 2, "{} rooms", rooms.len());
    }
}
