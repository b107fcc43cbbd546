//! Every registered stack, in one loop: it answers, it parts messages, it refuses what it should, and it stops.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use votebench::protocol::{self, Protocol};
use votebench::transport::config::Log;
use votebench::transport::wait::WaitingRuntime;
use votebench::transport::{
    self, Address, CancellationToken, ClientConfig, Clock, Connection, Flight, Server, ServerConfig, Traffic,
    Transport, TransportError, Visitor, Wait, Writes, traffic,
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

/// What `talk` comes to, given how to reach a server of the same process, which is stopped afterwards.
fn beside_server<T: Transport, R>(config: ServerConfig, talk: impl FnOnce(ClientConfig) -> R) -> R {
    let (name, wait, payload) = (T::INFO.name, config.wait, config.payload.clone());
    let (talked, served) = std::thread::scope(|scope| {
        let (sender, bound) = std::sync::mpsc::channel::<(Address, Option<String>)>();
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        let server = scope.spawn(move || {
            let serving = async move {
                let server = T::bind(config).await?;
                sender.send((server.address(), server.certificate_pem())).unwrap();
                server.serve(stop).await
            };
            runtime::<T>(wait).run(within(Duration::from_secs(20), serving)).unwrap()
        });
        let (address, authority_pem) = bound.recv_timeout(Duration::from_secs(10)).unwrap();
        assert_eq!(authority_pem.is_some(), T::INFO.secure, "{name}");
        let talked = talk(ClientConfig { wait, authority_pem, ..ClientConfig::new(address, payload) });
        shutdown.cancel();
        (talked, server.join().unwrap())
    });
    served.unwrap_or_else(|_| panic!("{name} does not stop")).unwrap();
    talked
}

fn runtime<T: Transport>(wait: Wait) -> WaitingRuntime {
    WaitingRuntime::new(if T::INFO.blocking { Wait::Block } else { wait }).unwrap()
}

/// What `talking` comes to; a stack that fails or does not answer fails the test.
fn talked<T: Transport, R: Send + 'static>(
    wait: Wait,
    talking: impl Future<Output = Result<R, TransportError>> + Send + 'static,
) -> R {
    let outcome = runtime::<T>(wait).run(within(Duration::from_secs(10), talking)).unwrap();
    let name = T::INFO.name;
    outcome.unwrap_or_else(|_| panic!("{name} {wait:?}: no answer")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Exchanges votes with a server of the same process.
struct RoundTrips(Protocol, Wait);

impl Visitor for RoundTrips {
    type Output = ();

    fn visit<T: Transport>(self) {
        let Self(protocol, wait) = self;
        beside_server::<T, _>(server_config(&protocol, wait), |config| {
            talked::<T, _>(wait, async move {
                let mut connection = T::connect(config).await?;
                for vote in corpus::votes(200, 7) {
                    connection.exchange(&vote).await?;
                }
                let traffic = connection.traffic().unwrap();
                assert!(traffic.sent_bytes >= 200 * 145 && traffic.received_bytes >= 200 * 145, "{traffic:?}");
                Ok(())
            });
        });
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

/// Votes that are in flight together: fewer than the segments that a fresh connection may send unacknowledged, which is ten.
const TOGETHER: usize = 8;

/// Has many votes in flight; what the client's TCP connections carried meanwhile, where there are any.
struct InFlight(Protocol, Writes);

impl Visitor for InFlight {
    type Output = Option<Traffic>;

    fn visit<T: Transport>(self) -> Option<Traffic> {
        let Self(protocol, writes) = self;
        if T::Connection::MOST_IN_FLIGHT.is_some_and(|most| most < TOGETHER) {
            return None;
        }
        let config = ServerConfig { writes, ..server_config(&protocol, Wait::Block) };
        beside_server::<T, _>(config, |config| {
            let Address::Socket(peer) = config.address else { return None };
            // Without the budget that keeps tasks from starving others, as the generator's loop is: else stacks look full.
            let talking = tokio::task::unconstrained(async move {
                let votes = corpus::votes(64, 7);
                let flight = Flight { votes: votes.into(), most: TOGETHER, writes, clock: Clock::new(|| 0) };
                let mut connection = T::connect(config).await?;
                connection.exchange(flight.vote(0)).await?;
                let mut pipeline = match connection.pipeline(flight) {
                    Err(TransportError::Unsupported(_)) => return Ok(None),
                    made => made?,
                };
                let Ok(before) = traffic::of_tcp_to(peer) else { return Ok(None) };
                // As the generator does it: the stack's own tasks have a turn after every vote that is to go by itself.
                for number in 0..TOGETHER as u64 {
                    poll_fn(|cx| pipeline.poll_submit(cx, number)).await?;
                    if writes == Writes::Each && pipeline.has_tasks() {
                        poll_fn(|cx| pipeline.poll_flush(cx)).await?;
                        tokio::task::yield_now().await;
                    }
                }
                poll_fn(|cx| pipeline.poll_flush(cx)).await?;
                for _ in 0..TOGETHER {
                    loop {
                        match poll_fn(|cx| Poll::Ready(pipeline.poll_answer(cx))).await {
                            Poll::Ready(answered) => break answered?.outcome?,
                            // Nobody is woken by a stack that is asked again.
                            Poll::Pending => tokio::task::yield_now().await,
                        }
                    }
                }
                Ok(traffic::of_tcp_to(peer).ok().map(|traffic| traffic.since(before)))
            });
            talked::<T, _>(Wait::Block, talking)
        })
    }
}

#[test]
fn a_vote_that_is_written_by_itself_leaves_in_a_segment_of_its_own() {
    let mut together = Vec::new();
    for protocol in protocols() {
        let name = protocol.transport.clone();
        let carried = |writes| transport::visit(&name, InFlight(protocol.clone(), writes)).unwrap();
        if let Some(each) = carried(Writes::Each) {
            assert!(each.sent_packets >= TOGETHER as u64, "{name}: {each:?}");
        }
        together.extend(
            carried(Writes::Batched).filter(|traffic| traffic.sent_packets < TOGETHER as u64 / 2).map(|_| name),
        );
    }
    // Otherwise this counts something else.
    for name in ["tcp", "mux-stream", "grpc-stream"] {
        assert!(together.iter().any(|found| found == name), "{name} is not among {together:?}");
    }
}
