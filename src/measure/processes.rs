//! Starting fresh processes and hearing them out. Owns the pipes and the stopping: a run that the user ends keeps every
//! event that had arrived.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::worker::{Event, Plan};

/// How often a waiting driver looks whether it is to stop.
const POLL: Duration = Duration::from_millis(100);

/// The two programs of one build.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `votebench`: rates.
    pub plain: PathBuf,
    /// `votebench-count`: allocations.
    pub counting: PathBuf,
}

impl Programs {
    /// This program and its twin, which lie in one folder.
    ///
    /// # Errors
    /// Where the system does not say which program this is.
    pub fn beside_this_one() -> std::io::Result<Self> {
        let folder = std::env::current_exe()?;
        let at = |name: &str| folder.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        Ok(Self { plain: at("votebench"), counting: at("votebench-count") })
    }
}

/// A flag that SIGINT and SIGTERM set.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Watches for SIGINT and SIGTERM from now on. A second signal ends the program at once.
    ///
    /// # Errors
    /// Where the system refuses to install the handlers.
    pub fn on_signals() -> std::io::Result<Self> {
        let stop = Self::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.0))?;
            signal_hook::flag::register(signal, Arc::clone(&stop.0))?;
        }
        Ok(stop)
    }

    /// Whether the run is to end.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It carried out its plan.
    Done,
    /// The user ended the run; the process was ended too.
    Stopped,
    /// It failed, in one sentence.
    Failed(String),
}

/// Runs `plan` in a fresh process of `program` and hands every event to `hear`.
pub fn run(program: &Path, plan: &Plan, stop: &Stop, hear: &mut dyn FnMut(Event)) -> Ended {
    match start_and_hear(program, plan, stop, hear) {
        Ok(ended) => ended,
        Err(error) => Ended::Failed(format!("{}: {error}", program.display())),
    }
}

fn start_and_hear(program: &Path, plan: &Plan, stop: &Stop, hear: &mut dyn FnMut(Event)) -> std::io::Result<Ended> {
    let plan = serde_json::to_vec(plan)?;
    let mut child = Command::new(program)
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (mut input, output, mut complaints) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    if let Some(mut input) = input.take() {
        // A worker that refuses the plan closes its end early: its own words are then the better error.
        let _ = input.write_all(&plan);
    }
    let (sender, lines) = mpsc::channel();
    let listener = thread::spawn(move || {
        for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
            let event = line.and_then(|line| serde_json::from_str::<Event>(&line).map_err(Into::into));
            if sender.send(event).is_err() {
                break;
            }
        }
    });
    let mut broken = None;
    let stopped = loop {
        match lines.recv_timeout(POLL) {
            Ok(Ok(event)) => hear(event),
            Ok(Err(error)) => broken = Some(format!("its answer makes no sense: {error}")),
            Err(RecvTimeoutError::Disconnected) => break stop.is_set(),
            Err(RecvTimeoutError::Timeout) if stop.is_set() => break true,
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    if stopped {
        // It may have ended by itself in between, having got the same signal.
        let _ = child.kill();
    }
    let mut words = String::new();
    if let Some(complaints) = complaints.as_mut() {
        complaints.read_to_string(&mut words)?;
    }
    let status = child.wait()?;
    let _ = listener.join();
    Ok(match broken {
        _ if stopped => Ended::Stopped,
        Some(reason) => Ended::Failed(reason),
        None if status.success() => Ended::Done,
        None if words.trim().is_empty() => Ended::Failed(format!("the worker ended with {status}")),
        // A worker introduces itself by the name that its driver will put before the sentence too.
        None => Ended::Failed(words.trim().trim_start_matches("votebench: ").to_owned()),
    })
}
