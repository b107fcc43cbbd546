//! The records of what else the machine did during a run. Owns the types; taking the figures is `measure`'s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What else the machine did before, during and after a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Whether the machine was fit for rates.
    pub fit: bool,
    /// Why not, each in one sentence.
    pub reasons: Vec<String>,
    /// Changes with every boot.
    pub boot_id: String,
    /// One-minute load average before; recorded only, for compiling raises it.
    pub load_before: f64,
    /// One-minute load average after.
    pub load_after: f64,
    /// CPU time that other user processes used during the run, as a share of all CPU time.
    pub foreign_cpu_share: f64,
    /// CPU time that the hypervisor took away, as a share of all CPU time.
    pub steal_share: f64,
    /// Gaps in a spinning thread, over all cores, before and after.
    pub hiccup_ns: Hiccups,
    /// The same, core by core.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hiccups: Vec<CoreHiccups>,
    /// Rounds dropped for all candidates because the machine was disturbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_dropped: Option<u64>,
    /// All rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_total: Option<u64>,
    /// Rounds in which the machine was disturbed and which were kept all the same, where nothing is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_disturbed: Option<u64>,
    /// The dropped rounds, each as process and round from 0, so that every verdict can be computed anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<[usize; 2]>,
    /// Whether `--force` measured on a machine that was not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<bool>,
    /// How long the run waited for the machine to become fit, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// The cores that the measured threads were pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_to: Option<Vec<usize>>,
    /// The frequency governor, where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Whether the processor may exceed its nominal frequency, where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boost: Option<bool>,
}

/// Gaps between a spinning thread's own clock reads: what the machine does to a thread that never waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hiccups {
    /// The median gap.
    pub p50: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p99_9: u64,
    /// The longest.
    pub max: u64,
}

/// The gaps on one core at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreHiccups {
    /// The core.
    pub core: usize,
    /// Before or after the run.
    pub when: When,
    /// The gaps, in nanoseconds.
    pub hiccup_ns: Hiccups,
}

/// Before or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Before the measurement.
    Before,
    /// After it.
    After,
}

impl Conditions {
    /// The dropped rounds as the statistics take them: a mark for each round of each process; empty where none was.
    #[must_use]
    pub fn dropped_mask(&self, processes: usize, rounds: usize) -> Vec<Vec<bool>> {
        if self.dropped.is_empty() {
            return Vec::new();
        }
        let mut mask = vec![vec![false; rounds]; processes];
        for [process, round] in &self.dropped {
            if let Some(mark) = mask.get_mut(*process).and_then(|rounds| rounds.get_mut(*round)) {
                *mark = true;
            }
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_rounds_become_marks() {
        let conditions = Conditions { dropped: vec![[1, 0], [7, 7]], ..Conditions::default() };
        assert_eq!(conditions.dropped_mask(2, 2), vec![vec![false, false], vec![true, false]]);
        assert!(Conditions::default().dropped_mask(2, 2).is_empty());
    }
}
