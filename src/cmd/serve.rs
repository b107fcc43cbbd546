//! `votebench serve`: servers of any protocols, for other programs to talk to. Owns its flags; the servers are the stacks'.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use tokio::task::JoinSet;

use super::{BadInput, Outcome};
use crate::protocol::{self, Protocol};
use crate::transport::config::{Identity, Log, MAX_MESSAGE_BYTES};
use crate::transport::wait::WaitingRuntime;
use crate::transport::{
    self, Address, CancellationToken, Server, ServerConfig, Transport, TransportError, Visitor, Wait,
};

/// Serve protocols: every vote is decoded, read and answered.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Protocols: rows, `codec+transport`, `all` (the eight rows and the floors), `variants`.
    #[arg(long, value_name = "NAME", value_delimiter = ',', required = true)]
    pub protocol: Vec<String>,

    /// Where to listen: HOST:PORT, port 0 for any; a path for a Unix socket. With several protocols the port must be 0.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub bind: String,

    /// Write the server's certificate there, in PEM, for clients to trust (QUIC and TLS).
    #[arg(long, value_name = "FILE")]
    pub cert_out: Option<PathBuf>,

    /// The certificate chain to show, in PEM [default: one is made at start].
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,

    /// Its private key, in PEM.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,

    /// Longest message that is taken, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = MAX_MESSAGE_BYTES, value_parser = clap::value_parser!(u64).range(1_024..=1_073_741_824))]
    pub max_message: u64,
}

/// Serves until SIGINT or SIGTERM.
///
/// # Errors
/// [`BadInput`] for flags that make no sense; otherwise where a server cannot be bound or fails.
pub fn run(args: &Args) -> Outcome {
    let protocols = protocol::by_names(&args.protocol).map_err(|error| BadInput(format!("--protocol: {error}")))?;
    let bind: Address = args.bind.parse().map_err(|error| BadInput(format!("--bind: {error}")))?;
    if protocols.len() > 1 && bind.socket().is_none_or(|address| address.port() != 0) {
        return Err(BadInput("--bind: several protocols need port 0, one port each".to_owned()).into());
    }
    let identity = identity(args, &protocols)?;
    let shutdown = CancellationToken::new();
    let runtime = WaitingRuntime::new(Wait::Block).context("no runtime")?;
    stop_on_signals(&shutdown)?;
    let cert_out = args.cert_out.clone();
    let configs: Vec<(Protocol, ServerConfig)> = protocols
        .into_iter()
        .map(|protocol| {
            let config = ServerConfig {
                bind: bind.clone(),
                max_message_bytes: args.max_message,
                identity: identity.clone(),
                log: Log::Stderr,
                ..ServerConfig::new(protocol.payload.clone())
            };
            (protocol, config)
        })
        .collect();
    runtime.run(serve_all(configs, cert_out, shutdown)).context("a server stopped")??;
    Ok(ExitCode::SUCCESS)
}

/// The user's certificate, or one made now: all servers of this process show the same.
fn identity(args: &Args, protocols: &[Protocol]) -> anyhow::Result<Option<Identity>> {
    let read = |flag: &str, path: &PathBuf| {
        std::fs::read_to_string(path).map_err(|error| BadInput(format!("--{flag}: {}: {error}", path.display())))
    };
    if let (Some(cert), Some(key)) = (&args.cert, &args.key) {
        return Ok(Some(Identity { certificate_pem: read("cert", cert)?, key_pem: read("key", key)? }));
    }
    let secure = |protocol: &Protocol| transport::info(&protocol.transport).is_some_and(|info| info.secure);
    if !protocols.iter().any(secure) {
        if args.cert_out.is_some() {
            return Err(BadInput("--cert-out: none of these protocols shows a certificate".to_owned()).into());
        }
        return Ok(None);
    }
    Ok(Some(transport::certificate::self_signed()?))
}

/// Cancels `shutdown` on SIGINT and SIGTERM.
pub(super) fn stop_on_signals(shutdown: &CancellationToken) -> anyhow::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM])
        .context("cannot watch for signals")?;
    let shutdown = shutdown.clone();
    let watching = move || {
        if signals.forever().next().is_some() {
            shutdown.cancel();
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(watching).context("cannot watch for signals")?;
    Ok(())
}

async fn serve_all(
    configs: Vec<(Protocol, ServerConfig)>,
    cert_out: Option<PathBuf>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let mut servers = JoinSet::new();
    for (protocol, config) in configs {
        let start =
            Start { name: protocol.name.clone(), config, cert_out: cert_out.clone(), shutdown: shutdown.clone() };
        if let Some(serving) = transport::visit(&protocol.transport, start) {
            servers.spawn(serving.await?);
        }
    }
    while let Some(ended) = servers.join_next().await {
        ended.context("a server stopped")??;
    }
    Ok(())
}

type Serving = std::pin::Pin<Box<dyn Future<Output = Result<(), TransportError>> + Send>>;

/// Binds one server and says where it listens.
struct Start {
    name: String,
    config: ServerConfig,
    cert_out: Option<PathBuf>,
    shutdown: CancellationToken,
}

impl Visitor for Start {
    type Output = std::pin::Pin<Box<dyn Future<Output = anyhow::Result<Serving>> + Send>>;

    fn visit<T: Transport>(self) -> Self::Output {
        Box::pin(async move {
            let server = T::bind(self.config).await.map_err(|error| anyhow::anyhow!("{}: {error}", self.name))?;
            if let (Some(path), Some(pem)) = (&self.cert_out, server.certificate_pem()) {
                std::fs::write(path, pem).with_context(|| format!("--cert-out: {}", path.display()))?;
            }
            let mut stdout = std::io::stdout().lock();
            writeln!(stdout, "{} listening on {}", self.name, server.address())
                .and_then(|()| stdout.flush())
                .context("stdout cannot be written")?;
            Ok(Box::pin(server.serve(self.shutdown)) as Serving)
        })
    }
}
