//! HTTP/1.1 heads, read with `httparse` and then as strictly as RFC 9112 asks of a server: what could make two parsers disagree
//! about where a message ends is refused. Owns what a head says of its own message: framing, persistence, expectations.

use std::mem::MaybeUninit;

use httparse::{Error, Header, Status};

use super::message::{Request, Response};
use super::refusal::Refusal;
use super::syntax::{self, FIELDS};

/// How long a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many bytes.
    Length(u64),
    /// Chunks, up to an empty one.
    Chunked,
    /// Whatever comes until the connection ends: responses only.
    UntilEnd,
}

/// What a head says of its own message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// How long the body is.
    pub(super) framing: Framing,
    /// Whether the connection stays open after it.
    pub(super) keep_alive: bool,
    /// Whether the client is told that the connection stays open: HTTP/1.0 does not expect it.
    pub(super) say_keep_alive: bool,
    /// Whether the client waits for a word before it sends the body.
    pub(super) expects_continue: bool,
}

/// Reads a request's head, which is whole, into `request`.
///
/// # Errors
/// Where RFC 9112 asks to refuse it, with the status that it asks for.
pub(super) fn request(bytes: &[u8], request: &mut Request) -> Result<Head, Refusal> {
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS];
    let mut parsed = httparse::Request::new(&mut []);
    match parsed.parse_with_uninit_headers(bytes, &mut fields) {
        Ok(Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return Err(Refusal::bad("the head ends early")),
        Err(error) => return Err(refusal(error, bytes)),
    }
    let (Some(method), Some(target), Some(version)) = (parsed.method, parsed.path, parsed.version) else {
        return Err(Refusal::bad("the request line is not whole"));
    };
    let mut told = Told::default();
    for field in parsed.headers.iter() {
        if !told.hear(field, request)? {
            request.set(field.name.as_bytes(), field.value);
        }
    }
    if told.hosts != 1 && version == 1 || told.hosts > 1 {
        return Err(Refusal::bad("there is not exactly one Host"));
    }
    request.method.extend_from_slice(method.as_bytes());
    syntax::split_target(method.as_bytes(), target.as_bytes(), request)?;
    told.head(version)
}

/// Reads a response's head, which is whole, into `response`. `bodiless` where the request was such that no body follows.
///
/// # Errors
/// Where it is malformed.
pub(super) fn response(bytes: &[u8], response: &mut Response, bodiless: bool) -> Result<Head, Refusal> {
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    match config.parse_response_with_uninit_headers(&mut parsed, bytes, &mut fields) {
        Ok(Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return Err(Refusal::bad("the head ends early")),
        Err(error) => return Err(refusal(error, bytes)),
    }
    let (Some(status), Some(version)) = (parsed.code, parsed.version) else {
        return Err(Refusal::bad("the status line is not whole"));
    };
    response.status = status;
    let mut told = Told::default();
    for field in parsed.headers.iter() {
        if !told.hear_framing(field)? {
            response.set(field.name.as_bytes(), field.value);
        }
    }
    let unframed = told.length.is_none() && !told.chunked;
    let mut head = told.head(version)?;
    if bodiless || matches!(status, 100..200 | 204 | 304) {
        head.framing = Framing::Length(0);
    } else if unframed {
        head.framing = Framing::UntilEnd;
    }
    Ok(head)
}

/// What the fields of a head have told about it.
#[derive(Default)]
struct Told {
    hosts: usize,
    length: Option<u64>,
    transfer_encoded: bool,
    chunked: bool,
    /// Codings other than the chunked one.
    unknown_coding: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    expects_more: bool,
}

impl Told {
    /// Hears a field of a request that is about its message, and not for the handler; whether it was one.
    fn hear(&mut self, field: &Header<'_>, request: &mut Request) -> Result<bool, Refusal> {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        if is("host") {
            self.hosts += 1;
            if !syntax::is_host(field.value) {
                return Err(Refusal::bad("the Host is none"));
            }
            request.host.clear();
            request.host.extend_from_slice(field.value);
            return Ok(true);
        }
        if is("expect") {
            self.expects_continue |= field.value.eq_ignore_ascii_case(b"100-continue");
            self.expects_more |= !field.value.eq_ignore_ascii_case(b"100-continue");
            return Ok(true);
        }
        self.hear_framing(field)
    }

    /// Hears a field that says where the message or the connection ends; whether it was one.
    fn hear_framing(&mut self, field: &Header<'_>) -> Result<bool, Refusal> {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            if self.length.is_some() {
                return Err(Refusal::bad("Content-Length is repeated"));
            }
            self.length = Some(decimal(field.value)?);
        } else if is("transfer-encoding") {
            self.transfer_encoded = true;
            for coding in tokens(field.value) {
                if self.chunked {
                    return Err(Refusal::bad("chunked is not the last coding"));
                }
                self.chunked = coding.eq_ignore_ascii_case(b"chunked");
                self.unknown_coding |= !self.chunked;
            }
        } else if is("connection") {
            for option in tokens(field.value) {
                self.close |= option.eq_ignore_ascii_case(b"close");
                self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            }
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn head(self, version: u8) -> Result<Head, Refusal> {
        if self.transfer_encoded {
            if self.length.is_some() {
                return Err(Refusal::bad("both Content-Length and Transfer-Encoding"));
            }
            if version == 0 {
                return Err(Refusal::bad("Transfer-Encoding in HTTP/1.0"));
            }
            if !self.chunked {
                return Err(Refusal::bad("chunked is not the last coding"));
            }
            if self.unknown_coding {
                return Err(Refusal { status: 501, why: "a transfer coding is not implemented" });
            }
        }
        if self.expects_more {
            return Err(Refusal { status: 417, why: "an expectation is not known" });
        }
        let old = version == 0;
        Ok(Head {
            framing: if self.chunked { Framing::Chunked } else { Framing::Length(self.length.unwrap_or(0)) },
            keep_alive: !self.close && (!old || self.keep_alive),
            say_keep_alive: old && !self.close && self.keep_alive,
            expects_continue: self.expects_continue && !old,
        })
    }
}

/// `1*DIGIT` and nothing else: no sign, no list, no space inside.
fn decimal(text: &[u8]) -> Result<u64, Refusal> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::bad("Content-Length is no number"));
    }
    let digits = text.iter().map(|digit| u64::from(digit - b'0'));
    let number = digits.into_iter().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(digit));
    number.ok_or(Refusal::TOO_LARGE)
}

/// The elements of a list, without the spaces around them; empty ones are none.
fn tokens(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// The answer to what `httparse` refuses.
fn refusal(error: Error, head: &[u8]) -> Refusal {
    match error {
        Error::TooManyHeaders => Refusal::FIELDS_TOO_LARGE,
        Error::Version if names_a_version(head) => Refusal { status: 505, why: "neither HTTP/1.0 nor HTTP/1.1" },
        Error::Version => Refusal::bad("no HTTP version"),
        Error::HeaderName | Error::HeaderValue => Refusal::bad("a field is malformed"),
        Error::NewLine | Error::Status | Error::Token => Refusal::bad("the first line is malformed"),
    }
}

/// Whether the first line has three words of which the last has the form of a version, `HTTP/` digit `.` digit, whichever.
fn names_a_version(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ').skip(2);
    match (words.next(), words.next()) {
        (Some([b'H', b'T', b'T', b'P', b'/', major, b'.', minor]), None) => {
            major.is_ascii_digit() && minor.is_ascii_digit()
        }
        _ => false,
    }
}
