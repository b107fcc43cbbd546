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
use super::patience::{self, Patience};
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
pub(super) async fn serve<W: Wire>(stream: TcpStream) -> Result<(), HttpError> {
    serve_within::<W>(stream, patience::LIMIT).await
}

/// As [`serve`], to a peer that may get nowhere for as long as `limit`.
async fn serve_within<W: Wire>(mut stream: TcpStream, limit: Duration) -> Result<(), HttpError> {
    let (mut wire, mut inbox, mut out) = (W::default(), Inbox::default(), Vec::new());
    let mut patience = Patience::new(limit);
    // Only while a request is on its way does a connection hold one.
    let mut begun: Option<Request> = None;
    loop {
        let step = step(&mut wire, &mut inbox, &mut begun, &mut out);
        let long = match &step {
            // What arrives together is answered together.
            Step::Answered(None) if out.len() < WRITE_BYTES && !wire.has_ended() => {
                patience.renew();
                continue;
            }
            Step::Answered(Some(response)) => &*response.body,
            _ => &[],
        };
        if !out.is_empty() {
            patience.with(outbox::write(&mut stream, &out, long)).await?;
            out.clear();
        }
        match step {
            Step::Answered(response) => {
                patience.renew();
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
                if patience.with(inbox.fill(&mut stream)).await? == 0 {
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

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::super::pooled_http::Http1;
    use super::*;
    use crate::measure::arm::{Wait, WaitingRuntime};

    const LIMIT: Duration = Duration::from_millis(200);

    /// How a server of little patience ends with a client that sends a piece each tenth of its limit, and then no more; and what it
    /// has answered.
    fn served(pieces: Vec<Vec<u8>>) -> (Result<(), HttpError>, Vec<u8>) {
        let serving = async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (server, _) = listener.accept().await.unwrap();
            let server = tokio::spawn(serve_within::<Http1>(server, LIMIT));
            for piece in pieces {
                // To a server that has gone nothing can be sent, which is what is looked for.
                let _ = client.write_all(&piece).await;
                tokio::time::sleep(LIMIT / 10).await;
            }
            let mut answer = Vec::new();
            let _ = client.read_to_end(&mut answer).await;
            (server.await.unwrap(), answer)
        };
        WaitingRuntime::new(Wait::Block).unwrap().run(serving).unwrap()
    }

    fn is_late(ended: &Result<(), HttpError>) -> bool {
        matches!(ended, Err(HttpError::Io(error)) if error.kind() == ErrorKind::TimedOut)
    }

    #[test]
    fn a_client_that_asks_for_nothing_is_given_up() {
        let (ended, answer) = served(Vec::new());
        assert!(is_late(&ended) && answer.is_empty(), "{ended:?}");
    }

    #[test]
    fn so_is_one_that_sends_its_request_in_drops() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\n\r\n";
        for request in [format!("GET / HTTP/1.1\r\nX-A: {}", "a".repeat(60)), format!("{head}{}", "a".repeat(59))] {
            let (start, drops) = request.as_bytes().split_at(request.len() - 59);
            let pieces = std::iter::once(start).chain(drops.chunks(1)).map(<[u8]>::to_vec).collect();
            let (ended, answer) = served(pieces);
            assert!(is_late(&ended) && answer.is_empty(), "{ended:?}");
        }
    }

    #[test]
    fn one_that_goes_on_asking_is_not() {
        let request = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok";
        let (ended, answer) = served(vec![request.to_vec(); 40]);
        assert!(is_late(&ended), "{ended:?}");
        assert_eq!(String::from_utf8(answer).unwrap().matches("HTTP/1.1 200 OK\r\n").count(), 40);
    }
}
