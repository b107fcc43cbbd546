//! `votebench export` and `votebench doctor` from the outside: every format of every committed run, held to what is published of it.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn votebench(arguments: &[&str]) -> (i32, String, String) {
    let output = assert_cmd::Command::cargo_bin("votebench").unwrap().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn export(run: &Path, format: &str, more: &[&str]) -> String {
    let run = run.to_string_lossy().into_owned();
    let (status, out, errors) = votebench(&[&["export", &run, "--format", format], more].concat());
    // What a format has no room for is said.
    let is_told = errors.lines().all(|line| line.ends_with("have no place in this format"));
    assert!(status == 0 && is_told, "{run} {format}: {errors}");
    out
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/results.v1.example.json")
}

fn committed() -> Vec<PathBuf> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let folders = fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|path| path.join("results.json").is_file()).collect()
}

/// The schema that bencher.dev publishes (<https://bencher.dev/bmf.json>), with no other keys allowed in a metric.
#[test]
fn bencher_metric_format_fits_its_schema() {
    let metric = json!({"type": "object", "required": ["value"], "additionalProperties": false, "properties":
        {"value": {"type": "number"}, "lower_value": {"type": "number"}, "upper_value": {"type": "number"}}});
    let measures = json!({"type": "object", "minProperties": 1, "patternProperties": {"^.{1,64}$": metric},
        "additionalProperties": false});
    let schema = json!({"type": "object", "minProperties": 1, "patternProperties": {"^.{1,1024}$": measures},
        "additionalProperties": false});
    let schema = jsonschema::validator_for(&schema).unwrap();
    for run in committed() {
        schema.validate(&serde_json::from_str(&export(&run, "bencher", &[])).unwrap()).unwrap();
    }
    let text: Value = serde_json::from_str(&export(&example(), "bencher", &[])).unwrap();
    let time = json!({"value": 4.1, "lower_value": 4.0, "upper_value": 4.2});
    assert_eq!(text["serialization/zap/encode/chained"]["time"], time);
    assert_eq!(text["latency/zap/poll"]["round-trip-at-p99"], json!({"value": 16_100.0}));
}

/// What its README asks of `customSmallerIsBetter`: a list of objects with name, unit and value; range and extra may be there.
#[test]
fn github_action_benchmark_gets_its_list() {
    for run in committed() {
        let list: Value = serde_json::from_str(&export(&run, "github-action-benchmark", &[])).unwrap();
        let mut names = std::collections::HashSet::new();
        for entry in list.as_array().unwrap() {
            assert!(entry["unit"].is_string() && entry["value"].is_number(), "{entry}");
            assert!(names.insert(entry["name"].as_str().unwrap().to_owned()), "{entry} is there twice");
            assert!(
                entry
                    .as_object()
                    .unwrap()
                    .keys()
                    .all(|key| ["name", "unit", "value", "range", "extra"].contains(&key.as_str()))
            );
        }
        assert!(!names.is_empty());
    }
}

/// The grammar of <https://go.dev/design/14313-benchmark-format>, line by line.
#[test]
fn go_bench_lines_are_what_benchstat_reads() {
    for run in committed() {
        let text = export(&run, "go-bench", &[]);
        let mut lines = 0;
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(rest) = line.strip_prefix("Benchmark") {
                let fields: Vec<_> = rest.split_whitespace().collect();
                assert!(fields[0].starts_with(|first: char| !first.is_lowercase()), "{line}");
                assert!(fields.len() == 4 && fields[1].parse::<u64>().unwrap() > 0, "{line}");
                assert!(fields[2].parse::<f64>().unwrap().is_finite() && !fields[3].is_empty(), "{line}");
                lines += 1;
            } else if !line.starts_with("Unit ") {
                let (key, _) = line.split_once(": ").unwrap();
                assert!(key.chars().all(|letter| letter.is_ascii_lowercase()), "{line}");
            }
        }
        let results: Value = serde_json::from_slice(&fs::read(run.join("results.json")).unwrap()).unwrap();
        let good = results["measurements"].as_array().unwrap().iter().filter(|figure| figure["status"] == "ok").count();
        assert!(good > 0 && lines >= good, "{lines} lines of {good} figures of {}", run.display());
    }
}

#[test]
fn csv_has_as_many_fields_in_every_record() {
    for run in committed() {
        let text = export(&run, "csv", &[]);
        assert!(text.starts_with("run,commit,suite,protocol,") && text.ends_with("\r\n"));
        for record in text.split_terminator("\r\n") {
            // Quoted commas are none between fields.
            let mut quoted = false;
            let commas = record.chars().filter(|letter| {
                quoted ^= *letter == '"';
                *letter == ',' && !quoted
            });
            assert_eq!(commas.count(), 17, "{record}");
        }
    }
}

#[test]
fn openmetrics_families_are_whole_and_end() {
    for run in committed() {
        let text = export(&run, "openmetrics", &[]);
        assert!(text.ends_with("# EOF\n"));
        let mut family = String::new();
        let mut seen = std::collections::HashSet::new();
        for line in text.lines().filter(|line| *line != "# EOF") {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                family = rest.split(' ').next().unwrap().to_owned();
                assert!(seen.insert(family.clone()), "{family} is not in one piece");
            } else if !line.starts_with("# ") {
                assert!(line.starts_with(&family), "{line} outside of {family}");
            }
        }
    }
}

#[test]
fn distributions_go_to_a_folder_or_one_at_a_time() {
    let of_latency = |run: &PathBuf| {
        let run: Value = serde_json::from_slice(&fs::read(run.join("results.json")).unwrap()).unwrap();
        run["measurements"][0]["suite"] == "latency"
    };
    let run = committed().into_iter().find(of_latency).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_string_lossy().into_owned();
    assert_eq!(export(&run, "hgrm", &["--output", &out]), "");
    let file = fs::read_to_string(folder.path().join("latency-zap-block-round-trip.hgrm")).unwrap();
    assert_eq!(file, export(&run, "hgrm", &["--only", "zap block round-trip"]));
    let rows: Vec<Vec<f64>> = file
        .lines()
        .skip(2)
        .take_while(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
        .collect();
    assert!(
        rows.windows(2).all(|pair| pair[0][0] <= pair[1][0] && pair[0][1] <= pair[1][1] && pair[0][2] <= pair[1][2])
    );
    let last = rows.last().unwrap();
    assert!(last.len() == 3 && last[1] == 1.0, "{last:?}");
    let total = format!("Total count    = {:>12}]", last[2]);
    assert!(file.contains(&total), "{total}");
    let run = run.to_string_lossy().into_owned();
    let (status, _, errors) = votebench(&["export", &run, "--format", "hgrm"]);
    assert!(status == 2 && errors.contains("choose with --only"), "{errors}");
    let (status, _, errors) = votebench(&["export", &example().to_string_lossy(), "--format", "hgrm"]);
    assert!(status == 2 && errors.lines().count() == 1, "its histogram is an ellipsis: {errors}");
}

#[test]
fn the_doctor_says_what_it_found() {
    let (status, out, _) = votebench(&["doctor", "--meter", "0.02", "--json"]);
    let checks: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status, 0, "an unfit machine is said, and no error");
    let names: Vec<_> = checks.as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in [
        "cores",
        "pinning",
        "governor",
        "boost",
        "smt",
        "load average",
        "steal",
        "timer slack",
        "clock source",
        "file descriptors",
        "loopback MTU",
        "swap",
        "transparent huge pages",
        "hiccups",
        "clock resolution",
        "clock cost",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for check in checks.as_array().unwrap() {
        let grade = check["grade"].as_str().unwrap();
        assert!(["ok", "warn", "bad"].contains(&grade));
        assert_eq!(check.get("mend").is_some(), grade != "ok", "{check}");
    }
    let (status, table, _) = votebench(&["doctor", "--meter", "0.02"]);
    assert!(
        status == 0 && ["Fit", "Not fit"].iter().any(|word| table.lines().last().unwrap().starts_with(word)),
        "{table}"
    );
    assert_eq!(votebench(&["doctor", "--meter", "-1"]).0, 2);
}
