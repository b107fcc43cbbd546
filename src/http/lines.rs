//! Where a head ends: lines up to an empty one. Owns the strictness about line endings, on which parsers disagree and requests
//! are smuggled: a line ends with CR LF, and neither comes alone (RFC 9112, section 2.2, allows to refuse it).

use super::refusal::Refusal;

/// Looks for the end of a head in bytes that arrive piece by piece, each byte once.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Lines {
    /// Bytes that were looked at.
    seen: usize,
    /// Where the current line starts.
    line: usize,
}

impl Lines {
    /// How many bytes the head has, its empty line included, once that has arrived in `bytes`, of which a head takes at most
    /// `limit`. An empty line at the very beginning is the whole head.
    ///
    /// # Errors
    /// Where a line feed has no carriage return before it, or no end comes in time.
    pub(super) fn end(&mut self, bytes: &[u8], limit: usize) -> Result<Option<usize>, Refusal> {
        let within = &bytes[..bytes.len().min(limit)];
        for feed in memchr::memchr_iter(b'\n', &within[self.seen.min(within.len())..]) {
            let feed = self.seen + feed;
            if feed == self.line || within[feed - 1] != b'\r' {
                return Err(Refusal::bad("a line does not end with CR LF"));
            }
            if feed == self.line + 1 {
                return Ok(Some(feed + 1));
            }
            self.line = feed + 1;
        }
        self.seen = within.len();
        if bytes.len() < limit {
            return Ok(None);
        }
        match self.line {
            0 => Err(Refusal { status: 414, why: "the first line is over the limit" }),
            _ => Err(Refusal::FIELDS_TOO_LARGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_end_whatever_the_pieces() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let mut lines = Lines::default();
        for length in 0..head.len() {
            assert_eq!(lines.end(&head[..length], 100), Ok(None), "{length}");
        }
        assert_eq!(lines.end(head, 100), Ok(Some(head.len())));
        assert_eq!(Lines::default().end(b"\r\nGET", 100), Ok(Some(2)));
    }

    #[test]
    fn refuses_bare_feeds_and_what_has_no_end() {
        for bad in ["\n", "GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nHost: a\n", "GET / HTTP/1.1\r\n\n"] {
            assert_eq!(Lines::default().end(bad.as_bytes(), 100).unwrap_err().status, 400, "{bad:?}");
        }
        assert_eq!(Lines::default().end(&[b'a'; 100], 100).unwrap_err().status, 414);
        let long = format!("GET / HTTP/1.1\r\nHost: {}", "a".repeat(100));
        assert_eq!(Lines::default().end(long.as_bytes(), 100).unwrap_err().status, 431);
    }
}
