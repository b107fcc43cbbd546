//! The table of capacities: the highest rate that each row holds, one way of writing beside the other. Owns it wherever it
//! stands: in a suite of its own where a run sought nothing else, below the response times where a load came with it.

use super::sustained::{WRITES, find, grouped, number, of_suite, under, whole};
use super::table::{Table, figure};
use crate::result::RunFile;
use crate::result::record::Measurement;

/// Whether the run sought capacities, and loaded nobody at a rate that was asked for.
#[must_use]
pub fn is_in(run: &RunFile) -> bool {
    of_suite(run).any(|m| m.metric == "capacity") && !of_suite(run).any(|m| m.metric == "response")
}

/// Which run, build and machine the figures are from, how the rows were loaded, and whether the machine was fit.
#[must_use]
pub fn provenance(run: &RunFile) -> String {
    under(run, &format!("each rate was tried for {} s", probe_seconds(run)))
}

/// How long a rate was tried, in seconds.
pub(super) fn probe_seconds(run: &RunFile) -> String {
    let ns = run.settings.get("probe_ns").and_then(serde_json::Value::as_f64);
    ns.map_or_else(|| "?".to_owned(), |ns| figure(ns / 1e9))
}

/// The table; none where nothing was found.
#[must_use]
pub fn tables(run: &RunFile) -> Vec<Table> {
    let is_known = |m: &Measurement| m.metric == "capacity" && m.value.is_some();
    if !is_in(run) && !of_suite(run).any(is_known) {
        return Vec::new();
    }
    let of = |name: &str, writes: &str| find(run, name, writes, None, "capacity");
    let row = |name: &str| {
        let mut cells = vec![name.to_owned()];
        for (writes, _) in WRITES {
            let m = of(name, writes);
            let setting = |name: &str| m.and_then(|m| m.settings.get(name)).and_then(serde_json::Value::as_f64);
            cells.push(number(m, whole));
            cells.extend(
                ["lowest_missed", "closed_loop_rate"].map(|name| setting(name).map_or_else(|| "-".to_owned(), whole)),
            );
        }
        cells
    };
    let best = |name: &str| {
        let rates = WRITES.iter().filter_map(|(writes, _)| of(name, writes)?.number());
        rates.reduce(f64::max).map(|rate| -rate)
    };
    let mut notes = vec![
        "In votes a second. Held: over the whole probe 99.9 % of the votes that were due were answered, none failed, and the \
         generator itself was not late; missed: the lowest rate that was not held; closed loop: what was answered while the \
         next vote was due whenever one came back. `batched`: votes at hand are written together; `each`: each vote by itself. \
         Generator and client share a core, so that a capacity is that of the pair. Rates over 250,000/s are an effect of \
         writing votes together; where a library writes by tasks of its own, `each` gives them a turn after every vote, and \
         what a server answers together is its library's affair."
            .to_owned(),
    ];
    let unknown = of_suite(run).filter(|m| is_in(run) && m.metric == "capacity" && m.value.is_none());
    notes.extend(unknown.map(|m| {
        let row = m.row.as_deref().unwrap_or("?");
        format!("{}, {row}: {}.", m.protocol, m.why())
    }));
    vec![Table {
        title: "Capacity: the highest rate that was held".to_owned(),
        head: vec!["protocol", "batched, held", "missed", "closed loop", "each, held", "missed", "closed loop"],
        groups: grouped(run, "capacity", best, row),
        notes,
    }]
}

/// The suite's block of a Markdown file.
#[must_use]
pub fn markdown(run: &RunFile) -> String {
    let tables: Vec<_> = tables(run).iter().map(Table::markdown).collect();
    format!("{}\n\n{}", provenance(run), tables.join("\n"))
}

/// The suite in whose section the run's capacities stand.
pub(super) fn suite_of(run: &RunFile) -> &'static str {
    if is_in(run) { "capacity" } else { "sustained" }
}
