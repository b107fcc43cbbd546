//! `votebench compare` from the outside: what it says of two runs or more, and how it ends.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

mod compared;

use std::fs;
use std::path::Path;

use compared::{bytes, compare, instructions, run, save, times};
use serde_json::{Value, json};
use votebench::result::RunFile;
use votebench::result::record::{Measurement, Status};

/// Compares two runs of these figures, the first of day 1 and the second of day 2.
fn two(old: Vec<Measurement>, new: Vec<Measurement>, change: impl FnOnce(&mut RunFile, &mut RunFile)) -> Compared {
    let (mut left, mut right) = (run(1), run(2));
    (left.measurements, right.measurements) = (old, new);
    change(&mut left, &mut right);
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), &left);
    save(folder.path(), &right);
    Compared { folder }
}

struct Compared {
    folder: tempfile::TempDir,
}

impl Compared {
    fn with(&self, arguments: &[&str]) -> (i32, String) {
        let all = [&["--results", ".", "111111111111", "222222222222"], arguments].concat();
        let (status, out, errors) = compare(self.folder.path(), &all);
        assert_eq!(errors, "");
        (status, out)
    }

    /// Exit status, and the report.
    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let (status, out) = self.with(&[&["--json"], arguments].concat());
        let report: Value = serde_json::from_str(&out).unwrap();
        schema().validate(&report).unwrap();
        (status, report)
    }
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/compare.v1.schema.json");
    jsonschema::validator_for(&serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()).unwrap()
}

fn same(_: &mut RunFile, _: &mut RunFile) {}

#[test]
fn exact_figures_fail_when_they_get_worse_and_only_then() {
    let compared = two(vec![bytes(161)], vec![bytes(162)], same);
    let (status, report) = compared.json(&[]);
    let line = &report["lines"][0];
    assert_eq!((status, &line["outcome"], &line["fails"]), (1, &json!("worse"), &json!(true)));
    assert_eq!((&line["old"], &line["new"], &line["basis"]), (&json!(161.0), &json!(162.0), &json!("exact")));
    assert_eq!(compared.with(&["--fail-on", "never"]).0, 0);
    assert_eq!(compared.with(&["--skip", "wire-bytes"]).0, 0, "what is skipped is no reason to fail");
    assert_eq!(two(vec![bytes(161)], vec![bytes(160)], same).json(&[]).1["lines"][0]["outcome"], "better");
    assert_eq!(two(vec![bytes(161)], vec![bytes(161)], same).json(&[]).1["lines"][0]["outcome"], "equal");
    // The canonical vote's size is the same, the largest of the corpus is not.
    let (old, new) = (bytes(161).range(161_u64, 161_u64), bytes(161).range(161_u64, 163_u64));
    let (status, report) = two(vec![old], vec![new], same).json(&[]);
    assert_eq!((status, report["lines"][0]["new"].as_f64()), (1, Some(163.0)));
    // From nothing to something there is no ratio, and it is worse all the same.
    let (status, report) = two(vec![bytes(0)], vec![bytes(1)], same).json(&[]);
    assert_eq!((status, report["lines"][0].get("ratio")), (1, None));
}

#[test]
fn stored_rates_are_shown_and_never_fail() {
    let compared = two(vec![times(10.0)], vec![times(20.0)], same);
    let (status, report) = compared.json(&[]);
    let line = &report["lines"][0];
    assert_eq!((status, &line["outcome"], &line["basis"]), (0, &json!("worse"), &json!("indicative")));
    assert!((line["ratio"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{line}");
    assert!(line["p_adjusted"].as_f64().unwrap() < 0.05 && line["processes"] == 15, "{line}");
    let (_, table) = compared.with(&[]);
    assert!(table.contains("slower (indicative)") && table.contains("measured at another time"), "{table}");
    let (_, report) = two(vec![times(10.0)], vec![times(10.1)], same).json(&[]);
    assert_eq!(report["lines"][0]["outcome"], "same");
}

#[test]
fn disturbed_rounds_are_left_out_on_the_side_that_has_them() {
    // The first round of every process of the new run took ten times as long, and is marked.
    let mut slow = times(10.0);
    if let Some(votebench::result::record::Processes::Rounds(rounds)) = &mut slow.processes {
        rounds.iter_mut().for_each(|rounds| rounds[0] *= 10.0);
    }
    let marks = (0..15).map(|process| [process, 0]).collect();
    let (_, report) = two(vec![times(10.0)], vec![slow], |_, new| new.conditions.dropped = marks).json(&[]);
    assert_eq!(report["lines"][0]["outcome"], "same", "{report:#}");
}

#[test]
fn what_is_not_the_same_thing_is_not_comparable_and_says_why() {
    let figures = || vec![bytes(161), times(10.0)];
    let other = |_: &mut RunFile, new: &mut RunFile| {
        new.machine.fingerprint = "other".to_owned();
        new.machine.cpu = "Another CPU".to_owned();
    };
    let (status, report) = two(figures(), vec![bytes(999), times(99.0)], other).json(&[]);
    assert_eq!((status, &report["summary"]["not_comparable"]), (0, &json!(2)));
    assert!(report["lines"][0]["reason"].as_str().unwrap().contains("Another CPU"), "{report:#}");
    // Counts are compared where that is asked for; rates are not.
    let (status, report) = two(figures(), vec![bytes(999), times(99.0)], other).json(&["--across-machines"]);
    assert_eq!((status, &report["summary"]["worse"], &report["summary"]["not_comparable"]), (1, &json!(1), &json!(1)));
    let settings = |old: &mut RunFile, new: &mut RunFile| {
        old.settings.insert("isolation".to_owned(), "process".into());
        new.settings.insert("isolation".to_owned(), "thread".into());
    };
    let (_, report) = two(figures(), figures(), settings).json(&[]);
    assert_eq!(report["lines"][0]["reason"], "other settings: isolation \"process\" / \"thread\"");
    let workload = |old: &mut RunFile, new: &mut RunFile| {
        old.settings.insert("workload_hash".to_owned(), "a".into());
        new.settings.insert("workload_hash".to_owned(), "b".into());
    };
    let (_, report) = two(figures(), figures(), workload).json(&[]);
    assert_eq!(report["lines"][0]["reason"], "other workload: workload_hash \"a\" / \"b\"");
    let crates = (vec![times(10.0).setting("crates", "prost")], vec![times(10.0).setting("crates", "quick-protobuf")]);
    let (_, report) = two(crates.0, crates.1, same).json(&[]);
    assert_eq!(report["lines"][0]["reason"], "another library prost / quick-protobuf");
}

#[test]
fn another_version_of_the_same_library_is_compared_and_labelled() {
    let newer = |_: &mut RunFile, new: &mut RunFile| {
        new.source.crates.insert("prost".to_owned(), "0.15.0".to_owned());
    };
    let figures = || vec![times(10.0).setting("crates", "prost")];
    let compared = two(figures(), vec![times(12.0).setting("crates", "prost")], newer);
    let (_, report) = compared.json(&[]);
    let line = &report["lines"][0];
    assert_eq!((&line["outcome"], &line["versions"]), (&json!("worse"), &json!("prost 0.14.6 -> 0.15.0")));
    assert!(report["notes"][0].as_str().unwrap().contains("prost 0.14.6 -> 0.15.0"), "{report:#}");
    let (_, table) = compared.with(&["--markdown"]);
    assert!(table.contains("| serialization protobuf read chained time |") && table.contains("0.15.0"), "{table}");
}

#[test]
fn a_row_that_has_broken_is_worse_and_one_that_was_not_measured_is_not() {
    let status = |status| vec![times(10.0).without(status, "because")];
    let gone = |status: Status, new: Vec<Measurement>| {
        let new = new.into_iter().map(|one| Measurement { value: None, processes: None, status, ..one }).collect();
        two(vec![times(10.0)], new, same).json(&[])
    };
    for broken in [Status::Failed, Status::Saturated] {
        let (exit, report) = gone(broken, status(broken));
        assert_eq!((exit, &report["lines"][0]["outcome"]), (1, &json!("broken")));
    }
    let (exit, report) = gone(Status::NotMeasured, status(Status::NotMeasured));
    assert_eq!((exit, &report["lines"][0]["outcome"]), (0, &json!("not-comparable")));
    assert_eq!(report["lines"][0]["reason"], "not measured in the new run: because");
    let (exit, report) = two(vec![times(10.0), bytes(1)], vec![bytes(1)], same).json(&[]);
    assert_eq!((exit, &report["summary"]["gone"], &report["summary"]["equal"]), (0, &json!(1), &json!(1)));
}

#[test]
fn an_incomplete_run_compares_what_it_has_and_says_so() {
    let stopped = |_: &mut RunFile, new: &mut RunFile| new.run.complete = false;
    let compared = two(vec![bytes(161), times(10.0)], vec![bytes(162)], stopped);
    let (status, table) = compared.with(&[]);
    assert_eq!(status, 1);
    assert!(table.contains("20260102T000000Z-222222222222 is incomplete"), "{table}");
    assert!(table.contains("1 worse") && table.contains("1 gone"), "{table}");
}

#[test]
fn filters_take_words_and_leave_verdicts_as_they_were() {
    let figures = |at: f64| vec![bytes(161), times(at), instructions(1, 50.0), instructions(1024, 50.0)];
    let mut moved = figures(20.0);
    moved[2] = instructions(1, 60.0);
    let compared = two(figures(10.0), moved, same);
    let (_, whole) = compared.json(&[]);
    let (status, part) = compared.json(&["--only", "read time"]);
    assert_eq!((status, part["lines"].as_array().unwrap().len()), (0, 1));
    let line = whole["lines"].as_array().unwrap().iter().find(|line| line["metric"] == "time").unwrap();
    assert_eq!(&part["lines"][0], line);
    let (_, part) = compared.json(&["--skip", "instructions,wire-bytes"]);
    assert_eq!(part["lines"].as_array().unwrap().len(), 1);
    let (status, _, error) = compare(compared.folder.path(), &["--results", ".", "1111", "2222", "--only", "nonsense"]);
    assert_eq!((status, error.as_str()), (2, "votebench: --only: no figure has the words `nonsense`\n"));
}

/// A session of both sides: four layouts, processes in the order A, B, B, A. `centre` gives the new side's time by layout.
fn session(centre: impl Fn(u64) -> f64, order: impl Fn(u64, u64) -> u64, more: &[(f64, f64)]) -> (i32, Value) {
    let folder = tempfile::tempdir().unwrap();
    for (side, name) in ["old", "new"].iter().enumerate() {
        let place = folder.path().join(name);
        for layout in 0..4_u64 {
            let mut one = run(u8::try_from(1 + layout).unwrap());
            one.measurements = vec![times(if side == 0 { 10.0 } else { centre(layout) })];
            // 15 processes in each of the four layouts; each takes two places in the order of all 120.
            let turns: Vec<u64> = (0..15).map(|process| 1_000_000 + order(4 * process + layout, side as u64)).collect();
            let settings = [("session", json!("s")), ("layout_bytes", json!(16 * layout)), ("turns_ms", json!(turns))];
            one.settings.extend(settings.map(|(name, value)| (name.to_owned(), value)));
            save(&place, &one);
        }
        if let [batch_1, batch_1024] = more {
            let mut counts = run(9);
            let of = |pair: &(f64, f64)| if side == 0 { pair.0 } else { pair.1 };
            counts.measurements = vec![instructions(1, of(batch_1)), instructions(1024, of(batch_1024))];
            save(&place, &counts);
        }
    }
    let (status, out, errors) = compare(folder.path(), &["old", "new", "--json", "--only", "time"]);
    assert_eq!(errors, "");
    let report: Value = serde_json::from_str(&out).unwrap();
    schema().validate(&report).unwrap();
    assert_eq!(report["lines"].as_array().unwrap().len(), 1);
    (status, report["lines"][0].clone())
}

/// A, B, B, A: every other pair of places the other way round.
fn abba(pair: u64, side: u64) -> u64 {
    2 * pair + if pair.is_multiple_of(2) { side } else { 1 - side }
}

#[test]
fn interleaved_rates_fail() {
    let (status, line) = session(|_| 10.4, abba, &[]);
    assert_eq!((status, &line["outcome"], &line["basis"]), (1, &json!("worse"), &json!("interleaved")), "{line:#}");
    assert_eq!((line["layouts"].as_array().unwrap().len(), &line["processes"]), (4, &json!(60)));
    let (status, line) = session(|_| 9.6, abba, &[]);
    assert_eq!((status, &line["outcome"]), (0, &json!("better")));
    let (status, line) = session(|_| 10.0, abba, &[]);
    assert_eq!((status, &line["outcome"]), (0, &json!("same")));
}

#[test]
fn a_session_must_have_taken_turns() {
    // All of the old side's processes before all of the new side's: the name of a session alone proves nothing.
    let (status, line) = session(|_| 10.4, |pair, side| pair + 1_000 * side, &[]);
    assert_eq!((status, &line["outcome"], &line["basis"]), (0, &json!("worse"), &json!("indicative")), "{line:#}");
}

#[test]
fn a_rate_that_moved_with_the_layout_alone_is_suspect() {
    // In one layout of four the change is the other way round.
    let (status, line) = session(|layout| if layout == 2 { 9.9 } else { 10.6 }, abba, &[]);
    assert_eq!((status, &line["outcome"]), (0, &json!("layout-suspect")), "{line:#}");
    // The same way in all four, but the instructions stand still.
    let (status, line) = session(|_| 10.4, abba, &[(50.0, 50.0), (49.0, 49.0)]);
    assert_eq!((status, &line["outcome"]), (0, &json!("layout-suspect")), "{line:#}");
    assert!(line["reason"].as_str().unwrap().contains("instructions did not move"), "{line:#}");
    // They have moved, too.
    let (status, line) = session(|_| 10.4, abba, &[(50.0, 52.0), (49.0, 51.0)]);
    assert_eq!((status, &line["outcome"]), (1, &json!("worse")), "{line:#}");
}

#[test]
fn more_than_two_runs_show_where_a_figure_changed() {
    let folder = tempfile::tempdir().unwrap();
    for (day, time, size) in [(1, 10.0, 161), (2, 10.0, 161), (3, 13.0, 161), (4, 13.0, 165)] {
        let mut run = run(day);
        run.measurements = vec![times(time), bytes(size)];
        save(folder.path(), &run);
    }
    let sides = ["111111111111", "222222222222", "333333333333", "444444444444"];
    let (status, out, _) = compare(folder.path(), &[&["--results", ".", "--json"], &sides[..]].concat());
    let report: Value = serde_json::from_str(&out).unwrap();
    schema().validate(&report).unwrap();
    assert_eq!(status, 1, "the bytes are more than at first");
    let changes: Vec<_> = report["trends"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trend| (trend["metric"].as_str().unwrap(), trend["changes"][0]["commit"].as_str().unwrap()))
        .collect();
    assert_eq!(changes, [("time", "333333333333"), ("wire-bytes", "444444444444")]);
    assert_eq!(report["trends"][1]["values"], json!([161.0, 161.0, 161.0, 165.0]));
    assert!(report["trends"].as_array().unwrap().iter().all(|trend| trend["changes"].as_array().unwrap().len() == 1));
    let (_, table, _) = compare(folder.path(), &[&["--results", "."], &sides[..]].concat());
    assert!(table.contains("333333333333 worse +30.0 % (indicative)") && table.contains("161 -> 161 -> 161 -> 165"));
}

#[test]
fn bad_input_is_one_clear_sentence_each() {
    let folder = tempfile::tempdir().unwrap();
    let good = include_str!("../schemas/results.v1.example.json");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("good.json", good);
    let twice = {
        let line = good.lines().find(|line| line.contains("wire-bytes")).unwrap();
        good.replace(line, &format!("{line}\n{line}"))
    };
    let cases = [
        ("truncated.json", good[..good.len() / 2].to_owned(), "is cut off in line 9"),
        ("empty.json", String::new(), "is cut off in line 1"),
        ("version.json", good.replace("results.v1", "results.v7"), "has the schema votebench.results.v7"),
        ("tool.json", r#"{"benchmarks": []}"#.to_owned(), "is not a results file of votebench: it names no schema"),
        ("list.json", "[1, 2]".to_owned(), "is not a results file of votebench"),
        ("nan.json", good.replace("\"value\": 4.1", "\"value\": NaN"), "line 8 holds a number that is not finite"),
        ("twice.json", twice, "serialization zap wire-bytes stands in it twice"),
        ("text.json", "good day".to_owned(), "is not JSON"),
    ];
    for (name, text, sentence) in cases {
        write(name, &text);
        for order in [["good.json", name], [name, "good.json"]] {
            let (status, out, errors) = compare(folder.path(), &order);
            assert_eq!((status, out.as_str(), errors.lines().count()), (2, "", 1), "{name}: {errors}");
            assert!(
                errors.starts_with("votebench: ") && errors.contains(name) && errors.contains(sentence),
                "{errors}"
            );
        }
    }
    let missing = [
        (["good.json", "nowhere/at-all"], "nowhere/at-all: there is no such file or folder"),
        (["good.json", "abcdef012345"], "abcdef012345: no run of this commit lies under results"),
        (["good.json", "."], ".: the folder has no results.json"),
    ];
    for (sides, sentence) in missing {
        let (status, _, errors) = compare(folder.path(), &sides);
        assert!(status == 2 && errors.contains(sentence) && errors.lines().count() == 1, "{errors}");
    }
    assert_eq!(compare(folder.path(), &["good.json"]).0, 2, "one side is none to compare");
    assert_eq!(compare(folder.path(), &["good.json", "good.json"]).0, 0);
}

#[test]
fn a_commit_is_all_of_its_runs_and_its_beginning_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for (day, at) in [(1, 10.0), (2, 12.0)] {
        let mut rates = run(day);
        rates.measurements = vec![times(at)];
        save(folder.path(), &rates);
        let mut counts = run(day);
        counts.run.id += "-2";
        counts.measurements = vec![instructions(1, at), instructions(1024, at)];
        save(folder.path(), &counts);
    }
    let (status, out, errors) = compare(folder.path(), &["--results", ".", "1111", "222222222222ffff", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &report["summary"]["worse"], errors.as_str()), (1, &json!(3), ""), "{report:#}");
    let mut other = run(1);
    other.run.id = "20260109T000000Z-111122223333".to_owned();
    save(folder.path(), &other);
    let (status, _, errors) = compare(folder.path(), &["--results", ".", "1111", "2222"]);
    assert!(status == 2 && errors.contains("several commits begin like that: 111111111111, 111122223333"), "{errors}");
}

/// The committed runs: same machine or not, all of them must be readable and comparable with themselves.
#[test]
fn the_committed_runs_compare() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let mut seen = 0;
    for entry in fs::read_dir(results).unwrap() {
        let path = entry.unwrap().path();
        if !path.join("results.json").is_file() {
            continue;
        }
        let path = path.to_string_lossy().into_owned();
        let (status, out, errors) = compare(Path::new("."), &[&path, &path, "--json"]);
        assert_eq!((status, errors.as_str()), (0, ""), "{path}");
        let report: Value = serde_json::from_str(&out).unwrap();
        schema().validate(&report).unwrap();
        let summary = &report["summary"];
        assert_eq!(
            (&summary["worse"], &summary["better"], &summary["fails"]),
            (&json!(0), &json!(0), &json!(0)),
            "{path}"
        );
        seen += 1;
    }
    assert!(seen > 0, "no run is committed");
}
