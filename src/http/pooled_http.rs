//! `pooled-http`: HTTP/1.1 (RFC 9112) with `httparse`, its requests and responses taken from pools and returned to them: the
//! counterpart of Go's fasthttp, and what `zap-http` is held against.
//!
//! One write for everything that is ready, one read for whatever has arrived; pipelined requests are answered in order. Heads
//! are read once, when they are whole; bodies as they come. A `Date` is made once a second, as RFC 9110 asks of a server with a
//! clock. Not implemented, and refused: transfer codings other than chunked, upgrades (ignored, as allowed), HTTP/2.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use httpdate::HttpDate;
use tokio::net::TcpStream;

use super::chunked::Chunked;
use super::error::HttpError;
use super::handler::reason;
use super::head::{self, Framing, Head};
use super::inbox::Inbox;
use super::lines::Lines;
use super::message::{Body, Fields, Request, Response};
use super::outbox::Apart;
use super::pooled::{self, Progress, Wire};
use super::refusal::Refusal;
use super::workload;
use super::{BODY_LIMIT, HEAD_LIMIT};
use crate::measure::arm::{Arm, ArmInfo, Exchange};

/// The arm `pooled-http`.
#[derive(Debug)]
pub struct PooledHttp;

impl Arm for PooledHttp {
    const INFO: ArmInfo = ArmInfo {
        name: "pooled-http",
        summary: "HTTP/1.1 with httparse, requests and responses from pools",
        floor: false,
        settings: &[("tcp_nodelay", "on"), ("parser", "httparse"), ("date", "once a second")],
    };

    type Client = pooled::Client<Http1>;

    async fn connect(address: SocketAddr, workload: &str) -> Result<Self::Client, String> {
        let client = async { pooled::Client::connect(address, workload::by_name(workload)?).await };
        client.await.map_err(|error| error.to_string())
    }

    async fn answer(stream: TcpStream) -> Result<(), String> {
        pooled::serve::<Http1>(stream).await.map_err(|error| error.to_string())
    }
}

impl Exchange for pooled::Client<Http1> {
    async fn exchange(&mut self) -> Result<(), String> {
        pooled::Client::exchange(self).await.map_err(|error| error.to_string())
    }
}

/// Where the message that is being read has come to.
#[derive(Debug, Default)]
enum State {
    /// Its head is to come.
    #[default]
    Head,
    /// So many bytes of its body are to come.
    Length(usize),
    /// Its body comes in chunks.
    Chunked(Chunked),
    /// Its body goes on until the connection ends.
    UntilEnd,
}

/// The wire of HTTP/1.1, as one connection has it.
#[derive(Debug, Default)]
pub struct Http1 {
    lines: Lines,
    state: State,
    ended: bool,
    say_keep_alive: bool,
    date: Date,
}

impl Http1 {
    /// How many bytes the next head has, once it has arrived. Empty lines before a request are passed over (RFC 9112, 2.2).
    fn head_length(&mut self, inbox: &mut Inbox) -> Result<Option<usize>, Refusal> {
        loop {
            match self.lines.end(inbox.bytes(), HEAD_LIMIT)? {
                Some(2) => inbox.take(2),
                end => {
                    if end.is_some() {
                        self.lines = Lines::default();
                    }
                    return Ok(end);
                }
            }
            self.lines = Lines::default();
        }
    }

    fn begin_body(&mut self, framing: Framing) -> Result<(), Refusal> {
        self.state = match framing {
            Framing::Length(length) => match usize::try_from(length) {
                Ok(length) if length <= BODY_LIMIT => State::Length(length),
                _ => return Err(Refusal::TOO_LARGE),
            },
            Framing::Chunked => State::Chunked(Chunked::new()),
            Framing::UntilEnd => State::UntilEnd,
        };
        Ok(())
    }

    /// Takes what has arrived of the body; whether it is whole.
    fn read_body(
        &mut self,
        inbox: &mut Inbox,
        body: &mut Body,
        trailers: &mut Fields,
        ended: bool,
    ) -> Result<bool, Refusal> {
        let whole = match &mut self.state {
            State::Head => false,
            State::Length(missing) => {
                let count = inbox.bytes().len().min(*missing);
                body.extend_from_slice(&inbox.bytes()[..count]);
                inbox.take(count);
                *missing -= count;
                *missing == 0
            }
            State::Chunked(chunked) => chunked.take(inbox, body, trailers)?,
            State::UntilEnd => {
                let count = inbox.bytes().len();
                if body.len() + count > BODY_LIMIT {
                    return Err(Refusal::TOO_LARGE);
                }
                body.extend_from_slice(inbox.bytes());
                inbox.take(count);
                ended
            }
        };
        if whole {
            self.state = State::Head;
        }
        Ok(whole)
    }
}

impl Wire for Http1 {
    fn read_request(&mut self, inbox: &mut Inbox, request: &mut Request) -> Result<Progress, Refusal> {
        let mut waits = false;
        if matches!(self.state, State::Head) {
            let Some(length) = self.head_length(inbox)? else { return Ok(Progress::Partial) };
            let Head { framing, keep_alive, say_keep_alive, expects_continue } =
                head::request(&inbox.bytes()[..length], request)?;
            inbox.take(length);
            (self.ended, self.say_keep_alive) = (!keep_alive, say_keep_alive);
            self.begin_body(framing)?;
            // A client that has sent some of its body already does not wait (RFC 9110, section 10.1.1).
            waits = expects_continue && inbox.bytes().is_empty() && framing != Framing::Length(0);
        }
        if self.read_body(inbox, &mut request.body, &mut request.trailers, false)? {
            return Ok(Progress::Whole);
        }
        // Whether it is the last is decided when the request is whole: until then there is more to be read.
        Ok(if waits { Progress::Waiting } else { Progress::Partial })
    }

    fn write_response(
        &mut self,
        request: &Request,
        response: &Response,
        out: &mut Vec<u8>,
    ) -> Result<Apart, HttpError> {
        write!(out, "HTTP/1.1 {} {}\r\nDate: ", response.status, reason(response.status))?;
        out.extend_from_slice(self.date.now());
        out.extend_from_slice(b"\r\n");
        for (name, value) in response.pairs() {
            write_field(out, name, value);
        }
        write!(out, "Content-Length: {}\r\n", response.body.len())?;
        if self.ended {
            out.extend_from_slice(b"Connection: close\r\n");
        } else if self.say_keep_alive {
            out.extend_from_slice(b"Connection: keep-alive\r\n");
        }
        out.extend_from_slice(b"\r\n");
        if request.method == b"HEAD" {
            return Ok(Apart::No);
        }
        Ok(Apart::append(out, &response.body))
    }

    fn write_continue(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }

    fn end(&mut self) {
        self.ended = true;
        self.say_keep_alive = false;
    }

    fn has_ended(&self) -> bool {
        self.ended && matches!(self.state, State::Head)
    }

    fn write_request(&mut self, request: &Request, out: &mut Vec<u8>) -> Result<Apart, HttpError> {
        for part in [&request.method, &b" "[..], &request.path, b" HTTP/1.1\r\n"] {
            out.extend_from_slice(part);
        }
        write_field(out, b"Host", &request.host);
        for (name, value) in request.pairs() {
            write_field(out, name, value);
        }
        write!(out, "Content-Length: {}\r\n\r\n", request.body.len())?;
        Ok(Apart::append(out, &request.body))
    }

    fn read_response(&mut self, inbox: &mut Inbox, response: &mut Response, ended: bool) -> Result<bool, HttpError> {
        let malformed = |refusal: Refusal| HttpError::Malformed(refusal.why);
        while matches!(self.state, State::Head) {
            let Some(length) = self.head_length(inbox).map_err(malformed)? else { return Ok(false) };
            let head = head::response(&inbox.bytes()[..length], response, false).map_err(malformed)?;
            inbox.take(length);
            // An interim response is not the answer.
            if response.status >= 200 {
                self.begin_body(head.framing).map_err(malformed)?;
            } else {
                super::message::Pooled::clear(response);
            }
        }
        self.read_body(inbox, &mut response.body, &mut response.trailers, ended).map_err(malformed)
    }
}

fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for part in [name, b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

/// The date as HTTP writes it, made anew when the second has changed.
#[derive(Debug, Default)]
struct Date {
    second: u64,
    text: String,
}

impl Date {
    fn now(&mut self) -> &[u8] {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if self.second != now || self.text.is_empty() {
            self.second = now;
            self.text.clear();
            // Writing to a string cannot fail.
            let _ = write!(self.text, "{}", HttpDate::from(UNIX_EPOCH + Duration::from_secs(now)));
        }
        self.text.as_bytes()
    }
}
