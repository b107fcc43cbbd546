//! Who else uses the machine: CPU time of foreign user processes, time stolen by the hypervisor, load average.
//!
//! Foreign CPU is summed over the other processes' own accounting. "Total less own" would charge the kernel's work for a
//! network stack to foreigners, and would discard the heavy stacks. Kernel threads do not count as foreign.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use procfs::process::{Stat, StatFlags};
use procfs::{Current, CurrentSI, FromRead};

/// CPU accounts of the machine at one moment.
#[derive(Debug, Clone)]
pub struct Sample {
    at: Instant,
    /// The accounts of user processes outside our own tree.
    foreign: HashMap<i32, Account>,
    /// Ticks stolen by the hypervisor, over all cores.
    steal: u64,
    cores: usize,
    ticks_per_second: f64,
}

/// One process's CPU time, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Account {
    /// Its own.
    own: u64,
    /// That of the children which have ended and which it has waited for.
    children: u64,
}

/// What happened between two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Time between the samples.
    pub elapsed: Duration,
    /// CPU time of foreign user processes, as a share of all cores' time.
    pub foreign_share: f64,
    /// Time stolen by the hypervisor, as a share of all cores' time.
    pub steal_share: f64,
}

/// Takes samples one after another, at less cost than a single one has: kernel threads, which are most of all processes, are
/// told once and left alone from then on.
#[derive(Debug, Default)]
pub struct Sampler {
    kernel_threads: HashSet<i32>,
}

/// Processes between two pauses.
const PIECE: usize = 4;

impl Sampler {
    /// The accounts now. Processes of the tree under `root` (a process id) are our own. Calls `pause` after every few processes:
    /// whoever takes samples beside a measurement does it in small pieces.
    pub fn take(&mut self, root: u32, pause: &mut dyn FnMut()) -> Sample {
        let mut parents = HashMap::new();
        let mut foreign = HashMap::new();
        let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = listed.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let pids: Vec<i32> = pids.filter(|pid| !self.kernel_threads.contains(pid)).collect();
        for (number, pid) in pids.into_iter().enumerate() {
            if number % PIECE == PIECE - 1 {
                pause();
            }
            // A process may end while it is looked at: then it has no account any more.
            let Ok(file) = fs::File::open(format!("/proc/{pid}/stat")) else { continue };
            let Ok(stat) = Stat::from_read(file) else { continue };
            if stat.flags & StatFlags::PF_KTHREAD.bits() != 0 {
                self.kernel_threads.insert(pid);
                continue;
            }
            parents.insert(stat.pid, stat.ppid);
            let children = u64::try_from(stat.cutime + stat.cstime).unwrap_or(0);
            foreign.insert(stat.pid, Account { own: stat.utime + stat.stime, children });
        }
        let root = i32::try_from(root).unwrap_or(i32::MAX);
        foreign.retain(|pid, _| !descends(*pid, root, &parents));
        let kernel = procfs::KernelStats::current();
        Sample {
            at: Instant::now(),
            foreign,
            steal: kernel.as_ref().ok().and_then(|stats| stats.total.steal).unwrap_or(0),
            cores: kernel.map_or(1, |stats| stats.cpu_time.len().max(1)),
            ticks_per_second: ticks_per_second(),
        }
    }
}

impl Sample {
    /// The accounts now, as [`Sampler::take`] without a pause.
    #[must_use]
    pub fn take(root: u32) -> Self {
        Sampler::default().take(root, &mut || {})
    }

    /// What has happened since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Load {
        let elapsed = self.at - earlier.at;
        let budget = elapsed.as_secs_f64() * self.ticks_per_second * count(self.cores as u64);
        let share = |ticks: u64| if budget > 0.0 { count(ticks) / budget } else { 0.0 };
        Load {
            elapsed,
            foreign_share: share(growth(&earlier.foreign, &self.foreign)),
            steal_share: share(self.steal.saturating_sub(earlier.steal)),
        }
    }
}

/// The load average over one minute, as the kernel keeps it. Recorded only: one's own compiling raises it.
#[must_use]
pub fn load_average() -> f64 {
    procfs::LoadAverage::current().map_or(0.0, |load| f64::from(load.one))
}

/// Ticks that processes have used from one table to the next. A process that ends takes its ticks out of the table, and its
/// parent, having waited for it, brings them back as its children's; so the sums tell, and the short-lived are not missed.
/// Where nobody waited, the sum falls short; then what the living used themselves is the figure.
fn growth(before: &HashMap<i32, Account>, after: &HashMap<i32, Account>) -> u64 {
    let sum = |table: &HashMap<i32, Account>| table.values().map(|account| account.own + account.children).sum::<u64>();
    let own = |pid: &i32| before.get(pid).map_or(0, |account| account.own);
    let living = after.iter().map(|(pid, account)| account.own.saturating_sub(own(pid))).sum();
    sum(after).saturating_sub(sum(before)).max(living)
}

fn descends(mut pid: i32, root: i32, parents: &HashMap<i32, i32>) -> bool {
    for _ in 0..parents.len() {
        if pid == root {
            return true;
        }
        match parents.get(&pid) {
            Some(parent) => pid = *parent,
            None => return false,
        }
    }
    false
}

#[expect(clippy::cast_precision_loss, reason = "ticks and cores stay far below 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}

fn ticks_per_second() -> f64 {
    count(procfs::ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<const N: usize>(accounts: [(i32, u64, u64); N]) -> HashMap<i32, Account> {
        accounts.into_iter().map(|(pid, own, children)| (pid, Account { own, children })).collect()
    }

    #[test]
    fn counts_the_living_the_ended_and_the_short_lived() {
        let before = table([(1, 100, 50), (2, 30, 0)]);
        assert_eq!(growth(&before, &table([(1, 104, 50), (2, 33, 0)])), 7, "both live on");
        assert_eq!(growth(&before, &table([(1, 100, 50 + 35)])), 5, "2 used 5 more, ended, and 1 waited for it");
        assert_eq!(growth(&before, &table([(1, 100, 50 + 9), (2, 30, 0)])), 9, "a child came and went in between");
        assert_eq!(growth(&before, &table([(1, 104, 50)])), 4, "2 ended and nobody waited for it");
        assert_eq!(growth(&before, &before), 0);
    }

    #[test]
    fn our_own_tree_is_not_foreign() {
        let parents = HashMap::from([(10, 1), (11, 10), (12, 11), (20, 1)]);
        assert!(descends(12, 10, &parents) && descends(10, 10, &parents));
        assert!(!descends(20, 10, &parents) && !descends(1, 10, &parents));
    }

    #[test]
    fn sees_this_very_process_when_it_is_foreign() {
        let before = Sample::take(u32::MAX);
        let start = Instant::now();
        let mut work = 0_u64;
        while start.elapsed() < Duration::from_millis(200) {
            work = std::hint::black_box(work.wrapping_add(1));
        }
        let load = Sample::take(u32::MAX).since(&before);
        assert!(load.foreign_share > 0.0 && load.elapsed >= Duration::from_millis(200), "{load:?}");
    }
}
