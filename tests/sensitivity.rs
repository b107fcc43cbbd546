//! What METHODOLOGY.md says of `compare`'s power, held to the noise that a committed session has recorded.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::fs;
use std::path::Path;

use votebench::cmd::compare::sides::side;
use votebench::compare::sensitivity::{Recorded, line};
use votebench::report::readme;

/// The level of the verdict rule, in a hundred.
const LEVEL: usize = 5;

#[test]
fn a_hundred_comparisons_err_no_more_than_stated_and_find_what_was_planted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("METHODOLOGY.md")).unwrap();
    // The session that METHODOLOGY.md names.
    let name =
        text.split("results/sessions/").nth(1).unwrap().split(|c: char| !(c.is_alphanumeric() || c == '-')).next();
    let session = root.join("results/sessions").join(name.unwrap());
    let of = |which: &str| side(&session.join(which).to_string_lossy(), &root.join("results")).unwrap();
    let (old, new) = (of("old"), of("new"));
    let recorded = Recorded::of(&old, &new).unwrap();
    assert!(recorded.processes() >= 30 && recorded.rows() > 10, "{} rows", recorded.rows());
    let same = recorded.try_out(30, 100, false);
    assert!(same.with_false <= LEVEL, "{same:?}");
    let planted = recorded.try_out(30, 100, true);
    assert!(planted.found >= 95 && planted.with_false <= LEVEL, "{planted:?}");
    let written = readme::block(&text, "power").unwrap().lines().last().unwrap();
    assert_eq!(written, line(30, &same, &planted), "written by `cargo run --release --example recorded_power`");
}
