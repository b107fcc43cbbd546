//! Formats outside the papers' tables, for comparison. Owns nothing but the list: one format a file.
//!
//! All of them have one kept output buffer, borrow fields from the vote on encoding and from the message on decoding where
//! the library can, and accept nothing behind the vote. They go through the library's own derive, `ssz` excepted.

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
