//! Percentile curves of distributions in a run: which points they have and how far they go. Owns that a curve ends where the run's
//! own percentiles do, and what the machine's own curve behind them is made of.

use hdrhistogram::Histogram;

use super::curves::{Axis, Curves, Series};
use super::marks::{Caveat, caveat};
use super::palette::Palette;
use super::scale::{Scale, short, time};
use crate::report::table::{Group, Table, figure};
use crate::result::record::{Measurement, Percentiles, Value};
use crate::result::{RunFile, histogram};
use crate::stats::lateness;

/// Steps for each halving of the distance to 100 %, as HdrHistogram's own plots have them.
const STEPS: u32 = 5;

/// The percentiles that a run tells, by name and share.
const TOLD: [(&str, f64); 5] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.999_9)];

/// The shares at which a curve has a shape.
const MARKED: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.999_9];

/// A curve of a distribution: shares and values.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// From a share of 0 to the last that is told.
    pub points: Vec<(f64, f64)>,
    /// Those with a shape.
    pub marked: Vec<(f64, f64)>,
}

/// The curve of a measurement's distribution, up to the last percentile that the run tells: beyond it too few stalls reach.
#[must_use]
pub fn curve(m: &Measurement, told: &Percentiles) -> Option<Curve> {
    let histogram = histogram::decode(&m.histogram.as_ref()?.data).ok().filter(|all| !all.is_empty())?;
    let last = TOLD.iter().filter(|(name, _)| told.get(*name).is_some_and(Option::is_some)).map(|(_, share)| *share);
    let last = last.fold(0.0, f64::max);
    let at = |share: f64| (share, ns(histogram.value_at_quantile(share)));
    let mut points: Vec<(f64, f64)> = histogram
        .iter_quantiles(STEPS)
        .map(|step| (step.quantile_iterated_to(), ns(step.value_iterated_to())))
        .take_while(|(share, _)| *share < last)
        .collect();
    points.push(at(last));
    Some(Curve { points, marked: MARKED.into_iter().filter(|share| *share <= last).map(at).collect() })
}

/// The percentiles of a measurement that are told.
#[must_use]
pub fn told(m: &Measurement) -> Percentiles {
    match &m.value {
        Some(Value::Percentiles(percentiles)) => percentiles.clone(),
        _ => Percentiles::new(),
    }
}

/// What something that falls due at a random moment would wait for a loop that leaves `gaps`, up to a share.
#[must_use]
pub fn waits(gaps: &Histogram<u64>, last: f64) -> Vec<(f64, f64)> {
    let recorded: Vec<(f64, f64)> =
        gaps.iter_recorded().map(|step| (ns(step.value_iterated_to()), ns(step.count_at_value()))).collect();
    let halvings = (0..=500_u32).map(|n| 1.0 - 0.5_f64.powf(f64::from(n) / f64::from(STEPS)));
    let shares: Vec<f64> = halvings.take_while(|share| *share < last).chain([last]).collect();
    shares.iter().copied().zip(lateness::quantiles(&recorded, &shares)).collect()
}

/// The curves of those of `found` that have one, in front of what `behind` gives up to the last share that any of them reaches; with
/// the table of their points, under that title. `y` is the vertical axis: its title, and its scale for all values.
#[must_use]
pub fn plot<'a>(
    run: &RunFile,
    title: &str,
    found: impl IntoIterator<Item = (&'a Measurement, Percentiles)>,
    y: (&str, fn(Vec<f64>) -> Scale),
    behind: impl FnOnce(f64) -> Option<Vec<(f64, f64)>>,
) -> Option<(Curves, Table)> {
    let mut palette = Palette::default();
    let (mut all, mut data) = (Vec::new(), Vec::new());
    for (m, told) in found {
        let Some(curve) = curve(m, &told) else { continue };
        all.push(series(&m.protocol, &curve, caveat(m, run).as_ref(), &mut palette));
        data.push((m.protocol.clone(), curve.points));
    }
    let last = all.iter().filter_map(|series| series.points.last()).map(|point| point.0).fold(0.0, f64::max);
    all.first()?;
    let behind = behind(last);
    data.extend(behind.clone().map(|points| ("the machine's own".to_owned(), points)));
    let scale = y.1(all.iter().flat_map(|series| &series.points).map(|point| point.1).collect());
    let chart = Curves {
        x: Axis {
            scale: Scale::Nines(-(1.0 - last).log10()),
            tick: time,
            title: "percentile: each 9 more is ten times rarer".to_owned(),
        },
        y: Axis { scale, tick: time, title: y.0.to_owned() },
        series: all,
        behind: behind.map(|points| ("what the machine alone makes wait".to_owned(), points)),
    };
    Some((chart, table(title, &data)))
}

/// The curve as a series of a plot.
fn series(protocol: &str, curve: &Curve, said: Option<&Caveat>, palette: &mut Palette) -> Series {
    let words = curve.marked.iter().map(|(share, ns)| format!("p{} {} us", short(100.0 * share), figure(ns / 1e3)));
    let words = words.collect::<Vec<_>>().join(", ");
    let caveat = said.map_or_else(String::new, |said| format!("; {}", said.words()));
    Series {
        label: said.map_or_else(|| protocol.to_owned(), |said| format!("{protocol} ({})", said.word)),
        tip: format!("{protocol}: {words}{caveat}"),
        style: palette.style(protocol),
        points: curve.points.clone(),
        marked: curve.marked.clone(),
    }
}

/// The table of curves: a line for each point.
fn table(title: &str, curves: &[(String, Vec<(f64, f64)>)]) -> Table {
    let row = |name: &str, (share, ns): &(f64, f64)| {
        vec![name.to_owned(), percent(*share), format!("{:.2}", 1.0 / (1.0 - share)), figure(ns / 1e3)]
    };
    let rows = curves.iter().flat_map(|(name, points)| points.iter().map(move |point| row(name, point)));
    Table {
        title: title.to_owned(),
        head: vec!["curve", "percentile", "1/(1-p)", "us"],
        groups: vec![Group { title: "", rows: rows.collect() }],
        notes: Vec::new(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.4}", 100.0 * share).trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[expect(clippy::cast_precision_loss, reason = "durations and counts, far below 2^53")]
const fn ns(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::record::{Better, Kind, Number};

    #[test]
    fn a_curve_ends_with_the_last_percentile_that_is_told() {
        let mut all = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        (1..=1_000).for_each(|us| all.record(us * 1_000).unwrap());
        let told: Percentiles = [("p50", Some(1)), ("p99", Some(1)), ("p99_9", None), ("max", Some(1))]
            .map(|(name, value)| (name.to_owned(), value.map(|ns: u64| Number::Whole(ns))))
            .into();
        let mut m = Measurement::new("latency", "zap").metric("round-trip", "ns", Kind::Rate, Better::Lower);
        assert_eq!(curve(&m, &told), None);
        m.histogram = Some(histogram::record(&all).unwrap());
        let curve = curve(&m, &told).unwrap();
        let (first, last) = (curve.points[0], curve.points[curve.points.len() - 1]);
        assert!(first.0 < 0.01 && last.0 == 0.99 && (last.1 - 990_000.0).abs() < 1_000.0, "{first:?} {last:?}");
        assert!(curve.points.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1));
        assert_eq!(curve.marked.len(), 3);
    }

    #[test]
    fn the_machines_curve_rises_to_its_longest_gap() {
        let mut gaps = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        gaps.record_n(50, 180_000).unwrap();
        gaps.record(1_000_000).unwrap();
        let waits = waits(&gaps, 0.999);
        assert!(waits.windows(2).all(|two| two[0].0 <= two[1].0 && two[0].1 <= two[1].1), "{waits:?}");
        let last = waits.last().unwrap();
        assert!((last.0 - 0.999).abs() < 1e-12 && (980_000.0..1_000_000.0).contains(&last.1), "{last:?}");
    }
}
