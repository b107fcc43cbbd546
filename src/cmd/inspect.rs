//! `votebench inspect`: what the lenient reader sees in ZAP messages, one in hex a line in, one JSON object a line out.
//!
//! The fields are read at the vote's offsets whatever the message is, and the field at offset 0 also as each kind of slot:
//! so this shows what damaged bytes read as, where `decode --codec zap` refuses them.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;

use super::Outcome;
use crate::zap::{Message, Object};

/// Show what the lenient reader sees in ZAP messages: hex lines in, a JSON object a line out.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the subcommand: exit status 2 where a line was no hex, which its line of output says.
///
/// # Errors
/// Where stdin cannot be read or stdout cannot be written.
pub fn run(_args: &Args) -> Outcome {
    let stdout = io::BufWriter::new(io::stdout().lock());
    let all_hex = inspect(io::stdin().lock(), stdout).context("cannot pass lines from stdin to stdout")?;
    Ok(if all_hex { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// One line out for each line in; whether all of them were hex.
fn inspect(mut lines: impl BufRead, mut out: impl Write) -> io::Result<bool> {
    let (mut line, mut bytes, mut all_hex) = (Vec::new(), Vec::new(), true);
    while lines.read_until(b'\n', &mut line)? > 0 {
        let hex = line.trim_ascii();
        let hex = hex.strip_prefix(b"0x").or_else(|| hex.strip_prefix(b"0X")).unwrap_or(hex);
        bytes.resize(hex.len() / 2, 0);
        match const_hex::decode_to_slice(hex, &mut bytes) {
            Ok(()) => serde_json::to_writer(&mut out, &seen(&bytes))?,
            Err(error) => {
                all_hex = false;
                let message = format!("the line is not hexadecimal: {error}");
                let failure = Failure { error: Kind { kind: "invalid-hex", message } };
                serde_json::to_writer(&mut out, &failure)?;
            }
        }
        out.write_all(b"\n")?;
        line.clear();
    }
    out.flush()?;
    Ok(all_hex)
}

/// What a line of output says.
#[derive(Serialize)]
#[serde(untagged)]
enum Seen {
    Refused {
        parse: &'static str,
    },
    Message {
        parse: &'static str,
        version: u16,
        flags: u16,
        size: usize,
        root_offset: u32,
        fields: Fields,
        at_0: AtZero,
    },
}

#[derive(Serialize)]
struct Fields {
    round: String,
    block_hash: Option<String>,
    voter_id: Option<String>,
    signature: Option<String>,
    timestamp: String,
    vote_type: u8,
}

#[derive(Serialize)]
struct AtZero {
    bytes: Option<String>,
    list_len: usize,
    object_is_null: bool,
}

#[derive(Serialize)]
struct Failure {
    error: Kind,
}

#[derive(Serialize)]
struct Kind {
    kind: &'static str,
    message: String,
}

fn seen(bytes: &[u8]) -> Seen {
    match Message::parse(bytes) {
        Ok(message) => Seen::Message {
            parse: "ok",
            version: message.version().number(),
            flags: message.flags().0,
            size: message.size(),
            root_offset: message.root_offset(),
            fields: fields(message.root()),
            at_0: AtZero {
                bytes: message.root().bytes(0).map(const_hex::encode_prefixed),
                list_len: message.root().list(0).len(),
                object_is_null: message.root().object(0).is_null(),
            },
        },
        Err(error) => Seen::Refused { parse: error.name() },
    }
}

fn fields(root: Object<'_>) -> Fields {
    Fields {
        round: root.u64(0).to_string(),
        block_hash: root.bytes_fixed::<32>(8).map(const_hex::encode_prefixed),
        voter_id: root.bytes_fixed::<32>(40).map(const_hex::encode_prefixed),
        signature: root.bytes_fixed::<64>(72).map(const_hex::encode_prefixed),
        timestamp: root.u64(136).to_string(),
        vote_type: root.u8(144),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inspected(lines: &str) -> (bool, String) {
        let mut out = Vec::new();
        let all_hex = inspect(lines.as_bytes(), &mut out).unwrap();
        (all_hex, String::from_utf8(out).unwrap())
    }

    #[test]
    fn shows_a_message_as_the_contract_has_it() {
        let hex = "0x5A4150000100000010000000190000000800000001000000ab";
        let fields = r#"{"round":"4294967304","block_hash":null,"voter_id":null,"signature":null,"timestamp":"0","vote_type":0}"#;
        let expected = format!(
            "{}{fields}{}\n",
            r#"{"parse":"ok","version":1,"flags":0,"size":25,"root_offset":16,"fields":"#,
            r#","at_0":{"bytes":"0xab","list_len":1,"object_is_null":false}}"#
        );
        assert_eq!(inspected(hex), (true, expected));
    }

    #[test]
    fn a_line_out_for_each_line_in() {
        let (all_hex, out) = inspected("\nzz\r\n7a41500001000000100000001000000000\n123");
        let lines: Vec<&str> = out.lines().collect();
        assert!(!all_hex);
        assert_eq!((lines.len(), lines[0]), (4, r#"{"parse":"buffer-too-small"}"#));
        assert_eq!(lines[2], r#"{"parse":"invalid-magic"}"#);
        assert!([1, 3].iter().all(|at| lines[*at].starts_with(r#"{"error":{"kind":"invalid-hex","message":"#)));
    }
}
