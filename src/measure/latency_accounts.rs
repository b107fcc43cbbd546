//! From the accounts of client and server to records: what each side spends on a round trip. Owns which figure comes from the
//! timed pairs and which from the pair that counts.

use super::account::Account;
use super::latency::Timed;
use super::latency_records::{Records, per};
use super::pair::Found;
use super::system_calls::Calls;
use crate::protocol::Protocol;
use crate::result::record::{Better, Kind, Measurement, Status};
use crate::transport::{self, Wait};

/// The metric that holds each call's share by name among its settings.
const SYSTEM_CALLS: &str = "system-calls";

/// The metric of a runtime's looks for events.
const POLLS: &str = "polls";

/// A figure of an account, for each message.
struct Figure {
    metric: &'static str,
    unit: &'static str,
    kind: Kind,
    of: fn(&Account) -> Option<u64>,
}

impl Figure {
    const fn count(metric: &'static str, of: fn(&Account) -> Option<u64>) -> Self {
        Self { metric, unit: "1/message", kind: Kind::TimedCount, of }
    }
}

/// What the timed pairs account for.
const SPENT: [Figure; 5] = [
    Figure { metric: "cpu-time", unit: "ns/message", kind: Kind::Rate, of: |account| Some(account.cpu_ns) },
    Figure::count("voluntary-switches", |account| Some(account.voluntary_switches)),
    Figure::count("involuntary-switches", |account| Some(account.involuntary_switches)),
    Figure::count("page-faults", |account| Some(account.page_faults)),
    Figure::count(POLLS, |account| Some(account.polls)),
];

/// What the pair that counts accounts for.
const COUNTED: [Figure; 3] = [
    Figure::count("allocations", |account| account.allocations),
    Figure { unit: "B/message", ..Figure::count("allocated-bytes", |account| account.allocated_bytes) },
    Figure::count(SYSTEM_CALLS, |account| account.system_calls.map(|calls| calls.all)),
];

impl Records<'_> {
    /// CPU time and context switches of a round trip, side by side, in the timed pairs: the median over the processes.
    pub(super) fn spent(&self, protocol: &Protocol, wait: Wait) -> Vec<Measurement> {
        let key = (protocol.name.clone(), wait);
        let timed = self.timed(&key);
        let trips: u64 = timed.iter().map(|timed| timed.found.window.round_trips).sum();
        let on_threads = transport::info(&protocol.transport).is_some_and(|info| info.blocking);
        let mut all = Vec::new();
        for side in ["client", "server"] {
            for Figure { metric, unit, kind, of } in SPENT {
                let measurement = self.begin(protocol, wait).side(side).metric(metric, unit, kind, Better::Lower);
                let figure = |timed: &&Timed| {
                    account(&timed.found, side)
                        .as_ref()
                        .and_then(of)
                        .map(|sum| per(sum, timed.found.window.round_trips))
                };
                let figures: Option<Vec<f64>> = timed.iter().map(figure).collect();
                all.push(match figures {
                    _ if timed.is_empty() => self.missing(&key, measurement),
                    _ if metric == POLLS && on_threads => measurement
                        .without(Status::NotMeasured, "its threads look for messages by system calls of their own"),
                    Some(figures) => self.judged(&key, measurement.over_processes(&figures).window(trips)),
                    None => measurement.without(Status::NotMeasured, self.untold()),
                });
            }
        }
        all
    }

    /// Allocations and system calls of a round trip, in the pair that counts.
    pub(super) fn counted(&self, protocol: &Protocol, wait: Wait) -> Vec<Measurement> {
        let key = (protocol.name.clone(), wait);
        let found = self.session.counted.get(&key);
        let mut all = Vec::new();
        for side in ["client", "server"] {
            let account = found.and_then(|found| account(found, side));
            for Figure { metric, unit, kind, of } in COUNTED {
                let measurement = self.begin(protocol, wait).side(side).metric(metric, unit, kind, Better::Lower);
                let others = found.and_then(|found| found.other_allocations).filter(|_| metric != SYSTEM_CALLS);
                all.push(match (found, account, account.as_ref().and_then(of)) {
                    _ if others.is_some_and(|others| others > 0) => {
                        let reason = "threads that are neither the client's nor the server's have allocated";
                        measurement.without(Status::NotMeasured, reason)
                    }
                    (Some(found), account, Some(sum)) => {
                        let trips = found.window.round_trips;
                        let calls = account.and_then(|account| account.system_calls).filter(|_| metric == SYSTEM_CALLS);
                        let by_name = calls.iter().flat_map(Calls::by_name);
                        let nothing = calls.and_then(|calls| calls.found_nothing).map(|calls| ("found_nothing", calls));
                        let by_name = by_name.chain(nothing);
                        let begun = measurement.value(per(sum, trips)).window(trips);
                        by_name.fold(begun, |m, (name, calls)| m.setting(name, per(calls, trips)))
                    }
                    (Some(found), Some(_), None) => {
                        let reason = if side == "client" { &found.window.uncounted } else { &found.server_uncounted };
                        measurement
                            .without(Status::NotMeasured, reason.clone().unwrap_or_else(|| "not counted".to_owned()))
                    }
                    (Some(_), None, None) => measurement.without(Status::NotMeasured, self.untold()),
                    (None, ..) => self.missing(&key, measurement),
                });
            }
        }
        all
    }
}

fn account(found: &Found, side: &str) -> Option<Account> {
    if side == "client" { Some(found.window.account) } else { found.server }
}
