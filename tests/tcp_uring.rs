//! `tcp-uring` on the wire: it is `tcp`, to its clients and to its servers; it keeps its deadline, and its threads end.
#![cfg(feature = "net")]
#![allow(clippy::unwrap_used)]

mod served;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use votebench::codec;
use votebench::transport::wait::WaitingRuntime;
use votebench::transport::{
    self, Address, ClientConfig, Connection, Payload, Transport, TransportError, Visitor, Wait,
};
use votebench::vote::{Vote, corpus};

use served::{Running, framed, zap};

/// A server, or nothing where this machine has no io_uring.
fn start(stack: &str, payload: Payload, wait: Wait) -> Option<Running> {
    match served::start(stack, payload, wait, 1 << 20) {
        Ok(running) => Some(running),
        Err(TransportError::Unsupported(reason)) => {
            eprintln!("not tested: {reason}");
            None
        }
        Err(error) => panic!("{stack}: {error}"),
    }
}

/// So many round trips of a client of a stack, on a runtime that blocks.
struct Exchange(ClientConfig, usize);

impl Visitor for Exchange {
    type Output = Result<(), TransportError>;

    fn visit<T: Transport>(self) -> Self::Output {
        let Self(config, count) = self;
        let talking = async move {
            let mut connection = T::connect(config).await?;
            for vote in corpus::votes(count, 11) {
                connection.exchange(&vote).await?;
            }
            Ok(())
        };
        WaitingRuntime::new(Wait::Block).unwrap().run(talking).unwrap()
    }
}

fn exchange(stack: &str, address: SocketAddr, wait: Wait, deadline: Duration) -> Result<(), TransportError> {
    let config = ClientConfig { wait, deadline, ..ClientConfig::new(Address::Socket(address), zap()) };
    transport::visit(stack, Exchange(config, 300)).unwrap()
}

fn request() -> Vec<u8> {
    framed(codec::by_name("zap").unwrap().encode(&Vote::canonical()).unwrap())
}

#[test]
fn tcp_and_tcp_uring_understand_each_other() {
    for wait in Wait::ALL {
        for (server, client) in [("tcp-uring", "tcp"), ("tcp", "tcp-uring"), ("tcp-uring", "tcp-uring")] {
            let Some(running) = start(server, zap(), wait) else { return };
            let outcome = exchange(client, running.address, wait, Duration::from_secs(10));
            outcome.unwrap_or_else(|error| panic!("{client} to {server}, {wait:?}: {error}"));
        }
    }
}

#[test]
fn keeps_its_deadline_and_says_what_a_bad_server_did() {
    let Some(_) = start("tcp-uring", zap(), Wait::Block) else { return };
    let patience = Duration::from_millis(300);
    for wait in Wait::ALL {
        for (answer, closes) in [(&b""[..], false), (&b"\0\0\0\xa1ZA"[..], false), (b"", true), (b"\0\0", true)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.read_exact(&mut vec![0; request().len()]).unwrap();
                stream.write_all(answer).unwrap();
                if !closes {
                    // Until the client gives up, which it does by closing.
                    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
                }
            });
            let began = Instant::now();
            let error = exchange("tcp-uring", address, wait, patience).unwrap_err();
            match error {
                TransportError::Deadline(_) if !closes => assert!(began.elapsed() >= patience),
                TransportError::Closed | TransportError::Io(_) if closes => {}
                error => panic!("{wait:?} {answer:?}: {error}"),
            }
            assert!(began.elapsed() < 10 * patience, "{wait:?} {answer:?}: {:?}", began.elapsed());
            server.join().unwrap();
        }
    }
}

#[test]
fn sends_on_where_the_client_reads_late() {
    for wait in Wait::ALL {
        let Some(running) = start("tcp-uring", Payload::Opaque, wait) else { return };
        let mut stream = TcpStream::connect(running.address).unwrap();
        let message: Vec<u8> = (0..900_000_u32).map(|n| n.to_le_bytes()[1]).collect();
        let sent: Vec<u8> = std::iter::repeat_n(framed(&message), 12).flatten().collect();
        let mut writer = stream.try_clone().unwrap();
        let writing = {
            let sent = sent.clone();
            std::thread::spawn(move || writer.write_all(&sent).unwrap())
        };
        // By now the server has filled the kernel's buffers with answers and cannot send.
        std::thread::sleep(Duration::from_millis(300));
        let mut received = vec![0; sent.len()];
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.read_exact(&mut received).unwrap();
        assert!(received == sent, "{wait:?}: another echo");
        writing.join().unwrap();
    }
}

#[test]
fn a_bad_client_costs_its_connection_and_the_threads_end_with_the_server() {
    let Some(running) = start("tcp-uring", zap(), Wait::Block) else { return };
    for bad in [framed(&[0xa5; 161]), vec![0; 4], vec![0xff; 4]] {
        let mut stream = TcpStream::connect(running.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(&bad).unwrap();
        let said = stream.read(&mut [0; 16]);
        assert!(matches!(said, Ok(0)), "{bad:?}: {said:?}");
    }
    let mut vanishes = TcpStream::connect(running.address).unwrap();
    vanishes.write_all(&request()[..100]).unwrap();
    drop(vanishes);
    // One that says nothing, and one that has said half a message, are there when the server stops.
    let silent = TcpStream::connect(running.address).unwrap();
    let mut halting = TcpStream::connect(running.address).unwrap();
    halting.write_all(&request()[..100]).unwrap();
    exchange("tcp", running.address, Wait::Block, Duration::from_secs(10)).unwrap();
    let names = [&silent, &halting].map(|stream| format!("peer-{}", stream.local_addr().unwrap().port()));
    assert!(names.iter().all(|name| is_thread(name)), "{names:?}");
    drop(running);
    let began = Instant::now();
    while names.iter().any(|name| is_thread(name)) {
        assert!(began.elapsed() < Duration::from_secs(5), "{names:?} live on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether this process has a thread of that name.
fn is_thread(name: &str) -> bool {
    let named = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(entry.unwrap().path().join("comm")).is_ok_and(|found| found.trim_end() == name)
    };
    std::fs::read_dir("/proc/self/task").unwrap().any(named)
}
