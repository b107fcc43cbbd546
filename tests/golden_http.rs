//! The HTTP study's ZAP messages against the reference's in `tests/golden/zap/http.json`: what the generated types and the
//! builder write is the reference's, byte for byte, and reads back.

#![expect(clippy::unwrap_used, reason = "a test that panics fails, as it should")]

mod golden_support;
use golden_support::{cases, number, text};

use serde_json::Value;
use sha2::{Digest, Sha256};
use votebench::schema::generated::http_zap::{
    NativeMessage, NativeMessageFields, Request, RequestFields, Response, ResponseFields,
};
use votebench::zap::{Builder, Flags, Message, Version};

/// The workload's body: given, or letters in turn.
fn body(case: &Value) -> Vec<u8> {
    match case.get("body_utf8") {
        Some(body) => body.as_str().unwrap().as_bytes().to_vec(),
        None => (b'a'..=b'z').cycle().take(number(&case["body_len"])).collect(),
    }
}

fn pairs<'c>(case: &'c Value, key: &str) -> Vec<(&'c str, &'c str)> {
    let pairs = case[key].as_array().unwrap().iter();
    pairs.map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())).collect()
}

/// Pairs as a ZAP-HTTP frame has them.
fn block(pairs: &[(&str, &str)]) -> Vec<u8> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let length = |length: usize| u32::try_from(length).unwrap().to_le_bytes();
    let mut block = length(pairs.len()).to_vec();
    for part in pairs.iter().flat_map(|(name, value)| [name, value]) {
        block.extend_from_slice(&length(part.len()));
        block.extend_from_slice(part.as_bytes());
    }
    block
}

/// Whether a message is the golden one, which is in hex, or, where it is long, given by digest, length and beginning.
fn assert_golden(message: &[u8], case: &Value, key: &str) {
    let golden = text(case, key);
    let Some(digest) = golden.strip_prefix("sha256:") else {
        assert_eq!(const_hex::encode(message), golden, "{key}");
        return;
    };
    let mut parts = digest.split(' ');
    let (digest, length, head) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let head = head.strip_prefix("head:").unwrap();
    assert_eq!(const_hex::encode(&message[..head.len() / 2]), head, "{key}");
    assert_eq!(format!("len:{}", message.len()), length, "{key}");
    assert_eq!(const_hex::encode(Sha256::digest(message)), digest, "{key}");
}

#[test]
fn zap_http_frames() {
    let cases = cases("http.json");
    assert_eq!(cases.len(), 5);
    for case in &cases {
        let body = body(case);
        let headers = block(&pairs(case, "zap_http_request_pairs_in_order"));
        let line = |key: &str, index: usize| case[key][index].as_str().unwrap().to_owned();
        let start = [0, 1, 2].map(|index| line("zap_http_request_line", index));
        let [method, target, proto] = [&start[0], &start[1], &start[2]].map(String::as_str);
        let request = RequestFields { method, target, proto, headers: &headers, body: &body, trailer: b"" };
        let mut frame = Vec::new();
        request.append(Version::V1, Flags::of_type(1), &mut frame).unwrap();
        assert_golden(&frame, case, "zap_http_request_frame_hex");
        assert_eq!(frame.len() + 4, number::<usize>(&case["zap_http_request_wire_bytes_with_prefix"]));
        let view = Request::parse(&frame).unwrap();
        assert_eq!((view.method(), view.target(), view.proto()), (Some(method), Some(target), Some(proto)));
        assert_eq!((view.headers(), view.body(), view.trailer()), (Some(&headers[..]), Some(&body[..]), None));

        let headers = block(&pairs(case, "zap_http_response_pairs_in_order"));
        let (reason, proto) =
            (line("zap_http_response_status_reason_proto", 1), line("zap_http_response_status_reason_proto", 2));
        let status = number(&case["zap_http_response_status_reason_proto"][0]);
        let response =
            ResponseFields { status, reason: &reason, proto: &proto, headers: &headers, body: &body, trailer: b"" };
        let mut builder = Builder::new();
        builder.set_flags(Flags::of_type(2));
        let root = response.build(&mut builder);
        let frame = builder.finish(root).unwrap();
        assert_golden(frame, case, "zap_http_response_frame_hex");
        let mut appended = Vec::new();
        response.append(Version::V1, Flags::of_type(2), &mut appended).unwrap();
        assert_eq!(appended, frame);
        assert_eq!(Message::parse(frame).unwrap().flags().message_type(), 2);
        let view = Response::parse(frame).unwrap();
        assert_eq!((view.status(), view.reason(), view.headers()), (200, Some("OK"), Some(&headers[..])));
    }
}

#[test]
fn native_messages() {
    let mut builder = Builder::new();
    for case in &cases("http.json") {
        let (body, all) = (body(case), pairs(case, "headers_in_order"));
        let answered: Vec<_> = all.iter().copied().filter(|(name, _)| name.starts_with("X-")).collect();
        for (pairs, status, key) in
            [(&all, 0, "native_request_message_hex"), (&answered, 200, "native_response_message_hex")]
        {
            builder.reset();
            let headers = builder.list_entries(pairs.iter().flat_map(|(name, value)| [name, value]));
            let message = NativeMessageFields { body: &body, headers: Some(headers), status, reserved: 0 };
            let root = message.build(&mut builder);
            let message = builder.finish(root).unwrap();
            assert_golden(message, case, key);
            if status == 0 {
                assert_eq!(message.len() + 4, number::<usize>(&case["native_request_wire_bytes_with_prefix"]));
            }
            let view = NativeMessage::parse(message).unwrap();
            let read: Vec<&[u8]> = view.headers().collect();
            assert_eq!(
                read,
                pairs.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]).collect::<Vec<_>>()
            );
            assert_eq!((view.body(), view.status()), (Some(&body[..]), status));
        }
    }
}
