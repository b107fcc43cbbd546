//! The command line of ZAP: `inspect` on the reference's hostile messages, and `zapc`.

#![expect(clippy::unwrap_used, reason = "a test that panics fails, as it should")]

mod golden_support;
use golden_support::{cases, number, text};

use assert_cmd::Command;
use serde_json::{Value, json};

fn votebench(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("votebench").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments);
    command
}

/// What `inspect` says of a case of `hostile.json`.
fn expected(case: &Value) -> Value {
    if text(case, "parse") != "ok" {
        return json!({ "parse": case["parse"] });
    }
    let hex = |key: &str| case.get(key).map(|hex| format!("0x{}", hex.as_str().unwrap()));
    let bytes = const_hex::decode(text(case, "bytes")).unwrap();
    json!({
        "parse": "ok",
        "version": case["version"],
        "flags": case.get("flags").unwrap_or(&json!(0)),
        "size": case["size"],
        "root_offset": u32::from_le_bytes(bytes[8..12].try_into().unwrap()),
        "fields": {
            "round": case["round"],
            "block_hash": hex("block_hash"),
            "voter_id": hex("voter_id"),
            "signature": hex("signature"),
            "timestamp": case["timestamp"],
            "vote_type": number::<u8>(&case["vote_type"]),
        },
        "at_0": {
            "bytes": hex("bytes_slot_at_0"),
            "list_len": case["list_len_at_0"],
            "object_is_null": case["object_at_0_is_null"],
        },
    })
}

#[test]
fn inspect_shows_what_the_reference_saw() {
    let cases = cases("hostile.json");
    let lines: String = cases.iter().map(|case| format!("{}\n", text(case, "bytes"))).collect();
    let output = votebench(&["inspect"]).write_stdin(lines).assert().code(0).get_output().stdout.clone();
    let output = String::from_utf8(output).unwrap();
    assert_eq!(output.lines().count(), cases.len());
    for (line, case) in output.lines().zip(&cases) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line, expected(case), "{}", text(case, "name"));
    }
}

#[test]
fn inspect_says_which_line_is_no_hex_and_goes_on() {
    let output = votebench(&["inspect"]).write_stdin("5g\n0X5A\n").assert().code(2).get_output().stdout.clone();
    let output = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines[0].starts_with(r#"{"error":{"kind":"invalid-hex","message":""#));
    assert_eq!(lines[1..], [r#"{"parse":"buffer-too-small"}"#]);
}

#[test]
fn zapc_writes_to_stdout_or_a_file() {
    let committed = std::fs::read("src/schema/generated/vote_zap.rs").unwrap();
    for out in [&["zapc", "schemas/vote.zap"][..], &["zapc", "schemas/vote.zap", "--out", "-"]] {
        assert!(votebench(out).assert().code(0).get_output().stdout == committed);
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("vote.rs");
    votebench(&["zapc", "schemas/vote.zap", "--out", file.to_str().unwrap()]).assert().code(0).stdout("").stderr("");
    assert!(std::fs::read(file).unwrap() == committed);
}

#[test]
fn zapc_refuses_in_one_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bad.zap");
    let path = file.to_str().unwrap();
    for (text, complaint) in [
        (
            &b"package p\nstruct S {\n    a u65 @0\n}"[..],
            "3: expected a type, found `u65`, which is neither built in nor declared",
        ),
        (b"package p\n\xff", "2: expected UTF-8, found bytes that are not"),
    ] {
        std::fs::write(&file, text).unwrap();
        let out = directory.path().join("out.rs");
        let arguments = ["zapc", path, "--out", out.to_str().unwrap()];
        votebench(&arguments).assert().code(2).stdout("").stderr(format!("votebench: {path}:{complaint}\n"));
        assert!(!out.exists());
    }
    let output = votebench(&["zapc", "no/such.zap"]).assert().code(2).stdout("").get_output().stderr.clone();
    let complaint = String::from_utf8(output).unwrap();
    assert!(
        complaint.starts_with("votebench: cannot read no/such.zap: ") && complaint.lines().count() == 1,
        "{complaint}"
    );
    votebench(&["zapc", "schemas/vote.zap", "--out", "no/such/out.rs"]).assert().code(3);
}

#[test]
fn zapc_never_writes_over_its_schema_and_replaces_its_output_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, link, out) = (folder.path().join("a.zap"), folder.path().join("b.zap"), folder.path().join("a.rs"));
    std::fs::copy("schemas/vote.zap", &schema).unwrap();
    std::os::unix::fs::symlink(&schema, &link).unwrap();
    let run =
        |out: &std::path::Path| votebench(&["zapc", schema.to_str().unwrap(), "--out", out.to_str().unwrap()]).assert();
    for same in [&schema, &link] {
        run(same).code(2);
    }
    assert_eq!(std::fs::read(&schema).unwrap(), std::fs::read("schemas/vote.zap").unwrap());
    run(&out).code(0);
    let written = std::fs::read_to_string(&out).unwrap();
    assert!(written.contains("pub struct Vote"));
    run(std::path::Path::new("/dev/full")).code(3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing half-written is left");
}
