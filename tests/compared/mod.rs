//! Runs to be compared: made from the example of the schema, with figures that a test chooses.

#![allow(clippy::unwrap_used, dead_code, reason = "shared by tests, none of which uses all of it")]

use std::fs;
use std::path::{Path, PathBuf};

use votebench::result::RunFile;
use votebench::result::read;
use votebench::result::record::{Better, Kind, Measurement};

/// Runs `votebench compare` in `folder`: exit status, stdout, stderr.
pub(crate) fn compare(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = assert_cmd::Command::cargo_bin("votebench").unwrap();
    let output = command.current_dir(folder).arg("compare").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A run of no figures, on day `day`, of a commit of twelve times that digit.
pub(crate) fn run(day: u8) -> RunFile {
    let mut run = read::parse(include_str!("../../schemas/results.v1.example.json"), Path::new("example")).unwrap();
    let commit = day.to_string().repeat(12);
    run.run.id = format!("2026010{day}T000000Z-{commit}");
    run.source.commit = commit;
    run.measurements.clear();
    run
}

/// Times of 15 processes of 5 rounds around `centre`, about 1 % apart.
pub(crate) fn times(centre: f64) -> Measurement {
    let time = |process: u32, round: u32| centre * (1.0 + f64::from((process * 37 + round * 11) % 23) / 2_300.0);
    let rounds = (0..15).map(|process| (0..5).map(|round| time(process, round)).collect()).collect();
    let row = Measurement::new("serialization", "protobuf").model("read").row("chained");
    row.metric("time", "ns/op", Kind::Rate, Better::Lower).value(centre).rounds(rounds)
}

pub(crate) fn bytes(bytes: u64) -> Measurement {
    Measurement::new("serialization", "protobuf").metric("wire-bytes", "B", Kind::Exact, Better::Lower).value(bytes)
}

pub(crate) fn instructions(batch: u64, instructions: f64) -> Measurement {
    let row = Measurement::new("serialization", "protobuf").model("read").row("stream");
    let row = row.workload(&format!("batch-{batch}"));
    row.metric("instructions", "1/op", Kind::Exact, Better::Lower).value(instructions)
}

/// Writes `run` into a folder of its own under `folder`, and gives its path.
pub(crate) fn save(folder: &Path, run: &RunFile) -> PathBuf {
    let place = folder.join(&run.run.id);
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("results.json"), serde_json::to_string(run).unwrap()).unwrap();
    place
}
