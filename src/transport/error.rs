//! Why a connection failed, on any stack. Owns [`TransportError`]; stacks map their libraries' errors here.

use std::fmt;
use std::io;
use std::time::Duration;

use super::Address;
use crate::codec::CodecError;

/// Why a server could not be bound, a client not be connected, or a vote not be exchanged.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// A server cannot listen there.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// Where.
        address: Address,
        /// The system's reason.
        source: io::Error,
    },
    /// This stack has no such kind of address.
    #[error("{stack} cannot use the address {address}")]
    Address {
        /// The stack.
        stack: &'static str,
        /// The address.
        address: Address,
    },
    /// Nobody answers there.
    #[error("cannot connect: {0}")]
    Connect(#[source] Reason),
    /// The peer closed the connection where an answer was due.
    #[error("the server closed the connection")]
    Closed,
    /// Reading or writing failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The stack's own library failed.
    #[error("{0}")]
    Stack(#[source] Reason),
    /// The answer is no message of the codec.
    #[error("the answer makes no sense: {0}")]
    Codec(#[from] CodecError),
    /// A server was sent what is no vote.
    #[error("{0}")]
    Refused(CodecError),
    /// The answer is a good vote, and not the answer to the vote that was sent.
    #[error("the answer does not belong to the vote that was sent")]
    WrongAnswer,
    /// What carried the vote, or its answer, was lost, and the stack does not send it again.
    #[error("the vote or its answer was lost")]
    Lost,
    /// A message is longer than the limit.
    #[error("a message of {length} bytes is over the limit of {limit}")]
    TooLong {
        /// Bytes that the message declares.
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// A message of no bytes, which no codec has.
    #[error("a message of 0 bytes")]
    Empty,
    /// No answer came in time.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Deadline(Duration),
    /// The certificate or its key cannot be used.
    #[error("certificate: {0}")]
    Certificate(#[source] Reason),
    /// This machine or kernel does not have what the stack needs.
    #[error("{0}")]
    Unsupported(String),
}

/// What a stack's library said.
#[derive(Debug)]
pub struct Reason(Box<dyn std::error::Error + Send + Sync>);

impl Reason {
    /// Keeps what the library said.
    #[must_use]
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for Reason {
    /// The error and its causes: libraries put the one that tells something at the end of the chain.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.0.to_string();
        f.write_str(&said)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let next = error.to_string();
            if !said.contains(&next) {
                write!(f, ": {next}")?;
            }
            said = next;
            cause = error.source();
        }
        Ok(())
    }
}

impl std::error::Error for Reason {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl TransportError {
    /// Whether nothing more can come over the connection that this happened on.
    #[must_use]
    pub const fn ends_the_connection(&self) -> bool {
        matches!(self, Self::Closed | Self::Io(_) | Self::Connect(_) | Self::Bind { .. } | Self::Address { .. })
    }

    /// What sort of failure it is, as it is counted in results.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Bind { .. } | Self::Address { .. } | Self::Connect(_) => "connect",
            Self::Closed => "closed",
            Self::Io(_) => "io",
            Self::Stack(_) => "stack",
            Self::Codec(_) | Self::Empty | Self::TooLong { .. } => "malformed-answer",
            Self::Refused(_) => "refused",
            Self::WrongAnswer => "wrong-answer",
            Self::Lost => "lost",
            Self::Deadline(_) => "deadline",
            Self::Certificate(_) => "certificate",
            Self::Unsupported(_) => "unsupported",
        }
    }

    /// A failure of the stack's library while votes were exchanged.
    #[must_use]
    pub fn stack(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Stack(Reason::new(error))
    }

    /// A failure to connect.
    #[must_use]
    pub fn connect(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Connect(Reason::new(error))
    }
}
