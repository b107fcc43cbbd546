//! OpenMetrics text (<https://prometheus.io/docs/specs/om/open_metrics_spec/>): a gauge for each metric and unit, the coordinates
//! as labels.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Figure, coordinates, figures};
use crate::result::RunFile;
use crate::result::record::Measurement;

/// The figures of `measurements`, with the run's id and commit as labels of an info metric.
#[must_use]
pub fn text(run: &RunFile, measurements: &[&Measurement]) -> String {
    let mut families: BTreeMap<String, (String, String)> = BTreeMap::new();
    for measurement in measurements {
        let all = figures(measurement);
        if all.is_empty() {
            continue;
        }
        let unit = unit(&measurement.unit);
        let name = format!("votebench_{}_{unit}", word(&measurement.metric));
        let (_, samples) = families.entry(name.clone()).or_insert_with(|| {
            let help = format!("{} in {}", measurement.metric, measurement.unit);
            (format!("# TYPE {name} gauge\n# UNIT {name} {unit}\n# HELP {name} {}\n", escaped(&help)), String::new())
        });
        for figure in all {
            // Writing to a string cannot fail.
            let _ = writeln!(samples, "{name}{{{}}} {}", labels(measurement, figure), figure.value);
        }
    }
    let mut text = "# TYPE votebench_run info\n# HELP votebench_run The run that the figures are of.\n".to_owned();
    let (id, commit) = (escaped(&run.run.id), escaped(&run.source.commit));
    let cpu = escaped(&run.machine.cpu);
    let _ = writeln!(text, "votebench_run_info{{id=\"{id}\",commit=\"{commit}\",cpu=\"{cpu}\"}} 1");
    for (head, samples) in families.values() {
        text += head;
        text += samples;
    }
    text + "# EOF\n"
}

fn labels(measurement: &Measurement, figure: Figure<'_>) -> String {
    let all = coordinates(measurement).chain(figure.percentile.map(|name| ("percentile", name)));
    all.map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect::<Vec<_>>().join(",")
}

/// A unit in the words that the format asks for: a family's name ends with it.
fn unit(unit: &str) -> String {
    let (what, per) = unit.split_once('/').map_or((unit, None), |(what, per)| (what, Some(per)));
    let what = match what {
        "ns" => "nanoseconds",
        "B" => "bytes",
        "1" => "count",
        other => other,
    };
    per.map_or_else(|| word(what), |per| format!("{}_per_{}", word(what), word(per)))
}

/// A name of letters, digits and underscores.
fn word(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn the_example_by_hand() {
        let run = example();
        let text = text(&run, &run.measurements.iter().collect::<Vec<_>>());
        assert!(text.ends_with("# EOF\n") && text.starts_with("# TYPE votebench_run info\n"), "{text}");
        let name = "votebench_time_nanoseconds_per_op";
        let sample =
            format!("{name}{{suite=\"serialization\",protocol=\"zap\",model=\"encode\",row=\"chained\"}} 4.1\n");
        assert!(text.contains(&format!("# TYPE {name} gauge\n# UNIT {name} nanoseconds_per_op\n")), "{text}");
        assert!(text.contains(&sample), "{text}");
        assert!(text.contains("votebench_round_trip_nanoseconds{suite=\"latency\",protocol=\"zap\",wait=\"poll\",percentile=\"p99\"} 16100\n"));
        assert_eq!(escaped("a\"b\\c\nd"), r#"a\"b\\c\nd"#);
    }
}
