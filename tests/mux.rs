//! The yamux servers, spoken to in frames made by hand: what they answer, what a bad stream costs, and whom it does not.
#![cfg(feature = "net")]
#![allow(clippy::unwrap_used)]

mod served;

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use votebench::codec;
use votebench::transport::{Payload, Wait};
use votebench::vote::Vote;

use served::{Running, framed, zap};

fn start(stack: &str, payload: Payload, max_message_bytes: u64) -> Running {
    served::start(stack, payload, Wait::Block, max_message_bytes).unwrap()
}

const DATA: u8 = 0;
const WINDOW_UPDATE: u8 = 1;
const PING: u8 = 2;

const SYN: u16 = 1;
const ACK: u16 = 2;
const FIN: u16 = 4;
const RST: u16 = 8;

#[derive(Debug)]
struct Frame {
    kind: u8,
    flags: u16,
    stream: u32,
    body: Vec<u8>,
}

struct Wire(TcpStream);

impl Wire {
    fn to(server: &Running) -> Self {
        let socket = TcpStream::connect(server.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        Self(socket)
    }

    fn send(&mut self, flags: u16, stream: u32, body: &[u8]) {
        let mut frame = header(DATA, flags, stream, u32::try_from(body.len()).unwrap()).to_vec();
        frame.extend_from_slice(body);
        self.0.write_all(&frame).unwrap();
    }

    /// The next frame that is about a stream.
    fn next(&mut self) -> io::Result<Frame> {
        loop {
            let mut head = [0; 12];
            self.0.read_exact(&mut head)?;
            let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
            let (kind, flags) = (head[1], u16::from_be_bytes([head[2], head[3]]));
            let mut body = vec![0; if kind == DATA { word(8) as usize } else { 0 }];
            self.0.read_exact(&mut body)?;
            match kind {
                PING if flags == SYN => self.0.write_all(&header(PING, ACK, 0, word(8)))?,
                WINDOW_UPDATE => {}
                _ => return Ok(Frame { kind, flags, stream: word(4), body }),
            }
        }
    }

    /// Everything up to the end of a stream, and the flags that it ended with; other streams must be silent.
    fn answer(&mut self, stream: u32) -> (Vec<u8>, u16) {
        let mut answer = Vec::new();
        loop {
            let frame = self.next().unwrap();
            assert_eq!((frame.kind, frame.stream), (DATA, stream), "{frame:?}");
            answer.extend_from_slice(&frame.body);
            if frame.flags & (FIN | RST) != 0 {
                return (answer, frame.flags);
            }
        }
    }

    fn is_closed(&mut self) -> bool {
        loop {
            match self.next() {
                Ok(_) => {}
                Err(error) => return !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
            }
        }
    }
}

fn header(kind: u8, flags: u16, stream: u32, length: u32) -> [u8; 12] {
    let mut header = [0, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    header[2..4].copy_from_slice(&flags.to_be_bytes());
    header[4..8].copy_from_slice(&stream.to_be_bytes());
    header[8..].copy_from_slice(&length.to_be_bytes());
    header
}

fn request() -> Vec<u8> {
    codec::by_name("zap").unwrap().encode(&Vote::canonical()).unwrap().to_vec()
}

fn is_answer(bytes: &[u8]) -> bool {
    let mut codec = codec::by_name("zap").unwrap();
    codec.own(bytes).is_ok_and(|vote| Vote::canonical().is_answered_by(&vote))
}

/// One good round trip on a connection of its own.
fn still_answers(server: &Running) {
    let mut wire = Wire::to(server);
    wire.send(SYN, 1, &request());
    wire.send(FIN, 1, &[]);
    assert!(is_answer(&wire.answer(1).0));
}

#[test]
fn mux_answers_however_the_message_is_cut() {
    let server = start("mux", zap(), 1 << 20);
    let mut wire = Wire::to(&server);
    let request = request();
    // Opened, filled and ended by one frame; by one each; by a frame a byte.
    wire.send(SYN | FIN, 1, &request);
    assert!(is_answer(&wire.answer(1).0));
    wire.send(SYN, 3, &[]);
    wire.send(0, 3, &request);
    wire.send(FIN, 3, &[]);
    assert!(is_answer(&wire.answer(3).0));
    wire.send(SYN, 5, &[]);
    for byte in &request {
        wire.send(0, 5, &[*byte]);
    }
    wire.send(FIN, 5, &[]);
    assert!(is_answer(&wire.answer(5).0));
}

#[test]
fn mux_answers_streams_in_any_order_and_waits_for_none() {
    let server = start("mux", zap(), 1 << 20);
    let mut wire = Wire::to(&server);
    let request = request();
    wire.send(SYN, 1, &request[..100]);
    for stream in (3..1_003).step_by(2) {
        wire.send(SYN | FIN, stream, &request);
    }
    let mut answered: Vec<u32> = Vec::new();
    while answered.len() < 500 {
        let frame = wire.next().unwrap();
        assert!(frame.body.is_empty() || is_answer(&frame.body));
        answered.extend((frame.flags & FIN != 0).then_some(frame.stream));
    }
    assert!(!answered.contains(&1));
    wire.send(FIN, 1, &request[100..]);
    assert!(is_answer(&wire.answer(1).0));
}

#[test]
fn mux_echoes_what_takes_many_frames() {
    let server = start("mux", Payload::Opaque, 1 << 20);
    let mut wire = Wire::to(&server);
    let message: Vec<u8> = (0..250_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    wire.send(SYN, 1, &message[..100_000]);
    wire.send(FIN, 1, &message[100_000..]);
    assert!(wire.answer(1) == (message, FIN), "another answer");
}

#[test]
fn a_bad_message_costs_mux_its_stream_and_nothing_else() {
    let server = start("mux", zap(), 1_000);
    let mut wire = Wire::to(&server);
    wire.send(SYN, 1, &request()[..50]);
    for (stream, garbage) in [(3, vec![0xa5; 161]), (5, Vec::new()), (7, request()[..160].to_vec())] {
        wire.send(SYN | FIN, stream, &garbage);
        // The client's own end has come: yamux ends the stream, too.
        assert!(wire.answer(stream).0.is_empty(), "stream {stream}");
    }
    wire.send(SYN, 9, &[1; 1_001]);
    let (answer, flags) = wire.answer(9);
    assert!(answer.is_empty() && flags & RST != 0, "over the limit, and not reset: {flags}");
    wire.send(FIN, 1, &request()[50..]);
    assert!(is_answer(&wire.answer(1).0));
}

#[test]
fn a_bad_message_resets_a_stream_of_mux_stream_and_nothing_else() {
    let server = start("mux-stream", zap(), 1_000);
    let mut wire = Wire::to(&server);
    let good = framed(&request());
    wire.send(SYN, 1, &good[..70]);
    for (stream, garbage) in [(3, framed(&[0xa5; 161])), (5, vec![0; 4]), (7, vec![0xff; 4])] {
        wire.send(SYN, stream, &garbage);
        let (answer, flags) = wire.answer(stream);
        assert!(answer.is_empty() && flags & RST != 0, "stream {stream} is not reset: {flags}");
    }
    wire.send(0, 1, &good[70..]);
    let frame = wire.next().unwrap();
    assert!(frame.stream == 1 && is_answer(&frame.body[4..]));
    // Two at once are answered in order, and the client's end of the stream with the server's.
    wire.send(FIN, 1, &[good.clone(), good].concat());
    let (answers, flags) = wire.answer(1);
    assert_eq!(flags, FIN);
    let (first, second) = answers.split_at(answers.len() / 2);
    assert!(is_answer(&first[4..]) && is_answer(&second[4..]));
}

#[test]
fn what_is_not_yamux_closes_the_connection_and_not_the_server() {
    for stack in ["mux", "mux-stream"] {
        let server = start(stack, zap(), 1_000);
        for broken in [*b"GET / HTTP/1", header(9, 0, 1, 0), header(DATA, SYN, 1, u32::MAX)] {
            let mut wire = Wire::to(&server);
            wire.0.write_all(&broken).unwrap();
            assert!(wire.is_closed(), "{stack}: {broken:?}");
        }
        // A header that breaks off, a body that does, and a client that says nothing.
        for begun in [&header(DATA, SYN, 1, 161)[..7], &header(DATA, SYN, 1, 161)[..], &[]] {
            let mut wire = Wire::to(&server);
            wire.0.write_all(begun).unwrap();
        }
        let mut vanishes = Wire::to(&server);
        vanishes.send(SYN, 1, &request()[..100]);
        drop(vanishes);
        if stack == "mux" {
            still_answers(&server);
        } else {
            let mut wire = Wire::to(&server);
            wire.send(SYN, 1, &framed(&request()));
            assert!(is_answer(&wire.next().unwrap().body[4..]));
        }
    }
}
