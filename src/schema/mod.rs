//! What the schema compilers wrote, committed, so that building needs none of them. `scripts/codegen.sh` writes all of it
//! anew from `protos/` and `schemas/`; CI checks that this changes nothing.

pub mod generated;
