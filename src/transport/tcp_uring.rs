//! `tcp-uring`: as [`tcp_blocking`](super::tcp_blocking), with the kernel asked through io_uring: a thread and a ring a
//! connection, and one system call a message on each side, which sends a message and waits for the next one.
//!
//! The two are linked: the kernel receives when all is sent, and where it could not send all it does not receive. With
//! [`Wait::Poll`] the call only hands them over; the thread watches the memory that it shares with the kernel, and calls again
//! when the kernel says there that something has come.
#![expect(unsafe_code, reason = "the kernel is given the addresses of buffers, which no type of the crate keeps alive")]

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use io_uring::squeue::Flags;
use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use tokio::net::TcpListener;

use super::framing::{self, Input, Output};
use super::payload::{Requester, Responder};
use super::tcp_blocking::{blocking, serve_on_threads};
use super::{
    Address, CancellationToken, ClientConfig, Connection, Delimiter, Flight, Info, Pipeline, Server, ServerConfig,
    Traffic, Transport, TransportError, Wait, Writes, listener, traffic,
};
use crate::vote::Vote;

/// Places in a ring: a message out and one in take two.
const ENTRIES: u32 = 4;

/// Looks at the clock once in so many looks at the ring.
const LOOKS_PER_CLOCK: u32 = 1_024;

/// The connection's socket, as the ring knows it.
const SOCKET: Fixed = Fixed(0);

/// Marks a sending's completion.
const SENT: u64 = 0;

/// Marks a receiving's completion.
const RECEIVED: u64 = 1;

/// The stack `tcp-uring`.
#[derive(Debug)]
pub(super) struct TcpUring;

impl Transport for TcpUring {
    const INFO: Info = Info {
        name: "tcp-uring",
        delimiter: Delimiter::Length,
        codec: None,
        crates: &["io-uring"],
        summary: "one TCP connection on io_uring, a thread and a ring a connection, messages behind a 4-byte length",
        settings: &[
            ("tcp_nodelay", "on"),
            ("io_uring_link", "send, then receive"),
            ("io_uring_setup", "SINGLE_ISSUER, DEFER_TASKRUN; in poll TASKRUN_FLAG; no SQPOLL"),
            ("io_uring_files", "registered"),
        ],
        secure: false,
        blocking: true,
    };

    type Server = UringServer;
    type Connection = UringConnection;

    async fn bind(config: ServerConfig) -> Result<UringServer, TransportError> {
        config.payload.responder()?;
        // Refused here rather than to each client.
        drop(build(config.wait)?);
        Ok(UringServer { listener: listener::bind(Self::INFO.name, &config.bind)?, config })
    }

    async fn connect(config: ClientConfig) -> Result<UringConnection, TransportError> {
        // A socket that does not block would not be waited for by the ring either.
        let stream = blocking(listener::connect(Self::INFO.name, &config.address).await?, Wait::Block)?;
        Ok(UringConnection {
            link: Link::new(stream, config.wait, Some(config.deadline))?,
            input: Input::new(config.max_message_bytes),
            output: Output::default(),
            requester: config.payload.requester()?,
        })
    }
}

/// A ring for a thread that waits as `wait` says.
///
/// # Errors
/// Where the kernel has no io_uring or does not let us use it.
fn build(wait: Wait) -> Result<IoUring, TransportError> {
    let mut builder = IoUring::builder();
    // The kernel leaves its part of the work to our own calls, instead of interrupting the thread with it.
    builder.setup_single_issuer().setup_defer_taskrun();
    if wait == Wait::Poll {
        // It says in the shared memory that there is some.
        builder.setup_taskrun_flag();
    }
    let built = match builder.build(ENTRIES) {
        // Kernels before 6.1 do not know these.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => IoUring::new(ENTRIES),
        built => built,
    };
    built.map_err(|error| match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EPERM | libc::EACCES) => {
            TransportError::Unsupported(format!("tcp-uring needs io_uring, which this system refuses: {error}"))
        }
        _ => error.into(),
    })
}

/// A ring that knows `stream` as its [`SOCKET`].
fn ring_of(stream: &TcpStream, wait: Wait) -> Result<IoUring, TransportError> {
    let ring = build(wait)?;
    ring.submitter().register_files(&[stream.as_raw_fd()])?;
    Ok(ring)
}

/// A socket and its ring. Nothing of it is under way between two calls of [`Link::transfer`].
struct Link {
    ring: IoUring,
    stream: TcpStream,
    wait: Wait,
    patience: Option<Duration>,
    /// The thread that has built the ring, which is the only one that the kernel lets use it.
    owner: ThreadId,
}

impl Link {
    fn new(stream: TcpStream, wait: Wait, patience: Option<Duration>) -> Result<Self, TransportError> {
        Ok(Self { ring: ring_of(&stream, wait)?, stream, wait, patience, owner: std::thread::current().id() })
    }

    /// Sends `output`, which is then empty, and receives something into `input`: how many bytes, 0 at the end of the stream.
    fn turn(&mut self, output: &mut Output, input: &mut Input) -> Result<usize, TransportError> {
        if self.owner != std::thread::current().id() {
            // A runtime with several threads has moved the connection.
            self.ring = ring_of(&self.stream, self.wait)?;
            self.owner = std::thread::current().id();
        }
        let mut sent = 0;
        loop {
            let (more, received) = self.transfer(&output.bytes()[sent..], input.room())?;
            sent += more;
            let Some(received) = received else { continue };
            output.clear();
            if received > 0 {
                input.arrived(received);
            } else if input.is_mid_message() {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            return Ok(received);
        }
    }

    /// Sends as much of `bytes` as the kernel takes and, if that was all, receives something into `room`: how many bytes of
    /// each, `None` where it did not come to receiving.
    fn transfer(&mut self, bytes: &[u8], room: &mut [u8]) -> Result<(usize, Option<usize>), TransportError> {
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let send = opcode::Send::new(SOCKET, bytes.as_ptr(), length(bytes.len()))
            .flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL)
            .build()
            .flags(Flags::IO_LINK)
            .user_data(SENT);
        let receive = opcode::Recv::new(SOCKET, room.as_mut_ptr(), length(room.len())).build().user_data(RECEIVED);
        let entries = [send, receive];
        let wanted = if bytes.is_empty() { &entries[1..] } else { &entries[..] };
        // SAFETY: `bytes` and `room` are borrowed until this function returns, and it returns only when the kernel has
        // completed every entry that has their addresses: `complete` has reaped them all, or `abandon` waits until it has.
        // Nothing in between panics.
        let pushed = unsafe { self.ring.submission().push_multiple(wanted) };
        pushed.map_err(io::Error::other)?;
        let mut outcomes = Outcomes::default();
        if let Err(error) = self.complete(wanted.len(), &mut outcomes) {
            self.abandon(wanted.len(), &mut outcomes);
            return Err(error);
        }
        let sent = outcomes.sent.map_or(Ok(0), checked)?;
        let received = match outcomes.received {
            // The link broke, since not all was sent; or a signal came.
            None | Some(Err(libc::ECANCELED | libc::EINTR)) => None,
            Some(outcome) => Some(checked(outcome)?),
        };
        Ok((sent, received))
    }

    /// Hands over what is in the ring, and waits until `count` entries are complete.
    fn complete(&mut self, count: usize, outcomes: &mut Outcomes) -> Result<(), TransportError> {
        match self.wait {
            Wait::Block => self.complete_in_kernel(count, outcomes),
            Wait::Poll => self.complete_by_looking(count, outcomes),
        }
    }

    /// One call, unless a signal comes.
    fn complete_in_kernel(&mut self, count: usize, outcomes: &mut Outcomes) -> Result<(), TransportError> {
        let deadline = self.patience.map(|patience| (Instant::now(), patience));
        let mut left = self.patience;
        loop {
            let wanted = count - outcomes.reaped;
            let waited = match left {
                None => self.ring.submit_and_wait(wanted),
                Some(left) => {
                    let limit = Timespec::from(left);
                    self.ring.submitter().submit_with_args(wanted, &SubmitArgs::new().timespec(&limit))
                }
            };
            outcomes.reap(&mut self.ring);
            if outcomes.reaped == count {
                return Ok(());
            }
            match waited.map_err(|error| (error.raw_os_error(), error)) {
                // Entries that were handed over make the call a success even where their time was then up.
                Ok(_) | Err((Some(libc::EINTR | libc::ETIME), _)) => {}
                Err((_, error)) => return Err(error.into()),
            }
            if let Some((began, patience)) = deadline {
                left = patience.checked_sub(began.elapsed()).filter(|left| !left.is_zero());
                if left.is_none() {
                    return Err(TransportError::Deadline(patience));
                }
            }
        }
    }

    fn complete_by_looking(&mut self, count: usize, outcomes: &mut Outcomes) -> Result<(), TransportError> {
        let mut looks = 0_u32;
        let mut began = None;
        loop {
            let to_do = {
                let entries = self.ring.submission();
                !entries.is_empty() || entries.taskrun()
            };
            if to_do {
                match self.ring.submit() {
                    Err(error) if !matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME)) => {
                        return Err(error.into());
                    }
                    _ => {}
                }
            }
            outcomes.reap(&mut self.ring);
            if outcomes.reaped == count {
                return Ok(());
            }
            std::hint::spin_loop();
            looks = looks.wrapping_add(1);
            let Some(patience) = self.patience else { continue };
            if looks.is_multiple_of(LOOKS_PER_CLOCK) && began.get_or_insert_with(Instant::now).elapsed() >= patience {
                return Err(TransportError::Deadline(patience));
            }
        }
    }

    /// Ends the connection and waits until the kernel has let go of the buffers, which it does then at once.
    fn abandon(&mut self, count: usize, outcomes: &mut Outcomes) {
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
        while outcomes.reaped < count {
            // What cannot be handed over now is tried again: the buffers may not go before.
            if self.ring.submit_and_wait(1).is_err() {
                std::thread::sleep(Duration::from_millis(1));
            }
            outcomes.reap(&mut self.ring);
        }
    }
}

impl Drop for Link {
    /// The ring's own hold on the socket ends some time after the ring: the peer need not wait for that.
    fn drop(&mut self) {
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// What became of the entries: bytes, or the system's number of the error.
#[derive(Default)]
struct Outcomes {
    sent: Option<Result<usize, i32>>,
    received: Option<Result<usize, i32>>,
    reaped: usize,
}

impl Outcomes {
    fn reap(&mut self, ring: &mut IoUring) {
        for entry in ring.completion() {
            let outcome = usize::try_from(entry.result()).map_err(|_| entry.result().saturating_neg());
            let place = if entry.user_data() == SENT { &mut self.sent } else { &mut self.received };
            *place = Some(outcome);
            self.reaped += 1;
        }
    }
}

fn checked(outcome: Result<usize, i32>) -> io::Result<usize> {
    outcome.map_err(io::Error::from_raw_os_error)
}

/// A bound server of `tcp-uring`.
pub(super) struct UringServer {
    listener: TcpListener,
    config: ServerConfig,
}

impl Server for UringServer {
    fn address(&self) -> Address {
        listener::address_of(&self.listener)
    }

    async fn serve(self, shutdown: CancellationToken) -> Result<(), TransportError> {
        let Self { listener, config } = self;
        serve_on_threads(TcpUring::INFO.name, listener, config, Wait::Block, shutdown, serve_uring).await
    }
}

fn serve_uring(stream: TcpStream, config: &ServerConfig) -> Result<(), TransportError> {
    let mut responder = config.payload.responder()?;
    let mut link = Link::new(stream, config.wait, None)?;
    let (mut input, mut output) = (Input::new(config.max_message_bytes), Output::default());
    while link.turn(&mut output, &mut input)? > 0 {
        if let Err(refused) = answer_all(responder.as_mut(), &mut input, &mut output) {
            // The answers to what came before it still go out; the ring would wait for more to arrive as well.
            link.stream.write_all(output.bytes())?;
            return Err(refused);
        }
    }
    Ok(())
}

fn answer_all(responder: &mut dyn Responder, input: &mut Input, output: &mut Output) -> Result<(), TransportError> {
    while let Some(place) = input.take()? {
        framing::answer(responder, input, place, output, Writes::Batched)?;
    }
    Ok(())
}

/// A client's end of `tcp-uring`.
pub(super) struct UringConnection {
    link: Link,
    input: Input,
    output: Output,
    requester: Box<dyn Requester>,
}

impl Connection for UringConnection {
    /// Never pending: the thread waits, not the task.
    async fn exchange(&mut self, vote: &Vote) -> Result<(), TransportError> {
        self.output.push(self.requester.request(vote)?)?;
        loop {
            if self.link.turn(&mut self.output, &mut self.input)? == 0 {
                return Err(TransportError::Closed);
            }
            if let Some(place) = self.input.take()? {
                return self.requester.check(vote, self.input.message(place));
            }
        }
    }

    fn pipeline(self, flight: Flight) -> Result<Box<dyn Pipeline>, TransportError> {
        drop(flight);
        Err(TransportError::Unsupported("tcp-uring has one vote in flight".to_owned()))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        let peer = self.link.stream.peer_addr().map_err(|error| error.to_string())?;
        traffic::of_tcp_to(peer)
    }
}
