//! **votebench**: one consensus vote in every wire format, on every network stack, measured so that a sceptic can check it.
//!
//! | module | owns |
//! | --- | --- |
//! | [`vote`] | the logical [`Vote`](vote::Vote), its digest, its JSON form, the seeded corpus |
//! | [`zap`] | a ZAP runtime in its own right: reader, builder, schema parser, code generator |
//! | [`schema`] | what the schema compilers wrote, committed |
//! | [`codec`] | the [`Codec`](codec::Codec) trait, its error, the registry; one wire format a file |
//! | `transport` | the `Transport` and `Connection` traits, the registry; one network stack a file (feature `net`) |
//! | `protocol` | the rows: a codec on a transport under the name the papers use (feature `net`) |
//! | `http` | the HTTP study, one arm a file (feature `net`) |
//! | [`measure`] | clocks, counters, conditions, rounds; one driver a file |
//! | [`stats`] | the statistics: pure functions |
//! | [`result`] | the versioned records of a run, their store, the machine's fingerprint |
//! | [`compare`](mod@compare) | what has changed from one run to another: matching and verdicts |
//! | [`claims`] | what the papers claim, beside what was measured |
//! | [`report`] | tables for terminal and README, plots, the HTML report: pure functions of a result |
//! | [`cli`], [`cmd`] | the command line: types, and one subcommand a file |
//!
//! Who may know whom is checked by `tests/tidy.rs`. How a number comes about is written in `METHODOLOGY.md`.

// Generated code names the runtime `::votebench::zap`, inside this crate as outside of it.
extern crate self as votebench;

pub mod claims;
pub mod cli;
pub mod cmd;
pub mod codec;
pub mod compare;
#[cfg(feature = "net")]
pub mod http;
pub mod measure;
#[cfg(feature = "net")]
pub mod protocol;
pub mod report;
pub mod result;
pub mod schema;
pub mod stats;
#[cfg(feature = "net")]
pub mod transport;
pub mod vote;
pub mod zap;
