//! A server of any stack on a thread of its own, for tests that speak to it themselves.

use std::net::SocketAddr;
use std::thread::JoinHandle;

use votebench::transport::config::Log;
use votebench::transport::wait::WaitingRuntime;
use votebench::transport::{
    self, Address, CancellationToken, Payload, Server, ServerConfig, Transport, TransportError, Visitor, Wait,
};

/// Stopped when this goes.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    shutdown: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.cancel();
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

struct Start(ServerConfig);

impl Visitor for Start {
    type Output = Result<Running, TransportError>;

    fn visit<T: Transport>(self) -> Self::Output {
        let (sender, bound) = std::sync::mpsc::channel();
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        let wait = if T::INFO.blocking { Wait::Block } else { self.0.wait };
        let thread = std::thread::spawn(move || {
            let serving = async move {
                match T::bind(self.0).await {
                    Ok(server) => {
                        sender.send(Ok(server.address())).unwrap();
                        server.serve(stop).await.unwrap();
                    }
                    Err(error) => sender.send(Err(error)).unwrap(),
                }
            };
            WaitingRuntime::new(wait).unwrap().run(serving).unwrap();
        });
        let Address::Socket(address) = bound.recv().unwrap()? else { panic!("no socket address") };
        Ok(Running { address, shutdown, thread: Some(thread) })
    }
}

/// Starts `stack`, which says nothing of what it refuses.
pub(crate) fn start(
    stack: &str,
    payload: Payload,
    wait: Wait,
    max_message_bytes: u64,
) -> Result<Running, TransportError> {
    let config = ServerConfig { wait, max_message_bytes, log: Log::Silent, ..ServerConfig::new(payload) };
    transport::visit(stack, Start(config)).unwrap()
}

/// ZAP's votes.
pub(crate) fn zap() -> Payload {
    Payload::Codec("zap".to_owned())
}

/// Behind a 4-byte length.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(message.len()).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(message);
    frame
}
