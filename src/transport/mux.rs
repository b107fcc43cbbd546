//! `mux`: a yamux stream a message, on one TCP connection. The end of the stream delimits the message in both directions;
//! any number of streams is in flight, each answered when its message is whole, whatever the others do.
//!
//! A message goes as yamux has it: a data frame with the flag that opens the stream, and a frame that ends it. The socket
//! sends both in one write. A message that is refused costs its stream: yamux resets it, or, where the client's own end has
//! already come, ends it without a byte, which is all that the library can say then.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::AsyncWrite;
use tokio::net::TcpListener;
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt};
use yamux::{Mode, Packet};

use super::callers::{Caller, Callers, Driver};
use super::config::Log;
use super::mux_connection::{self, Streams, drive};
use super::payload::{Requester, Responder};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Payload, Pipeline, Server,
    ServerConfig, Traffic, Transport, TransportError, listener, traffic,
};
use crate::vote::Vote;

/// The stack `mux`, or `mux-plain`: the same with yamux straight on the TCP socket.
#[derive(Debug)]
pub(super) struct Mux<const PLAIN: bool = false>;

impl<const PLAIN: bool> Transport for Mux<PLAIN> {
    const INFO: Info = Info {
        name: if PLAIN { "mux-plain" } else { "mux" },
        delimiter: Delimiter::StreamEnd,
        codec: None,
        crates: &["yamux", "tokio"],
        summary: if PLAIN {
            "a yamux stream a message on one TCP connection, straight on its socket"
        } else {
            "a yamux stream a message on one TCP connection"
        },
        settings: mux_connection::settings(PLAIN),
        secure: false,
        blocking: false,
    };

    type Server = MuxServer<PLAIN>;
    type Connection = MuxConnection;

    async fn bind(config: ServerConfig) -> Result<MuxServer<PLAIN>, TransportError> {
        config.payload.responder()?;
        Ok(MuxServer { listener: listener::bind(Self::INFO.name, &config.bind)?, config })
    }

    async fn connect(config: ClientConfig) -> Result<MuxConnection, TransportError> {
        let socket = listener::connect(Self::INFO.name, &config.address).await?;
        let peer = socket.peer_addr()?;
        Ok(MuxConnection {
            connection: mux_connection::over(socket, mux_connection::keeps(PLAIN), Mode::Client),
            requester: config.payload.requester()?,
            payload: config.payload,
            limit: config.max_message_bytes,
            peer,
        })
    }
}

/// A message, as far as it has arrived on its stream.
#[derive(Default)]
struct Arrival {
    /// The first frame's body, which in nearly all cases is the message.
    first: Option<Packet>,
    /// The whole of it, where there are more.
    whole: Vec<u8>,
}

impl Arrival {
    fn bytes(&self) -> &[u8] {
        match &self.first {
            Some(packet) if self.whole.is_empty() => packet.as_ref(),
            _ => &self.whole,
        }
    }

    /// Takes what there is; ready at the end of the stream.
    fn poll(
        &mut self,
        stream: &mut yamux::Stream,
        limit: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), TransportError>> {
        while let Some(packet) = ready!(stream.poll_next_unpin(cx)) {
            let packet = packet?;
            let length = (self.bytes().len() + packet.as_ref().len()) as u64;
            if length > limit {
                return Poll::Ready(Err(TransportError::TooLong { length, limit }));
            }
            match &self.first {
                None => self.first = Some(packet),
                Some(first) => {
                    if self.whole.is_empty() {
                        self.whole.extend_from_slice(first.as_ref());
                    }
                    self.whole.extend_from_slice(packet.as_ref());
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// How far a message has been handed to its stream.
#[derive(Default)]
struct Departure {
    written: usize,
    ended: bool,
}

impl Departure {
    /// Hands over `bytes` and then the end of the stream; ready when the connection has both.
    fn poll(&mut self, stream: &mut Compat<yamux::Stream>, bytes: &[u8], cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < bytes.len() {
            self.written += ready!(Pin::new(&mut *stream).poll_write(cx, &bytes[self.written..]))?;
        }
        if !self.ended {
            ready!(Pin::new(stream).poll_shutdown(cx))?;
            self.ended = true;
        }
        Poll::Ready(Ok(()))
    }
}

/// A client's end of `mux`.
pub(super) struct MuxConnection {
    connection: mux_connection::Connection,
    requester: Box<dyn Requester>,
    payload: Payload,
    limit: u64,
    peer: SocketAddr,
}

impl Connection for MuxConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        let Self { connection, requester, limit, .. } = self;
        let request = requester.request(vote)?;
        let mut round_trip = RoundTrip::default();
        poll_fn(|cx| round_trip.poll(connection, request, *limit, cx)).await?;
        requester.check(vote, round_trip.answer.bytes())
    }

    /// yamux walks over all open streams, and locks each, whenever one is opened: the more are in flight, the dearer is a vote.
    const MOST_IN_FLIGHT: Option<usize> = Some(64);

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let Self { connection, payload, limit, .. } = self;
        let opened = Opened::new(Mutex::new(VecDeque::with_capacity(flight.most)));
        let caller = || Ok(StreamCaller { opened: Arc::clone(&opened), requester: payload.requester()?, limit });
        let driver = Opening { connection, opened: Arc::clone(&opened) };
        Ok(Box::new(Callers::new(&flight, driver, caller)?))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        traffic::of_tcp_to(self.peer)
    }
}

/// The connection as a pool of callers is driven over it: streams are opened where votes are submitted, since yamux lets only
/// so many wait for the server, and wakes one of those that wait for that.
struct Opening {
    connection: mux_connection::Connection,
    opened: Opened,
}

/// Streams that have been opened and not been taken by their callers.
type Opened = Arc<Mutex<VecDeque<yamux::Stream>>>;

impl Driver for Opening {
    const HAS_TASKS: bool = false;

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let stream = ready!(self.connection.poll_new_outbound(cx)).map_err(TransportError::stack)?;
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push_back(stream);
        Poll::Ready(Ok(()))
    }

    fn drive(&mut self, cx: &mut Context<'_>) -> Result<(), TransportError> {
        if drive(&mut self.connection, cx)? { Ok(()) } else { Err(TransportError::Closed) }
    }
}

/// One stream after another, over a connection that somebody else drives.
struct StreamCaller {
    opened: Opened,
    requester: Box<dyn Requester>,
    limit: u64,
}

impl Caller for StreamCaller {
    async fn call(&mut self, vote: &Vote) -> Result<(), TransportError> {
        let stream = self.opened.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut stream = stream.ok_or_else(|| TransportError::stack("no stream has been opened"))?.compat();
        let request = self.requester.request(vote)?;
        let (mut departure, mut answer) = (Departure::default(), Arrival::default());
        poll_fn(|cx| departure.poll(&mut stream, request, cx)).await?;
        poll_fn(|cx| answer.poll(stream.get_mut(), self.limit, cx)).await?;
        answered(&answer)?;
        self.requester.check(vote, answer.bytes())
    }
}

/// A stream that ends without a byte has no answer.
fn answered(answer: &Arrival) -> Result<(), TransportError> {
    if answer.bytes().is_empty() {
        return Err(TransportError::stack("the server ended the stream without an answer"));
    }
    Ok(())
}

/// A message under way to the server, or its answer back.
#[derive(Default)]
struct RoundTrip {
    stream: Option<Compat<yamux::Stream>>,
    departure: Departure,
    answer: Arrival,
}

impl RoundTrip {
    fn poll(
        &mut self,
        connection: &mut mux_connection::Connection,
        request: &[u8],
        limit: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), TransportError>> {
        if self.stream.is_none()
            && let Poll::Ready(opened) = connection.poll_new_outbound(cx)
        {
            self.stream = Some(opened.map_err(TransportError::stack)?.compat());
        }
        if let Some(stream) = &mut self.stream
            && let Poll::Ready(sent) = self.departure.poll(stream, request, cx)
        {
            sent?;
        }
        if !drive(connection, cx)? {
            return Poll::Ready(Err(TransportError::Closed));
        }
        let Some(stream) = &mut self.stream else { return Poll::Pending };
        ready!(self.answer.poll(stream.get_mut(), limit, cx))?;
        Poll::Ready(answered(&self.answer))
    }
}

/// A bound server of `mux`.
pub(super) struct MuxServer<const PLAIN: bool> {
    listener: TcpListener,
    config: ServerConfig,
}

impl<const PLAIN: bool> Server for MuxServer<PLAIN> {
    fn address(&self) -> Address {
        listener::address_of(&self.listener)
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let Self { listener, config } = self;
        let stack = Mux::<PLAIN>::INFO.name;
        listener::serve(stack, listener, shutdown, config.log, move |socket, peer| {
            let (responder, limit, log) = (config.payload.responder(), config.max_message_bytes, config.log);
            async move {
                let (fresh, waiting) = (Vec::new(), FuturesUnordered::new());
                let responder = responder?;
                let calls = Calls { stack, responder, fresh, waiting, limit, peer, log };
                mux_connection::serve(socket, mux_connection::keeps(PLAIN), calls).await
            }
        })
        .await
    }
}

/// A message from a client, or the answer to it.
struct Call {
    stream: Compat<yamux::Stream>,
    request: Arrival,
    /// The answer, where the stream has not taken the whole of it at once.
    answer: Option<Vec<u8>>,
    departure: Departure,
    limit: u64,
}

impl Call {
    /// Ready when the request is whole, or the answer gone.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        match &self.answer {
            Some(answer) => self.departure.poll(&mut self.stream, answer, cx).map_err(TransportError::from),
            None => self.request.poll(self.stream.get_mut(), self.limit, cx),
        }
    }
}

/// A call that has to wait for its client; `None` once it was ready.
struct Waiting(Option<Call>);

impl Future for Waiting {
    type Output = Option<(Call, Result<(), TransportError>)>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(call) = &mut self.0 else { return Poll::Ready(None) };
        let outcome = ready!(call.poll(cx));
        Poll::Ready(self.0.take().map(|call| (call, outcome)))
    }
}

/// The calls of one connection. One that arrives whole is answered in passing; only one that has to wait gets a future.
struct Calls {
    stack: &'static str,
    responder: Box<dyn Responder>,
    fresh: Vec<Call>,
    waiting: FuturesUnordered<Waiting>,
    limit: u64,
    peer: SocketAddr,
    log: Log,
}

impl Calls {
    /// Goes on with a call whose request is whole, or whose answer is gone. A call that fails is dropped, which resets its
    /// stream.
    fn proceed(&mut self, call: Call, outcome: Result<(), TransportError>) {
        match outcome.and_then(|()| self.answer(call)) {
            Ok(None) => {}
            Ok(Some(call)) => self.waiting.push(Waiting(Some(call))),
            Err(reason) => self.log.closed(self.stack, &self.peer, &reason),
        }
    }

    /// Answers, unless that is done; gives the call back where the stream does not take the whole answer now.
    fn answer(&mut self, mut call: Call) -> Result<Option<Call>, TransportError> {
        if call.departure.ended {
            return Ok(None);
        }
        if call.stream.get_ref().is_closed() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the client gave the stream up").into());
        }
        if call.request.bytes().is_empty() {
            return Err(TransportError::Empty);
        }
        let answer = self.responder.respond(call.request.bytes())?;
        match call.departure.poll(&mut call.stream, answer, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(sent) => sent.map(|()| None).map_err(TransportError::from),
            Poll::Pending => {
                call.answer = Some(answer.to_vec());
                Ok(Some(call))
            }
        }
    }
}

impl Streams for Calls {
    fn accept(&mut self, stream: yamux::Stream) {
        let (request, departure) = (Arrival::default(), Departure::default());
        self.fresh.push(Call { stream: stream.compat(), request, answer: None, departure, limit: self.limit });
    }

    fn poll(&mut self, cx: &mut Context<'_>) {
        let mut fresh = std::mem::take(&mut self.fresh);
        for mut call in fresh.drain(..) {
            // Where it is not ready, its future asks again at once, with a waker of its own.
            match call.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(outcome) => self.proceed(call, outcome),
                Poll::Pending => self.waiting.push(Waiting(Some(call))),
            }
        }
        self.fresh = fresh;
        while let Poll::Ready(Some(ready)) = self.waiting.poll_next_unpin(cx) {
            if let Some((call, outcome)) = ready {
                self.proceed(call, outcome);
            }
        }
    }
}
