//! One fresh process that asks one arm of the HTTP study, in a closed loop on every connection: the next request after the
//! response. Owns the job's plan, what it answers, and the loop.
//!
//! Inside the clock: making the request, everything that both sides do for it, reading the whole response and checking it.
//! Outside: connecting, and a warm-up on each connection. One clock read a request, which tells the blocks apart.

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::account::{Account, Edge, Meter, Scope};
use super::arm::{Arm, ArmVisitor, Arms, Exchange, Traffic, Wait, WaitingRuntime, of_tcp_to};
use super::job::say;
use super::server::{Command, next_command};

/// How much longer than planned a window may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a client is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AskPlan {
    /// The build that the driver is of.
    pub build: String,
    /// The core to run on.
    pub core: Option<usize>,
    /// The arm.
    pub arm: String,
    /// What it is asked.
    pub workload: String,
    /// Where its server listens.
    pub address: SocketAddr,
    /// How it waits.
    pub wait: Wait,
    /// The windows, one after another.
    pub windows: Vec<WindowPlan>,
    /// Whether to count system calls.
    pub count: bool,
}

/// One window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowPlan {
    /// Connections, each with one request in flight.
    pub connections: usize,
    /// Requests on each of them before the first that counts.
    pub warm_up: u64,
    /// How long it goes on.
    pub length: Length,
}

/// How long a window goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// For so many requests on each connection.
    Requests(u64),
    /// For so many blocks, equal in time for every arm.
    Blocks {
        /// How many.
        blocks: u32,
        /// How long each is.
        block: Duration,
    },
}

/// What a client says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskEvent {
    /// Its connections are warm, and it waits for the word to go on.
    Ready,
    /// A window is over; it waits for the word to close the connections.
    Done(Box<Asked>),
}

/// What was found in a window.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Asked {
    /// Requests that were answered, each rightly.
    pub requests: u64,
    /// Nanoseconds per request in each block.
    pub blocks_ns: Vec<f64>,
    /// What this process spent.
    pub account: Account,
    /// Why system calls are not counted.
    pub uncounted: Option<String>,
    /// What the connections carried, or why nobody knows.
    pub traffic: Result<Traffic, String>,
}

/// Asks as the plan says.
///
/// # Errors
/// A sentence, where a connection fails or a response is wrong or late.
pub fn run(
    arms: impl Arms,
    plan: AskPlan,
    input: impl BufRead + Send,
    output: impl Write + Send,
) -> Result<(), String> {
    let arm = plan.arm.clone();
    let asked = arms.visit(&arm, Asking { plan, input, output });
    asked.unwrap_or_else(|| Err(format!("there is no arm {arm}")))
}

struct Asking<I, O> {
    plan: AskPlan,
    input: I,
    output: O,
}

impl<I: BufRead + Send, O: Write + Send> ArmVisitor for Asking<I, O> {
    type Output = Result<(), String>;

    fn visit<A: Arm>(self) -> Result<(), String> {
        let Self { plan, mut input, mut output } = self;
        let mut meter = Meter::open(plan.count, Scope::ProcessBut(Vec::new()), Arc::default());
        let runtime = WaitingRuntime::new(plan.wait).map_err(|error| format!("no runtime: {error}"))?;
        meter.count_polls(runtime.polls());
        let fault = |reason: String| format!("{} at {}: {reason}", plan.arm, plan.address);
        for window in &plan.windows {
            let warm = warm_up::<A>(plan.address, plan.workload.clone(), *window);
            let clients = runtime.run(warm).map_err(|error| fault(error.to_string()))?.map_err(fault)?;
            say(&mut output, &AskEvent::Ready)?;
            if next_command(&mut input) != Some(Command::Go) {
                return Ok(());
            }
            let measuring = measure(clients, plan.address, *window, meter);
            let (asked, clients, returned) =
                runtime.run(measuring).map_err(|error| fault(error.to_string()))?.map_err(fault)?;
            meter = returned;
            say(&mut output, &AskEvent::Done(Box::new(asked)))?;
            // The connections stay until the server's account has been taken.
            next_command(&mut input);
            let closing = async move { drop(clients) };
            runtime.run(closing).map_err(|error| fault(error.to_string()))?;
        }
        Ok(())
    }
}

/// Connects all connections of a window, and warms them.
async fn warm_up<A: Arm>(address: SocketAddr, workload: String, window: WindowPlan) -> Result<Vec<A::Client>, String> {
    let warming = async {
        let mut clients = Vec::with_capacity(window.connections);
        for _ in 0..window.connections {
            clients.push(A::connect(address, &workload).await?);
        }
        // All at once, as they will be measured: what memory that takes is taken here.
        let tasks = clients.into_iter().map(|mut client| async move {
            for _ in 0..window.warm_up {
                client.exchange().await?;
            }
            Ok(client)
        });
        all(tasks).await
    };
    in_time(PATIENCE, warming).await
}

async fn measure<C: Exchange>(
    clients: Vec<C>,
    address: SocketAddr,
    window: WindowPlan,
    mut meter: Meter,
) -> Result<(Asked, Vec<C>, Meter), String> {
    let board = Arc::new(Board::new(window.length));
    let planned = match window.length {
        Length::Requests(_) => Duration::ZERO,
        Length::Blocks { blocks, block } => block * blocks,
    };
    let (start, started) = tokio::sync::watch::channel(());
    let mut tasks = JoinSet::new();
    for client in clients {
        let (mut started, board) = (started.clone(), Arc::clone(&board));
        tasks.spawn(async move {
            // The sender is only dropped where the window is given up.
            started.changed().await.map_err(|error| error.to_string())?;
            ask(client, window.length, &board).await
        });
    }
    // Made before the account is taken, so that collecting the clients does not stand in it.
    let room = Vec::with_capacity(window.connections);
    // So that every task has begun to wait for the start, and nothing of it is left to do.
    tokio::task::yield_now().await;
    let carried = of_tcp_to(address);
    let before = meter.sample(Edge::Begin);
    board.begin();
    start.send(()).map_err(|error| error.to_string())?;
    let clients = in_time(planned + PATIENCE, collect(tasks, room)).await?;
    let account = meter.sample(Edge::End) - before;
    let traffic = of_tcp_to(address).and_then(|now| Ok(now.since(carried?)));
    let (requests, blocks_ns) = board.result();
    let uncounted = meter.uncounted().map(str::to_owned);
    Ok((Asked { requests, blocks_ns, account, uncounted, traffic }, clients, meter))
}

/// The loop on one connection.
async fn ask<C: Exchange>(mut client: C, length: Length, board: &Board) -> Result<C, String> {
    match length {
        Length::Requests(requests) => {
            for _ in 0..requests {
                client.exchange().await?;
                board.count();
            }
        }
        Length::Blocks { .. } => loop {
            client.exchange().await?;
            if board.count_and_look() {
                break;
            }
        },
    }
    Ok(client)
}

async fn all<C, F>(tasks: impl Iterator<Item = F>) -> Result<Vec<C>, String>
where
    C: Send + 'static,
    F: Future<Output = Result<C, String>> + Send + 'static,
{
    let mut set = JoinSet::new();
    tasks.for_each(|task| drop(set.spawn(task)));
    collect(set, Vec::new()).await
}

async fn collect<C: 'static>(mut tasks: JoinSet<Result<C, String>>, mut clients: Vec<C>) -> Result<Vec<C>, String> {
    while let Some(client) = tasks.join_next().await {
        clients.push(client.map_err(|error| error.to_string())??);
    }
    Ok(clients)
}

async fn in_time<T>(patience: Duration, task: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let outcome = tokio::time::timeout(patience, task).await;
    outcome.unwrap_or_else(|_| Err(format!("not all responses came within {} s", patience.as_secs())))
}

/// Where all connections of a window count their requests. One thread has them all, so nothing here is contended.
#[derive(Debug)]
struct Board {
    length: Length,
    requests: AtomicU64,
    marks: Mutex<Marks>,
}

/// The ends of the blocks so far.
#[derive(Debug)]
struct Marks {
    since: Instant,
    /// The first request of the block that is on.
    first: u64,
    blocks_ns: Vec<f64>,
}

impl Board {
    fn new(length: Length) -> Self {
        let blocks = if let Length::Blocks { blocks, .. } = length { blocks as usize } else { 0 };
        let marks = Marks { since: Instant::now(), first: 0, blocks_ns: Vec::with_capacity(blocks) };
        Self { length, requests: AtomicU64::new(0), marks: Mutex::new(marks) }
    }

    fn begin(&self) {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).since = Instant::now();
    }

    fn count(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a request and looks at the clock; whether the window is over.
    fn count_and_look(&self) -> bool {
        let (requests, now) = (self.count(), Instant::now());
        let Length::Blocks { blocks, block } = self.length else { return false };
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = now.duration_since(marks.since);
        if marks.blocks_ns.len() < blocks as usize && elapsed >= block {
            let ns = per_request(elapsed, requests - marks.first);
            marks.blocks_ns.push(ns);
            (marks.since, marks.first) = (now, requests);
        }
        marks.blocks_ns.len() >= blocks as usize
    }

    fn result(&self) -> (u64, Vec<f64>) {
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        (self.requests.load(Ordering::Relaxed), marks.blocks_ns.clone())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a block has neither 2^53 nanoseconds nor requests")]
fn per_request(elapsed: Duration, requests: u64) -> f64 {
    elapsed.as_nanos() as f64 / requests.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_closes_each_block_once() {
        let board = Board::new(Length::Blocks { blocks: 3, block: Duration::from_millis(2) });
        board.begin();
        let mut requests = 0_u64;
        while !board.count_and_look() {
            requests += 1;
            std::thread::sleep(Duration::from_micros(100));
        }
        let (counted, blocks) = board.result();
        assert_eq!((counted, blocks.len()), (requests + 1, 3));
        assert!(blocks.iter().all(|ns| *ns >= 100_000.0), "{blocks:?}");
        // What is still in flight when the window is over is answered, and counted in no block.
        assert!(board.count_and_look());
        assert_eq!(board.result(), (requests + 2, blocks));
    }
}
