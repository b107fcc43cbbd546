//! Plots of runs: figures that know what they show, of which run, and the table of their data. Owns the list of plots, one file
//! each; the charts that they fill are beside them.
//!
//! | module | owns |
//! | --- | --- |
//! | [`svg`] | the frame: inlined or a file, sizes, texts |
//! | [`scale`] | scales and ticks |
//! | [`marks`] | shapes, legends, and the marks of what is not valid as it stands |
//! | [`palette`] | colours, dashes and shapes of protocols |
//! | [`rows`] | bars, stacks, intervals and points in labelled rows |
//! | [`curves`] | curves in one frame |
//! | [`panels`] | small panels with the same scales |
//! | [`matrix`] | cells, rows by columns |
//!
//! A plot is a file with `figures`, which gives what it makes of the runs, and nothing for a run that has no figures for it; and a
//! line in the list below. Drawing is a pure function: the same runs give the same bytes.

pub mod curves;
pub mod marks;
pub mod matrix;
pub mod palette;
pub mod panels;
pub mod percentiles;
pub mod rows;
pub mod scale;
pub mod svg;

use svg::Chart;

use super::table::{Group, Table};
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

/// Declares the plots' modules and lists them.
macro_rules! plots {
    ($($plot:ident)+) => {
        $(mod $plot;)+
        /// All plots, in the order in which they stand in a report.
        const ALL: &[fn(&[Loaded]) -> Vec<Figure>] = &[$($plot::figures),+];
    };
}

plots! {
    codec_time
    encoded_bytes
    codec_allocations
    instructions
    round_trip
    round_trip_curve
    codec_by_transport
    ledger
    both_sides
    response
    response_curve
    over_time
    rates
    capacity
    connections
    http_rates
    http_allocations
}

/// A figure.
pub struct Figure {
    /// What it is called where it is referred to, and as a file: words with hyphens.
    pub name: String,
    /// The suite in whose section it stands.
    pub suite: &'static str,
    /// The run under which it stands.
    pub run: String,
    /// What it shows.
    pub title: String,
    /// The unit, and which direction is the good one: `ns a message; less is better`.
    pub unit: &'static str,
    /// How to read it.
    pub caption: String,
    /// Which run its data are from, and of which commit.
    pub source: String,
    /// What has to be said of single rows: why they are marked or missing.
    pub notes: Vec<String>,
    /// Its data.
    pub table: Table,
    /// Whether README.md shows it.
    pub in_readme: bool,
    /// How it is drawn.
    pub chart: Box<dyn Chart>,
}

impl Figure {
    /// One line: unit and source.
    #[must_use]
    pub fn subtitle(&self) -> String {
        format!("{}. {}", self.unit, self.source)
    }
}

/// Which run it is, and of which commit.
fn source(run: &RunFile) -> String {
    format!("Run {}, commit {}.", run.run.id, run.source.commit)
}

/// All figures of the runs that have data. Where two runs have one of the same name, the later ones get a number.
#[must_use]
pub fn of(runs: &[Loaded]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = ALL.iter().flat_map(|plot| plot(runs)).collect();
    figures.retain(|figure| figure.table.filled().next().is_some());
    let mut taken: Vec<String> = Vec::new();
    for figure in &mut figures {
        let base = figure.name.clone();
        let mut number = 2;
        while taken.contains(&figure.name) {
            figure.name = format!("{base}-{number}");
            number += 1;
        }
        taken.push(figure.name.clone());
    }
    figures
}

/// The names in the first column of a table's groups, with the groups' titles.
fn names(groups: Vec<Group>) -> Vec<(&'static str, Vec<String>)> {
    let first = |rows: Vec<Vec<String>>| rows.into_iter().filter_map(|row| row.into_iter().next()).collect();
    groups.into_iter().map(|group| (group.title, first(group.rows))).collect()
}

/// What an interval is called: few processes do not reach 90 %.
fn interval_words<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> String {
    let levels = measurements.into_iter().filter_map(|m| m.interval_level);
    match levels.min_by(f64::total_cmp) {
        Some(level) if level < 0.9 => format!("{:.0} % interval, as few processes allow", 100.0 * level),
        _ => "90 % interval".to_owned(),
    }
}
