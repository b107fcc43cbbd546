//! `native-zap`: the typed ZAP message of `docs/zap-wire.md` over 4-byte frames. The server parses it, reads the body and every
//! header, and answers with the body and the `X-` headers; the client reads all of that back and checks it.
//!
//! ```text
//! list of variable entries, name and value alternately, before the object
//! object of 24 bytes: body bytes @0, headers list @8, status u32 @16 (0 in a request, 200 in an answer), 4 bytes of 0
//! ```
//!
//! Reads are views into the frame. Each end has one builder for a connection, whose buffer is reused, and builds everything but the
//! payload: that is the last part of the message, and a long one is handed to the kernel from where it lies, in the same call as
//! what is before it. A short one is copied once, into the connection's buffer of what is written; the reference's two copies, each
//! into memory that is allocated for it, are not made at any size.

use std::net::SocketAddr;

use tokio::net::TcpStream;

use super::error::HttpError;
use super::handler::is_echoed;
use super::inbox::Inbox;
use super::outbox::{self, Apart};
use super::patience::{self, Patience};
use super::workload::{self, Workload, are_same};
use super::{connect, frame};
use crate::measure::arm::{Arm, ArmInfo, Exchange};
use crate::zap::{Builder, Entries, Flags, ListRef, Message, Object};

/// Bytes of the fixed section, and where its fields are.
const SECTION_BYTES: usize = 24;
const BODY: usize = 0;
const HEADERS: usize = 8;
const STATUS: usize = 16;

/// The status of an answer.
const OK: u32 = 200;

/// The arm `native-zap`.
#[derive(Debug)]
pub struct NativeZap;

impl Arm for NativeZap {
    const INFO: ArmInfo = ArmInfo {
        name: "native-zap",
        summary: "a typed ZAP message in a 4-byte frame",
        floor: false,
        settings: &[("tcp_nodelay", "on"), ("framing", "4-byte length"), ("long payloads", "sent from where they lie")],
    };

    type Client = Client;

    async fn connect(address: SocketAddr, workload: &str) -> Result<Client, String> {
        let client = async {
            let workload = workload::by_name(workload)?;
            let (inbox, writer) = (Inbox::default(), Writer::default());
            Ok::<_, HttpError>(Client { stream: connect(address).await?, inbox, writer, workload })
        };
        client.await.map_err(|error| error.to_string())
    }

    async fn answer(stream: TcpStream) -> Result<(), String> {
        serve(stream).await.map_err(|error| error.to_string())
    }
}

async fn serve(mut stream: TcpStream) -> Result<(), HttpError> {
    let (mut inbox, mut writer) = (Inbox::default(), Writer::default());
    let mut patience = Patience::new(patience::LIMIT);
    while let Some(length) = patience.with(frame::next(&mut stream, &mut inbox)).await? {
        let whole = frame::LENGTH_BYTES + length;
        let request = root(&inbox.bytes()[frame::LENGTH_BYTES..whole])?;
        let body = body(request)?;
        let apart = answer(request, body, &mut writer)?;
        patience.with(outbox::write(&mut stream, &writer.out, apart.of(body))).await?;
        patience.renew();
        inbox.take(whole);
    }
    Ok(())
}

/// Writes the answer to `request`: its body and its `X-` headers, of which every one is read.
fn answer(request: Object<'_>, body: &[u8], writer: &mut Writer) -> Result<Apart, HttpError> {
    writer.builder.reset();
    let mut headers = headers(request)?;
    let mut list = writer.builder.list();
    while let Some((name, value)) = next_pair(&mut headers)? {
        if is_echoed(name) {
            list.push_entry(name).push_entry(value);
        }
    }
    let list = list.finish();
    writer.write(list, body, OK)
}

/// The request of `workload`, put into `writer`.
fn request(workload: &Workload, writer: &mut Writer) -> Result<Apart, HttpError> {
    writer.builder.reset();
    let headers = writer.builder.list_entries(workload.headers.iter().flat_map(|(name, value)| [name, value]));
    writer.write(headers, &workload.body, 0)
}

/// The whole frame of the request of `workload`.
///
/// # Errors
/// Where it does not fit a message.
pub fn request_frame(workload: &Workload) -> Result<Vec<u8>, HttpError> {
    let mut writer = Writer::default();
    let apart = request(workload, &mut writer)?;
    Ok([&writer.out, apart.of(&workload.body)].concat())
}

/// The whole frame of the answer to `request`, a message.
///
/// # Errors
/// Where that is malformed.
pub fn answer_frame(request: &[u8]) -> Result<Vec<u8>, HttpError> {
    let (mut writer, request) = (Writer::default(), root(request)?);
    let body = body(request)?;
    let apart = answer(request, body, &mut writer)?;
    Ok([&writer.out, apart.of(body)].concat())
}

/// What one end of a connection writes with: its buffers are reused from message to message.
#[derive(Debug, Default)]
struct Writer {
    builder: Builder,
    out: Vec<u8>,
}

impl Writer {
    /// Writes the object behind its list, and puts the frame's length before it.
    fn write(&mut self, headers: ListRef, body: &[u8], status: u32) -> Result<Apart, HttpError> {
        let mut object = self.builder.object(SECTION_BYTES);
        object.set_bytes_apart(BODY, body.len()).set_list(HEADERS, headers).set_u32(STATUS, status);
        let root = object.finish();
        let head = self.builder.finish_apart(root).map_err(|_| HttpError::DoesNotFit)?;
        let length = u32::try_from(head.len() + body.len()).map_err(|_| HttpError::DoesNotFit)?;
        self.out.clear();
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(head);
        Ok(Apart::append(&mut self.out, body))
    }
}

/// The root of a message that is whole.
fn root(message: &[u8]) -> Result<Object<'_>, HttpError> {
    let parsed = Message::parse(message).map_err(|_| HttpError::Malformed("the frame holds no message"))?;
    if parsed.size() != message.len() || parsed.flags().intersects(Flags::COMPRESSED.union(Flags::ENCRYPTED)) {
        return Err(HttpError::Malformed("the frame holds more than a plain message"));
    }
    let root = parsed.root_section::<SECTION_BYTES>();
    root.map(|(object, _)| object).map_err(|_| HttpError::Malformed("the message's object is truncated"))
}

/// The body. The lenient reader takes a slot that leads out of the message for an absent one; here it is an error.
fn body(message: Object<'_>) -> Result<&[u8], HttpError> {
    match message.bytes(BODY) {
        None if message.u64(BODY) != 0 => Err(HttpError::Malformed("the body lies outside of the message")),
        body => Ok(body.unwrap_or_default()),
    }
}

/// Names and values, alternately; a list that is not there has none.
fn headers(message: Object<'_>) -> Result<Entries<'_>, HttpError> {
    let list = message.list(HEADERS);
    if list.is_null() && message.u64(HEADERS) != 0 {
        return Err(HttpError::Malformed("the headers lie outside of the message"));
    }
    Ok(list.entries())
}

/// A header's name and value.
type Pair<'m> = (&'m [u8], &'m [u8]);

/// The next header, if there is one.
fn next_pair<'m>(headers: &mut Entries<'m>) -> Result<Option<Pair<'m>>, HttpError> {
    match (headers.next(), headers.next()) {
        (Some(name), Some(value)) => Ok(Some((name, value))),
        (None, _) if headers.is_complete() => Ok(None),
        _ => Err(HttpError::Malformed("the headers end inside a pair")),
    }
}

/// A client's end of one connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    inbox: Inbox,
    writer: Writer,
    workload: Workload,
}

impl Client {
    async fn exchange(&mut self) -> Result<(), HttpError> {
        let apart = request(&self.workload, &mut self.writer)?;
        outbox::write(&mut self.stream, &self.writer.out, apart.of(&self.workload.body)).await?;
        let length = frame::next(&mut self.stream, &mut self.inbox).await?.ok_or(HttpError::EndsEarly)?;
        let whole = frame::LENGTH_BYTES + length;
        let answer = root(&self.inbox.bytes()[frame::LENGTH_BYTES..whole])?;
        let right = is_right(answer, &self.workload)?;
        self.inbox.take(whole);
        if right { Ok(()) } else { Err(HttpError::WrongResponse) }
    }
}

impl Exchange for Client {
    async fn exchange(&mut self) -> Result<(), String> {
        Self::exchange(self).await.map_err(|error| error.to_string())
    }
}

/// Whether `answer` has the body, every `X-` header and no other, and the status.
fn is_right(answer: Object<'_>, workload: &Workload) -> Result<bool, HttpError> {
    let mut headers = headers(answer)?;
    let mut broken = Ok(());
    let pairs = std::iter::from_fn(|| {
        next_pair(&mut headers).unwrap_or_else(|error| {
            broken = Err(error);
            None
        })
    });
    let same = are_same(pairs, workload.echoed());
    broken?;
    Ok(same && answer.u32(STATUS) == OK && body(answer)? == workload.body)
}
