//! What METHODOLOGY.md says of `compare`'s power, held to the noise that a committed run has recorded.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::fs;
use std::path::Path;

use votebench::compare::sensitivity::{Noise, line};
use votebench::report::readme;
use votebench::result::read;

/// The run whose noise it is; METHODOLOGY.md names it.
const RUN: &str = "20261201T123450Z-9a1855817f8c";

/// The level of the verdict rule, in a hundred.
const LEVEL: usize = 5;

#[test]
fn a_hundred_comparisons_err_no_more_than_stated_and_find_what_was_planted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = read::run(&root.join("results").join(RUN)).unwrap();
    let noise = Noise::of(&run).unwrap();
    let same = noise.try_out(30, 100, false);
    assert!(same.with_false <= LEVEL, "{same:?}");
    let planted = noise.try_out(30, 100, true);
    assert!(planted.found >= 95, "{planted:?}");
    assert!(planted.with_false <= LEVEL, "{planted:?}");
    let text = fs::read_to_string(root.join("METHODOLOGY.md")).unwrap();
    let table = readme::block(&text, "power").unwrap();
    let written = table.lines().last().unwrap();
    assert_eq!(written, line(30, &same, &planted), "written by `cargo run --release --example recorded_power`");
    assert!(text.contains(RUN.split('-').next().unwrap()), "METHODOLOGY.md names another run");
}
