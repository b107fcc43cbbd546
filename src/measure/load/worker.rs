//! One fresh process that is the generator of one protocol: connects, and runs the loads that its driver orders, one after
//! another, on the same connections. Owns the job's plan, what it answers, and the two threads beside the loop: one hears
//! orders, the other keeps the books. Both work on the client's core, where the loop sees what they take from it.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::arrivals::Load;
use super::books::{End, Page, page};
use super::generator::{Generator, Time};
use super::interval::{Books, recorder};
use crate::measure::account::{Edge, Meter, Scope, this_thread};
use crate::measure::allocations::{self, Group};
use crate::measure::job::say;
use crate::protocol::Protocol;
use crate::transport::wait::WaitingRuntime;
use crate::transport::{
    self, Address, ClientConfig, Clock, Connection, Flight, Pipeline, Transport, TransportError, Visitor, Wait, Writes,
};
use crate::vote::corpus;

/// What a generator is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoadPlan {
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
    /// Longest message that it takes.
    pub max_message_bytes: u64,
    /// How long the stack may answer nothing while votes are in flight, in milliseconds.
    pub deadline_ms: u64,
    /// Connections.
    pub connections: usize,
    /// Votes in flight at most, over all connections.
    pub in_flight: usize,
    /// When votes are written.
    pub writes: Writes,
    /// Length of an interval, in nanoseconds.
    pub interval_ns: u64,
    /// Whether to count system calls.
    pub count: bool,
}

/// What a driver orders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Run a load.
    Run {
        /// Which.
        load: Load,
        /// How much later than its start its intervals are said to begin.
        offset_ns: u64,
        /// Whether its intervals are told one by one.
        tell: bool,
    },
    /// End the load that is running, as if the last vote had been due.
    Stop,
}

/// What a generator says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadEvent {
    /// It is connected, and waits for orders.
    Ready {
        /// Votes in flight at most, as far as the stack allows.
        in_flight: usize,
    },
    /// An interval is over.
    Interval(Box<Page>),
    /// A load is over.
    Over(Box<End>),
    /// This stack cannot do it.
    Unsupported(String),
}

/// Runs loads as the driver orders them.
///
/// # Errors
/// A sentence, where the connections cannot be made or the driver is gone.
pub fn run(plan: LoadPlan, input: impl BufRead + Send, output: impl Write + Send) -> Result<(), String> {
    let transport = plan.protocol.transport.clone();
    let visitor = Loading { plan, input, output };
    transport::visit(&transport, visitor).unwrap_or_else(|| Err(format!("there is no transport {transport}")))
}

struct Loading<I, O> {
    plan: LoadPlan,
    input: I,
    output: O,
}

impl<I: BufRead + Send, O: Write + Send> Visitor for Loading<I, O> {
    type Output = Result<(), String>;

    fn visit<T: Transport>(self) -> Result<(), String> {
        let Self { plan, input, mut output } = self;
        let clock = clock();
        // The loop itself never lets the runtime park; nothing else has to.
        let runtime = WaitingRuntime::new(Wait::Block).map_err(|error| format!("no runtime: {error}"))?;
        let in_words = |error: TransportError| format!("{} at {}: {error}", plan.protocol.name, plan.address);
        let connecting = connect::<T>(plan.clone(), clock.clone());
        let patience = Duration::from_millis(plan.deadline_ms);
        let connecting = async move {
            let connected = tokio::time::timeout(patience, connecting).await;
            connected.unwrap_or(Err(TransportError::Deadline(patience)))
        };
        let connected = runtime.run(connecting).map_err(|error| error.to_string())?;
        let pipelines = match connected {
            Ok(pipelines) => pipelines,
            Err(TransportError::Unsupported(reason)) => return say(&mut output, &LoadEvent::Unsupported(reason)),
            Err(error) => return Err(in_words(error)),
        };
        let (recorder, books) = recorder(plan.interval_ns);
        let stop = Arc::new(AtomicBool::new(false));
        let generator = Generator {
            time: Looping { clock, spins: T::INFO.blocking },
            pipelines,
            in_flight_most: in_flight::<T>(&plan) * plan.connections,
            writes: plan.writes,
            deadline_ns: plan.deadline_ms.saturating_mul(1_000_000),
            recorder,
            stop: Arc::clone(&stop),
            before: 0,
        };
        say(&mut output, &LoadEvent::Ready { in_flight: generator.in_flight_most })?;
        let (ordering, orders) = mpsc::channel();
        let (noting, notes) = mpsc::channel();
        let (introducing, introduced) = mpsc::channel();
        std::thread::scope(|scope| {
            let hearing = introducing.clone();
            scope.spawn(move || {
                introduce(&hearing);
                hear(input, &stop, &ordering);
            });
            let keeper = scope.spawn(move || {
                introduce(&introducing);
                keep(&books, &notes, output)
            });
            let beside = introduced.iter().take(2).collect();
            // Opened by the thread whose system calls it is to count.
            let _ =
                noting.send(Note::Meter(Box::new(Meter::open(plan.count, Scope::ProcessBut(beside), Arc::default()))));
            let loaded = load(&runtime, generator, &orders, &noting);
            drop(noting);
            let kept = keeper.join().unwrap_or_else(|_| Err("the bookkeeper stopped".to_owned()));
            loaded.and(kept)
        })
    }
}

/// Runs the loads that are ordered, until no more are.
fn load(
    runtime: &WaitingRuntime,
    mut generator: Generator<Looping>,
    orders: &Receiver<(Load, Telling)>,
    noting: &Sender<Note>,
) -> Result<(), String> {
    for (load, telling) in orders {
        let _ = noting.send(Note::Begin(telling));
        // The loop is a task that never waits: the budget that keeps other tasks from starving would make stacks look full.
        let running = tokio::task::unconstrained(async move {
            let (outcome, ended) = generator.run(load).await;
            (generator, outcome, ended)
        });
        let (back, outcome, ended) = runtime.run(running).map_err(|error| error.to_string())?;
        generator = back;
        generator.stop.store(false, Ordering::Relaxed);
        let end = End::of(&outcome, ended.err().map(|error| error.to_string()))?;
        let _ = noting.send(Note::End(Box::new(end)));
    }
    Ok(())
}

/// What becomes of a load's intervals.
#[derive(Debug, Clone, Copy)]
struct Telling {
    offset_ns: u64,
    tell: bool,
}

/// What the loop's thread tells the bookkeeper.
enum Note {
    Meter(Box<Meter>),
    Begin(Telling),
    End(Box<End>),
}

/// A thread that is none of the stack's says who it is.
fn introduce(introducing: &Sender<i32>) {
    allocations::join(Group::Harness);
    let _ = introducing.send(this_thread());
}

/// Hears orders, until there are no more.
fn hear(input: impl BufRead, stop: &AtomicBool, ordering: &Sender<(Load, Telling)>) {
    for line in input.lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Order::Run { load, offset_ns, tell }) => {
                let _ = ordering.send((load, Telling { offset_ns, tell }));
            }
            Ok(Order::Stop) => stop.store(true, Ordering::Relaxed),
            // The driver is of the same build.
            Err(_) => {}
        }
    }
    stop.store(true, Ordering::Relaxed);
}

/// Puts intervals on the books, and tells the driver.
fn keep(books: &Books, notes: &Receiver<Note>, mut output: impl Write) -> Result<(), String> {
    let Ok(Note::Meter(mut meter)) = notes.recv() else { return Ok(()) };
    let mut before = meter.sample(Edge::End);
    while let Ok(Note::Begin(Telling { offset_ns, tell })) = notes.recv() {
        loop {
            let Ok(interval) = books.over.recv() else { return Ok(()) };
            let (now, last) = (meter.sample(Edge::End), interval.last);
            let page = if tell { Some(page(&interval, offset_ns, now - before)?) } else { None };
            books.give_back(interval);
            if let Some(page) = page {
                say(&mut output, &LoadEvent::Interval(Box::new(page)))?;
            }
            before = now;
            if last {
                break;
            }
        }
        let Ok(Note::End(end)) = notes.recv() else { return Ok(()) };
        say(&mut output, &LoadEvent::Over(end))?;
    }
    Ok(())
}

/// The loop's own time: it never sleeps, and between two looks it lets the runtime do what there is.
struct Looping {
    clock: Clock,
    /// Whether nothing of the stack lives on the runtime.
    spins: bool,
}

impl Time for Looping {
    fn clock(&self) -> &Clock {
        &self.clock
    }

    async fn rest(&mut self, _until: u64) {
        if self.spins {
            std::hint::spin_loop();
        } else {
            tokio::task::yield_now().await;
        }
    }
}

/// The processor's own counter, scaled once against the monotonic clock, or that clock itself where the counter is of no use: it
/// is read twice for every vote, and a call to the clock is a good part of what a vote costs the generator.
fn clock() -> Clock {
    let counter = quanta::Clock::new();
    let origin = counter.raw();
    Clock::new(move || counter.delta_as_nanos(origin, counter.raw()))
}

/// Votes in flight on one connection at most.
fn in_flight<T: Transport>(plan: &LoadPlan) -> usize {
    let most = T::Connection::MOST_IN_FLIGHT.unwrap_or(usize::MAX);
    plan.in_flight.div_ceil(plan.connections).clamp(1, most)
}

/// Makes the connections, one vote exchanged on each.
async fn connect<T: Transport>(plan: LoadPlan, clock: Clock) -> Result<Vec<Box<dyn Pipeline>>, TransportError> {
    let votes = corpus::votes(corpus::SIZE, corpus::SEED);
    let flight = Flight { votes: votes.into(), most: in_flight::<T>(&plan), writes: plan.writes, clock };
    let mut pipelines = Vec::with_capacity(plan.connections);
    for _ in 0..plan.connections {
        let config = ClientConfig {
            wait: Wait::Poll,
            max_message_bytes: plan.max_message_bytes,
            deadline: Duration::from_millis(plan.deadline_ms),
            authority_pem: plan.authority_pem.clone(),
            ..ClientConfig::new(plan.address.clone(), plan.protocol.payload.clone())
        };
        let mut connection = T::connect(config).await?;
        connection.exchange(&flight.votes[0]).await?;
        pipelines.push(connection.pipeline(flight.clone())?);
    }
    Ok(pipelines)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_counter_goes_as_the_monotonic_clock_does() {
        let clock = clock();
        let before = Instant::now();
        let origin = clock.now();
        let after = Instant::now();
        std::thread::sleep(Duration::from_millis(200));
        // Read on both sides: a pause of this thread between two readings widens the bounds and fails nothing.
        let least = after.elapsed();
        let counted = Duration::from_nanos(clock.now() - origin);
        let most = before.elapsed();
        assert!(least.mul_f64(0.999) <= counted && counted <= most.mul_f64(1.001), "{least:?} {counted:?} {most:?}");
    }
}
