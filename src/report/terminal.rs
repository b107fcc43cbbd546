//! A run's tables on a terminal: aligned, with units, yardsticks apart.

use comfy_table::{Cell, CellAlignment, Table as Grid, presets};

use super::serialization::origin;
use super::suites;
use super::table::Table;
use crate::result::RunFile;

/// Every table that the run has figures for, suite by suite, what they were measured on above them.
#[must_use]
pub fn run(run: &RunFile) -> String {
    let mut parts = Vec::new();
    for suite in suites::ALL.iter().filter(|suite| (suite.is_in)(run)) {
        parts.push((suite.provenance)(run));
        parts.extend((suite.tables)(run).iter().map(grid));
    }
    if parts.is_empty() {
        // A run without any figure still says which it is.
        parts.push(origin(run));
    }
    parts.join("\n\n")
}

/// A table in columns.
#[must_use]
pub fn grid(table: &Table) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    grid.set_header(table.head.iter().enumerate().map(|(column, title)| cell(column, title)));
    for group in table.filled() {
        if !group.title.is_empty() {
            grid.add_row([format!("-- {}", group.title)]);
        }
        for row in &group.rows {
            grid.add_row(row.iter().enumerate().map(|(column, text)| cell(column, text)));
        }
    }
    let mut text = format!("{}\n{}", table.title.to_uppercase(), grid.trim_fmt());
    for note in &table.notes {
        text = format!("{text}\n{note}");
    }
    text
}

fn cell(column: usize, text: &str) -> Cell {
    let alignment = if column == 0 { CellAlignment::Left } else { CellAlignment::Right };
    Cell::new(text).set_alignment(alignment)
}
