//! Writes METHODOLOGY.md's table of what `compare` finds on noise that a run has recorded. Takes a minute or two.
//!
//! `cargo run --release --example recorded_power -- results/RUN METHODOLOGY.md`; without the file it is printed.

use std::io::{Write, stdout};
use std::path::Path;

use votebench::compare::sensitivity::table;
use votebench::report::readme;
use votebench::result::read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let run = read::run(Path::new(&arguments.next().ok_or("a run's folder is wanted")?))?;
    let mut lines = Vec::new();
    for line in table(&run, 100) {
        writeln!(stdout(), "{line}")?;
        lines.push(line);
    }
    if let Some(file) = arguments.next() {
        let text = std::fs::read_to_string(&file)?;
        std::fs::write(&file, readme::replace(&text, "power", &lines.join("\n"))?)?;
    }
    Ok(())
}
