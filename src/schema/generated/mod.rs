//! What each schema compiler wrote, one file a schema. Exempt from the lints and from rustfmt.

/// The HTTP study's messages, from `schemas/http.zap`.
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, clippy::nursery, unreachable_pub, unused_qualifications)]
pub mod http_zap;
/// The vote, from `schemas/vote.zap`.
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, clippy::nursery, unreachable_pub, unused_qualifications)]
pub mod vote_zap;
