//! Capacity: the highest rate that each row holds, one way of writing beside the other, on a logarithmic scale: the ways differ by
//! more than the protocols do.

use super::marks::{Fill, Key, Shape, Swatch, caveat, notes};
use super::rows::{Dot, Group, Mark, Row, Rows};
use super::scale::{Scale, short};
use super::{Figure, names, source};
use crate::report::capacity;
use crate::report::sustained::{WRITES, find, grouped, of_suite, whole};
use crate::result::record::{Class, Measurement};
use crate::result::{Loaded, RunFile};

/// What stands for the ways of writing, in their order.
const SHAPES: [Shape; 2] = [Shape::Circle, Shape::Diamond];

/// Of runs that sought capacities of all their rows: where only saturated rows have one, there is nothing to compare.
pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    runs.iter().filter(|run| capacity::is_in(&run.run)).filter_map(|run| of_run(&run.run)).collect()
}

fn of_run(run: &RunFile) -> Option<Figure> {
    let all = || of_suite(run).filter(|m| m.metric == "capacity");
    let rates: Vec<f64> = all().filter_map(Measurement::number).collect();
    rates.first()?;
    let of = |name: &str| WRITES.map(|(writes, _)| find(run, name, writes, None, "capacity"));
    let best = |name: &str| of(name).iter().filter_map(|m| m.as_ref()?.number()).reduce(f64::max).map(|rate| -rate);
    let order = names(grouped(run, "capacity", best, |name| vec![name.to_owned()]));
    let group = |(title, names): (&str, Vec<String>)| Group {
        title: title.to_owned(),
        rows: names.iter().map(|name| draw(name, of(name), run)).collect(),
    };
    let dot = |shape, class, words| Key::new(Swatch::Dot(shape, class), words);
    let chart = Rows {
        groups: order.into_iter().map(group).collect(),
        scale: Scale::logarithmic(rates),
        tick: short,
        unit: "votes a second, logarithmic",
        references: Vec::new(),
        keys: vec![dot(SHAPES[0], false, WRITES[0].1), dot(SHAPES[1], true, WRITES[1].1)],
    };
    let said = all().map(|m| (m.protocol.as_str(), caveat(m, run)));
    Some(Figure {
        name: "capacity".to_owned(),
        suite: "capacity",
        run: run.run.id.clone(),
        title: "Capacity: the highest rate that was held".to_owned(),
        unit: "Votes a second; more is better",
        caption: format!(
            "A rate was tried for {} s, and is held where 99.9 % of the votes that were due were answered meanwhile and the \
             generator itself was not late. Rates over 250,000/s are an effect of writing votes together.",
            capacity::probe_seconds(run)
        ),
        source: source(run),
        notes: notes(said),
        table: capacity::tables(run).into_iter().next()?,
        in_readme: true,
        chart: Box::new(chart),
    })
}

fn draw(name: &str, measured: [Option<&Measurement>; 2], run: &RunFile) -> Row {
    let numbers = measured.map(|m| m.and_then(Measurement::number));
    let said = measured.into_iter().flatten().find_map(|m| caveat(m, run));
    let mut row = Row::of(name, said.as_ref(), numbers.iter().any(Option::is_some));
    let words: Vec<String> = numbers.iter().map(|rate| rate.map_or_else(|| "-".to_owned(), whole)).collect();
    row.text = words.join(" | ");
    for (((rate, shape), (_, what)), m) in numbers.into_iter().zip(SHAPES).zip(WRITES).zip(measured) {
        let (Some(rate), Some(m)) = (rate, m) else { continue };
        row.tell(&format!("{what}: {}/s", whole(rate)));
        let is_first = shape == SHAPES[0];
        let fill = Fill::Of(m.class.unwrap_or(Class::Context));
        row.marks.push(Mark::Dot(rate, shape, if is_first { Dot::Filled(fill) } else { Dot::Open }));
    }
    row
}
