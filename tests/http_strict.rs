//! `pooled-http` against RFC 9110 and RFC 9112: what each request is answered with, and whether the connection goes on.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod http_support;

use http_support::{Raw, start};
use votebench::http::{BODY_LIMIT, HEAD_LIMIT};

const GOOD: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok";

/// The statuses that the server gives to `bytes` before it ends the connection.
fn statuses(address: std::net::SocketAddr, bytes: &[u8]) -> Vec<u16> {
    let mut raw = Raw::connect(address);
    raw.send(bytes);
    raw.0.shutdown(std::net::Shutdown::Write).unwrap();
    let all = String::from_utf8_lossy(&raw.rest()).into_owned();
    let lines = all.match_indices("HTTP/1.1 ").map(|(at, start)| &all[at + start.len()..]);
    lines.map(|rest| rest[..3].parse().unwrap()).collect()
}

#[test]
fn what_could_be_smuggled_is_refused_and_ends_the_connection() {
    let server = start("pooled-http");
    let head = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n0\r\n\r\n");
    let cases: Vec<(&str, String, u16)> = vec![
        ("both lengths", head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400),
        ("both lengths, turned", head("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400),
        ("length repeated", head("Content-Length: 5\r\nContent-Length: 5\r\n"), 400),
        ("length repeated, other", head("Content-Length: 5\r\nContent-Length: 6\r\n"), 400),
        ("length as a list", head("Content-Length: 5, 5\r\n"), 400),
        ("length signed", head("Content-Length: +5\r\n"), 400),
        ("length negative", head("Content-Length: -5\r\n"), 400),
        ("length hexadecimal", head("Content-Length: 0x5\r\n"), 400),
        ("length empty", head("Content-Length: \r\n"), 400),
        ("length with a space", head("Content-Length: 5 5\r\n"), 400),
        ("length over 64 bits", head("Content-Length: 99999999999999999999\r\n"), 413),
        ("coding unknown, last", head("Transfer-Encoding: chunked, gzip\r\n"), 400),
        ("coding unknown, first", head("Transfer-Encoding: gzip, chunked\r\n"), 501),
        ("coding in two lines", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400),
        ("coding identity", head("Transfer-Encoding: identity\r\n"), 400),
        ("coding empty", head("Transfer-Encoding: \r\n"), 400),
        ("coding disguised", head("Transfer-Encoding: \u{b}chunked\r\n"), 400),
        ("coding of another name", head("Transfer-Encoding: xchunked\r\n"), 400),
        ("coding identity, last", head("Transfer-Encoding: chunked, identity\r\n"), 400),
        ("coding with a parameter", head("Transfer-Encoding: chunked;q=1\r\n"), 400),
        ("coding in a quoted list", head("Transfer-Encoding: x;a=\", chunked\"\r\n"), 400),
        ("coding behind a wide space", head("Transfer-Encoding: \u{a0}chunked\r\n"), 400),
        ("coding empty, and a length", head("Content-Length: 5\r\nTransfer-Encoding:\r\n"), 400),
        ("coding quoted", head("Transfer-Encoding: \"chunked\"\r\n"), 400),
        ("coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(), 400),
        ("space before colon", head("Content-Length : 5\r\n"), 400),
        ("folded", head("X-A: 1\r\n 2\r\n"), 400),
        ("folded first", "GET / HTTP/1.1\r\n Host: a\r\n\r\n".to_owned(), 400),
        ("name with a space", head("X A: 1\r\n"), 400),
        ("name empty", head(": 1\r\n"), 400),
        ("no colon", head("X-A\r\n"), 400),
        ("bare line feed", "GET / HTTP/1.1\nHost: a\n\n".to_owned(), 400),
        ("bare line feed in fields", head("X-A: 1\nX-B: 2\r\n"), 400),
        ("bare line feed at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n".to_owned(), 400),
        ("bare carriage return", head("X-A: 1\rX-B: 2\r\n"), 400),
        ("delete", head("X-A: 1\u{7f}\r\n"), 400),
        ("zero byte", head("X-A: 1\0\r\n"), 400),
        ("no host", "GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n".to_owned(), 400),
        ("host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n".to_owned(), 400),
        ("host with a user", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n".to_owned(), 400),
        ("host with a port of letters", "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n".to_owned(), 400),
        ("host with two ports", "GET / HTTP/1.1\r\nHost: a:80:90\r\n\r\n".to_owned(), 400),
        ("host in half a bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n".to_owned(), 400),
        ("host with half an escape", "GET / HTTP/1.1\r\nHost: a%4\r\n\r\n".to_owned(), 400),
        ("target with a user", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("target with a port of letters", "GET http://a:b/ HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("target with a port alone", "GET http://:80/ HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("target of everything", "GET * HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("connect to a path", "CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("connect without a port", "CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("target relative", "GET echo HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("target with a space", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("target with a fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("target without authority", "GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("no version", "GET /\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("version unknown", "GET / HTTP/2.0\r\nHost: a\r\n\r\n".to_owned(), 505),
        ("version malformed", "GET / HTTP/11\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("expectation unknown", head("Expect: more\r\n"), 417),
        ("chunk longer than its size", format!("{}5\r\nhello!\r\n0\r\n\r\n", chunked_head()), 400),
        ("chunk ended by a line feed", format!("{}5\r\nhello\n0\r\n\r\n", chunked_head()), 400),
        ("chunk size behind a prefix", format!("{}0x5\r\nhello\r\n0\r\n\r\n", chunked_head()), 400),
        ("chunk size and a space", format!("{}5 \r\nhello\r\n0\r\n\r\n", chunked_head()), 400),
        ("chunk extension ended by a line feed", format!("{}5;a\nhello\r\n0\r\n\r\n", chunked_head()), 400),
        ("field behind a body ended by a line feed", format!("{}0\r\nX: 1\n\r\n", chunked_head()), 400),
        ("chunk size signed", format!("{}+5\r\nhello\r\n0\r\n\r\n", chunked_head()), 400),
        ("chunk size over 64 bits", format!("{}f0000000000000005\r\nhello\r\n0\r\n\r\n", chunked_head()), 400),
        ("TLS", "\u{16}\u{3}\u{1}\r\n\r\n".to_owned(), 400),
    ];
    for (what, bytes, status) in cases {
        // What follows must never be taken for a request.
        let bytes = bytes + GOOD;
        assert_eq!(statuses(server.address, bytes.as_bytes()), [status], "{what}: {bytes:?}");
    }
    assert_eq!(statuses(server.address, GOOD.as_bytes()), [200]);
}

fn chunked_head() -> &'static str {
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
}

#[test]
fn what_is_allowed_is_answered() {
    let server = start("pooled-http");
    let cases = [
        ("space around values", "GET / HTTP/1.1\r\nHost:\t a \t\r\nX-A:1\r\n\r\n", 200),
        ("empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ("absolute target", "GET http://other:80/a?b HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ("absolute target in upper case", "GET HTTP://other HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ("HTTP/1.0 without a host", "GET / HTTP/1.0\r\n\r\n", 200),
        ("host empty", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 200),
        ("host with a port", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200),
        ("bytes over 127", "GET / HTTP/1.1\r\nHost: a\r\nX-A: \u{e4}\r\n\r\n", 200),
        ("known, not allowed", "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        ("options of everything", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        ("connect", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 405),
        ("unknown", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        ("methods are case-sensitive", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        (
            "a length behind a body is none of its framing",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 50\r\n\r\n",
            200,
        ),
        ("upgrades are ignored", "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 200),
    ];
    for (what, bytes, status) in cases {
        let keeps = !bytes.contains("HTTP/1.0");
        let expected = if keeps { vec![status, 200] } else { vec![status] };
        assert_eq!(statuses(server.address, format!("{bytes}{GOOD}").as_bytes()), expected, "{what}");
    }
}

#[test]
fn oversized_heads_and_bodies_are_refused() {
    let server = start("pooled-http");
    let fill = |length: usize| "a".repeat(length);
    let long_target = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", fill(HEAD_LIMIT));
    assert_eq!(statuses(server.address, long_target.as_bytes()), [414]);
    let long_field = format!("GET / HTTP/1.1\r\nHost: a\r\nX-A: {}\r\n\r\n", fill(HEAD_LIMIT));
    assert_eq!(statuses(server.address, long_field.as_bytes()), [431]);
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: 1\r\n".repeat(1_000));
    assert_eq!(statuses(server.address, many.as_bytes()), [431]);
    let large = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", BODY_LIMIT + 1);
    assert_eq!(statuses(server.address, large.as_bytes()), [413]);
    let chunk = format!("{}{:x}\r\n", chunked_head(), BODY_LIMIT + 1);
    assert_eq!(statuses(server.address, chunk.as_bytes()), [413]);
    // The refusal reaches a client that goes on sending.
    let body = large + &fill(1 << 20);
    assert_eq!(statuses(server.address, body.as_bytes()), [413]);
    let mut raw = Raw::connect(server.address);
    raw.send(
        format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {BODY_LIMIT}\r\n\r\n{}", fill(BODY_LIMIT)).as_bytes(),
    );
    let (head, body) = raw.response(false);
    assert!(head.starts_with("http/1.1 200 ok\r\n") && body.len() == BODY_LIMIT, "{head}");
}

#[test]
fn responses_are_complete_and_in_order_whatever_the_pieces() {
    let server = start("pooled-http");
    let mut requests = String::new();
    for index in 0..20 {
        let body = "b".repeat(index * 700);
        requests += &format!("POST /{index} HTTP/1.1\r\nHost: a\r\nX-Index: {index}\r\n");
        if index % 2 == 0 {
            requests += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        } else {
            requests +=
                &format!("Transfer-Encoding: chunked\r\n\r\n{:x};a=b\r\n{body}\r\n0\r\nX-Sum: 1\r\n\r\n", body.len());
        }
    }
    for piece in [1, 7, 1_000, requests.len()] {
        let mut raw = Raw::connect(server.address);
        let mut other = raw.0.try_clone().unwrap();
        let bytes = requests.clone().into_bytes();
        let sending = std::thread::spawn(move || {
            for piece in bytes.chunks(piece) {
                std::io::Write::write_all(&mut other, piece).unwrap();
            }
        });
        for index in 0..20 {
            let (head, body) = raw.response(false);
            assert!(
                head.starts_with("http/1.1 200 ok\r\n") && head.contains(&format!("x-index: {index}\r\n")),
                "{head}"
            );
            assert_eq!(body, "b".repeat(index * 700).as_bytes(), "{index} in pieces of {piece}");
            assert!(!head.contains("x-sum"), "a field behind a body is none of its head's: {head}");
        }
        sending.join().unwrap();
    }
}

#[test]
fn a_connection_ends_when_it_is_asked_to() {
    let server = start("pooled-http");
    let ask = |request: &str| {
        let mut raw = Raw::connect(server.address);
        raw.send(request.as_bytes());
        raw.response(false).0
    };
    let close = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n";
    assert_eq!(statuses(server.address, format!("{close}{GOOD}").as_bytes()), [200]);
    assert!(ask(close).contains("\r\nconnection: close\r\n"));
    assert!(!ask(GOOD).contains("\r\nconnection:"));
    let listed = "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\n\r\n";
    assert_eq!(statuses(server.address, format!("{listed}{GOOD}").as_bytes()), [200]);
    let old = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    assert_eq!(statuses(server.address, format!("{old}{GOOD}").as_bytes()), [200, 200]);
    assert!(ask(old).contains("\r\nconnection: keep-alive\r\n"));
    assert!(ask("GET / HTTP/1.0\r\n\r\n").contains("\r\nconnection: close\r\n"));
    assert!(ask("GET / HTTP/1.1\r\n\r\n").contains("\r\nconnection: close\r\n"), "after a refusal");
    // A request that ends early is answered by nothing.
    assert_eq!(statuses(server.address, &GOOD.as_bytes()[..GOOD.len() - 1]), [0_u16; 0]);
    assert_eq!(statuses(server.address, b"GET / HT"), [0_u16; 0]);
}

#[test]
fn head_is_get_without_the_body() {
    let server = start("pooled-http");
    let mut raw = Raw::connect(server.address);
    raw.send(b"HEAD / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nContent-Length: 3\r\n\r\nabc");
    let (head, _) = raw.response(true);
    assert!(head.contains("content-length: 3\r\n") && head.contains("x-a: 1\r\n"), "{head}");
    raw.send(GOOD.as_bytes());
    assert_eq!(raw.response(false).1, b"ok", "nothing of a body was sent");
    raw.send(b"DELETE / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(raw.response(false).0.contains("allow: get, head, post\r\n"));
}

#[test]
fn a_client_that_waits_is_told_to_go_on() {
    let server = start("pooled-http");
    let mut raw = Raw::connect(server.address);
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n";
    raw.send(head.as_bytes());
    assert_eq!(raw.exactly(25), b"HTTP/1.1 100 Continue\r\n\r\n");
    raw.send(b"hello");
    assert_eq!(raw.response(false).1, b"hello");
    // One that sends at once, or has nothing to send, does not wait.
    raw.send(format!("{head}hello").as_bytes());
    assert!(raw.response(false).0.starts_with("http/1.1 200 ok\r\n"));
    raw.send(b"GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n");
    assert!(raw.response(false).0.starts_with("http/1.1 200 ok\r\n"));
    // A body over the limit is refused before it is sent.
    let large =
        format!("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n", BODY_LIMIT + 1);
    raw.send(large.as_bytes());
    assert!(raw.response(false).0.starts_with("http/1.1 413 "));
}
