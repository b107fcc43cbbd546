//! How figures are taken. One driver a file; no driver knows a concrete codec or stack, and none knows the command line.
//!
//! | module | owns |
//! | --- | --- |
//! | [`allocations`] | the counting allocator and its counters |
//! | [`workload`] | what can be timed: a subject and its cells |
//! | [`worker`] | one fresh process: its plan, its rounds, its counts |
//! | [`session`] | one session of fresh processes, and every figure that came back |
//! | [`processes`] | starting fresh processes and hearing them out |
//! | [`progress`] | bars and lines on stderr |
//! | [`machine_load`] | CPU time of foreign processes, steal, load average |
//! | [`hiccup`] | the meter of the machine's own stalls |
//! | [`conditions`] | the fit gate, and the conditions around a run |
//! | [`instructions`] | instructions per operation, from what callgrind counted |
//! | [`records`] | from a session's figures to the records of a results file |
//! | [`serialization`] | the driver of the serialization suite |

pub mod allocations;
pub mod conditions;
pub mod hiccup;
pub mod instructions;
pub mod machine_load;
pub mod pinning;
pub mod processes;
pub mod progress;
pub mod records;
pub mod serialization;
pub mod session;
pub mod worker;
pub mod workload;
