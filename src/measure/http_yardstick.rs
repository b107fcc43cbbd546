//! A server that is not ours beside the HTTP study's: Debian's nginx, one worker, which answers `return 200` with the bytes that the
//! arm echoes, both driven by `wrk`. It shows that `pooled-http` is no straw man. Owns the turns, `wrk`, and the look at what either
//! answers before it is driven; the server is `nginx`'s.
//!
//! `wrk` has a core of its own, as the server has, and either can be the one that is busy all the time. Where it is `wrk`'s, the
//! rates say little about the servers: so the CPU time that a server spends on a request is taken with them.

use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;

use super::arm::{Arms, Wait, WorkloadInfo};
use super::conditions::is_disturbed;
use super::http::{CONNECTIONS, Options};
use super::http_server::{ArmEvent, ArmPlan};
use super::job::{Job, build};
use super::machine_load::Sample;
use super::nginx::{Nginx, quoted};
use super::pinning::pinned;
use super::processes::{Heard, Programs, Stop, Worker};
use super::server;
use super::shuffle::shuffle;

/// The arm that is held against it.
pub const ARM: &str = "pooled-http";

/// Its name in results.
pub const NAME: &str = "nginx";

/// The workloads that it is held against it with: bodies that nginx's configuration can hold, in words of less than 4,096 bytes.
const WORKLOADS: [&str; 3] = ["tiny", "small", "chat"];

/// Where Debian has it; not everybody's search path has that.
const PROGRAMS: [&str; 2] = ["nginx", "/usr/sbin/nginx"];

/// How long `wrk` drives a server, in seconds, of which it takes whole ones.
const SECONDS: u64 = 1;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// What one server has shown at one workload, by process.
#[derive(Debug, Clone)]
pub struct Driven {
    /// The server: [`ARM`] or [`NAME`].
    pub server: &'static str,
    /// The workload.
    pub workload: String,
    /// What was found.
    pub shown: Vec<Shown>,
}

/// What one process of a server has shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Nanoseconds per request.
    pub ns: f64,
    /// CPU time of the server, in nanoseconds per request.
    pub cpu_ns: f64,
    /// Bytes of a response, head and body.
    pub response_bytes: u64,
    /// Whether others used the machine meanwhile.
    pub disturbed: bool,
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
        .flat_map(|info| [NAME, ARM].map(|server| Driven { server, workload: info.name.to_owned(), shown: Vec::new() }))
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
                    Ok(shown) => {
                        let row = driven.iter_mut().find(|row| row.server == server && row.workload == info.name);
                        row.into_iter().for_each(|row| row.shown.push(shown));
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
    /// Starts `server`, lets `wrk` drive it, and ends it.
    fn drive(&self, server: &str, workload: &WorkloadInfo) -> Result<Shown, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let before = Sample::take(std::process::id());
        let mut shown = if server == NAME {
            let nginx = Nginx::start(self.nginx, folder.path(), workload, self.server_core())?;
            self.wrk(folder.path(), nginx.address(), workload, &mut || nginx.cpu_ns())?
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
            self.wrk(folder.path(), address, workload, &mut || self.cpu_ns(&mut worker))?
        };
        let load = Sample::take(std::process::id()).since(&before);
        shown.disturbed = is_disturbed(load.foreign_share, load.steal_share);
        Ok(shown)
    }

    /// CPU time of the arm's server so far, in nanoseconds.
    fn cpu_ns(&self, worker: &mut Worker<ArmEvent>) -> Result<u64, String> {
        worker.tell(&server::Command::End);
        match worker.hear(self.stop, Some(PATIENCE)) {
            Heard::Event(ArmEvent::Account { account, .. }) => Ok(account.cpu_ns),
            _ => Err("the server's account is missing".to_owned()),
        }
    }

    fn server_core(&self) -> Option<usize> {
        self.options.cores.map(|(_, server)| server)
    }

    /// Looks at what the server at `address` answers, and lets `wrk` drive it.
    fn wrk(
        &self,
        folder: &Path,
        address: SocketAddr,
        workload: &WorkloadInfo,
        cpu_ns: &mut dyn FnMut() -> Result<u64, String>,
    ) -> Result<Shown, String> {
        let response_bytes = right_response(address, workload)?;
        let script = folder.join("request.lua");
        std::fs::write(&script, lua(workload)).map_err(|error| format!("{}: {error}", script.display()))?;
        let mut command = Command::new("wrk");
        command.args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{SECONDS}s"), "-s"]).arg(&script);
        command.arg(format!("http://{address}/echo"));
        let core = self.options.cores.map(|(client, _)| client);
        let before = cpu_ns()?;
        let output = pinned(core, move || command.output())?;
        let spent = cpu_ns()?.saturating_sub(before);
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers = text.lines().find_map(|line| line.strip_prefix("votebench "));
        let numbers: Vec<u64> = numbers.into_iter().flat_map(str::split_whitespace).flat_map(str::parse).collect();
        match numbers[..] {
            [requests, microseconds, 0] if requests > 0 => Ok(Shown {
                ns: 1e3 * per_request(microseconds, requests),
                cpu_ns: per_request(spent, requests),
                response_bytes,
                disturbed: false,
            }),
            [_, _, errors] => Err(format!("wrk saw {errors} errors")),
            _ => Err(format!("wrk says nothing of its requests: {}", String::from_utf8_lossy(&output.stderr).trim())),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a second has neither 2^53 nanoseconds nor requests")]
fn per_request(spent: u64, requests: u64) -> f64 {
    spent as f64 / requests as f64
}

/// Asks the server at `address` for `workload` once. `wrk` looks at the status and no further: a server that answers something else,
/// or less, must be told before. Bytes of the response.
///
/// # Errors
/// Where it is not the status, the body, the media type and the `X-` fields that the arm echoes.
fn right_response(address: SocketAddr, workload: &WorkloadInfo) -> Result<u64, String> {
    let mut request = format!("POST /echo HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n", workload.body.len());
    for (name, value) in workload.headers {
        // Writing to a string cannot fail.
        let _ = write!(request, "{name}: {value}\r\n");
    }
    let exchange = || -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(&[request.as_bytes(), b"\r\n", &workload.body].concat())?;
        let (mut response, mut room) = (Vec::new(), [0; 4_096]);
        while !is_whole(&response) {
            let count = stream.read(&mut room)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            response.extend_from_slice(&room[..count]);
        }
        Ok(response)
    };
    let response = exchange().map_err(|error| format!("it does not answer: {error}"))?;
    if is_right(&response, workload) {
        Ok(response.len() as u64)
    } else {
        Err(format!("it answers something else: {}", String::from_utf8_lossy(&response)))
    }
}

/// What `look` makes of a response's head, and of what is behind it; `None` where the head is not whole.
fn parsed<T>(response: &[u8], look: impl FnOnce(&httparse::Response<'_, '_>, &[u8]) -> T) -> Option<T> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut fields);
    match head.parse(response) {
        Ok(httparse::Status::Complete(length)) => Some(look(&head, &response[length..])),
        _ => None,
    }
}

/// The only field of that name.
fn field<'h>(head: &httparse::Response<'_, 'h>, name: &str) -> Option<&'h [u8]> {
    let mut fields = head.headers.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
    fields.next().map(|field| field.value).filter(|_| fields.next().is_none())
}

fn is_whole(response: &[u8]) -> bool {
    let whole = parsed(response, |head, body| {
        let length =
            field(head, "content-length").and_then(|length| str::from_utf8(length).ok()?.parse::<usize>().ok());
        length.is_none_or(|length| body.len() >= length)
    });
    whole.unwrap_or(false)
}

fn is_right(response: &[u8], workload: &WorkloadInfo) -> bool {
    let right = parsed(response, |head, body| {
        let is_echoed = |name: &str| name.starts_with("X-") || name.eq_ignore_ascii_case("content-type");
        let mut echoed = workload.headers.iter().filter(|(name, _)| is_echoed(name));
        head.code == Some(200)
            && body == workload.body
            && echoed.all(|(name, value)| field(head, name) == Some(value.as_bytes()))
    });
    right.unwrap_or(false)
}

/// What `wrk` sends, and how it says what came of it.
fn lua(workload: &WorkloadInfo) -> String {
    let body = quoted(&String::from_utf8_lossy(&workload.body));
    let mut script = format!("wrk.method = \"POST\"\nwrk.body = {body}\n");
    for (name, value) in workload.headers {
        // Writing to a string cannot fail.
        let _ = writeln!(script, "wrk.headers[{}] = {}", quoted(name), quoted(value));
    }
    script
        + "function done(summary)\n  local e = summary.errors\n  \
              local errors = e.connect + e.read + e.write + e.status + e.timeout\n  \
              io.write(string.format(\"votebench %d %d %d\\n\", summary.requests, summary.duration, errors))\nend\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_whole_and_right_or_not() {
        let workload = WorkloadInfo {
            name: "any",
            body: bytes::Bytes::from_static(b"ab"),
            headers: &[("Content-Type", "a/b"), ("X-A", "1"), ("Accept", "2")],
        };
        let good = "HTTP/1.1 200 OK\r\ncontent-type: a/b\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nab";
        for length in 0..good.len() {
            assert!(!is_whole(&good.as_bytes()[..length]), "{length}");
        }
        assert!(is_whole(good.as_bytes()) && is_right(good.as_bytes(), &workload));
        for (old, new) in [("200", "404"), ("a/b", "a/c"), ("X-A: 1", "X-A: 2"), ("X-A: 1", "X-B: 1"), ("\nab", "\nac")]
        {
            assert!(!is_right(good.replace(old, new).as_bytes(), &workload), "{new}");
        }
        assert!(!is_right(good.replace("X-A: 1", "X-A: 1\r\nX-A: 1").as_bytes(), &workload));
    }
}
