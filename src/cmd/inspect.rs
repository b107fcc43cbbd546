//! `votebench inspect`: what the lenient reader sees in ZAP messages, one in hex a line in, one JSON object a line out.
//!
//! The fields are read at the vote's offsets whatever the message is, and the field at offset 0 also as each kind of slot:
//! so this shows what damaged bytes read as, where `decode --codec zap` refuses them.

use serde::Serialize;

use super::Outcome;
use super::decode::unhex;
use super::lines::{self, Refusal};
use crate::zap::{Message, Object};

/// Show what the lenient reader sees in ZAP messages: hex lines in, a JSON object a line out.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the subcommand: exit status 2 where a line was no hex, which its line of output says.
///
/// # Errors
/// Where stdin cannot be read or stdout cannot be written.
pub fn run(_args: &Args) -> Outcome {
    let mut message = Vec::new();
    lines::filter("invalid-hex", |line, out| inspect(line, &mut message, out))
}

/// What is seen in the message of one line.
fn inspect(line: &[u8], message: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    unhex(line.trim_ascii(), message)?;
    // Writing to a vector cannot fail, nor can these types be refused.
    let _ = serde_json::to_writer(out, &seen(message));
    Ok(())
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

    fn inspected(line: &str) -> Result<String, &'static str> {
        let mut out = Vec::new();
        inspect(line.as_bytes(), &mut Vec::new(), &mut out).map_err(|refusal| refusal.kind)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn shows_a_message_as_the_contract_has_it() {
        let hex = "0x5A4150000100000010000000190000000800000001000000ab";
        let fields = r#"{"round":"4294967304","block_hash":null,"voter_id":null,"signature":null,"timestamp":"0","vote_type":0}"#;
        let expected = format!(
            "{}{fields}{}",
            r#"{"parse":"ok","version":1,"flags":0,"size":25,"root_offset":16,"fields":"#,
            r#","at_0":{"bytes":"0xab","list_len":1,"object_is_null":false}}"#
        );
        assert_eq!(inspected(hex), Ok(expected));
    }

    #[test]
    fn says_what_is_no_message_and_what_is_no_hex() {
        assert_eq!(inspected(""), Ok(r#"{"parse":"buffer-too-small"}"#.to_owned()));
        assert_eq!(inspected(" 7a41500001000000100000001000000000\t"), Ok(r#"{"parse":"invalid-magic"}"#.to_owned()));
        assert_eq!((inspected("zz"), inspected("123")), (Err("invalid-hex"), Err("invalid-hex")));
    }
}
