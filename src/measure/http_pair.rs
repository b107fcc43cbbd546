//! A server and a client of one arm of the HTTP study, in two fresh processes, from start to end. Owns the order of events between
//! them: accounts are taken while nothing is in flight.

use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::account::Account;
use super::arm::Wait;
use super::http_client::{AskEvent, AskPlan, Asked, WindowPlan};
use super::http_server::{ArmEvent, ArmPlan};
use super::job::{Job, build};
use super::processes::{Ended, Heard, Stop, Worker};
use super::server::Command;

/// How long a process may take to start, bind or take its account.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a pair is to do.
#[derive(Debug, Clone)]
pub struct PairPlan {
    /// The arm.
    pub arm: String,
    /// What it is asked.
    pub workload: String,
    /// How both wait.
    pub wait: Wait,
    /// Cores of client and server.
    pub cores: Option<(usize, usize)>,
    /// The windows, one after another.
    pub windows: Vec<WindowPlan>,
    /// Whether this pair counts instead of being timed.
    pub count: bool,
}

/// What a window has found on both sides.
#[derive(Debug, Clone)]
pub struct Found {
    /// The client's.
    pub client: Asked,
    /// What the server spent.
    pub server: Account,
    /// Why the server's system calls are not counted.
    pub server_uncounted: Option<String>,
}

/// How a pair ended.
#[derive(Debug)]
pub enum Outcome {
    /// Well: what each window found.
    Found(Vec<Found>),
    /// The user ended the run.
    Stopped,
    /// It failed, in one sentence.
    Failed(String),
}

/// Runs a pair of processes of `program`.
pub fn run(program: &Path, plan: &PairPlan, stop: &Stop) -> Outcome {
    match exchange(program, plan, stop) {
        Ok(found) => Outcome::Found(found),
        Err(_) if stop.is_set() => Outcome::Stopped,
        Err(reason) => Outcome::Failed(reason),
    }
}

fn exchange(program: &Path, plan: &PairPlan, stop: &Stop) -> Result<Vec<Found>, String> {
    let job = Job::Answer(ArmPlan {
        build: build(),
        core: plan.cores.map(|(_, server)| server),
        arm: plan.arm.clone(),
        wait: plan.wait,
        count: plan.count,
    });
    let mut server = Side::start("server", program, &job)?;
    let ArmEvent::Listening(address) = server.hear(stop)? else {
        return Err("the server does not say where it listens".to_owned());
    };
    let job = Job::Ask(AskPlan {
        build: build(),
        core: plan.cores.map(|(client, _)| client),
        arm: plan.arm.clone(),
        workload: plan.workload.clone(),
        address,
        wait: plan.wait,
        windows: plan.windows.clone(),
        count: plan.count,
    });
    let mut client = Side::start("client", program, &job)?;
    let mut found = Vec::with_capacity(plan.windows.len());
    for _ in &plan.windows {
        let AskEvent::Ready = client.hear_out(stop)? else {
            return Err("the client began without being told".to_owned());
        };
        let (before, _) = account(&mut server, Command::Begin, stop)?;
        client.tell(Command::Go);
        let AskEvent::Done(asked) = client.hear_out(stop)? else { return Err("the client began twice".to_owned()) };
        let (after, server_uncounted) = account(&mut server, Command::End, stop)?;
        client.tell(Command::Go);
        found.push(Found { client: *asked, server: after - before, server_uncounted });
    }
    client.end(stop)?;
    Ok(found)
}

fn account(server: &mut Side<ArmEvent>, edge: Command, stop: &Stop) -> Result<(Account, Option<String>), String> {
    server.tell(edge);
    match server.hear(stop)? {
        ArmEvent::Account { account, uncounted } => Ok((*account, uncounted)),
        ArmEvent::Listening(_) => Err("the server's account is missing".to_owned()),
    }
}

/// One of the two processes.
struct Side<E> {
    name: &'static str,
    worker: Option<Worker<E>>,
}

impl<E: DeserializeOwned + Send + 'static> Side<E> {
    fn start(name: &'static str, program: &Path, job: &Job) -> Result<Self, String> {
        Ok(Self { name, worker: Some(Worker::start(program, job)?) })
    }

    fn tell(&mut self, command: Command) {
        if let Some(worker) = &mut self.worker {
            worker.tell(&command);
        }
    }

    /// Its next event, which must come soon.
    fn hear(&mut self, stop: &Stop) -> Result<E, String> {
        self.next(stop, Some(PATIENCE))
    }

    /// Its next event, however long it takes: it has a patience of its own.
    fn hear_out(&mut self, stop: &Stop) -> Result<E, String> {
        self.next(stop, None)
    }

    fn next(&mut self, stop: &Stop, patience: Option<Duration>) -> Result<E, String> {
        let heard = self.worker.as_mut().map(|worker| worker.hear(stop, patience));
        match heard {
            Some(Heard::Event(event)) => Ok(event),
            Some(Heard::Nothing) => Err(format!("the {} says nothing", self.name)),
            Some(Heard::End) | None => {
                self.end(stop)?;
                Err(format!("the {} ended", self.name))
            }
        }
    }

    /// Hears it out; an error where it has failed.
    fn end(&mut self, stop: &Stop) -> Result<(), String> {
        match self.worker.take().map(|worker| worker.end(stop)) {
            Some(Ended::Failed(reason)) => Err(format!("the {} failed: {reason}", self.name)),
            _ => Ok(()),
        }
    }
}
