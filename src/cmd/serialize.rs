//! `votebench serialize`: the serialization suite. Owns its flags; the driver is [`serialization`].

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches};

use super::{BadInput, Outcome, keep, print, stop_on};
use crate::codec;
use crate::measure::pinning;
use crate::measure::processes::Programs;
use crate::measure::progress::tell;
use crate::measure::serialization::{self, Options};
use crate::measure::turns::Part;
use crate::report;
use crate::result::store;

/// Measure every codec: encode, open, read and own; time, allocations and bytes.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Fresh processes to measure in: the unit of replication [default: 15, with --quick 5].
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub processes: Option<u32>,

    /// Rounds in each process; in a round every candidate runs once.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,

    /// Shortest slice of a candidate in a round, in microseconds.
    #[arg(long, value_name = "US", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub slice: u64,

    /// Five processes, no criterion: under two minutes on two cores.
    #[arg(long)]
    pub quick: bool,

    /// Only these codecs, with `zap` for the ratios.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub codec: Vec<String>,

    /// Measure on an unfit machine too, and mark every rate `unfit`.
    #[arg(long)]
    pub force: bool,

    /// Seed of the order of the candidates; recorded [default: from the clock].
    #[arg(long)]
    pub seed: Option<u64>,

    /// Core to pin the workers to [default: the last one].
    #[arg(long, value_name = "CORE")]
    pub core: Option<usize>,

    /// Take turns with the other runs of a session of this name: for each, print `turn` and wait for a line on stdin
    /// (scripts/compare.sh grants them).
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,

    /// By how many bytes all code of this build is shifted; recorded with the session.
    #[arg(long, value_name = "BYTES", default_value_t = 0, requires = "session")]
    pub layout: u64,

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
/// [`BadInput`] for an unknown codec; otherwise where the results cannot be kept.
pub fn run_with(args: &Args, programs: &Programs) -> Outcome {
    let known: Vec<_> = codec::all().iter().map(|codec| codec.name()).collect();
    for name in &args.codec {
        if !known.contains(&name.as_str()) {
            let sentence = format!("--codec: there is no codec {name}; there are {}", known.join(", "));
            return Err(BadInput(sentence).into());
        }
    }
    let cores = pinning::allowed().context("cannot find out which cores there are")?;
    if let Some(core) = args.core.filter(|core| !cores.contains(core)) {
        return Err(BadInput(format!("--core: this process may not run on core {core}; it may on {cores:?}")).into());
    }
    let options = Options {
        processes: args.processes.map_or(if args.quick { 5 } else { 15 }, |processes| processes as usize),
        rounds: args.rounds as usize,
        slice_ns: args.slice * 1_000,
        codecs: args.codec.clone(),
        force: args.force,
        seed: args.seed,
        core: args.core,
        part: args.session.clone().map(|session| Part { session, layout_bytes: args.layout }),
    };
    let stop = stop_on(args.stop_file.as_deref())?;
    // Before anything is measured: a folder that cannot be written would cost the whole run.
    let folder = store::create(&args.results)?;
    let outcome = serialization::run(&options, programs, &stop, &folder.id);
    let run = outcome.run;
    // Kept before anything is printed: whoever reads may have gone away.
    let kept = keep(&folder, &run)?;
    print(&format!("{}\n{}", report::terminal::run(&run), kept.display()))?;
    if !run.run.complete {
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
    let matches = command().try_get_matches_from(arguments)?;
    Args::from_arg_matches(&matches)
}

/// Parts a benchmark's arguments into the flags of this subcommand, with their values, and everything else.
#[must_use]
pub fn split_arguments(arguments: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let command = command();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let name = argument.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or(flag));
        let known = command.get_arguments().find(|known| known.get_long().is_some() && known.get_long() == name);
        let Some(known) = known else {
            theirs.push(argument);
            continue;
        };
        let wants_value = known.get_action().takes_values() && !argument.contains('=');
        ours.push(argument);
        if wants_value {
            ours.extend(arguments.next());
        }
    }
    (ours, theirs)
}

fn command() -> clap::Command {
    #[derive(clap::Parser)]
    #[command(name = "serialization", no_binary_name = true, disable_help_flag = true)]
    struct Flags {
        #[command(flatten)]
        args: Args,
    }
    Flags::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_our_flags_out_and_leaves_the_rest() {
        let line = "--bench --processes 7 zap/read --quick --seed=3 --save-baseline mine --force";
        let (ours, theirs) = split_arguments(line.split(' ').map(str::to_owned));
        assert_eq!(ours, ["--processes", "7", "--quick", "--seed=3", "--force"]);
        assert_eq!(theirs, ["--bench", "zap/read", "--save-baseline", "mine"]);
        let args = parse(&ours).unwrap();
        assert_eq!((args.processes, args.seed, args.quick, args.force), (Some(7), Some(3), true, true));
        assert!(parse(&["--processes".to_owned(), "none".to_owned()]).is_err());
    }
}
