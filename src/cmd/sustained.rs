//! `votebench sustained`: open-loop load. Owns its flags, its folder and what it shows while it runs; the driver is
//! [`sustained`].

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::HumanDuration;
use time::OffsetDateTime;

use super::network::{connect, cores_of, waits};
use super::{BadInput, Outcome, keep, print, stop_on};
use crate::measure::load::arrivals::Arrivals;
use crate::measure::load::books::Entry;
use crate::measure::processes::Programs;
use crate::measure::progress::tell;
use crate::measure::sustained::logs::{self, PlanError};
use crate::measure::sustained::preflight::{self, Answer};
use crate::measure::sustained::{self, Options, Rate, RowKey, Watcher};
use crate::protocol;
use crate::report;
use crate::result::store::{self, Folder};
use crate::transport::config::MAX_MESSAGE_BYTES;
use crate::transport::{Wait, Writes};

/// How often progress is told where stderr is no terminal.
const EVERY: Duration = Duration::from_secs(10);

/// Load protocols for as long as is asked, votes due whatever became of those before, and keep every second of it.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Protocols: rows, `codec+transport`, `all` (the eight rows and the floors), `variants`.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "all")]
    pub protocol: Vec<String>,

    /// Votes a second over all connections, or a share of each row's own capacity, as in `80%`.
    #[arg(long, value_name = "RATE", default_value = "50000", value_parser = rate)]
    pub rate: Rate,

    /// How long each row is loaded: `90s`, `60m`, `1h` [default: 60s, with --search none].
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub duration: Option<Duration>,

    /// Seek each row's capacity: the highest rate that is held for --probe.
    #[arg(long)]
    pub search: bool,

    /// How long a rate must be held in a search.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    pub probe: Duration,

    /// How votes are spread over time: `poisson`, or `constant` as in the papers [default: poisson, with --burst constant].
    #[arg(long, value_name = "SHAPE", value_parser = arrivals)]
    pub arrivals: Option<Arrivals>,

    /// Votes that are due at once, as at the start of a committee's round.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub burst: u32,

    /// Connections.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub connections: u32,

    /// Votes in flight at most, over all connections.
    #[arg(long, value_name = "N", default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub in_flight: u32,

    /// When votes are written: `batched`, all that are at hand together, or `each` by itself. Both may be named.
    #[arg(long, value_name = "WHEN", value_delimiter = ',', default_value = "batched", value_parser = writes)]
    pub writes: Vec<Writes>,

    /// How servers wait: `block` (in the kernel), `poll` (never parked). The generator never sleeps.
    #[arg(long, value_name = "WAIT", default_value = "poll")]
    pub wait: String,

    /// Length of an interval; each is flushed to the disk as it ends.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    pub interval: Duration,

    /// Load before the load that counts.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = humantime::parse_duration)]
    pub warm_up: Duration,

    /// Load over which allocations and system calls are counted, in processes of their own; 0 for none.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = humantime::parse_duration)]
    pub count: Duration,

    /// Say how long it would take and whether it could come to its end, and do nothing else.
    #[arg(long)]
    pub dry_run: bool,

    /// Go on with the run in this folder, under the same settings.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,

    /// Load a server that is there already instead of starting one; takes one --protocol.
    #[arg(long, value_name = "HOST:PORT")]
    pub connect: Option<String>,

    /// The certificate that the server must show or be signed by, in PEM [with --connect, for QUIC and TLS].
    #[arg(long, value_name = "FILE", requires = "connect")]
    pub ca: Option<PathBuf>,

    /// Longest message that is taken, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = MAX_MESSAGE_BYTES, value_parser = clap::value_parser!(u64).range(1_024..=1_073_741_824))]
    pub max_message: u64,

    /// How long a stack may answer nothing while votes are in flight.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    pub deadline: Duration,

    /// Measure on an unfit machine too, and mark every rate `unfit`.
    #[arg(long)]
    pub force: bool,

    /// Seed of the arrivals; recorded [default: from the clock; with --resume that of the run].
    #[arg(long)]
    pub seed: Option<u64>,

    /// Cores of generator and server [default: the last one and the first one].
    #[arg(long, value_name = "CLIENT,SERVER", value_delimiter = ',', num_args = 1)]
    pub cores: Vec<usize>,

    /// End the run early, as Ctrl-C does, once this file exists.
    #[arg(long, value_name = "FILE")]
    pub stop_file: Option<PathBuf>,

    /// Folder that holds the runs.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] for flags that make no sense, or a folder that is no run of theirs; otherwise where the results cannot be kept.
pub fn run(args: &Args) -> Outcome {
    let programs = Programs::beside_this_one().context("cannot find out which program this is")?;
    let earlier = args.resume.as_deref().map(resumed).transpose()?;
    let options = options(args, earlier.as_ref())?;
    tell(&plan(&options));
    if args.dry_run {
        return dry_run(args, earlier, &options, &programs);
    }
    let stop = stop_on(args.stop_file.as_deref())?;
    let folder = earlier.map_or_else(|| store::create(&args.results), Ok)?;
    preflight::resources(&options, &folder.path).map_err(BadInput)?;
    logs::write_plan(&folder.path, &options).map_err(|error| match error {
        PlanError::Other { .. } => BadInput(format!("--resume: {error}")).into(),
        PlanError::File(_) => anyhow::Error::from(error),
    })?;
    let mut screen = Screen::new();
    let outcome = sustained::run(&options, &programs, &stop, &folder.path, &folder.id, &mut screen);
    drop(screen);
    let outcome = outcome.map_err(anyhow::Error::msg)?;
    let kept = keep(&folder, &outcome.run)?;
    print(&format!("{}\n{}", report::terminal::run(&outcome.run), kept.display()))?;
    if !outcome.run.run.complete {
        tell(&format_args!(
            "votebench: the run did not come to its end; go on with it by --resume {}",
            folder.path.display()
        ));
    }
    Ok(outcome.failed.map_or(ExitCode::SUCCESS, |reason| {
        tell(&format_args!("votebench: {reason}"));
        ExitCode::from(3)
    }))
}

/// The folder of a run that is to go on.
fn resumed(folder: &Path) -> anyhow::Result<Folder> {
    if !folder.join(logs::PLAN).is_file() {
        return Err(BadInput(format!("--resume: {} holds no sustained run", folder.display())).into());
    }
    let path = folder.canonicalize().with_context(|| folder.display().to_string())?;
    let id = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Folder { id, path })
}

/// What is going to happen, in one line.
fn plan(options: &Options) -> String {
    let rows = options.rows().len();
    let load = options.duration.map_or_else(
        || format!("a search of about {} each", HumanDuration(options.probe * sustained::capacity::PROBES)),
        |duration| format!("{} each", humantime::format_duration(duration)),
    );
    format!(
        "{rows} rows, {load}: about {}, and a search more for each row that is saturated",
        HumanDuration(options.takes())
    )
}

/// Whether the run could come to its end.
fn dry_run(args: &Args, earlier: Option<Folder>, options: &Options, programs: &Programs) -> Outcome {
    let scratch;
    let folder = match earlier {
        Some(folder) => folder.path,
        None => {
            // The folder of the results must be there and be writable; nothing is left in it.
            std::fs::create_dir_all(&args.results).with_context(|| args.results.display().to_string())?;
            scratch = tempfile::tempdir_in(&args.results)
                .map_err(|error| BadInput(format!("{}: {error}", args.results.display())))?;
            scratch.path().to_owned()
        }
    };
    preflight::resources(options, &folder).map_err(BadInput)?;
    let mut lines = Vec::new();
    for key in options.rows() {
        let answer = match preflight::row(options, &key, programs).map_err(anyhow::Error::msg)? {
            Answer::Ready => "answers".to_owned(),
            Answer::Unsupported(reason) => format!("unsupported: {reason}"),
        };
        lines.push(format!("{}: {answer}", key.label()));
    }
    lines.push(plan(options));
    print(&lines.join("\n"))
}

fn options(args: &Args, earlier: Option<&Folder>) -> anyhow::Result<Options> {
    let protocols = protocol::by_names(&args.protocol).map_err(|error| BadInput(format!("--protocol: {error}")))?;
    let wait = match waits(std::slice::from_ref(&args.wait))?[..] {
        [wait] => wait,
        _ => Wait::Poll,
    };
    for (flag, time) in [("--interval", args.interval), ("--probe", args.probe), ("--deadline", args.deadline)] {
        if time < Duration::from_millis(10) || time > Duration::from_secs(86_400) {
            return Err(BadInput(format!("{flag}: between 10 ms and a day is wanted")).into());
        }
    }
    let duration = match (args.duration, args.search) {
        (None, true) => None,
        (None, false) => Some(Duration::from_secs(60)),
        (given, _) => given,
    };
    if duration.is_some_and(|duration| duration < args.interval) {
        return Err(BadInput("--duration: at least one --interval is wanted".to_owned()).into());
    }
    let mut writes = args.writes.clone();
    writes.sort_unstable();
    writes.dedup();
    let default = if args.burst > 1 { Arrivals::Constant } else { Arrivals::Poisson };
    let recorded = earlier.map(|folder| logs::recorded_seed(&folder.path)).transpose().map_err(BadInput)?;
    let from_clock = || u64::try_from(OffsetDateTime::now_utc().unix_timestamp_nanos() % (1 << 53)).unwrap_or(0);
    Ok(Options {
        connect: connect(args.connect.as_deref(), args.ca.as_deref(), &protocols)?,
        protocols,
        writes,
        rate: args.rate,
        arrivals: args.arrivals.unwrap_or(default),
        burst: args.burst,
        duration,
        search: args.search,
        probe: args.probe,
        warm_up: args.warm_up,
        count: (!args.count.is_zero()).then_some(args.count),
        interval: args.interval,
        connections: args.connections as usize,
        in_flight: args.in_flight as usize,
        wait,
        cores: cores_of(&args.cores)?,
        max_message_bytes: args.max_message,
        deadline: args.deadline,
        force: args.force,
        seed: args.seed.or(recorded).unwrap_or_else(from_clock),
    })
}

fn rate(text: &str) -> Result<Rate, String> {
    let wrong = || "votes a second are wanted, or a share as in 80%".to_owned();
    let number = |text: &str| text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    match text.strip_suffix('%') {
        Some(share) => number(share).filter(|share| *share <= 200.0).map(|share| Rate::Share(share / 100.0)),
        None => number(text).filter(|rate| (0.1..=1e8).contains(rate)).map(Rate::Votes),
    }
    .ok_or_else(wrong)
}

fn arrivals(name: &str) -> Result<Arrivals, String> {
    let all = [Arrivals::Poisson, Arrivals::Constant];
    all.into_iter().find(|shape| shape.name() == name).ok_or_else(|| "neither poisson nor constant".to_owned())
}

fn writes(name: &str) -> Result<Writes, String> {
    Writes::ALL.into_iter().find(|when| when.name() == name).ok_or_else(|| "neither each nor batched".to_owned())
}

/// What is seen while the run goes on: a line that is written over on a terminal, elsewhere one every ten seconds.
struct Screen {
    bar: Option<indicatif::ProgressBar>,
    spoke: Instant,
    disturbed: u64,
}

impl Screen {
    fn new() -> Self {
        use std::io::IsTerminal;
        let bar = std::io::stderr().is_terminal().then(indicatif::ProgressBar::new_spinner);
        Self { bar, spoke: Instant::now(), disturbed: 0 }
    }
}

impl Watcher for Screen {
    fn say(&mut self, sentence: &str) {
        match &self.bar {
            Some(bar) => bar.println(sentence),
            None => tell(&sentence),
        }
    }

    fn interval(&mut self, row: &RowKey, entry: &Entry, left: Duration) {
        if entry.index == 0 {
            self.disturbed = 0;
        }
        self.disturbed += u64::from(entry.disturbed);
        let line = line(row, entry, left, self.disturbed);
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None if self.spoke.elapsed() >= EVERY => {
                self.spoke = Instant::now();
                tell(&line);
            }
            None => {}
        }
    }
}

/// One interval in one line.
#[expect(clippy::cast_precision_loss, reason = "counts and nanoseconds of a second")]
fn line(row: &RowKey, entry: &Entry, left: Duration, disturbed: u64) -> String {
    let elapsed = Duration::from_nanos(entry.start_ns + entry.length_ns);
    let micros = |ns: u64| format!("{:.1}", ns as f64 / 1e3);
    format!(
        "{}: {:.0} s, {:.0} s left, {:.0} votes/s, p50/p99/p99.9 {}/{}/{} us, backlog {}, {disturbed} intervals disturbed",
        row.label(),
        elapsed.as_secs_f64(),
        left.as_secs_f64(),
        entry.answered as f64 * 1e9 / entry.length_ns.max(1) as f64,
        micros(entry.response.p50),
        micros(entry.response.p99),
        micros(entry.response.p99_9),
        entry.backlog,
    )
}
