//! What the sustained suite is asked to do. Owns the options, the names of rows and their files, and the settings by which a
//! run that is resumed is told from another.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::measure::load::arrivals::Arrivals;
use crate::protocol::Protocol;
use crate::transport::{Address, Wait, Writes};
use crate::vote::corpus;

/// How fast votes are to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Votes a second.
    Votes(f64),
    /// A share of each row's own capacity.
    Share(f64),
}

/// What the suite is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The protocols.
    pub protocols: Vec<Protocol>,
    /// When votes are written: each of these is a row of its own.
    pub writes: Vec<Writes>,
    /// How fast votes come.
    pub rate: Rate,
    /// How they are spread over time.
    pub arrivals: Arrivals,
    /// Votes that are due at once.
    pub burst: u32,
    /// How long each row is loaded; none where only capacities are sought.
    pub duration: Option<Duration>,
    /// Whether to seek each row's capacity whatever the load.
    pub search: bool,
    /// How long a rate must be held to count as held.
    pub probe: Duration,
    /// Load before the load that counts.
    pub warm_up: Duration,
    /// Load that allocations and system calls are counted over; none where they are not counted.
    pub count: Option<Duration>,
    /// Length of an interval.
    pub interval: Duration,
    /// Connections.
    pub connections: usize,
    /// Votes in flight at most, over all connections.
    pub in_flight: usize,
    /// How servers wait.
    pub wait: Wait,
    /// Cores of generator and server; where there are none, nobody is pinned.
    pub cores: Option<(usize, usize)>,
    /// A server that is there already, and the certificate that it must show.
    pub connect: Option<(Address, Option<String>)>,
    /// Longest message.
    pub max_message_bytes: u64,
    /// How long a stack may answer nothing.
    pub deadline: Duration,
    /// Measure on an unfit machine too.
    pub force: bool,
    /// Seed of the arrivals.
    pub seed: u64,
}

/// One row: a protocol, and when it writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowKey {
    /// The protocol.
    pub protocol: Protocol,
    /// When votes are written.
    pub writes: Writes,
}

impl RowKey {
    /// The row's name in sentences.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} (writes {})", self.protocol.name, self.writes.name())
    }

    /// What its files are named by.
    #[must_use]
    pub fn stem(&self) -> String {
        match self.writes {
            Writes::Batched => self.protocol.name.clone(),
            Writes::Each => format!("{}.each", self.protocol.name),
        }
    }
}

impl Options {
    /// The rows, in the order in which they run.
    #[must_use]
    pub fn rows(&self) -> Vec<RowKey> {
        let row = |protocol: &Protocol, writes: Writes| RowKey { protocol: protocol.clone(), writes };
        self.writes.iter().flat_map(|writes| self.protocols.iter().map(|protocol| row(protocol, *writes))).collect()
    }

    /// How long the run takes at least, where nothing goes wrong and nobody has to be waited for.
    #[must_use]
    pub fn takes(&self) -> Duration {
        let probes = if self.search || matches!(self.rate, Rate::Share(_)) {
            super::capacity::CLOSED + self.probe * super::capacity::PROBES
        } else {
            Duration::ZERO
        };
        let load = self.duration.map_or(Duration::ZERO, |duration| self.warm_up + duration);
        let row = self.count.unwrap_or_default() + probes + load + Duration::from_secs(1);
        row * u32::try_from(self.rows().len()).unwrap_or(u32::MAX)
    }

    /// What is recorded of the whole run. Two runs with other settings are no parts of one.
    #[must_use]
    pub fn settings(&self) -> BTreeMap<String, Value> {
        let rate = match self.rate {
            Rate::Votes(rate) => json!(rate),
            Rate::Share(share) => json!(format!("{} % of capacity", 100.0 * share)),
        };
        let all = [
            ("protocols", json!(self.protocols.iter().map(|protocol| &protocol.name).collect::<Vec<_>>())),
            ("writes", json!(self.writes)),
            ("rate", rate),
            ("arrivals", json!(self.arrivals)),
            ("burst", json!(self.burst)),
            ("duration_ns", json!(self.duration.map(nanoseconds))),
            ("search", json!(self.search)),
            ("probe_ns", json!(nanoseconds(self.probe))),
            ("warm_up_ns", json!(nanoseconds(self.warm_up))),
            ("count_ns", json!(self.count.map(nanoseconds))),
            ("interval_ns", json!(nanoseconds(self.interval))),
            ("connections", json!(self.connections)),
            ("in_flight", json!(self.in_flight)),
            ("server_wait", json!(self.wait)),
            ("generator_wait", json!("poll: it never sleeps, whatever its server does")),
            ("runtime", json!("tokio, current thread")),
            ("client_core", json!(self.cores.map(|(client, _)| client))),
            ("server_core", json!(self.cores.map(|(_, server)| server))),
            ("own_server", json!(self.connect.is_none())),
            ("corpus_votes", json!(corpus::SIZE)),
            ("corpus_seed", json!(corpus::SEED)),
            ("max_message_bytes", json!(self.max_message_bytes)),
            ("deadline_ns", json!(nanoseconds(self.deadline))),
            ("arrival_seed", json!(self.seed)),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Nanoseconds of a duration of less than five hundred years.
#[must_use]
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
