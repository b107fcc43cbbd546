//! What one message costs the kernel: writing it to a socket of the loopback interface and reading it from the peer, by one
//! thread, so that nobody has to be woken. The papers' bound on p99 calls this the system calls' share.
//!
//! Messages go to and fro, as in a round trip. One way only would be dearer: then the reader has nothing to send its
//! acknowledgement along with, and TCP sends one of its own for every message or two.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Instant;

use super::pinning;

/// Bytes of a framed ZAP vote.
const MESSAGE_BYTES: usize = 165;

/// Messages to and fro in a batch: half of them in each direction.
const BATCH: u32 = 10_000;

/// Batches; the median counts.
const BATCHES: usize = 9;

/// Nanoseconds of one write and the read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteRead {
    /// Over TCP.
    pub tcp_ns: u64,
    /// Over UDP.
    pub udp_ns: u64,
}

/// Measures on `core`.
///
/// # Errors
/// Where the core or the loopback interface is not to be had.
pub fn write_read(core: usize) -> io::Result<WriteRead> {
    let measuring = thread::Builder::new().name("socket-pair".to_owned()).spawn(move || {
        pinning::pin(core)?;
        let (mut near, mut far) = tcp()?;
        let tcp_ns = median_ns(&mut near, &mut far)?;
        let (mut near, mut far) = udp()?;
        Ok(WriteRead { tcp_ns, udp_ns: median_ns(&mut near, &mut far)? })
    })?;
    measuring.join().unwrap_or_else(|_| Err(io::Error::other("the measuring thread stopped")))
}

fn tcp() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok((near, far))
}

fn udp() -> io::Result<(UdpEnd, UdpEnd)> {
    let (near, far) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    near.connect(far.local_addr()?)?;
    far.connect(near.local_addr()?)?;
    Ok((UdpEnd(near), UdpEnd(far)))
}

/// A connected UDP socket, read and written like a stream.
struct UdpEnd(UdpSocket);

impl Read for UdpEnd {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.recv(room)
    }
}

impl Write for UdpEnd {
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        self.0.send(message)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn median_ns<S: Read + Write>(near: &mut S, far: &mut S) -> io::Result<u64> {
    // The first one warms up.
    batch_ns(near, far)?;
    let mut batches = (0..BATCHES).map(|_| batch_ns(near, far)).collect::<io::Result<Vec<_>>>()?;
    batches.sort_unstable();
    Ok(batches[BATCHES / 2])
}

fn batch_ns<S: Read + Write>(near: &mut S, far: &mut S) -> io::Result<u64> {
    let (message, mut room) = ([0x5a; MESSAGE_BYTES], [0; MESSAGE_BYTES]);
    let began = Instant::now();
    for _ in 0..BATCH / 2 {
        near.write_all(&message)?;
        far.read_exact(&mut room)?;
        far.write_all(&message)?;
        near.read_exact(&mut room)?;
    }
    Ok(u64::try_from((began.elapsed() / BATCH).as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_some_time_and_not_a_wake_up() {
        let core = pinning::allowed().unwrap()[0];
        let WriteRead { tcp_ns, udp_ns } = write_read(core).unwrap();
        for cost in [tcp_ns, udp_ns] {
            assert!((100..1_000_000).contains(&cost), "{cost} ns");
        }
    }

    #[test]
    fn no_message_has_an_acknowledgement_of_its_own() {
        use crate::transport::traffic;
        let (mut near, mut far) = tcp().unwrap();
        batch_ns(&mut near, &mut far).unwrap();
        let carried = traffic::of_tcp_to(near.peer_addr().unwrap()).unwrap();
        let messages = u64::from(BATCH / 2);
        assert!(carried.sent_packets < messages + messages / 10, "{carried:?} for {messages} messages");
    }
}
