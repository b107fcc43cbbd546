//! The program `votebench` with the counting allocator: the same in everything else. `votebench` starts it where
//! allocations are asked for; rates are never taken here, because counting costs the rows that allocate.

use std::process::ExitCode;

use votebench::measure::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    votebench::cmd::main()
}
