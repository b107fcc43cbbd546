//! Response times under load: p50, p99 and p99.9 of each protocol on one logarithmic scale.

use super::marks::{Fill, Key, SHAPES, Swatch, caveat, notes};
use super::rows::{Dot, Group, Mark, Reference, Row, Rows};
use super::scale::{Scale, time};
use super::{Figure, names, source};
use crate::report::sustained::{self, WRITES, find, grouped, of_suite, percentile};
use crate::report::table::figure;
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

/// The percentiles that are shown.
const SHOWN: [(&str, &str); 3] = [("p50", "p50"), ("p99", "p99"), ("p99_9", "p99.9")];

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| WRITES.map(|(writes, what)| of_writes(&run.run, writes, what));
    runs.iter().flat_map(of_run).flatten().collect()
}

fn of_writes(run: &RunFile, writes: &str, what: &str) -> Option<Figure> {
    let of = |name: &str| find(run, name, writes, None, "response");
    let all: Vec<&Measurement> =
        of_suite(run).filter(|m| m.metric == "response" && m.row.as_deref() == Some(writes)).collect();
    let told = |m: &Measurement| SHOWN.iter().filter_map(|(name, _)| percentile(m, name)).collect::<Vec<_>>();
    let intervals = |m: &Measurement| SHOWN.iter().filter_map(|(name, _)| interval(m, name)).flatten().collect::<Vec<_>>();
    let values: Vec<f64> = all.iter().flat_map(|m| [told(m), intervals(m)].concat()).collect();
    values.first()?;
    let order = names(grouped(run, "response", |name| percentile(of(name)?, "p99"), |name| vec![name.to_owned()]));
    let group = |(title, names): (&str, Vec<String>)| Group {
        title: title.to_owned(),
        rows: names.iter().filter_map(|name| Some(draw(of(name)?, run))).collect(),
    };
    let floor = of("floor").and_then(|m| percentile(m, "p99"));
    let points = SHOWN.iter().zip(SHAPES).map(|((_, word), shape)| Key::new(Swatch::Dot(shape, false), *word));
    let chart = Rows {
        groups: order.into_iter().map(group).collect(),
        scale: Scale::logarithmic(values),
        tick: time,
        unit: "response time, logarithmic; beside the names p99 in us",
        references: floor.map(|at| Reference { label: format!("floor's p99, {}", time(at)), at }).into_iter().collect(),
        keys: points.chain([Key::new(Swatch::Whisker, "95 % interval")]).collect(),
    };
    Some(Figure {
        name: format!("response-{writes}"),
        suite: "sustained",
        run: run.run.id.clone(),
        title: format!("Response times under load, {what}"),
        unit: "Time from due to answered; lower is better",
        caption: "From the moment a vote was due to its answer, decoded and checked. Intervals are from whole seconds drawn anew, \
                  as samples within one depend on each other. Open points are not valid without the word beside them; where \
                  votes were never answered they are lower bounds."
            .to_owned(),
        source: source(run),
        notes: notes(all.iter().map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: sustained::response(run, writes, what),
        in_readme: false,
        chart: Box::new(chart),
    })
}

/// The 95 % interval of a percentile, where the run has one.
fn interval(m: &Measurement, name: &str) -> Option<[f64; 2]> {
    let found = m.settings.get("percentile_intervals_95")?.get(name)?;
    Some([found.get(0)?.as_f64()?, found.get(1)?.as_f64()?])
}

fn draw(m: &Measurement, run: &RunFile) -> Row {
    let has = SHOWN.iter().any(|(name, _)| percentile(m, name).is_some());
    let mut row = Row::of(&m.protocol, caveat(m, run).as_ref(), has);
    for ((name, word), shape) in SHOWN.iter().zip(SHAPES) {
        let Some(ns) = percentile(m, name) else { continue };
        let bound = m.is_beyond(name);
        let text = format!("{}{}", if bound { ">" } else { "" }, figure(ns / 1e3));
        row.tell(&format!("{word} {text} us"));
        if let Some([low, high]) = interval(m, name) {
            row.tell(&format!("{} to {}", figure(low / 1e3), figure(high / 1e3)));
            row.marks.push(Mark::Whisker(low, high));
        }
        row.marks.push(Mark::Dot(ns, shape, if bound { Dot::Open } else { Dot::Filled(Fill::protocol(m.class)) }));
        if *name == "p99" {
            row.text = text;
        }
    }
    row
}
