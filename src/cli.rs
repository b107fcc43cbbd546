//! The command line's types: what can be asked for. Owns no behaviour; each subcommand's is in [`cmd`](crate::cmd).

use clap::{Parser, Subcommand};

/// One consensus vote in every wire format, on every network stack, measured so that a sceptic can check it.
#[derive(Debug, Parser)]
#[command(name = "votebench", version, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what the lenient reader sees in ZAP messages.
    Inspect(crate::cmd::inspect::Args),
    /// Encode votes: JSON lines in, a message in hex a line out.
    Encode(crate::cmd::encode::Args),
    /// Decode messages: hex lines in, a vote as a JSON line out.
    Decode(crate::cmd::decode::Args),
    /// Print every codec and row, with what each is made of.
    List(crate::cmd::list::Args),
    /// Measure every codec: encode, open, read and own.
    Serialize(crate::cmd::serialize::Args),
    /// Measure round trips: one vote in flight on a real connection.
    #[cfg(feature = "net")]
    Latency(crate::cmd::latency::Args),
    /// Load protocols for as long as is asked, in an open loop.
    #[cfg(feature = "net")]
    Sustained(crate::cmd::sustained::Args),
    /// Measure five arms that answer the same HTTP request.
    #[cfg(feature = "net")]
    Http(crate::cmd::http::Args),
    /// Serve protocols, for other programs to talk to.
    #[cfg(feature = "net")]
    Serve(crate::cmd::serve::Args),
    /// Print runs' tables, or write them as a page, as pictures or into README.md.
    Report(crate::cmd::report::Args),
    /// Compare runs: what got worse, what got better, and what nobody can say.
    Compare(crate::cmd::compare::Args),
    /// Set every figure of the papers' tables beside what runs measured.
    Claims(crate::cmd::claims::Args),
    /// Write a run in a format that another program reads.
    Export(crate::cmd::export::Args),
    /// Say whether this machine is fit to measure on, and what would mend it.
    Doctor(crate::cmd::doctor::Args),
    /// One fresh process of a run: started by a driver, with a plan on stdin.
    #[command(hide = true)]
    Worker,
    /// Compile a ZAP schema to Rust.
    Zapc(crate::cmd::zapc::Args),
}
