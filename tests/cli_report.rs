//! `votebench report --readme` from the outside: which blocks a run writes, and which a check looks at.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::fs;
use std::path::Path;

use votebench::result::read;
use votebench::result::record::{Better, Class, Kind, Measurement, RunFile};

const EMPTY: &str = "a\n<!-- votebench:serialization -->\n<!-- /votebench:serialization -->\nb\n\
                     <!-- votebench:instructions -->\n<!-- /votebench:instructions -->\nc\n";

/// Runs `votebench report --readme` in `folder`; gives the exit status and stderr.
fn report(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = assert_cmd::Command::cargo_bin("votebench").unwrap();
    let output = command.current_dir(folder).args(["report", "--readme"]).args(arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn example() -> RunFile {
    read::parse(include_str!("../schemas/results.v1.example.json"), Path::new("example")).unwrap()
}

fn save(folder: &Path, id: &str, change: impl FnOnce(&mut RunFile)) {
    let mut run = example();
    run.run.id = id.to_owned();
    change(&mut run);
    let place = folder.join("results").join(id);
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("results.json"), serde_json::to_string(&run).unwrap()).unwrap();
}

const TIMES: &str = "20260101T000000Z-0123456789ab";
const COUNTS: &str = "20260102T000000Z-0123456789ab";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), TIMES, |run| run.measurements.retain(|m| m.suite == "serialization"));
    save(folder.path(), COUNTS, |run| {
        let row = Measurement::new("serialization", "zap").class(Class::Row).model("read").workload("batch-1024");
        run.measurements = vec![row.metric("instructions", "1/op", Kind::Exact, Better::Lower).value(50.0)];
    });
    fs::write(folder.path().join("README.md"), EMPTY).unwrap();
    folder
}

#[test]
fn a_run_writes_only_the_blocks_that_it_has_figures_for() {
    let folder = folder();
    let readme = || fs::read_to_string(folder.path().join("README.md")).unwrap();
    assert_eq!(report(folder.path(), &[&format!("results/{COUNTS}")]), (0, String::new()));
    let counts = readme();
    assert!(
        counts.starts_with("a\n<!-- votebench:serialization -->\n<!-- /votebench:serialization -->\nb\n"),
        "{counts}"
    );
    assert!(counts.contains(&format!("<!-- from results/{COUNTS}/results.json -->")), "{counts}");
    assert!(counts.contains("| zap | - | 50 | - | - |"), "{counts}");
    assert_eq!(report(folder.path(), &[&format!("results/{TIMES}")]), (0, String::new()));
    let both = readme();
    assert!(both.ends_with(counts.split_once("\nb\n").unwrap().1), "the other block has changed: {both}");
    assert!(both.contains(&format!("<!-- from results/{TIMES}/results.json -->")), "{both}");
    assert_eq!(report(folder.path(), &["--check"]), (0, String::new()));
}

#[test]
fn a_check_looks_at_every_block_that_names_a_run() {
    let folder = folder();
    let path = folder.path().join("README.md");
    let (status, sentence) = report(folder.path(), &["--check"]);
    assert!(status == 2 && sentence.contains("README.md"), "no block names a run: {sentence}");
    assert_eq!(report(folder.path(), &[&format!("results/{COUNTS}")]).0, 0);
    assert_eq!(report(folder.path(), &["--check"]), (0, String::new()), "the other block is empty, which is no fault");
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, good.replace("| 50 |", "| 49 |")).unwrap();
    let (status, sentence) = report(folder.path(), &["--check"]);
    assert!(status == 2 && sentence.contains(COUNTS), "a typed figure: {sentence}");
    fs::write(&path, EMPTY.replace("<!-- /votebench:instructions", "typed\n<!-- /votebench:instructions")).unwrap();
    assert_eq!(report(folder.path(), &["--check"]).0, 2, "a block that is typed and names no run");
}
