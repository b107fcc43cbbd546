//! What the driver of the HTTP study asks of an arm: the [`Arm`] and [`Exchange`] traits, what each says of itself, and the list
//! of them that whoever starts a process hands over. Owns no arm: they are in `http`, which this module does not know.
//!
//! The traits are used statically, as the transports' are: a future behind a `dyn` would cost an allocation a request.

use std::future::Future;
use std::net::SocketAddr;

use bytes::Bytes;
use tokio::net::TcpStream;

pub use crate::transport::traffic::of_tcp_to;
pub use crate::transport::wait::WaitingRuntime;
pub use crate::transport::{CancellationToken, Traffic, Wait};

/// What an arm says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArmInfo {
    /// Its name in results, tables and flags.
    pub name: &'static str,
    /// What it is, in half a sentence.
    pub summary: &'static str,
    /// Whether it is a lower bound and no protocol.
    pub floor: bool,
    /// The settings that matter.
    pub settings: &'static [(&'static str, &'static str)],
}

/// What every arm is asked for: a request of one shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadInfo {
    /// Its name.
    pub name: &'static str,
    /// Its body.
    pub body: Bytes,
    /// Its headers.
    pub headers: &'static [(&'static str, &'static str)],
}

/// What was published about the bytes of an arm's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The published figure.
    pub bytes: u64,
    /// Bytes in it that no other arm carries, and why they are there; like for like is without them.
    pub extra: Option<(u64, String)>,
}

/// One arm: a server that answers, and a client that asks.
pub trait Arm: 'static {
    /// What it says of itself.
    const INFO: ArmInfo;

    /// A client's end of one connection.
    type Client: Exchange;

    /// Connects to `address`, to ask for the workload of that name.
    ///
    /// # Errors
    /// A sentence, where nobody listens there or there is no such workload.
    fn connect(address: SocketAddr, workload: &str) -> impl Future<Output = Result<Self::Client, String>> + Send;

    /// Answers whatever comes over `stream` until the peer ends it.
    ///
    /// # Errors
    /// A sentence, where the stream fails or what comes is refused.
    fn answer(stream: TcpStream) -> impl Future<Output = Result<(), String>> + Send + 'static;
}

/// A client's end of one connection.
pub trait Exchange: Send + 'static {
    /// One request, its whole response, and the check that it is the right one.
    ///
    /// # Errors
    /// A sentence, where the connection fails or the response is wrong.
    fn exchange(&mut self) -> impl Future<Output = Result<(), String>> + Send;
}

/// The arms that there are.
pub trait Arms: Copy + Send + 'static {
    /// What each says of itself, in the order of the tables.
    fn infos(self) -> Vec<ArmInfo>;

    /// The workloads, in the order of the tables.
    fn workloads(self) -> Vec<WorkloadInfo>;

    /// What was published about the bytes of that arm's request.
    fn published(self, arm: &str, workload: &str) -> Option<Published>;

    /// Calls `visitor` with the arm of that name; `None` where there is none.
    fn visit<V: ArmVisitor>(self, name: &str, visitor: V) -> Option<V::Output>;
}

/// Something that is done with an arm whose name is known only at run time.
pub trait ArmVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<A: Arm>(self) -> Self::Output;
}

/// No arms: for whoever starts a process that has nothing to do with them.
#[derive(Clone, Copy, Debug)]
pub struct NoArms;

impl Arms for NoArms {
    fn infos(self) -> Vec<ArmInfo> {
        Vec::new()
    }

    fn workloads(self) -> Vec<WorkloadInfo> {
        Vec::new()
    }

    fn published(self, _: &str, _: &str) -> Option<Published> {
        None
    }

    fn visit<V: ArmVisitor>(self, _: &str, _: V) -> Option<V::Output> {
        None
    }
}
