//! One fresh process that serves one protocol. Owns the job's plan, what it answers, and the control thread that takes the
//! process's account when the driver asks: between the client's windows, while nothing is in flight.

use std::io::{BufRead, Write};
use std::sync::{Arc, mpsc};

use serde::{Deserialize, Serialize};

use super::account::{Account, Edge, Meter, Scope, this_thread};
use super::allocations::{self, Group};
use super::job::{Isolation, say};
use super::pinning;
use crate::protocol::Protocol;
use crate::transport::config::Log;
use crate::transport::wait::WaitingRuntime;
use crate::transport::{
    self, Address, CancellationToken, Server, ServerConfig, Transport, TransportError, Visitor, Wait, Writes,
};

/// What a server is to serve, and how.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServePlan {
    /// The build that the driver is of.
    pub build: String,
    /// The core to run on.
    pub core: Option<usize>,
    /// The protocol.
    pub protocol: Protocol,
    /// How it waits.
    pub wait: Wait,
    /// Longest message that it takes.
    pub max_message_bytes: u64,
    /// Whether to count system calls.
    pub count: bool,
    /// Whether the process is its own.
    pub isolation: Isolation,
    /// Votes that may be in flight on a connection.
    pub in_flight: u32,
    /// When answers are written.
    pub writes: Writes,
    /// The core of the thread that takes accounts, where it is not the server's.
    pub account_core: Option<usize>,
}

/// What a server says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "a process makes three of them in its life")]
#[serde(rename_all = "kebab-case")]
pub enum ServerEvent {
    /// It listens.
    Listening {
        /// Where.
        address: Address,
        /// Its certificate, where it has one.
        certificate_pem: Option<String>,
    },
    /// What it has spent so far.
    Account {
        /// The account.
        account: Account,
        /// Why system calls are not counted.
        uncounted: Option<String>,
    },
    /// This machine does not have what the stack needs; it is the last that it says.
    Unsupported(String),
}

/// What a driver tells a server or a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Take the account before a window.
    Begin,
    /// Take the account after it.
    End,
    /// To a client: go on.
    Go,
}

/// Serves until the driver closes its end of `input`.
///
/// # Errors
/// A sentence, where the address is taken or the stack fails.
pub fn run(plan: ServePlan, input: impl BufRead + Send, output: impl Write + Send) -> Result<(), String> {
    let transport = plan.protocol.transport.clone();
    let visitor = Serving { plan, input, output };
    transport::visit(&transport, visitor).unwrap_or_else(|| Err(format!("there is no transport {transport}")))
}

struct Serving<I, O> {
    plan: ServePlan,
    input: I,
    output: O,
}

impl<I: BufRead + Send, O: Write + Send> Visitor for Serving<I, O> {
    type Output = Result<(), String>;

    fn visit<T: Transport>(self) -> Result<(), String> {
        let Self { plan, input, mut output } = self;
        let shutdown = CancellationToken::new();
        let (control, started) = mpsc::channel();
        let (hand_over, handed_over) = mpsc::channel();
        std::thread::scope(|scope| {
            // Started before system calls are counted, so that its own are not.
            let (stop, account_core) = (shutdown.clone(), plan.account_core);
            scope.spawn(move || {
                let _stops = stop.drop_guard();
                allocations::join(Group::Harness);
                // Where that fails it works on the server's core, as in a closed loop.
                let _ = account_core.map(pinning::pin);
                let _ = control.send(this_thread());
                if let Ok((meter, output)) = handed_over.recv() {
                    take_accounts(input, meter, output);
                }
            });
            let control = started.recv().map_err(|error| error.to_string())?;
            let scope = scope_of(plan.isolation, plan.core, vec![control], Group::Server);
            let mut meter = Meter::open(plan.count, scope, Arc::default());
            let runtime = runtime_of::<T>(plan.wait)?;
            meter.count_polls(runtime.polls());
            let bound = runtime.run(T::bind(config(plan))).map_err(|error| error.to_string())?;
            if let Err(TransportError::Unsupported(reason)) = bound {
                return say(&mut output, &ServerEvent::Unsupported(reason));
            }
            let server = bound.map_err(in_words)?;
            let (address, certificate_pem) = (server.address(), server.certificate_pem());
            say(&mut output, &ServerEvent::Listening { address, certificate_pem })?;
            let _ = hand_over.send((meter, output));
            runtime.run(server.serve(shutdown)).map_err(|error| error.to_string())?.map_err(in_words)
        })
    }
}

/// The threads that one side's account is about. Where both sides share a process, the calling thread joins its group.
pub(super) fn scope_of(isolation: Isolation, core: Option<usize>, but: Vec<i32>, group: Group) -> Scope {
    match (isolation, core) {
        (Isolation::Thread, Some(core)) => {
            allocations::join(group);
            Scope::Core { core, but, group }
        }
        _ => Scope::ProcessBut(but),
    }
}

fn config(plan: ServePlan) -> ServerConfig {
    ServerConfig {
        wait: plan.wait,
        max_message_bytes: plan.max_message_bytes,
        in_flight: plan.in_flight,
        writes: plan.writes,
        log: Log::Stderr,
        ..ServerConfig::new(plan.protocol.payload)
    }
}

fn in_words(error: TransportError) -> String {
    error.to_string()
}

/// A runtime for a stack: one whose connections live on threads of their own gets one that sleeps, so that it does not take
/// their core from them.
pub(super) fn runtime_of<T: Transport>(wait: Wait) -> Result<WaitingRuntime, String> {
    let wait = if T::INFO.blocking { Wait::Block } else { wait };
    WaitingRuntime::new(wait).map_err(|error| format!("no runtime: {error}"))
}

/// The driver's next command; `None` where it has no more.
pub(super) fn next_command(input: &mut impl BufRead) -> Option<Command> {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(1..) => serde_json::from_str(&line).ok(),
        _ => None,
    }
}

/// Takes the account whenever the driver asks, until it asks no more.
fn take_accounts(mut input: impl BufRead, mut meter: Meter, mut output: impl Write) {
    while let Some(command) = next_command(&mut input) {
        let account = meter.sample(if command == Command::Begin { Edge::Begin } else { Edge::End });
        let uncounted = meter.uncounted().map(str::to_owned);
        if say(&mut output, &ServerEvent::Account { account, uncounted }).is_err() {
            break;
        }
    }
}
