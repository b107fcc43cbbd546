//! The Go benchmark format (<https://go.dev/design/14313-benchmark-format>), which benchstat reads: one line a round, so that
//! benchstat has the samples and not a summary. Coordinates become `key=value` parts of the name, which benchstat can group by
//! (`benchstat -col /protocol`).
//!
//! benchstat takes every line for a sample of its own. Rounds of one process are not independent, so its p values are too
//! small; `votebench compare` has the right ones.

use std::fmt::Write;

use super::{Figure, coordinates, figures, metric};
use crate::result::RunFile;
use crate::result::record::{Better, Kind, Measurement, Processes};

/// The samples of `measurements`.
#[must_use]
pub fn text(run: &RunFile, measurements: &[&Measurement]) -> String {
    let mut text = format!(
        "goos: {}\ngoarch: {}\npkg: votebench\ncpu: {}\nrun: {}\ncommit: {}\n",
        part(&run.source.target, 2),
        part(&run.source.target, 0),
        run.machine.cpu,
        run.run.id,
        run.source.commit,
    );
    let mut units: Vec<(String, Better, Kind)> = Vec::new();
    for measurement in measurements {
        let Measurement { better, kind, .. } = **measurement;
        for figure in figures(measurement) {
            let unit = (unit(measurement, figure), better, kind);
            if !units.contains(&unit) {
                units.push(unit);
            }
        }
    }
    for (unit, better, kind) in &units {
        let better = if *better == Better::Lower { "lower" } else { "higher" };
        // What is exact needs no test, and benchstat is told so.
        let assume = if *kind == Kind::Exact { " assume=exact" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Unit {unit} better={better}{assume}");
    }
    text.push('\n');
    for measurement in measurements {
        for figure in figures(measurement) {
            for sample in samples(measurement, figure) {
                let (name, unit) = (name(measurement), unit(measurement, figure));
                let _ = writeln!(text, "{name} {} {sample} {unit}", measurement.window.unwrap_or(1).max(1));
            }
        }
    }
    text
}

/// A part of a target triple.
fn part(target: &str, at: usize) -> &str {
    target.split('-').nth(at).unwrap_or("unknown")
}

/// `BenchmarkSerialization/protocol=zap/model=read`: parts must hold no space, and the first letter is a capital one.
fn name(measurement: &Measurement) -> String {
    let mut name = "Benchmark".to_owned();
    for (key, value) in coordinates(measurement) {
        let value = value.replace(char::is_whitespace, "_");
        if key == "suite" {
            let mut letters = value.chars();
            name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        } else {
            let _ = write!(name, "/{key}={value}");
        }
    }
    name
}

/// Go's own units where they mean the same; else the metric before the unit, so that no two metrics share one. A trailing
/// `ns` is a unit of time to benchstat also behind a hyphen.
fn unit(measurement: &Measurement, figure: Figure<'_>) -> String {
    let metric = metric(measurement, figure);
    match (metric.as_str(), measurement.unit.as_str()) {
        ("time", "ns/op") => "ns/op".to_owned(),
        ("allocations", "1/op") => "allocs/op".to_owned(),
        ("allocated-bytes", "B/op") => "B/op".to_owned(),
        (_, unit) => match unit.strip_prefix('1') {
            Some(per) => format!("{metric}{per}"),
            None => format!("{metric}-{unit}"),
        },
    }
}

/// Every round of every process; of a percentile every process's own; of what was found once, that.
fn samples(measurement: &Measurement, figure: Figure<'_>) -> Vec<f64> {
    let samples: Vec<f64> = match (&measurement.processes, figure.percentile) {
        (Some(Processes::Rounds(processes)), None) => processes.iter().flatten().copied().collect(),
        (Some(Processes::Percentiles(processes)), Some(name)) => {
            processes.iter().filter_map(|process| Some(process.get(name)?.as_ref()?.as_f64())).collect()
        }
        _ => Vec::new(),
    };
    if samples.is_empty() { vec![figure.value] } else { samples }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn the_example_line_by_line() {
        let run = example();
        let all: Vec<_> = run.measurements.iter().collect();
        let text = text(&run, &all);
        assert!(text.starts_with("goos: linux\ngoarch: x86_64\npkg: votebench\ncpu: AMD EPYC\n"), "{text}");
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("Benchmark")).collect();
        // Two processes of five rounds, two counts, one process's two percentiles and three that it does not have, a count.
        assert_eq!(lines.len(), 10 + 2 + 5 + 1);
        assert_eq!(lines[0], "BenchmarkSerialization/protocol=zap/model=encode/row=chained 1 4.1 ns/op");
        assert!(text.contains("Unit wire-bytes-B better=lower assume=exact\n"), "{text}");
        assert!(text.contains("BenchmarkLatency/protocol=zap/wait=poll 1 16000 round-trip-at-p99-ns\n"), "{text}");
        assert!(text.contains("/side=client 100000 0 allocations/message\n"), "{text}");
        for line in lines {
            let words: Vec<_> = line.split(' ').collect();
            assert!(words.len() == 4 && words[1].parse::<u64>().is_ok() && words[2].parse::<f64>().is_ok(), "{line}");
        }
    }
}
