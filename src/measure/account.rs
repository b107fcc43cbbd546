//! What a process has spent: CPU time, context switches, system calls, page faults, allocations, memory. Owns the meter that
//! takes the figures, in the process itself and between its windows, never beside them.

use std::ops::{Add, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use procfs::process::{Process, Task};
use serde::{Deserialize, Serialize};

use super::allocations::{self, Group};
use super::system_calls::{Calls, Counters};

/// What a process has spent so far, or in a window: the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// Context switches because a thread waited.
    pub voluntary_switches: u64,
    /// Context switches because something else was to run.
    pub involuntary_switches: u64,
    /// Page faults, minor and major.
    pub page_faults: u64,
    /// System calls, where they are counted.
    pub system_calls: Option<Calls>,
    /// Calls for memory, where they are counted.
    pub allocations: Option<u64>,
    /// Bytes that those asked for.
    pub allocated_bytes: Option<u64>,
    /// Looks for events by a runtime that does not park.
    pub polls: u64,
    /// Memory of the process in RAM at the end, in bytes: not a difference, and not of some of its threads.
    pub resident_bytes: Option<u64>,
}

impl Sub for Account {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        let both = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            page_faults: self.page_faults.saturating_sub(earlier.page_faults),
            system_calls: self.system_calls.zip(earlier.system_calls).map(|(now, then)| now.since(then)),
            allocations: both(self.allocations, earlier.allocations),
            allocated_bytes: both(self.allocated_bytes, earlier.allocated_bytes),
            polls: self.polls - earlier.polls,
            resident_bytes: self.resident_bytes,
        }
    }
}

impl Add for Account {
    type Output = Self;

    /// Two windows together; memory is the later one's.
    fn add(self, later: Self) -> Self {
        let both =
            |one: Option<u64>, other: Option<u64>| one.zip(other).map(|(one, other)| one + other).or(one).or(other);
        Self {
            cpu_ns: self.cpu_ns + later.cpu_ns,
            voluntary_switches: self.voluntary_switches + later.voluntary_switches,
            involuntary_switches: self.involuntary_switches + later.involuntary_switches,
            page_faults: self.page_faults + later.page_faults,
            system_calls: match (self.system_calls, later.system_calls) {
                (Some(one), Some(other)) => Some(one.plus(other)),
                (one, other) => one.or(other),
            },
            allocations: both(self.allocations, later.allocations),
            allocated_bytes: both(self.allocated_bytes, later.allocated_bytes),
            polls: self.polls + later.polls,
            resident_bytes: later.resident_bytes.or(self.resident_bytes),
        }
    }
}

/// Which end of a window a sample is taken at: what is cheap to disturb is read far from the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The window begins after it.
    Begin,
    /// The window has ended before it.
    End,
}

/// Which threads of this process an account is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All but these.
    ProcessBut(Vec<i32>),
    /// Those that are pinned to a core, as a thread's pinning passes on to the threads that it starts, but these; their
    /// allocations by what they have joined.
    Core {
        /// The core.
        core: usize,
        /// Threads on it that are no part of what is measured.
        but: Vec<i32>,
        /// The group that its threads join.
        group: Group,
    },
}

impl Scope {
    fn has(&self, task: &Task) -> bool {
        match self {
            Self::ProcessBut(but) => !but.contains(&task.tid),
            Self::Core { core, but, .. } => {
                let only = u32::try_from(*core).ok().map(|core| vec![(core, core)]);
                !but.contains(&task.tid) && task.status().is_ok_and(|status| status.cpus_allowed_list == only)
            }
        }
    }
}

/// Takes the accounts of this process.
#[derive(Debug)]
pub struct Meter {
    scope: Scope,
    system_calls: Result<Counters, String>,
    /// Whether allocations are counted: found out once, for finding out allocates.
    allocations: bool,
    polls: Arc<AtomicU64>,
}

impl Meter {
    /// Opens the accounts. System calls are counted, if `count`, of the calling thread and of those that it starts from now on.
    #[must_use]
    pub fn open(count: bool, scope: Scope, polls: Arc<AtomicU64>) -> Self {
        let system_calls =
            if count { Counters::open() } else { Err("counted in the counting program only".to_owned()) };
        Self { scope, system_calls, allocations: allocations::is_counting(), polls }
    }

    /// Looks of a runtime that does not park are counted by `polls` from now on.
    pub fn count_polls(&mut self, polls: Arc<AtomicU64>) {
        self.polls = polls;
    }

    /// Why system calls are not counted.
    #[must_use]
    pub fn uncounted(&self) -> Option<&str> {
        self.system_calls.as_ref().err().map(String::as_str)
    }

    /// The account now.
    pub fn sample(&mut self, edge: Edge) -> Account {
        let mut account = Account::default();
        match edge {
            Edge::Begin => {
                self.add_tasks(&mut account);
                account.cpu_ns = self.cpu_ns();
                self.add_counters(&mut account);
            }
            Edge::End => {
                self.add_counters(&mut account);
                account.cpu_ns = self.cpu_ns();
                self.add_tasks(&mut account);
            }
        }
        account
    }

    fn add_counters(&mut self, account: &mut Account) {
        account.system_calls = self.system_calls.as_mut().ok().and_then(|counter| counter.read().ok());
        if self.allocations {
            let group = match self.scope {
                Scope::ProcessBut(_) => Group::Rest,
                Scope::Core { group, .. } => group,
            };
            let counted = allocations::count_of(group);
            account.allocations = Some(counted.allocations);
            account.allocated_bytes = Some(counted.bytes);
        }
        account.polls = self.polls.load(Ordering::Relaxed);
    }

    fn add_tasks(&self, account: &mut Account) {
        for task in self.tasks() {
            if let Ok(status) = task.status() {
                account.voluntary_switches += status.voluntary_ctxt_switches.unwrap_or(0);
                account.involuntary_switches += status.nonvoluntary_ctxt_switches.unwrap_or(0);
            }
            if let Ok(stat) = task.stat() {
                account.page_faults += stat.minflt + stat.majflt;
            }
        }
        if let (Scope::ProcessBut(_), Ok(memory)) = (&self.scope, Process::myself().and_then(|own| own.statm())) {
            account.resident_bytes = Some(memory.resident * procfs::page_size());
        }
    }

    /// The threads that the account is about, of those that live.
    fn tasks(&self) -> impl Iterator<Item = Task> {
        let tasks = Process::myself().and_then(|own| own.tasks());
        tasks.into_iter().flatten().flatten().filter(|task| self.scope.has(task))
    }

    fn cpu_ns(&self) -> u64 {
        match &self.scope {
            // The process's clock knows the threads that have ended, too.
            Scope::ProcessBut(but) => {
                let all = process_cpu_ns();
                let own = Process::myself();
                let exempt = own.iter().flat_map(|own| but.iter().filter_map(|tid| own.task_from_tid(*tid).ok()));
                all.saturating_sub(exempt.map(|task| cpu_ns_of(&task)).sum())
            }
            Scope::Core { .. } => self.tasks().map(|task| cpu_ns_of(&task)).sum(),
        }
    }
}

fn cpu_ns_of(task: &Task) -> u64 {
    task.schedstat().map_or(0, |schedule| schedule.sum_exec_runtime)
}

fn process_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

/// The calling thread's id, as [`Meter::open`] takes it.
#[must_use]
pub fn this_thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_done_between_two_samples() {
        let mut meter = Meter::open(true, Scope::ProcessBut(Vec::new()), Arc::default());
        let before = meter.sample(Edge::Begin);
        let mut work = 0_u64;
        let start = std::time::Instant::now();
        while start.elapsed().as_millis() < 20 {
            work = std::hint::black_box(work.wrapping_add(1));
        }
        for _ in 0..100 {
            std::thread::yield_now();
        }
        let spent = meter.sample(Edge::End) - before;
        assert!(spent.cpu_ns > 5_000_000 && spent.resident_bytes > Some(100_000), "{spent:?}");
        match (spent.system_calls, meter.uncounted()) {
            // Reading the counters, clocks and files takes calls too.
            (Some(calls), None) => assert!((100..200).contains(&calls.all), "{calls:?}"),
            (None, Some(reason)) => assert!(!reason.is_empty()),
            other => panic!("{other:?}"),
        }
    }
}
