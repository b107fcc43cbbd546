//! A server that is not ours beside the HTTP study's: Debian's nginx, one worker, which answers `return 200` with the bytes that the
//! arm echoes, both driven by `wrk`. It shows that `pooled-http` is no straw man. Owns both programs' setting up, and their ends.

use std::fmt::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Signal, kill_process};

use super::arm::{Arms, Wait, WorkloadInfo};
use super::http::{CONNECTIONS, Options};
use super::http_server::{ArmEvent, ArmPlan};
use super::job::{Job, build};
use super::pinning;
use super::processes::{Heard, Programs, Stop, Worker};
use super::shuffle::shuffle;

/// The arm that is held against it.
pub const ARM: &str = "pooled-http";

/// Its name in results.
pub const NAME: &str = "nginx";

/// The workloads that it is held against it with: bodies that nginx's configuration can hold.
const WORKLOADS: [&str; 2] = ["tiny", "small"];

/// Where Debian has it; not everybody's search path has that.
const PROGRAMS: [&str; 2] = ["nginx", "/usr/sbin/nginx"];

/// How long `wrk` drives a server, in seconds, of which it takes whole ones.
const SECONDS: u64 = 1;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// Nanoseconds per request of one server at one workload, by process.
#[derive(Debug, Clone)]
pub struct Driven {
    /// The server: [`ARM`] or [`NAME`].
    pub server: &'static str,
    /// The workload.
    pub workload: String,
    /// One block a process.
    pub blocks_ns: Vec<Vec<f64>>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Every server at every workload.
    Driven(Vec<Driven>),
    /// The programs are not there.
    Unsupported(String),
    /// Something failed, in one sentence.
    Failed(String),
}

/// The workloads of `options` that are taken.
#[must_use]
pub fn workloads(options: &Options) -> Vec<String> {
    let is_taken = |workload: &&String| WORKLOADS.contains(&workload.as_str());
    let arm = options.arms.iter().any(|arm| arm == ARM);
    options.workloads.iter().filter(|_| arm).filter(is_taken).cloned().collect()
}

/// Drives both servers in turn, each in a fresh process, as often as `options` has processes.
pub fn run(arms: impl Arms, options: &Options, programs: &Programs, random: &mut ChaCha8Rng, stop: &Stop) -> Outcome {
    let nginx = PROGRAMS.into_iter().find(|program| is_there(program, "-v"));
    let (Some(nginx), true) = (nginx, is_there("wrk", "-v")) else {
        return Outcome::Unsupported("it takes nginx and wrk, and not both are installed here".to_owned());
    };
    let wanted = workloads(options);
    let infos: Vec<_> =
        arms.workloads().into_iter().filter(|info| wanted.iter().any(|name| name == info.name)).collect();
    let bench = Bench { nginx, options, programs, stop };
    let mut driven: Vec<Driven> = infos
        .iter()
        .flat_map(|info| {
            [NAME, ARM].map(|server| Driven { server, workload: info.name.to_owned(), blocks_ns: Vec::new() })
        })
        .collect();
    for _ in 0..options.processes {
        for info in &infos {
            let mut order = [NAME, ARM];
            shuffle(&mut order, random);
            for server in order {
                if stop.is_set() {
                    return Outcome::Failed("the run was ended before it".to_owned());
                }
                match bench.drive(server, info) {
                    Ok(ns) => {
                        let row = driven.iter_mut().find(|row| row.server == server && row.workload == info.name);
                        row.into_iter().for_each(|row| row.blocks_ns.push(vec![ns]));
                    }
                    Err(reason) => return Outcome::Failed(format!("{server} ({}): {reason}", info.name)),
                }
            }
        }
    }
    Outcome::Driven(driven)
}

/// Whether a program can be started, asked for its version.
fn is_there(program: &str, version: &str) -> bool {
    Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

struct Bench<'a> {
    nginx: &'static str,
    options: &'a Options,
    programs: &'a Programs,
    stop: &'a Stop,
}

impl Bench<'_> {
    /// Starts `server`, lets `wrk` drive it, and ends it. Nanoseconds per request.
    fn drive(&self, server: &str, workload: &WorkloadInfo) -> Result<f64, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        if server == NAME {
            let nginx = Nginx::start(self.nginx, folder.path(), workload, self.server_core())?;
            self.wrk(folder.path(), nginx.address, workload)
        } else {
            let job = Job::Answer(ArmPlan {
                build: build(),
                core: self.server_core(),
                arm: ARM.to_owned(),
                wait: Wait::Block,
                count: false,
            });
            let mut worker = Worker::start(&self.programs.plain, &job)?;
            let Heard::Event(ArmEvent::Listening(address)) = worker.hear(self.stop, Some(PATIENCE)) else {
                return Err("the server does not say where it listens".to_owned());
            };
            self.wrk(folder.path(), address, workload)
        }
    }

    fn server_core(&self) -> Option<usize> {
        self.options.cores.map(|(_, server)| server)
    }

    fn wrk(&self, folder: &Path, address: SocketAddr, workload: &WorkloadInfo) -> Result<f64, String> {
        let script = folder.join("request.lua");
        std::fs::write(&script, lua(workload)).map_err(|error| format!("{}: {error}", script.display()))?;
        let mut command = Command::new("wrk");
        command.args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{SECONDS}s"), "-s"]).arg(&script);
        command.arg(format!("http://{address}/echo"));
        let core = self.options.cores.map(|(client, _)| client);
        let output = pinned(core, move || command.output())?;
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers = text.lines().find_map(|line| line.strip_prefix("votebench "));
        let numbers: Vec<u64> = numbers.into_iter().flat_map(str::split_whitespace).flat_map(str::parse).collect();
        match numbers[..] {
            [requests, microseconds, 0] if requests > 0 => Ok(per_request(microseconds, requests)),
            [_, _, errors] => Err(format!("wrk saw {errors} errors")),
            _ => Err(format!("wrk says nothing of its requests: {}", String::from_utf8_lossy(&output.stderr).trim())),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a second has neither 2^53 nanoseconds nor requests")]
fn per_request(microseconds: u64, requests: u64) -> f64 {
    1e3 * microseconds as f64 / requests as f64
}

/// Does `task` on a thread of its own, pinned to `core`: what it starts is pinned, too.
fn pinned<T: Send>(core: Option<usize>, task: impl FnOnce() -> std::io::Result<T> + Send) -> Result<T, String> {
    let pin_and_do = || {
        core.map_or(Ok(()), pinning::pin)?;
        task()
    };
    let done = std::thread::scope(|scope| scope.spawn(pin_and_do).join());
    done.map_err(|_| "the thread stopped".to_owned())?.map_err(|error| error.to_string())
}

/// What `wrk` sends, and how it says what came of it.
fn lua(workload: &WorkloadInfo) -> String {
    let mut script = format!("wrk.method = \"POST\"\nwrk.body = \"{}\"\n", String::from_utf8_lossy(&workload.body));
    for (name, value) in workload.headers {
        // Writing to a string cannot fail.
        let _ = writeln!(script, "wrk.headers[\"{name}\"] = \"{value}\"");
    }
    script
        + "function done(summary)\n  local e = summary.errors\n  \
              local errors = e.connect + e.read + e.write + e.status + e.timeout\n  \
              io.write(string.format(\"votebench %d %d %d\\n\", summary.requests, summary.duration, errors))\nend\n"
}

/// A running nginx: one master and one worker.
struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Nginx {
    fn start(program: &str, folder: &Path, workload: &WorkloadInfo, core: Option<usize>) -> Result<Self, String> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.map_err(|error| error.to_string())?;
        let file = folder.join("nginx.conf");
        std::fs::write(&file, configuration(address, workload))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let mut command = Command::new(program);
        command.args(["-e", "stderr", "-p"]).arg(folder).arg("-c").arg(&file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = pinned(core, move || command.spawn())?;
        let mut nginx = Self { child, address };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            if !matches!(nginx.child.try_wait(), Ok(None)) || began.elapsed() > PATIENCE {
                return Err("it does not start".to_owned());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(nginx)
    }
}

impl Drop for Nginx {
    /// The master ends its worker, too, when it is asked to; killed, it would not.
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

/// As Debian ships it in what matters (epoll, one worker here), without a log, and without an end of connections after a thousand
/// requests, which the arm does not have either.
fn configuration(address: SocketAddr, workload: &WorkloadInfo) -> String {
    let mut fields = String::new();
    for (name, value) in workload.headers {
        if name.starts_with("X-") {
            // Writing to a string cannot fail.
            let _ = writeln!(fields, "    add_header {name} \"{value}\";");
        }
    }
    format!(
        "daemon off;\nworker_processes 1;\npid nginx.pid;\nevents {{ worker_connections 1024; }}\nhttp {{\n  \
         access_log off;\n  server_tokens off;\n  keepalive_requests 1000000000;\n  default_type application/json;\n  \
         server {{\n    listen {address};\n{fields}    location / {{ return 200 \"{}\"; }}\n  }}\n}}\n",
        String::from_utf8_lossy(&workload.body)
    )
}
