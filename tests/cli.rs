//! The command line, end to end: `encode`, `decode` and `list`, and how the program ends.

#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use assert_cmd::Command;

const CANONICAL: &str = concat!(
    r#"{"round":"42","block_hash":"0x1111111111111111111111111111111111111111111111111111111111111111","#,
    r#""voter_id":"0x2222222222222222222222222222222222222222222222222222222222222222","#,
    r#""signature":"0x3333333333333333333333333333333333333333333333333333333333333333"#,
    r#"3333333333333333333333333333333333333333333333333333333333333333","#,
    r#""timestamp":"1700000000123456789","vote_type":1}"#
);

/// Standard output, standard error and exit status.
fn votebench(arguments: &[&str], input: impl Into<Vec<u8>>) -> (String, String, i32) {
    let output = Command::cargo_bin("votebench").unwrap().args(arguments).write_stdin(input.into()).output().unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap(),
    )
}

/// The kind of an error line.
fn kind(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    let error = value["error"].as_object().unwrap();
    assert_eq!(value.as_object().unwrap().len(), 1);
    assert_eq!(error.keys().collect::<Vec<_>>(), ["kind", "message"]);
    assert!(!error["message"].as_str().unwrap().is_empty());
    error["kind"].as_str().unwrap().to_owned()
}

#[test]
fn every_codec_encodes_and_decodes() {
    for codec in votebench::codec::all() {
        let name = codec.name();
        let (hex, errors, status) = votebench(&["encode", "--codec", name], format!("{CANONICAL}\n{CANONICAL}"));
        assert_eq!((&errors[..], status, hex.lines().count()), ("", 0, 2), "{name}");
        assert!(hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'\n')), "{name}");
        let dressed = format!("0x{}\r\n{hex}", hex.lines().next().unwrap().to_uppercase());
        let (votes, errors, status) = votebench(&["decode", "--codec", name], dressed);
        assert_eq!((&errors[..], status), ("", 0), "{name}");
        assert_eq!(votes, format!("{CANONICAL}\n").repeat(3), "{name}");
    }
}

#[test]
fn known_bytes() {
    let encode = |codec| votebench(&["encode", "--codec", codec], CANONICAL).0;
    let packed =
        format!("2a00000000000000{}{}{}15cd5b0776f39717{}\n", "11".repeat(32), "22".repeat(32), "33".repeat(64), "01");
    let timestamp = 1_700_000_000_123_456_789_u64.to_le_bytes().map(|byte| format!("{byte:02x}")).concat();
    let packed = packed.replace("15cd5b0776f39717", &timestamp);
    for codec in ["packed-145", "borsh", "scale", "ssz", "rkyv"] {
        assert_eq!(encode(codec), packed, "{codec}");
    }
    assert_eq!(encode("quic-raw"), format!("00000091000100000000000000000000{packed}"));
    assert_eq!(encode("protobuf").trim().len(), 2 * 148);
    assert_eq!(encode("grpc"), format!("0000000094{}", encode("protobuf")));
    assert_eq!(encode("protobuf-mux"), format!("9401{}", encode("protobuf")));
    let text = |bytes: &str| -> String { bytes.bytes().map(|byte| format!("{byte:02x}")).collect() };
    assert_eq!(encode("json").trim(), text(CANONICAL));
    let request = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"vote_submit","params":{CANONICAL}}}"#);
    assert_eq!(encode("json-rpc").trim(), text(&request));
}

#[test]
fn a_bad_line_is_answered_in_its_place() {
    let short = CANONICAL.replacen("11\"", "\"", 1);
    let input = format!("{CANONICAL}\n\nnull\n{short}\n{CANONICAL}\r\n{{\"round\":1}}\n\u{ff}\n{CANONICAL}");
    let (out, errors, status) = votebench(&["encode", "--codec", "packed-145"], input);
    let lines: Vec<_> = out.lines().collect();
    assert_eq!((&errors[..], status, lines.len()), ("", 2, 8));
    assert!(lines[0].starts_with("2a") && lines[4] == lines[0] && lines[7] == lines[0]);
    for (line, expected) in
        [(1, "invalid-json"), (2, "invalid-json"), (3, "wrong-length"), (5, "missing-field"), (6, "invalid-json")]
    {
        assert_eq!(kind(lines[line]), expected);
    }
    assert!(lines[3].contains("block_hash has 31 bytes instead of 32"));
    assert!(lines[5].contains("block_hash is missing"));

    let (out, errors, status) = votebench(&["decode", "--codec", "packed-145"], format!("0x\n\nzz\n{}\n0", lines[0]));
    let lines: Vec<_> = out.lines().collect();
    assert_eq!((&errors[..], status, lines.len()), ("", 2, 5));
    assert_eq!(kind(lines[0]), "buffer-too-small");
    assert_eq!(kind(lines[1]), "buffer-too-small");
    assert_eq!(kind(lines[2]), "invalid-hex");
    assert_eq!(lines[3], CANONICAL);
    assert_eq!(kind(lines[4]), "invalid-hex");
}

#[test]
fn no_lines_no_answer() {
    for command in ["encode", "decode"] {
        assert_eq!(votebench(&[command, "--codec", "json"], ""), (String::new(), String::new(), 0));
    }
}

#[test]
fn many_lines_keep_their_order() {
    let votes = votebench::vote::corpus::votes(3_000, 3);
    let mut text = [0; votebench::vote::json::MAX_BYTES];
    let mut input = Vec::new();
    for vote in &votes {
        let length = votebench::vote::json::write(vote, &mut text);
        input.extend_from_slice(&text[..length]);
        input.push(b'\n');
    }
    let (hex, _, status) = votebench(&["encode", "--codec", "postcard"], input.clone());
    assert_eq!(status, 0);
    let (out, _, status) = votebench(&["decode", "--codec", "postcard"], hex);
    assert_eq!((out.as_bytes() == input, status), (true, 0));
}

#[test]
fn usage_errors_are_two() {
    for arguments in [&["encode"][..], &["decode", "--codec"], &["frobnicate"], &[], &["encode", "--codec", "morse"]] {
        let (out, errors, status) = votebench(arguments, "");
        assert_eq!((&out[..], status), ("", 2), "{arguments:?}");
        assert!(!errors.is_empty());
    }
    let (_, errors, _) = votebench(&["decode", "--codec", "morse"], "");
    assert_eq!(errors.lines().count(), 1);
    for codec in votebench::codec::all() {
        assert!(errors.contains(codec.name()), "{errors}");
    }
    let (out, errors, status) = votebench(&["--help"], "");
    assert_eq!((&errors[..], status), ("", 0));
    assert!(out.contains("encode") && out.contains("decode") && out.contains("list"));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    for arguments in [&["encode", "--codec", "json"][..], &["list"], &["list", "--json"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_votebench"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        for _ in 0..2_000 {
            if writeln!(stdin, "{CANONICAL}").is_err() {
                break;
            }
        }
        drop(stdin);
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!((&errors[..], child.wait().unwrap().code()), ("", Some(0)), "{arguments:?}");
    }
}

#[test]
fn list_says_what_every_codec_is_made_of() {
    let (out, errors, status) = votebench(&["list", "--json"], "");
    assert_eq!((&errors[..], status), ("", 0));
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    let entries = value["codecs"].as_array().unwrap();
    let codecs = votebench::codec::all();
    assert_eq!(entries.len(), codecs.len());
    for (entry, mut codec) in entries.iter().zip(codecs) {
        let info = codec.info();
        assert_eq!(entry["name"], info.name);
        assert_eq!(entry["class"], info.class.name());
        assert_eq!(entry["summary"], info.summary);
        assert_eq!(entry["crates"].as_object().unwrap().len(), info.crates.len());
        assert_eq!(entry["lacks"].as_array().unwrap().len(), info.lacks.len());
        let message = codec.encode(&votebench::vote::Vote::canonical()).unwrap();
        assert_eq!(entry["wire_bytes"], message.len());
    }
    let (table, errors, status) = votebench(&["list"], "");
    assert_eq!((&errors[..], status), ("", 0));
    for codec in votebench::codec::all() {
        assert!(table.lines().any(|line| line.split_whitespace().next() == Some(codec.name())), "{}", codec.name());
    }
}
