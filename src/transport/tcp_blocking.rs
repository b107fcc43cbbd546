//! `tcp-blocking`: as [`tcp`](super::tcp), on plain sockets of the standard library with a thread a connection: is a runtime
//! worth its price for the framed rows? With [`Wait::Poll`] the sockets do not block, and both ends ask again until there is
//! something.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Instant;

use tokio::net::TcpListener;

use super::framed_pipeline::{Asked, FramedPipeline};
use super::framing::{self, Input, Output};
use super::payload::{Requester, Responder};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server, ServerConfig,
    Traffic, Transport, TransportError, Wait, listener, traffic,
};
use crate::vote::Vote;

/// Looks at the clock once in so many looks at the socket.
const LOOKS_PER_CLOCK: u32 = 1_024;

/// The stack `tcp-blocking`.
#[derive(Debug)]
pub(super) struct TcpBlocking;

impl Transport for TcpBlocking {
    const INFO: Info = Info {
        name: "tcp-blocking",
        delimiter: Delimiter::Length,
        codec: None,
        crates: &[],
        summary: "one TCP connection on std's sockets, a thread a connection, messages behind a 4-byte length",
        settings: &[("tcp_nodelay", "on")],
        secure: false,
        blocking: true,
    };

    type Server = BlockingServer;
    type Connection = BlockingConnection;

    async fn bind(config: ServerConfig) -> Result<BlockingServer, TransportError> {
        config.payload.responder()?;
        Ok(BlockingServer { listener: listener::bind(Self::INFO.name, &config.bind)?, config })
    }

    async fn connect(config: ClientConfig) -> Result<BlockingConnection, TransportError> {
        let stream = blocking(listener::connect(Self::INFO.name, &config.address).await?, config.wait)?;
        let socket = Socket { stream, patience: Some(config.deadline), blocks: config.wait == Wait::Block };
        if config.wait == Wait::Block {
            socket.stream.set_read_timeout(Some(config.deadline))?;
            socket.stream.set_write_timeout(Some(config.deadline))?;
        }
        Ok(BlockingConnection {
            socket,
            input: Input::new(config.max_message_bytes),
            output: Output::default(),
            requester: config.payload.requester()?,
        })
    }
}

/// Takes a connection from the runtime.
pub(super) fn blocking(stream: tokio::net::TcpStream, wait: Wait) -> io::Result<TcpStream> {
    let stream = stream.into_std()?;
    stream.set_nonblocking(wait == Wait::Poll)?;
    Ok(stream)
}

/// A socket that blocks, or that is asked again and again, for no longer than `patience`.
struct Socket {
    stream: TcpStream,
    patience: Option<std::time::Duration>,
    /// Whether it blocks; asking the socket would be a system call for every look.
    blocks: bool,
}

impl Socket {
    /// Reads something, or 0 bytes at the end of the stream.
    fn read(&mut self, room: &mut [u8]) -> Result<usize, TransportError> {
        self.again(|stream| stream.read(room))
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), TransportError> {
        while !bytes.is_empty() {
            match self.again(|stream| stream.write(bytes))? {
                0 => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                written => bytes = &bytes[written..],
            }
        }
        Ok(())
    }

    fn again(&mut self, mut call: impl FnMut(&mut TcpStream) -> io::Result<usize>) -> Result<usize, TransportError> {
        let mut looks = 0_u32;
        let mut began = None;
        loop {
            match call(&mut self.stream) {
                Ok(bytes) => return Ok(bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // A blocking socket says this when its timeout has passed, a polled one each time.
                    looks = looks.wrapping_add(1);
                    let Some(patience) = self.patience else { continue };
                    if looks.is_multiple_of(LOOKS_PER_CLOCK) || self.blocks {
                        let began = *began.get_or_insert_with(Instant::now);
                        if began.elapsed() >= patience || self.blocks {
                            return Err(TransportError::Deadline(patience));
                        }
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The next message of `socket`.
fn next(input: &mut Input, socket: &mut Socket) -> Result<Option<std::ops::Range<usize>>, TransportError> {
    loop {
        if let Some(place) = input.take()? {
            return Ok(Some(place));
        }
        match socket.read(input.room())? {
            0 if input.is_mid_message() => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            0 => return Ok(None),
            bytes => input.arrived(bytes),
        }
    }
}

/// A bound server of `tcp-blocking`.
pub(super) struct BlockingServer {
    listener: TcpListener,
    config: ServerConfig,
}

impl Server for BlockingServer {
    fn address(&self) -> Address {
        listener::address_of(&self.listener)
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let wait = self.config.wait;
        serve_on_threads(TcpBlocking::INFO.name, self.listener, self.config, wait, shutdown, serve_blocking).await
    }
}

/// The runtime accepts; each connection goes to a thread of its own, with a socket that waits as `wait` says, and is shut
/// down, which ends the thread, when the server stops.
pub(super) async fn serve_on_threads(
    stack: &'static str,
    listener: TcpListener,
    config: ServerConfig,
    wait: Wait,
    shutdown: CancellationToken,
    serve: fn(TcpStream, &ServerConfig) -> Result<(), TransportError>,
) -> Result<(), TransportError> {
    listener::serve(stack, listener, shutdown, config.log, move |stream, peer| {
        let config = config.clone();
        async move {
            let stream = blocking(stream, wait)?;
            let _closes = Closes(stream.try_clone()?);
            let (sender, ended) = tokio::sync::oneshot::channel();
            let serving = move || {
                // Nobody listens any more where the server has stopped.
                let _ = sender.send(serve(stream, &config));
            };
            std::thread::Builder::new().name(name(peer)).spawn(serving)?;
            ended.await.unwrap_or(Ok(()))
        }
    })
    .await
}

fn name(peer: SocketAddr) -> String {
    format!("peer-{}", peer.port())
}

/// Shuts a connection down when the task that watches over it goes.
struct Closes(TcpStream);

impl Drop for Closes {
    fn drop(&mut self) {
        // It may be closed already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

fn serve_blocking(stream: TcpStream, config: &ServerConfig) -> Result<(), TransportError> {
    let mut responder: Box<dyn Responder> = config.payload.responder()?;
    let mut socket = Socket { stream, patience: None, blocks: false };
    let (mut input, mut output) = (Input::new(config.max_message_bytes), Output::default());
    while let Some(place) = next(&mut input, &mut socket)? {
        let answered = framing::answer(responder.as_mut(), &mut input, place, &mut output, config.writes);
        socket.write_all(output.bytes())?;
        output.clear();
        answered?;
    }
    Ok(())
}

/// A client's end of `tcp-blocking`.
pub(super) struct BlockingConnection {
    socket: Socket,
    input: Input,
    output: Output,
    requester: Box<dyn Requester>,
}

impl Connection for BlockingConnection {
    /// Never pending: the thread waits, not the task.
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.output.push(self.requester.request(vote)?)?;
        self.socket.write_all(self.output.bytes())?;
        self.output.clear();
        let place = next(&mut self.input, &mut self.socket)?.ok_or(TransportError::Closed)?;
        self.requester.check(vote, self.input.message(place))
    }

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        let Self { socket, input, requester, .. } = self;
        socket.stream.set_nonblocking(true)?;
        Ok(Box::new(FramedPipeline::new(Asked(socket.stream), input, requester, flight, false)))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        let peer = self.socket.stream.peer_addr().map_err(|error| error.to_string())?;
        traffic::of_tcp_to(peer)
    }
}
