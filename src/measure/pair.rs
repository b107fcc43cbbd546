//! A server and its client, in two fresh processes or as two threads of one, from start to end. Owns the order of events
//! between them: accounts are taken while nothing is in flight, so that nobody's bookkeeping is in anybody's window.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::account::Account;
use super::allocations::{self, Count, Group};
use super::client::{ClientEvent, ExchangePlan, Ready, Window};
use super::job::{Isolation, Job, build, say};
use super::processes::{self, Ended, Heard, Stop, Worker};
use super::server::{Command, ServePlan, ServerEvent};
use crate::protocol::Protocol;
use crate::transport::{Address, Wait, Writes};

/// How long a process may take to start, bind or take its account.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a pair is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PairPlan {
    /// The build that the driver is of.
    pub build: String,
    /// What keeps the two apart.
    pub isolation: Isolation,
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// Before the window.
    pub ready: Ready,
    /// In the window.
    pub window: Window,
    /// What the server spent in the window; `None` where it is not ours.
    pub server: Option<Account>,
    /// Why the server's system calls are not counted.
    pub server_uncounted: Option<String>,
    /// Allocations, from before the window to behind it, of threads that are neither the client's, the server's nor the
    /// harness's; `None` where client and server have processes of their own.
    pub other_allocations: Option<u64>,
}

/// How a pair ended.
#[derive(Debug)]
pub enum Outcome {
    /// Well.
    Found(Box<Found>),
    /// The user ended the run.
    Stopped,
    /// This machine does not have what the stack needs.
    Unsupported(String),
    /// It failed, in one sentence.
    Failed(String),
}

/// Why a pair has found nothing.
enum Failure {
    Unsupported(String),
    Failed(String),
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Self::Failed(reason.to_owned())
    }
}

/// What a process that is both sides says: what it has found, or what this machine does not have.
type PairEvent = Result<Found, String>;

/// Runs a pair of processes of `program`, or one that is both.
pub fn run(program: &Path, plan: &PairPlan, stop: &Stop) -> Outcome {
    let found = match plan.isolation {
        Isolation::Process => exchange(Some(program), plan, stop),
        Isolation::Thread => {
            let mut found = Err("the pair has said nothing".into());
            let mut hear = |event: PairEvent| found = event.map_err(Failure::Unsupported);
            match processes::run(program, &Job::Pair(Box::new(plan.clone())), stop, &mut hear) {
                Ended::Done => found,
                Ended::Stopped => Err("the run was ended".into()),
                Ended::Failed(reason) => Err(reason.into()),
            }
        }
    };
    match found {
        Ok(found) => Outcome::Found(Box::new(found)),
        Err(_) if stop.is_set() => Outcome::Stopped,
        Err(Failure::Unsupported(reason)) => Outcome::Unsupported(reason),
        Err(Failure::Failed(reason)) => Outcome::Failed(reason),
    }
}

/// The pair as threads of this process; what it found goes to `output`.
///
/// # Errors
/// A sentence, where either side fails or the driver is gone.
pub fn carry_out(plan: &PairPlan, mut output: impl Write) -> Result<(), String> {
    allocations::join(Group::Harness);
    let found: PairEvent = match exchange(None, plan, &Stop::default()) {
        Ok(found) => Ok(found),
        Err(Failure::Unsupported(reason)) => Err(reason),
        Err(Failure::Failed(reason)) => return Err(reason),
    };
    say(&mut output, &found)
}

/// Gives `job` to a fresh process of `program`, or to a thread of that name where there is no program.
fn start<E>(program: Option<&Path>, name: &str, job: &Job) -> Result<Worker<E>, String>
where
    E: DeserializeOwned + Send + 'static,
{
    program.map_or_else(|| Worker::start_thread(name, job), |program| Worker::start(program, job))
}

/// A server's process, or nothing where it is not ours.
struct ServerSide(Option<Worker<ServerEvent>>);

impl ServerSide {
    fn start(program: Option<&Path>, plan: &PairPlan) -> Result<Self, String> {
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
            isolation: plan.isolation,
            in_flight: 1,
            writes: Writes::Batched,
            account_core: None,
        });
        Ok(Self(Some(start(program, "server", &job)?)))
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

    fn listening(&mut self, plan: &PairPlan, stop: &Stop) -> Result<(Address, Option<String>), Failure> {
        match (self.hear(stop)?, &plan.connect) {
            (Some(ServerEvent::Listening { address, certificate_pem }), _) => Ok((address, certificate_pem)),
            (Some(ServerEvent::Unsupported(reason)), _) => Err(Failure::Unsupported(reason)),
            (None, Some(connect)) => Ok(connect.clone()),
            _ => Err("the server does not say where it listens".into()),
        }
    }

    fn account(&mut self, edge: Command, stop: &Stop) -> Result<Option<(Account, Option<String>)>, String> {
        if let Some(worker) = &mut self.0 {
            worker.tell(&edge);
        }
        match self.hear(stop)? {
            Some(ServerEvent::Account { account, uncounted }) => Ok(Some((account, uncounted))),
            Some(_) => Err("the server's account is missing".to_owned()),
            None => Ok(None),
        }
    }
}

/// The pair in processes of `program`, or as threads of this one where there is none.
fn exchange(program: Option<&Path>, plan: &PairPlan, stop: &Stop) -> Result<Found, Failure> {
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
        isolation: plan.isolation,
    });
    let mut client = Some(start(program, "client", &job)?);
    let ClientEvent::Ready(ready) = hear(&mut client, stop)? else {
        return Err("the client began without being told".into());
    };
    let before = server.account(Command::Begin, stop)?;
    let others = allocations::count_of(Group::Rest);
    tell(&mut client);
    let ClientEvent::Over = hear(&mut client, stop)? else {
        return Err("the client began twice".into());
    };
    let Count { allocations, .. } = allocations::count_of(Group::Rest).since(others);
    let after = server.account(Command::End, stop)?;
    tell(&mut client);
    let ClientEvent::Done(window) = hear(&mut client, stop)? else {
        return Err("the client says nothing of its window".into());
    };
    if let Some(Ended::Failed(reason)) = client.map(|client| client.end(stop)) {
        return Err(reason.into());
    }
    let (server, server_uncounted) = match (before, after) {
        (Some((before, _)), Some((after, uncounted))) => (Some(after - before), uncounted),
        _ => (None, None),
    };
    let other_allocations = (plan.isolation == Isolation::Thread).then_some(allocations);
    Ok(Found { ready: *ready, window: *window, server, server_uncounted, other_allocations })
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
