//! Starting fresh processes and hearing them out. Owns the pipes and the stopping: a run that the user ends keeps every
//! event that had arrived.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::worker::Job;

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

/// Runs `job` in a fresh process of `program` and hands every event to `hear`.
pub fn run<E>(program: &Path, job: &Job, stop: &Stop, hear: &mut dyn FnMut(E)) -> Ended
where
    E: DeserializeOwned + Send + 'static,
{
    let mut worker = match Worker::start(program, job) {
        Ok(worker) => worker,
        Err(reason) => return Ended::Failed(reason),
    };
    loop {
        match worker.hear(stop, None) {
            Heard::Event(event) => hear(event),
            Heard::Nothing | Heard::End => return worker.end(stop),
        }
    }
}

/// What a driver hears from a worker.
#[derive(Debug)]
pub enum Heard<E> {
    /// An event.
    Event(E),
    /// Nothing in the time given, or the user has ended the run.
    Nothing,
    /// The worker has said its last.
    End,
}

/// A fresh process that a job was given to.
#[derive(Debug)]
pub struct Worker<E> {
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<std::io::Result<E>>,
    listener: Option<JoinHandle<()>>,
    broken: Option<String>,
}

impl<E: DeserializeOwned + Send + 'static> Worker<E> {
    /// Starts `program` with `job`.
    ///
    /// # Errors
    /// A sentence, where it cannot be started.
    pub fn start(program: &Path, job: &Job) -> Result<Self, String> {
        let begin = || {
            let job = serde_json::to_vec(job)?;
            let mut child = Command::new(program)
                .arg("worker")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()?;
            let (input, output) = (child.stdin.take(), child.stdout.take());
            let (sender, events) = mpsc::channel();
            let listener = thread::spawn(move || {
                for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
                    let event = line.and_then(|line| serde_json::from_str(&line).map_err(Into::into));
                    if sender.send(event).is_err() {
                        break;
                    }
                }
            });
            let mut worker = Self { child, input, events, listener: Some(listener), broken: None };
            worker.write(&job);
            Ok(worker)
        };
        begin().map_err(|error: std::io::Error| format!("{}: {error}", program.display()))
    }

    /// Tells the worker something, as a line of JSON.
    pub fn tell(&mut self, command: &impl Serialize) {
        if let Ok(command) = serde_json::to_vec(command) {
            self.write(&command);
        }
    }

    fn write(&mut self, line: &[u8]) {
        if let Some(input) = &mut self.input {
            // A worker that refuses its job closes its end early: its own words are then the better error.
            let _ = input.write_all(line).and_then(|()| input.write_all(b"\n")).and_then(|()| input.flush());
        }
    }

    /// The next event, for no longer than `patience`.
    pub fn hear(&mut self, stop: &Stop, patience: Option<Duration>) -> Heard<E> {
        let began = Instant::now();
        loop {
            match self.events.recv_timeout(POLL) {
                Ok(Ok(event)) => return Heard::Event(event),
                Ok(Err(error)) => self.broken = Some(format!("its answer makes no sense: {error}")),
                Err(RecvTimeoutError::Disconnected) => return Heard::End,
                Err(RecvTimeoutError::Timeout)
                    if stop.is_set() || patience.is_some_and(|patience| began.elapsed() >= patience) =>
                {
                    return Heard::Nothing;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Hears the worker out, or ends it if the user has ended the run, and says how it ended.
    pub fn end(mut self, stop: &Stop) -> Ended {
        self.input = None;
        while !stop.is_set() {
            if let Heard::End = self.hear(stop, None) {
                break;
            }
        }
        if stop.is_set() {
            self.kill();
        }
        let mut words = String::new();
        if let Some(mut complaints) = self.child.stderr.take() {
            // Words that cannot be read are as good as none.
            let _ = complaints.read_to_string(&mut words);
        }
        let status = self.child.wait();
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        let words = words.trim();
        match (self.broken.take(), status) {
            _ if stop.is_set() => Ended::Stopped,
            (Some(reason), _) => Ended::Failed(reason),
            (None, Ok(status)) if status.success() => Ended::Done,
            (None, Ok(status)) if words.is_empty() => Ended::Failed(format!("the worker ended with {status}")),
            // A worker introduces itself by the name that its driver will put before the sentence too.
            (None, Ok(_)) => Ended::Failed(words.trim_start_matches("votebench: ").to_owned()),
            (None, Err(error)) => Ended::Failed(format!("the worker is lost: {error}")),
        }
    }

    /// Ends the process without asking it.
    pub fn kill(&mut self) {
        // It may have ended by itself in between.
        let _ = self.child.kill();
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl<E> Drop for Worker<E> {
    /// Nobody is left behind: whoever was not heard out is ended.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
