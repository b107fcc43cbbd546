//! The walls between the modules, and the sizes of files: what `lib.rs` and `CONTRIBUTING.md` promise, checked.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// Who may know whom: a module, and the modules of this crate that it may name.
const WALLS: [(&str, &[&str]); 14] = [
    ("vote", &[]),
    ("stats", &[]),
    ("zap", &[]),
    ("schema", &["zap"]),
    ("codec", &["vote", "zap", "schema"]),
    ("result", &["stats"]),
    ("report", &["result", "stats", "claims"]),
    ("compare", &["result", "stats"]),
    ("claims", &["result", "stats", "compare"]),
    ("transport", &["vote", "codec", "schema"]),
    ("protocol", &["codec", "transport"]),
    ("measure", &["vote", "codec", "transport", "protocol", "result", "stats"]),
    ("http", &["zap", "measure"]),
    ("cli", &["cmd"]),
];

/// Lines that a file may have at most.
const LINES: usize = 450;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // `zap_types` holds what the ZAP compiler wrote of every type there is, kept as a test of it.
            if !["generated", "zap_types"].iter().any(|name| path.ends_with(name)) {
                found.extend(sources(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The modules of this crate that a line of code names by a path from the crate's root.
fn named(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` in a macro, and `my_crate::`, are other things.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let group = rest.strip_prefix('{').map(|rest| rest.split('}').next().unwrap_or(rest));
        let heads: Vec<&str> = group.map_or_else(|| vec![rest], |group| group.split(',').collect());
        for head in heads {
            let name: String = head.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            names.push(name);
        }
    }
    names
}

#[test]
fn modules_know_only_whom_they_may() {
    let mut seen = 0;
    for (module, allowed) in WALLS {
        let folder = root().join("src").join(module);
        let file = root().join("src").join(format!("{module}.rs"));
        let mut files = if folder.is_dir() { sources(&folder) } else { Vec::new() };
        files.extend(file.is_file().then_some(file));
        assert!(!files.is_empty(), "src/{module} is gone: mend the walls");
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            for (number, line) in text.lines().enumerate() {
                for name in named(line) {
                    seen += 1;
                    let fine = name == module || allowed.contains(&name.as_str());
                    assert!(fine, "{}:{}: {module} may not know {name}", path.display(), number + 1);
                }
            }
        }
    }
    assert!(seen > 20, "only {seen} paths were seen: this test has gone blind");
}

#[test]
fn the_wall_sees_what_it_should() {
    assert_eq!(named("use crate::vote::Vote;"), ["vote"]);
    assert_eq!(named("use crate::{codec, vote::Vote};"), ["codec", "vote"]);
    assert_eq!(named("    let x = crate::stats::median(&y); // crate::zap"), ["stats"]);
    assert!(named("use my_crate::vote;").is_empty());
}

#[test]
fn measure_knows_neither_clap_nor_a_concrete_codec() {
    for path in sources(&root().join("src/measure")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("clap"), "{}: the command line belongs in cmd", path.display());
    }
}

#[test]
fn files_own_one_thing_and_say_so() {
    for folder in ["src", "benches", "tests"] {
        for path in sources(&root().join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("//!"), "{}: the first line says what the file owns", path.display());
            let lines = text.lines().count();
            assert!(lines <= LINES, "{} has {lines} lines, {LINES} is the limit", path.display());
        }
    }
}

#[test]
fn every_codec_has_been_fuzzed_as_long_as_methodology_says() {
    let table = fs::read_to_string(root().join("fuzz/executions.tsv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("target\texecutions\tfindings"));
    let runs: std::collections::HashMap<&str, (u64, u64)> = lines
        .map(|line| {
            let cells: Vec<_> = line.split('\t').collect();
            (cells[0], (cells[1].parse().unwrap(), cells[2].parse().unwrap()))
        })
        .collect();
    // A variant that is read as its row is has no reading of its own to be fuzzed.
    let reads = |info: &votebench::codec::Info| info.lacks(votebench::codec::Model::Own).is_none();
    let infos = votebench::codec::all().into_iter().map(|codec| codec.info()).filter(|info| reads(info));
    let codecs = infos.map(|info| format!("codec_{}", info.name.replace('-', "_")));
    for target in codecs.chain(["zap_reader".to_owned(), "zap_schema".to_owned()]) {
        let (executions, findings) = runs.get(target.as_str()).copied().unwrap_or_default();
        assert!(executions >= 10_000_000 && findings == 0, "{target}: {executions} executions, {findings} findings");
    }
}
