//! `votebench encode`: votes as JSON lines in, a message in lower-case hex a line out.

use super::{Outcome, codec_by_name, lines};
use crate::codec::CodecError;
use crate::vote::json;

/// Encode votes: JSON lines in, a message in hex a line out.
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
    lines::filter("invalid-json", |line, out| {
        let vote = json::parse(line).map_err(CodecError::from)?;
        let message = codec.encode(&vote)?;
        let start = out.len();
        out.resize(start + 2 * message.len(), 0);
        // The room is twice the message's length, so there is no error to look at.
        let _ = const_hex::encode_to_slice(message, &mut out[start..]);
        Ok(())
    })
}
