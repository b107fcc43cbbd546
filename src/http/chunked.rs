//! Chunked bodies (RFC 9112, section 7.1), decoded as they arrive. Owns the state between two reads, and the limits: of a size
//! line, of all extensions together, of the fields behind the body.

use super::inbox::Inbox;
use super::lines::Lines;
use super::message::{Body, Fields};
use super::refusal::Refusal;
use super::{BODY_LIMIT, HEAD_LIMIT};

/// Bytes of a chunk's size line, extensions included.
const LINE_LIMIT: usize = 1 << 10;

/// Bytes of all size lines of a body: chunks of one byte are no way to make a server work.
const LINES_LIMIT: usize = 1 << 20;

/// Fields behind a body.
const TRAILERS: usize = 32;

/// Where the decoder is.
#[derive(Debug, Clone, Copy)]
enum State {
    /// In front of a size line.
    Size,
    /// In a chunk of which so many bytes are missing.
    Data(u64),
    /// In front of the line end behind a chunk's data.
    DataEnd,
    /// Behind the last chunk.
    Trailers(Lines),
}

/// Decodes one body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunked {
    state: State,
    lines: usize,
}

impl Chunked {
    /// At the beginning of a body.
    pub(super) const fn new() -> Self {
        Self { state: State::Size, lines: 0 }
    }

    /// Takes what has arrived; whether that was the end of the body.
    ///
    /// # Errors
    /// Where a chunk is malformed or something is over its limit.
    pub(super) fn take(&mut self, inbox: &mut Inbox, body: &mut Body, trailers: &mut Fields) -> Result<bool, Refusal> {
        loop {
            let arrived = inbox.bytes();
            match &mut self.state {
                State::Size => {
                    let Some((length, size)) = size_line(arrived)? else { return Ok(false) };
                    self.lines += length;
                    let whole = size.saturating_add(body.len() as u64);
                    if self.lines > LINES_LIMIT || whole > BODY_LIMIT as u64 {
                        return Err(Refusal::TOO_LARGE);
                    }
                    inbox.take(length);
                    self.state = if size == 0 { State::Trailers(Lines::default()) } else { State::Data(size) };
                }
                State::Data(missing) => {
                    let count = arrived.len().min(usize::try_from(*missing).unwrap_or(usize::MAX));
                    body.extend_from_slice(&arrived[..count]);
                    inbox.take(count);
                    *missing -= count as u64;
                    if *missing > 0 {
                        return Ok(false);
                    }
                    self.state = State::DataEnd;
                }
                State::DataEnd => match arrived {
                    [b'\r', b'\n', ..] => {
                        inbox.take(2);
                        self.state = State::Size;
                    }
                    [] | [b'\r'] => return Ok(false),
                    _ => return Err(Refusal::bad("a chunk is longer than its size")),
                },
                State::Trailers(lines) => {
                    // No line of these is the first of a head.
                    let end = lines.end(arrived, HEAD_LIMIT).map_err(|refusal| match refusal.status {
                        414 => Refusal::FIELDS_TOO_LARGE,
                        _ => refusal,
                    });
                    let Some(length) = end? else { return Ok(false) };
                    read_trailers(&arrived[..length], trailers)?;
                    inbox.take(length);
                    return Ok(true);
                }
            }
        }
    }
}

/// Length of the size line and the size that it gives, once it has arrived.
fn size_line(arrived: &[u8]) -> Result<Option<(usize, u64)>, Refusal> {
    let within = &arrived[..arrived.len().min(LINE_LIMIT)];
    let Some(feed) = memchr::memchr(b'\n', within) else {
        return if within.len() < LINE_LIMIT { Ok(None) } else { Err(Refusal::bad("a chunk's size line is too long")) };
    };
    let Some(line) = within[..feed].strip_suffix(b"\r") else {
        return Err(Refusal::bad("a line does not end with CR LF"));
    };
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (size, extensions) = line.split_at(digits);
    let size = str::from_utf8(size).ok().and_then(|size| u64::from_str_radix(size, 16).ok());
    let size = size.ok_or(Refusal::bad("a chunk's size is none"))?;
    let extension = extensions.trim_ascii_start();
    let printable = extensions.iter().all(|byte| *byte == b'\t' || !byte.is_ascii_control());
    if !printable || !extensions.is_empty() && !extension.starts_with(b";") {
        return Err(Refusal::bad("a chunk's size is none"));
    }
    Ok(Some((feed + 1, size)))
}

fn read_trailers(bytes: &[u8], trailers: &mut Fields) -> Result<(), Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; TRAILERS];
    match httparse::parse_headers(bytes, &mut fields) {
        Ok(httparse::Status::Complete((length, fields))) if length == bytes.len() => {
            fields.iter().for_each(|field| trailers.push(field.name.as_bytes(), field.value));
            Ok(())
        }
        Err(httparse::Error::TooManyHeaders) => Err(Refusal::FIELDS_TOO_LARGE),
        _ => Err(Refusal::bad("a field behind the body is malformed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body, how many fields are behind it, and what was left over.
    type Decoded = (Vec<u8>, usize, Vec<u8>);

    /// Decodes `bytes` in pieces of `piece`.
    fn decode(bytes: &[u8], piece: usize) -> Result<Option<Decoded>, Refusal> {
        let (mut inbox, mut chunked) = (Inbox::default(), Chunked::new());
        let (mut body, mut trailers) = (Body::default(), Fields::default());
        let mut pieces = bytes.chunks(piece);
        for bytes in &mut pieces {
            inbox.feed(bytes);
            if chunked.take(&mut inbox, &mut body, &mut trailers)? {
                let left = inbox.bytes().iter().chain(pieces.flatten()).copied().collect();
                return Ok(Some((body.to_vec(), trailers.len(), left)));
            }
        }
        Ok(None)
    }

    #[test]
    fn whatever_the_pieces_the_body_is_the_same() {
        let bytes = b"5;name=\"value\"\r\nhello\r\n00006\r\n world\r\n0\r\nX-Sum: 11\r\n\r\nGET";
        for piece in 1..=bytes.len() {
            let decoded = decode(bytes, piece).unwrap().unwrap();
            assert_eq!(decoded, (b"hello world".to_vec(), 1, b"GET".to_vec()), "in pieces of {piece}");
        }
        for length in 0..bytes.len() - 3 {
            assert_eq!(decode(&bytes[..length], 1_000).unwrap(), None, "cut at {length}");
        }
    }

    #[test]
    fn refuses_what_parsers_disagree_about() {
        let bad = [
            "5\nhello\r\n0\r\n\r\n",
            "5\r\nhello\n0\r\n\r\n",
            "5\r\nhello0\r\n\r\n",
            "0x5\r\nhello\r\n0\r\n\r\n",
            "+5\r\nhello\r\n0\r\n\r\n",
            "-5\r\nhello\r\n0\r\n\r\n",
            " 5\r\nhello\r\n0\r\n\r\n",
            "5 5\r\nhello\r\n0\r\n\r\n",
            "\r\nhello\r\n0\r\n\r\n",
            "5;a\rb\r\nhello\r\n0\r\n\r\n",
            "10000000000000005\r\nhello\r\n0\r\n\r\n",
            "0\r\nX-Sum : 11\r\n\r\n",
            "0\r\nX-Sum: 11\r\n folded\r\n\r\n",
            "0\r\nX-Sum: 11\n\r\n",
        ];
        for bytes in bad {
            assert_eq!(decode(bytes.as_bytes(), 1_000).unwrap_err().status, 400, "{bytes:?}");
        }
    }

    #[test]
    fn has_limits() {
        assert_eq!(decode(b"ffffffffffffffff\r\n", 100).unwrap_err(), Refusal::TOO_LARGE);
        assert_eq!(decode(format!("5;{}", "a".repeat(LINE_LIMIT)).as_bytes(), 100).unwrap_err().status, 400);
        let trailers = format!("0\r\nX: {}", "a".repeat(HEAD_LIMIT));
        assert_eq!(decode(trailers.as_bytes(), 100).unwrap_err(), Refusal::FIELDS_TOO_LARGE);
        let bytes = "1\r\na\r\n".repeat(LINES_LIMIT / 3 + 1);
        assert_eq!(decode(bytes.as_bytes(), 1 << 16).unwrap_err(), Refusal::TOO_LARGE);
    }
}
