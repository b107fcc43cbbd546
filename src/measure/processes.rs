//! Starting fresh processes and hearing them out. Owns the pipes and the stopping: a run that the user ends keeps every
//! event that had arrived.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::allocations::{self, Group};
use super::job::{self, Job};

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

/// A flag that SIGINT and SIGTERM set, and the appearance of a file, where one is named.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    file: Option<PathBuf>,
}

impl Stop {
    /// Watches for SIGINT and SIGTERM, and for `file`, from now on. A second signal ends the program at once.
    ///
    /// # Errors
    /// Where the system refuses to install the handlers.
    pub fn on_signals(file: Option<PathBuf>) -> std::io::Result<Self> {
        let stop = Self { file, ..Self::default() };
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.flag))?;
            signal_hook::flag::register(signal, Arc::clone(&stop.flag))?;
        }
        Ok(stop)
    }

    /// Whether the run is to end.
    #[must_use]
    pub fn is_set(&self) -> bool {
        if self.file.as_ref().is_some_and(|file| file.exists()) {
            self.flag.store(true, Ordering::Relaxed);
        }
        self.flag.load(Ordering::Relaxed)
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

/// Who does a job.
#[derive(Debug)]
enum Hand {
    Process(Child),
    Thread(Option<JoinHandle<Result<(), String>>>),
}

/// A fresh process that a job was given to, or a thread of this one.
#[derive(Debug)]
pub struct Worker<E> {
    hand: Hand,
    input: Option<File>,
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
            let pipes = child.stdin.take().zip(child.stdout.take());
            let (input, output) = pipes.ok_or(std::io::ErrorKind::BrokenPipe)?;
            Ok(Self::with(Hand::Process(child), input, output, &job))
        };
        begin().map_err(|error: std::io::Error| format!("{}: {error}", program.display()))
    }

    /// Starts a thread of this process with `job`. It cannot be killed: it ends when it is told no more.
    ///
    /// # Errors
    /// A sentence, where the system has no more threads or pipes.
    pub fn start_thread(name: &str, job: &Job) -> Result<Self, String> {
        let begin = || {
            let job = serde_json::to_vec(job)?;
            let ((theirs, input), (output, ours)) = (std::io::pipe()?, std::io::pipe()?);
            let work = move || job::run(BufReader::new(theirs), ours);
            let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
            Ok(Self::with(Hand::Thread(Some(thread)), input, output, &job))
        };
        begin().map_err(|error: std::io::Error| format!("no thread for the {name}: {error}"))
    }

    /// Hears `output` on a thread, and hands over the job.
    fn with(hand: Hand, input: impl Into<OwnedFd>, output: impl Read + Send + 'static, job: &[u8]) -> Self {
        let (sender, events) = mpsc::channel();
        let listener = thread::spawn(move || {
            allocations::join(Group::Harness);
            for line in BufReader::new(output).lines() {
                let event = line.and_then(|line| serde_json::from_str(&line).map_err(Into::into));
                if sender.send(event).is_err() {
                    break;
                }
            }
        });
        let mut worker =
            Self { hand, input: Some(File::from(input.into())), events, listener: Some(listener), broken: None };
        worker.write(job);
        worker
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
        let failed = match &mut self.hand {
            Hand::Process(child) => said_by(child),
            Hand::Thread(thread) => match thread.take().map(JoinHandle::join) {
                None | Some(Ok(Ok(()))) => None,
                Some(Ok(Err(reason))) => Some(reason),
                Some(Err(_)) => Some("the worker panicked".to_owned()),
            },
        };
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        match (self.broken.take(), failed) {
            _ if stop.is_set() => Ended::Stopped,
            (Some(reason), _) | (None, Some(reason)) => Ended::Failed(reason),
            (None, None) => Ended::Done,
        }
    }

    /// Ends the process without asking it.
    pub fn kill(&mut self) {
        if let Hand::Process(child) = &mut self.hand {
            // It may have ended by itself in between.
            let _ = child.kill();
        }
    }
}

/// Waits for `child`, and gives its last words where it has failed.
fn said_by(child: &mut Child) -> Option<String> {
    let mut words = String::new();
    if let Some(mut complaints) = child.stderr.take() {
        // Words that cannot be read are as good as none.
        let _ = complaints.read_to_string(&mut words);
    }
    let words = words.trim();
    match child.wait() {
        Ok(status) if status.success() => None,
        Ok(status) if words.is_empty() => Some(format!("the worker ended with {status}")),
        // A worker introduces itself by the name that its driver will put before the sentence too.
        Ok(_) => Some(words.trim_start_matches("votebench: ").to_owned()),
        Err(error) => Some(format!("the worker is lost: {error}")),
    }
}

impl<E> Drop for Worker<E> {
    /// Nobody is left behind: whoever was not heard out is ended.
    fn drop(&mut self) {
        if let Hand::Process(child) = &mut self.hand
            && matches!(child.try_wait(), Ok(None))
        {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
