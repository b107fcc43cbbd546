//! What is written to a connection: one call for what was put together, and for a long body that is sent from where it lies. Owns
//! which bodies are long.

use std::io::{self, IoSlice};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Bytes of the shortest body that is not worth a copy: below, the copy costs less than a second piece in the call.
const LONG_BYTES: usize = 8 << 10;

/// Whether a body is sent from where it lies, right behind what was put together before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// It is: whoever writes must not forget it.
    Yes,
    /// It is not: it is in the buffer, or there is none.
    No,
}

impl Apart {
    /// Puts `body` behind `out`, unless it is long.
    pub(super) fn append(out: &mut Vec<u8>, body: &[u8]) -> Self {
        if body.len() >= LONG_BYTES {
            return Self::Yes;
        }
        out.extend_from_slice(body);
        Self::No
    }

    /// What is to be written behind the buffer: `body`, or nothing.
    pub(super) const fn of(self, body: &[u8]) -> &[u8] {
        match self {
            Self::Yes => body,
            Self::No => &[],
        }
    }
}

/// Writes `out` and then `body`, in one call where the kernel takes it.
///
/// # Errors
/// Where writing fails.
pub(super) async fn write(stream: &mut TcpStream, out: &[u8], body: &[u8]) -> io::Result<()> {
    if body.is_empty() {
        return stream.write_all(out).await;
    }
    let mut both = [IoSlice::new(out), IoSlice::new(body)];
    let mut left = &mut both[..];
    while !left.is_empty() {
        match stream.write_vectored(left).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => IoSlice::advance_slices(&mut left, written),
        }
    }
    Ok(())
}
