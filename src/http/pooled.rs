//! The two arms with pooled objects, as far as they are the same: the server's and the client's loop over a [`Wire`]. Owns when
//! objects are taken from their pools and returned, when is written, and how a connection ends. What `pooled-http` and
//! `zap-http` do differently is their wires, and nothing else.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::connect;
use super::error::HttpError;
use super::handler;
use super::inbox::Inbox;
use super::message::{Pool, Request, Response};
use super::refusal::Refusal;
use super::workload::Workload;

/// Bytes of responses after which a server writes although more requests are at hand.
const WRITE_BYTES: usize = 64 << 10;

/// Bytes above which a connection's buffer of responses is not kept.
const KEPT_BYTES: usize = 1 << 20;

/// How long, and for how many bytes, a refused peer is still listened to, so that the refusal reaches it.
const LINGER: (Duration, usize) = (Duration::from_secs(1), 1 << 20);

/// Every server's requests and responses.
static REQUESTS: Pool<Request> = Pool::new();
static RESPONSES: Pool<Response> = Pool::new();

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is whole; the bytes of it are taken.
    Whole,
    /// More is to come.
    Partial,
    /// More is to come once the client has been told to go on.
    Waiting,
}

/// How requests and responses are put into bytes and read back. One for each connection.
pub(super) trait Wire: Default + Send + 'static {
    /// Takes what has arrived of the request that is to come into `request`.
    ///
    /// # Errors
    /// Where it is refused.
    fn read_request(&mut self, inbox: &mut Inbox, request: &mut Request) -> Result<Progress, Refusal>;

    /// Puts the response to the last request behind `out`.
    ///
    /// # Errors
    /// Where it does not fit the wire.
    fn write_response(&mut self, request: &Request, response: &Response, out: &mut Vec<u8>) -> Result<(), HttpError>;

    /// Puts the word to go on behind `out`.
    fn write_continue(&mut self, out: &mut Vec<u8>);

    /// The response to the last request is the connection's last.
    fn end(&mut self);

    /// Whether it was.
    fn has_ended(&self) -> bool;

    /// Puts a request behind `out`.
    ///
    /// # Errors
    /// Where it does not fit the wire.
    fn write_request(&mut self, request: &Request, out: &mut Vec<u8>) -> Result<(), HttpError>;

    /// Takes what has arrived of the response that is to come into `response`; whether it is whole. `ended`: nothing more will
    /// arrive.
    ///
    /// # Errors
    /// Where it is malformed.
    fn read_response(&mut self, inbox: &mut Inbox, response: &mut Response, ended: bool) -> Result<bool, HttpError>;
}

/// Answers every request of `stream`, in order, until the peer ends it or sends one that is refused.
///
/// # Errors
/// Where the stream fails, ends in the middle of a request, or a request is refused.
pub(super) async fn serve<W: Wire>(mut stream: TcpStream) -> Result<(), HttpError> {
    let (mut wire, mut inbox, mut out) = (W::default(), Inbox::default(), Vec::new());
    // Only while a request is on its way does a connection hold one.
    let mut begun: Option<Request> = None;
    loop {
        let answered = answer_all(&mut wire, &mut inbox, &mut begun, &mut out);
        if !out.is_empty() {
            stream.write_all(&out).await?;
            out.clear();
            if out.capacity() > KEPT_BYTES {
                out = Vec::new();
            }
        }
        match answered {
            Ok(true) => continue,
            Ok(false) if wire.has_ended() => return end(stream, &mut inbox).await,
            Ok(false) => {}
            Err(error) => {
                end(stream, &mut inbox).await?;
                return Err(error);
            }
        }
        if inbox.fill(&mut stream).await? == 0 {
            return if begun.is_none() && inbox.bytes().is_empty() { Ok(()) } else { Err(HttpError::EndsEarly) };
        }
    }
}

/// Answers the requests that have arrived, until there is enough to write; whether there may be more of them.
fn answer_all<W: Wire>(
    wire: &mut W,
    inbox: &mut Inbox,
    begun: &mut Option<Request>,
    out: &mut Vec<u8>,
) -> Result<bool, HttpError> {
    while !wire.has_ended() && (begun.is_some() || !inbox.bytes().is_empty()) {
        if out.len() >= WRITE_BYTES {
            return Ok(true);
        }
        let mut request = begun.take().unwrap_or_else(|| REQUESTS.take());
        let mut response = RESPONSES.take();
        let outcome = match wire.read_request(inbox, &mut request) {
            Ok(Progress::Whole) => {
                handler::echo(&request, &mut response);
                wire.write_response(&request, &response, out).map(|()| true)
            }
            Ok(partial) => {
                if partial == Progress::Waiting {
                    wire.write_continue(out);
                }
                *begun = Some(std::mem::take(&mut request));
                Ok(false)
            }
            Err(refusal) => {
                response.status = refusal.status;
                wire.end();
                // The request may be half read: what is refused was not answered by the handler.
                let written = wire.write_response(&Request::default(), &response, out);
                written.and(Err(HttpError::Refused(refusal)))
            }
        };
        RESPONSES.give(response);
        if begun.is_some() {
            return Ok(false);
        }
        REQUESTS.give(request);
        if !outcome? {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Ends a connection on which the peer may still be sending: closing it at once would take the response away from a peer that
/// has not read it yet (RFC 9112, section 9.6).
async fn end(mut stream: TcpStream, inbox: &mut Inbox) -> Result<(), HttpError> {
    stream.shutdown().await?;
    let (patience, mut bytes) = LINGER;
    let listen = async {
        loop {
            let arrived = inbox.bytes().len();
            inbox.take(arrived);
            match inbox.fill(&mut stream).await {
                Ok(count @ 1..) if count < bytes => bytes -= count,
                _ => return,
            }
        }
    };
    // Whoever goes on sending is not waited for.
    let _ = tokio::time::timeout(patience, listen).await;
    Ok(())
}

/// A client's end of one connection.
#[derive(Debug)]
pub struct Client<W> {
    stream: TcpStream,
    wire: W,
    inbox: Inbox,
    out: Vec<u8>,
    workload: Workload,
    requests: Pool<Request>,
    responses: Pool<Response>,
}

impl<W: Wire> Client<W> {
    /// Connects to `address`, to ask for `workload`.
    ///
    /// # Errors
    /// Where nobody listens there.
    pub(super) async fn connect(address: SocketAddr, workload: Workload) -> Result<Self, HttpError> {
        Ok(Self {
            stream: connect(address).await?,
            wire: W::default(),
            inbox: Inbox::default(),
            out: Vec::new(),
            workload,
            requests: Pool::new(),
            responses: Pool::new(),
        })
    }

    /// One request, its whole response, and the check that it is the right one.
    ///
    /// # Errors
    /// Where the connection fails or the response is wrong.
    pub(super) async fn exchange(&mut self) -> Result<(), HttpError> {
        let mut request = self.requests.take();
        self.workload.fill(&mut request);
        self.out.clear();
        self.wire.write_request(&request, &mut self.out)?;
        self.stream.write_all(&self.out).await?;
        let mut response = self.responses.take();
        let mut ended = false;
        while !self.wire.read_response(&mut self.inbox, &mut response, ended)? {
            if ended {
                return Err(HttpError::EndsEarly);
            }
            ended = self.inbox.fill(&mut self.stream).await? == 0;
        }
        let right = self.workload.is_answered_by(&request, &response);
        self.requests.give(request);
        self.responses.give(response);
        if right { Ok(()) } else { Err(HttpError::WrongResponse) }
    }
}
