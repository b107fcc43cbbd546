//! One fresh process that is the client of one protocol in a closed loop: one message in flight, the next after the answer.
//! Owns the job's plan, what it answers, and the loop.
//!
//! Inside the clock: encoding the vote, everything that the stack does on both sides, the server's decoding, reading and
//! encoding, decoding the answer and comparing all six fields of it. Outside: recording the sample, making the votes, the
//! warm-up, which is recorded apart. Two clock reads a round trip.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::task::AbortHandle;

use super::account::{Account, Edge, Meter};
use super::allocations::Group;
use super::hiccup::histogram;
use super::job::{Isolation, say};
use super::server::{Command, next_command, runtime_of, scope_of};
use super::tail::Tail;
use crate::protocol::Protocol;
use crate::result::histogram::encode;
use crate::transport::wait::WaitingRuntime;
use crate::transport::{self, Address, ClientConfig, Connection, Traffic, Transport, TransportError, Visitor, Wait};
use crate::vote::{Vote, corpus};

/// How often the watchdog looks whether answers still come: seldom, for it does so in the middle of what is measured.
const WATCH: Duration = Duration::from_secs(1);

/// What a client is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExchangePlan {
    /// The build that the driver is of.
    pub build: String,
    /// The core to run on.
    pub core: Option<usize>,
    /// The protocol.
    pub protocol: Protocol,
    /// Where its server listens.
    pub address: Address,
    /// The certificate that the server's must be or be signed by.
    pub authority_pem: Option<String>,
    /// How it waits.
    pub wait: Wait,
    /// Longest message that it takes.
    pub max_message_bytes: u64,
    /// How long an answer may take, in milliseconds.
    pub deadline_ms: u64,
    /// Round trips before the first that counts.
    pub warm_up: u64,
    /// Blocks of round trips; each gives a median.
    pub blocks: u64,
    /// Round trips in a block.
    pub block: u64,
    /// Whether to count system calls.
    pub count: bool,
    /// Whether the process is its own.
    pub isolation: Isolation,
}

/// What a client says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientEvent {
    /// It is connected and warm, and waits for the word to go on.
    Ready(Box<Ready>),
    /// The window is over; it waits for the word to make something of it. Nothing else happens before that, since in `poll`
    /// the server spins, and is charged for it, until its account has been taken.
    Over,
    /// What was found; the connection is closed after it.
    Done(Box<Window>),
}

/// What came before the window.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ready {
    /// From the first call to the answer to the first vote.
    pub set_up_ns: u64,
    /// What the connection had carried by then, or why nobody knows.
    pub set_up_traffic: Result<Traffic, String>,
    /// Round trips that were not measured.
    pub warm_up: u64,
    /// How long they took together.
    pub warm_up_ns: u64,
}

/// What was found in the window.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Window {
    /// Round trips.
    pub round_trips: u64,
    /// The median of each block, in nanoseconds.
    pub medians_ns: Vec<u64>,
    /// All of them, as base64 of HDR's V2 deflate.
    pub histogram: String,
    /// The longest, with their places.
    pub tail: Tail,
    /// What this process spent.
    pub account: Account,
    /// Why system calls are not counted.
    pub uncounted: Option<String>,
    /// What the connection carried, or why nobody knows.
    pub traffic: Result<Traffic, String>,
}

/// Exchanges votes as the plan says.
///
/// # Errors
/// A sentence, where the connection fails or an answer is wrong or late.
pub fn run(plan: ExchangePlan, input: impl BufRead + Send, output: impl Write + Send) -> Result<(), String> {
    let transport = plan.protocol.transport.clone();
    let visitor = Exchanging { plan, input, output };
    transport::visit(&transport, visitor).unwrap_or_else(|| Err(format!("there is no transport {transport}")))
}

struct Exchanging<I, O> {
    plan: ExchangePlan,
    input: I,
    output: O,
}

impl<I: BufRead + Send, O: Write + Send> Visitor for Exchanging<I, O> {
    type Output = Result<(), String>;

    fn visit<T: Transport>(self) -> Result<(), String> {
        let Self { plan, mut input, mut output } = self;
        let scope = scope_of(plan.isolation, plan.core, Vec::new(), Group::Client);
        let mut meter = Meter::open(plan.count, scope, Arc::default());
        let runtime = runtime_of::<T>(plan.wait)?;
        meter.count_polls(runtime.polls());
        let answers = Arc::new(AtomicU64::new(0));
        let client = watched(&runtime, &plan, &answers, Client::<T>::connect(plan.clone(), Arc::clone(&answers)))?;
        say(&mut output, &ClientEvent::Ready(Box::new(client.ready.clone())))?;
        if next_command(&mut input) != Some(Command::Go) {
            return Ok(());
        }
        let measured = watched(&runtime, &plan, &answers, client.measure(meter))?;
        say(&mut output, &ClientEvent::Over)?;
        if next_command(&mut input) != Some(Command::Go) {
            return Ok(());
        }
        say(&mut output, &ClientEvent::Done(Box::new(measured.window()?)))
    }
}

/// Runs `task` while answers come: one that is late ends it. One timer for all votes instead of one for each.
fn watched<F, V>(runtime: &WaitingRuntime, plan: &ExchangePlan, answers: &Arc<AtomicU64>, task: F) -> Result<V, String>
where
    F: Future<Output = Result<V, TransportError>> + Send + 'static,
    V: Send + 'static,
{
    let (answers, deadline) = (Arc::clone(answers), Duration::from_millis(plan.deadline_ms));
    let outcome = runtime.run(async move {
        let task = tokio::spawn(task);
        let watchdog = tokio::spawn(watch(answers, deadline, task.abort_handle()));
        let outcome = task.await;
        watchdog.abort();
        outcome
    });
    let error = match outcome {
        Ok(Ok(Ok(value))) => return Ok(value),
        Ok(Ok(Err(error))) => error,
        Ok(Err(error)) if error.is_cancelled() => TransportError::Deadline(deadline),
        Ok(Err(error)) | Err(error) => TransportError::stack(error),
    };
    Err(format!("{} at {}: {error}", plan.protocol.name, plan.address))
}

async fn watch(answers: Arc<AtomicU64>, deadline: Duration, task: AbortHandle) {
    let (mut seen, mut since) = (answers.load(Ordering::Relaxed), Instant::now());
    loop {
        tokio::time::sleep(WATCH.min(deadline)).await;
        let now = answers.load(Ordering::Relaxed);
        if now != seen {
            (seen, since) = (now, Instant::now());
        } else if since.elapsed() >= deadline {
            task.abort();
            return;
        }
    }
}

/// A connected client, and the votes that it sends.
struct Client<T: Transport> {
    connection: T::Connection,
    votes: Vec<Vote>,
    plan: ExchangePlan,
    answers: Arc<AtomicU64>,
    ready: Ready,
    /// Empty, with room for all samples, touched beforehand, so that keeping one neither allocates nor faults.
    samples: Vec<u64>,
    /// What the connection had carried before the window.
    carried: Result<Traffic, String>,
}

impl<T: Transport> Client<T> {
    async fn connect(plan: ExchangePlan, answers: Arc<AtomicU64>) -> Result<Self, TransportError> {
        let votes = corpus::votes(corpus::SIZE, corpus::SEED);
        let config = ClientConfig {
            wait: plan.wait,
            max_message_bytes: plan.max_message_bytes,
            deadline: Duration::from_millis(plan.deadline_ms),
            authority_pem: plan.authority_pem.clone(),
            ..ClientConfig::new(plan.address.clone(), plan.protocol.payload.clone())
        };
        let began = Instant::now();
        let mut connection = T::connect(config).await?;
        connection.exchange(&votes[0]).await?;
        let set_up_ns = nanoseconds(began.elapsed());
        let set_up_traffic = connection.traffic();
        let ready = Ready { set_up_ns, set_up_traffic, warm_up: plan.warm_up, warm_up_ns: 0 };
        let room = usize::try_from(plan.blocks * plan.block).unwrap_or(0);
        let mut samples = vec![u64::MAX; room];
        samples.clear();
        let carried = Ok(Traffic::default());
        let mut client = Self { connection, votes, plan, answers, ready, samples, carried };
        let began = Instant::now();
        client.round_trips(client.plan.warm_up, &mut |_| {}).await?;
        client.ready.warm_up_ns = nanoseconds(began.elapsed());
        client.carried = client.connection.traffic();
        Ok(client)
    }

    /// The loop: `count` round trips, one after another; `keep` gets each one's nanoseconds.
    async fn round_trips(&mut self, count: u64, keep: &mut (impl FnMut(u64) + Send)) -> Result<(), TransportError> {
        let mut sent = 0;
        while sent < count {
            for vote in self.votes.iter().take(usize::try_from(count - sent).unwrap_or(usize::MAX)) {
                let began = Instant::now();
                self.connection.exchange(vote).await?;
                keep(nanoseconds(began.elapsed()));
                sent += 1;
                self.answers.store(self.answers.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// The window itself.
    async fn measure(mut self, mut meter: Meter) -> Result<Measured<T>, TransportError> {
        let count = self.plan.blocks * self.plan.block;
        let mut samples = std::mem::take(&mut self.samples);
        let before = meter.sample(Edge::Begin);
        self.round_trips(count, &mut |elapsed| samples.push(elapsed)).await?;
        let account = meter.sample(Edge::End) - before;
        Ok(Measured { client: self, samples, account, uncounted: meter.uncounted().map(str::to_owned) })
    }
}

/// A window that is over, and what has not been made of it yet.
struct Measured<T: Transport> {
    client: Client<T>,
    samples: Vec<u64>,
    account: Account,
    uncounted: Option<String>,
}

impl<T: Transport> Measured<T> {
    fn window(self) -> Result<Window, String> {
        let Self { client, samples, account, uncounted } = self;
        let traffic = client.connection.traffic().and_then(|now| Ok(now.since(client.carried?)));
        let mut all = histogram();
        for sample in &samples {
            all.saturating_record(*sample);
        }
        let block = usize::try_from(client.plan.block).unwrap_or(1).max(1);
        Ok(Window {
            round_trips: samples.len() as u64,
            medians_ns: samples.chunks(block).map(median).collect(),
            histogram: encode(&all)?,
            tail: Tail::of(&samples),
            account,
            uncounted,
            traffic,
        })
    }
}

/// The lower median: a value that was measured.
fn median(block: &[u64]) -> u64 {
    let mut sorted = block.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
