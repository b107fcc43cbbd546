//! Bad peers, for every registered stack in one loop: whatever a client of a byte stream does to `votebench serve`, the next
//! good client is answered and memory stays bounded; whatever a server does to `votebench latency`, it ends with one clear
//! sentence, exit status 3, and a results file that says so. QUIC's bad clients are in a file of their own.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod attacked;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use attacked::{ANNOUNCED, ANNOUNCING, GoodClient, LIMIT, Memory, Serve, is_udp, noise, protocols};
use votebench::measure::job::{self, Isolation};
use votebench::measure::pair::{self, Outcome, PairPlan};
use votebench::measure::processes::Stop;
use votebench::protocol::{self, Protocol};
use votebench::transport::{self, Address, ClientConfig, Wait};
use votebench::vote::corpus;

/// A byte stream to a server, of either family.
trait Stream: Read + Write {
    fn end(&self);
}

impl Stream for TcpStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

impl Stream for UnixStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

fn open(address: &Address) -> Box<dyn Stream> {
    match address {
        Address::Socket(address) => {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            Box::new(stream)
        }
        Address::Path(path) => {
            let stream = UnixStream::connect(path).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            Box::new(stream)
        }
        Address::Memory(_) => panic!("no other process gets there"),
    }
}

/// What a good client of a byte stream sends, taken down by a relay in between.
fn conversation(serve: &Serve, protocol: &Protocol) -> Vec<u8> {
    let Address::Socket(server) = serve.address else { return zap_frames() };
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = relay.local_addr().unwrap();
    let (sender, taken) = mpsc::channel();
    let relaying = thread::spawn(move || {
        let (near, _) = relay.accept().unwrap();
        let far = TcpStream::connect(server).unwrap();
        let (mut back_from, mut back_to) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        let back = thread::spawn(move || {
            let _ = std::io::copy(&mut back_from, &mut back_to);
            let _ = back_to.shutdown(Shutdown::Both);
        });
        let (mut from, mut to) = (near, far);
        let mut buffer = [0; 65_536];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            sender.send(buffer[..length].to_vec()).unwrap();
            to.write_all(&buffer[..length]).unwrap();
        }
        let _ = to.shutdown(Shutdown::Both);
        back.join().unwrap();
    });
    let config = ClientConfig {
        authority_pem: serve.authority_pem.clone(),
        ..ClientConfig::new(Address::Socket(address), protocol.payload.clone())
    };
    transport::visit(&protocol.transport, GoodClient(config)).unwrap().unwrap();
    relaying.join().unwrap();
    taken.into_iter().flatten().collect()
}

/// Three ZAP votes behind their lengths.
fn zap_frames() -> Vec<u8> {
    let mut codec = votebench::codec::by_name("zap").unwrap();
    let mut bytes = Vec::new();
    for vote in corpus::votes(3, 11) {
        let message = codec.encode(&vote).unwrap();
        bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
        bytes.extend(message);
    }
    bytes
}

/// What announces a message of the greatest length in the stack's own way, and one byte of it; `None` for TLS, which reads
/// nothing that is not encrypted.
fn announcement(protocol: &Protocol, good: &[u8]) -> Option<Vec<u8>> {
    let length = ANNOUNCED.to_be_bytes();
    // yamux: a data frame that opens stream 1 and has five bytes.
    let yamux = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5];
    match protocol.transport.as_str() {
        "tls" => None,
        "mux" | "mux-plain" => Some([&[0, 0, 0, 1, 0, 0, 0, 1][..], &length, &[0]].concat()),
        "mux-stream" | "mux-stream-plain" => Some([&yamux[..], &length, &[0]].concat()),
        "grpc" | "grpc-stream" => Some(grpc_announcement(good)),
        http if http.starts_with("jsonrpc-http") => {
            let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
            Some(format!("{head}Content-Length: {ANNOUNCED}\r\n\r\n{{").into_bytes())
        }
        websocket if websocket.starts_with("jsonrpc-ws") => {
            let head = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
            let head =
                format!("{head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
            // A masked text frame whose length has eight bytes.
            Some([head.as_bytes(), &[0x81, 0xff, 0, 0, 0, 0], &length, &[0; 5]].concat())
        }
        _ => Some([&length[..], &[0]].concat()),
    }
}

/// A good client's bytes up to its first vote, whose gRPC prefix announces more, in a DATA frame that does not end the stream.
fn grpc_announcement(good: &[u8]) -> Vec<u8> {
    let frame = |at: usize| good.get(at..at + 14).map(|head| (usize::from(head[1]) << 8 | usize::from(head[2]), head));
    // DATA, with a prefix that says as much as the frame's own length does.
    let is_vote = |at: &usize| {
        frame(*at).is_some_and(|(length, head)| {
            head[0] == 0 && head[3] == 0 && length > 100 && head[9..13] == [0; 4] && usize::from(head[13]) + 5 == length
        })
    };
    let at = (0..good.len()).find(is_vote).unwrap();
    let mut bytes = good[..at + 9 + 5 + 100].to_vec();
    (bytes[at + 1], bytes[at + 2], bytes[at + 4]) = (0, 105, 0);
    bytes[at + 10..at + 14].copy_from_slice(&ANNOUNCED.to_be_bytes());
    bytes
}

/// Sends `bytes`, ends the stream, and reads whatever comes until the server closes or says nothing more.
fn send(address: &Address, bytes: &[u8]) {
    let mut stream = open(address);
    // The server may close before it has read everything.
    let _ = stream.write_all(bytes);
    stream.end();
    let mut room = [0; 4_096];
    while matches!(stream.read(&mut room), Ok(1..)) {}
}

fn attack_stream(serve: &Serve, protocol: &Protocol, before: Memory) {
    let good = conversation(serve, protocol);
    let name = &protocol.name;
    let check = |what: &str| serve.good_client(protocol, what);

    send(&serve.address, &noise(100_000));
    check("random bytes");
    for length in [1, 3, 4, 5, good.len() / 3, good.len() / 2, good.len() - 20, good.len() - 1] {
        send(&serve.address, &good[..length]);
    }
    check("truncated messages");
    send(&serve.address, &[&[0xff; 4][..], &noise(1_000)].concat());
    check("a frame of declared length 0xffffffff");
    send(&serve.address, &[&[0, 0, 0, 161][..], &noise(161)].concat());
    let mut damaged = good.clone();
    let tail = damaged.len() - 60;
    damaged[tail..].iter_mut().for_each(|byte| *byte ^= 0x55);
    send(&serve.address, &damaged);
    check("a valid frame that holds garbage");

    let mut slow = open(&serve.address);
    for byte in &good[..good.len().min(20)] {
        let _ = slow.write_all(&[*byte]);
        thread::sleep(Duration::from_millis(20));
    }
    check("a client that sends one byte at a time");
    let silent = open(&serve.address);
    check("a client that says nothing");
    for _ in 0..20 {
        let mut stream = open(&serve.address);
        let _ = stream.write_all(&good[..good.len() * 2 / 3]);
    }
    check("clients that vanish in mid-message");

    if let Some(announcement) = announcement(protocol, &good) {
        let announcing = || {
            let mut stream = open(&serve.address);
            stream.write_all(&announcement).unwrap();
            stream
        };
        let waiting: Vec<_> = (0..ANNOUNCING).map(|_| announcing()).collect();
        let what = format!("{} lengths of {ANNOUNCED} that nothing follows", waiting.len());
        // The server takes one after another; a good client comes after all of them.
        check(&what);
        if protocol.transport.starts_with("grpc") {
            // tonic sets room aside for what a prefix announces, up to the limit, and touches none of it.
            let half = ANNOUNCING as u64 * u64::from(ANNOUNCED) / 2;
            let mapped = serve.grown(before).mapped;
            assert!(mapped > half, "{name} sets nothing aside any more: say so in METHODOLOGY.md");
            serve.is_bounded(before, Memory { mapped, ..Memory::default() }, name, &what);
        } else {
            serve.is_bounded(before, Memory::default(), name, &what);
        }
    }

    let crowd: Vec<_> = (0..1_000).map(|_| open(&serve.address)).collect();
    check(&format!("{} connections at once", crowd.len()));
    // Those servers that have a thread a connection give each a stack.
    let stacks = Memory { mapped: crowd.len() as u64 * (4 << 20), ..Memory::default() };
    serve.is_bounded(before, stacks, name, "a crowd that is still there");
    drop((crowd, silent, slow));
    check(&format!("everything that was done to {name}"));
    // Their threads may take a while to end.
    serve.is_bounded(before, stacks, name, "everything that was done to it");
}

#[test]
fn a_server_outlives_its_bad_clients() {
    for protocol in protocols().into_iter().filter(|protocol| !is_udp(protocol)) {
        let serve = Serve::start(&protocol);
        serve.good_client(&protocol, "nothing at all");
        let before = serve.memory();
        attack_stream(&serve, &protocol, before);
        serve.stop(&protocol.name);
    }
}

/// How a server can be bad.
#[derive(Clone, Copy, Debug)]
enum Bad {
    Closes,
    Stalls,
    AnswersGarbage,
}

/// A server of nothing, at an address of its own, for as long as the process lives.
fn bad_server(bad: Bad, protocol: &Protocol) -> SocketAddr {
    if is_udp(protocol) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        thread::spawn(move || {
            let mut room = [0; 2_048];
            while let Ok((_, peer)) = socket.recv_from(&mut room) {
                if matches!(bad, Bad::AnswersGarbage) {
                    let _ = socket.send_to(&noise(1_200), peer);
                }
            }
        });
        return address;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            match bad {
                Bad::Closes => drop(stream),
                Bad::Stalls => kept.push(stream),
                Bad::AnswersGarbage => {
                    let _ = stream.read(&mut [0; 4_096]);
                    let _ = stream.write_all(&noise(10_000));
                    kept.push(stream);
                }
            }
        }
    });
    address
}

#[test]
fn a_client_says_what_was_wrong_with_its_server() {
    let served = protocols().into_iter().filter(|protocol| protocol.transport != "uds");
    for protocol in served {
        for bad in [Bad::Closes, Bad::Stalls, Bad::AnswersGarbage] {
            let address = bad_server(bad, &protocol);
            let plan = PairPlan {
                build: job::build(),
                isolation: Isolation::Process,
                protocol: protocol.clone(),
                wait: Wait::Block,
                client_core: None,
                server_core: None,
                connect: Some((Address::Socket(address), None)),
                max_message_bytes: 1 << 20,
                deadline: Duration::from_millis(600),
                warm_up: 10,
                blocks: 1,
                block: 10,
                count: false,
            };
            let began = Instant::now();
            let program = Path::new(env!("CARGO_BIN_EXE_votebench"));
            let Outcome::Failed(said) = pair::run(program, &plan, &Stop::default()) else {
                panic!("{} {bad:?}: it did not fail", protocol.name);
            };
            let what = format!("{} {bad:?}: {said}", protocol.name);
            assert!(said.contains(&protocol.name) && said.contains(&address.to_string()), "{what}");
            assert!(said.lines().count() == 1 && !said.contains("panicked"), "{what}");
            assert!(began.elapsed() < LIMIT, "{what}: after {:?}", began.elapsed());
        }
    }
}

#[test]
fn a_failed_row_is_kept_with_its_reason() {
    let protocol = protocol::by_name("zap").unwrap();
    let address = bad_server(Bad::Stalls, &protocol).to_string();
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_votebench"))
        .args(["latency", "--protocol", "zap", "--connect", &address, "--deadline", "0.5", "--quick", "--force"])
        .arg("--results")
        .arg(results.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let last = said.lines().last().unwrap();
    assert!(last.contains("zap") && last.contains(&address) && last.contains("no answer"), "{said}");
    let run = std::fs::read_dir(results.path()).unwrap().next().unwrap().unwrap().path();
    let run = votebench::result::read::run(&run).unwrap();
    let trips: Vec<_> = run.measurements.iter().filter(|m| m.metric == "round-trip").collect();
    assert_eq!(trips.len(), 2);
    for trip in trips {
        assert_eq!(trip.status, votebench::result::record::Status::Failed);
        assert!(trip.reason.as_deref().unwrap().contains(&address));
    }
}
