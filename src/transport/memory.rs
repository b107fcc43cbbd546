//! `memory`: as [`tcp`](super::tcp), over a pipe in this process's memory. For tests: no kernel, no clock, nothing that
//! differs from one run to the next.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::framing::{FramedConnection, serve_stream};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server, ServerConfig,
    Traffic, Transport, TransportError,
};
use crate::vote::Vote;

/// Bytes that a pipe holds in each direction.
const PIPE_BYTES: usize = 64 << 10;

/// The listeners of this process, by their number.
static LISTENERS: LazyLock<Mutex<HashMap<u64, mpsc::UnboundedSender<DuplexStream>>>> = LazyLock::new(Mutex::default);

/// The number of the next listener.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The stack `memory`.
#[derive(Debug)]
pub(super) struct Memory;

impl Transport for Memory {
    const INFO: Info = Info {
        name: "memory",
        delimiter: Delimiter::Length,
        codec: None,
        crates: &["tokio"],
        summary: "a pipe within one process, messages behind a 4-byte length; for tests",
        settings: &[],
        secure: false,
        blocking: false,
    };

    type Server = MemoryServer;
    type Connection = MemoryConnection;

    async fn bind(config: ServerConfig) -> Result<MemoryServer, TransportError> {
        config.payload.responder()?;
        let (sender, incoming) = mpsc::unbounded_channel();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).insert(number, sender);
        Ok(MemoryServer { number, incoming, config })
    }

    async fn connect(config: ClientConfig) -> Result<MemoryConnection, TransportError> {
        let Address::Memory(number) = &config.address else {
            return Err(TransportError::Address { stack: Self::INFO.name, address: config.address });
        };
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        let listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        let listening = listeners.get(number).is_some_and(|listener| listener.send(theirs).is_ok());
        if !listening {
            return Err(TransportError::connect("nobody in this process listens there"));
        }
        Ok(MemoryConnection(FramedConnection::new(ours, config.payload.requester()?, config.max_message_bytes)))
    }
}

/// A bound server of `memory`.
pub(super) struct MemoryServer {
    number: u64,
    incoming: mpsc::UnboundedReceiver<DuplexStream>,
    config: ServerConfig,
}

impl Drop for MemoryServer {
    fn drop(&mut self) {
        LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

impl Server for MemoryServer {
    fn address(&self) -> Address {
        Address::Memory(self.number)
    }

    async fn serve(mut self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let mut connections = JoinSet::new();
        loop {
            let stream = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                Some(stream) = self.incoming.recv() => stream,
                Some(_) = connections.join_next() => continue,
            };
            let responder = self.config.payload.responder()?;
            let (limit, writes, log) = (self.config.max_message_bytes, self.config.writes, self.config.log);
            connections.spawn(async move {
                if let Err(reason) = serve_stream(stream, responder, limit, writes).await {
                    log.closed(Memory::INFO.name, &"a client", &reason);
                }
            });
        }
        connections.shutdown().await;
        Ok(())
    }
}

/// A client's end of `memory`.
pub(super) struct MemoryConnection(FramedConnection<DuplexStream>);

impl Connection for MemoryConnection {
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.0.exchange(vote).await
    }

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        Ok(self.0.pipeline(flight, false))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.0.traffic())
    }
}
