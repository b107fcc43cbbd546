//! Encoded bytes: a bar for each codec, with what the corpus makes of it.

use super::marks::{Fill, Key, Swatch, caveat, notes};
use super::rows::{Group, Mark, Reference, Row, Rows};
use super::scale::{Scale, short};
use super::{Figure, source};
use crate::report::serialization::{self, GROUPS, count, of_suite};
use crate::result::record::{Class, Measurement};
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    runs.iter().filter_map(|run| of_run(&run.run)).collect()
}

fn of_run(run: &RunFile) -> Option<Figure> {
    let mut all: Vec<&Measurement> = of_suite(run).filter(|m| m.metric == "wire-bytes").collect();
    all.sort_by_key(|m| (m.number().map_or(u64::MAX, f64::to_bits), &m.protocol));
    all.iter().find_map(|m| m.number())?;
    let range = |m: &Measurement| Some((m.min?.as_f64(), m.max?.as_f64()));
    let row = |m: &&Measurement| {
        let mut row = Row::of(&m.protocol, caveat(m, run).as_ref(), m.number().is_some());
        if let Some(bytes) = m.number() {
            row.text = count(bytes);
            row.tell(&format!("{} bytes", count(bytes)));
            row.marks.push(Mark::Bar(0.0, bytes, Fill::Of(m.class.unwrap_or(Class::Context))));
        }
        if let Some((least, most)) = range(m) {
            row.tell(&format!("{} to {} over the corpus", count(least), count(most)));
            row.marks.extend((least < most).then_some(Mark::Whisker(least, most)));
        }
        row
    };
    let groups = GROUPS.iter().map(|(classes, title)| {
        let rows = all.iter().filter(|m| m.class.is_some_and(|class| classes.contains(&class)));
        Group { title: (*title).to_owned(), rows: rows.map(row).collect() }
    });
    let payload = all.iter().find(|m| m.protocol == "packed-145").and_then(|m| m.number());
    let ends = all.iter().flat_map(|m| [m.number(), range(m).map(|(_, most)| most)]).flatten();
    let chart = Rows {
        groups: groups.collect(),
        scale: Scale::from_zero(ends),
        tick: short,
        unit: "bytes",
        references: payload.map(|at| Reference { label: format!("the vote's payload, {}", count(at)), at }).into_iter().collect(),
        keys: vec![Key::new(Swatch::Whisker, "least to most over the corpus")],
    };
    Some(Figure {
        name: "encoded-bytes".to_owned(),
        suite: "serialization",
        run: run.run.id.clone(),
        title: "Encoded bytes of the canonical vote".to_owned(),
        unit: "Bytes a message; less is better",
        caption: "Prefix or header of the row's protocol are included.".to_owned(),
        source: source(run),
        notes: notes(all.iter().map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: serialization::sizes(run),
        in_readme: false,
        chart: Box::new(chart),
    })
}
