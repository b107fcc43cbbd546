//! `votebench zapc`: the compiler of ZAP schemas. Owns reading the schema and writing the Rust; what is in between is
//! [`zap::schema`](crate::zap::schema)'s and [`zap::codegen`](crate::zap::codegen)'s.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::{BadInput, Outcome, write_whole};
use crate::zap::{codegen, schema};

/// Compile a ZAP schema to Rust.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The schema; `-` is stdin.
    pub file: PathBuf,
    /// Where the Rust goes; `-` is stdout.
    #[arg(long, default_value = "-")]
    pub out: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// [`BadInput`] where the schema cannot be read or is none, another where the output cannot be written.
pub fn run(args: &Args) -> Outcome {
    let name = args.file.display().to_string();
    let bytes = read(&args.file).map_err(|error| BadInput(format!("cannot read {name}: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count();
        BadInput(format!("{name}:{line}: expected UTF-8, found bytes that are not"))
    })?;
    let schema = schema::parse(&name, &text).map_err(|error| BadInput(error.to_string()))?;
    if is_same(&args.file, &args.out) {
        return Err(BadInput(format!("--out: {} is the schema itself", args.out.display())).into());
    }
    write(&args.out, &codegen::generate(&schema)).with_context(|| format!("cannot write {}", args.out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    fs::read(file)
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    if file == Path::new("-") {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        return stdout.flush();
    }
    write_whole(file, text)
}

/// Whether both names lead to one file, by whatever way.
fn is_same(schema: &Path, out: &Path) -> bool {
    let there = |path: &Path| fs::canonicalize(path).ok();
    there(schema).is_some_and(|schema| there(out) == Some(schema))
}
