//! One module a schema and compiler. This list is the only file here that is written by hand.

pub mod vote_proto;
pub mod vote_proto_bytes;
