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
use super::outbox::{self, Apart};
use super::refusal::Refusal;
use super::workload::Workload;

/// Bytes of responses after which a server writes although more requests are at hand.
const WRITE_BYTES: usize = 64 << 10;

/// How long, and for how many bytes, a refused peer is still listened to, so that the refusal reaches it.
const LINGER: (Duration, usize) = (Duration::from_secs(1), 4 << 20);

/// Every server's requests and responses.
static REQUESTS: Pool<Request> = Pool::new();
static RESPONSES: Pool<Response> = Pool::new();

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is whole; the bytes of it are taken.
    Whole,
    /// More is to come.
    Partial,
    /// More is to come once the client has been told to go on.
    Waiting,
}

/// How requests and responses are put into bytes and read back. One for each connection.
pub trait Wire: Default + Send + 'static {
    /// Takes what has arrived of the request that is to come into `request`.
    ///
    /// # Errors
    /// Where it is refused.
    fn read_request(&mut self, inbox: &mut Inbox, request: &mut Request) -> Result<Progress, Refusal>;

    /// Puts the response to the last request behind `out`, but for a body that is sent from where it lies.
    ///
    /// # Errors
    /// Where it does not fit the wire.
    fn write_response(&mut self, request: &Request, response: &Response, out: &mut Vec<u8>)
    -> Result<Apart, HttpError>;

    /// Puts the word to go on behind `out`.
    fn write_continue(&mut self, out: &mut Vec<u8>);

    /// The response to the last request is the connection's last.
    fn end(&mut self);

    /// Whether it was.
    fn has_ended(&self) -> bool;

    /// Puts a request behind `out`, but for a body that is sent from where it lies.
    ///
    /// # Errors
    /// Where it does not fit the wire.
    fn write_request(&mut self, request: &Request, out: &mut Vec<u8>) -> Result<Apart, HttpError>;

    /// Takes what has arrived of the response that is to come into `response`; whether it is whole. `ended`: nothing more will
    /// arrive.
    ///
    /// # Errors
    /// Where it is malformed.
    fn read_response(&mut self, inbox: &mut Inbox, response: &mut Response, ended: bool) -> Result<bool, HttpError>;
}

/// What comes of looking for the next request.
enum Step {
    /// One was answered. Where its body is sent from where it lies, the response is kept until then.
    Answered(Option<Response>),
    /// More must arrive first.
    Partial,
    /// One was refused, and the connection ends with it.
    Refused(HttpError),
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
        let step = step(&mut wire, &mut inbox, &mut begun, &mut out);
        let long = match &step {
            // What arrives together is answered together.
            Step::Answered(None) if out.len() < WRITE_BYTES && !wire.has_ended() => continue,
            Step::Answered(Some(response)) => &*response.body,
            _ => &[],
        };
        if !out.is_empty() {
            outbox::write(&mut stream, &out, long).await?;
            out.clear();
        }
        match step {
            Step::Answered(response) => {
                response.into_iter().for_each(|response| RESPONSES.give(response));
                if wire.has_ended() {
                    return end(stream, &mut inbox).await;
                }
            }
            Step::Refused(error) => {
                end(stream, &mut inbox).await?;
                return Err(error);
            }
            Step::Partial => {
                if inbox.fill(&mut stream).await? == 0 {
                    let between = begun.is_none() && inbox.bytes().is_empty();
                    return if between { Ok(()) } else { Err(HttpError::EndsEarly) };
                }
            }
        }
    }
}

/// Answers the next request, where the whole of it has arrived.
fn step<W: Wire>(wire: &mut W, inbox: &mut Inbox, begun: &mut Option<Request>, out: &mut Vec<u8>) -> Step {
    if begun.is_none() && inbox.bytes().is_empty() {
        return Step::Partial;
    }
    let mut request = begun.take().unwrap_or_else(|| REQUESTS.take());
    let refusal = match wire.read_request(inbox, &mut request) {
        Ok(Progress::Whole) => None,
        Ok(partial) => {
            if partial == Progress::Waiting {
                wire.write_continue(out);
            }
            *begun = Some(request);
            return Step::Partial;
        }
        Err(refusal) => Some(refusal),
    };
    let mut response = RESPONSES.take();
    match refusal {
        None => handler::echo(&mut request, &mut response),
        Some(refusal) => {
            response.status = refusal.status;
            wire.end();
            // It may be half read: nothing of it is believed.
            request = Request::default();
        }
    }
    let written = wire.write_response(&request, &response, out);
    REQUESTS.give(request);
    match (written, refusal) {
        (Err(error), _) => return Step::Refused(error),
        (Ok(_), Some(refusal)) => {
            RESPONSES.give(response);
            return Step::Refused(HttpError::Refused(refusal));
        }
        (Ok(Apart::Yes), None) => return Step::Answered(Some(response)),
        (Ok(Apart::No), None) => RESPONSES.give(response),
    }
    Step::Answered(None)
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
        let apart = self.wire.write_request(&request, &mut self.out)?;
        outbox::write(&mut self.stream, &self.out, apart.of(&request.body)).await?;
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
