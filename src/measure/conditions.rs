//! Whether the machine is fit, and what it was like before, during and after a run. Owns the gate that waits for a quiet
//! machine and the watch around a run; what is recorded is [`Conditions`], which says why where the answer is no.

use std::fs;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::machine_load::{Load, Sample, load_average};
use super::processes::Stop;
use super::{hiccup, pinning};
use crate::result::conditions::{Conditions, CoreHiccups, Hiccups, When};

/// Foreign CPU time, as a share of all cores', from which a machine, or a round, counts as disturbed.
pub const FOREIGN_LIMIT: f64 = 0.02;

/// Stolen time, as a share of all cores', from which a round counts as disturbed.
pub const STEAL_LIMIT: f64 = 0.02;

/// Share of dropped rounds above which a run is unfit.
pub const DROPPED_LIMIT: f64 = 0.20;

/// How long a machine must be quiet to be fit.
const QUIET: Duration = Duration::from_secs(5);

/// How long the gate waits for that.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long the hiccup meter watches each core, before and after.
const METER: Duration = Duration::from_secs(1);

/// Whether a round was disturbed: decided from who else used the machine, before any value is looked at.
#[must_use]
pub fn is_disturbed(foreign_share: f64, steal_share: f64) -> bool {
    foreign_share > FOREIGN_LIMIT || steal_share > STEAL_LIMIT
}

/// Whether so many of the rounds are disturbed that what they gave is unfit.
#[must_use]
pub fn is_too_much(disturbed: usize, rounds: usize) -> bool {
    share(disturbed, rounds.max(1)) > DROPPED_LIMIT
}

/// Waits for a quiet machine and says so through `say`; one look is enough where it is going to be measured `anyway`. Gives
/// how long it waited, and why the machine is unfit if it is.
pub fn wait_until_fit(anyway: bool, stop: &Stop, say: &mut dyn FnMut(&str)) -> (Duration, Option<String>) {
    let patience = if anyway { Duration::ZERO } else { PATIENCE };
    let start = Instant::now();
    let mut told = false;
    loop {
        let before = Sample::take(std::process::id());
        let began = Instant::now();
        while began.elapsed() < QUIET && !stop.is_set() {
            std::thread::sleep(Duration::from_millis(100));
        }
        let load = Sample::take(std::process::id()).since(&before);
        if load.foreign_share < FOREIGN_LIMIT {
            return (start.elapsed(), None);
        }
        if stop.is_set() {
            return (start.elapsed(), Some("the run was ended while it waited for a quiet machine".to_owned()));
        }
        if start.elapsed() + QUIET > patience {
            return (start.elapsed(), Some(unfit(&load, start.elapsed())));
        }
        if !told {
            told = true;
            say(&format!(
                "waiting up to {} s for a quiet machine: other processes use {:.1} % of it",
                PATIENCE.as_secs(),
                100.0 * load.foreign_share
            ));
        }
    }
}

fn unfit(load: &Load, waited: Duration) -> String {
    let (share, waited) = (100.0 * load.foreign_share, waited.as_secs());
    format!("other processes used {share:.1} % of the machine's CPU time, and no quiet moment came in {waited} s")
}

/// The machine around a run, from before its first figure to after its last.
#[derive(Debug)]
pub struct Watch {
    before: Sample,
    load_before: f64,
    hiccups: Vec<CoreHiccups>,
    gaps: Histogram<u64>,
}

impl Watch {
    /// Meters every core that this process may use, and opens the accounts.
    #[must_use]
    pub fn begin() -> Self {
        let mut watch = Self {
            before: Sample::take(std::process::id()),
            load_before: load_average(),
            hiccups: Vec::new(),
            gaps: hiccup::histogram(),
        };
        watch.meter(When::Before);
        watch
    }

    /// Meters again, closes the accounts, and says what the machine was like: `run` has what the run itself found out.
    #[must_use]
    pub fn end(mut self, run: Findings) -> Conditions {
        let load = Sample::take(std::process::id()).since(&self.before);
        let load_after = load_average();
        self.meter(When::After);
        let Findings { mut reasons, forced, waited, core, rounds_total, dropped } = run;
        if is_too_much(dropped.len(), rounds_total) {
            reasons.push(format!("{} of {rounds_total} rounds were disturbed", dropped.len()));
        }
        Conditions {
            fit: reasons.is_empty(),
            reasons,
            boot_id: read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|| "unknown".to_owned()),
            load_before: self.load_before,
            load_after,
            foreign_cpu_share: load.foreign_share,
            steal_share: load.steal_share,
            hiccup_ns: summary(&self.gaps),
            hiccups: self.hiccups,
            rounds_dropped: Some(dropped.len() as u64),
            rounds_total: Some(rounds_total as u64),
            rounds_disturbed: None,
            dropped,
            forced: Some(forced),
            waited_ns: Some(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX)),
            pinned_to: core.map(|core| vec![core]),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            boost: read("/sys/devices/system/cpu/cpufreq/boost").map(|boost| boost == "1"),
        }
    }

    fn meter(&mut self, when: When) {
        for core in pinning::allowed().unwrap_or_default() {
            // A core that cannot be metered is missing from the record, and so is seen to be.
            if let Ok(gaps) = hiccup::measure(core, METER) {
                self.hiccups.push(CoreHiccups { core, when, hiccup_ns: summary(&gaps) });
                let _ = self.gaps.add(&gaps);
            }
        }
    }
}

/// What a run has found out about its own conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Reasons against the machine's fitness, each in one sentence.
    pub reasons: Vec<String>,
    /// Whether it was measured all the same.
    pub forced: bool,
    /// How long the run waited for a quiet machine.
    pub waited: Duration,
    /// The core that the measured processes were pinned to.
    pub core: Option<usize>,
    /// All rounds.
    pub rounds_total: usize,
    /// The disturbed rounds, each as process and round.
    pub dropped: Vec<[usize; 2]>,
}

/// The percentiles of gaps that are recorded.
pub(super) fn summary(gaps: &Histogram<u64>) -> Hiccups {
    Hiccups {
        p50: gaps.value_at_quantile(0.5),
        p99: gaps.value_at_quantile(0.99),
        p99_9: gaps.value_at_quantile(0.999),
        max: gaps.max(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of rounds")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// The first line of a file of the kernel's, or `None` where this machine has none.
fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}
