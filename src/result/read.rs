//! Reading a results file, with one clear sentence for each defect. A run that was stopped is read like any other; that it
//! is incomplete stands in its `run.complete`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;

use super::check::check;
use super::error::ResultError;
use super::record::{RunFile, SCHEMA};

/// What all versions of the schema begin with.
const FAMILY: &str = "votebench.results.";

/// Reads a results file, or the one in a run's folder.
///
/// # Errors
/// Where the file cannot be read, is none of ours, or contradicts itself.
pub fn run(path: &Path) -> Result<RunFile, ResultError> {
    let path = if path.is_dir() { path.join("results.json") } else { path.to_owned() };
    let text = fs::read_to_string(&path).map_err(|cause| ResultError::Read { path: path.clone(), cause })?;
    parse(&text, &path)
}

/// Reads the text of a results file; `path` is only for the sentences.
///
/// # Errors
/// As [`run`].
pub fn parse(text: &str, path: &Path) -> Result<RunFile, ResultError> {
    let path = || path.to_owned();
    let run: RunFile = serde_json::from_str(text).map_err(|error| why(text, &error, path()))?;
    if run.schema != SCHEMA {
        return Err(other(Some(run.schema), path()));
    }
    check(&run).map_err(|defect| ResultError::Defect { path: path(), defect })?;
    Ok(run)
}

/// Why a text is no results file: not JSON at all, of another program, of another version, or of another shape.
fn why(text: &str, error: &serde_json::Error, path: PathBuf) -> ResultError {
    // A list would be taken for a structure without names.
    let head = if text.trim_start().starts_with('{') {
        serde_json::from_str(text)
    } else {
        serde_json::from_str(text).map(|IgnoredAny| Head { schema: None })
    };
    match head {
        Ok(Head { schema }) => match schema.and_then(|schema| schema.as_str().map(str::to_owned)) {
            Some(schema) if schema == SCHEMA => ResultError::Shape { path, reason: error.to_string() },
            schema => other(schema, path),
        },
        // JSON, but with two schemas: whoever wrote it, we did not.
        Err(error) if error.is_data() => ResultError::OtherTool { path, schema: None },
        Err(error) => syntax(text, &error, path),
    }
}

/// Whose file it is, where it is not of this schema.
fn other(schema: Option<String>, path: PathBuf) -> ResultError {
    match schema {
        Some(schema) if schema.starts_with(FAMILY) => ResultError::OtherVersion { path, schema },
        schema => ResultError::OtherTool { path, schema },
    }
}

/// What tells whose file it is. The rest is skipped, but its syntax is checked on the way.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

fn syntax(text: &str, error: &serde_json::Error, path: PathBuf) -> ResultError {
    let line = error.line();
    match error.classify() {
        Category::Eof => ResultError::Truncated { path, line },
        _ if is_no_number(text.lines().nth(line.saturating_sub(1)).unwrap_or_default(), error.column()) => {
            ResultError::NotFinite { path, line }
        }
        _ => ResultError::NotJson { path, reason: error.to_string() },
    }
}

/// Whether the word at `column` (from 1), where the parser stopped, is one that Python and JavaScript write for a number
/// that JSON does not have. The parser stops within the word: at its first letter, or where it is no longer `null`-like.
fn is_no_number(line: &str, column: usize) -> bool {
    let bytes = line.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphabetic();
    let at = column.saturating_sub(1).min(bytes.len());
    // A minus sign is read first: the letter behind it is the one at fault.
    let start = at - bytes[..at].iter().rev().take_while(|byte| is_word(byte)).count();
    let end = at + bytes[at..].iter().take_while(|byte| is_word(byte)).count();
    matches!(&line.get(start..end), Some("NaN" | "nan" | "Infinity" | "inf" | "Inf"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::error::Defect;

    const EXAMPLE: &str = include_str!("../../schemas/results.v1.example.json");

    fn read(text: &str) -> Result<RunFile, ResultError> {
        parse(text, Path::new("r.json"))
    }

    #[test]
    fn the_example_comes_back_as_it_is() {
        let run = read(EXAMPLE).unwrap();
        assert_eq!(run.measurements.len(), 6);
        let again: serde_json::Value = serde_json::to_value(&run).unwrap();
        assert_eq!(again, serde_json::from_str::<serde_json::Value>(EXAMPLE).unwrap());
    }

    #[test]
    fn each_defect_has_its_sentence() {
        let broken = |from: &str, to: &str| read(&EXAMPLE.replacen(from, to, 1)).unwrap_err();
        assert!(matches!(read(""), Err(ResultError::Truncated { line: _, .. })));
        assert!(matches!(read(&EXAMPLE[..EXAMPLE.len() / 2]), Err(ResultError::Truncated { .. })));
        assert!(matches!(broken("\"value\": 4.1", "\"value\": NaN"), ResultError::NotFinite { .. }));
        for word in ["nan", "Infinity", "-Infinity", "inf", "-inf"] {
            let defect = broken("\"value\": 4.1", &format!("\"value\": {word}"));
            assert!(matches!(defect, ResultError::NotFinite { line: 8, .. }), "{word}: {defect}");
        }
        // A line that merely says "information" somewhere is not one with an infinite number.
        let defect = broken("\"value\": 4.1", "\"reason\": \"NaN, inf\", \"value\": oops");
        assert!(matches!(defect, ResultError::NotJson { .. }), "{defect}");
        assert!(matches!(broken("results.v1", "results.v2"), ResultError::OtherVersion { .. }));
        assert!(matches!(broken("votebench.results.v1", "criterion"), ResultError::OtherTool { .. }));
        assert!(matches!(broken("\"cores\": 2", "\"cores\": \"two\""), ResultError::Shape { .. }));
        assert!(matches!(broken("{", "["), ResultError::NotJson { .. }));
        let defect = broken("\"metric\": \"allocations\"", "\"row\": \"chained\", \"metric\": \"time\"");
        let ResultError::Defect { defect: Defect::Duplicate(name), .. } = &defect else { panic!("{defect}") };
        assert_eq!(name, "serialization zap encode chained time");
        assert_eq!(defect.to_string(), "r.json: serialization zap encode chained time stands in it twice");
        let defect = broken(
            "\"status\": \"failed\", \"reason\": \"server closed the connection after 812 messages\"",
            "\"status\": \"failed\"",
        );
        assert!(matches!(defect, ResultError::Defect { defect: Defect::NoReason(_), .. }), "{defect}");
        let defect = broken("\"value\": 161, ", "");
        assert!(matches!(defect, ResultError::Defect { defect: Defect::NoValue(_), .. }), "{defect}");
    }
}
