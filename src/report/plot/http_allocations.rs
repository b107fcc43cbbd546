//! The HTTP study's allocations: arms across, workloads down, client and server together.

use super::marks::{caveat, notes, number_or_word};
use super::matrix::{Cell, Line, Matrix, shade};
use super::{Figure, source};
use crate::report::http::{self, arms, find, of_suite, workloads};
use crate::report::serialization::count;
use crate::report::table::figure;
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

/// What is counted, its table's title, and the unit.
const METRICS: [(&str, &str, &str); 2] = [
    ("allocated-bytes", "Bytes allocated per request", "Bytes a request, client and server together; less is better"),
    ("allocations", "Allocations per request", "Allocations a request, client and server together; less is better"),
];

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| METRICS.map(|(metric, title, unit)| of_metric(&run.run, metric, title, unit));
    runs.iter().flat_map(of_run).flatten().collect()
}

fn of_metric(run: &RunFile, metric: &str, title: &str, unit: &'static str) -> Option<Figure> {
    let all = || of_suite(run).filter(|m| m.metric == metric && m.side.is_none());
    let values: Vec<f64> = all().filter_map(Measurement::number).collect();
    values.first()?;
    let cell = |arm: &str, workload: &str| {
        let m = find(run, arm, workload, metric, None, None)?;
        let said = caveat(m, run);
        // A figure that does not fit into a cell is rounded there, and whole in the table.
        let round = |value: f64| if value >= 100.0 { figure(value) } else { count((value * 100.0).round() / 100.0) };
        let text = number_or_word(m, round);
        Some(Cell {
            tip: format!("{arm}, {workload}: {}", m.number().map_or_else(|| text.clone(), count)),
            shade: m.number().map(|value| shade(value, &values)),
            suspect: m.number().is_some() && said.is_some(),
            text,
        })
    };
    let arms = arms(run);
    let line = |workload: &str| Line {
        label: workload.to_owned(),
        cells: arms.iter().map(|arm| cell(arm, workload)).collect(),
    };
    let chart = Matrix {
        columns: arms.iter().map(ToString::to_string).collect(),
        rows: workloads(run).into_iter().map(line).collect(),
    };
    Some(Figure {
        name: format!("http-{metric}"),
        suite: "http",
        run: run.run.id.clone(),
        title: title.to_owned(),
        unit,
        caption: "Counted on a warm connection. The darker, the more; a 0 is none in all requests that were counted.".to_owned(),
        source: source(run),
        notes: notes(all().map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: http::counted(run, metric, title),
        in_readme: false,
        chart: Box::new(chart),
    })
}
