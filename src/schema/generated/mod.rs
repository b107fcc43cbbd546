//! What each schema compiler wrote, one file a schema.

#[rustfmt::skip]
pub mod vote_zap;
