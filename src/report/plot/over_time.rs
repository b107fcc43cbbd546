//! The 99th percentile over the time of each protocol's load, with the intervals shaded that others disturbed or in which the
//! generator itself was late.

use super::marks::{Fill, Key, Swatch, caveat, notes};
use super::palette::Palette;
use super::panels::{Band, Panel, Panels};
use super::scale::{Scale, short, time};
use super::{Figure, names, source};
use crate::report::sustained::{WRITES, find, grouped, percentile};
use crate::report::table::{Group, Table, figure};
use crate::result::intervals::{FILE, Interval};
use crate::result::record::{Class, Measurement};
use crate::result::{Loaded, RunFile};

/// Points that a curve has at most: a longer load has the worst of several intervals in each.
const POINTS: usize = 240;

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| WRITES.map(|(writes, what)| of_writes(run, writes, what));
    runs.iter().flat_map(of_run).flatten().collect()
}

/// One or several intervals.
struct Point {
    from: f64,
    to: f64,
    p99: f64,
    disturbed: bool,
    invalid: bool,
}

fn of_writes(loaded: &Loaded, writes: &str, what: &str) -> Option<Figure> {
    let run = &loaded.run;
    let of = |name: &str| find(run, name, writes, None, "response");
    let order = names(grouped(run, "response", |name| percentile(of(name)?, "p99"), |name| vec![name.to_owned()]));
    let found: Vec<&Measurement> = order.iter().flat_map(|(_, names)| names).filter_map(|name| of(name)).collect();
    let intervals = |m: &Measurement| loaded.intervals.get(m.settings.get(FILE)?.as_str()?);
    let longest = found.iter().filter_map(|m| intervals(m)).map(Vec::len).max()?;
    let each = longest.div_ceil(POINTS).max(1);
    let mut rows: Vec<(&Measurement, Vec<Point>)> =
        found.iter().filter_map(|m| Some((*m, points(intervals(m)?, each)))).collect();
    rows.retain(|(_, points)| !points.is_empty());
    rows.first()?;
    let floor = rows.iter().find(|(m, _)| m.class == Some(Class::Floor));
    let back = floor.map_or_else(Vec::new, |(_, points)| pieces(points));
    let mut palette = Palette::default();
    // What is shaded is each interval's own, however many a point of the curve holds.
    let mut panel = |(m, shown): &(&Measurement, Vec<Point>)| {
        let every = intervals(m).map_or_else(Vec::new, |intervals| points(intervals, 1));
        panel(m, shown, &every, run, &mut palette)
    };
    let ends = rows.iter().flat_map(|(_, points)| points).map(|point| point.to).fold(0.0, f64::max);
    let values = rows.iter().flat_map(|(_, points)| points).map(|point| point.p99);
    let minutes = ends > 300.0;
    let chart = Panels {
        x: Scale::Linear(0.0, ends),
        x_tick: if minutes { |seconds| short(seconds / 60.0) } else { short },
        x_title: if minutes { "minutes of load" } else { "seconds of load" },
        y: Scale::logarithmic(values),
        y_tick: time,
        back,
        keys: keys(floor.map(|(m, _)| m.protocol.as_str())),
        panels: rows.iter().map(&mut panel).collect(),
    };
    let worst = if each > 1 { format!(" Each point is the worst of {each} intervals.") } else { String::new() };
    let title = format!("p99 over time, {what}");
    Some(Figure {
        name: format!("response-over-time-{writes}"),
        suite: "sustained",
        run: run.run.id.clone(),
        title: title.clone(),
        unit: "p99 of the response time in each interval; lower is better",
        caption: format!(
            "On one logarithmic scale. Shaded: others disturbed the machine. Hatched: the generator itself was late, so that the \
             interval says nothing of the protocol.{worst}"
        ),
        source: source(run),
        notes: notes(found.iter().map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: table(&title, &rows),
        in_readme: true,
        chart: Box::new(chart),
    })
}

fn keys(floor: Option<&str>) -> Vec<Key> {
    let mut keys = vec![
        Key::new(Swatch::Band, "disturbed by others"),
        Key::new(Swatch::Suspect, "generator late: not valid"),
    ];
    keys.extend(floor.map(|name| Key::new(Swatch::Bar(Fill::Of(Class::Context)), format!("p99 of {name}, for comparison"))));
    keys
}

/// The intervals with answers, `each` of them together: of those the worst.
fn points(intervals: &[Interval], each: usize) -> Vec<Point> {
    #[expect(clippy::cast_precision_loss, reason = "durations of hours at most")]
    let seconds = |ns: u64| ns as f64 / 1e9;
    let point = |some: &[Interval]| {
        let answered = some.iter().filter(|one| one.response.count > 0);
        #[expect(clippy::cast_precision_loss, reason = "durations of hours at most")]
        let p99 = answered.map(|one| one.response.p99).max()? as f64;
        let (first, last) = (some.first()?, some.last()?);
        Some(Point {
            from: seconds(first.start_ns),
            to: seconds(last.start_ns + last.length_ns),
            p99,
            disturbed: some.iter().any(|one| one.disturbed),
            invalid: some.iter().any(|one| one.invalid),
        })
    };
    intervals.chunks(each).filter_map(point).collect()
}

/// The curve, in pieces: where a load lay still, it has a gap.
fn pieces(points: &[Point]) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for point in points {
        let here = (f64::midpoint(point.from, point.to), point.p99);
        match pieces.last_mut() {
            Some(piece) if point.from - end <= point.to - point.from => piece.push(here),
            _ => pieces.push(vec![here]),
        }
        end = point.to;
    }
    pieces
}

fn bands(points: &[Point]) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    for hatched in [false, true] {
        for point in points.iter().filter(|point| if hatched { point.invalid } else { point.disturbed }) {
            match bands.last_mut() {
                Some(last) if last.hatched == hatched && point.from - last.to < 1e-6 => last.to = point.to,
                _ => bands.push(Band { from: point.from, to: point.to, hatched }),
            }
        }
    }
    bands
}

fn panel(m: &Measurement, shown: &[Point], every: &[Point], run: &RunFile, palette: &mut Palette) -> Panel {
    let said = caveat(m, run);
    let count = |is: fn(&Point) -> bool| every.iter().filter(|point| is(point)).count();
    let (disturbed, invalid) = (count(|point| point.disturbed), count(|point| point.invalid));
    let words = said.as_ref().map_or_else(String::new, |said| format!("; {}", said.words()));
    Panel {
        title: m.protocol.clone(),
        caveat: said.map(|said| said.word.to_owned()),
        tip: format!("{}: {} intervals, {disturbed} disturbed, {invalid} not valid{words}", m.protocol, every.len()),
        style: palette.style(&m.protocol),
        lines: pieces(shown),
        bands: bands(every),
    }
}

fn table(title: &str, rows: &[(&Measurement, Vec<Point>)]) -> Table {
    let words = |point: &Point| match (point.disturbed, point.invalid) {
        (true, true) => "disturbed, generator late",
        (true, false) => "disturbed",
        (false, true) => "generator late",
        (false, false) => "",
    };
    let row = |m: &Measurement, point: &Point| {
        vec![m.protocol.clone(), figure(point.from), figure(point.p99 / 1e3), words(point).to_owned()]
    };
    let rows = rows.iter().flat_map(|(m, points)| points.iter().map(|point| row(m, point)));
    Table {
        title: title.to_owned(),
        head: vec!["protocol", "from second", "p99 us", "mark"],
        groups: vec![Group { title: "", rows: rows.collect() }],
        notes: Vec::new(),
    }
}
