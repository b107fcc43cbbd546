//! `votebench http --serve`: servers of the HTTP study's arms, for curl, wrk and whoever else speaks their protocols.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context;
use tokio::task::JoinSet;

use super::{BadInput, Outcome};
use crate::http::Study;
use crate::measure::arm::{Arm, ArmVisitor, Arms, CancellationToken, Wait, WaitingRuntime};
use crate::measure::http_server;
use crate::measure::progress::tell;

/// Serves `arms` until SIGINT or SIGTERM; says of each where it listens.
///
/// # Errors
/// [`BadInput`] where several are to listen on one port; otherwise where one cannot be bound.
pub fn run(arms: &[String], bind: SocketAddr) -> Outcome {
    if arms.len() > 1 && bind.port() != 0 {
        return Err(BadInput("--bind: several arms need port 0, one port each".to_owned()).into());
    }
    let shutdown = CancellationToken::new();
    super::serve::stop_on_signals(&shutdown)?;
    let runtime = WaitingRuntime::new(Wait::Block).context("no runtime")?;
    let arms = arms.to_vec();
    runtime.run(serve(arms, bind, shutdown)).context("a server stopped")??;
    Ok(ExitCode::SUCCESS)
}

async fn serve(arms: Vec<String>, bind: SocketAddr, shutdown: CancellationToken) -> anyhow::Result<()> {
    let mut servers = JoinSet::new();
    for name in arms {
        let start = Start { name: name.clone(), bind, shutdown: shutdown.clone(), servers: &mut servers };
        Study.visit(&name, start).transpose()?;
    }
    while let Some(ended) = servers.join_next().await {
        ended.context("a server stopped")?;
    }
    Ok(())
}

/// Binds one server and says where it listens.
struct Start<'s> {
    name: String,
    bind: SocketAddr,
    shutdown: CancellationToken,
    servers: &'s mut JoinSet<()>,
}

impl ArmVisitor for Start<'_> {
    type Output = anyhow::Result<()>;

    fn visit<A: Arm>(self) -> anyhow::Result<()> {
        let bound = http_server::bind(self.bind);
        let (listener, address) = bound.with_context(|| format!("{}: {}", self.name, self.bind))?;
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{} listening on {address}", self.name)
            .and_then(|()| stdout.flush())
            .context("stdout cannot be written")?;
        let log = |peer: SocketAddr, reason: &str| tell(&format_args!("{} {peer}: {reason}", A::INFO.name));
        self.servers.spawn(http_server::serve::<A>(listener, self.shutdown, log));
        Ok(())
    }
}
