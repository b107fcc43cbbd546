//! What a server and a client are set up with, whichever stack it is.

use std::io::Write;
use std::time::Duration;

use super::{Address, Payload, Wait, Writes};

/// Longest message that is taken, in bytes, where nobody says otherwise: 64 MiB.
pub const MAX_MESSAGE_BYTES: u64 = 64 << 20;

/// Votes that may be in flight on a connection, where nobody says otherwise.
pub const IN_FLIGHT: u32 = 4_096;

/// How long a client waits for an answer, where nobody says otherwise.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// A certificate chain and its key, both in PEM; votebench makes one at start where the user has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The chain, the server's own certificate first.
    pub certificate_pem: String,
    /// Its private key.
    pub key_pem: String,
}

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Where it listens.
    pub bind: Address,
    /// What it carries, where the stack carries anything.
    pub payload: Payload,
    /// How its threads wait; a stack on the runtime leaves that to the runtime.
    pub wait: Wait,
    /// Longest message that it takes.
    pub max_message_bytes: u64,
    /// Who it says it is, where the stack is [secure](super::Info::secure).
    pub identity: Option<Identity>,
    /// Votes of one connection that may be in flight, where the stack sets room aside for each.
    pub in_flight: u32,
    /// When answers are written, where the framing is ours; libraries decide for themselves.
    pub writes: Writes,
    /// Where it says why it closed a connection.
    pub log: Log,
}

/// How a client is set up.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Where the server listens.
    pub address: Address,
    /// What the connection carries, where the stack carries anything.
    pub payload: Payload,
    /// How its threads wait; a stack on the runtime leaves that to the runtime.
    pub wait: Wait,
    /// Longest message that it takes.
    pub max_message_bytes: u64,
    /// How long connecting, or one answer, may take. Stacks on the runtime leave answers to the driver, which has one timer
    /// for all votes instead of one for each.
    pub deadline: Duration,
    /// The certificate, in PEM, that the server's must be or be signed by, where the stack is secure.
    pub authority_pem: Option<String>,
}

impl ServerConfig {
    /// A server of `payload` on any free port of the loopback interface, with everything else as where nobody says otherwise.
    #[must_use]
    pub const fn new(payload: Payload) -> Self {
        Self {
            bind: Address::LOOPBACK,
            payload,
            wait: Wait::Block,
            max_message_bytes: MAX_MESSAGE_BYTES,
            identity: None,
            in_flight: IN_FLIGHT,
            writes: Writes::Batched,
            log: Log::Stderr,
        }
    }
}

impl ClientConfig {
    /// A client of the server of `payload` at `address`, with everything else as where nobody says otherwise.
    #[must_use]
    pub const fn new(address: Address, payload: Payload) -> Self {
        Self {
            address,
            payload,
            wait: Wait::Block,
            max_message_bytes: MAX_MESSAGE_BYTES,
            deadline: DEADLINE,
            authority_pem: None,
        }
    }
}

/// Where a server says why it closed a connection, one line each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// On stderr.
    Stderr,
    /// Nowhere.
    Silent,
}

impl Log {
    /// Says that `stack` closed the connection, stream or call from `peer`, and why.
    pub fn closed(self, stack: &str, peer: &dyn std::fmt::Display, reason: &dyn std::fmt::Display) {
        if self == Self::Stderr {
            // Where nobody can read it, as on a full disk, the line is lost, and nothing else is.
            let _ = writeln!(std::io::stderr(), "votebench: {stack}: {peer}: {reason}");
        }
    }
}
