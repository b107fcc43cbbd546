//! Tests of the vote's JSON: against serde_json for what is written, case by case for what is read.

use super::*;
use crate::vote::corpus;

const CANONICAL: &str = concat!(
    r#"{"round":"42","block_hash":"0x1111111111111111111111111111111111111111111111111111111111111111","#,
    r#""voter_id":"0x2222222222222222222222222222222222222222222222222222222222222222","#,
    r#""signature":"0x3333333333333333333333333333333333333333333333333333333333333333"#,
    r#"3333333333333333333333333333333333333333333333333333333333333333","#,
    r#""timestamp":"1700000000123456789","vote_type":1}"#
);

fn written(vote: &Vote) -> String {
    let mut buffer = [0; MAX_BYTES];
    let length = write(vote, &mut buffer);
    String::from_utf8(buffer[..length].to_vec()).unwrap()
}

/// What an error is, without serde_json's words.
fn kind(text: &str) -> String {
    match parse(text.as_bytes()) {
        Ok(_) => "ok".to_owned(),
        Err(VoteJsonError::Syntax(_)) => "syntax".to_owned(),
        Err(VoteJsonError::InvalidHex { field }) => format!("hex {field}"),
        Err(VoteJsonError::MissingField { field }) => format!("missing {field}"),
        Err(VoteJsonError::WrongLength { field, actual }) => format!("length {field} {actual}"),
        Err(VoteJsonError::OutOfRange { field }) => format!("range {field}"),
    }
}

/// The canonical text with one part replaced.
fn with(part: &str, other: &str) -> String {
    assert!(CANONICAL.contains(part), "{part}");
    CANONICAL.replacen(part, other, 1)
}

#[test]
fn written_as_serde_json_would() {
    #[derive(serde::Serialize)]
    struct Text {
        round: String,
        block_hash: String,
        voter_id: String,
        signature: String,
        timestamp: String,
        vote_type: u8,
    }
    assert_eq!(written(&Vote::canonical()), CANONICAL);
    let mut votes = corpus::votes(500, 3);
    for power in 0..20 {
        let value = 10_u64.pow(power);
        votes.push(Vote { round: value, timestamp: value - 1, ..Vote::default() });
    }
    votes.push(Vote { round: u64::MAX, timestamp: u64::MAX, vote_type: u8::MAX, ..Vote::default() });
    for vote_type in 0..=u8::MAX {
        votes.push(Vote { vote_type, ..Vote::default() });
    }
    for vote in votes {
        let text = Text {
            round: vote.round.to_string(),
            block_hash: format!("0x{}", const_hex::encode(vote.block_hash)),
            voter_id: format!("0x{}", const_hex::encode(vote.voter_id)),
            signature: format!("0x{}", const_hex::encode(vote.signature)),
            timestamp: vote.timestamp.to_string(),
            vote_type: vote.vote_type,
        };
        assert_eq!(written(&vote), serde_json::to_string(&text).unwrap());
        assert_eq!(parse(written(&vote).as_bytes()).unwrap(), vote);
    }
}

#[test]
fn read_in_every_dress() {
    let hash = "0x1111111111111111111111111111111111111111111111111111111111111111";
    let dressed = [
        with(r#""42""#, "42"),
        with(r#""42""#, r#""042""#),
        with(r#""42""#, r#""0000000000000000000000000000042""#),
        with(r#""42""#, r#""\u0034\u0032""#),
        with(r#""1700000000123456789""#, "1700000000123456789"),
        with(r#""vote_type":1"#, r#""vote_type":"1""#),
        with(hash, &hash[2..]),
        with(hash, &hash.replace("0x", "0X")),
        with(hash, &hash.replacen('1', "\\u0031", 1)),
        with("block_hash", "block\\u005fhash"),
        with("{", "{ \"more\": [{\"round\": [[]]}, null, -1e5, \"\\n\"], "),
        with("{", "\t{\r\n"),
        format!("{CANONICAL} \n"),
    ];
    for text in dressed {
        assert_eq!(parse(text.as_bytes()).unwrap(), Vote::canonical(), "{text}");
    }
    let mut vote = Vote::canonical();
    vote.voter_id = [0xab; 32];
    vote.voter_id[31] = 0xcd;
    let upper = written(&vote).replace("abab", "ABAB").replace("abcd", "aBCd");
    assert_eq!(parse(upper.as_bytes()).unwrap(), vote);
}

#[test]
fn any_order() {
    let inner = &CANONICAL[1..CANONICAL.len() - 1];
    let mut parts: Vec<_> = inner.split(',').collect();
    for _ in 0..parts.len() {
        parts.rotate_left(1);
        assert_eq!(kind(&format!("{{{}}}", parts.join(","))), "ok");
    }
    parts.reverse();
    assert_eq!(kind(&format!("{{{}}}", parts.join(","))), "ok");
}

#[test]
fn integers_out_of_range_name_their_field() {
    for (part, field, values) in [
        (
            r#""42""#,
            "round",
            &["-1", r#""-1""#, "18446744073709551616", r#""18446744073709551616""#, "1e30", "1.5"][..],
        ),
        (r#""42""#, "round", &["-0", "42.0", r#""-99999999999999999999999""#, r#""99999999999999999999999""#]),
        (r#""1700000000123456789""#, "timestamp", &["-5", "1e19", r#""100000000000000000000""#]),
        (
            r#":1}"#,
            "vote_type",
            &["256", "-1", "1e2", r#""256""#, r#""-1""#, "18446744073709551615", r#""999999999999""#],
        ),
    ] {
        for value in values {
            let text = if part == ":1}" { with(part, &format!(":{value}}}")) } else { with(part, value) };
            assert_eq!(kind(&text), format!("range {field}"), "{text}");
        }
    }
    assert_eq!(kind(&with(r#""42""#, r#""18446744073709551615""#)), "ok");
    assert_eq!(kind(&with(":1}", ":255}")), "ok");
}

#[test]
fn what_is_no_vote_is_a_syntax_error() {
    for text in ["", " ", "null", "[]", "1", "\"\"", "{", "{]", "tru", "\u{feff}{}", "\0"] {
        assert_eq!(kind(text), "syntax", "{text:?}");
    }
    for (part, other) in [
        (r#""42""#, r#""""#),
        (r#""42""#, r#""+42""#),
        (r#""42""#, r#"" 42""#),
        (r#""42""#, r#""0x2a""#),
        (r#""42""#, r#""4.2""#),
        (r#""42""#, r#""-""#),
        (r#""42""#, "null"),
        (r#""42""#, "true"),
        (r#""42""#, "[42]"),
        (r#""42""#, "{}"),
        (r#""42""#, "042"),
        (r#""42","#, r#""42",,"#),
        (r#""42","#, r#""42" "#),
        (r#""42""#, r#""42","round":"42""#),
        (r#""vote_type":1"#, r#""vote_type":1,"vote_type":1"#),
        (":1}", ":1,}"),
        (":1}", ":1}}"),
        (":1}", ":1} x"),
        (":1}", ":1"),
        ("0x11", "\\u1g"),
        ("0x11", "\\x"),
    ] {
        assert_eq!(kind(&with(part, other)), "syntax", "{other}");
    }
    let hash = "\"0x1111111111111111111111111111111111111111111111111111111111111111\"";
    for other in ["null", "17", "[17,17]", "{}", "false"] {
        assert_eq!(kind(&with(hash, other)), "syntax", "{other}");
    }
    assert!(matches!(parse(b"{\"a\":\"\xff\"}"), Err(VoteJsonError::Syntax(_))));
}

#[test]
fn byte_fields_of_another_length_are_named() {
    for (field, digit, bytes) in [("block_hash", "1", 32), ("voter_id", "2", 32), ("signature", "3", 64)] {
        let whole = format!("\"0x{}\"", digit.repeat(2 * bytes));
        for (other, expected) in [
            (digit.repeat(2 * bytes - 2), format!("length {field} {}", bytes - 1)),
            (digit.repeat(2 * bytes + 2), format!("length {field} {}", bytes + 1)),
            (String::new(), format!("length {field} 0")),
            ("0x".to_owned(), format!("length {field} 0")),
            (format!("0x{}", digit.repeat(2 * bytes - 1)), format!("hex {field}")),
            (format!("0x0x{}", digit.repeat(2 * bytes - 2)), format!("hex {field}")),
            (format!("{}g", digit.repeat(2 * bytes - 1)), format!("hex {field}")),
            (format!(" {}", digit.repeat(2 * bytes - 1)), format!("hex {field}")),
            ("zz".to_owned(), format!("hex {field}")),
            ("é".repeat(bytes), format!("hex {field}")),
            ("\\u0000".repeat(2 * bytes), format!("hex {field}")),
        ] {
            assert_eq!(kind(&with(&whole, &format!("\"{other}\""))), expected, "{other}");
        }
    }
}

#[test]
fn missing_fields_are_named_the_first_one_first() {
    assert_eq!(kind("{}"), "missing round");
    let inner = &CANONICAL[1..CANONICAL.len() - 1];
    let parts: Vec<_> = inner.split(',').collect();
    for (at, field) in Field::ALL.into_iter().enumerate() {
        let mut parts = parts.clone();
        parts.remove(at);
        assert_eq!(kind(&format!("{{{}}}", parts.join(","))), format!("missing {field}"));
        assert_eq!(kind(&format!("{{{}}}", parts[..at].join(","))), format!("missing {field}"));
    }
}

#[test]
fn depth_costs_no_stack() {
    for open in ["[", "{\"a\":", "{\"round\":", "{\"a\":["] {
        assert_ne!(kind(&open.repeat(200_000)), "ok");
        assert_ne!(kind(&format!("{{\"a\":{}", open.repeat(200_000))), "ok");
    }
}
