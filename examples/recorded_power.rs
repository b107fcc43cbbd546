//! Writes METHODOLOGY.md's table of what `compare` finds on noise that a session has recorded. Takes a minute or two.
//!
//! `cargo run --release --example recorded_power -- results/sessions/NAME METHODOLOGY.md`; without the file it is printed.

use std::io::{Write, stdout};
use std::path::Path;

use votebench::compare::sensitivity::{Recorded, table};
use votebench::report::readme;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let session = arguments.next().ok_or("a session's folder is wanted")?;
    let side = |name: &str| votebench::cmd::compare::sides::side(&format!("{session}/{name}"), Path::new("results"));
    let (old, new) = (side("old")?, side("new")?);
    let recorded = Recorded::of(&old, &new).ok_or("these are not the two sides of one build's session")?;
    let mut lines = Vec::new();
    for line in table(&recorded, 100) {
        writeln!(stdout(), "{line}")?;
        lines.push(line);
    }
    if let Some(file) = arguments.next() {
        let text = std::fs::read_to_string(&file)?;
        std::fs::write(&file, readme::replace(&text, "power", &lines.join("\n"))?)?;
    }
    Ok(())
}
