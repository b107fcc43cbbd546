//! Every arm of the HTTP study over real sockets: its bytes are the reference's in `tests/golden/zap/http.json`, its client checks
//! what it is answered, and keeps its connection.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod golden_support;
mod http_support;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};

use golden_support::{cases, number, text};
use http_support::{Raw, ask, recorder, start};
use serde_json::Value;
use sha2::{Digest, Sha256};
use votebench::http::{Study, workload};
use votebench::measure::arm::Arms;

/// Whether a frame is the golden message behind its length; long messages are given by digest, length and beginning.
fn assert_golden(frame: &[u8], case: &Value, key: &str) {
    let (length, message) = frame.split_first_chunk::<4>().unwrap();
    assert_eq!(u32::from_be_bytes(*length) as usize, message.len(), "{key}");
    let golden = text(case, key);
    let Some(digest) = golden.strip_prefix("sha256:") else {
        assert_eq!(const_hex::encode(message), golden, "{key}");
        return;
    };
    let mut parts = digest.split(' ');
    let (digest, length) = (parts.next().unwrap(), parts.next().unwrap());
    assert_eq!(format!("len:{}", message.len()), length, "{key}");
    assert_eq!(const_hex::encode(Sha256::digest(message)), digest, "{key}");
}

/// What one exchange of `arm` puts on the wire.
fn recorded(arm: &str, workload: &str) -> (Vec<u8>, Vec<u8>) {
    let server = start(arm);
    let (between, recorded) = recorder(server.address);
    ask(arm, between, workload, 1).unwrap();
    recorded.recv().unwrap()
}

#[test]
fn workloads_are_those_of_the_reference() {
    let cases = cases("http.json");
    assert_eq!(cases.len(), workload::all().len());
    for (case, workload) in cases.iter().zip(workload::all()) {
        assert_eq!((text(case, "workload"), number::<usize>(&case["body_len"])), (workload.name, workload.body.len()));
        let pairs = case["headers_in_order"].as_array().unwrap().iter();
        let pairs: Vec<_> = pairs.map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())).collect();
        assert_eq!(pairs, workload.headers, "{}", workload.name);
        match case.get("body_utf8") {
            Some(body) => assert_eq!(body.as_str().unwrap().as_bytes(), workload.body),
            None => assert!(workload.body.iter().zip((b'a'..=b'z').cycle()).all(|(one, other)| *one == other)),
        }
    }
}

#[test]
fn the_zap_arms_put_the_references_bytes_on_the_wire() {
    for case in &cases("http.json") {
        let name = text(case, "workload");
        let (request, response) = recorded("zap-http", name);
        assert_golden(&request, case, "zap_http_request_frame_hex");
        assert_golden(&response, case, "zap_http_response_frame_hex");
        assert_eq!(request.len(), number::<usize>(&case["zap_http_request_wire_bytes_with_prefix"]));
        let (request, response) = recorded("native-zap", name);
        assert_golden(&request, case, "native_request_message_hex");
        assert_golden(&response, case, "native_response_message_hex");
        assert_eq!(request.len(), number::<usize>(&case["native_request_wire_bytes_with_prefix"]));
        let (out, back) = recorded("floor", name);
        assert_eq!((&out, &back), (&request, &request));
    }
}

#[test]
fn http_requests_have_the_published_size() {
    for case in &cases("http.json") {
        let name = text(case, "workload");
        let published: usize = number(&case["http11_request_wire_bytes"]);
        // Go's client adds a User-Agent of its own where a request has none.
        let has_agent = case["headers_in_order"].to_string().contains("User-Agent");
        let like_for_like = if has_agent { published } else { published - "User-Agent: Go-http-client/1.1\r\n".len() };
        for arm in ["hyper", "pooled-http"] {
            let (request, response) = recorded(arm, name);
            assert_eq!(request.len(), like_for_like, "{arm}, {name}: {}", String::from_utf8_lossy(&request));
            let head = String::from_utf8_lossy(&request).to_lowercase();
            assert!(head.starts_with("post /echo http/1.1\r\n") && head.contains("\r\nhost: test.local\r\n"), "{head}");
            let response = String::from_utf8_lossy(&response).to_lowercase();
            assert!(response.starts_with("http/1.1 200 ok\r\n") && response.contains("\r\ndate: "), "{response}");
        }
    }
}

#[test]
fn a_client_keeps_its_connection() {
    for info in Study.infos() {
        let server = start(info.name);
        let (between, recorded) = recorder(server.address);
        for workload in ["tiny", "large"] {
            ask(info.name, between, workload, 500).unwrap();
            let (requests, _) = recorded.recv().unwrap();
            let one = recorded_once(info.name, workload);
            assert_eq!(requests.len(), 500 * one, "{}, {workload}", info.name);
        }
        assert!(recorded.try_recv().is_err(), "{} made more connections than one a client", info.name);
    }
}

fn recorded_once(arm: &str, workload: &str) -> usize {
    recorded(arm, workload).0.len()
}

#[test]
fn a_client_refuses_a_wrong_answer() {
    for info in Study.infos() {
        // The right answer, with one byte of the body's end changed.
        let (_, mut wrong) = recorded(info.name, "tiny");
        *wrong.last_mut().unwrap() ^= 1;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let liar = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 4_096]).unwrap() > 0);
            stream.write_all(&wrong).unwrap();
            // Until the client has gone.
            let _ = stream.read(&mut [0; 1]);
        });
        let error = ask(info.name, address, "tiny", 1).unwrap_err();
        assert!(error.contains("not the one to the request"), "{}: {error}", info.name);
        liar.join().unwrap();
    }
}

#[test]
fn frames_that_lie_are_refused() {
    let server = start("zap-http");
    let (good, _) = recorded("zap-http", "tiny");
    let status_of = |frame: &[u8]| {
        let mut raw = Raw::connect(server.address);
        raw.send(frame);
        // What is answered and keeps its connection ends it here.
        raw.0.shutdown(Shutdown::Write).unwrap();
        let answer = raw.rest();
        // Behind the length, the header: the status is the first field of the section.
        answer.get(20..22).map(|status| u16::from_le_bytes([status[0], status[1]]))
    };
    // The block of fields: its count, then for each pair two lengths and texts.
    let block = good.windows(12).position(|bytes| bytes == b"Content-Type").unwrap() - 8;
    let changed = |at: usize, value: u32| {
        let mut frame = good.clone();
        frame[at..at + 4].copy_from_slice(&value.to_le_bytes());
        frame
    };
    assert_eq!(status_of(&changed(block, 5)), Some(400), "a count of more pairs than there are");
    assert_eq!(status_of(&changed(block, 3)), Some(400), "a count of fewer pairs");
    assert_eq!(status_of(&changed(block + 4, 0xffff)), Some(400), "a name that ends behind the block");
    assert_eq!(status_of(&changed(block + 4, u32::MAX)), Some(400), "a name of 4 GiB");
    let slot = 4 + 16 + 24 + 4;
    assert_eq!(status_of(&changed(slot, 0x99)), Some(400), "a block that ends inside a pair");
    assert_eq!(status_of(&changed(slot, 2)), Some(400), "a block without a whole count");
    assert_eq!(status_of(&changed(slot, 0xffff)), Some(400), "a block that ends behind the message");
    let put = |old: &str, new: &str| {
        assert_eq!(old.len(), new.len());
        let at = good.windows(old.len()).position(|bytes| bytes == old.as_bytes()).unwrap();
        let mut frame = good.clone();
        frame[at..at + new.len()].copy_from_slice(new.as_bytes());
        frame
    };
    for (old, new, status) in [
        ("quorum-01", "1\r\nX-B: 2", 400),
        ("quorum-01", "quorum\0 1", 400),
        ("quorum-01", "quorum-  ", 400),
        ("X-Org-Id", "X Org-Id", 400),
        ("X-Org-Id", "X-Org\r\nd", 400),
        ("POST", "PO T", 400),
        ("test.local", "test local", 400),
        ("test.local", "u@st.local", 400),
        ("test.local", "test:local", 400),
        ("/echo", "/ec o", 400),
        ("HTTP/1.1", "HTTP/2.0", 505),
        ("POST", "BREW", 501),
    ] {
        assert_eq!(status_of(&put(old, new)), Some(status), "{new:?} in place of {old:?}");
    }
    let mut response = good.clone();
    response[4 + 7] = 2;
    assert_eq!(status_of(&response), Some(400), "a response in place of a request");
    let mut longer = good.clone();
    longer[3] += 1;
    longer.push(0);
    assert_eq!(status_of(&longer), Some(400), "bytes behind the message");
    assert_eq!(status_of(&[0, 0, 0, 0]), Some(400), "an empty frame");
    assert_eq!(status_of(&[0xff; 4]), Some(400), "a frame of 4 GiB");
    let mut raw = Raw::connect(server.address);
    raw.send(&good);
    assert_eq!(raw.exactly(22)[20..], 200_u16.to_le_bytes(), "the next good client is answered");
}

#[test]
fn native_messages_that_lie_end_the_connection() {
    let server = start("native-zap");
    let (good, _) = recorded("native-zap", "tiny");
    let count = good.len() - 16 - 12;
    for (at, value) in [(count, 9_u32), (count, 1_000), (count - 8, 17), (20, u32::MAX), (4, 0), (12, 4)] {
        let mut frame = good.clone();
        frame[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let mut raw = Raw::connect(server.address);
        raw.send(&frame);
        assert_eq!(raw.rest(), b"", "{value} at {at}");
    }
    ask("native-zap", server.address, "tiny", 1).unwrap();
}
