//! The matrix of codecs and transports: the median round trip of each pair that was measured.

use super::marks::{caveat, notes};
use super::matrix::{Cell, Line, Matrix, shade};
use super::{Figure, source};
use crate::report::latency::{WAITS, of_suite, percentiles_of};
use crate::report::table::{Group, Table, figure};
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    let of_run = |run: &Loaded| WAITS.map(|(wait, _)| of_wait(&run.run, wait));
    runs.iter().flat_map(of_run).flatten().collect()
}

/// A pair that was measured.
struct Pair<'a> {
    m: &'a Measurement,
    codec: &'a str,
    transport: &'a str,
    us: Option<f64>,
}

fn pair(m: &Measurement) -> Option<Pair<'_>> {
    let of = |name: &str| m.settings.get(name)?.as_str();
    let us = percentiles_of(m).and_then(|row| row.value.get("p50").copied().flatten());
    Some(Pair { m, codec: of("codec")?, transport: of("transport")?, us: us.map(|ns| ns.as_f64() / 1e3) })
}

fn of_wait(run: &RunFile, wait: &str) -> Option<Figure> {
    let trips = of_suite(run).filter(|m| m.metric == "round-trip" && m.wait.as_deref() == Some(wait));
    let pairs: Vec<Pair> = trips.filter_map(pair).collect();
    let values: Vec<f64> = pairs.iter().filter_map(|pair| pair.us).collect();
    values.first()?;
    let codecs = by_least(&pairs, |pair| pair.codec);
    let transports = by_least(&pairs, |pair| pair.transport);
    let of = |transport: &str, codec: &str| {
        pairs.iter().find(|pair| pair.codec == codec && pair.transport == transport)
    };
    let cell = |pair: &Pair| {
        let said = caveat(pair.m, run);
        let text = pair.us.map_or_else(|| pair.m.status.word().to_owned(), figure);
        let words = said.as_ref().map_or_else(String::new, |said| format!("; {}", said.words()));
        Cell {
            tip: format!("{}: {} on {}, p50 {text} us{words}", pair.m.protocol, pair.codec, pair.transport),
            shade: pair.us.map(|us| shade(us, &values)),
            suspect: pair.us.is_some() && said.is_some(),
            text,
        }
    };
    let line = |transport: &&str| Line {
        label: (*transport).to_owned(),
        cells: codecs.iter().map(|codec| of(transport, codec).map(cell)).collect(),
    };
    let chart = Matrix {
        columns: codecs.iter().map(ToString::to_string).collect(),
        rows: transports.iter().map(line).collect(),
    };
    Some(Figure {
        name: format!("codec-by-transport-{wait}"),
        suite: "latency",
        run: run.run.id.clone(),
        title: format!("Codec by transport, {wait}: median round trip"),
        unit: "Microseconds, p50; less is better",
        caption: "Transports down, codecs across, each sorted by its best pair; the darker, the longer. A pair that is empty was \
                  not measured; `votebench latency --protocol CODEC+TRANSPORT` does it."
            .to_owned(),
        source: source(run),
        notes: notes(pairs.iter().map(|pair| (pair.m.protocol.as_str(), caveat(pair.m, run)))),
        table: table(&pairs, wait),
        in_readme: false,
        chart: Box::new(chart),
    })
}

/// The names that `of` gives, by the least time of theirs.
fn by_least<'a>(pairs: &[Pair<'a>], of: impl Fn(&Pair<'a>) -> &'a str) -> Vec<&'a str> {
    let mut sorted: Vec<&Pair> = pairs.iter().collect();
    let time = |pair: &Pair| pair.us.unwrap_or(f64::INFINITY);
    sorted.sort_by(|one, other| time(one).total_cmp(&time(other)).then_with(|| of(one).cmp(of(other))));
    let mut names: Vec<&str> = Vec::new();
    for pair in sorted {
        if !names.contains(&of(pair)) {
            names.push(of(pair));
        }
    }
    names
}

fn table(pairs: &[Pair], wait: &str) -> Table {
    let row = |pair: &Pair| {
        let us = pair.us.map_or_else(|| pair.m.status.word().to_owned(), figure);
        vec![pair.m.protocol.clone(), pair.codec.to_owned(), pair.transport.to_owned(), us]
    };
    Table {
        title: format!("Codec by transport, {wait}"),
        head: vec!["protocol", "codec", "transport", "p50 us"],
        groups: vec![Group { title: "", rows: pairs.iter().map(row).collect() }],
        notes: Vec::new(),
    }
}
