//! Percentile curves of round trips, as HdrHistogram's own plots have them, with the machine's own curve behind: one figure for the
//! rows and one for the variants, in each wait.

use super::marks::{caveat, notes};
use super::percentiles::{plot, waits};
use super::scale::Scale;
use super::{Figure, names, source};
use crate::report::latency::{WAITS, find, grouped, of_suite, percentiles_of};
use crate::result::record::{Measurement, Percentiles};
use crate::result::{Loaded, RunFile, histogram};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for Loaded { run, .. } in runs {
        for (wait, what) in WAITS {
            let groups = names(grouped(run, |name| p50(run, name, wait), |name| vec![name.to_owned()]));
            let of = |wanted: fn(&str) -> bool| {
                let wanted = groups.iter().filter(move |(title, _)| wanted(title));
                wanted.flat_map(|(_, names)| names.clone()).collect::<Vec<_>>()
            };
            let (rows, variants) = (of(|title| title != "variants"), of(|title| title == "variants"));
            figures.extend(of_rows(run, (wait, what), "", &rows));
            figures.extend(of_rows(run, (wait, what), "variants", &variants));
        }
    }
    figures
}

fn trip<'a>(run: &'a RunFile, name: &str, wait: &str) -> Option<&'a Measurement> {
    find(run, name, Some(wait), None, "round-trip")
}

fn told(m: &Measurement) -> Option<Percentiles> {
    percentiles_of(m).map(|row| row.value)
}

fn p50(run: &RunFile, name: &str, wait: &str) -> Option<f64> {
    told(trip(run, name, wait)?)?.get("p50")?.map(|ns| ns.as_f64())
}

fn of_rows(run: &RunFile, (wait, what): (&str, &str), which: &str, names: &[String]) -> Option<Figure> {
    let found: Vec<&Measurement> = names.iter().filter_map(|name| trip(run, name, wait)).collect();
    let variants = if which.is_empty() { String::new() } else { format!(", {which}") };
    let title = format!("Round trip by percentile, {wait}{variants}");
    let curves = found.iter().filter_map(|m| Some((*m, told(m)?)));
    let (chart, table) = plot(run, &title, curves, ("round trip, logarithmic", with_room_below), |last| machine(run, last))?;
    Some(Figure {
        name: format!("round-trip-percentiles-{wait}{}", if which.is_empty() { "" } else { "-variants" }),
        suite: "latency",
        run: run.run.id.clone(),
        title,
        unit: "Time of a round trip; lower is better",
        caption: format!(
            "{what}. All processes' samples together, up to the last percentile that enough separate stalls reach. Behind them, \
             where it reaches so high: the hiccup meter's gaps, as what falls due at a random moment would wait for a thread \
             that only reads the clock. A curve within it says more of the machine than of the protocol: one after another, round trips count a stall once, however long it is."
        ),
        source: source(run),
        notes: notes(found.iter().map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table,
        in_readme: false,
        chart: Box::new(chart),
    })
}

/// Up to a millisecond at least, which both waits' tails come near, with room below the curves for the machine's own.
fn with_room_below(mut values: Vec<f64>) -> Scale {
    values.push(1e6);
    match Scale::logarithmic(values) {
        Scale::Log(low, high) => Scale::Log(low / 10.0, high),
        other => other,
    }
}

fn machine(run: &RunFile, last: f64) -> Option<Vec<(f64, f64)>> {
    let meter = of_suite(run).find(|m| m.metric == "hiccup")?;
    let gaps = histogram::decode(&meter.histogram.as_ref()?.data).ok()?;
    Some(waits(&gaps, last))
}
