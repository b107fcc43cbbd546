//! A run's tables on a terminal: aligned, with units, yardsticks apart.

use comfy_table::{Cell, CellAlignment, Table as Grid, presets};

use super::table::Table;
use super::{
    http as http_tables, instructions, latency as latency_tables, serialization, sustained as sustained_tables,
};
use crate::result::RunFile;

/// The serialization suite's tables, with what they were measured on above them.
#[must_use]
pub fn serialization(run: &RunFile) -> String {
    let mut parts = vec![serialization::provenance(run)];
    parts.extend(serialization::tables(run).iter().map(grid));
    parts.join("\n\n")
}

/// The latency suite's tables, with what they were measured on above them.
#[must_use]
pub fn latency(run: &RunFile) -> String {
    let mut parts = vec![latency_tables::provenance(run)];
    parts.extend(latency_tables::tables(run).iter().map(grid));
    parts.join("\n\n")
}

/// The sustained suite's tables, with what they were measured on above them.
#[must_use]
pub fn sustained(run: &RunFile) -> String {
    let mut parts = vec![sustained_tables::provenance(run)];
    parts.extend(sustained_tables::tables(run).iter().map(grid));
    parts.join("\n\n")
}

/// The HTTP study's tables, with what they were measured on above them.
#[must_use]
pub fn http(run: &RunFile) -> String {
    let mut parts = vec![http_tables::provenance(run)];
    parts.extend(http_tables::tables(run).iter().map(grid));
    parts.join("\n\n")
}

/// Every table that the run has figures for.
#[must_use]
pub fn run(run: &RunFile) -> String {
    let mut parts = Vec::new();
    if instructions::is_in(run) {
        parts.extend([instructions::provenance(run), grid(&instructions::table(run))]);
    }
    if latency_tables::is_in(run) {
        parts.push(latency(run));
    }
    if sustained_tables::is_in(run) {
        parts.push(sustained(run));
    }
    if http_tables::is_in(run) {
        parts.push(http(run));
    }
    // A run without any figure still says which it is.
    if parts.is_empty() || serialization::is_in(run) {
        parts.push(serialization(run));
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
