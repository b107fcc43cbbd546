//! `cargo bench --bench instructions --features callgrind`: instructions per message under callgrind, for every codec and
//! model, at batch 1 and 1,024: the figure that neither load nor code layout disturbs. Needs valgrind and gungraun-runner.
//!
//! Counted is one pass over a batch that holds the canonical vote over and over, so that both batch sizes do the same work
//! per message; a pass before it has filled caches of allocators and reused buffers. What the loop itself costs is counted
//! with a codec that does nothing, and taken off. Where the two sizes then differ by more than one instruction, something
//! is paid once a batch, or was taken out of the loop, and the row says so.
//!
//! `--results DIR` and `--codec NAME,...` are ours; everything else is gungraun's, which runs in a child of this program.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use votebench::codec::{self, Batch, Class, Codec, CodecError, Info, Model, Pace};
use votebench::measure::instructions::{self, Case, Counts, Recorder};
use votebench::report::terminal;
use votebench::vote::{Digest, Vote};

/// Set in the child that gungraun runs in.
const CHILD: &str = "VOTEBENCH_GUNGRAUN";

/// Names the codecs that are wanted; empty or absent for all. gungraun's environment has it too, for a case is known by its
/// place among all of them.
const CODECS: &str = "VOTEBENCH_CODECS";

/// Arguments of gungraun's after which there is nothing to record.
const ONLY_GUNGRAUN: [&str; 5] = ["--list", "--help", "-h", "--version", "-V"];

fn main() -> ExitCode {
    // gungraun starts this program once more for every case, under callgrind, in an environment that it has emptied.
    if std::env::args().nth(1).is_some_and(|first| first == "--gungraun-run") || std::env::var_os(CHILD).is_some() {
        harness::start();
        return ExitCode::SUCCESS;
    }
    let flags = match Flags::parse(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(sentence) => {
            eprintln!("votebench: {sentence}");
            return ExitCode::from(2);
        }
    };
    if flags.theirs.iter().any(|argument| ONLY_GUNGRAUN.contains(&argument.as_str())) {
        let status = gungraun(&flags).status();
        return if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::from(3) };
    }
    // `cargo bench` says `--bench`; without it this is `cargo test`, which has no valgrind to rely on.
    if !flags.theirs.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    votebench::cmd::finish(measure(&flags))
}

/// The command line, ours parted from gungraun's.
struct Flags {
    results: PathBuf,
    codecs: String,
    theirs: Vec<String>,
}

impl Flags {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self { results: PathBuf::from("results"), codecs: String::new(), theirs: Vec::new() };
        while let Some(argument) = arguments.next() {
            let (name, value) = argument
                .split_once('=')
                .map_or((argument.as_str(), None), |(name, value)| (name, Some(value.to_owned())));
            if !["--results", "--codec"].contains(&name) {
                flags.theirs.push(argument);
                continue;
            }
            let value = value.or_else(|| arguments.next()).ok_or_else(|| format!("{name} needs a value"))?;
            if name == "--results" {
                flags.results = PathBuf::from(value);
                continue;
            }
            if let Some(unknown) = value.split(',').find(|wanted| codec::by_name(wanted).is_none()) {
                return Err(format!("--codec: there is no codec {unknown}"));
            }
            flags.codecs = value;
        }
        Ok(flags)
    }
}

fn summaries() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions")
}

/// gungraun, to be run in a child of this program.
fn gungraun(flags: &Flags) -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("instructions"));
    let mut command = Command::new(program);
    command.args(&flags.theirs).args(["--save-summary=json", "--home"]).arg(summaries());
    command.env(CHILD, "1").env(CODECS, &flags.codecs);
    command
}

fn measure(flags: &Flags) -> votebench::cmd::Outcome {
    // What an earlier run left would be taken for this one's.
    if summaries().exists() {
        std::fs::remove_dir_all(summaries())?;
    }
    std::fs::create_dir_all(summaries())?;
    let codecs = codecs(&flags.codecs);
    let infos: Vec<&Info> = codecs.iter().map(|codec| codec.info()).collect();
    let recorder = Recorder::begin(&flags.results)?;
    let mut failed = match gungraun(flags).status() {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("gungraun ended with {status}; it needs valgrind and gungraun-runner 0.20.0")),
        Err(error) => Some(format!("gungraun cannot be started: {error}")),
    };
    let counts = Counts::read(&summaries(), &instructions::cases(&infos)).unwrap_or_else(|error| {
        failed.get_or_insert(error.to_string());
        Counts::default()
    });
    let (path, run) = recorder.finish(&infos, &counts, failed.as_deref())?;
    println!("{}\n{}", terminal::run(&run), path.display());
    // The file is kept, and says what failed.
    failed.map_or(Ok(ExitCode::SUCCESS), |sentence| Err(anyhow::Error::msg(sentence)))
}

/// The codecs that are wanted, and the one that does nothing.
fn codecs(wanted: &str) -> Vec<Box<dyn Codec>> {
    let mut codecs = codec::all();
    codecs.retain(|codec| wanted.is_empty() || wanted.split(',').any(|name| name == codec.name()));
    codecs.push(Box::new(Nothing::default()));
    codecs
}

/// Every case, as gungraun counts them through.
fn cases() -> Vec<Case> {
    let codecs = codecs(&std::env::var(CODECS).unwrap_or_default());
    instructions::cases(&codecs.iter().map(|codec| codec.info()).collect::<Vec<_>>())
}

/// A codec and its batch, warmed by one pass.
struct Ready {
    codec: Box<dyn Codec>,
    batch: Batch,
    model: Model,
}

fn prepare(case: Case) -> Ready {
    let mut codec = codec::by_name(&case.protocol).unwrap_or_else(|| Box::new(Nothing::default()));
    let votes = vec![Vote::canonical(); case.batch];
    let batch = Batch::new(codec.as_mut(), votes).expect("every codec encodes the canonical vote");
    codec.run_batch(case.model, &batch, Pace::Stream).expect("the batch is valid");
    Ready { codec, batch, model: case.model }
}

mod harness {
    use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};

    #[library_benchmark]
    #[benches::each(iter = crate::cases(), setup = crate::prepare)]
    fn pass(mut ready: crate::Ready) -> crate::Ready {
        let outcome = ready.codec.run_batch(ready.model, &ready.batch, crate::Pace::Stream);
        assert!(std::hint::black_box(outcome).is_ok());
        ready
    }

    library_benchmark_group!(name = each, benchmarks = pass);
    main!(
        config = LibraryBenchmarkConfig::default()
            .tool(Callgrind::with_args(["--cache-sim=no"]))
            .pass_through_env(crate::CODECS),
        library_benchmark_groups = each
    );

    pub(crate) fn start() {
        main();
    }
}

/// A codec that does nothing: what is left is the loop and its call. Every method looks at a field, for the compiler would
/// leave out the call of a function whose outcome it knows.
#[derive(Default)]
struct Nothing {
    round: u64,
    message: [u8; 8],
}

static NOTHING: Info = Info {
    name: instructions::LOOP,
    class: Class::Floor,
    crates: &[],
    summary: "nothing: the loop alone",
    lead: 4,
    lacks: &[(Model::Own, "an owned vote cannot be had for nothing")],
};

impl Codec for Nothing {
    fn info(&self) -> &'static Info {
        &NOTHING
    }

    fn encode(&mut self, _: &Vote) -> Result<&[u8], CodecError> {
        Ok(&self.message)
    }

    fn open_round(&mut self, _: &[u8]) -> Result<u64, CodecError> {
        Ok(self.round)
    }

    fn open(&mut self, _: &[u8]) -> Result<(), CodecError> {
        if self.round == 0 { Ok(()) } else { Err(CodecError::invalid_magic()) }
    }

    fn read(&mut self, _: &[u8]) -> Result<Digest, CodecError> {
        Ok(Digest(self.round))
    }

    fn own(&mut self, _: &[u8]) -> Result<Vote, CodecError> {
        Ok(Vote { round: self.round, ..Vote::default() })
    }
}
