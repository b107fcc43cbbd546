//! Every registered stack, in one loop: it answers, it parts messages, it refuses what it should, and it stops.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::time::Duration;

use votebench::protocol::{self, Protocol};
use votebench::transport::config::Log;
use votebench::transport::wait::WaitingRuntime;
use votebench::transport::{
    self, Address, CancellationToken, ClientConfig, Connection, Server, ServerConfig, Transport, TransportError,
    Visitor, Wait,
};
use votebench::vote::corpus;

/// A protocol for every stack: the codec that it prescribes, or ZAP.
fn protocols() -> Vec<Protocol> {
    transport::all()
        .iter()
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

fn server_config(protocol: &Protocol, wait: Wait) -> ServerConfig {
    ServerConfig { wait, log: Log::Silent, ..ServerConfig::new(protocol.payload.clone()) }
}

/// `future`, or nothing after `limit`; made inside the runtime, which is where a timer can be.
async fn within<F: Future>(limit: Duration, future: F) -> Result<F::Output, tokio::time::error::Elapsed> {
    tokio::time::timeout(limit, future).await
}

/// Exchanges votes with a server of the same process and stops both.
struct RoundTrips(Protocol, Wait);

impl Visitor for RoundTrips {
    type Output = ();

    fn visit<T: Transport>(self) {
        let Self(protocol, wait) = self;
        let runtime = WaitingRuntime::new(if T::INFO.blocking { Wait::Block } else { wait }).unwrap();
        let name = protocol.name.clone();
        let served = std::thread::scope(|scope| {
            let (sender, bound) = std::sync::mpsc::channel::<(Address, Option<String>)>();
            let shutdown = CancellationToken::new();
            let (config, stop) = (server_config(&protocol, wait), shutdown.clone());
            let server = scope.spawn(move || {
                let serving = async move {
                    let server = T::bind(config).await?;
                    sender.send((server.address(), server.certificate_pem())).unwrap();
                    server.serve(stop).await
                };
                let on = WaitingRuntime::new(if T::INFO.blocking { Wait::Block } else { wait }).unwrap();
                on.run(within(Duration::from_secs(20), serving)).unwrap()
            });
            let (address, authority_pem) = bound.recv_timeout(Duration::from_secs(10)).unwrap();
            assert_eq!(authority_pem.is_some(), T::INFO.secure, "{name}");
            let config = ClientConfig { wait, authority_pem, ..ClientConfig::new(address, protocol.payload.clone()) };
            let talking = async move {
                let mut connection = T::connect(config).await?;
                for vote in corpus::votes(200, 7) {
                    connection.exchange(&vote).await?;
                }
                let traffic = connection.traffic().unwrap();
                assert!(traffic.sent_bytes >= 200 * 145 && traffic.received_bytes >= 200 * 145, "{traffic:?}");
                Ok::<_, TransportError>(())
            };
            let talked = runtime.run(within(Duration::from_secs(10), talking)).unwrap();
            talked
                .unwrap_or_else(|_| panic!("{name} {wait:?}: no answer"))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            shutdown.cancel();
            server.join().unwrap()
        });
        served.unwrap_or_else(|_| panic!("{} does not stop", protocol.name)).unwrap();
    }
}

#[test]
fn every_stack_answers_in_both_waits_and_stops() {
    for protocol in protocols() {
        for wait in Wait::ALL {
            let transport = protocol.transport.clone();
            transport::visit(&transport, RoundTrips(protocol.clone(), wait)).unwrap();
        }
    }
}

/// Connects where nobody listens.
struct Nobody(Protocol);

impl Visitor for Nobody {
    type Output = ();

    fn visit<T: Transport>(self) {
        let runtime = WaitingRuntime::new(Wait::Block).unwrap();
        let name = self.0.name.clone();
        let config = server_config(&self.0, Wait::Block);
        let binding = async move { T::bind(config).await.map(|server| (server.address(), server.certificate_pem())) };
        let (address, authority_pem) = runtime.run(binding).unwrap().unwrap();
        let config = ClientConfig {
            deadline: Duration::from_millis(500),
            authority_pem,
            ..ClientConfig::new(address, self.0.payload)
        };
        let connecting = async move {
            let mut connection = T::connect(config).await?;
            connection.exchange(&corpus::votes(1, 1)[0]).await
        };
        let outcome = runtime.run(within(Duration::from_secs(5), connecting)).unwrap();
        let error = outcome.unwrap_or_else(|_| panic!("{name}: hangs")).expect_err(&name);
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn connecting_where_nobody_listens_is_an_error() {
    for protocol in protocols() {
        let transport = protocol.transport.clone();
        transport::visit(&transport, Nobody(protocol)).unwrap();
    }
}
