//! A server and the generator that loads it, each a fresh process. Owns the order of events between them and what a load gives;
//! nothing of files, nothing of what loads are for.

use std::path::Path;
use std::time::Duration;

use super::options::{Options, RowKey};
use crate::measure::account::Account;
use crate::measure::job::{Isolation, Job, build};
use crate::measure::load::arrivals::Load;
use crate::measure::load::books::{End, Page};
use crate::measure::load::worker::{LoadEvent, LoadPlan, Order};
use crate::measure::processes::{Ended, Heard, Stop, Worker};
use crate::measure::server::{Command, ServePlan, ServerEvent};
use crate::transport::Address;

/// How long a process may take to start, bind, connect or take its account.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why a rig could not do what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This machine or stack does not have what it takes.
    Unsupported(String),
    /// It failed, in one sentence.
    Failed(String),
}

impl Failure {
    fn failed(reason: impl Into<String>) -> Self {
        Self::Failed(reason.into())
    }
}

/// A server and its generator.
#[derive(Debug)]
pub struct Rig {
    server: Option<Worker<ServerEvent>>,
    generator: Worker<LoadEvent>,
    interval: Duration,
    deadline: Duration,
    /// The server's account when it was last taken.
    account: Account,
    /// Votes in flight at most, as far as the stack allows.
    pub in_flight: usize,
}

/// What is told of a running load.
pub trait Listener {
    /// An interval is over; `server` is what the server spent in it, where it is ours.
    ///
    /// # Errors
    /// A sentence that ends the load.
    fn interval(&mut self, page: Page, server: Option<Account>) -> Result<(), String>;
}

impl Rig {
    /// Starts both processes of `program`, and connects them.
    ///
    /// # Errors
    /// Where either fails.
    pub fn start(program: &Path, options: &Options, row: &RowKey, count: bool) -> Result<Self, Failure> {
        let (mut server, (address, authority_pem)) = match &options.connect {
            Some(there) => (None, there.clone()),
            None => {
                let (server, there) = start_server(program, options, row, count)?;
                (Some(server), there)
            }
        };
        // What is counted begins with the second interval.
        let interval = match options.count.filter(|_| count) {
            Some(whole) => options.interval.min(whole / 4),
            None => options.interval,
        };
        let plan = LoadPlan {
            build: build(),
            core: options.cores.map(|(client, _)| client),
            protocol: row.protocol.clone(),
            address,
            authority_pem,
            max_message_bytes: options.max_message_bytes,
            deadline_ms: u64::try_from(options.deadline.as_millis()).unwrap_or(u64::MAX),
            connections: options.connections,
            in_flight: options.in_flight,
            writes: row.writes,
            interval_ns: super::options::nanoseconds(interval),
            count,
        };
        let mut generator = Worker::<LoadEvent>::start(program, &Job::Load(plan)).map_err(Failure::Failed)?;
        let in_flight = match generator.hear(&Stop::default(), Some(PATIENCE + options.deadline)) {
            Heard::Event(LoadEvent::Ready { in_flight }) => in_flight,
            Heard::Event(LoadEvent::Unsupported(reason)) => return Err(Failure::Unsupported(reason)),
            Heard::Event(_) => return Err(Failure::failed("the generator began without being told")),
            Heard::Nothing => return Err(Failure::failed("the generator did not connect in time")),
            Heard::End => return Err(Failure::Failed(last_words("generator", generator))),
        };
        let account = server.as_mut().map_or(Ok(Account::default()), take_account).map_err(Failure::Failed)?;
        let deadline = options.deadline;
        Ok(Self { server, generator, interval, deadline, account, in_flight })
    }

    /// Runs `load`; intervals go to `listener`, where there is one. When `stop` is set the load ends as if its last vote had
    /// been due. Both processes live on afterwards, unless they have failed.
    ///
    /// # Errors
    /// Where either process is gone. A stack that fails under load is no error here: the load's end says so.
    pub fn run(
        &mut self,
        load: Load,
        offset_ns: u64,
        stop: &Stop,
        listener: Option<&mut dyn Listener>,
    ) -> Result<End, Failure> {
        let mut listener = listener;
        if let Some(server) = &mut self.server {
            self.account = take_account(server).map_err(Failure::Failed)?;
        }
        self.generator.tell(&Order::Run { load, offset_ns, tell: listener.is_some() });
        let longest = if listener.is_some() { self.interval } else { Duration::from_nanos(load.duration_ns) };
        let patience = longest * 4 + self.deadline + PATIENCE;
        // Why the load is to end before its time; nothing is said of it where it is the user who ends it.
        let mut ending: Option<String> = None;
        let mut silent = Duration::ZERO;
        loop {
            if ending.is_none() && stop.is_set() {
                self.generator.tell(&Order::Stop);
                ending = Some(String::new());
            }
            let event = match self.generator.hear(&Stop::default(), Some(LOOK)) {
                Heard::Event(event) => event,
                Heard::End => return Err(Failure::failed("the generator ended in mid-load")),
                Heard::Nothing if silent > patience => {
                    return Err(Failure::failed(format!("the generator said nothing for {} s", silent.as_secs())));
                }
                Heard::Nothing => {
                    silent += LOOK;
                    continue;
                }
            };
            silent = Duration::ZERO;
            match event {
                LoadEvent::Interval(page) => {
                    if let (Err(reason), None) = (self.interval(*page, &mut listener), &ending) {
                        self.generator.tell(&Order::Stop);
                        ending = Some(reason);
                    }
                }
                LoadEvent::Over(mut end) => {
                    // What ended it first is what is to be told.
                    if let Some(reason) = ending.filter(|reason| !reason.is_empty()) {
                        end.broken = Some(reason);
                    }
                    return Ok(*end);
                }
                LoadEvent::Ready { .. } | LoadEvent::Unsupported(_) => {
                    return Err(Failure::failed("the generator began anew"));
                }
            }
        }
    }

    fn interval(&mut self, page: Page, listener: &mut Option<&mut dyn Listener>) -> Result<(), String> {
        let taken = self.server.as_mut().map(take_account);
        let (server, gone) = match taken {
            Some(Ok(account)) => {
                let spent = account - self.account;
                self.account = account;
                (Some(spent), None)
            }
            Some(Err(reason)) => {
                // It is asked once; the load goes on to its own end, which the stack's failure brings about.
                self.server = None;
                (None, Some(reason))
            }
            None => (None, None),
        };
        let kept = listener.as_mut().map_or(Ok(()), |listener| listener.interval(page, server));
        gone.map_or(kept, Err)
    }
}

/// How often a driver that waits looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(250);

/// A server that listens: its process, where it listens, and the certificate that it shows.
type Listening = (Worker<ServerEvent>, (Address, Option<String>));

fn start_server(program: &Path, options: &Options, row: &RowKey, count: bool) -> Result<Listening, Failure> {
    let plan = ServePlan {
        build: build(),
        core: options.cores.map(|(_, server)| server),
        protocol: row.protocol.clone(),
        wait: options.wait,
        max_message_bytes: options.max_message_bytes,
        count,
        isolation: Isolation::Process,
        in_flight: u32::try_from(options.in_flight).unwrap_or(u32::MAX),
        writes: row.writes,
        account_core: options.cores.map(|(client, _)| client),
    };
    let mut server = Worker::start(program, &Job::Serve(plan)).map_err(Failure::Failed)?;
    match server.hear(&Stop::default(), Some(PATIENCE)) {
        Heard::Event(ServerEvent::Listening { address, certificate_pem }) => Ok((server, (address, certificate_pem))),
        Heard::Event(ServerEvent::Unsupported(reason)) => Err(Failure::Unsupported(reason)),
        Heard::Event(ServerEvent::Account { .. }) => Err(Failure::failed("the server does not say where it listens")),
        Heard::Nothing => Err(Failure::failed("the server did not listen in time")),
        Heard::End => Err(Failure::Failed(last_words("server", server))),
    }
}

fn take_account(server: &mut Worker<ServerEvent>) -> Result<Account, String> {
    server.tell(&Command::End);
    match server.hear(&Stop::default(), Some(PATIENCE)) {
        Heard::Event(ServerEvent::Account { account, .. }) => Ok(account),
        Heard::Event(_) => Err("the server's account is missing".to_owned()),
        Heard::Nothing => Err("the server does not answer its driver".to_owned()),
        Heard::End => Err("the server ended".to_owned()),
    }
}

fn last_words<E: serde::de::DeserializeOwned + Send + 'static>(who: &str, worker: Worker<E>) -> String {
    match worker.end(&Stop::default()) {
        Ended::Failed(reason) => reason,
        _ => format!("the {who} ended"),
    }
}
