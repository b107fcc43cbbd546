//! What a connection has carried. Owns [`Traffic`] and the kernel's counters of TCP sockets (`TCP_INFO`).

use std::io;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, RawFd};

use serde::{Deserialize, Serialize};

/// What a connection has carried in each direction since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes that this side has sent: TCP's payload, or the UDP payload of QUIC's packets.
    pub sent_bytes: u64,
    /// Bytes that it has received.
    pub received_bytes: u64,
    /// Segments or packets sent, acknowledgements too; 0 where nobody counts them.
    pub sent_packets: u64,
    /// Segments or packets received.
    pub received_packets: u64,
}

impl Traffic {
    /// What has come since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
            received_bytes: self.received_bytes - earlier.received_bytes,
            sent_packets: self.sent_packets - earlier.sent_packets,
            received_packets: self.received_packets - earlier.received_packets,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            sent_bytes: self.sent_bytes + other.sent_bytes,
            received_bytes: self.received_bytes + other.received_bytes,
            sent_packets: self.sent_packets + other.sent_packets,
            received_packets: self.received_packets + other.received_packets,
        }
    }
}

/// What this process's TCP connections to `peer` have carried: also those that a library keeps to itself.
///
/// # Errors
/// A sentence, where there is no such connection or the kernel does not say.
pub fn of_tcp_to(peer: SocketAddr) -> Result<Traffic, String> {
    let mut sum: Option<Traffic> = None;
    let descriptors = std::fs::read_dir("/proc/self/fd").map_err(|error| format!("/proc/self/fd: {error}"))?;
    for entry in descriptors.flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()) else { continue };
        #[expect(unsafe_code, reason = "a descriptor that a library owns can only be borrowed by its number")]
        // SAFETY: it is borrowed for the two questions below. Should its owner close it meanwhile, they are answered with
        // an error, or for another socket of this process, which is then told by its peer; nothing is read or written.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        if socket2::SockRef::from(&descriptor).peer_addr().ok().and_then(|found| found.as_socket()) == Some(peer) {
            let traffic = tcp_info(descriptor).map_err(|error| format!("TCP_INFO: {error}"))?;
            sum = Some(sum.unwrap_or_default().plus(traffic));
        }
    }
    sum.ok_or_else(|| format!("no connection to {peer} is open"))
}

/// The kernel's counters of one TCP socket.
fn tcp_info(descriptor: BorrowedFd<'_>) -> io::Result<Traffic> {
    use std::os::fd::AsRawFd;
    let mut info = TcpInfo::default();
    let mut length = libc::socklen_t::try_from(size_of::<TcpInfo>()).map_err(io::Error::other)?;
    #[expect(unsafe_code, reason = "no safe crate has TCP_INFO with its byte counters")]
    // SAFETY: the pointer is to `length` bytes of a plain structure of integers, of which the kernel writes at most that
    // many, and says how many.
    let outcome = unsafe {
        libc::getsockopt(
            descriptor.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    if (length as usize) < size_of::<TcpInfo>() {
        return Err(io::Error::other("this kernel has no byte counters"));
    }
    Ok(Traffic {
        sent_bytes: info.bytes_sent - info.bytes_retrans,
        received_bytes: info.bytes_received,
        sent_packets: u64::from(info.segs_out),
        received_packets: u64::from(info.segs_in),
    })
}

/// The kernel's `struct tcp_info` as far as its counters of bytes reach (Linux 4.19 and later).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct TcpInfo {
    /// State, options, window scales: eight fields of a byte.
    head: [u8; 8],
    /// From the retransmission timeout to the retransmitted segments: 24 words.
    words: [u32; 24],
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn counts_what_the_socket_carried() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(of_tcp_to(address).is_err());
        let mut client = TcpStream::connect(address).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let before = of_tcp_to(address).unwrap();
        client.write_all(&[1; 165]).unwrap();
        server.read_exact(&mut [0; 165]).unwrap();
        server.write_all(&[2; 1_000]).unwrap();
        client.read_exact(&mut [0; 1_000]).unwrap();
        let carried = of_tcp_to(address).unwrap().since(before);
        assert_eq!((carried.sent_bytes, carried.received_bytes), (165, 1_000));
        assert!(carried.sent_packets >= 1 && carried.received_packets >= 1);
    }
}
