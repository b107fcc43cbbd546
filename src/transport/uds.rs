//! `uds`: as [`tcp`](super::tcp), over a Unix socket: what the loopback interface and TCP themselves cost.

use std::path::PathBuf;

use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;

use super::framing::{FramedConnection, serve_stream};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server, ServerConfig,
    Traffic, Transport, TransportError,
};
use crate::vote::Vote;

/// The stack `uds`.
#[derive(Debug)]
pub(super) struct Uds;

impl Transport for Uds {
    const INFO: Info = Info {
        name: "uds",
        delimiter: Delimiter::Length,
        codec: None,
        crates: &["tokio"],
        summary: "one Unix stream socket on tokio, messages behind a 4-byte length",
        settings: &[],
        secure: false,
        blocking: false,
    };

    type Server = UdsServer;
    type Connection = UdsConnection;

    /// Where the address is port 0 of the loopback interface, which is what nobody asked for, the socket gets a folder of its
    /// own among the temporary files.
    async fn bind(config: ServerConfig) -> Result<UdsServer, TransportError> {
        config.payload.responder()?;
        let bind_error = |source| TransportError::Bind { address: config.bind.clone(), source };
        let (folder, path) = match &config.bind {
            Address::Path(path) => (None, path.clone()),
            Address::Socket(address) if address.port() == 0 && address.ip().is_loopback() => {
                let folder = tempfile::Builder::new().prefix("votebench-").tempdir().map_err(bind_error)?;
                let path = folder.path().join("socket");
                (Some(folder), path)
            }
            address => return Err(TransportError::Address { stack: Self::INFO.name, address: address.clone() }),
        };
        let listener = UnixListener::bind(&path).map_err(bind_error)?;
        Ok(UdsServer { listener, file: SocketFile { path, _folder: folder }, config })
    }

    async fn connect(config: ClientConfig) -> Result<UdsConnection, TransportError> {
        let Address::Path(path) = &config.address else {
            return Err(TransportError::Address { stack: Self::INFO.name, address: config.address });
        };
        let stream = UnixStream::connect(path).await.map_err(TransportError::connect)?;
        Ok(UdsConnection(FramedConnection::new(stream, config.payload.requester()?, config.max_message_bytes)))
    }
}

/// A socket's file, which goes with its server.
struct SocketFile {
    path: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Whoever has removed it before us has done our work.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A bound server of `uds`.
pub(super) struct UdsServer {
    listener: UnixListener,
    file: SocketFile,
    config: ServerConfig,
}

impl Server for UdsServer {
    fn address(&self) -> Address {
        Address::Path(self.file.path.clone())
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let Self { listener, file: _file, config } = self;
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                accepted = listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(super::listener::EXHAUSTED).await;
                continue;
            };
            let responder = config.payload.responder()?;
            let (limit, writes, log) = (config.max_message_bytes, config.writes, config.log);
            connections.spawn(async move {
                if let Err(reason) = serve_stream(stream, responder, limit, writes).await {
                    log.closed(Uds::INFO.name, &"a client", &reason);
                }
            });
        }
        connections.shutdown().await;
        Ok(())
    }
}

/// A client's end of `uds`.
pub(super) struct UdsConnection(FramedConnection<UnixStream>);

impl Connection for UdsConnection {
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
