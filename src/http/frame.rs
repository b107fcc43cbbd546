//! Frames of the ZAP arms: a 4-byte big-endian length, and one message. Owns reading them; a length of 0 or over the limit
//! ends the connection.

use tokio::net::TcpStream;

use super::error::HttpError;
use super::inbox::Inbox;
use super::{BODY_LIMIT, HEAD_LIMIT};

/// Bytes of a frame's length.
pub(super) const LENGTH_BYTES: usize = 4;

/// Bytes of the longest message: a body, and fields on either side of it.
const LIMIT: usize = BODY_LIMIT + 4 * HEAD_LIMIT;

/// How long the message of the frame is that `bytes` start with, once the whole of it has arrived.
///
/// # Errors
/// Where its length is 0 or over the limit.
pub(super) fn whole(bytes: &[u8]) -> Result<Option<usize>, HttpError> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    match usize::try_from(u32::from_be_bytes(*length)) {
        Ok(length @ 1..=LIMIT) => Ok((rest.len() >= length).then_some(length)),
        _ => Err(HttpError::DoesNotFit),
    }
}

/// Reads until a whole frame has arrived; how long its message is. `None` where the peer has ended the stream between two.
///
/// # Errors
/// Where reading fails, the stream ends in the middle of a frame, or a length is refused.
pub(super) async fn next(stream: &mut TcpStream, inbox: &mut Inbox) -> Result<Option<usize>, HttpError> {
    loop {
        if let Some(length) = whole(inbox.bytes())? {
            return Ok(Some(length));
        }
        if inbox.fill(stream).await? == 0 {
            return if inbox.bytes().is_empty() { Ok(None) } else { Err(HttpError::EndsEarly) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_none_and_of_too_much_are_refused() {
        assert!(matches!(whole(&[0, 0, 0, 0]), Err(HttpError::DoesNotFit)));
        assert!(matches!(whole(&[0xff; 4]), Err(HttpError::DoesNotFit)));
        assert_eq!(whole(&[0, 0, 0]).unwrap(), None);
        assert_eq!(whole(&[0, 0, 0, 2, 1]).unwrap(), None);
        assert_eq!(whole(&[0, 0, 0, 2, 1, 2, 3]).unwrap(), Some(2));
    }
}
