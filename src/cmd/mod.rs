//! One subcommand a file, each `run(args)`. Owns the dispatch and the exit status; `anyhow` is at home here and in `main`.

mod blocks;
pub mod claims;
pub mod compare;
pub mod decode;
pub mod doctor;
pub mod encode;
pub mod export;
#[cfg(feature = "net")]
pub mod http;
#[cfg(feature = "net")]
pub mod http_serve;
pub mod inspect;
#[cfg(feature = "net")]
pub mod latency;
pub mod lines;
pub mod list;
#[cfg(feature = "net")]
mod network;
pub mod report;
pub mod serialize;
#[cfg(feature = "net")]
pub mod serve;
#[cfg(feature = "net")]
pub mod sustained;
pub mod words;
pub mod worker;
pub mod zapc;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use crate::cli::Command;
use crate::codec::{self, Codec};
use crate::measure::processes::Stop;
use crate::measure::progress::tell;
use crate::result::RunFile;
use crate::result::store::{self, Folder};

/// What a subcommand ends with (`contracts`: 0 done, 1 something got worse, 2 bad input or usage, 3 failed at run time).
pub type Outcome = anyhow::Result<ExitCode>;

/// A mistake of the user's: bad input or usage, exit status 2. Any other error is 3.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// Runs one subcommand.
///
/// # Errors
/// [`BadInput`] where the user can mend it, anything else where the run itself failed.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Inspect(args) => inspect::run(&args),
        Command::Encode(args) => encode::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::List(args) => list::run(&args),
        Command::Serialize(args) => serialize::run(&args),
        #[cfg(feature = "net")]
        Command::Latency(args) => latency::run(&args),
        #[cfg(feature = "net")]
        Command::Http(args) => http::run(&args),
        #[cfg(feature = "net")]
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "net")]
        Command::Sustained(args) => sustained::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Claims(args) => claims::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Worker => worker::run(),
        Command::Zapc(args) => zapc::run(&args),
    }
}

/// The whole program: parse the command line, run it, turn an error into one sentence on stderr and an exit status.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match <crate::cli::Cli as clap::Parser>::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    finish(run(cli.command))
}

/// The exit status of an outcome; an error is said in one sentence on stderr.
#[must_use]
pub fn finish(outcome: Outcome) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        tell(&format_args!("votebench: {error:#}"));
        ExitCode::from(if error.is::<BadInput>() { 2 } else { 3 })
    })
}

/// The codec that the user named.
fn codec_by_name(name: &str) -> anyhow::Result<Box<dyn Codec>> {
    codec::by_name(name).ok_or_else(|| {
        let names: Vec<_> = codec::all().iter().map(|codec| codec.name()).collect();
        BadInput(format!("--codec: there is no codec `{name}`; there are {}", names.join(", "))).into()
    })
}

/// What ends a run early: a signal, or the appearance of `file`.
fn stop_on(file: Option<&Path>) -> anyhow::Result<Stop> {
    if let Some(there) = file.filter(|file| file.exists()) {
        return Err(BadInput(format!("--stop-file: {} is there already", there.display())).into());
    }
    Stop::on_signals(file.map(Path::to_owned)).context("cannot watch for signals")
}

/// Saves the run; where its folder cannot take it any more, as on a full disk, beside the system's temporary files.
fn keep(folder: &Folder, run: &RunFile) -> anyhow::Result<PathBuf> {
    let error = match store::save(folder, run) {
        Ok(path) => return Ok(path),
        Err(error) => error,
    };
    let elsewhere = store::create(&std::env::temp_dir().join("votebench-results"))
        .and_then(|folder| store::save(&folder, run))
        .map_err(|second| anyhow::anyhow!("{error}; nor could the run be kept elsewhere: {second}"))?;
    Err(anyhow::anyhow!("{error}; the run is kept in {}", elsewhere.display()))
}

/// Writes a file whole or leaves it as it was; a device or a pipe takes bytes as they come.
fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    match fs::canonicalize(file) {
        Ok(there) if !there.is_file() => fs::write(there, text),
        Ok(there) => replace(&there, text),
        Err(_) => replace(file, text),
    }
}

fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let permissions =
        fs::metadata(file).map_or_else(|_| fs::Permissions::from_mode(0o666), |there| there.permissions());
    let mut new = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// Prints `text` and ends; a reader that has gone away is no error.
fn print(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::from(error).context("stdout cannot be written"))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
