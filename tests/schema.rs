//! The JSON schema of results files: that the committed one is what the records say, and that it tells good from bad.
//!
//! After a change of the records: `VOTEBENCH_WRITE_SCHEMA=1 cargo test --test schema`.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use votebench::result::record::RunFile;

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "schemas", name].iter().collect()
}

fn json_of(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(file(name)).unwrap()).unwrap()
}

fn example() -> Value {
    json_of("results.v1.example.json")
}

fn schema() -> jsonschema::Validator {
    jsonschema::validator_for(&json_of("results.v1.schema.json")).unwrap()
}

#[test]
fn the_committed_schema_is_derived_from_the_records() {
    let derived = serde_json::to_string_pretty(&schemars::schema_for!(RunFile)).unwrap() + "\n";
    let path = file("results.v1.schema.json");
    if std::env::var_os("VOTEBENCH_WRITE_SCHEMA").is_some() {
        fs::write(&path, &derived).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap();
    assert!(committed == derived, "{} is stale: see this file's head", path.display());
}

#[test]
fn the_example_fits_and_comes_back_as_it_is() {
    let example = example();
    schema().validate(&example).unwrap();
    let run: RunFile = serde_json::from_value(example.clone()).unwrap();
    assert_eq!(serde_json::to_value(run).unwrap(), example);
}

#[test]
fn what_is_broken_does_not_fit() {
    let schema = schema();
    type Damage<'a> = (&'a str, &'a dyn Fn(&mut Value));
    let breaks: [Damage<'_>; 8] = [
        ("another schema", &|run| run["schema"] = json!("votebench.results.v2")),
        ("no machine", &|run| drop(run.as_object_mut().unwrap().remove("machine"))),
        ("a number as text", &|run| run["machine"]["cores"] = json!("two")),
        ("a kind that there is not", &|run| run["measurements"][0]["kind"] = json!("guess")),
        ("null for a time", &|run| run["measurements"][0]["processes"][0][0] = Value::Null),
        ("ok without a value", &|run| drop(run["measurements"][0].as_object_mut().unwrap().remove("value"))),
        ("failed without a reason", &|run| drop(run["measurements"][5].as_object_mut().unwrap().remove("reason"))),
        ("a negative count", &|run| run["measurements"][1]["window"] = json!(-1)),
    ];
    for (what, damage) in breaks {
        let mut run = example();
        damage(&mut run);
        assert!(!schema.is_valid(&run), "{what} passes");
    }
}

/// Every results file that is committed, however old.
#[test]
fn committed_results_fit() {
    let schema = schema();
    let results = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("results");
    let folders = fs::read_dir(results).into_iter().flatten().map(|entry| entry.unwrap().path());
    for path in folders.map(|folder| folder.join("results.json")).filter(|path| path.is_file()) {
        let run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        if let Err(error) = schema.validate(&run) {
            panic!("{}: {error}", path.display());
        }
        votebench::result::read::run(&path).unwrap();
    }
}

/// After a change of the claims' records: `VOTEBENCH_WRITE_SCHEMA=1 cargo test --test schema`.
#[test]
fn the_committed_schema_of_claims_is_derived_from_their_records() {
    let derived =
        serde_json::to_string_pretty(&schemars::schema_for!(votebench::claims::record::Report)).unwrap() + "\n";
    let path = file("claims.v1.schema.json");
    if std::env::var_os("VOTEBENCH_WRITE_SCHEMA").is_some() {
        fs::write(&path, &derived).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == derived, "{} is stale: see this test's head", path.display());
}

/// After a change of a comparison's records: `VOTEBENCH_WRITE_SCHEMA=1 cargo test --test schema`.
#[test]
fn the_committed_schema_of_comparisons_is_derived_from_their_records() {
    let derived =
        serde_json::to_string_pretty(&schemars::schema_for!(votebench::compare::record::Report)).unwrap() + "\n";
    let path = file("compare.v1.schema.json");
    if std::env::var_os("VOTEBENCH_WRITE_SCHEMA").is_some() {
        fs::write(&path, &derived).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == derived, "{} is stale: see this test's head", path.display());
}
