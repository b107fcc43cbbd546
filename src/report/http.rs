//! The tables of the HTTP study.
use super::table::Table;
use crate::result::RunFile;
/// Whether the run has figures of this suite.
#[must_use]
pub fn is_in(run: &RunFile) -> bool {
    run.measurements.iter().any(|m| m.suite == "http")
}
/// p
#[must_use]
pub fn provenance(_: &RunFile) -> String {
    String::new()
}
/// t
#[must_use]
pub fn tables(_: &RunFile) -> Vec<Table> {
    Vec::new()
}
/// m
#[must_use]
pub fn markdown(_: &RunFile) -> String {
    String::new()
}
