//! Reading the golden files of `tests/golden/zap/`.

use serde_json::Value;

/// The cases of one golden file.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/zap").join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_else(|| panic!("{key} is no text in {case}"))
}

/// A number, which 64-bit ones are as text.
pub(crate) fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(value: &Value) -> T {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).parse().unwrap()
}
