//! `votebench claims` from the outside: every figure of the papers beside the committed runs, the forms of its output, how it ends
//! on bad input, and the block of README.md.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use votebench::claims::source;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs `votebench claims` in `folder`: exit status, stdout, stderr.
fn claims(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = assert_cmd::Command::cargo_bin("votebench").unwrap();
    let output = command.current_dir(folder).arg("claims").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// What it prints of the committed runs.
fn committed(arguments: &[&str]) -> String {
    let (status, out, errors) = claims(root(), &[&["results"], arguments].concat());
    assert_eq!((status, errors.as_str()), (0, ""));
    out
}

#[test]
fn every_figure_of_the_papers_stands_beside_the_committed_runs() {
    let report: Value = serde_json::from_str(&committed(&["--json"])).unwrap();
    let schema = fs::read_to_string(root().join("schemas/claims.v1.schema.json")).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap().validate(&report).unwrap();
    let mut cells = 0;
    for (paper, own) in source::built_in().unwrap().iter().zip(report["papers"].as_array().unwrap()) {
        assert_eq!(own["file"], *paper.file);
        assert_eq!(own["contradictions"].as_array().unwrap().len(), paper.contradictions.len());
        assert_eq!(own["claims"].as_array().unwrap().len(), paper.sayings.len());
        for (claimed, table) in paper.tables.iter().zip(own["tables"].as_array().unwrap()) {
            let shown = table["cells"].as_array().unwrap();
            assert_eq!(shown.len(), claimed.cells.len(), "{}", claimed.name);
            for cell in &claimed.cells {
                let is_it = |one: &&Value| one["row"] == *cell.row && one["column"] == *cell.column;
                let found = shown.iter().find(is_it).unwrap();
                assert_eq!(found["paper"].as_f64(), Some(cell.value));
                let lines = found["lines"].as_array().unwrap();
                assert!(!lines.is_empty(), "{} {} {}", claimed.name, cell.row, cell.column);
                for line in lines {
                    let told =
                        line["ours"].is_number() || line["reason"].as_str().is_some_and(|reason| !reason.is_empty());
                    assert!(told, "neither a figure nor a reason: {line}");
                }
                cells += 1;
            }
        }
    }
    assert_eq!(report["summary"]["cells"].as_u64(), Some(cells));
}

/// What stands there of the committed runs and cannot change with the machine: counts.
#[test]
fn the_committed_runs_judge_the_counts() {
    let report: Value = serde_json::from_str(&committed(&["--json"])).unwrap();
    let verdict = |table: &str, row: &str, column: &str, reading: &str| {
        let tables = report["papers"].as_array().unwrap().iter().flat_map(|paper| paper["tables"].as_array().unwrap());
        let cells = tables.filter(|one| one["name"] == table).flat_map(|one| one["cells"].as_array().unwrap());
        let mut cells = cells.filter(|cell| cell["row"] == row && cell["column"] == column);
        let lines = cells.next().unwrap()["lines"].as_array().unwrap();
        lines.iter().find(|line| line["reading"] == reading).unwrap()["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("wire_size", "zap", "wire_bytes", "message"), "reproduced");
    assert_eq!(verdict("wire_size", "grpc", "wire_bytes", "without its frame"), "reproduced");
    assert_eq!(verdict("wire_size", "json-rpc", "wire_bytes", "message"), "contradicted");
    assert_eq!(verdict("encode", "zap", "bytes_per_msg", "message"), "contradicted");
    assert_eq!(verdict("decode", "flatbuffers", "allocs_per_op", "read"), "reproduced");
    assert_eq!(verdict("sustained", "grpc", "gc_pauses", ""), "not-comparable");
}

#[test]
fn terminal_and_markdown_have_every_printed_figure() {
    let printed =
        ["42,000,000", "23.8", "3,192", "1,247.3", "2,147.8", "4,521", "184.1", "10,399.1", "131,268.3", "65,918"];
    for arguments in [&[][..], &["--markdown"]] {
        let text = committed(arguments);
        for figure in printed {
            assert!(text.contains(figure), "{figure} is missing with {arguments:?}");
        }
        assert!(text.contains("a load that changes nothing is not a load"), "what the source contradicts itself in");
        assert!(text.contains("not comparable: no garbage collector in Rust"));
    }
    // The paper's order: its tables, its rows; the waits never in one table.
    let text = committed(&["--markdown"]);
    let places: Vec<_> = [
        "### Encode",
        "### Decode",
        "### Wire size",
        "### Round trip (tab:latency), block",
        "### Round trip (tab:latency), poll",
    ]
    .map(|title| text.find(title).unwrap())
    .to_vec();
    assert!(places.is_sorted(), "{places:?}");
    let encode = &text[places[0]..places[1]];
    let rows =
        ["| zap |", "| flatbuffers |", "| capnp |", "| grpc |", "| quic-raw |", "| protobuf-mux |", "| json-rpc |"];
    let rows: Vec<_> = rows.iter().map(|row| encode.find(row).unwrap()).collect();
    assert!(rows.is_sorted(), "{rows:?}");
    assert!(!text[places[3]..places[4]].contains("(poll)"));
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn example(folder: &Path) -> PathBuf {
    let place = folder.join("results/20260101T000000Z-0123456789ab");
    fs::create_dir_all(&place).unwrap();
    let text = fs::read_to_string(root().join("schemas/results.v1.example.json")).unwrap();
    let mut run: Value = serde_json::from_str(&text).unwrap();
    run["run"]["id"] = "20260101T000000Z-0123456789ab".into();
    fs::write(place.join("results.json"), run.to_string()).unwrap();
    place
}

#[test]
fn what_is_no_run_or_no_claims_file_ends_with_two_and_one_sentence() {
    let folder = folder();
    let run = example(folder.path());
    let run = run.to_str().unwrap();
    fs::write(folder.path().join("notes.json"), "{}").unwrap();
    fs::write(folder.path().join("broken.json"), "{\"tables\": ").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    let cases: [(&[&str], &str); 8] = [
        (&["nowhere"], "nowhere: there is no such file or folder"),
        (&["notes.json"], "notes.json: is not a results file of votebench"),
        (&["empty"], "empty: the folder has no results.json"),
        (&[run, "--claims", "notes.json"], "notes.json: is not a claims file: it has neither `tables` nor `workloads`"),
        (&[run, "--claims", "broken.json"], "broken.json: is not a claims file: EOF"),
        (&[run, "--claims", "empty"], "empty: there is no claims file in it"),
        (&[run, "--claims", "nowhere"], "nowhere: cannot be read"),
        (&[run, "nowhere"], "nowhere: there is no such file or folder"),
    ];
    for (arguments, sentence) in cases {
        let (status, out, errors) = claims(folder.path(), arguments);
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}");
        assert!(errors.starts_with("votebench: ") && errors.lines().count() == 1, "{arguments:?}: {errors}");
        assert!(errors.contains(sentence), "{arguments:?}: {errors}");
    }
    assert_eq!(claims(folder.path(), &[]).0, 2, "which run?");
    // The files that lie in results/claims are those that are meant, without being named.
    fs::create_dir(folder.path().join("results/claims")).unwrap();
    fs::write(folder.path().join("results/claims/own.json"), "[]").unwrap();
    let (status, _, errors) = claims(folder.path(), &[run]);
    assert!(status == 2 && errors.contains("own.json: is not a claims file"), "{errors}");
}

#[test]
fn without_claims_files_those_of_the_program_are_taken() {
    let folder = folder();
    let run = example(folder.path());
    let (status, out, _) = claims(folder.path(), &[run.to_str().unwrap(), "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, report["papers"].as_array().unwrap().len()), (0, 2));
    assert_eq!(report["runs"][0]["id"], "20260101T000000Z-0123456789ab");
}

#[test]
fn a_figure_without_a_mapping_says_so() {
    let folder = folder();
    let run = example(folder.path());
    let text = fs::read_to_string(root().join("results/claims/lux-zap-benchmarks.json")).unwrap();
    fs::write(folder.path().join("own.json"), text.replacen("\"p95\": 14.2", "\"p90\": 14.2", 1)).unwrap();
    let (status, out, _) = claims(folder.path(), &[run.to_str().unwrap(), "--claims", "own.json"]);
    assert_eq!(status, 0);
    assert!(out.contains("not measured: nothing here answers it"), "{out}");
}

#[test]
fn the_block_of_the_readme_is_written_and_checked() {
    let folder = folder();
    let run = example(folder.path());
    let run = run.to_str().unwrap();
    let readme = folder.path().join("README.md");
    let text = || fs::read_to_string(&readme).unwrap();
    fs::write(&readme, "a\n<!-- votebench:claims -->\n<!-- /votebench:claims -->\nb\n").unwrap();
    assert_eq!(claims(folder.path(), &["--readme", "--check"]).0, 2, "an empty block names no run");
    assert_eq!(claims(folder.path(), &["--readme", run]), (0, String::new(), String::new()));
    let written = text();
    assert!(written.contains("<!-- from results/20260101T000000Z-0123456789ab/results.json -->"), "{written}");
    assert!(
        written.contains("<details><summary>Encode (tab:encode)</summary>") && written.ends_with("b\n"),
        "{written}"
    );
    let check = || claims(folder.path(), &["--readme", "--check"]);
    assert_eq!(check(), (0, String::new(), String::new()));
    // The check of all blocks looks at this one, too.
    let report = || {
        let mut command = assert_cmd::Command::cargo_bin("votebench").unwrap();
        let output = command.current_dir(folder.path()).args(["report", "--readme", "--check"]).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(report(), (0, String::new()));
    fs::write(&readme, written.replacen("23.8", "23.9", 1)).unwrap();
    for (status, errors) in [(check().0, check().2), report()] {
        assert_eq!(status, 2);
        assert!(
            errors.contains("write them with `votebench claims --readme results/20260101T000000Z-0123456789ab`"),
            "{errors}"
        );
    }
    fs::write(&readme, "no block\n").unwrap();
    assert_eq!(claims(folder.path(), &["--readme", run]).0, 2);
}
