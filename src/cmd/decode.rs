//! `votebench decode`: messages in hex lines in, a vote as a JSON line out. An empty line is an empty message.

use super::lines::Refusal;
use super::{Outcome, codec_by_name, lines};
use crate::vote::json;

/// Decode messages: hex lines in, a vote as a JSON line out.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The wire format (`votebench list` prints them).
    #[arg(long, value_name = "NAME")]
    pub codec: String,
}

/// Runs the subcommand.
///
/// # Errors
/// For an unknown codec, or where stdin cannot be read or stdout not be written.
pub fn run(args: &Args) -> Outcome {
    let mut codec = codec_by_name(&args.codec)?;
    let mut message = Vec::new();
    let mut text = [0; json::MAX_BYTES];
    lines::filter("invalid-hex", |line, out| {
        unhex(line, &mut message)?;
        let vote = codec.own(&message)?;
        let length = json::write(&vote, &mut text);
        out.extend_from_slice(&text[..length]);
        Ok(())
    })
}

/// The bytes of a line of hex: either case, with or without `0x`.
///
/// # Errors
/// Where it is no hex, or has half a byte.
pub(super) fn unhex(line: &[u8], message: &mut Vec<u8>) -> Result<(), Refusal> {
    let digits = match line {
        [b'0', b'x' | b'X', digits @ ..] => digits,
        _ => line,
    };
    message.clear();
    message.resize(digits.len() / 2, 0);
    const_hex::decode_to_slice(digits, message)
        .map_err(|_| Refusal { kind: "invalid-hex", message: "the line is not hexadecimal".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_in_every_dress() {
        let mut message = Vec::new();
        for (line, bytes) in [
            (&b""[..], &[][..]),
            (b"0x", &[]),
            (b"0X", &[]),
            (b"0aFf", &[0x0a, 0xff]),
            (b"0x0aFf", &[0x0a, 0xff]),
            (b"0X0AFF", &[0x0a, 0xff]),
        ] {
            assert_eq!(unhex(line, &mut message), Ok(()));
            assert_eq!(message, bytes, "{line:?}");
        }
        for line in [&b"0"[..], b"0x0", b"0g", b" 00", b"00 ", b"0x0x00", b"x0", "0\u{e9}".as_bytes(), b"\xff\xff"] {
            assert_eq!(unhex(line, &mut message).map_err(|refusal| refusal.kind), Err("invalid-hex"), "{line:?}");
        }
    }
}
