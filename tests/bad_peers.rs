//! Bad peers, for every registered stack in one loop: whatever a client does to `votebench serve`, the next good client is
//! answered and memory stays bounded; whatever a server does to `votebench latency`, it ends with one clear sentence, exit
//! status 3, and a results file that says so.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use votebench::measure::job::{self, Isolation};
use votebench::measure::pair::{self, Outcome, PairPlan};
use votebench::measure::processes::Stop;
use votebench::protocol::{self, Protocol};
use votebench::transport::wait::WaitingRuntime;
use votebench::transport::{
    self, Address, ClientConfig, Connection, ServerConfig, Transport, TransportError, Visitor, Wait,
};
use votebench::vote::corpus;

const LIMIT: Duration = Duration::from_secs(10);

/// A protocol for every stack that other processes can reach: the codec that it prescribes, or ZAP.
fn protocols() -> Vec<Protocol> {
    let reachable = transport::all().into_iter().filter(|info| info.name != "memory");
    reachable
        .map(|info| protocol::by_name(&format!("{}+{}", info.codec.unwrap_or("zap"), info.name)).unwrap())
        .filter(is_supported)
        .collect()
}

/// Whether this machine has what the stack needs: not every kernel lets io_uring be used.
fn is_supported(protocol: &Protocol) -> bool {
    let config = ServerConfig::new(protocol.payload.clone());
    transport::visit(&protocol.transport, Supported(config)).unwrap()
}

struct Supported(ServerConfig);

impl Visitor for Supported {
    type Output = bool;

    fn visit<T: Transport>(self) -> bool {
        let runtime = WaitingRuntime::new(Wait::Block).unwrap();
        !matches!(runtime.run(T::bind(self.0)).unwrap(), Err(TransportError::Unsupported(_)))
    }
}

fn is_udp(protocol: &Protocol) -> bool {
    protocol.transport.starts_with("quic")
}

/// `votebench serve`, ended by SIGTERM.
struct Serve {
    child: Child,
    address: Address,
    authority_pem: Option<String>,
    _folder: tempfile::TempDir,
}

impl Serve {
    fn start(protocol: &Protocol) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let certificate = folder.path().join("certificate.pem");
        let secure = transport::info(&protocol.transport).unwrap().secure;
        let mut command = Command::new(env!("CARGO_BIN_EXE_votebench"));
        command.args(["serve", "--protocol", &protocol.name]);
        if secure {
            command.arg("--cert-out").arg(&certificate);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix(&format!("{} listening on ", protocol.name)).unwrap().trim().parse().unwrap();
        let authority_pem = secure.then(|| std::fs::read_to_string(&certificate).unwrap());
        Self { child, address, authority_pem, _folder: folder }
    }

    fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
    }

    fn good_client(&self, protocol: &Protocol, what: &str) {
        let config = ClientConfig {
            authority_pem: self.authority_pem.clone(),
            ..ClientConfig::new(self.address.clone(), protocol.payload.clone())
        };
        let outcome = transport::visit(&protocol.transport, GoodClient(config)).unwrap();
        outcome.unwrap_or_else(|error| panic!("{} after {what}: {error}", protocol.name));
    }

    /// SIGTERM, and a clean end.
    fn stop(mut self, name: &str) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        for _ in 0..100 {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{name}: {status}");
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{name} does not stop on SIGTERM");
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Connects and exchanges a few votes.
struct GoodClient(ClientConfig);

impl Visitor for GoodClient {
    type Output = Result<(), String>;

    fn visit<T: Transport>(self) -> Self::Output {
        let runtime = WaitingRuntime::new(Wait::Block).unwrap();
        let talking = async move {
            let mut connection = T::connect(self.0).await?;
            for vote in corpus::votes(3, 11) {
                connection.exchange(&vote).await?;
            }
            Ok::<_, TransportError>(())
        };
        let outcome = runtime.run(async move { tokio::time::timeout(LIMIT, talking).await }).unwrap();
        outcome.map_err(|_| "no answer".to_owned())?.map_err(|error| error.to_string())
    }
}

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

/// Bytes that look like nothing.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[1]
    };
    (0..length).map(|_| next(&mut state)).collect()
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

/// Sends `bytes`, ends the stream, and reads whatever comes until the server closes or says nothing more.
fn send(address: &Address, bytes: &[u8]) {
    let mut stream = open(address);
    // The server may close before it has read everything.
    let _ = stream.write_all(bytes);
    stream.end();
    let mut room = [0; 4_096];
    while matches!(stream.read(&mut room), Ok(1..)) {}
}

fn attack_stream(serve: &Serve, protocol: &Protocol) {
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

    let crowd: Vec<_> = (0..1_000).map(|_| open(&serve.address)).collect();
    check(&format!("{} connections at once", crowd.len()));
    drop((crowd, silent, slow));
    check(&format!("everything that was done to {name}"));
}

fn attack_datagrams(serve: &Serve, protocol: &Protocol) {
    let Address::Socket(server) = serve.address else { panic!("{} is not at a port", protocol.name) };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for length in [0, 1, 20, 161, 1_200, 1_472, 60_000] {
        for _ in 0..50 {
            socket.send_to(&noise(length), server).unwrap();
        }
    }
    // The form of a QUIC initial packet, with nothing in it that could be decrypted.
    let mut initial = noise(1_200);
    initial[..6].copy_from_slice(&[0xc3, 0, 0, 0, 1, 8]);
    for _ in 0..1_000 {
        socket.send_to(&initial, server).unwrap();
    }
    serve.good_client(protocol, "random datagrams");
    for _ in 0..100 {
        // Each begins a handshake and vanishes.
        let config = ClientConfig {
            deadline: Duration::from_millis(1),
            authority_pem: serve.authority_pem.clone(),
            ..ClientConfig::new(serve.address.clone(), protocol.payload.clone())
        };
        transport::visit(&protocol.transport, Abandon(config)).unwrap();
    }
    serve.good_client(protocol, "clients that vanish in mid-handshake");
}

/// Begins to connect and goes away.
struct Abandon(ClientConfig);

impl Visitor for Abandon {
    type Output = ();

    fn visit<T: Transport>(self) {
        let runtime = WaitingRuntime::new(Wait::Block).unwrap();
        let _ = runtime.run(async move {
            tokio::time::timeout(Duration::from_millis(1), T::connect(self.0)).await.map(|connected| connected.is_ok())
        });
    }
}

#[test]
fn a_server_outlives_its_bad_clients() {
    for protocol in protocols() {
        let serve = Serve::start(&protocol);
        serve.good_client(&protocol, "nothing at all");
        let before = serve.resident_bytes();
        if is_udp(&protocol) {
            attack_datagrams(&serve, &protocol)
        } else {
            attack_stream(&serve, &protocol)
        }
        let grown = serve.resident_bytes().saturating_sub(before);
        assert!(grown < 100 << 20, "{}: {grown} bytes more than before", protocol.name);
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
