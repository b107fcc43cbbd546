//! Bad clients of the QUIC stacks, in one loop over those that are registered: whatever they do to `votebench serve`, the next
//! good client is answered and memory stays bounded. They speak QUIC by quinn and are bad inside it; and there are some who do
//! not speak it at all.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod attacked;

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use attacked::{ANNOUNCED, ANNOUNCING, Memory, Serve, is_udp, noise, protocols};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{Connection, Endpoint};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use votebench::protocol::Protocol;
use votebench::transport::Address;
use votebench::vote::Vote;

/// Connections that are open at once.
const CROWD: usize = 1_000;

/// Bytes that a connection may hold in RAM: the library sets aside a place for every stream that it lets a client open.
const CONNECTION: u64 = 512 << 10;

/// A client by quinn; all of its connections share one socket.
struct Dialler {
    endpoint: Endpoint,
    config: quinn::ClientConfig,
    server: SocketAddr,
}

impl Dialler {
    fn new(serve: &Serve) -> Self {
        let Address::Socket(server) = serve.address else { panic!("a QUIC server is at a port") };
        let mut roots = rustls::RootCertStore::empty();
        let certificate = serve.authority_pem.as_ref().unwrap();
        roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut crypto = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        crypto.alpn_protocols = vec![b"votebench/1".to_vec()];
        let config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(crypto).unwrap()));
        Self { endpoint: Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap(), config, server }
    }

    async fn dial(&self) -> Connection {
        self.endpoint.connect_with(self.config.clone(), self.server, "localhost").unwrap().await.unwrap()
    }
}

/// A message as it lies on a stream of `transport`, or in a datagram.
fn message(protocol: &Protocol) -> Vec<u8> {
    let message = votebench::codec::by_name("zap").unwrap().encode(&Vote::canonical()).unwrap().to_vec();
    if protocol.transport == "quic-stream" { [&161_u32.to_be_bytes()[..], &message].concat() } else { message }
}

/// Whether `transport` takes streams at all.
fn has_streams(protocol: &Protocol) -> bool {
    protocol.transport != "quic-datagram"
}

/// Sends `bytes` on a connection of its own and lets the server say what it will; a message that it refuses may cost the
/// stream or the connection.
async fn send(dialler: &Dialler, protocol: &Protocol, bytes: &[u8]) {
    let connection = dialler.dial().await;
    if has_streams(protocol) {
        let (mut send, mut receive) = connection.open_bi().await.unwrap();
        if send.write_all(bytes).await.is_ok() {
            let _ = send.finish();
        }
        let _ = tokio::time::timeout(Duration::from_secs(2), receive.read_to_end(1 << 20)).await;
    } else {
        let length = bytes.len().min(connection.max_datagram_size().unwrap());
        connection.send_datagram(bytes[..length].to_vec().into()).unwrap();
        let _ = tokio::time::timeout(Duration::from_millis(300), connection.read_datagram()).await;
    }
}

/// A connection that stays open with `bytes` on a stream that does not end.
async fn begin(dialler: &Dialler, bytes: &[u8]) -> (Connection, quinn::SendStream) {
    let connection = dialler.dial().await;
    let (mut send, _) = connection.open_bi().await.unwrap();
    send.write_all(bytes).await.unwrap();
    (connection, send)
}

/// Sends what is no vote.
async fn send_garbage(dialler: &Dialler, protocol: &Protocol) {
    let good = message(protocol);
    send(dialler, protocol, &noise(100_000)).await;
    for length in [0, 1, 3, 4, 5, good.len() / 2, good.len() - 1] {
        send(dialler, protocol, &good[..length]).await;
    }
    send(dialler, protocol, &[&[0xff; 4][..], &noise(1_000)].concat()).await;
    let mut damaged = good.clone();
    damaged[good.len() - 161..].copy_from_slice(&noise(161));
    send(dialler, protocol, &damaged).await;
}

/// What is not QUIC, and what only looks like it.
fn send_datagrams(serve: &Serve) {
    let Address::Socket(server) = serve.address else { panic!("a QUIC server is at a port") };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for length in [0, 1, 20, 161, 1_200, 1_472, 60_000] {
        for _ in 0..50 {
            socket.send_to(&noise(length), server).unwrap();
        }
    }
    // The form of an initial packet, with nothing in it that could be decrypted.
    let mut initial = noise(1_200);
    initial[..6].copy_from_slice(&[0xc3, 0, 0, 0, 1, 8]);
    for _ in 0..1_000 {
        socket.send_to(&initial, server).unwrap();
    }
}

fn attack(serve: &Serve, protocol: &Protocol, before: Memory) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let check_among = |connections: usize, what: &str| {
        serve.good_client(protocol, what);
        let bytes = connections as u64 * CONNECTION;
        serve.is_bounded(before, Memory { resident: bytes, mapped: bytes }, &protocol.name, what);
    };
    let check = |what: &str| check_among(0, what);
    let good = message(protocol);
    let _inside = runtime.enter();
    let dialler = Dialler::new(serve);

    send_datagrams(serve);
    check("random datagrams");
    for _ in 0..100 {
        // Each begins a handshake on a socket of its own, and vanishes before it can be answered.
        let vanishing = Dialler::new(serve);
        let connecting = vanishing.endpoint.connect_with(vanishing.config.clone(), vanishing.server, "localhost");
        runtime
            .block_on(async { tokio::time::timeout(Duration::from_millis(1), connecting.unwrap()).await.map(drop) })
            .ok();
    }
    check("clients that vanish in mid-handshake");
    runtime.block_on(send_garbage(&dialler, protocol));
    check("garbage and truncated messages");

    let silent = runtime.block_on(dialler.dial());
    check("a client that says nothing");
    let mut open = Vec::new();
    if has_streams(protocol) {
        let (slow, mut stream) = runtime.block_on(begin(&dialler, &good[..1]));
        for byte in &good[1..20] {
            runtime.block_on(async {
                stream.write_all(&[*byte]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            });
        }
        check("a client that sends one byte at a time");
        open.push((slow, stream));
        for _ in 0..20 {
            drop(runtime.block_on(begin(&dialler, &good[..good.len() * 2 / 3])));
        }
        // They have not said that they go, so that the server still believes in them.
        check_among(20, "clients that vanish in mid-message");
        for _ in 0..ANNOUNCING {
            open.push(runtime.block_on(begin(&dialler, &[&ANNOUNCED.to_be_bytes()[..], &[0]].concat())));
        }
        check_among(open.len(), "lengths that nothing follows");
    }
    let crowd = runtime.block_on(async {
        let mut crowd = Vec::new();
        while crowd.len() < CROWD {
            crowd.push(dialler.dial().await);
        }
        crowd
    });
    assert!(crowd.iter().all(|connection| connection.close_reason().is_none()), "some were turned away");
    check_among(CROWD + open.len(), "a thousand connections at once");
    drop((crowd, open, silent));
}

#[test]
fn a_server_outlives_its_bad_clients() {
    let mut attacked = 0;
    for protocol in protocols().into_iter().filter(is_udp) {
        let serve = Serve::start(&protocol);
        serve.good_client(&protocol, "nothing at all");
        let before = serve.memory();
        attack(&serve, &protocol, before);
        serve.stop(&protocol.name);
        attacked += 1;
    }
    assert!(attacked >= 4, "only {attacked} stacks were attacked");
}
