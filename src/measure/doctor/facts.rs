//! What a machine is like: read out of the kernel's files, and measured where nothing is written down. Owns no judgement.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_getres};

use super::super::machine_load::{Sample, load_average};
use super::super::{hiccup, pinning};
use crate::result::conditions::Hiccups;
use crate::result::machine::Machine;

/// Clock reads that its cost is taken over.
const CLOCK_READS: u32 = 200_000;

/// What a machine is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Cores that this process may run on.
    pub cores: Vec<usize>,
    /// Whether threads can be pinned to each of them, and why not.
    pub pinning: Result<(), String>,
    /// The hypervisor, `none` on bare metal.
    pub hypervisor: String,
    /// The frequency governor.
    pub governor: Option<String>,
    /// Whether cores may exceed their nominal frequency.
    pub boost: Option<bool>,
    /// Whether cores share one another's execution units.
    pub smt: Option<bool>,
    /// Over one minute.
    pub load_average: f64,
    /// CPU time of other user processes, as a share of all cores' time.
    pub foreign_share: f64,
    /// CPU time that the hypervisor took away, as a share of all cores' time.
    pub steal_share: f64,
    /// The kernel's clock source.
    pub clock_source: String,
    /// What the clock says of its own resolution.
    pub clock_resolution_ns: u64,
    /// The smallest step that was seen.
    pub clock_step_ns: u64,
    /// What reading it costs.
    pub clock_cost_ns: f64,
    /// By how much the kernel may delay a timed wait.
    pub timer_slack_ns: Option<u64>,
    /// Gaps of a spinning thread, by core.
    pub hiccups: Vec<(usize, Hiccups)>,
    /// File descriptors that this process may have; `None` where there is no limit.
    pub descriptors: Option<u64>,
    /// The loopback device's MTU.
    pub loopback_mtu: Option<u64>,
    /// Swap, and how much of it is used.
    pub swap_bytes: (u64, u64),
    /// The mode of transparent huge pages.
    pub huge_pages: Option<String>,
}

impl Facts {
    /// Looks at this machine; the hiccup meter spins on all cores at once for `meter`, and the load of others is taken meanwhile.
    #[must_use]
    pub fn gather(meter: Duration) -> Self {
        let cores = pinning::allowed().unwrap_or_default();
        let before = Sample::take(std::process::id());
        let hiccups = meter_all(&cores, meter);
        let load = Sample::take(std::process::id()).since(&before);
        let failed = hiccups.iter().find_map(|(core, found)| {
            let error = found.as_ref().err()?;
            Some(format!("not to core {core}: {error}"))
        });
        let machine = Machine::here();
        let (clock_step_ns, clock_cost_ns) = clock();
        let resolution = clock_getres(ClockId::Monotonic);
        Self {
            pinning: failed.map_or(Ok(()), Err),
            hiccups: hiccups.into_iter().filter_map(|(core, found)| Some((core, found.ok()?))).collect(),
            cores,
            hypervisor: machine.hypervisor,
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            boost: boost(),
            smt: read("/sys/devices/system/cpu/smt/active").map(|active| active == "1"),
            load_average: load_average(),
            foreign_share: load.foreign_share,
            steal_share: load.steal_share,
            clock_source: machine.clock_source,
            clock_resolution_ns: u64::try_from(resolution.tv_sec * 1_000_000_000 + resolution.tv_nsec)
                .unwrap_or(u64::MAX),
            clock_step_ns,
            clock_cost_ns,
            timer_slack_ns: read("/proc/self/timerslack_ns").and_then(|slack| slack.parse().ok()),
            descriptors: getrlimit(Resource::Nofile).current,
            loopback_mtu: read("/sys/class/net/lo/mtu").and_then(|mtu| mtu.parse().ok()),
            swap_bytes: swap(),
            huge_pages: read("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|modes| chosen(&modes)),
        }
    }
}

/// The gaps on each core, all at the same time.
fn meter_all(cores: &[usize], duration: Duration) -> Vec<(usize, std::io::Result<Hiccups>)> {
    thread::scope(|scope| {
        let meters: Vec<_> =
            cores.iter().map(|core| (*core, scope.spawn(move || hiccup::measure(*core, duration)))).collect();
        let found = meters.into_iter().map(|(core, meter)| {
            let gaps = meter.join().unwrap_or_else(|_| Err(std::io::Error::other("the meter has ended")));
            (core, gaps.map(|gaps| super::super::conditions::summary(&gaps)))
        });
        found.collect()
    })
}

/// The smallest step of the clock that was seen, in nanoseconds, and what a read of it costs.
fn clock() -> (u64, f64) {
    let start = Instant::now();
    let (mut last, mut step) = (start, Duration::MAX);
    for _ in 0..CLOCK_READS {
        let now = Instant::now();
        if now > last {
            step = step.min(now - last);
        }
        last = now;
    }
    let cost = (last - start).as_secs_f64() * 1e9 / f64::from(CLOCK_READS);
    (u64::try_from(step.as_nanos()).unwrap_or(u64::MAX), cost)
}

/// By the name of whichever driver there is.
fn boost() -> Option<bool> {
    let boost = read("/sys/devices/system/cpu/cpufreq/boost").map(|boost| boost == "1");
    boost.or_else(|| read("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == "0"))
}

fn swap() -> (u64, u64) {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = |name: &str| {
        let line = memory.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kibibytes| kibibytes << 10)
    };
    let total = bytes("SwapTotal");
    (total, total.saturating_sub(bytes("SwapFree")))
}

/// The one of several modes that stands in brackets.
fn chosen(modes: &str) -> Option<String> {
    modes.split_whitespace().find_map(|mode| Some(mode.strip_prefix('[')?.strip_suffix(']')?.to_owned()))
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_in_brackets_is_the_chosen_one() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always madvise"), None);
    }
}
