//! The byte ledger: what a vote grows to on its way out, layer by layer.

use super::marks::{Fill, Key, Shape, Swatch, caveat, notes};
use super::rows::{Dot, Group, Mark, Row, Rows};
use super::scale::{Scale, short};
use super::{Figure, names, source};
use crate::report::latency::{find, grouped, of_suite};
use crate::report::latency_context::ledger;
use crate::report::table::figure;
use crate::result::record::{Measurement, Status};
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    runs.iter().filter_map(|run| of_run(&run.run)).collect()
}

/// The layers, from the inside out, with what each adds.
const LAYERS: [(&str, &str); 4] = [
    ("payload-bytes", "the vote"),
    ("message-bytes", "its encoding"),
    ("framed-bytes", "prefix or header"),
    ("carried-bytes", "what the stack adds"),
];

fn bytes(run: &RunFile, name: &str, metric: &str) -> Option<f64> {
    let side = (metric == "carried-bytes").then_some("client");
    find(run, name, None, side, metric)?.number()
}

fn back(run: &RunFile, name: &str) -> Option<f64> {
    find(run, name, None, Some("server"), "carried-bytes")?.number()
}

fn of_run(run: &RunFile) -> Option<Figure> {
    let out = |name: &str| bytes(run, name, "carried-bytes");
    let carried = || of_suite(run).filter(|m| m.metric == "carried-bytes");
    carried().find_map(Measurement::number)?;
    let order = names(grouped(run, |name| Some(out(name)? + back(run, name)?), |name| vec![name.to_owned()]));
    let group = |(title, names): (&str, Vec<String>)| Group {
        title: title.to_owned(),
        rows: names.iter().map(|name| draw(run, name)).collect(),
    };
    let layers = LAYERS.iter().enumerate().map(|(place, (_, what))| Key::new(Swatch::Bar(Fill::Part(place)), *what));
    let chart = Rows {
        scale: Scale::from_zero(carried().filter_map(Measurement::number)),
        groups: order.into_iter().map(group).collect(),
        tick: short,
        unit: "bytes of a vote on its way out",
        references: Vec::new(),
        keys: layers.chain([Key::new(Swatch::Dot(Shape::Diamond, true), "carried back, with the answer")]).collect(),
    };
    let all = of_suite(run).filter(|m| LAYERS.iter().any(|(metric, _)| *metric == m.metric));
    let remarkable = all.filter(|m| m.status != Status::Unsupported);
    Some(Figure {
        name: "byte-ledger".to_owned(),
        suite: "latency",
        run: run.run.id.clone(),
        title: "The bytes of a vote, from the inside out".to_owned(),
        unit: "Bytes a message, handshake apart; less is better",
        caption: "Sorted by what is carried both ways. Where a layer has no size of its own, it is part of the next one."
            .to_owned(),
        source: source(run),
        notes: notes(remarkable.map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: ledger(run),
        in_readme: true,
        chart: Box::new(chart),
    })
}

fn draw(run: &RunFile, name: &str) -> Row {
    let carried = find(run, name, None, Some("client"), "carried-bytes");
    let (said, out) = (carried.and_then(|m| caveat(m, run)), carried.and_then(Measurement::number));
    let mut row = Row::of(name, said.as_ref(), out.is_some());
    // Layers of which nobody knows whether they are all are no stack.
    let Some(out) = out else { return row };
    row.text = figure(out);
    let mut reached = 0.0;
    for (place, (metric, what)) in LAYERS.iter().enumerate() {
        let Some(bytes) = bytes(run, name, metric).filter(|bytes| *bytes > reached) else { continue };
        row.marks.push(Mark::Bar(reached, bytes, Fill::Part(place)));
        row.tell(&format!("{what} {}", figure(bytes - reached)));
        reached = bytes;
    }
    if let Some(back) = back(run, name) {
        row.marks.push(Mark::Dot(back, Shape::Diamond, Dot::Open));
        row.tell(&format!("carried back {}", figure(back)));
    }
    row
}
