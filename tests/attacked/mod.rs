//! What both files of bad peers attack: `votebench serve` with each stack that other processes can reach, what it holds, and the
//! good client that must be answered afterwards.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use votebench::protocol::{self, Protocol};
use votebench::transport::wait::WaitingRuntime;
use votebench::transport::{
    self, Address, ClientConfig, Connection, ServerConfig, Transport, TransportError, Visitor, Wait,
};
use votebench::vote::corpus;

pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// Connections on which a length is announced that nothing follows.
pub(crate) const ANNOUNCING: usize = 100;

/// That length: just under what a server takes.
pub(crate) const ANNOUNCED: u32 = (64 << 20) - 1;

/// Bytes that a server may hold in RAM for all bad peers together.
const RESIDENT: u64 = 100 << 20;

/// Bytes of address space that it may take for them: a third of what is announced, which leaves room for the stacks and the
/// allocator's reserves of those servers that have a thread a connection.
const MAPPED: u64 = ANNOUNCING as u64 * ANNOUNCED as u64 / 3;

/// What a process holds, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// In RAM.
    pub(crate) resident: u64,
    /// Of address space, whether it is touched or not.
    pub(crate) mapped: u64,
}

/// A protocol for every stack that other processes can reach: the codec that it prescribes, or ZAP.
pub(crate) fn protocols() -> Vec<Protocol> {
    let reachable = transport::all().into_iter().filter(|info| info.name != "memory");
    reachable
        .map(|info| protocol::by_name(&format!("{}+{}", info.codec.unwrap_or("zap"), info.name)).unwrap())
        .filter(is_supported)
        .collect()
}

/// Whether this machine has what the stack needs: not every kernel lets io_uring be used.
pub(crate) fn is_supported(protocol: &Protocol) -> bool {
    let config = ServerConfig::new(protocol.payload.clone());
    transport::visit(&protocol.transport, Supported(config)).unwrap()
}

pub(crate) struct Supported(ServerConfig);

impl Visitor for Supported {
    type Output = bool;

    fn visit<T: Transport>(self) -> bool {
        let runtime = WaitingRuntime::new(Wait::Block).unwrap();
        !matches!(runtime.run(T::bind(self.0)).unwrap(), Err(TransportError::Unsupported(_)))
    }
}

pub(crate) fn is_udp(protocol: &Protocol) -> bool {
    protocol.transport.starts_with("quic")
}

/// `votebench serve`, ended by SIGTERM.
pub(crate) struct Serve {
    child: Child,
    pub(crate) address: Address,
    pub(crate) authority_pem: Option<String>,
    _folder: tempfile::TempDir,
}

impl Serve {
    pub(crate) fn start(protocol: &Protocol) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let certificate = folder.path().join("certificate.pem");
        let secure = transport::info(&protocol.transport).unwrap().secure;
        let mut command = Command::new(env!("CARGO_BIN_EXE_votebench"));
        command.args(["serve", "--protocol", &protocol.name]);
        if secure {
            command.arg("--cert-out").arg(&certificate);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix(&format!("{} listening on ", protocol.name)).unwrap().trim().parse().unwrap();
        let authority_pem = secure.then(|| std::fs::read_to_string(&certificate).unwrap());
        Self { child, address, authority_pem, _folder: folder }
    }

    /// What it holds now.
    pub(crate) fn memory(&self) -> Memory {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
        };
        Memory { resident: of("VmRSS:"), mapped: of("VmSize:") }
    }

    /// That it holds little more than `before`, while those are still there who did `what`; what is `aside` is granted.
    pub(crate) fn is_bounded(&self, before: Memory, aside: Memory, name: &str, what: &str) {
        let grown = self.grown(before);
        assert!(grown.resident < RESIDENT + aside.resident, "{name}, {what}: {} bytes more in RAM", grown.resident);
        assert!(grown.mapped < MAPPED + aside.mapped, "{name}, {what}: {} bytes more of address space", grown.mapped);
    }

    /// What it holds more than `before`.
    pub(crate) fn grown(&self, before: Memory) -> Memory {
        let now = self.memory();
        Memory {
            resident: now.resident.saturating_sub(before.resident),
            mapped: now.mapped.saturating_sub(before.mapped),
        }
    }

    pub(crate) fn good_client(&self, protocol: &Protocol, what: &str) {
        let config = ClientConfig {
            authority_pem: self.authority_pem.clone(),
            ..ClientConfig::new(self.address.clone(), protocol.payload.clone())
        };
        let outcome = transport::visit(&protocol.transport, GoodClient(config)).unwrap();
        outcome.unwrap_or_else(|error| panic!("{} after {what}: {error}", protocol.name));
    }

    /// SIGTERM, and a clean end.
    pub(crate) fn stop(mut self, name: &str) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        for _ in 0..100 {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{name}: {status}");
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{name} does not stop on SIGTERM");
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Connects and exchanges a few votes.
pub(crate) struct GoodClient(pub(crate) ClientConfig);

impl Visitor for GoodClient {
    type Output = Result<(), String>;

    fn visit<T: Transport>(self) -> Self::Output {
        let runtime = WaitingRuntime::new(Wait::Block).unwrap();
        let talking = async move {
            let mut connection = T::connect(self.0).await?;
            for vote in corpus::votes(3, 11) {
                connection.exchange(&vote).await?;
            }
            Ok::<_, TransportError>(())
        };
        let outcome = runtime.run(async move { tokio::time::timeout(LIMIT, talking).await }).unwrap();
        outcome.map_err(|_| "no answer".to_owned())?.map_err(|error| error.to_string())
    }
}

/// Bytes that look like nothing.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[1]
    };
    (0..length).map(|_| next(&mut state)).collect()
}
