//! Encode, read, own, open: a bar for each codec, its interval, and the pace of the stream beside it.

use super::marks::{Fill, Key, Shape, Swatch, caveat, notes};
use super::rows::{Dot, Group, Mark, Reference, Row, Rows};
use super::scale::{Scale, short};
use super::{Figure, interval_words, source};
use crate::report::serialization::{self, GROUPS, MODELS, find, is_model, of_suite};
use crate::report::table::figure;
use crate::result::record::{Class, Measurement};
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| MODELS.map(|(model, title)| of_model(&run.run, model, title));
    runs.iter().flat_map(of_run).flatten().collect()
}

fn of_model(run: &RunFile, model: &str, title: &str) -> Option<Figure> {
    let protocols = serialization::protocols(run, model);
    let of = |protocol: &str, pace| find(run, protocol, Some(model), Some(pace), "time");
    let number = |m: Option<&Measurement>| m.and_then(Measurement::number);
    let chained: Vec<&Measurement> = protocols.iter().filter_map(|row| of(&row.protocol, "chained")).collect();
    chained.iter().find_map(|m| m.number())?;
    let groups = GROUPS.iter().map(|(classes, title)| {
        let rows = protocols.iter().filter(|row| classes.contains(&row.class));
        let row = |row: &serialization::Row| {
            let (chained, stream) = (of(&row.protocol, "chained"), number(of(&row.protocol, "stream")));
            draw(&row.protocol, row.class, chained, stream, run)
        };
        Group { title: (*title).to_owned(), rows: rows.map(row).collect() }
    });
    let references = protocols.iter().filter(|row| row.class == Class::Floor).filter_map(|row| {
        let ns = number(of(&row.protocol, "chained"))?;
        Some(Reference { label: format!("{} {}", row.protocol, figure(ns)), at: ns })
    });
    let ends = chained.iter().flat_map(|m| [m.number(), m.interval.map(|[_, high]| high)]).flatten();
    let streams = protocols.iter().filter_map(|row| number(of(&row.protocol, "stream")));
    let chart = Rows {
        groups: groups.collect(),
        scale: Scale::from_zero(ends.chain(streams)),
        tick: short,
        unit: "ns a message",
        references: references.collect(),
        keys: vec![
            Key::new(Swatch::Bar(Fill::Of(Class::Row)), "row"),
            Key::new(Swatch::Bar(Fill::Of(Class::Variant)), "variant"),
            Key::new(Swatch::Bar(Fill::Of(Class::Floor)), "yardstick"),
            Key::new(Swatch::Bar(Fill::Of(Class::Context)), "context"),
            Key::new(Swatch::Whisker, interval_words(chained.iter().copied())),
            Key::new(Swatch::Dot(Shape::Diamond, true), "stream"),
        ],
    };
    let of_model = of_suite(run).filter(|m| m.metric == "time" && is_model(m, model) && m.workload.is_none());
    let promise = if model == "open" {
        " What is promised after opening differs from format to format: these are no ratios."
    } else {
        ""
    };
    Some(Figure {
        name: model.to_owned(),
        suite: "serialization",
        run: run.run.id.clone(),
        title: title.to_owned(),
        unit: "Nanoseconds a message; less is better",
        caption: format!(
            "Bars: chained, where the address of the next message depends on the last outcome, which is latency. Diamonds: \
             stream, back to back, which is throughput. Dotted lines: yardsticks, not formats.{promise}"
        ),
        source: source(run),
        notes: notes(of_model.map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: serialization::timed(run, model, title),
        in_readme: ["encode", "read"].contains(&model),
        chart: Box::new(chart),
    })
}

fn draw(protocol: &str, class: Class, chained: Option<&Measurement>, stream: Option<f64>, run: &RunFile) -> Row {
    let (said, ns) = (chained.and_then(|m| caveat(m, run)), chained.and_then(Measurement::number));
    let mut row = Row::of(protocol, said.as_ref(), ns.is_some());
    if let Some(ns) = ns {
        row.text = figure(ns);
        row.tell(&format!("chained {} ns", figure(ns)));
        row.marks.push(Mark::Bar(0.0, ns, Fill::Of(class)));
    }
    if let Some([low, high]) = chained.and_then(|m| m.interval) {
        row.tell(&format!("{} to {}", figure(low), figure(high)));
        row.marks.push(Mark::Whisker(low, high));
    }
    if let Some(ns) = stream {
        row.tell(&format!("stream {} ns", figure(ns)));
        row.marks.push(Mark::Dot(ns, Shape::Diamond, Dot::Open));
    }
    row
}
