//! What METHODOLOGY.md says of `compare`'s power, held to the noise that a committed run has recorded.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::fs;
use std::path::Path;

use votebench::compare::sensitivity::{Noise, QUIET, line};
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
    let text = fs::read_to_string(root.join("METHODOLOGY.md")).unwrap();
    assert!(text.contains(RUN), "METHODOLOGY.md names another run");
    let table = readme::block(&text, "power").unwrap();
    for (name, processes) in [("quiet", Some(QUIET)), ("all of it", None)] {
        let noise = Noise::of(&run, processes).unwrap();
        let same = noise.try_out(30, 100, false);
        let planted = noise.try_out(30, 100, true);
        assert!(same.with_false <= LEVEL && planted.with_false <= LEVEL, "{name}: {same:?}, {planted:?}");
        // Where the machine stalls for whole rounds, nothing finds 3 %: that part of the table is shown and promises nothing.
        assert!(planted.found >= 95 || name != "quiet", "{planted:?}");
        let written = line(name, 30, &same, &planted);
        assert!(table.lines().any(|line| line == written), "`{written}` is not there: see examples/recorded_power.rs");
    }
}
