//! `quic-stream`: messages behind a 4-byte length on one long bidirectional stream, answered in order, any number in flight:
//! what [`quic`](super::quic) is without a stream a message.

use std::io;

use quinn::{ReadError, RecvStream, SendStream, WriteError};
use tokio::io::Join;

use super::framing::{FramedConnection, serve_stream};
use super::payload::Responder;
use super::quic_endpoint::{self, Code, QuicListener, Udp};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server, ServerConfig,
    Traffic, Transport, TransportError, Writes,
};
use crate::vote::Vote;

/// Streams that a client may have open at once: it needs one.
const STREAMS: u32 = 16;

/// The stack `quic-stream`.
#[derive(Debug)]
pub(super) struct QuicStream;

impl Transport for QuicStream {
    const INFO: Info = Info {
        name: "quic-stream",
        delimiter: Delimiter::Length,
        codec: None,
        crates: &["quinn", "rustls"],
        summary: "QUIC (quinn; rustls, ring), one long bidirectional stream, messages behind a 4-byte length",
        settings: quic_endpoint::settings![quic_endpoint::OUR_SOCKET, ("max_concurrent_bidi_streams", "16")],
        secure: true,
        blocking: false,
    };

    type Server = QuicStreamServer;
    type Connection = QuicStreamConnection;

    async fn bind(config: ServerConfig) -> Result<QuicStreamServer, TransportError> {
        Ok(QuicStreamServer(QuicListener::bind(Self::INFO.name, config, STREAMS, Udp::Ours)?))
    }

    async fn connect(config: ClientConfig) -> Result<QuicStreamConnection, TransportError> {
        let requester = config.payload.requester()?;
        let connection = quic_endpoint::connect(Self::INFO.name, &config, Udp::Ours).await?;
        let (send, receive) = connection.open_bi().await.map_err(quic_endpoint::lost)?;
        let framed = FramedConnection::new(tokio::io::join(receive, send), requester, config.max_message_bytes);
        Ok(QuicStreamConnection { connection, framed })
    }
}

/// A bound server of `quic-stream`.
pub(super) struct QuicStreamServer(QuicListener);

impl Server for QuicStreamServer {
    fn address(&self) -> Address {
        self.0.address()
    }

    fn certificate_pem(&self) -> Option<String> {
        self.0.certificate_pem()
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        self.0.serve(QuicStream::INFO.name, shutdown, serve_connection).await
    }
}

/// Answers the streams of one connection, each as a task of its own, until the connection ends.
async fn serve_connection(connection: quinn::Connection, config: ServerConfig) -> Result<(), TransportError> {
    let (limit, log, peer) = (config.max_message_bytes, config.log, connection.remote_address());
    loop {
        let stream = match connection.accept_bi().await {
            Ok((send, receive)) => tokio::io::join(receive, send),
            Err(error) => return quic_endpoint::ended(error),
        };
        let responder = config.payload.responder()?;
        let of = connection.clone();
        tokio::spawn(async move {
            let outcome = serve_whole_stream(stream, responder, limit).await;
            // Where the whole connection is at an end, that is what there is to say, and is said once.
            if let (Err(reason), None) = (outcome, of.close_reason()) {
                log.closed(QuicStream::INFO.name, &peer, &reason);
            }
        });
    }
}

/// Answers every message of a stream, and gives the stream up at the first that cannot be answered.
async fn serve_whole_stream(
    mut stream: Join<RecvStream, SendStream>,
    responder: Box<dyn Responder>,
    limit: u64,
) -> Result<(), TransportError> {
    let outcome = serve_stream(&mut stream, responder, limit, Writes::Batched).await;
    if let Err(error) = &outcome {
        let code = Code::of(error).number();
        // Either half may have come to its end already; then there is nothing to give up.
        let _ = stream.writer_mut().reset(code);
        let _ = stream.reader_mut().stop(code);
    }
    outcome
}

/// A client's end of `quic-stream`.
pub(super) struct QuicStreamConnection {
    connection: quinn::Connection,
    framed: FramedConnection<Join<RecvStream, SendStream>>,
}

impl Connection for QuicStreamConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.framed.exchange(vote).await.map_err(|error| match error {
            TransportError::Io(error) => reason(error),
            error => error,
        })
    }

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        Ok(self.framed.pipeline(flight, true))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(quic_endpoint::traffic(&self.connection))
    }
}

/// What quinn said before it was made an [`io::Error`].
fn reason(error: io::Error) -> TransportError {
    match error.downcast::<ReadError>() {
        Ok(error) => quic_endpoint::unread(error),
        Err(error) => match error.downcast::<WriteError>() {
            Ok(error) => quic_endpoint::unwritten(error),
            Err(error) => TransportError::Io(error),
        },
    }
}
