//! Percentile curves of response times under load, with what the machine did to the generator meanwhile behind them.

use hdrhistogram::Histogram;

use super::marks::{caveat, notes};
use super::percentiles::{plot, told, waits};
use super::scale::Scale;
use super::{Figure, names, source};
use crate::report::sustained::{WRITES, find, grouped, of_suite, percentile};
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile, histogram};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| WRITES.map(|(writes, what)| of_writes(&run.run, writes, what));
    runs.iter().flat_map(of_run).flatten().collect()
}

fn of_writes(run: &RunFile, writes: &str, what: &str) -> Option<Figure> {
    let of = |name: &str| find(run, name, writes, None, "response");
    let order = names(grouped(run, "response", |name| percentile(of(name)?, "p99"), |name| vec![name.to_owned()]));
    let found: Vec<&Measurement> = order.iter().flat_map(|(_, names)| names).filter_map(|name| of(name)).collect();
    let title = format!("Response time by percentile, {what}");
    let machine = |last| gaps(run, writes).map(|gaps| waits(&gaps, last));
    let curves = found.iter().map(|m| (*m, told(m)));
    let (chart, table) = plot(run, &title, curves, ("response time, logarithmic", Scale::logarithmic), machine)?;
    Some(Figure {
        name: format!("response-percentiles-{writes}"),
        suite: "sustained",
        run: run.run.id.clone(),
        title,
        unit: "Time from due to answered; lower is better",
        caption: "All intervals together, up to the last percentile that enough of them reach. Behind them: the gaps that the \
                  generator saw between two looks at the clock with nothing in flight, all rows together, as what falls due at \
                  a random moment would wait for it. That much is the machine's, not the protocol's."
            .to_owned(),
        source: source(run),
        notes: notes(found.iter().map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table,
        in_readme: true,
        chart: Box::new(chart),
    })
}

/// The hiccup meter in place, of all rows together.
fn gaps(run: &RunFile, writes: &str) -> Option<Histogram<u64>> {
    let all = of_suite(run).filter(|m| m.metric == "gap" && m.row.as_deref() == Some(writes));
    let all = all.filter_map(|m| histogram::decode(&m.histogram.as_ref()?.data).ok());
    all.reduce(|mut sum, one| {
        // One with other bounds is left out: every meter of a run has the same.
        let _ = sum.add(one);
        sum
    })
}
