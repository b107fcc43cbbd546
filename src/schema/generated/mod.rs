//! One module a schema and compiler. This list is the only file here that is written by hand.

pub mod http_zap;
pub mod vote_capnp;
pub mod vote_fbs;
pub mod vote_one_struct_fbs;
pub mod vote_proto;
pub mod vote_proto_bytes;
#[cfg(feature = "net")]
pub mod vote_service;
pub mod vote_vectors_fbs;
pub mod vote_words_capnp;
pub mod vote_zap;
