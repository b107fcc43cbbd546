//! The figures of a paper's tables, each with what was measured beside it. Owns how a cell's lines are put together; which
//! measurement answers it is the [`mapping`](super::mapping)'s.

use super::answer::{Answer, Column, Judging, Reference};
use super::lookup::{self, Found, Sources};
use super::mapping::{COLUMNS, CONTRADICTED, TABLES};
use super::ratio;
use super::record::{Against, Cell, Line, Table, Verdict};
use super::source;
use super::verdict;
use crate::result::RunFile;
use crate::result::record::Status;

/// A paper's table with every figure of it, column by column.
pub(super) fn table(claimed: &source::Table, runs: &[RunFile]) -> Table {
    let known = TABLES.iter().find(|known| known.name == claimed.name);
    let mut table = Table {
        name: claimed.name.clone(),
        title: known.map_or_else(|| claimed.name.clone(), |known| known.title.to_owned()),
        against: known.and_then(|known| known.against).map(|reference| name(reference).to_owned()),
        notes: claimed.unit.iter().map(|unit| format!("The paper's unit: {unit}.")).collect(),
        cells: Vec::new(),
    };
    let mut several: Vec<(String, Vec<String>)> = Vec::new();
    for column in claimed.columns() {
        let lines = Lines::of(claimed, column, known.and_then(|known| known.against), runs);
        lines.note(&mut several);
        let cells = claimed.cells.iter().filter(|cell| cell.column == column);
        table.cells.extend(cells.map(|cell| lines.cell(cell)));
    }
    table.notes.extend(several.into_iter().map(|(note, of)| format!("{}: {note}", of.join("; "))));
    table
}

/// The entry of the mapping for a column.
pub(super) fn entry(table: &str, column: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|entry| (entry.table, entry.column) == (table, column))
}

const fn name(reference: Reference) -> &'static str {
    match reference {
        Reference::Row(name) | Reference::Column(name) => name,
    }
}

/// The lines of one column of a paper's table.
pub(super) struct Lines<'a> {
    claimed: &'a source::Table,
    column: &'a str,
    entry: Option<&'static Column>,
    against: Option<Reference>,
    /// The ratio to it that is claimed in words, where it is that and not the table's own that is judged.
    said: Option<f64>,
    /// For each answer of the column, the runs that may give it.
    sources: Vec<Sources<'a>>,
    runs: &'a [RunFile],
}

impl<'a> Lines<'a> {
    /// Of that column, whose rows are set against `against`.
    pub(super) fn of(
        claimed: &'a source::Table,
        column: &'a str,
        against: Option<Reference>,
        runs: &'a [RunFile],
    ) -> Self {
        let entry = entry(&claimed.name, column);
        // The whole table chooses the run: its rows have to come from one.
        let rows = source::distinct(claimed.cells.iter().map(|cell| cell.row.as_str()));
        let answers = entry.map_or(&[] as &[Answer], |entry| entry.answers);
        let sources = answers.iter().map(|answer| Sources::of(answer, &rows, runs)).collect();
        Self { claimed, column, entry, against, said: None, sources, runs }
    }

    /// The same lines with another ratio to the reference.
    pub(super) fn said(self, ratio: Option<f64>) -> Self {
        Self { said: ratio, ..self }
    }

    /// Adds to `several` which run was taken, where several have figures.
    fn note(&self, several: &mut Vec<(String, Vec<String>)>) {
        for (answer, sources) in self.entry.into_iter().flat_map(|entry| entry.answers).zip(&self.sources) {
            let Some(note) = sources.note() else { continue };
            let of = format!("{}, {}", self.label(), answer.reading);
            match several.iter_mut().find(|(known, _)| *known == note) {
                Some((_, all)) => all.push(of),
                None => several.push((note, vec![of])),
            }
        }
    }

    fn label(&self) -> &str {
        self.entry.map_or(self.column, |entry| entry.label)
    }

    fn cell(&self, claimed: &source::Cell) -> Cell {
        let unit = self.entry.map(|entry| entry.unit.to_owned()).or_else(|| claimed.unit.clone());
        let touched = CONTRADICTED.iter().find(|(table, column, row, _)| {
            (*table, *column) == (self.claimed.name.as_str(), self.column) && row.is_none_or(|row| row == claimed.row)
        });
        Cell {
            row: claimed.row.clone(),
            column: self.column.to_owned(),
            label: self.label().to_owned(),
            unit: unit.unwrap_or_default(),
            paper: claimed.value,
            contradiction: touched.map(|touched| touched.3),
            lines: self.lines(&claimed.row),
        }
    }

    /// A line for each reading that the row has, or one that says why there is none.
    pub(super) fn lines(&self, row: &str) -> Vec<Line> {
        match self.entry {
            None => vec![without("", Verdict::NotMeasured, "nothing here answers it")],
            Some(entry) if entry.answers.is_empty() => vec![without("", Verdict::NotComparable, entry.reason)],
            Some(entry) => {
                let answers = entry.answers.iter().enumerate().filter(|(_, answer)| answer.protocol(row).is_some());
                let lines: Vec<_> = answers.map(|(place, answer)| self.line(place, answer, row)).collect();
                if lines.is_empty() {
                    return vec![without("", Verdict::NotMeasured, "nothing here answers this row")];
                }
                lines
            }
        }
    }

    fn line(&self, place: usize, answer: &Answer, row: &str) -> Line {
        let found = self.sources[place].get(answer, row);
        let figure = found.and_then(|found| lookup::figure(answer, row, found));
        let mut line = Line {
            reading: answer.reading.to_owned(),
            measurement: lookup::coordinates(answer, row, found),
            run: found.map(|found| found.run.run.id.clone()),
            ours: figure.map(|figure| figure.value),
            interval: figure.and_then(|figure| figure.interval),
            beyond: figure.is_some_and(|figure| figure.beyond),
            verdict: Verdict::NotMeasured,
            reason: None,
            against: None,
            after: None,
        };
        let (Some(figure), Some(found)) = (figure, found) else {
            line.reason = Some(lookup::why_not(answer, found, self.runs));
            return line;
        };
        let paper = self.claimed.value(row, self.column).unwrap_or_default();
        (line.verdict, line.reason) = of_figure(answer, paper, figure.value, found);
        if matches!(answer.judging, Judging::Ratio | Judging::Exact) {
            line.against = self.against(place, answer, row, found);
            line.after = self.after(place, answer, row, found);
        }
        line
    }

    /// The row against the table's reference.
    fn against(&self, place: usize, answer: &Answer, row: &str, found: Found<'a>) -> Option<Against> {
        match self.against? {
            Reference::Row(reference) if reference == row => None,
            Reference::Row(reference) => Some(self.over_row(place, answer, row, found, (reference, self.said))),
            Reference::Column(reference) if reference == self.column => None,
            Reference::Column(reference) => {
                let other = Lines::of(self.claimed, reference, None, self.runs);
                let claimed = quotient(self.claimed.value(row, self.column), self.claimed.value(row, reference));
                let first = other.entry.and_then(|entry| entry.answers.first()).zip(other.sources.first());
                let below = first.and_then(|(answer, sources)| sources.get(answer, row));
                Some(judged(reference, claimed, found, below, answer))
            }
        }
    }

    /// The row against the one before it, when the rows stand in the order of the paper's figures.
    fn after(&self, place: usize, answer: &Answer, row: &str, found: Found<'a>) -> Option<Against> {
        let Some(Reference::Row(_)) = self.against else { return None };
        let before = self.claimed.before(row, self.column)?;
        // A reading that only some rows have ranks nothing.
        answer.protocol(&before.row)?;
        Some(self.over_row(place, answer, row, found, (&before.row, None)))
    }

    /// The row over another of the same column, against that ratio, or else the paper's own.
    fn over_row(
        &self,
        place: usize,
        answer: &Answer,
        row: &str,
        found: Found<'a>,
        (reference, said): (&str, Option<f64>),
    ) -> Against {
        let own = quotient(self.claimed.value(row, self.column), self.claimed.value(reference, self.column));
        // A reading that only some rows have is set against the column's first.
        let (other, sources) = match answer.protocol(reference) {
            Some(_) => (answer, &self.sources[place]),
            None => (self.entry.and_then(|entry| entry.answers.first()).unwrap_or(answer), &self.sources[0]),
        };
        judged(reference, said.or(own), found, sources.get(other, reference), answer)
    }
}

/// What is said of a figure by itself.
fn of_figure(answer: &Answer, paper: f64, ours: f64, found: Found<'_>) -> (Verdict, Option<String>) {
    let measurement = found.measurement;
    let because = |reason: &str| Some(reason.to_owned());
    // Saturated and failed rows keep what they had, and say so.
    if measurement.status != Status::Ok {
        return (Verdict::Shown, measurement.reason.clone());
    }
    match answer.judging {
        Judging::Exact => {
            let verdict = verdict::count(paper, ours, 0);
            (verdict, like_for_like(found, ours).filter(|_| verdict == Verdict::Contradicted))
        }
        Judging::Count(decimals) => (verdict::count(paper, ours, decimals), None),
        Judging::Zero(_) if paper == 0.0 => (verdict::count(paper, ours, 0), None),
        Judging::Zero(reason) | Judging::NotComparable(reason) => (Verdict::NotComparable, because(reason)),
        Judging::Shown(reason) => (Verdict::Shown, because(reason)),
        Judging::Ratio => (Verdict::Shown, None),
    }
}

/// What a published count has in it that no other arm carries, where the run says so.
fn like_for_like(found: Found<'_>, ours: f64) -> Option<String> {
    let settings = &found.measurement.settings;
    settings.get("published_remark")?;
    let bytes = settings.get("published_like_for_like")?.as_f64()?;
    let same = if (bytes - ours).abs() < 1e-9 { "the same as ours" } else { "another than ours" };
    Some(format!("like for like the paper's is {bytes}, {same}"))
}

fn judged(
    reference: &str,
    claimed: Option<f64>,
    above: Found<'_>,
    below: Option<Found<'_>>,
    answer: &Answer,
) -> Against {
    let ours = below.map_or_else(
        || Err(format!("{reference} was not measured")),
        |below| ratio::of(above, below, answer.percentile),
    );
    verdict::against(reference, claimed, ours, ratio::is_of_one_layout(above.run, answer.suite))
}

/// A paper's figure over another of its figures.
pub(super) fn quotient(above: Option<f64>, below: Option<f64>) -> Option<f64> {
    above.zip(below).filter(|(above, below)| *above > 0.0 && *below > 0.0).map(|(above, below)| above / below)
}

/// A line that has no measurement.
pub(super) fn without(reading: &str, verdict: Verdict, reason: &str) -> Line {
    Line {
        reading: reading.to_owned(),
        measurement: None,
        run: None,
        ours: None,
        interval: None,
        beyond: false,
        verdict,
        reason: Some(reason.to_owned()),
        against: None,
        after: None,
    }
}
