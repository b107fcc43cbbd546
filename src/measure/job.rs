//! What a fresh process is started for, and how it and its driver talk: a job as the first line on its stdin, events as lines of
//! JSON on its stdout. Owns the list of jobs; each is done elsewhere.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

#[cfg(feature = "net")]
use super::arm::Arms;
use super::pinning;
use super::worker::Plan;

/// What a worker is started for; the first line on its stdin, as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// Rounds of the serialization suite.
    Serialization(Plan),
    /// The server of one protocol.
    #[cfg(feature = "net")]
    Serve(super::server::ServePlan),
    /// The client of one protocol, in a closed loop.
    #[cfg(feature = "net")]
    Exchange(super::client::ExchangePlan),
    /// The generator of one protocol, for open-loop load.
    #[cfg(feature = "net")]
    Load(super::load::worker::LoadPlan),
    /// Both, as threads of this process.
    #[cfg(feature = "net")]
    Pair(Box<super::pair::PairPlan>),
    /// The server of one arm of the HTTP study.
    #[cfg(feature = "net")]
    Answer(super::http_server::ArmPlan),
    /// The client of one arm.
    #[cfg(feature = "net")]
    Ask(super::http_client::AskPlan),
}

/// What keeps a client and its server apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Each is a process.
    Process,
    /// Each is a thread, on a core of its own, of one process.
    Thread,
}

impl Isolation {
    /// Its name in results and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Thread => "thread",
        }
    }
}

/// The build that this program is of: a driver and its workers must agree on it.
#[must_use]
pub fn build() -> String {
    let source = crate::result::source::Source::of_this_build();
    format!("{} {} {}", source.version, source.commit, source.profile)
}

/// Reads a job from the first line of `input` and does it, an event a line on `output`.
///
/// # Errors
/// A sentence, where the job makes no sense to this build or the machine refuses it.
pub fn run(input: impl BufRead + Send + 'static, output: impl Write + Send) -> Result<(), String> {
    run_with(
        #[cfg(feature = "net")]
        super::arm::NoArms,
        input,
        output,
    )
}

/// As [`run`], for jobs of the HTTP study, too, which are about one of `arms`.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    #[cfg(feature = "net")] arms: impl Arms,
    mut input: impl BufRead + Send + 'static,
    output: impl Write + Send,
) -> Result<(), String> {
    let mut text = String::new();
    input.read_line(&mut text).map_err(|error| format!("the job cannot be read: {error}"))?;
    match serde_json::from_str(&text).map_err(|error| format!("the job makes no sense: {error}"))? {
        Job::Serialization(plan) => {
            accept(&plan.build, plan.core)?;
            super::worker::carry_out(&plan, output)
        }
        #[cfg(feature = "net")]
        Job::Serve(plan) => {
            accept(&plan.build, plan.core)?;
            super::server::run(plan, input, output)
        }
        #[cfg(feature = "net")]
        Job::Exchange(plan) => {
            accept(&plan.build, plan.core)?;
            super::client::run(plan, input, output)
        }
        #[cfg(feature = "net")]
        Job::Load(plan) => {
            accept(&plan.build, plan.core)?;
            super::load::worker::run(plan, input, output)
        }
        #[cfg(feature = "net")]
        Job::Pair(plan) => {
            accept(&plan.build, None)?;
            super::pair::carry_out(&plan, output)
        }
        #[cfg(feature = "net")]
        Job::Answer(plan) => {
            accept(&plan.build, plan.core)?;
            super::http_server::run(arms, plan, input, output)
        }
        #[cfg(feature = "net")]
        Job::Ask(plan) => {
            accept(&plan.build, plan.core)?;
            super::http_client::run(arms, plan, input, output)
        }
    }
}

/// Checks that the driver is of this build, and pins this process.
fn accept(theirs: &str, core: Option<usize>) -> Result<(), String> {
    if theirs != build() {
        return Err(format!("this program is of the build {}, its driver of {theirs}", build()));
    }
    core.map_or(Ok(()), |core| pinning::pin(core).map_err(|error| format!("cannot run on core {core}: {error}")))
}

/// Writes `event` as a line for the driver, at once.
///
/// # Errors
/// Where the driver is gone.
pub fn say<E: Serialize>(output: &mut impl Write, event: &E) -> Result<(), String> {
    let mut line = serde_json::to_string(event).map_err(|error| error.to_string())?;
    line.push('\n');
    let written = output.write_all(line.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| format!("the driver does not listen any more: {error}"))
}
