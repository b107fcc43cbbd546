//! The statistics: pure functions of numbers, which know nothing of votes, files or clocks.
//!
//! | module | owns |
//! | --- | --- |
//! | [`location`] | median, quantile, Hodges-Lehmann estimates |
//! | [`numbers`] | from times by process and round to one number a process |
//! | [`rank`] | Mann-Whitney and Wilcoxon: null distributions, p values, distribution-free intervals |
//! | `row` | one row of a family by itself: its P numbers and what they say |
//! | [`adjust`] | Benjamini-Hochberg |
//! | [`floor`] | the A/A floor: how far the same thing under two labels differs from itself |
//! | [`estimate`](mod@estimate) | one row by itself: its value and intervals |
//! | [`verdict`] | the rule that turns the numbers of a family of rows into verdicts |
//! | [`disturbed`] | verdicts with and without what was disturbed, where nothing is dropped |
//! | [`blocks`] | percentiles and drift of samples that depend on one another |
//! | [`lateness`] | what falls due at a random moment, and a loop that leaves gaps |
//! | [`simulation`] | synthetic noise, and how often the rule errs and finds under it |
//!
//! The unit of replication is the process: it contributes one number per row, whatever the number of its rounds.

pub mod adjust;
pub mod blocks;
pub mod disturbed;
pub mod estimate;
pub mod floor;
pub mod lateness;
pub mod location;
pub mod numbers;
pub mod rank;
mod row;
pub mod simulation;
pub mod verdict;

pub use disturbed::{Both, paired_both_ways};
pub use estimate::{Estimate, estimate};
pub use floor::Resplits;
pub use numbers::StatsError;
pub use rank::Interval;
pub use verdict::{Comparison, Paired, Rule, Unpaired, Verdict, paired, unpaired};
