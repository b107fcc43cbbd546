//! What the papers claim, beside what was measured, as people read it: table by table in the papers' order, every figure of theirs
//! with ours. Owns the words and the columns; every figure comes out of the report.

use super::serialization::count;
use super::table::{Group, Table, figure, grouped};
use super::terminal;
use crate::claims::record::{Against, Cell, Claim, Line, Paper, Report, Summary, Tally, Verdict};
use crate::claims::{record, source};

/// Columns of a table whose rows are set against each other, and of one whose rows are not.
const COMPARED: [&str; 10] = [
    "row",
    "figure",
    "paper",
    "ours",
    "90 % interval",
    "of the figure",
    "against, in the paper",
    "ours",
    "verdict",
    "order after the row before it in the paper's figures",
];
const ALONE: [&str; 6] = ["row", "figure", "paper", "ours", "90 % interval", "of the figure"];

/// Waits are never mixed in one table.
const WAITS: [&str; 2] = ["block", "poll"];

/// On a terminal.
#[must_use]
pub fn terminal(report: &Report) -> String {
    let mut parts = vec![runs(report, "")];
    for paper in &report.papers {
        parts.push(format!("=== {}", head(paper)));
        parts.extend(tables(paper).iter().map(terminal::grid));
        parts.push(sayings(paper));
        parts.extend(said(paper).as_ref().map(terminal::grid));
        parts.push(contradictions(paper));
        parts.push(sentence(&paper.summary));
    }
    parts.push(HOW.to_owned());
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// For a pull request, whole.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut parts = vec![runs(report, "- "), HOW.to_owned()];
    for paper in &report.papers {
        parts.push(format!("## {}", head(paper)));
        parts.push(sentence(&paper.summary));
        parts.extend(tables(paper).iter().map(|table| table.markdown().trim_end().to_owned()));
        parts.push(sayings(paper));
        parts.extend(said(paper).map(|table| table.markdown().trim_end().to_owned()));
        parts.push(contradictions(paper));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// For a block of a Markdown file: what is said in words stands open, the papers' tables are folded.
#[must_use]
pub fn block(report: &Report) -> String {
    let mut parts = vec![runs(report, "- "), HOW.to_owned()];
    for paper in &report.papers {
        parts.push(format!("### {}", head(paper)));
        parts.push(sentence(&paper.summary));
        parts.push(sayings(paper));
        parts.extend(said(paper).map(|table| table.markdown().trim_end().to_owned()));
        for table in tables(paper) {
            let title = &table.title;
            parts.push(format!("<details><summary>{title}</summary>\n\n{}\n</details>", table.markdown()));
        }
        parts.push(contradictions(paper));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// How to read it all.
pub(super) const HOW: &str = "Absolute times are another machine's: shown, never judged. An order is reproduced where the 90 % interval of our ratio lies on \
     the claimed side of 1, contradicted where it lies on the other, else unresolved; a ratio is reproduced where the interval lies \
     within a factor 1.25 of the claim, else the order only. Counts are the same or contradicted. In brackets behind a figure of \
     the paper: the contradiction within the source that it is part of.";

/// Which paper it is, and its machine.
pub(super) fn head(paper: &Paper) -> String {
    format!("{}: {}; on {}", paper.file, paper.source, paper.machine)
}

fn runs(report: &Report, bullet: &str) -> String {
    if report.runs.is_empty() {
        return format!("{bullet}No run was given.");
    }
    let lines = report.runs.iter().map(|run| {
        let notes = run.notes.iter().map(|note| format!("; {note}"));
        let fit = if run.fit { "fit" } else { "UNFIT" };
        format!(
            "{bullet}Run {} ({}): commit {}, {}, kernel {}, machine {fit}{}",
            run.id,
            run.suites.join(", "),
            run.commit,
            run.machine,
            run.kernel,
            notes.collect::<String>()
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The paper's tables; round trips one for each wait.
pub(super) fn tables(paper: &Paper) -> Vec<Table> {
    let split = |table: &record::Table| {
        let has = |wait: &str| readings(table.cells.iter().collect()).contains(&wait);
        WAITS.into_iter().all(has)
    };
    let mut tables = Vec::new();
    for table in &paper.tables {
        if split(table) {
            tables.extend(WAITS.map(|wait| of_readings(table, Some(wait))));
        } else {
            tables.push(of_readings(table, None));
        }
    }
    if let Some(first) = tables.first_mut() {
        first.notes.extend(paper.remarks.iter().cloned());
    }
    tables
}

/// The table with all readings, or with that one and the lines that have none.
fn of_readings(table: &record::Table, only: Option<&str>) -> Table {
    let compared = table.against.is_some();
    let mut rows = Vec::new();
    let columns = source::distinct(table.cells.iter().map(|cell| cell.column.as_str()));
    for column in columns {
        let cells: Vec<&Cell> = table.cells.iter().filter(|cell| cell.column == column).collect();
        for reading in readings(cells.clone()) {
            if only.is_some_and(|only| !reading.is_empty() && reading != only) {
                continue;
            }
            for cell in &cells {
                let lines = cell.lines.iter().filter(|line| line.reading == reading);
                rows.extend(lines.map(|line| row(table, cell, line, compared)));
            }
        }
    }
    let wait = only.map_or_else(String::new, |wait| format!(", {wait}"));
    Table {
        title: format!("{}{wait}", table.title),
        head: if compared { COMPARED.to_vec() } else { ALONE.to_vec() },
        groups: vec![Group { title: "", rows }],
        notes: table.notes.clone(),
    }
}

/// The readings that any of the cells has, in their order.
fn readings(cells: Vec<&Cell>) -> Vec<&str> {
    source::distinct(cells.into_iter().flat_map(|cell| &cell.lines).map(|line| line.reading.as_str()))
}

fn row(table: &record::Table, cell: &Cell, line: &Line, compared: bool) -> Vec<String> {
    let reading = if line.reading.is_empty() { String::new() } else { format!(" ({})", line.reading) };
    let unit = if cell.label.contains(&cell.unit) { String::new() } else { format!(", {}", cell.unit) };
    let mut cells = vec![
        cell.row.clone(),
        format!("{}{unit}{reading}", cell.label),
        paper(table, cell),
        ours(cell, line),
        line.interval.map_or_else(|| "-".to_owned(), |ends| interval(ends, figure)),
        of_figure(line),
    ];
    if compared {
        let against = line.against.as_ref();
        cells.push(against.map_or_else(|| "-".to_owned(), claimed));
        cells.push(against.map_or_else(|| "-".to_owned(), ratio));
        cells.push(against.map_or_else(|| "-".to_owned(), judged));
        cells.push(line.after.as_ref().map_or_else(|| "-".to_owned(), after));
    }
    cells
}

/// The paper's figure with the decimals that its table has, and the number of the contradiction that it is part of.
fn paper(table: &record::Table, cell: &Cell) -> String {
    let same_unit = table.cells.iter().filter(|other| other.unit == cell.unit);
    let decimals = same_unit.map(|other| decimals(other.paper)).max().unwrap_or(0);
    let mark = cell.contradiction.map_or_else(String::new, |number| format!(" ({number})"));
    grouped(&format!("{:.decimals$}", cell.paper)) + &mark
}

/// How many decimals a figure is printed with at least.
fn decimals(value: f64) -> usize {
    format!("{value}").split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// Our figure: a count to the last digit, a time or a share with three.
fn ours(cell: &Cell, line: &Line) -> String {
    let is_count = ["B", "1", "1/op", "B/op"].contains(&cell.unit.as_str());
    let text = |value: f64| {
        if is_count { grouped(&count(value)) } else { figure(value) }
    };
    let mark = if line.beyond { ">" } else { "" };
    line.ours.map_or_else(|| "-".to_owned(), |value| format!("{mark}{}", text(value)))
}

fn interval([low, high]: [f64; 2], text: impl Fn(f64) -> String) -> String {
    format!("{} to {}", text(low), text(high))
}

/// What is said of the figure by itself, and why.
fn of_figure(line: &Line) -> String {
    with_reason(word(line.verdict).to_owned(), line.reason.as_deref())
}

fn with_reason(word: String, reason: Option<&str>) -> String {
    reason.map_or_else(|| word.clone(), |reason| format!("{word}: {reason}"))
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::OrderOnly => "order only",
        Verdict::Contradicted => "contradicted",
        Verdict::Unresolved => "unresolved",
        Verdict::Shown => "shown",
        Verdict::NotComparable => "not comparable",
        Verdict::NotMeasured => "not measured",
    }
}

fn times(ratio: f64) -> String {
    format!("{}x", figure(ratio))
}

/// The paper's ratio, and to what.
fn claimed(against: &Against) -> String {
    against.claimed.map_or_else(|| "-".to_owned(), |ratio| format!("{} {}", times(ratio), against.name))
}

/// Our ratio with its interval.
fn ratio(against: &Against) -> String {
    match (against.ratio, against.interval) {
        (None, _) => "-".to_owned(),
        (Some(ratio), Some([low, high])) if low < high => {
            format!("{} ({})", times(ratio), interval([low, high], figure))
        }
        (Some(ratio), _) => times(ratio),
    }
}

/// What is said of the order and the ratio: in one word, where one is enough.
fn judged(against: &Against) -> String {
    let words = match (against.order, against.factor) {
        (Verdict::Unresolved, Verdict::Reproduced) => "ratio reproduced, order unresolved".to_owned(),
        (Verdict::Reproduced | Verdict::Contradicted, Verdict::Unresolved) => {
            format!("order {}, ratio unresolved", word(against.order))
        }
        (_, factor) => word(factor).to_owned(),
    };
    with_reason(words, against.reason.as_deref())
}

/// The row before in the paper's figures, and whether the order holds here.
fn after(against: &Against) -> String {
    let ours = if against.ratio.is_some() { format!(", {}", ratio(against)) } else { String::new() };
    with_reason(format!("{}{ours}: {}", against.name, word(against.order)), against.reason.as_deref())
}

/// The claims in words, numbered.
fn sayings(paper: &Paper) -> String {
    let lines = paper.claims.iter().enumerate().map(|(at, claim)| format!("{}. {}.", at + 1, claim.claim));
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { String::new() } else { format!("What the paper says in words:\n\n{}", lines.join("\n")) }
}

/// What was measured of them.
pub(super) fn said(paper: &Paper) -> Option<Table> {
    let of_claim = |(at, claim): (usize, &Claim)| -> Vec<Vec<String>> {
        let optional = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), times);
        let row = |line: &Line| {
            let against = line.against.as_ref();
            let table =
                claim.table.or_else(|| against.and_then(|against| against.claimed).filter(|_| claim.claimed.is_none()));
            let verdict = against.map_or_else(|| of_figure(line), judged);
            vec![
                format!("{}", at + 1),
                if line.reading.is_empty() { "-".to_owned() } else { line.reading.clone() },
                optional(claim.claimed),
                optional(table),
                against.map_or_else(|| "-".to_owned(), ratio),
                against.map_or_else(|| "-".to_owned(), |against| against.name.clone()),
                verdict,
            ]
        };
        claim.lines.iter().map(row).collect()
    };
    let rows: Vec<_> = paper.claims.iter().enumerate().flat_map(of_claim).collect();
    (!rows.is_empty()).then(|| Table {
        title: "What was measured of that".to_owned(),
        head: vec!["claim", "measured as", "claimed", "by the paper's own table", "ours", "against", "verdict"],
        groups: vec![Group { title: "", rows }],
        notes: Vec::new(),
    })
}

fn contradictions(paper: &Paper) -> String {
    let lines = paper.contradictions.iter().enumerate().map(|(at, sentence)| format!("{}. {sentence}.", at + 1));
    let lines: Vec<_> = lines.map(|line| line.replace("..", ".")).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("What the source contradicts itself in:\n\n{}", lines.join("\n"))
    }
}

/// How the paper's figures came out.
pub(super) fn sentence(summary: &Summary) -> String {
    let of = |what: &str, tally: &Tally| {
        let counts = [
            (tally.reproduced, "reproduced"),
            (tally.order_only, "in order only"),
            (tally.contradicted, "contradicted"),
            (tally.unresolved, "unresolved"),
        ];
        let parts: Vec<_> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
        (!parts.is_empty()).then(|| format!("{what}: {}", parts.join(", ")))
    };
    let parts = [
        of("counts", &summary.counts),
        of("orders", &summary.orders),
        of("ratios", &summary.ratios),
        of("orders against the row before", &summary.neighbours),
        of("claims in words", &summary.said),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let judged = if parts.is_empty() { "nothing could be judged".to_owned() } else { parts.join("; ") };
    format!(
        "{} figures and {} claims in words, each in every reading that it has. Of these lines, {judged}. {} figures have none of ours beside them.",
        summary.cells, summary.claims, summary.without
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_figures_are_printed_as_there() {
        let cell = |paper: f64, unit: &str| Cell {
            row: "zap".to_owned(),
            column: "c".to_owned(),
            label: "c".to_owned(),
            unit: unit.to_owned(),
            paper,
            contradiction: None,
            lines: Vec::new(),
        };
        let cells = vec![cell(42_000_000.0, "1/s"), cell(26.0, "ns"), cell(23.8, "ns"), cell(1_247.3, "ns")];
        let table =
            record::Table { name: "t".to_owned(), title: "t".to_owned(), against: None, notes: Vec::new(), cells };
        let printed: Vec<_> = table.cells.iter().map(|cell| paper(&table, cell)).collect();
        assert_eq!(printed, ["42,000,000", "26.0", "23.8", "1,247.3"]);
    }

    #[test]
    fn two_words_where_one_would_hide_something() {
        let of = |order, factor| {
            let against = Against {
                name: "zap".to_owned(),
                claimed: None,
                ratio: None,
                interval: None,
                interval_level: None,
                processes: None,
                order,
                factor,
                reason: None,
            };
            judged(&against)
        };
        assert_eq!(of(Verdict::Reproduced, Verdict::Reproduced), "reproduced");
        assert_eq!(of(Verdict::Reproduced, Verdict::OrderOnly), "order only");
        assert_eq!(of(Verdict::Unresolved, Verdict::Reproduced), "ratio reproduced, order unresolved");
        assert_eq!(of(Verdict::Reproduced, Verdict::Unresolved), "order reproduced, ratio unresolved");
    }
}
