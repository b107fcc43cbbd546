//! A running nginx: one master and one worker, which answers `return 200` with the bytes that an arm echoes. Owns its configuration,
//! its account, and its end.

use std::fmt::Write as _;
use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use procfs::process::all_processes;
use rustix::process::{Pid, Signal, kill_process};

use super::arm::WorkloadInfo;
use super::pinning::pinned;

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running nginx.
pub(super) struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Nginx {
    /// Starts `program` in `folder`, on `core`, to answer `workload`.
    ///
    /// # Errors
    /// A sentence, its own last one where it has said any.
    pub(super) fn start(
        program: &str,
        folder: &Path,
        workload: &WorkloadInfo,
        core: Option<usize>,
    ) -> Result<Self, String> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.map_err(|error| error.to_string())?;
        let (file, log) = (folder.join("nginx.conf"), folder.join("nginx.log"));
        std::fs::write(&file, configuration(address, workload))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let words = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut command = Command::new(program);
        command.args(["-e", "stderr", "-p"]).arg(folder).arg("-c").arg(&file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(words);
        let child = pinned(core, move || command.spawn())?;
        let mut nginx = Self { child, address };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            if !matches!(nginx.child.try_wait(), Ok(None)) || began.elapsed() > PATIENCE {
                let words = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("it does not start: {}", words.lines().last().unwrap_or("it says nothing")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(nginx)
    }

    /// Where it listens.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time of its worker so far, in nanoseconds.
    ///
    /// # Errors
    /// A sentence, where the kernel does not say.
    pub(super) fn cpu_ns(&self) -> Result<u64, String> {
        let master = i32::try_from(self.child.id()).map_err(|error| error.to_string())?;
        let processes = all_processes().map_err(|error| error.to_string())?.flatten();
        let workers = processes.filter(|process| process.stat().is_ok_and(|stat| stat.ppid == master));
        let spent: Vec<u64> = workers.filter_map(|worker| Some(worker.schedstat().ok()?.sum_exec_runtime)).collect();
        if spent.is_empty() { Err("it has no worker".to_owned()) } else { Ok(spent.iter().sum()) }
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
/// requests, which the arm does not have either. Its folders for what it does not hold in memory are its own: those that it was
/// built with may only be there for root.
fn configuration(address: SocketAddr, workload: &WorkloadInfo) -> String {
    let mut fields = String::new();
    for (name, value) in workload.headers {
        if name.starts_with("X-") {
            // Writing to a string cannot fail.
            let _ = writeln!(fields, "    add_header {name} {};", quoted(value));
        }
    }
    let folders =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|name| format!("  {name}_temp_path {name};\n"));
    format!(
        "daemon off;\nworker_processes 1;\npid nginx.pid;\nevents {{ worker_connections 1024; }}\nhttp {{\n{}  \
         access_log off;\n  server_tokens off;\n  keepalive_requests 1000000000;\n  default_type application/json;\n  \
         server {{\n    listen {address};\n{fields}    location / {{ return 200 {}; }}\n  }}\n}}\n",
        folders.concat(),
        quoted(&String::from_utf8_lossy(&workload.body)),
    )
}

/// `text` in quotation marks, as nginx and Lua both write it.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_is_quoted() {
        let workload = WorkloadInfo {
            name: "any",
            body: bytes::Bytes::from_static(br#"{"a":"\n"}"#),
            headers: &[("X-A", "1"), ("Accept", "2")],
        };
        let text = configuration("127.0.0.1:80".parse().unwrap(), &workload);
        assert!(text.contains(r#"return 200 "{\"a\":\"\\n\"}";"#), "{text}");
        assert!(text.contains(r#"add_header X-A "1";"#) && !text.contains("Accept"), "{text}");
    }
}
