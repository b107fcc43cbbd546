//! One fresh process that serves one arm of the HTTP study. Owns the job's plan, what it answers, the accepting of connections,
//! and the control thread that takes the process's account between the client's windows, while nothing is in flight.

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinSet;

use super::account::{Account, Edge, Meter, Scope, this_thread};
use super::allocations::{self, Group};
use super::arm::{Arm, ArmVisitor, Arms, CancellationToken, Wait, WaitingRuntime};
use super::job::say;
use super::server::{Command, next_command};

/// Connections that the kernel keeps for us while we are busy.
const BACKLOG: u32 = 4_096;

/// How long to wait before the next attempt where the system is out of descriptors or memory.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// What a server is to serve.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ArmPlan {
    /// The build that the driver is of.
    pub build: String,
    /// The core to run on.
    pub core: Option<usize>,
    /// The arm.
    pub arm: String,
    /// How it waits.
    pub wait: Wait,
    /// Whether to count system calls.
    pub count: bool,
}

/// What a server says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmEvent {
    /// It listens there.
    Listening(SocketAddr),
    /// What it has spent so far.
    Account {
        /// The account.
        account: Box<Account>,
        /// Why system calls are not counted.
        uncounted: Option<String>,
    },
}

/// Serves until the driver closes its end of `input`.
///
/// # Errors
/// A sentence, where there is no such arm or the system refuses it.
pub fn run(
    arms: impl Arms,
    plan: ArmPlan,
    input: impl BufRead + Send,
    output: impl Write + Send,
) -> Result<(), String> {
    let arm = plan.arm.clone();
    let served = arms.visit(&arm, Serving { plan, input, output });
    served.unwrap_or_else(|| Err(format!("there is no arm {arm}")))
}

struct Serving<I, O> {
    plan: ArmPlan,
    input: I,
    output: O,
}

impl<I: BufRead + Send, O: Write + Send> ArmVisitor for Serving<I, O> {
    type Output = Result<(), String>;

    fn visit<A: Arm>(self) -> Result<(), String> {
        let Self { plan, input, mut output } = self;
        let shutdown = CancellationToken::new();
        let (control, started) = mpsc::channel();
        let (hand_over, handed_over) = mpsc::channel();
        std::thread::scope(|scope| {
            // Started before system calls are counted, so that its own are not.
            let stop = shutdown.clone();
            scope.spawn(move || {
                let _stops = stop.drop_guard();
                allocations::join(Group::Harness);
                let _ = control.send(this_thread());
                if let Ok((meter, output)) = handed_over.recv() {
                    take_accounts(input, meter, output);
                }
            });
            let control = started.recv().map_err(|error| error.to_string())?;
            let mut meter = Meter::open(plan.count, Scope::ProcessBut(vec![control]), Arc::default());
            let runtime = WaitingRuntime::new(plan.wait).map_err(|error| format!("no runtime: {error}"))?;
            meter.count_polls(runtime.polls());
            let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
            let bound = runtime.run(async move { bind(loopback) }).map_err(|error| error.to_string())?;
            let (listener, address) = bound.map_err(|error| format!("{loopback}: {error}"))?;
            say(&mut output, &ArmEvent::Listening(address))?;
            let _ = hand_over.send((meter, output));
            runtime.run(serve::<A>(listener, shutdown, |_, _| {})).map_err(|error| error.to_string())
        })
    }
}

/// Binds `address`; gives the listener and where it listens.
///
/// # Errors
/// Where the address is taken, or not ours.
pub fn bind(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Accepts connections until `shutdown`, each answered by a task of its own; what one ends with, where it is an error, goes to
/// `log` with the peer, and never ends the server. At the end every open connection is closed.
pub async fn serve<A: Arm>(listener: TcpListener, shutdown: CancellationToken, log: fn(SocketAddr, &str)) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted.and_then(|(stream, peer)| stream.set_nodelay(true).map(|()| (stream, peer))) {
            Ok((stream, peer)) => {
                connections.spawn(async move {
                    if let Err(reason) = A::answer(stream).await {
                        log(peer, &reason);
                    }
                });
            }
            Err(error) if is_exhaustion(&error) => tokio::time::sleep(EXHAUSTED).await,
            // The peer gave up before it was accepted.
            Err(_) => {}
        }
    }
    connections.shutdown().await;
}

fn is_exhaustion(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}

/// Takes the account whenever the driver asks, until it asks no more.
fn take_accounts(mut input: impl BufRead, mut meter: Meter, mut output: impl Write) {
    while let Some(command) = next_command(&mut input) {
        let account = Box::new(meter.sample(if command == Command::Begin { Edge::Begin } else { Edge::End }));
        let uncounted = meter.uncounted().map(str::to_owned);
        if say(&mut output, &ArmEvent::Account { account, uncounted }).is_err() {
            break;
        }
    }
}
