//! What a paper says in words, each claim with what was measured beside it: ratios of two rows, the bound on the 99th percentile,
//! growth over an hour. Owns these three; ratios are judged as those of the tables are.

use serde_json::Value as Json;

use super::answer::{Judging, Reference, Saying};
use super::cells::{Lines, entry, quotient, without};
use super::lookup::{self, Found};
use super::mapping::SAYINGS;
use super::ratio::{Interval, Ratio};
use super::record::{Against, Claim, Line, Verdict};
use super::source::{self, Claims};
use super::verdict;
use crate::result::RunFile;
use crate::result::record::{Processes, Status};

/// A claim with what was measured of it.
pub(super) fn claim(saying: &source::Saying, claims: &Claims, runs: &[RunFile]) -> Claim {
    let known = SAYINGS.iter().find(|(of, _)| *of == saying.of).map(|(_, known)| *known);
    let mut claim = Claim {
        claim: saying.claim.clone(),
        of: saying.of.clone(),
        claimed: saying.ratio,
        table: None,
        lines: Vec::new(),
    };
    let table = |name: &str| claims.tables.iter().find(|table| table.name == name);
    match known {
        None => claim.lines.push(without("", Verdict::NotMeasured, "nothing here answers this claim")),
        Some(Saying::Without(reason)) => claim.lines.push(without("", Verdict::NotComparable, reason)),
        Some(Saying::Bound) => claim.lines = bound(runs),
        Some(Saying::Ratio { table: name, column, row, against }) => {
            if let Some(table) = table(name) {
                claim.table = quotient(table.value(row, column), table.value(against, column));
                claim.lines = ratios(table, (column, row, against), saying.ratio, runs);
            }
        }
        Some(Saying::Growth { rows, from, to }) => {
            if let Some(table) = table("sustained") {
                claim.lines = rows.iter().flat_map(|row| growth(table, row, [from, to], runs)).collect();
            }
        }
    }
    if claim.lines.is_empty() {
        claim.lines.push(without("", Verdict::NotMeasured, "the claims file has not the table that it is of"));
    }
    claim
}

/// One row over another in each reading of the column, against the ratio that is claimed in words.
fn ratios(
    table: &source::Table,
    (column, row, against): (&str, &'static str, &'static str),
    claimed: Option<f64>,
    runs: &[RunFile],
) -> Vec<Line> {
    let mut lines = Lines::of(table, column, Some(Reference::Row(against)), runs).said(claimed).lines(row);
    lines.iter_mut().for_each(|line| line.after = None);
    lines
}

/// The papers' bound: two system calls and a scheduler's share, both measured, against the 99th percentile of `zap`. A thread that
/// never sleeps is not woken, so that the scheduler's share is none in `poll`.
fn bound(runs: &[RunFile]) -> Vec<Line> {
    let Some(column) = entry("round_trip", "p99") else { return Vec::new() };
    let mut lines = Vec::new();
    for answer in column.answers.iter().filter(|answer| matches!(answer.judging, Judging::Ratio)) {
        let sources = lookup::Sources::of(answer, &["zap"], runs);
        let found = sources.get(answer, "zap");
        let figure = found.and_then(|found| lookup::figure(answer, "zap", found));
        let mut line = without(answer.reading, Verdict::NotMeasured, "");
        line.measurement = lookup::coordinates(answer, "zap", found);
        let (Some(found), Some(figure)) = (found, figure) else {
            line.reason = Some(lookup::why_not(answer, found, runs));
            lines.push(line);
            continue;
        };
        line.run = Some(found.run.run.id.clone());
        (line.ours, line.interval) = (Some(figure.value), figure.interval);
        (line.verdict, line.reason) = (Verdict::Shown, None);
        line.against = Some(under(found, figure, answer.reading));
        lines.push(line);
    }
    lines
}

/// The figure against the bound of its run: the claim is that it lies below.
fn under(found: Found<'_>, figure: lookup::Figure, wait: &str) -> Against {
    let name = if wait == "poll" { "2 tau_syscall" } else { "2 tau_syscall + tau_sched" };
    let ours = measured_bound(found.run, wait).and_then(|bound| {
        let of = |us: f64| 1e3 * us / bound;
        if !found.run.conditions.fit || found.measurement.unfit.is_some() {
            return Err("the machine was unfit".to_owned());
        }
        let known = found.measurement.intervals.get("p99").filter(|interval| interval.level >= 0.9);
        let processes = found.measurement.processes.as_ref().map_or(0, Processes::len);
        let interval = known.map(|known| Interval {
            ends: [of(known.low / 1e3), of(known.high / 1e3)],
            over: Some((known.level, processes)),
            other_ends: None,
        });
        let reason = interval.is_none().then(|| "its p99 has no interval over enough processes".to_owned());
        Ok(Ratio { ratio: of(figure.value), interval, reason })
    });
    // Below 1, by however little.
    let mut judged = verdict::against(name, Some(1.0 - f64::EPSILON), ours, false);
    judged.claimed = None;
    // How far below is not claimed.
    judged.factor = judged.order;
    judged
}

/// The bound of a run in nanoseconds.
fn measured_bound(run: &RunFile, wait: &str) -> Result<f64, String> {
    let missing = || "the run has not measured the bound".to_owned();
    let bound =
        run.measurements.iter().find(|m| m.suite == "latency" && m.metric == "p99-bound").ok_or_else(missing)?;
    let part = |name: &str| bound.settings.get(name).and_then(Json::as_f64).ok_or_else(missing);
    if bound.status != Status::Ok {
        return Err(bound.reason.clone().unwrap_or_else(missing));
    }
    if wait == "poll" {
        return Ok(2.0 * part("tau_syscall_ns")?);
    }
    if !bound.settings.contains_key("tau_sched_is") {
        return Err(
            "the run's tau_sched is the hiccup meter's, which leaves out that a thread has to be woken".to_owned()
        );
    }
    bound.number().ok_or_else(missing)
}

/// How a row's 99th percentile grows from one window to another: of the growth itself there is one figure a run, so that the
/// order is that of the drift, which has an interval.
fn growth(table: &source::Table, row: &str, columns: [&str; 2], runs: &[RunFile]) -> Vec<Line> {
    let claimed = quotient(table.value(row, columns[1]), table.value(row, columns[0]));
    let answers = columns.map(|column| entry("sustained", column).map_or(&[][..], |entry| entry.answers));
    let mut lines = Vec::new();
    for (first, last) in answers[0].iter().zip(answers[1]) {
        let [from, to] = [first, last].map(|answer| lookup::Sources::of(answer, &[row], runs).get(answer, row));
        let mut line = without(&format!("{row}, {}", first.reading), Verdict::NotMeasured, "");
        line.measurement = lookup::coordinates(last, row, to);
        line.run = to.map(|found| found.run.run.id.clone());
        let figure = |answer, found: Option<Found<'_>>| found.and_then(|found| lookup::figure(answer, row, found));
        let (Some(from_figure), Some(to_figure), Some(to)) = (figure(first, from), figure(last, to), to) else {
            let (answer, found) = if figure(first, from).is_none() { (first, from) } else { (last, to) };
            line.reason = Some(lookup::why_not(answer, found, runs));
            lines.push(line);
            continue;
        };
        (line.ours, line.verdict, line.reason) = (Some(to_figure.value), Verdict::Shown, None);
        let ratio = Ratio {
            ratio: to_figure.value / from_figure.value,
            interval: None,
            reason: Some("one process a row".to_owned()),
        };
        let mut judged = verdict::against(columns[0], claimed, Ok(ratio), false);
        if let Some(order) = drift(to) {
            judged.order = order;
        }
        line.against = Some(judged);
        lines.push(line);
    }
    lines
}

/// Whether the row's 99th percentile drifts upwards, as its run says.
fn drift(found: Found<'_>) -> Option<Verdict> {
    let Found { run, measurement } = found;
    let is_drift = |m: &&crate::result::record::Measurement| {
        m.suite == "sustained"
            && m.protocol == measurement.protocol
            && m.row == measurement.row
            && m.wait == measurement.wait
            && m.metric == "response-p99-drift"
    };
    let drift = run.measurements.iter().find(is_drift).filter(|m| m.status == Status::Ok)?;
    let has_drift = drift.settings.get("is_drift").and_then(Json::as_bool)?;
    Some(match (has_drift, drift.number()?) {
        (true, slope) if slope > 0.0 => Verdict::Reproduced,
        (true, _) => Verdict::Contradicted,
        (false, _) => Verdict::Unresolved,
    })
}
