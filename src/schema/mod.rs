//! What the schema compilers wrote, committed, so that building needs none of them. `scripts/codegen.sh` writes all of it
//! anew from `protos/` and `schemas/`; CI checks that this changes nothing.

// Lints and formatting are off for what no person writes.
#[allow(warnings, unsafe_code, clippy::all, clippy::pedantic)]
#[rustfmt::skip]
pub mod generated;

#[cfg(feature = "net")]
pub mod tonic_codec;
