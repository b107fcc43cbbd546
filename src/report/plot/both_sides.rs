//! What a round trip takes of client and server: CPU time, system calls, allocations, a stack of both sides each.

use super::marks::{Fill, Key, Swatch, caveat, notes, number_or_word};
use super::rows::{Group, Mark, Row, Rows};
use super::scale::{Scale, short};
use super::{Figure, names, source};
use crate::report::latency::{cpu_time, find, grouped};
use crate::report::serialization::count;
use crate::report::table::{Group as TableGroup, Table, figure};
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

/// A figure that both sides have.
struct Metric {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    axis: &'static str,
    caption: &'static str,
    scale: f64,
    text: fn(f64) -> String,
}

const METRICS: [Metric; 3] = [
    Metric {
        name: "cpu-time",
        title: "CPU time of a round trip",
        unit: "Microseconds of CPU a round trip; less is better",
        axis: "us of CPU, both sides together",
        caption: "In the timed processes; the kernel's work for the stack is in it.",
        scale: 1e-3,
        text: figure,
    },
    Metric {
        name: "system-calls",
        title: "System calls of a round trip",
        unit: "Calls a round trip; less is better",
        axis: "system calls, both sides together",
        caption: "In a counting pair of their own.",
        scale: 1.0,
        text: figure,
    },
    Metric {
        name: "allocations",
        title: "Allocations of a round trip",
        unit: "Allocations a round trip; less is better",
        axis: "allocations, both sides together",
        caption: "In a counting pair of their own. What the floors have is the harness's.",
        scale: 1.0,
        text: count,
    },
];

const SIDES: [&str; 2] = ["client", "server"];

/// In the wait that is the headline: in the other it is mostly how often a runtime looks.
pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for Loaded { run, .. } in runs {
        figures.extend(METRICS.iter().filter_map(|metric| of_metric(run, "block", metric)));
    }
    figures
}

fn of<'a>(run: &'a RunFile, name: &str, wait: &str, side: &str, metric: &Metric) -> Option<&'a Measurement> {
    if metric.name == "cpu-time" { cpu_time(run, name, wait, side) } else { find(run, name, Some(wait), Some(side), metric.name) }
}

fn both(run: &RunFile, name: &str, wait: &str, metric: &Metric) -> Option<f64> {
    let of = |side| Some(of(run, name, wait, side, metric)?.number()? * metric.scale);
    Some(of("client")? + of("server")?)
}

fn of_metric(run: &RunFile, wait: &str, metric: &Metric) -> Option<Figure> {
    let order = names(grouped(run, |name| both(run, name, wait, metric), |name| vec![name.to_owned()]));
    let all: Vec<&String> = order.iter().flat_map(|(_, names)| names).collect();
    let found: Vec<&Measurement> =
        all.iter().flat_map(|name| SIDES.iter().filter_map(|side| of(run, name, wait, side, metric))).collect();
    let totals: Vec<f64> = all.iter().filter_map(|name| both(run, name, wait, metric)).collect();
    totals.first()?;
    let table = table(run, wait, metric, &order);
    let group = |(title, names): (&str, Vec<String>)| Group {
        title: title.to_owned(),
        rows: names.iter().map(|name| draw(run, name, wait, metric)).collect(),
    };
    let chart = Rows {
        groups: order.into_iter().map(group).collect(),
        scale: Scale::from_zero(totals),
        tick: short,
        unit: metric.axis,
        references: Vec::new(),
        keys: vec![Key::new(Swatch::Bar(Fill::Part(1)), "client"), Key::new(Swatch::Bar(Fill::Part(2)), "server")],
    };
    Some(Figure {
        name: format!("round-trip-{}", metric.name),
        suite: "latency",
        run: run.run.id.clone(),
        title: format!("{}, {wait}", metric.title),
        unit: metric.unit,
        caption: metric.caption.to_owned(),
        source: source(run),
        notes: notes(found.iter().map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table,
        in_readme: false,
        chart: Box::new(chart),
    })
}

fn draw(run: &RunFile, name: &str, wait: &str, metric: &Metric) -> Row {
    let sides = SIDES.map(|side| (side, of(run, name, wait, side, metric)));
    let said = sides.iter().find_map(|(_, m)| caveat((*m)?, run));
    let total = both(run, name, wait, metric);
    let mut row = Row::of(name, said.as_ref(), total.is_some());
    // One side alone is no stack.
    let Some(total) = total else { return row };
    row.text = (metric.text)(total);
    let mut reached = 0.0;
    for (place, (side, m)) in sides.into_iter().enumerate() {
        let Some(value) = m.and_then(Measurement::number).map(|value| value * metric.scale) else { continue };
        row.marks.extend((value > 0.0).then_some(Mark::Bar(reached, reached + value, Fill::Part(place + 1))));
        row.tell(&format!("{side} {}", (metric.text)(value)));
        reached += value;
    }
    row
}

fn table(run: &RunFile, wait: &str, metric: &Metric, order: &[(&'static str, Vec<String>)]) -> Table {
    let cell = |name: &str, side| {
        of(run, name, wait, side, metric)
            .map_or_else(|| "-".to_owned(), |m| number_or_word(m, |value| (metric.text)(value * metric.scale)))
    };
    let row = |name: &String| vec![name.clone(), cell(name, "client"), cell(name, "server")];
    let group = |(title, names): &(&'static str, Vec<String>)| TableGroup { title, rows: names.iter().map(row).collect() };
    Table {
        title: metric.axis.to_owned(),
        head: vec!["protocol", "client", "server"],
        groups: order.iter().map(group).collect(),
        notes: Vec::new(),
    }
}
