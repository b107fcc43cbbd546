//! The QUIC stacks as a stranger meets them: with quinn and rustls by hand, and with what is not allowed.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ConnectionError, Endpoint, ReadError, ReadToEndError};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use votebench::codec;
use votebench::transport::config::{Identity, Log};
use votebench::transport::{
    self, CancellationToken, ClientConfig, Connection, Payload, Server, ServerConfig, Transport, TransportError,
    Visitor, Wait,
};
use votebench::vote::{Vote, corpus};

const ALPN: &[u8] = b"votebench/1";
const LIMIT: u64 = 64 << 10;

fn payload() -> Payload {
    Payload::Codec("quic-raw".to_owned())
}

/// Where a server listens, and the certificate that it shows.
#[derive(Clone)]
struct Bound {
    address: SocketAddr,
    certificate_pem: String,
}

/// Starts a server on a thread of its own, runs a client's side on this one, and stops the server.
struct Against<C>(Option<Identity>, C);

impl<C, F> Visitor for Against<C>
where
    C: FnOnce(Bound) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    type Output = ();

    fn visit<T: Transport>(self) {
        let Self(identity, client) = self;
        let stop = CancellationToken::new();
        let (sender, bound) = std::sync::mpsc::channel();
        let shutdown = stop.clone();
        let server = std::thread::spawn(move || {
            let config =
                ServerConfig { identity, log: Log::Silent, max_message_bytes: LIMIT, ..ServerConfig::new(payload()) };
            let serving = async move {
                let server = T::bind(config).await.unwrap();
                let address = server.address().socket().unwrap();
                sender.send(Bound { address, certificate_pem: server.certificate_pem().unwrap() }).unwrap();
                server.serve(shutdown).await
            };
            transport::wait::WaitingRuntime::new(Wait::Block).unwrap().run(serving).unwrap().unwrap();
        });
        let talking = client(bound.recv_timeout(Duration::from_secs(10)).unwrap());
        let within = async move { tokio::time::timeout(Duration::from_secs(20), talking).await.expect("no answer") };
        transport::wait::WaitingRuntime::new(Wait::Block).unwrap().run(within).unwrap();
        stop.cancel();
        server.join().unwrap();
    }
}

fn against<C, F>(stack: &str, client: C)
where
    C: FnOnce(Bound) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    transport::visit(stack, Against(None, client)).unwrap();
}

/// A connection that is made by hand.
async fn dial(bound: &Bound, alpn: &[u8]) -> Result<quinn::Connection, ConnectionError> {
    dial_with(bound, alpn, quinn::TransportConfig::default()).await
}

async fn dial_with(
    bound: &Bound,
    alpn: &[u8],
    transport: quinn::TransportConfig,
) -> Result<quinn::Connection, ConnectionError> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(bound.certificate_pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut crypto = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    crypto.alpn_protocols = vec![alpn.to_vec()];
    let mut config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(crypto).unwrap()));
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client("0.0.0.0:0".parse().unwrap()).unwrap();
    // By name this time, and with a server name in the handshake.
    endpoint.connect_with(config, bound.address, "localhost").unwrap().await
}

/// A vote on the wire, and what must come back.
fn request_and_answer() -> (Vec<u8>, Vec<u8>) {
    let (mut client, mut server) = (payload().requester().unwrap(), payload().responder().unwrap());
    let request = client.request(&corpus::votes(1, 3)[0]).unwrap().to_vec();
    let answer = server.respond(&request).unwrap().to_vec();
    (request, answer)
}

/// Sends `message` on a stream of its own and reads what comes.
async fn ask(connection: &quinn::Connection, message: &[u8]) -> Result<Vec<u8>, ReadToEndError> {
    let (mut send, mut receive) = connection.open_bi().await.unwrap();
    // The server may give the stream up before it has read everything.
    if send.write_all(message).await.is_ok() {
        let _ = send.finish();
    }
    receive.read_to_end(1 << 20).await
}

fn reset_code(outcome: Result<Vec<u8>, ReadToEndError>) -> u64 {
    match outcome {
        Err(ReadToEndError::Read(ReadError::Reset(code))) => code.into_inner(),
        other => panic!("not reset: {other:?}"),
    }
}

#[test]
fn another_alpn_is_refused() {
    for stack in ["quic", "quic-stream", "quic-datagram"] {
        against(stack, |bound| async move {
            // 120 is TLS's alert no_application_protocol; QUIC carries it as 0x100 and more.
            match dial(&bound, b"h3").await {
                Err(ConnectionError::ConnectionClosed(close)) => {
                    assert_eq!(u64::from(close.error_code), 0x178, "{close}");
                }
                other => panic!("{other:?}"),
            }
            assert!(dial(&bound, ALPN).await.is_ok());
        });
    }
}

/// Connects with `authority_pem`, and exchanges one vote.
struct Exchange(SocketAddr, Option<String>);

impl Visitor for Exchange {
    type Output = std::pin::Pin<Box<dyn Future<Output = Result<(), TransportError>> + Send>>;

    fn visit<T: Transport>(self) -> Self::Output {
        let config =
            ClientConfig { authority_pem: self.1, ..ClientConfig::new(transport::Address::Socket(self.0), payload()) };
        Box::pin(async move {
            let mut connection = T::connect(config).await?;
            connection.exchange(&Vote::canonical()).await
        })
    }
}

async fn exchange(stack: &str, bound: &Bound, authority_pem: Option<String>) -> Result<(), TransportError> {
    transport::visit(stack, Exchange(bound.address, authority_pem)).unwrap().await
}

fn identity(names: &[&str]) -> Identity {
    let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
    Identity { certificate_pem: cert.pem(), key_pem: signing_key.serialize_pem() }
}

#[test]
fn a_client_with_another_authority_refuses_the_server() {
    for stack in ["tls", "quic", "quic-stream", "quic-datagram"] {
        against(stack, move |bound| async move {
            let other = identity(&["localhost", "127.0.0.1"]).certificate_pem;
            for authority in [Some(other), None] {
                let error = exchange(stack, &bound, authority).await.unwrap_err();
                assert!(matches!(error, TransportError::Connect(_) | TransportError::Certificate(_)), "{error}");
            }
            exchange(stack, &bound, Some(bound.certificate_pem.clone())).await.unwrap();
        });
    }
}

#[test]
fn the_users_certificate_is_shown_and_believed() {
    for stack in ["tls", "quic"] {
        let identity = identity(&["validator.example"]);
        let client = move |bound: Bound| async move {
            exchange(stack, &bound, Some(bound.certificate_pem.clone())).await.unwrap();
        };
        transport::visit(stack, Against(Some(identity), client)).unwrap();
    }
}

#[test]
fn a_bad_stream_is_reset_and_the_next_is_answered() {
    against("quic", |bound| async move {
        let connection = dial(&bound, ALPN).await.unwrap();
        let (request, answer) = request_and_answer();
        let long = vec![0x5a; usize::try_from(LIMIT).unwrap() + 1];
        let header: Vec<u8> = [&[0xff; 4], &request[4..]].concat();
        let bad: [(&[u8], u64); 5] =
            [(b"garbage", 1), (&request[..request.len() - 1], 1), (&header, 1), (&long, 2), (&[], 3)];
        for (message, code) in bad {
            assert_eq!(reset_code(ask(&connection, message).await), code, "{} bytes", message.len());
            assert_eq!(ask(&connection, &request).await.unwrap(), answer);
        }
    });
}

#[test]
fn a_slow_stream_holds_up_no_other() {
    against("quic", |bound| async move {
        let connection = dial(&bound, ALPN).await.unwrap();
        let (request, answer) = request_and_answer();
        let (mut send, mut receive) = connection.open_bi().await.unwrap();
        for byte in &request {
            send.write_all(&[*byte]).await.unwrap();
            assert_eq!(ask(&connection, &request).await.unwrap(), answer);
        }
        send.finish().unwrap();
        assert_eq!(receive.read_to_end(1 << 20).await.unwrap(), answer);
    });
}

#[test]
fn answers_that_nobody_reads_hold_up_only_their_streams() {
    against("quic", |bound| async move {
        // No answer fits the window of its stream, so that the server has to finish every one of them later.
        let mut narrow = quinn::TransportConfig::default();
        narrow.stream_receive_window(100_u32.into());
        let connection = dial_with(&bound, ALPN, narrow).await.unwrap();
        let (request, answer) = request_and_answer();
        assert!(answer.len() > 100);
        let mut streams = Vec::new();
        for _ in 0..1_000 {
            let (mut send, receive) = connection.open_bi().await.unwrap();
            send.write_all(&request).await.unwrap();
            send.finish().unwrap();
            streams.push(receive);
        }
        assert_eq!(ask(&connection, &request).await.unwrap(), answer);
        for mut receive in streams.into_iter().rev() {
            assert_eq!(receive.read_to_end(1 << 20).await.unwrap(), answer);
        }
    });
}

#[test]
fn a_bad_message_costs_the_long_stream_and_not_the_connection() {
    against("quic-stream", |bound| async move {
        let connection = dial(&bound, ALPN).await.unwrap();
        let (request, answer) = request_and_answer();
        let framed = |message: &[u8]| [&u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat();
        for (message, code) in [(framed(b"garbage"), 1), (vec![0xff; 8], 2), (vec![0; 4], 3)] {
            assert_eq!(reset_code(ask(&connection, &message).await), code);
            let two = [framed(&request), framed(&request)].concat();
            assert_eq!(ask(&connection, &two).await.unwrap(), [framed(&answer), framed(&answer)].concat());
        }
    });
}

#[test]
fn a_bad_datagram_costs_the_connection_and_not_the_server() {
    against("quic-datagram", |bound| async move {
        let (request, answer) = request_and_answer();
        let connection = dial(&bound, ALPN).await.unwrap();
        connection.send_datagram(b"garbage".to_vec().into()).unwrap();
        match connection.closed().await {
            ConnectionError::ApplicationClosed(close) => assert_eq!(close.error_code.into_inner(), 1, "{close}"),
            other => panic!("{other}"),
        }
        let connection = dial(&bound, ALPN).await.unwrap();
        connection.send_datagram(request.into()).unwrap();
        assert_eq!(connection.read_datagram().await.unwrap(), answer);
    });
}

#[test]
fn a_client_is_told_what_was_wrong_with_its_message() {
    let name = codec::all().into_iter().map(|codec| codec.name().to_owned()).find(|name| name == "zap").unwrap();
    for stack in ["quic", "quic-stream", "quic-datagram"] {
        let name = name.clone();
        against(stack, move |bound| async move {
            let error = transport::visit(stack, Mismatched(bound, name)).unwrap().await.unwrap_err();
            assert!(matches!(error, TransportError::Stack(_)), "{error:?}");
            assert!(error.to_string().contains("no vote"), "{error}");
        });
    }
}

/// A client that speaks another codec than the server.
struct Mismatched(Bound, String);

impl Visitor for Mismatched {
    type Output = std::pin::Pin<Box<dyn Future<Output = Result<(), TransportError>> + Send>>;

    fn visit<T: Transport>(self) -> Self::Output {
        let config = ClientConfig {
            authority_pem: Some(self.0.certificate_pem),
            ..ClientConfig::new(transport::Address::Socket(self.0.address), Payload::Codec(self.1))
        };
        Box::pin(async move {
            let mut connection = T::connect(config).await?;
            connection.exchange(&Vote::canonical()).await
        })
    }
}
