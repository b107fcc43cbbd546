//! How figures are taken. One driver a file; no driver knows a concrete codec or stack, and none knows the command line.
//!
//! | module | owns |
//! | --- | --- |
//! | [`allocations`] | the counting allocator and its counters |
//! | [`workload`] | what can be timed: a subject and its cells |
//! | [`job`] | what a fresh process is started for, and how it talks with its driver |
//! | [`worker`] | one fresh process of the serialization suite: its plan, its rounds, its counts |
//! | [`shuffle`] | an order at random |
//! | [`turns`] | taking turns with other runs of one session |
//! | [`session`] | one session of fresh processes, and every figure that came back |
//! | [`processes`] | starting fresh processes and hearing them out |
//! | [`progress`] | bars and lines on stderr |
//! | [`machine_load`] | CPU time of foreign processes, steal, load average |
//! | [`hiccup`] | the meter of the machine's own stalls |
//! | [`conditions`] | the fit gate, and the conditions around a run |
//! | [`doctor`] | is this machine fit, and what would mend it |
//! | [`instructions`] | instructions per operation, from what callgrind counted |
//! | [`records`] | from a session's figures to the records of a results file |
//! | [`serialization`] | the driver of the serialization suite |
//! | `account` | what a process has spent: CPU, switches, system calls, memory (feature `net`, as all that follow) |
//! | `system_calls` | system calls by name, as the kernel counts them |
//! | `server` | one fresh process: the server of one protocol |
//! | `client` | one fresh process: its client, in a closed loop |
//! | `load` | open-loop load: the scheduler, and one fresh process that is the generator of one protocol |
//! | `sustained` | the driver of the sustained suite |
//! | `socket_pair` | what one message costs the kernel |
//! | `wake_up` | what it takes to wake a thread |
//! | `tail` | how many separate stalls a percentile rests on |
//! | `pair` | a server and its client, from start to end |
//! | `keep_awake` | cores kept out of their idle states |
//! | `latency` | the driver of the latency suite |
//! | `latency_records` | its figures as the records of a results file |
//! | `latency_ledger` | bytes, and what the machine takes, as records |
//! | `latency_accounts` | the accounts of both sides as records |
//! | `arm` | what the HTTP study's driver asks of an arm |
//! | `http_server` | one fresh process: the server of one arm |
//! | `http_client` | one fresh process: its client, in a closed loop on every connection |
//! | `http_pair` | the two, from start to end |
//! | `http` | the driver of the HTTP study |
//! | `http_records` | its figures as the records of a results file |
//! | `http_verdicts` | what is said of one arm against another |
//! | `http_yardstick` | a server that is not ours beside one of the arms |
//! | `nginx` | that server |

#[cfg(feature = "net")]
pub mod account;
pub mod allocations;
#[cfg(feature = "net")]
pub mod arm;
#[cfg(feature = "net")]
pub mod client;
pub mod conditions;
pub mod doctor;
pub mod hiccup;
#[cfg(feature = "net")]
pub mod http;
#[cfg(feature = "net")]
pub mod http_client;
#[cfg(feature = "net")]
pub mod http_pair;
#[cfg(feature = "net")]
mod http_records;
#[cfg(feature = "net")]
pub mod http_server;
#[cfg(feature = "net")]
mod http_verdicts;
#[cfg(feature = "net")]
pub mod http_yardstick;
pub mod instructions;
pub mod job;
#[cfg(feature = "net")]
pub mod keep_awake;
#[cfg(feature = "net")]
pub mod latency;
#[cfg(feature = "net")]
mod latency_accounts;
#[cfg(feature = "net")]
mod latency_ledger;
#[cfg(feature = "net")]
pub mod latency_records;
#[cfg(feature = "net")]
pub mod load;
pub mod machine_load;
#[cfg(feature = "net")]
mod nginx;
#[cfg(feature = "net")]
pub mod pair;
pub mod pinning;
pub mod processes;
pub mod progress;
pub mod records;
pub mod serialization;
#[cfg(feature = "net")]
pub mod server;
pub mod session;
pub mod shuffle;
#[cfg(feature = "net")]
pub mod socket_pair;
#[cfg(feature = "net")]
pub mod sustained;
#[cfg(feature = "net")]
pub mod system_calls;
#[cfg(feature = "net")]
pub mod tail;
pub mod turns;
#[cfg(feature = "net")]
pub mod wake_up;
pub mod worker;
pub mod workload;
