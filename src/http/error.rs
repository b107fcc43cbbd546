//! What can go wrong on a connection of an arm of ours.

use std::io;

use super::refusal::Refusal;

/// Why a connection has ended.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The peer ended the stream in the middle of a message.
    #[error("the connection ended in the middle of a message")]
    EndsEarly,
    /// A request was refused.
    #[error("refused with {0}")]
    Refused(Refusal),
    /// A response is malformed.
    #[error("the response is malformed: {0}")]
    Malformed(&'static str),
    /// A response is not the one to the request.
    #[error("the response is not the one to the request")]
    WrongResponse,
    /// A message does not fit the wire's lengths.
    #[error("the message does not fit the wire's lengths")]
    DoesNotFit,
    /// There is no workload of that name.
    #[error("there is no workload {0}")]
    NoWorkload(String),
}
