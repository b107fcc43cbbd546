//! How figures are taken. One driver a file; no driver knows a concrete codec or stack, and none knows the command line.

pub mod allocations;
