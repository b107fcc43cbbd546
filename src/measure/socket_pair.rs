//! What one message costs the kernel: writing it to a socket of the loopback interface and reading it from the peer, by one
//! thread, so that nobody has to be woken. The papers' bound on p99 calls this the system calls' share.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use super::pinning;

/// Bytes of a framed ZAP vote.
const MESSAGE_BYTES: usize = 165;

/// Pairs of calls in a batch.
const BATCH: u32 = 10_000;

/// Batches; the median counts.
const BATCHES: usize = 9;

/// Nanoseconds of one write and the read of it, on `core`.
///
/// # Errors
/// Where the core or the loopback interface is not to be had.
pub fn write_read_ns(core: usize) -> io::Result<u64> {
    let measuring = thread::Builder::new().name("socket-pair".to_owned()).spawn(move || {
        pinning::pin(core)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let mut near = TcpStream::connect(listener.local_addr()?)?;
        let (mut far, _) = listener.accept()?;
        near.set_nodelay(true)?;
        let mut batches = Vec::with_capacity(BATCHES);
        for _ in 0..=BATCHES {
            batches.push(batch(&mut near, &mut far)?);
        }
        // The first one warmed up.
        let mut batches = batches.split_off(1);
        batches.sort_unstable();
        Ok(batches[BATCHES / 2])
    })?;
    measuring.join().unwrap_or_else(|_| Err(io::Error::other("the measuring thread stopped")))
}

fn batch(near: &mut TcpStream, far: &mut TcpStream) -> io::Result<u64> {
    let (message, mut room) = ([0x5a; MESSAGE_BYTES], [0; MESSAGE_BYTES]);
    let began = Instant::now();
    for _ in 0..BATCH {
        near.write_all(&message)?;
        far.read_exact(&mut room)?;
    }
    Ok(u64::try_from((began.elapsed() / BATCH).as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_some_time_and_not_a_wake_up() {
        let core = pinning::allowed().unwrap()[0];
        let cost = write_read_ns(core).unwrap();
        assert!((100..1_000_000).contains(&cost), "{cost} ns");
    }
}
