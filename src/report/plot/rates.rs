//! Throughput: what was answered a second of what was offered.

use super::marks::{Fill, caveat, notes};
use super::rows::{Group, Mark, Reference, Row, Rows};
use super::scale::{Scale, short};
use super::{Figure, names, source};
use crate::report::sustained::{self, WRITES, find, grouped, of_suite};
use crate::report::table::figure;
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| WRITES.map(|(writes, what)| of_writes(&run.run, writes, what));
    runs.iter().flat_map(of_run).flatten().collect()
}

fn of_writes(run: &RunFile, writes: &str, what: &str) -> Option<Figure> {
    let rows = || of_suite(run).filter(|m| m.row.as_deref() == Some(writes));
    let number = |metric: &'static str| rows().filter(move |m| m.metric == metric).filter_map(Measurement::number);
    number("achieved-rate").next()?;
    let of = |name: &str, metric: &str| find(run, name, writes, None, metric);
    let key = |name: &str| of(name, "achieved-rate")?.number().map(|rate| -rate);
    let order = names(grouped(run, "response", key, |name| vec![name.to_owned()]));
    let group = |(title, names): (&str, Vec<String>)| Group {
        title: title.to_owned(),
        rows: names.iter().filter_map(|name| Some(draw(of(name, "achieved-rate")?, run))).collect(),
    };
    let offered: Vec<f64> = rows().filter(|m| m.metric == "offered-rate").filter_map(|m| m.settings.get("asked")?.as_f64()).collect();
    // One line where all were offered the same.
    let same = offered.first().filter(|first| offered.iter().all(|rate| rate == *first));
    let reference = same.map(|at| Reference { label: format!("offered, {}/s", figure(*at)), at: *at });
    let chart = Rows {
        groups: order.into_iter().map(group).collect(),
        scale: Scale::from_zero(number("achieved-rate").chain(offered.iter().copied())),
        tick: short,
        unit: "votes answered a second",
        references: reference.into_iter().collect(),
        keys: Vec::new(),
    };
    Some(Figure {
        name: format!("rates-{writes}"),
        suite: "sustained",
        run: run.run.id.clone(),
        title: format!("Whether the rate was held, {what}"),
        unit: "Votes a second; more is better",
        caption: "Held: 99.9 % of what was due was answered while the load lasted.".to_owned(),
        source: source(run),
        notes: notes(rows().filter(|m| m.metric == "achieved-rate").map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: sustained::rates(run, writes, what),
        in_readme: false,
        chart: Box::new(chart),
    })
}

fn draw(m: &Measurement, run: &RunFile) -> Row {
    let mut row = Row::of(&m.protocol, caveat(m, run).as_ref(), m.number().is_some());
    if let Some(rate) = m.number() {
        row.text = figure(rate);
        row.tell(&format!("{}/s", figure(rate)));
        row.marks.push(Mark::Bar(0.0, rate, Fill::protocol(m.class)));
    }
    row
}
