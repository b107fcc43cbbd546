//! The HTTP study's requests a second: a bar for each arm, workload by workload, one figure for each window.

use super::marks::{Fill, Key, Swatch, caveat, notes};
use super::rows::{Group, Mark, Row, Rows};
use super::scale::{Scale, short};
use super::{Figure, interval_words, source};
use crate::report::http::{self, WINDOWS, arms, find, is_row, of_suite, workloads};
use crate::report::table::figure;
use crate::result::record::{Class, Measurement};
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| WINDOWS.map(|(row, wait, what)| of_window(&run.run, (row, wait), what));
    runs.iter().flat_map(of_run).flatten().collect()
}

/// Requests a second of a time in nanoseconds.
fn rate(ns: f64) -> f64 {
    1e9 / ns
}

fn of_window(run: &RunFile, (row, wait): (&str, &str), what: &str) -> Option<Figure> {
    let of = |arm: &str, workload: &str| find(run, arm, workload, "time", None, Some((row, wait)));
    let all = || of_suite(run).filter(|m| m.metric == "time" && is_row(m, row, wait));
    let ends = all().flat_map(|m| [m.number().map(rate), m.interval.map(|[low, _]| rate(low))]).flatten();
    let ends: Vec<f64> = ends.filter(|rate| rate.is_finite()).collect();
    if ends.is_empty() || arms(run).is_empty() {
        return None;
    }
    let group = |workload: &str| {
        let mut found: Vec<&Measurement> = arms(run).into_iter().filter_map(|arm| of(arm, workload)).collect();
        let time = |m: &Measurement| m.number().unwrap_or(f64::INFINITY);
        found.sort_by(|one, other| time(one).total_cmp(&time(other)).then_with(|| one.protocol.cmp(&other.protocol)));
        Group { title: workload.to_owned(), rows: found.iter().map(|m| draw(m, run)).collect() }
    };
    let chart = Rows {
        groups: workloads(run).into_iter().map(group).collect(),
        scale: Scale::from_zero(ends),
        tick: short,
        unit: "requests a second",
        references: Vec::new(),
        keys: vec![
            Key::new(Swatch::Bar(Fill::Of(Class::Row)), "arm"),
            Key::new(Swatch::Bar(Fill::Of(Class::Floor)), "floor"),
            Key::new(Swatch::Whisker, interval_words(all())),
        ],
    };
    Some(Figure {
        name: format!("http-rate-{row}-{wait}"),
        suite: "http",
        run: run.run.id.clone(),
        title: format!("Requests a second, {what}"),
        unit: "Requests a second; more is better",
        caption: "Workload by workload, the fastest first. Client and server have a core each.".to_owned(),
        source: source(run),
        notes: notes(all().map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: http::rates(run, row, wait, what),
        in_readme: row == "concurrent",
        chart: Box::new(chart),
    })
}

fn draw(m: &Measurement, run: &RunFile) -> Row {
    let mut row = Row::of(&m.protocol, caveat(m, run).as_ref(), m.number().is_some());
    if let Some(requests) = m.number().map(rate) {
        row.text = figure(requests);
        row.tell(&format!("{} requests a second", figure(requests)));
        row.marks.push(Mark::Bar(0.0, requests, Fill::Of(m.class.unwrap_or(Class::Row))));
    }
    if let Some([low, high]) = m.interval {
        row.tell(&format!("{} to {}", figure(rate(high)), figure(rate(low))));
        row.marks.push(Mark::Whisker(rate(high), rate(low)));
    }
    row
}
