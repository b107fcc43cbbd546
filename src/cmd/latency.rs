//! `votebench latency`: the latency suite. Owns its flags; the driver is [`latency`].

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::network::{connect, cores_of, waits};
use super::{BadInput, Outcome, keep, print, stop_on};
use crate::measure::job::Isolation;
use crate::measure::latency::{self, Options};
use crate::measure::processes::Programs;
use crate::measure::progress::tell;
use crate::protocol;
use crate::report;
use crate::result::store;
use crate::transport::config::MAX_MESSAGE_BYTES;

/// Measure round trips: one vote in flight, on a real connection, in fresh pairs of processes.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Protocols: rows, `codec+transport`, `all` (the eight rows and the floors), `variants`.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "all,variants")]
    pub protocol: Vec<String>,

    /// Fresh pairs of processes for each protocol and wait: the unit of replication [default: 10, with --quick 3].
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub processes: Option<u32>,

    /// Round trips in each pair [default: 20000, with --quick 2000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=100_000_000))]
    pub round_trips: Option<u64>,

    /// How threads wait: `block` (in the kernel), `poll` (never parked).
    #[arg(long, value_name = "WAIT", value_delimiter = ',', default_value = "block,poll")]
    pub wait: Vec<String>,

    /// What keeps a client and its server apart: each a `process`, or each a `thread` of one.
    #[arg(long, value_name = "KIND", default_value = "process", value_parser = isolation)]
    pub isolation: Isolation,

    /// Keep both cores out of their idle states, by threads that run where nothing else wants to.
    #[arg(long)]
    pub keep_awake: bool,

    /// Three pairs of 2,000 round trips, and a shorter hiccup meter.
    #[arg(long)]
    pub quick: bool,

    /// Measure a server that is there already instead of starting one; takes one --protocol.
    #[arg(long, value_name = "HOST:PORT")]
    pub connect: Option<String>,

    /// The certificate that the server must show or be signed by, in PEM [with --connect, for QUIC and TLS].
    #[arg(long, value_name = "FILE", requires = "connect")]
    pub ca: Option<PathBuf>,

    /// Longest message that is taken, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = MAX_MESSAGE_BYTES, value_parser = clap::value_parser!(u64).range(1_024..=1_073_741_824))]
    pub max_message: u64,

    /// How long an answer may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub deadline: f64,

    /// Measure on an unfit machine too, and mark every rate `unfit`.
    #[arg(long)]
    pub force: bool,

    /// Seed of the order of the protocols; recorded [default: from the clock].
    #[arg(long)]
    pub seed: Option<u64>,

    /// Cores of client and server [default: the last one and the first one].
    #[arg(long, value_name = "CLIENT,SERVER", value_delimiter = ',', num_args = 1)]
    pub cores: Vec<usize>,

    /// End the run early, as Ctrl-C does, once this file exists.
    #[arg(long, value_name = "FILE")]
    pub stop_file: Option<PathBuf>,

    /// Folder that holds the runs.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
}

/// Runs the subcommand with the programs that lie beside this one.
///
/// # Errors
/// See [`run_with`].
pub fn run(args: &Args) -> Outcome {
    let programs = Programs::beside_this_one().context("cannot find out which program this is")?;
    run_with(args, &programs)
}

/// Runs the suite with `programs`, writes the results file, prints the tables.
///
/// # Errors
/// [`BadInput`] for flags that make no sense; otherwise where the results cannot be kept.
pub fn run_with(args: &Args, programs: &Programs) -> Outcome {
    let options = options(args)?;
    let stop = stop_on(args.stop_file.as_deref())?;
    // Before anything is measured: a folder that cannot be written would cost the whole run.
    let folder = store::create(&args.results)?;
    let outcome = latency::run(&options, programs, &stop, &folder.id);
    // Kept before anything is printed: whoever reads may have gone away.
    let kept = keep(&folder, &outcome.run)?;
    print(&format!("{}\n{}", report::terminal::run(&outcome.run), kept.display()))?;
    if !outcome.run.run.complete {
        tell(&"votebench: the run did not come to its end; what it had is kept");
    }
    Ok(outcome.failed.map_or(ExitCode::SUCCESS, |reason| {
        tell(&format_args!("votebench: {reason}"));
        ExitCode::from(3)
    }))
}

/// Parses the flags of this subcommand alone.
///
/// # Errors
/// clap's own, to be printed.
pub fn parse(arguments: &[String]) -> Result<Args, clap::Error> {
    #[derive(clap::Parser)]
    #[command(name = "latency", no_binary_name = true)]
    struct Flags {
        #[command(flatten)]
        args: Args,
    }
    <Flags as clap::Parser>::try_parse_from(arguments).map(|flags| flags.args)
}

fn options(args: &Args) -> anyhow::Result<Options> {
    let protocols = protocol::by_names(&args.protocol).map_err(|error| BadInput(format!("--protocol: {error}")))?;
    let cores = cores_of(&args.cores)?;
    if args.isolation == Isolation::Thread {
        if args.connect.is_some() {
            return Err(
                BadInput("--isolation thread: a server that is there already is no thread of ours".to_owned()).into()
            );
        }
        if cores.is_none_or(|(client, server)| client == server) {
            return Err(BadInput(
                "--isolation thread: two cores are wanted, by which the threads are told apart".to_owned(),
            )
            .into());
        }
    }
    if !args.deadline.is_finite() || !(0.001..=86_400.0).contains(&args.deadline) {
        return Err(BadInput("--deadline: between 0.001 and 86400 seconds are wanted".to_owned()).into());
    }
    Ok(Options {
        connect: connect(args.connect.as_deref(), args.ca.as_deref(), &protocols)?,
        protocols,
        processes: args.processes.map_or(if args.quick { 3 } else { 10 }, |processes| processes as usize),
        round_trips: args.round_trips.unwrap_or(if args.quick { 2_000 } else { 20_000 }),
        waits: waits(&args.wait)?,
        meter: Duration::from_millis(if args.quick { 200 } else { 1_000 }),
        isolation: args.isolation,
        keep_awake: args.keep_awake,
        cores,
        max_message_bytes: args.max_message,
        deadline: Duration::from_secs_f64(args.deadline),
        force: args.force,
        seed: args.seed,
    })
}

fn isolation(name: &str) -> Result<Isolation, String> {
    let all = [Isolation::Process, Isolation::Thread];
    all.into_iter().find(|kind| kind.name() == name).ok_or_else(|| "neither process nor thread".to_owned())
}
