//! The suites that a run can have figures of, in the order in which people read them. Owns the list that terminal, README and
//! the HTML report share; what stands in a suite's tables is its own file's.

use super::table::Table;
use super::{capacity, http, instructions, latency, serialization, sustained};
use crate::result::RunFile;

/// A suite.
#[derive(Debug, Clone, Copy)]
pub struct Suite {
    /// Its name: of its block in README.md, and of its section in the HTML report.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Whether a run has something of it.
    pub is_in: fn(&RunFile) -> bool,
    /// Which run, build and machine its figures are from, and whether the machine was fit.
    pub provenance: fn(&RunFile) -> String,
    /// Its tables.
    pub tables: fn(&RunFile) -> Vec<Table>,
    /// Its block of a Markdown file.
    pub markdown: fn(&RunFile) -> String,
}

/// All of them.
pub const ALL: [Suite; 6] = [
    Suite {
        name: "serialization",
        title: "Codecs: what encoding and reading a vote takes",
        is_in: serialization::is_in,
        provenance: serialization::provenance,
        tables: serialization::tables,
        markdown: serialization::markdown,
    },
    Suite {
        name: "instructions",
        title: "Instructions: what no busy machine can disturb",
        is_in: instructions::is_in,
        provenance: instructions::provenance,
        tables: |run| vec![instructions::table(run)],
        markdown: instructions::markdown,
    },
    Suite {
        name: "latency",
        title: "Round trips: one vote in flight",
        is_in: latency::is_in,
        provenance: latency::provenance,
        tables: latency::tables,
        markdown: latency::markdown,
    },
    Suite {
        name: "sustained",
        title: "Under load: response times at a steady rate",
        is_in: sustained::is_in,
        provenance: sustained::provenance,
        tables: sustained::tables,
        markdown: sustained::markdown,
    },
    Suite {
        name: "capacity",
        title: "Capacity: the highest rate that is held",
        is_in: capacity::is_in,
        provenance: capacity::provenance,
        tables: capacity::tables,
        markdown: capacity::markdown,
    },
    Suite {
        name: "http",
        title: "The HTTP study",
        is_in: http::is_in,
        provenance: http::provenance,
        tables: http::tables,
        markdown: http::markdown,
    },
];
