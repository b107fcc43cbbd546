//! `votebench http`: the HTTP study. Owns its flags, and `--serve`; the driver is [`http`].

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::{BadInput, Outcome, http_serve, keep, print, stop_on};
use crate::http::Study;
use crate::measure::arm::{Arms, Wait};
use crate::measure::http::{self, Options};
use crate::measure::pinning;
use crate::measure::processes::Programs;
use crate::measure::progress::tell;
use crate::report;
use crate::result::store;

/// Measure five arms that answer the same request: bytes, allocations, memory and requests a second.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Arms: hyper, pooled-http, zap-http, native-zap, floor [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub arm: Vec<String>,

    /// Workloads: tiny, small, chat, medium, large [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub workload: Vec<String>,

    /// Fresh pairs of processes for each arm and workload: the unit of replication [default: 10, with --quick 3].
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub processes: Option<u32>,

    /// How long each of a window's five blocks is, in milliseconds [default: 100, with --quick 20].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(2..=60_000))]
    pub block_ms: Option<u64>,

    /// How threads wait: `block` (in the kernel), `poll` (never parked; sequential requests only).
    #[arg(long, value_name = "WAIT", value_delimiter = ',', default_value = "block,poll")]
    pub wait: Vec<String>,

    /// Three pairs, and shorter blocks.
    #[arg(long)]
    pub quick: bool,

    /// Measure on an unfit machine too, and mark every rate `unfit`.
    #[arg(long)]
    pub force: bool,

    /// Seed of the order of arms and workloads; recorded [default: from the clock].
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

    /// Measure nothing: serve these arms, for other programs to talk to, until SIGINT or SIGTERM.
    #[arg(long, value_name = "ARM", value_delimiter = ',', conflicts_with_all = ["arm", "workload", "quick"])]
    pub serve: Vec<String>,

    /// Where --serve listens; with several arms the port must be 0.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0", requires = "serve")]
    pub bind: SocketAddr,
}

/// Runs the subcommand with the programs that lie beside this one.
///
/// # Errors
/// [`BadInput`] for flags that make no sense; otherwise where the results cannot be kept, or a server fails.
pub fn run(args: &Args) -> Outcome {
    if !args.serve.is_empty() {
        let known: Vec<_> = Study.infos().iter().map(|info| info.name).collect();
        return http_serve::run(&chosen("--serve", &args.serve, &known)?, args.bind);
    }
    let options = options(args)?;
    let programs = Programs::beside_this_one().context("cannot find out which program this is")?;
    let stop = stop_on(args.stop_file.as_deref())?;
    // Before anything is measured: a folder that cannot be written would cost the whole run.
    let folder = store::create(&args.results)?;
    let outcome = http::run(Study, &options, &programs, &stop, &folder.id);
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

fn options(args: &Args) -> anyhow::Result<Options> {
    let (arms, workloads) = (Study.infos(), Study.workloads());
    let arms: Vec<_> = arms.iter().map(|info| info.name).collect();
    let workloads: Vec<_> = workloads.iter().map(|info| info.name).collect();
    let waits: Vec<_> = Wait::ALL.iter().map(|wait| wait.name()).collect();
    let wanted = chosen("--wait", &args.wait, &waits)?;
    Ok(Options {
        arms: chosen("--arm", &args.arm, &arms)?,
        workloads: chosen("--workload", &args.workload, &workloads)?,
        processes: args.processes.map_or(if args.quick { 3 } else { 10 }, |processes| processes as usize),
        block: Duration::from_millis(args.block_ms.unwrap_or(if args.quick { 20 } else { 100 })),
        waits: Wait::ALL.into_iter().filter(|wait| wanted.iter().any(|name| name == wait.name())).collect(),
        cores: cores(&args.cores)?,
        force: args.force,
        seed: args.seed,
    })
}

/// The names of `wanted`, in the order of `known`; all of these where none is wanted.
fn chosen(flag: &str, wanted: &[String], known: &[&str]) -> anyhow::Result<Vec<String>> {
    if let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(BadInput(format!("{flag}: there is no `{name}`; there are {}", known.join(", "))).into());
    }
    let is_wanted = |name: &&&str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == **name);
    Ok(known.iter().filter(is_wanted).map(|name| (*name).to_owned()).collect())
}

/// The cores of client and server; one for both where there is but one.
fn cores(chosen: &[usize]) -> anyhow::Result<Option<(usize, usize)>> {
    let allowed = pinning::allowed().context("cannot find out which cores there are")?;
    if let Some(core) = chosen.iter().find(|core| !allowed.contains(core)) {
        return Err(BadInput(format!("--cores: this process may not run on core {core}; it may on {allowed:?}")).into());
    }
    match *chosen {
        [] => Ok(allowed.last().copied().zip(allowed.first().copied())),
        [client, server] => Ok(Some((client, server))),
        _ => Err(BadInput("--cores: two cores are wanted, CLIENT,SERVER".to_owned()).into()),
    }
}
