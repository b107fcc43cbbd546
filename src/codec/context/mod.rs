//! Formats outside the papers' tables, for comparison. Owns nothing but the list: one format a file.
//!
//! All of them are driven alike: the library's own derive where it has one, one kept output buffer, fields borrowed from
//! the vote on encoding and from the message on decoding where the library can, and nothing accepted behind the vote.

mod bcs;
mod bincode;
mod borsh;
mod postcard;
mod rkyv;
mod scale;
mod ssz;

pub(super) use self::bcs::Bcs;
pub(super) use self::bincode::Bincode;
pub(super) use self::borsh::Borsh;
pub(super) use self::postcard::Postcard;
pub(super) use self::rkyv::Rkyv;
pub(super) use self::scale::Scale;
pub(super) use self::ssz::Ssz;
