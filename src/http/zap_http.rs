//! `zap-http`: HTTP's semantics on the ZAP wire. Requests, responses, pools, handler and loops are `pooled-http`'s; only the wire
//! is another, so that the difference between the two is the wire and nothing else.
//!
//! A frame is a 4-byte big-endian length and a ZAP message (`docs/zap-wire.md`, ZAP-HTTP frame): its type in the flags' high
//! byte, 1 request, 2 response; a fixed section of 48 bytes; the texts, fields, body and trailers behind it, unpadded. A block of
//! fields is a count and pairs of lengths and texts. Nothing is read leniently here: a message of another type, bytes behind the
//! message, and a block that ends inside a pair or goes on behind its last one are errors. Names, values, host and target are held
//! to the grammar and the limits that `pooled-http` holds them to, and what delimits a message in HTTP/1.1 is no field: else this wire
//! would win by looking away, and who passes its requests on in HTTP/1.1 could be made to send two for one.

use std::net::SocketAddr;

use tokio::net::TcpStream;

use super::error::HttpError;
use super::frame;
use super::handler::reason;
use super::inbox::Inbox;
use super::message::{Fields, Request, Response};
use super::outbox::Apart;
use super::pooled::{self, Progress, Wire};
use super::refusal::Refusal;
use super::syntax::{self, FIELDS};
use super::workload;
use super::{BODY_LIMIT, HEAD_LIMIT};
use crate::measure::arm::{Arm, ArmInfo, Exchange};
use crate::zap::layout::header;
use crate::zap::{Flags, HEADER_BYTES, Message, Object, Version};

/// Bytes of the fixed section of both frames.
const SECTION_BYTES: usize = 48;

/// The message types.
const REQUEST: u8 = 1;
const RESPONSE: u8 = 2;

/// The protocol that both frames name.
const PROTO: &[u8] = b"HTTP/1.1";

/// What a target starts with.
const SCHEME: &[u8] = b"http://";

/// Fields that delimit a message, or say where it goes, in HTTP/1.1: here the frame and the target do.
const DELIMITING: [&[u8]; 4] = [b"Host", b"Content-Length", b"Transfer-Encoding", b"Connection"];

/// Said of a length of 0, and of one over the limit.
const NO_LENGTH: Refusal = Refusal::bad("the frame's length is none, or over the limit");

/// The arm `zap-http`.
#[derive(Debug)]
pub struct ZapHttp;

impl Arm for ZapHttp {
    const INFO: ArmInfo = ArmInfo {
        name: "zap-http",
        summary: "pooled-http's objects and handler on the ZAP wire",
        floor: false,
        settings: &[("tcp_nodelay", "on"), ("framing", "4-byte length")],
    };

    type Client = pooled::Client<ZapWire>;

    async fn connect(address: SocketAddr, workload: &str) -> Result<Self::Client, String> {
        let client = async { pooled::Client::connect(address, workload::by_name(workload)?).await };
        client.await.map_err(|error| error.to_string())
    }

    async fn answer(stream: TcpStream) -> Result<(), String> {
        pooled::serve::<ZapWire>(stream).await.map_err(|error| error.to_string())
    }
}

impl Exchange for pooled::Client<ZapWire> {
    async fn exchange(&mut self) -> Result<(), String> {
        pooled::Client::exchange(self).await.map_err(|error| error.to_string())
    }
}

/// The ZAP wire, as one connection has it.
#[derive(Debug, Default)]
pub struct ZapWire {
    ended: bool,
}

impl Wire for ZapWire {
    fn read_request(&mut self, inbox: &mut Inbox, request: &mut Request) -> Result<Progress, Refusal> {
        let Some(length) = frame::whole(inbox.bytes()).map_err(|_| NO_LENGTH)? else {
            return Ok(Progress::Partial);
        };
        let whole = frame::LENGTH_BYTES + length;
        read_request(&inbox.bytes()[frame::LENGTH_BYTES..whole], request)?;
        inbox.take(whole);
        Ok(Progress::Whole)
    }

    fn write_response(
        &mut self,
        request: &Request,
        response: &Response,
        out: &mut Vec<u8>,
    ) -> Result<Apart, HttpError> {
        let mut frame = FrameWriter::begin(out, RESPONSE);
        frame.scalar(0, &response.status.to_le_bytes());
        frame.bytes(8, reason(response.status).as_bytes());
        frame.bytes(16, PROTO);
        frame.pairs(24, response.pairs());
        let body = if request.method == b"HEAD" { b"" } else { &*response.body };
        frame.finish(body, &response.trailers)
    }

    /// A frame comes whole: nobody waits for a word.
    fn write_continue(&mut self, _: &mut Vec<u8>) {}

    fn end(&mut self) {
        self.ended = true;
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn write_request(&mut self, request: &Request, out: &mut Vec<u8>) -> Result<Apart, HttpError> {
        let mut frame = FrameWriter::begin(out, REQUEST);
        frame.bytes(0, &request.method);
        frame.slot(8, |out| {
            out.extend_from_slice(SCHEME);
            out.extend_from_slice(&request.host);
            out.extend_from_slice(&request.path);
        });
        frame.bytes(16, PROTO);
        frame.pairs(24, request.pairs());
        frame.finish(&request.body, &request.trailers)
    }

    fn read_response(&mut self, inbox: &mut Inbox, response: &mut Response, _: bool) -> Result<bool, HttpError> {
        let Some(length) = frame::whole(inbox.bytes())? else { return Ok(false) };
        let whole = frame::LENGTH_BYTES + length;
        read_response(&inbox.bytes()[frame::LENGTH_BYTES..whole], response)
            .map_err(|refusal| HttpError::Malformed(refusal.why))?;
        inbox.take(whole);
        Ok(true)
    }
}

/// Reads a request's message.
fn read_request(message: &[u8], request: &mut Request) -> Result<(), Refusal> {
    let object = root(message, REQUEST)?;
    let method = bytes(object, 0)?.filter(|method| method.len() <= HEAD_LIMIT && syntax::is_token(method));
    let method = method.ok_or(Refusal::bad("there is no method"))?;
    let target = bytes(object, 8)?.filter(|target| target.starts_with(SCHEME));
    let target = target.ok_or(Refusal::bad("the target is none"))?;
    if target.len() > HEAD_LIMIT {
        return Err(Refusal { status: 414, why: "the target is over the limit" });
    }
    if bytes(object, 16)? != Some(PROTO) {
        return Err(Refusal { status: 505, why: "not HTTP/1.1" });
    }
    request.method.extend_from_slice(method);
    syntax::split_target(method, target, request)?;
    read_pairs(bytes(object, 24)?, |name, value| request.set(name, value))?;
    request.body.extend_from_slice(body(object)?);
    let Request { trailers, .. } = request;
    read_pairs(bytes(object, 40)?, |name, value| trailers.push(name, value))
}

/// Reads a response's message.
fn read_response(message: &[u8], response: &mut Response) -> Result<(), Refusal> {
    let object = root(message, RESPONSE)?;
    response.status = object.u16(0);
    if !bytes(object, 8)?.is_none_or(syntax::is_value) || bytes(object, 16)? != Some(PROTO) {
        return Err(Refusal::bad("the status line is malformed"));
    }
    read_pairs(bytes(object, 24)?, |name, value| response.set(name, value))?;
    response.body.extend_from_slice(body(object)?);
    let Response { trailers, .. } = response;
    read_pairs(bytes(object, 40)?, |name, value| trailers.push(name, value))
}

/// The root of a message that is whole, and of the type that is expected.
fn root(message: &[u8], kind: u8) -> Result<Object<'_>, Refusal> {
    let parsed = Message::parse(message).map_err(|_| Refusal::bad("the frame holds no message"))?;
    let refused = Flags::COMPRESSED.union(Flags::ENCRYPTED);
    if parsed.size() != message.len() || parsed.flags().intersects(refused) {
        return Err(Refusal::bad("the frame holds more than a plain message"));
    }
    if parsed.flags().message_type() != kind {
        return Err(Refusal::bad("the message is of another type"));
    }
    let root = parsed.root_section::<SECTION_BYTES>();
    root.map(|(object, _)| object).map_err(|_| Refusal::bad("the message's object is truncated"))
}

fn body(object: Object<'_>) -> Result<&[u8], Refusal> {
    let body = bytes(object, 32)?.unwrap_or_default();
    if body.len() > BODY_LIMIT { Err(Refusal::TOO_LARGE) } else { Ok(body) }
}

/// The bytes of a slot; absent where it is all zero. The lenient reader takes a slot that leads out of the message for an absent
/// one, too.
fn bytes(object: Object<'_>, at: usize) -> Result<Option<&[u8]>, Refusal> {
    match object.bytes(at) {
        None if object.u64(at) != 0 => Err(Refusal::bad("a slot leads out of the message")),
        bytes => Ok(bytes),
    }
}

/// Reads a block of fields: a count, and so many pairs. A block that is absent has none.
fn read_pairs(block: Option<&[u8]>, mut take: impl FnMut(&[u8], &[u8])) -> Result<(), Refusal> {
    let Some(block) = block else { return Ok(()) };
    if block.len() > HEAD_LIMIT {
        return Err(Refusal::FIELDS_TOO_LARGE);
    }
    let truncated = Refusal::bad("the fields end inside a pair");
    let (count, mut rest) = block.split_first_chunk().ok_or(truncated)?;
    let mut text = || {
        let (length, behind) = rest.split_first_chunk()?;
        let (text, behind) = behind.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        rest = behind;
        Some(text)
    };
    let count = u32::from_le_bytes(*count);
    if !usize::try_from(count).is_ok_and(|count| count <= FIELDS) {
        return Err(Refusal::FIELDS_TOO_LARGE);
    }
    for _ in 0..count {
        let name = text().ok_or(truncated)?;
        let value = text().ok_or(truncated)?;
        if !syntax::is_token(name) || !syntax::is_value(value) {
            return Err(Refusal::bad("a field is malformed"));
        }
        if DELIMITING.iter().any(|delimiting| name.eq_ignore_ascii_case(delimiting)) {
            return Err(Refusal::bad("a field delimits a message that the frame delimits"));
        }
        take(name, value);
    }
    if rest.is_empty() { Ok(()) } else { Err(Refusal::bad("the fields go on behind their last pair")) }
}

/// Writes a frame in place: what is behind the fixed section is appended as it comes, and its slot patched.
struct FrameWriter<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    kind: u8,
    fits: bool,
}

impl<'o> FrameWriter<'o> {
    fn begin(out: &'o mut Vec<u8>, kind: u8) -> Self {
        let start = out.len();
        out.resize(start + frame::LENGTH_BYTES + HEADER_BYTES + SECTION_BYTES, 0);
        Self { out, start, kind, fits: true }
    }

    /// Overwrites what is at offset `at` of the fixed section.
    fn scalar(&mut self, at: usize, value: &[u8]) {
        let at = self.start + frame::LENGTH_BYTES + HEADER_BYTES + at;
        self.out[at..at + value.len()].copy_from_slice(value);
    }

    /// Appends what `write` writes, and sets the slot at offset `at` to it.
    fn slot(&mut self, at: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let target = self.out.len();
        write(self.out);
        self.set_slot(at, target, self.out.len() - target);
    }

    /// Sets the slot at offset `at` to so many bytes at `target`; none are an absent slot.
    fn set_slot(&mut self, at: usize, target: usize, length: usize) {
        if length == 0 {
            return;
        }
        let offset = target - (self.start + frame::LENGTH_BYTES + HEADER_BYTES + at);
        match (u32::try_from(offset), u32::try_from(length)) {
            (Ok(offset), Ok(length)) => {
                self.scalar(at, &(u64::from(offset) | u64::from(length) << 32).to_le_bytes());
            }
            _ => self.fits = false,
        }
    }

    fn bytes(&mut self, at: usize, value: &[u8]) {
        self.slot(at, |out| out.extend_from_slice(value));
    }

    fn pairs<'p>(&mut self, at: usize, pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) {
        self.slot(at, |out| {
            let start = out.len();
            let mut count = 0_u32;
            for (name, value) in pairs {
                if count == 0 {
                    out.extend_from_slice(&[0; 4]);
                }
                count += 1;
                for text in [name, value] {
                    // A text that does not fit makes a message that does not fit either, which is found out at its end.
                    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
                    out.extend_from_slice(text);
                }
            }
            if count > 0 {
                out[start..start + 4].copy_from_slice(&count.to_le_bytes());
            }
        });
    }

    /// Puts body and trailers behind everything else, and finishes the frame. A body behind which nothing comes may be left to
    /// be sent from where it lies.
    fn finish(mut self, body: &[u8], trailers: &Fields) -> Result<Apart, HttpError> {
        let target = self.out.len();
        let apart = if trailers.is_empty() { Apart::append(self.out, body) } else { Apart::No };
        if apart == Apart::No && !trailers.is_empty() {
            self.out.extend_from_slice(body);
        }
        self.set_slot(32, target, body.len());
        self.pairs(40, trailers.iter());
        let behind = if apart == Apart::Yes { body.len() } else { 0 };
        let length = self.out.len() - self.start - frame::LENGTH_BYTES + behind;
        let Ok(size) = u32::try_from(length) else { return Err(HttpError::DoesNotFit) };
        if !self.fits {
            return Err(HttpError::DoesNotFit);
        }
        let header = header(Version::V1, Flags::of_type(self.kind), 16, size);
        self.out[self.start..self.start + frame::LENGTH_BYTES].copy_from_slice(&size.to_be_bytes());
        let at = self.start + frame::LENGTH_BYTES;
        self.out[at..at + HEADER_BYTES].copy_from_slice(&header);
        Ok(apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The request that a server reads out of the frame of `request`.
    fn read(request: &Request) -> Result<Request, Refusal> {
        let (mut wire, mut out, mut inbox) = (ZapWire::default(), Vec::new(), Inbox::default());
        wire.write_request(request, &mut out).unwrap();
        inbox.feed(&out);
        let mut read = Request::default();
        assert_eq!(wire.read_request(&mut inbox, &mut read)?, Progress::Whole);
        Ok(read)
    }

    fn request(names: &[&str]) -> Request {
        let mut request =
            Request { method: b"POST".to_vec(), host: b"a:80".to_vec(), path: b"/b?c".to_vec(), ..Request::default() };
        names.iter().for_each(|name| request.set(name.as_bytes(), b"value"));
        request.body.extend_from_slice(b"body");
        request
    }

    #[test]
    fn a_request_comes_back() {
        let mut request = request(&["X-A", "Content-Type", "User-Agent", "X-A"]);
        request.trailers.push(b"X-Sum", b"1");
        assert_eq!(read(&request), Ok(request));
    }

    #[test]
    fn limits_and_names_are_those_of_pooled_http() {
        assert!(read(&request(&["X-A"; FIELDS])).is_ok());
        assert_eq!(read(&request(&["X-A"; FIELDS + 1])), Err(Refusal::FIELDS_TOO_LARGE));
        for name in ["host", "Content-Length", "transfer-encoding", "CONNECTION", "X A", ""] {
            assert_eq!(read(&request(&[name])).unwrap_err().status, 400, "{name}");
        }
        let mut behind = request(&[]);
        behind.trailers.push(b"Content-Length", b"1");
        assert_eq!(read(&behind).unwrap_err().status, 400);
        let long = || vec![b'a'; HEAD_LIMIT + 1];
        assert_eq!(read(&Request { path: [b"/".to_vec(), long()].concat(), ..request(&[]) }).unwrap_err().status, 414);
        assert_eq!(read(&Request { method: long(), ..request(&[]) }).unwrap_err().status, 400);
    }
}
