//! Allocations of each codec, model by model.

use super::marks::{caveat, notes, number_or_word};
use super::matrix::{Cell, Line, Matrix, shade};
use super::{Figure, source};
use crate::report::serialization::{MODELS, count, find, of_suite, windows};
use crate::report::table::{Group, Table};
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    runs.iter().filter_map(|run| of_run(&run.run)).collect()
}

fn of_run(run: &RunFile) -> Option<Figure> {
    let models = MODELS.map(|(model, _)| model);
    let all: Vec<&Measurement> = of_suite(run)
        .filter(|m| m.metric == "allocations" && m.model.as_deref().is_some_and(|model| models.contains(&model)))
        .collect();
    let values: Vec<f64> = all.iter().filter_map(|m| m.number()).collect();
    values.first()?;
    let mut protocols: Vec<&str> = Vec::new();
    for m in &all {
        if !protocols.contains(&m.protocol.as_str()) {
            protocols.push(&m.protocol);
        }
    }
    let of = |protocol: &str, model: &str, metric| find(run, protocol, Some(model), None, metric);
    let total = |protocol: &str| models.iter().filter_map(|model| of(protocol, model, "allocations")?.number()).sum::<f64>();
    protocols.sort_by(|a, b| total(a).total_cmp(&total(b)).then_with(|| a.cmp(b)));
    // Who was counted everywhere and allocates nowhere needs no row.
    let is_none = |protocol: &str| all.iter().filter(|m| m.protocol == protocol).all(|m| m.number().is_some_and(|n| n <= 0.0));
    let (none, some): (Vec<&str>, Vec<&str>) = protocols.iter().partition(|protocol| is_none(protocol));
    if some.is_empty() {
        return None;
    }
    let cell = |protocol: &str, model: &str| {
        let m = of(protocol, model, "allocations")?;
        let text = number_or_word(m, count);
        let bytes = of(protocol, model, "allocated-bytes").and_then(Measurement::number);
        let bytes = bytes.map_or_else(String::new, |bytes| format!(", {} bytes", count(bytes)));
        let said = caveat(m, run);
        Some(Cell {
            tip: format!("{protocol}, {model}: {text} allocations{bytes}"),
            shade: m.number().map(|value| shade(value, &values)),
            suspect: m.number().is_some() && said.is_some(),
            text,
        })
    };
    let line = |protocol: &&str| Line {
        label: (*protocol).to_owned(),
        cells: models.iter().map(|model| cell(protocol, model)).collect(),
    };
    let chart = Matrix { columns: models.iter().map(ToString::to_string).collect(), rows: some.iter().map(line).collect() };
    let mut said = notes(all.iter().map(|m| (m.protocol.as_str(), caveat(m, run))));
    said.extend((!none.is_empty()).then(|| format!("No allocation in any model: {}.", none.join(", "))));
    Some(Figure {
        name: "codec-allocations".to_owned(),
        suite: "serialization",
        run: run.run.id.clone(),
        title: "Allocations of a codec".to_owned(),
        unit: "Allocations a message; less is better",
        caption: windows(run, "encode").unwrap_or_default(),
        source: source(run),
        notes: said,
        table: table(run, &protocols),
        in_readme: false,
        chart: Box::new(chart),
    })
}

fn table(run: &RunFile, protocols: &[&str]) -> Table {
    let cells = |protocol: &&str| {
        let mut cells = vec![(*protocol).to_owned()];
        for (model, _) in MODELS {
            for metric in ["allocations", "allocated-bytes"] {
                let m = find(run, protocol, Some(model), None, metric);
                cells.push(m.map_or_else(|| "-".to_owned(), |m| number_or_word(m, count)));
            }
        }
        cells
    };
    Table {
        title: "Allocations of a codec".to_owned(),
        head: vec!["codec", "encode", "bytes", "read", "bytes", "own", "bytes", "open", "bytes"],
        groups: vec![Group { title: "", rows: protocols.iter().map(cells).collect() }],
        notes: Vec::new(),
    }
}
