//! `votebench report` from the outside: several runs, pages and pictures; which blocks of README.md a run writes, and which a check
//! looks at.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::fs;
use std::path::Path;

use votebench::result::read;
use votebench::result::record::{Better, Class, Kind, Measurement, RunFile};

const EMPTY: &str = "a\n<!-- votebench:serialization -->\n<!-- /votebench:serialization -->\nb\n\
                     <!-- votebench:instructions -->\n<!-- /votebench:instructions -->\nc\n";

/// Runs `votebench report` in `folder`; gives the exit status, stdout and stderr.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = assert_cmd::Command::cargo_bin("votebench").unwrap();
    let output = command.current_dir(folder).arg("report").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Runs `votebench report --readme` in `folder`; gives the exit status and stderr.
fn report(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let (status, _, stderr) = run(folder, &[&["--readme"], arguments].concat());
    (status, stderr)
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

#[test]
fn several_runs_are_printed_one_after_the_other() {
    let folder = folder();
    let (times, counts) = (format!("results/{TIMES}"), format!("results/{COUNTS}/results.json"));
    let (status, both, _) = run(folder.path(), &[&counts, &times]);
    let one = |path: &str| run(folder.path(), &[path]).1;
    assert_eq!((status, both.trim_end()), (0, format!("{}\n\n{}", one(&counts), one(&times)).trim_end()));
    assert_eq!(run(folder.path(), &[]).0, 2, "no run at all");
    assert_eq!(run(folder.path(), &[&times, "results/gone"]).0, 2, "one that is not there");
}

#[test]
fn a_page_is_written_of_all_runs_and_also_to_stdout() {
    let folder = folder();
    let (times, counts) = (format!("results/{TIMES}"), format!("results/{COUNTS}"));
    let (status, stdout, stderr) = run(folder.path(), &[&times, &counts, "--html", "page.html"]);
    assert_eq!((status, stdout.as_str(), stderr.as_str()), (0, "", ""));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(TIMES) && page.contains(COUNTS));
    assert_eq!(run(folder.path(), &[&times, &counts, "--html", "-"]).1, page);
    assert_eq!(run(folder.path(), &[&times, "--html", "gone/page.html"]).0, 3, "a folder that is not there");
}

#[test]
fn pictures_are_held_against_their_runs_byte_for_byte() {
    let folder = folder();
    let (times, counts) = (format!("results/{TIMES}"), format!("results/{COUNTS}"));
    let markers = format!("{EMPTY}<!-- votebench:pictures -->\n<!-- /votebench:pictures -->\n");
    fs::write(folder.path().join("README.md"), markers).unwrap();
    let svg = ["--svg", "docs/pictures"];
    assert_eq!(report(folder.path(), &[&[times.as_str(), &counts], &svg[..]].concat()), (0, String::new()));
    let readme = fs::read_to_string(folder.path().join("README.md")).unwrap();
    let from = format!("<!-- from {times}/results.json, {counts}/results.json in docs/pictures -->");
    assert!(readme.contains(&from) && readme.contains("](docs/pictures/encode.svg)"), "{readme}");
    assert_eq!(report(folder.path(), &["--check"]), (0, String::new()));
    assert_eq!(report(folder.path(), &[&[times.as_str(), &counts, "--check"], &svg[..]].concat()), (0, String::new()));

    let encode = folder.path().join("docs/pictures/encode.svg");
    let good = fs::read_to_string(&encode).unwrap();
    fs::write(&encode, good.replacen("4.1", "4.2", 1)).unwrap();
    let (status, sentence) = report(folder.path(), &["--check"]);
    assert!(status == 2 && sentence.contains("encode.svg"), "a touched picture: {sentence}");
    fs::remove_file(&encode).unwrap();
    assert!(report(folder.path(), &["--check"]).1.contains("is missing"));
    fs::write(&encode, good).unwrap();
    fs::write(folder.path().join("docs/pictures/old.svg"), "<svg/>").unwrap();
    assert!(report(folder.path(), &["--check"]).1.contains("old.svg"), "a picture of no plot");
    fs::remove_file(folder.path().join("docs/pictures/old.svg")).unwrap();
    assert_eq!(report(folder.path(), &["--check"]), (0, String::new()));
    fs::write(folder.path().join("README.md"), readme.replace("encode.svg)", "other.svg)")).unwrap();
    assert_eq!(report(folder.path(), &["--check"]).0, 2, "a typed picture");
}

#[test]
fn runs_of_one_suite_stand_in_its_block_one_under_the_other() {
    const LATER: &str = "20260103T000000Z-0123456789ab";
    let folder = folder();
    save(folder.path(), LATER, |run| run.measurements.retain(|m| m.suite == "serialization"));
    let (times, later) = (format!("results/{TIMES}"), format!("results/{LATER}"));
    assert_eq!(report(folder.path(), &[&later, &times]), (0, String::new()));
    let readme = fs::read_to_string(folder.path().join("README.md")).unwrap();
    assert!(readme.contains(&format!("<!-- from {later}/results.json {times}/results.json -->")), "{readme}");
    let (first, second) = readme.split_once(&format!("Run {TIMES}:")).unwrap();
    assert!(first.contains(&format!("Run {LATER}:")) && first.contains("| zap |") && second.contains("| zap |"));
    assert_eq!(report(folder.path(), &["--check"]), (0, String::new()));
    assert_eq!(report(folder.path(), &["--check", &later, &times]), (0, String::new()));
    assert_eq!(report(folder.path(), &["--check", &times]).0, 2, "a run that is no longer given");
    save(folder.path(), LATER, |run| run.measurements.retain(|m| m.suite == "serialization" && m.protocol != "zap"));
    let (status, sentence) = report(folder.path(), &["--check"]);
    assert!(status == 2 && sentence.contains(LATER), "one of the two has changed: {sentence}");
}

#[test]
fn a_run_that_is_given_twice_is_refused() {
    let folder = folder();
    let times = format!("results/{TIMES}");
    let (status, sentence) = report(folder.path(), &[&times, &times]);
    assert!(status == 2 && sentence.contains("given twice"), "{sentence}");
    assert_eq!(fs::read_to_string(folder.path().join("README.md")).unwrap(), EMPTY);
}

#[test]
fn readme_is_what_its_runs_give() {
    assert_eq!(report(Path::new(env!("CARGO_MANIFEST_DIR")), &["--check"]), (0, String::new()));
}
