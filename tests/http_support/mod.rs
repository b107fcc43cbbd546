//! Arms of the HTTP study on threads of their own, for tests that speak to them.

#![allow(dead_code, reason = "each test takes what it needs")]
#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use votebench::http::Study;
use votebench::measure::arm::{Arm, ArmVisitor, Arms, CancellationToken, Exchange, Wait, WaitingRuntime};
use votebench::measure::http_server;

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// An arm's server; stopped when this goes.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    shutdown: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.cancel();
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

struct Start;

impl ArmVisitor for Start {
    type Output = Running;

    fn visit<A: Arm>(self) -> Running {
        let (sender, bound) = channel();
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        let thread = std::thread::spawn(move || {
            let serving = async move {
                let (listener, address) = http_server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
                sender.send(address).unwrap();
                http_server::serve::<A>(listener, stop, |_, _| {}).await;
            };
            WaitingRuntime::new(Wait::Block).unwrap().run(serving).unwrap();
        });
        Running { address: bound.recv().unwrap(), shutdown, thread: Some(thread) }
    }
}

/// Starts the server of `arm`.
pub(crate) fn start(arm: &str) -> Running {
    Study.visit(arm, Start).unwrap()
}

struct Ask {
    address: SocketAddr,
    workload: String,
    times: usize,
}

impl ArmVisitor for Ask {
    type Output = Result<(), String>;

    fn visit<A: Arm>(self) -> Result<(), String> {
        let asking = async move {
            let mut client = A::connect(self.address, &self.workload).await?;
            for _ in 0..self.times {
                tokio::time::timeout(PATIENCE, client.exchange()).await.map_err(|_| "no answer".to_owned())??;
            }
            Ok(())
        };
        WaitingRuntime::new(Wait::Block).unwrap().run(asking).unwrap()
    }
}

/// Lets the client of `arm` ask the server at `address` for `workload`, so many times.
pub(crate) fn ask(arm: &str, address: SocketAddr, workload: &str, times: usize) -> Result<(), String> {
    Study.visit(arm, Ask { address, workload: workload.to_owned(), times }).unwrap()
}

/// What a connection carried in each direction.
pub(crate) type ToAndFro = (Vec<u8>, Vec<u8>);

/// Stands between a client and the server at `address`, and gives for every connection what went to and fro.
pub(crate) fn recorder(address: SocketAddr) -> (SocketAddr, Receiver<ToAndFro>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap();
    let (sender, recorded) = channel();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(address).unwrap());
            // Nobody waits 40 ms here for what is passed on in pieces.
            for stream in [&client, &server] {
                stream.set_nodelay(true).unwrap();
            }
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let requests = std::thread::spawn(move || pump(from, to));
            let sender = sender.clone();
            std::thread::spawn(move || {
                let responses = pump(server, client);
                // A test that has seen enough listens no more.
                let _ = sender.send((requests.join().unwrap(), responses));
            });
        }
    });
    (here, recorded)
}

fn pump(mut from: TcpStream, mut to: TcpStream) -> Vec<u8> {
    let (mut all, mut room) = (Vec::new(), [0; 4_096]);
    while let Ok(count @ 1..) = from.read(&mut room) {
        all.extend_from_slice(&room[..count]);
        if to.write_all(&room[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    all
}

/// A plain connection to a server.
pub(crate) struct Raw(pub(crate) TcpStream);

impl Raw {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(stream)
    }

    /// Sends; a server that has refused something already may be gone.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes);
    }

    /// Everything up to the end of the connection.
    pub(crate) fn rest(mut self) -> Vec<u8> {
        let mut all = Vec::new();
        self.0.read_to_end(&mut all).unwrap();
        all
    }

    pub(crate) fn exactly(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// One response: its head in lower case, and its body.
    pub(crate) fn response(&mut self, bodiless: bool) -> (String, Vec<u8>) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.extend(self.exactly(1));
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map(|n| n.parse().unwrap());
        let body = self.exactly(if bodiless { 0 } else { length.unwrap_or(0) });
        (head, body)
    }
}
