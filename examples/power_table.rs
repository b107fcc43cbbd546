//! Prints how often the verdict rule errs and how often it finds a planted effect, for each kind of noise and number of
//! processes. Takes minutes; `-- 20` comparisons for each cell, or any other number, in place of 200.

use std::io::{Write, stdout};

use votebench::stats::simulation::power_table;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let repeats = std::env::args().nth(1).map_or(Ok(200), |repeats| repeats.parse())?;
    for line in power_table(repeats) {
        writeln!(stdout(), "{line}")?;
    }
    Ok(())
}
