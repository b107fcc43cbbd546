//! Round trips: a bar for each protocol's median with its interval, its 99th percentile beside it, one figure for each wait.

use super::marks::{Fill, Key, Shape, Swatch, caveat, notes};
use super::rows::{Dot, Group, Mark, Reference, Row, Rows};
use super::scale::{Scale, short};
use super::{Figure, names, source};
use crate::report::latency::{self, REFERENCES, WAITS, grouped, of_suite, percentiles_of};
use crate::report::table::figure;
use crate::result::percentiles::Row as Percentiles;
use crate::result::record::{Class, Measurement, RankInterval};
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| WAITS.map(|(wait, what)| of_wait(&run.run, wait, what));
    runs.iter().flat_map(of_run).flatten().collect()
}

/// A protocol's round trips in microseconds.
struct Trip<'a> {
    m: &'a Measurement,
    row: Option<Percentiles>,
}

impl Trip<'_> {
    fn us(&self, name: &str) -> Option<f64> {
        Some(self.row.as_ref()?.value.get(name)?.as_ref()?.as_f64() / 1e3)
    }

    fn interval(&self, name: &str) -> Option<RankInterval> {
        let found = self.row.as_ref()?.intervals.get(name)?;
        Some(RankInterval { low: found.low / 1e3, high: found.high / 1e3, level: found.level })
    }
}

fn of_wait(run: &RunFile, wait: &str, what: &str) -> Option<Figure> {
    let all: Vec<Trip> = of_suite(run)
        .filter(|m| m.metric == "round-trip" && m.wait.as_deref() == Some(wait))
        .map(|m| Trip { m, row: percentiles_of(m) })
        .collect();
    let of = |name: &str| all.iter().find(|trip| trip.m.protocol == name);
    all.iter().find_map(|trip| trip.us("p50"))?;
    let order = names(grouped(run, |name| of(name)?.us("p50"), |name| vec![name.to_owned()]));
    let group = |(title, names): (&str, Vec<String>)| Group {
        title: title.to_owned(),
        rows: names.iter().filter_map(|name| Some(draw(of(name)?, run))).collect(),
    };
    let reference = |(name, _): (&str, &str)| {
        let at = of(name)?.us("p50")?;
        Some(Reference { label: format!("{name} {}", figure(at)), at })
    };
    // One interval of a tail, which few processes make wide, may not make all bars short.
    let ends =
        all.iter().flat_map(|trip| [trip.us("p50"), trip.us("p99"), trip.interval("p50").map(|interval| interval.high)]);
    let level = all.iter().filter_map(|trip| Some(trip.interval("p50")?.level)).min_by(f64::total_cmp);
    let level = level.map_or_else(String::new, |level| format!(" of {:.0} %", 100.0 * level));
    let chart = Rows {
        scale: Scale::from_zero(ends.flatten()),
        groups: order.into_iter().map(group).collect(),
        tick: short,
        unit: "us a round trip",
        references: REFERENCES.into_iter().filter_map(reference).collect(),
        keys: vec![
            Key::new(Swatch::Bar(Fill::Of(Class::Row)), "p50"),
            Key::new(Swatch::Bar(Fill::Of(Class::Variant)), "p50 of a variant"),
            Key::new(Swatch::Bar(Fill::Of(Class::Floor)), "p50 of a floor"),
            Key::new(Swatch::Whisker, format!("rank interval{level}")),
            Key::new(Swatch::Dot(Shape::Diamond, true), "p99"),
        ],
    };
    Some(Figure {
        name: format!("round-trip-{wait}"),
        suite: "latency",
        run: run.run.id.clone(),
        title: format!("Round trip, {what}"),
        unit: "Microseconds a round trip; less is better",
        caption: "Median and 99th percentile: the median over the processes of each process's own. Dotted lines: the floors, \
                  which carry bytes with no protocol. An interval with an arrow goes on; its data say how far. Sorted by the median; neighbours are not tested against each other."
            .to_owned(),
        source: source(run),
        notes: notes(all.iter().map(|trip| (trip.m.protocol.as_str(), caveat(trip.m, run)))),
        table: latency::round_trips(run, wait, what),
        in_readme: wait == "block",
        chart: Box::new(chart),
    })
}

fn draw(trip: &Trip, run: &RunFile) -> Row {
    let mut row = Row::of(&trip.m.protocol, caveat(trip.m, run).as_ref(), trip.us("p50").is_some());
    if let Some(p50) = trip.us("p50") {
        row.text = figure(p50);
        row.marks.push(Mark::Bar(0.0, p50, Fill::protocol(trip.m.class)));
    }
    for name in ["p50", "p99"] {
        let Some(us) = trip.us(name) else { continue };
        row.tell(&format!("{name} {} us", figure(us)));
        if let Some(interval) = trip.interval(name) {
            row.tell(&format!("{} to {}", figure(interval.low), figure(interval.high)));
            row.marks.push(Mark::Whisker(interval.low, interval.high));
        }
        if name == "p99" {
            row.marks.push(Mark::Dot(us, Shape::Diamond, Dot::Open));
        }
    }
    row
}
