//! The program `votebench`: parse, dispatch, exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    votebench::cmd::main()
}
