//! `cargo bench --bench serialization` (being written).
fn main() {}
