//! Comma-separated values as RFC 4180 has them: for each measurement one line with its figure, or with the reason why there is
//! none, then one line for every round of every process, or every percentile of every process.

use super::figures;
use crate::result::RunFile;
use crate::result::record::{Measurement, Processes, Status};

/// The columns.
pub const HEAD: [&str; 18] = [
    "run",
    "commit",
    "suite",
    "protocol",
    "model",
    "row",
    "wait",
    "side",
    "workload",
    "metric",
    "percentile",
    "unit",
    "kind",
    "status",
    "process",
    "round",
    "value",
    "reason",
];

/// The lines of `measurements`.
#[must_use]
pub fn text(run: &RunFile, measurements: &[&Measurement]) -> String {
    let mut text = record(&HEAD.map(str::to_owned));
    for measurement in measurements {
        let line = |percentile: &str, process: Option<usize>, round: Option<usize>, value: Option<f64>| {
            let place = |place: Option<usize>| place.map_or_else(String::new, |place| place.to_string());
            let optional = |text: &Option<String>| text.clone().unwrap_or_default();
            record(&[
                run.run.id.clone(),
                run.source.commit.clone(),
                measurement.suite.clone(),
                measurement.protocol.clone(),
                optional(&measurement.model),
                optional(&measurement.row),
                optional(&measurement.wait),
                optional(&measurement.side),
                optional(&measurement.workload),
                measurement.metric.clone(),
                percentile.to_owned(),
                measurement.unit.clone(),
                name(&measurement.kind),
                name(&measurement.status),
                place(process),
                place(round),
                value.map_or_else(String::new, |value| value.to_string()),
                optional(&measurement.reason),
            ])
        };
        let all = figures(measurement);
        if all.is_empty() {
            text += &line("", None, None, None);
        }
        for figure in all {
            text += &line(figure.percentile.unwrap_or_default(), None, None, Some(figure.value));
        }
        if measurement.status != Status::Ok {
            continue;
        }
        match &measurement.processes {
            Some(Processes::Rounds(processes)) => {
                for (process, rounds) in processes.iter().enumerate() {
                    for (round, value) in rounds.iter().enumerate() {
                        text += &line("", Some(process), Some(round), Some(*value));
                    }
                }
            }
            Some(Processes::Percentiles(processes)) => {
                for (process, percentiles) in processes.iter().enumerate() {
                    for (name, value) in percentiles {
                        let Some(value) = value else { continue };
                        text += &line(name, Some(process), None, Some(value.as_f64()));
                    }
                }
            }
            None => {}
        }
    }
    text
}

/// The name of a kind or status in results files.
fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// One record; a field with a comma, a quote or the end of a line in it is quoted.
fn record(fields: &[String]) -> String {
    let quoted = fields.iter().map(|field| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.clone()
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn quotes_what_must_be_quoted() {
        let fields = ["a", "b,c", "d\"e", "f\ng", ""].map(str::to_owned);
        assert_eq!(record(&fields), "a,\"b,c\",\"d\"\"e\",\"f\ng\",\r\n");
    }

    #[test]
    fn has_a_line_for_every_figure_round_and_reason() {
        let run = example();
        let text = text(&run, &run.measurements.iter().collect::<Vec<_>>());
        let lines: Vec<_> = text.split_terminator("\r\n").collect();
        // The head; a time and ten rounds; two counts; five percentiles and one process's two; a count; a failure.
        assert_eq!(lines.len(), 1 + 11 + 2 + 7 + 1 + 1);
        assert!(lines.iter().all(|line| line.split(',').count() == HEAD.len()), "{text}");
        assert!(lines[1].ends_with(",time,,ns/op,rate,ok,,,4.1,") && lines[2].ends_with(",rate,ok,0,0,4.1,"), "{text}");
        assert!(
            lines.last().unwrap().ends_with(",failed,,,,server closed the connection after 812 messages"),
            "{text}"
        );
    }
}
