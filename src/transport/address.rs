//! Where a server listens: a host and port, a path in the file system, or a name within this process.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An address of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Address {
    /// An IP address and port; port 0 before binding.
    Socket(SocketAddr),
    /// A Unix socket.
    Path(PathBuf),
    /// A listener of the in-memory stack, within this process.
    Memory(u64),
}

impl Address {
    /// Any free port of the loopback interface.
    pub const LOOPBACK: Self =
        Self::Socket(SocketAddr::V4(std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0)));

    /// The socket address, where it is one.
    #[must_use]
    pub const fn socket(&self) -> Option<SocketAddr> {
        match self {
            Self::Socket(address) => Some(*address),
            Self::Path(_) | Self::Memory(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(address) => address.fmt(f),
            Self::Path(path) => path.display().fmt(f),
            Self::Memory(id) => write!(f, "memory:{id}"),
        }
    }
}

/// Why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither HOST:PORT nor the path of a socket")]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    /// `HOST:PORT`, where the host may be a name; anything with a slash is a path.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text.contains('/') {
            return Ok(Self::Path(text.into()));
        }
        let resolved = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
        resolved.map(Self::Socket).ok_or_else(|| AddressError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for text in ["127.0.0.1:80", "[::1]:9", "/tmp/a socket", "./here"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for text in ["", "127.0.0.1", "nowhere", ":x", "127.0.0.1:65536"] {
            assert_eq!(text.parse::<Address>(), Err(AddressError(text.to_owned())), "{text}");
        }
    }
}
