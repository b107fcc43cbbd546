//! The rows of the network suites: a codec on a transport, under the name that the papers use. Owns the table of names and
//! what `codec+transport` means.

use serde::{Deserialize, Serialize};

use crate::codec::{self, Model};
use crate::transport::{self, Payload};

/// In which part of the tables a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// One of the eight protocols.
    Row,
    /// Bytes with no protocol: a lower bound.
    Floor,
    /// A labelled choice.
    Variant,
    /// A pair that the user has put together.
    Pair,
}

impl Class {
    /// The class's name in results and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Floor => "floor",
            Self::Variant => "variant",
            Self::Pair => "pair",
        }
    }
}

/// A codec on a transport.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Protocol {
    /// Its name.
    pub name: String,
    /// Where it stands in the tables.
    pub class: Class,
    /// What it carries.
    pub payload: Payload,
    /// The transport's name.
    pub transport: String,
}

/// Every named row: name, class, codec (none: bytes that nobody reads), transport.
const ROWS: &[(&str, Class, Option<&str>, &str)] = &[
    ("zap", Class::Row, Some("zap"), "tcp"),
    ("flatbuffers", Class::Row, Some("flatbuffers"), "tcp"),
    ("capnp", Class::Row, Some("capnp"), "tcp"),
    ("protobuf", Class::Row, Some("protobuf"), "tcp"),
    ("grpc", Class::Row, Some("grpc"), "grpc"),
    ("quic-raw", Class::Row, Some("quic-raw"), "quic"),
    ("protobuf-mux", Class::Row, Some("protobuf-mux"), "mux"),
    ("json-rpc", Class::Row, Some("json-rpc"), "jsonrpc-http"),
    ("floor", Class::Floor, None, "tcp"),
    ("floor-blocking", Class::Floor, None, "tcp-blocking"),
    ("grpc-stream", Class::Variant, Some("grpc"), "grpc-stream"),
    ("quic-raw-stream", Class::Variant, Some("quic-raw"), "quic-stream"),
    ("quic-raw-datagram", Class::Variant, Some("quic-raw"), "quic-datagram"),
    ("protobuf-mux-stream", Class::Variant, Some("protobuf-mux"), "mux-stream"),
    ("json-rpc-ws", Class::Variant, Some("json-rpc"), "jsonrpc-ws"),
    ("quic-raw-plain", Class::Variant, Some("quic-raw"), "quic-plain"),
    ("protobuf-mux-plain", Class::Variant, Some("protobuf-mux"), "mux-plain"),
    ("protobuf-mux-stream-plain", Class::Variant, Some("protobuf-mux"), "mux-stream-plain"),
    ("json-rpc-plain", Class::Variant, Some("json-rpc"), "jsonrpc-http-plain"),
    ("json-rpc-ws-plain", Class::Variant, Some("json-rpc"), "jsonrpc-ws-plain"),
    ("zap-tls", Class::Variant, Some("zap"), "tls"),
    ("zap-uds", Class::Variant, Some("zap"), "uds"),
];

/// Why a name names no protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// It is neither a row nor a pair.
    #[error("there is no protocol `{0}`; there are {names}, and any codec+transport", names = names().join(", "))]
    Unknown(String),
    /// There is no such codec.
    #[error("`{name}`: there is no codec `{codec}`")]
    Codec {
        /// The pair.
        name: String,
        /// Its first half.
        codec: String,
    },
    /// There is no such transport.
    #[error("`{name}`: there is no transport `{transport}`; there are {transports}", transports = transports().join(", "))]
    Transport {
        /// The pair.
        name: String,
        /// Its second half.
        transport: String,
    },
    /// The two do not go together.
    #[error("`{name}`: {reason}")]
    Mismatch {
        /// The pair.
        name: String,
        /// Why not.
        reason: String,
    },
}

/// The protocol of that name: a row's, or `codec+transport`.
///
/// # Errors
/// Where there is none.
pub fn by_name(name: &str) -> Result<Protocol, ProtocolError> {
    if let Some(row) = rows().into_iter().find(|row| row.name == name) {
        return Ok(row);
    }
    let Some((codec, transport)) = name.split_once('+') else { return Err(ProtocolError::Unknown(name.to_owned())) };
    pair(name, codec, transport)
}

/// The protocols that a list of names names: rows and pairs, `all` for the eight rows and the floors, `variants` for the
/// variants; each once.
///
/// # Errors
/// Where one of them names none.
pub fn by_names(list: &[String]) -> Result<Vec<Protocol>, ProtocolError> {
    let mut found: Vec<Protocol> = Vec::new();
    for name in list {
        let named = match name.as_str() {
            "all" => rows().into_iter().filter(|row| row.class != Class::Variant).collect(),
            "variants" => rows().into_iter().filter(|row| row.class == Class::Variant).collect(),
            name => vec![by_name(name)?],
        };
        for protocol in named {
            if found.iter().all(|other| other.name != protocol.name) {
                found.push(protocol);
            }
        }
    }
    Ok(found)
}

/// Every named row, in the order of the tables.
#[must_use]
pub fn rows() -> Vec<Protocol> {
    let row = |(name, class, codec, transport): &(&str, Class, Option<&str>, &str)| Protocol {
        name: (*name).to_owned(),
        class: *class,
        payload: codec.map_or(Payload::Opaque, |codec| Payload::Codec(codec.to_owned())),
        transport: (*transport).to_owned(),
    };
    ROWS.iter().map(row).collect()
}

fn pair(name: &str, codec: &str, transport: &str) -> Result<Protocol, ProtocolError> {
    let name = name.to_owned();
    let Some(found) = codec::by_name(codec) else {
        return Err(ProtocolError::Codec { name, codec: codec.to_owned() });
    };
    let Some(info) = transport::info(transport) else {
        return Err(ProtocolError::Transport { name, transport: transport.to_owned() });
    };
    let mismatch = |name, reason| Err(ProtocolError::Mismatch { name, reason });
    if let Some(reason) = found.info().lacks(Model::Own) {
        return mismatch(name, format!("no server can answer {codec}: {reason}"));
    }
    match info.codec {
        Some(own) if own != codec => mismatch(name, format!("{transport} carries the codec {own} and no other")),
        None if codec == "json-rpc" => mismatch(
            name,
            "the codec json-rpc is JSON-RPC's request, which only JSON-RPC's own transports answer".to_owned(),
        ),
        _ => Ok(Protocol {
            name,
            class: Class::Pair,
            payload: Payload::Codec(codec.to_owned()),
            transport: transport.to_owned(),
        }),
    }
}

fn names() -> Vec<&'static str> {
    ROWS.iter().map(|(name, ..)| *name).collect()
}

fn transports() -> Vec<&'static str> {
    transport::all().iter().map(|info| info.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &str) -> Vec<String> {
        names.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn all_is_the_eight_rows_and_the_floors() {
        let all = by_names(&list("all")).unwrap();
        assert_eq!(all.iter().filter(|row| row.class == Class::Row).count(), 8);
        assert_eq!(all.len(), 10);
        let everything = by_names(&list("zap,all,variants,zap")).unwrap();
        assert_eq!((everything.len(), everything[0].name.as_str()), (ROWS.len(), "zap"));
    }

    #[test]
    fn a_pair_is_any_codec_on_any_stack_that_takes_it() {
        let pair = by_name("protobuf+uds").unwrap();
        assert_eq!((pair.class, pair.transport.as_str()), (Class::Pair, "uds"));
        assert_eq!(by_name("zip"), Err(ProtocolError::Unknown("zip".to_owned())));
        for (name, word) in
            [("zip+tcp", "codec"), ("zap+tpc", "transport"), ("copy-161+tcp", "answer"), ("json-rpc+tcp", "JSON-RPC")]
        {
            let said = by_name(name).unwrap_err().to_string();
            assert!(said.contains(word) && said.contains(name), "{said}");
        }
    }

    #[test]
    fn every_row_is_made_of_what_there_is() {
        for row in rows() {
            if let Payload::Codec(codec) = &row.payload {
                assert!(codec::by_name(codec).is_some(), "{}", row.name);
            }
        }
    }
}
