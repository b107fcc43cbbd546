//! Instructions per message: codecs down, models across.

use super::marks::{caveat, notes, number_or_word};
use super::matrix::{Cell, Line, Matrix, shade};
use super::{Figure, source};
use crate::report::instructions::{self, LOOP, MANY, METRIC, MODELS, count, find};
use crate::report::serialization::{GROUPS};
use crate::result::record::Measurement;
use crate::result::{Loaded, RunFile};

pub(super) fn figures(runs: &[Loaded]) -> Vec<Figure> {
    runs.iter().filter_map(|run| of_run(&run.run)).collect()
}

fn of_run(run: &RunFile) -> Option<Figure> {
    let protocols = instructions::protocols(run);
    let of = |protocol: &str, model: &str| find(run, protocol, model, MANY);
    let number = |protocol: &str, model: &str| of(protocol, model).and_then(Measurement::number);
    let values: Vec<f64> =
        protocols.iter().flat_map(|(protocol, _)| MODELS.iter().filter_map(|model| number(protocol, model))).collect();
    values.first()?;
    let cell = |protocol: &str, model: &str| {
        let m = of(protocol, model)?;
        let text = number_or_word(m, count);
        let reason = m.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        let tip = format!("{protocol}, {model}: {text} instructions{reason}");
        let suspect = m.number().is_some() && caveat(m, run).is_some();
        Some(Cell { tip, shade: m.number().map(|value| shade(value, &values)), suspect, text })
    };
    let line = |protocol: &str| Line {
        label: protocol.to_owned(),
        cells: MODELS.iter().map(|model| cell(protocol, model)).collect(),
    };
    let ordered = GROUPS.iter().flat_map(|(classes, _)| protocols.iter().filter(|(_, class)| classes.contains(class)));
    let chart = Matrix {
        columns: MODELS.iter().map(ToString::to_string).collect(),
        rows: ordered.map(|(protocol, _)| line(protocol)).collect(),
    };
    let all = run.measurements.iter().filter(|m| m.metric == METRIC && m.protocol != LOOP);
    Some(Figure {
        name: "instructions".to_owned(),
        suite: "instructions",
        run: run.run.id.clone(),
        title: "Instructions per message".to_owned(),
        unit: "Instructions a message; less is better",
        caption: "Counted by callgrind, back to back, the loop taken off. The darker, the more. Yardsticks and other formats \
                  stand at the foot."
            .to_owned(),
        source: source(run),
        notes: notes(all.map(|m| (m.protocol.as_str(), caveat(m, run)))),
        table: instructions::table(run),
        in_readme: false,
        chart: Box::new(chart),
    })
}
