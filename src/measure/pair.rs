//! A server and its client in two fresh processes, from start to end. Owns the order of events between them: accounts are
//! taken while nothing is in flight, so that nobody's bookkeeping is in anybody's window.

use std::path::Path;
use std::time::Duration;

use super::account::Account;
use super::client::{ClientEvent, ExchangePlan, Ready, Window};
use super::processes::{Ended, Heard, Stop, Worker};
use super::server::{Command, ServePlan, ServerEvent};
use super::worker::{Job, build};
use crate::protocol::Protocol;
use crate::transport::{Address, Wait};

/// How long a process may take to start, bind or take its account.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a pair is to do.
#[derive(Debug, Clone)]
pub struct PairPlan {
    /// The protocol.
    pub protocol: Protocol,
    /// How both wait.
    pub wait: Wait,
    /// The client's core.
    pub client_core: Option<usize>,
    /// The server's core.
    pub server_core: Option<usize>,
    /// A server that is there already, and the certificate that it must show; then none is started.
    pub connect: Option<(Address, Option<String>)>,
    /// Longest message.
    pub max_message_bytes: u64,
    /// How long an answer may take.
    pub deadline: Duration,
    /// Round trips before the first that counts.
    pub warm_up: u64,
    /// Blocks of round trips.
    pub blocks: u64,
    /// Round trips in a block.
    pub block: u64,
    /// Whether this pair counts instead of being timed.
    pub count: bool,
}

/// What a pair has found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Before the window.
    pub ready: Ready,
    /// In the window.
    pub window: Window,
    /// What the server spent in the window; `None` where it is not ours.
    pub server: Option<Account>,
    /// Why the server's system calls are not counted.
    pub server_uncounted: Option<String>,
}

/// How a pair ended.
#[derive(Debug)]
pub enum Outcome {
    /// Well.
    Found(Box<Found>),
    /// The user ended the run.
    Stopped,
    /// It failed, in one sentence.
    Failed(String),
}

/// Runs a pair of processes of `program`.
pub fn run(program: &Path, plan: &PairPlan, stop: &Stop) -> Outcome {
    match exchange(program, plan, stop) {
        Ok(found) => Outcome::Found(Box::new(found)),
        Err(_) if stop.is_set() => Outcome::Stopped,
        Err(reason) => Outcome::Failed(reason),
    }
}

/// A server's process, or nothing where it is not ours.
struct ServerSide(Option<Worker<ServerEvent>>);

impl ServerSide {
    fn start(program: &Path, plan: &PairPlan) -> Result<Self, String> {
        if plan.connect.is_some() {
            return Ok(Self(None));
        }
        let job = Job::Serve(ServePlan {
            build: build(),
            core: plan.server_core,
            protocol: plan.protocol.clone(),
            wait: plan.wait,
            max_message_bytes: plan.max_message_bytes,
            count: plan.count,
        });
        Ok(Self(Some(Worker::start(program, &job)?)))
    }

    fn hear(&mut self, stop: &Stop) -> Result<Option<ServerEvent>, String> {
        let Some(worker) = &mut self.0 else { return Ok(None) };
        match worker.hear(stop, Some(PATIENCE)) {
            Heard::Event(event) => Ok(Some(event)),
            Heard::Nothing => Err(format!("the server said nothing for {} s", PATIENCE.as_secs())),
            Heard::End => match self.0.take().map(|worker| worker.end(stop)) {
                Some(Ended::Failed(reason)) => Err(format!("the server failed: {reason}")),
                _ => Err("the server ended".to_owned()),
            },
        }
    }

    fn listening(&mut self, plan: &PairPlan, stop: &Stop) -> Result<(Address, Option<String>), String> {
        match (self.hear(stop)?, &plan.connect) {
            (Some(ServerEvent::Listening { address, certificate_pem }), _) => Ok((address, certificate_pem)),
            (None, Some(connect)) => Ok(connect.clone()),
            _ => Err("the server does not say where it listens".to_owned()),
        }
    }

    fn account(&mut self, edge: Command, stop: &Stop) -> Result<Option<(Account, Option<String>)>, String> {
        if let Some(worker) = &mut self.0 {
            worker.tell(&edge);
        }
        match self.hear(stop)? {
            Some(ServerEvent::Account { account, uncounted }) => Ok(Some((account, uncounted))),
            Some(ServerEvent::Listening { .. }) => Err("the server's account is missing".to_owned()),
            None => Ok(None),
        }
    }
}

fn exchange(program: &Path, plan: &PairPlan, stop: &Stop) -> Result<Found, String> {
    let mut server = ServerSide::start(program, plan)?;
    let (address, authority_pem) = server.listening(plan, stop)?;
    let job = Job::Exchange(ExchangePlan {
        build: build(),
        core: plan.client_core,
        protocol: plan.protocol.clone(),
        address,
        authority_pem,
        wait: plan.wait,
        max_message_bytes: plan.max_message_bytes,
        deadline_ms: u64::try_from(plan.deadline.as_millis()).unwrap_or(u64::MAX),
        warm_up: plan.warm_up,
        blocks: plan.blocks,
        block: plan.block,
        count: plan.count,
    });
    let mut client = Some(Worker::<ClientEvent>::start(program, &job)?);
    let ClientEvent::Ready(ready) = hear(&mut client, stop)? else {
        return Err("the client began without being told".to_owned());
    };
    let before = server.account(Command::Begin, stop)?;
    tell(&mut client);
    let ClientEvent::Done(window) = hear(&mut client, stop)? else {
        return Err("the client began twice".to_owned());
    };
    let after = server.account(Command::End, stop)?;
    tell(&mut client);
    if let Some(Ended::Failed(reason)) = client.map(|client| client.end(stop)) {
        return Err(reason);
    }
    let (server, server_uncounted) = match (before, after) {
        (Some((before, _)), Some((after, uncounted))) => (Some(after - before), uncounted),
        _ => (None, None),
    };
    Ok(Found { ready: *ready, window: *window, server, server_uncounted })
}

fn tell(client: &mut Option<Worker<ClientEvent>>) {
    if let Some(client) = client {
        client.tell(&Command::Go);
    }
}

/// The client's next event. It has a deadline of its own for every answer, so it is waited for as long as it lives.
fn hear(client: &mut Option<Worker<ClientEvent>>, stop: &Stop) -> Result<ClientEvent, String> {
    let heard = client.as_mut().map(|client| client.hear(stop, None));
    match heard {
        Some(Heard::Event(event)) => Ok(event),
        Some(Heard::Nothing) | None => Err("the run was ended".to_owned()),
        Some(Heard::End) => match client.take().map(|client| client.end(stop)) {
            Some(Ended::Failed(reason)) => Err(reason),
            _ => Err("the client ended".to_owned()),
        },
    }
}
