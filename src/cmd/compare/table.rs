//! A comparison as people read it: what it is of, what changed, the worst first, and how much did not. Owns the words; every
//! figure comes out of the report.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::compare::record::{Basis, Line, Outcome, Report, SideRecord, Summary, Trend};
use crate::report::table::{Group, Table, figure};
use crate::report::terminal;
use crate::result::record::Kind;

/// Outcomes that are shown without being asked for.
const CHANGES: [Outcome; 5] =
    [Outcome::Broken, Outcome::Worse, Outcome::LayoutSuspect, Outcome::Better, Outcome::Untested];

/// On a terminal.
pub(super) fn terminal(report: &Report, all: bool) -> String {
    let mut parts = vec![head(report, "")];
    parts.extend(tables(report, all).iter().map(terminal::grid));
    let reasons = reasons(report);
    if !reasons.is_empty() {
        parts.push(reasons.join("\n"));
    }
    parts.push(sentence(&report.summary));
    parts.join("\n\n")
}

/// For a pull request.
pub(super) fn markdown(report: &Report, all: bool) -> String {
    let mut parts = vec![format!("**votebench compare**: {}", sentence(&report.summary)), head(report, "- ")];
    parts.extend(tables(report, all).iter().map(Table::markdown));
    parts.extend(reasons(report));
    parts.join("\n\n")
}

fn head(report: &Report, bullet: &str) -> String {
    let last = report.sides.len().saturating_sub(1);
    let mut lines = Vec::new();
    for (at, side) in report.sides.iter().enumerate() {
        let which = match at {
            0 => "old".to_owned(),
            at if at == last => "new".to_owned(),
            at => format!("{}", at + 1),
        };
        lines.push(format!("{bullet}{which}: {}", origin(side)));
    }
    lines.extend(report.notes.iter().map(|note| format!("{bullet}{note}")));
    lines.join("\n")
}

fn origin(side: &SideRecord) -> String {
    let runs = if side.runs.len() > 4 { format!("{} runs", side.runs.len()) } else { side.runs.join(", ") };
    format!("{runs} (commit {})", side.commits.join(", "))
}

fn tables(report: &Report, all: bool) -> Vec<Table> {
    let mut tables = vec![lines(report, all)];
    if report.sides.len() > 2 {
        tables.push(trends(&report.trends, all));
    }
    tables.retain(|table| table.filled().next().is_some());
    tables
}

fn lines(report: &Report, all: bool) -> Table {
    let shown = |outcomes: &[Outcome]| -> Vec<Vec<String>> {
        let of = report.lines.iter().filter(|line| outcomes.contains(&line.outcome));
        of.map(row).collect()
    };
    let mut groups = vec![Group { title: "", rows: shown(&CHANGES) }];
    if all {
        groups.push(Group { title: "neither changed nor shown to be the same", rows: shown(&[Outcome::Unresolved]) });
        groups.push(Group { title: "the same", rows: shown(&[Outcome::Same, Outcome::Equal]) });
        let missing = [Outcome::Gone, Outcome::New, Outcome::NotComparable];
        groups.push(Group { title: "not compared", rows: shown(&missing) });
    }
    let head = vec!["figure", "old", "new", "new against old", "90 % interval", "verdict", "remark"];
    Table { title: "What changed, the worst first".to_owned(), head, groups, notes: Vec::new() }
}

/// How many reasons are said below the tables.
const REASONS: usize = 8;

/// Why lines were not compared, or are no more than indicative: each reason once.
fn reasons(report: &Report) -> Vec<String> {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in &report.lines {
        let what = match (line.outcome, line.basis) {
            (Outcome::NotComparable, _) => "Not comparable",
            (_, Basis::Indicative) if line.outcome != Outcome::LayoutSuspect => "Indicative",
            _ => continue,
        };
        *reasons.entry((what, line.reason.as_deref().unwrap_or("no reason is recorded"))).or_default() += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut notes: Vec<String> =
        reasons.iter().take(REASONS).map(|((what, reason), count)| format!("{what}, {count}: {reason}.")).collect();
    if let Some(more) = reasons.len().checked_sub(REASONS).filter(|more| *more > 0) {
        notes.push(format!("{more} more reasons stand in --json."));
    }
    notes
}

fn row(line: &Line) -> Vec<String> {
    let words: Vec<_> = line.at.words().collect();
    let value = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{} {}", number(line.kind, value), line.unit))
    };
    let interval = line.test.map(|test| test.interval);
    // What makes a line indicative is said once, below.
    let is_said = line.basis == Basis::Indicative && line.outcome != Outcome::LayoutSuspect;
    let reason = line.reason.as_deref().filter(|_| !is_said);
    let remarks = [line.versions.as_deref(), reason].into_iter().flatten();
    vec![
        words.join(" "),
        value(line.old),
        value(line.new),
        line.ratio.map_or_else(|| "-".to_owned(), change),
        interval.map_or_else(String::new, |[low, high]| format!("{} to {}", change(low), change(high))),
        verdict(line),
        remarks.collect::<Vec<_>>().join("; "),
    ]
}

/// Exact figures are shown to the last digit that they have.
fn number(kind: Kind, value: f64) -> String {
    if kind == Kind::Exact { format!("{value}") } else { figure(value) }
}

/// A ratio as the difference that it is: in per cent, or from twice and down to a half as a factor.
fn change(ratio: f64) -> String {
    if (0.5..2.0).contains(&ratio) {
        let per_cent = 100.0 * (ratio - 1.0);
        // No minus sign before a zero.
        format!("{:+.1} %", if per_cent.abs() < 0.05 { 0.0 } else { per_cent })
    } else {
        format!("{ratio:.2}x")
    }
}

fn verdict(line: &Line) -> String {
    let is_time = ["ns", "us", "ms", "s"].contains(&line.unit.split('/').next().unwrap_or_default());
    let word = match line.outcome {
        Outcome::Broken => "broken",
        Outcome::Worse if is_time => "slower",
        Outcome::Worse => "worse",
        Outcome::Better if is_time => "faster",
        Outcome::Better => "better",
        Outcome::LayoutSuspect => "layout suspect",
        Outcome::Untested => "differs, one figure a run",
        Outcome::Unresolved => match line.test.and_then(|test| test.would_see) {
            Some(effect) => return format!("unresolved (would see {:.0} %)", (100.0 * effect).ceil()),
            None => "unresolved",
        },
        Outcome::Same => "same within 3 %",
        Outcome::Equal => "equal",
        Outcome::Gone => "gone",
        Outcome::New => "new",
        Outcome::NotComparable => "not comparable",
    };
    let indicative = line.basis == Basis::Indicative && matches!(line.outcome, Outcome::Worse | Outcome::Better);
    if indicative { format!("{word} (indicative)") } else { word.to_owned() }
}

fn trends(trends: &[Trend], all: bool) -> Table {
    let shown = trends.iter().filter(|trend| all || !trend.changes.is_empty());
    let rows = shown.map(|trend| {
        let value = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), |value| number(trend.kind, value));
        let values: Vec<_> = trend.values.iter().map(value).collect();
        let changes = trend.changes.iter().map(|change| {
            let mut text = format!("{} ", change.commit);
            let word = match change.outcome {
                Outcome::Broken => "broken",
                Outcome::Worse => "worse",
                Outcome::Better => "better",
                Outcome::LayoutSuspect => "layout suspect",
                _ => "differs",
            };
            let _ = write!(text, "{word}");
            if let Some(ratio) = change.ratio {
                let _ = write!(text, " {}", self::change(ratio));
            }
            if change.basis == Basis::Indicative { text + " (indicative)" } else { text }
        });
        let changes: Vec<_> = changes.collect();
        let words: Vec<_> = trend.at.words().collect();
        vec![format!("{}, {}", words.join(" "), trend.unit), values.join(" -> "), changes.join("; ")]
    });
    Table {
        title: "Trends: where a figure changed".to_owned(),
        head: vec!["figure", "from the first side to the last", "changed at commit"],
        groups: vec![Group { title: "", rows: rows.collect() }],
        notes: Vec::new(),
    }
}

/// How many lines came to what, and what ends with status 1.
fn sentence(summary: &Summary) -> String {
    let counts = [
        (summary.broken, "broken"),
        (summary.worse, "worse"),
        (summary.layout_suspect, "layout suspect"),
        (summary.better, "better"),
        (summary.untested, "different in one figure a run"),
        (summary.unresolved, "unresolved"),
        (summary.same, "same within 3 %"),
        (summary.equal, "equal"),
        (summary.gone, "gone"),
        (summary.new, "new"),
        (summary.not_comparable, "not comparable"),
    ];
    let parts: Vec<_> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let parts = if parts.is_empty() { "nothing to compare".to_owned() } else { parts.join(", ") };
    match summary.fails {
        0 => format!("{parts}. Nothing got worse that is exact or was interleaved."),
        fails => format!("{parts}. {fails} got worse beyond doubt."),
    }
}
