//! Throughput against connections: the capacities of runs that differ in nothing but how many connections they had.

use std::collections::BTreeMap;

use super::curves::{Axis, Curves, Series};
use super::marks::{caveat, notes, number_or_word};
use super::palette::Palette;
use super::scale::{Scale, short};
use super::{Figure, source};
use crate::report::capacity;
use crate::report::sustained::{WRITES, of_suite};
use crate::report::table::{Group, Table, figure};
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

/// A capacity of a run with so many connections.
struct Point<'a> {
    connections: f64,
    run: &'a RunFile,
    m: &'a Measurement,
}

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    // Runs on one machine whose other settings are alike.
    let mut alike: BTreeMap<String, Vec<&RunFile>> = BTreeMap::new();
    for Loaded { run, .. } in runs {
        let but = |name: &str| !["connections", "arrival_seed", "protocols"].contains(&name);
        let settings: BTreeMap<_, _> = run.settings.iter().filter(|(name, _)| but(name)).collect();
        let key = format!("{} {} {settings:?}", run.machine.fingerprint, run.source.commit);
        alike.entry(key).or_default().push(run);
    }
    let of_group = |group: &Vec<&RunFile>| WRITES.map(|(writes, what)| of_writes(group, writes, what));
    alike.values().flat_map(of_group).flatten().collect()
}

fn of_writes(runs: &[&RunFile], writes: &str, what: &str) -> Option<Figure> {
    let mut protocols: Vec<(&str, Vec<Point>)> = Vec::new();
    for run in runs {
        let Some(connections) = run.settings.get("connections").and_then(serde_json::Value::as_f64) else { continue };
        for m in of_suite(run).filter(|m| m.metric == "capacity" && m.row.as_deref() == Some(writes)) {
            let point = Point { connections, run, m };
            match protocols.iter_mut().find(|(name, _)| *name == m.protocol) {
                Some((_, points)) => points.push(point),
                None => protocols.push((&m.protocol, vec![point])),
            }
        }
    }
    for (_, points) in &mut protocols {
        points.sort_by(|one, other| one.connections.total_cmp(&other.connections));
    }
    let measured = |points: &[Point]| {
        let points = points.iter().filter_map(|point| Some((point.connections, point.m.number()?)));
        points.collect::<Vec<_>>()
    };
    let is_curve = |points: &[Point]| measured(points).windows(2).any(|two| two[0].0 < two[1].0);
    if !protocols.iter().any(|(_, points)| is_curve(points)) {
        return None;
    }
    let mut palette = Palette::default();
    let series = |(name, points): &(&str, Vec<Point>)| {
        let measured = measured(points);
        let said = points.iter().filter(|point| point.m.number().is_some()).find_map(|point| caveat(point.m, point.run));
        let words = measured.iter().map(|(connections, rate)| format!("{} at {connections}", figure(*rate)));
        let words = words.collect::<Vec<_>>().join(", ");
        let style = palette.style(name);
        (!measured.is_empty()).then(|| Series {
            label: said.map_or_else(|| (*name).to_owned(), |said| format!("{name} ({})", said.word)),
            tip: format!("{name}: {words}"),
            style,
            points: measured.clone(),
            marked: measured,
        })
    };
    let series: Vec<Series> = protocols.iter().filter_map(series).collect();
    let all = || series.iter().flat_map(|series| &series.points);
    let chart = Curves {
        x: Axis { scale: Scale::logarithmic(all().map(|point| point.0)), tick: short, title: "connections".to_owned() },
        y: Axis { scale: Scale::from_zero(all().map(|point| point.1)), tick: short, title: "votes a second".to_owned() },
        series,
        behind: None,
    };
    let said = protocols.iter().flat_map(|(name, points)| points.iter().map(|point| (*name, caveat(point.m, point.run))));
    Some(Figure {
        name: format!("connections-{writes}"),
        suite: capacity::suite_of(runs.first()?),
        run: runs.first()?.run.id.clone(),
        title: format!("Throughput against connections, {what}"),
        unit: "Votes a second; more is better",
        caption: "The highest rate that was held, of runs that differ in nothing but their connections.".to_owned(),
        source: runs.iter().map(|run| source(run)).collect::<Vec<_>>().join(" "),
        notes: notes(said),
        table: table(&protocols, what),
        in_readme: false,
        chart: Box::new(chart),
    })
}

fn table(protocols: &[(&str, Vec<Point>)], what: &str) -> Table {
    let row = |point: &Point| {
        let rate = number_or_word(point.m, figure);
        vec![point.m.protocol.clone(), short(point.connections), rate]
    };
    Table {
        title: format!("Throughput against connections, {what}"),
        head: vec!["protocol", "connections", "held/s"],
        groups: vec![Group { title: "", rows: protocols.iter().flat_map(|(_, points)| points.iter().map(row)).collect() }],
        notes: Vec::new(),
    }
}
