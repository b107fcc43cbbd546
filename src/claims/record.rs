//! The shape of what `votebench claims --json` prints. `schemas/claims.v1.schema.json` is derived from here.

use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::record::Coordinates;

/// The name of this shape.
pub const SCHEMA: &str = "votebench.claims.v1";

/// What the papers claim, beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Always `votebench.claims.v1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The runs that were given, the oldest first.
    pub runs: Vec<RunRecord>,
    /// The papers.
    pub papers: Vec<Paper>,
    /// How many figures there are, and how they came out.
    pub summary: Summary,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunRecord {
    /// Its id.
    pub id: String,
    /// The commit that it was built from.
    pub commit: String,
    /// The suites that it has figures of.
    pub suites: Vec<String>,
    /// Its processors, by number and name.
    pub machine: String,
    /// The kernel's release.
    pub kernel: String,
    /// The machine's fingerprint.
    pub fingerprint: String,
    /// Whether the machine was fit.
    pub fit: bool,
    /// Whether it came to its end.
    pub complete: bool,
    /// What a reader must know of it.
    pub notes: Vec<String>,
}

/// One paper, by its claims file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Paper {
    /// The claims file's name.
    pub file: String,
    /// Which paper it is of.
    pub source: String,
    /// The machine that the paper names.
    pub machine: String,
    /// What the file says of its figures as a whole.
    pub remarks: Vec<String>,
    /// The tables, in the paper's order.
    pub tables: Vec<Table>,
    /// What the paper says in words.
    pub claims: Vec<Claim>,
    /// What contradicts what within the source; cells refer to it by number, from 1.
    pub contradictions: Vec<String>,
    /// How many figures it has, and how they came out.
    pub summary: Summary,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// Its name in the claims file.
    pub name: String,
    /// What a reader finds it by.
    pub title: String,
    /// What its rows or columns are set against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Which run was taken where several have figures, and the file's word on the unit.
    pub notes: Vec<String>,
    /// Every figure of it, column by column.
    pub cells: Vec<Cell>,
}

/// One figure of a paper.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// The row.
    pub row: String,
    /// The column.
    pub column: String,
    /// The column's head in the paper.
    pub label: String,
    /// The unit of the paper's figure and of ours.
    pub unit: String,
    /// What the paper prints.
    pub paper: f64,
    /// By which of the source's contradictions it is touched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<usize>,
    /// What was measured: a line for each reading of the column, or one that says why there is none.
    pub lines: Vec<Line>,
}

/// A claim in words.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    /// The words.
    pub claim: String,
    /// What the claims file says that it is of.
    pub of: String,
    /// The figure that is claimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<f64>,
    /// The same figure out of the paper's own table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<f64>,
    /// What was measured.
    pub lines: Vec<Line>,
}

/// One answer to a claim.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// Which reading of the claim it answers.
    pub reading: String,
    /// The measurement, by its coordinates; left out where nothing answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measurement: Option<Coordinates>,
    /// The run that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Our figure, in the paper's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<f64>,
    /// Its 90 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Whether our figure is a lower bound: answers that never came reach it.
    pub beyond: bool,
    /// What is said of the figure itself.
    pub verdict: Verdict,
    /// Why it was not measured, cannot be compared, or is to be read with care.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The figure against its reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// The figure against the one before it in the order of the paper's figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Against>,
}

/// A figure against another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Against {
    /// The other's row or column.
    pub name: String,
    /// The paper's figure over the other's; left out where the paper has none, or a 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<f64>,
    /// Ours over ours: of rates the Hodges-Lehmann estimate, else the quotient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The 90 % interval of our ratio; of exact counts the ratio itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The level that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_level: Option<f64>,
    /// How many processes it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// Whether ours lies on the claimed side.
    pub order: Verdict,
    /// Whether ours is within a factor 1.25 of what is claimed.
    pub factor: Verdict,
    /// Why it is unresolved, or to be read with care.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// An order: our interval lies on the claimed side of 1. A ratio: it lies within a factor 1.25 of the claim. A count: it
    /// is the same.
    Reproduced,
    /// A ratio: the order is reproduced and the ratio is not.
    OrderOnly,
    /// An order, and any ratio with it: our interval lies on the other side of 1. A count: it is another.
    Contradicted,
    /// Neither: our interval holds 1, or there is none.
    Unresolved,
    /// An absolute figure of another machine, which is never judged.
    Shown,
    /// Not the same thing.
    NotComparable,
    /// None of the runs has it.
    NotMeasured,
}

/// How many figures there are, and how they came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Figures in the papers' tables.
    pub cells: usize,
    /// Claims in words.
    pub claims: usize,
    /// Exact counts, by the lines that answer them.
    pub counts: Tally,
    /// Orders against the reference, likewise.
    pub orders: Tally,
    /// Ratios to the reference.
    pub ratios: Tally,
    /// Orders against the row before.
    pub neighbours: Tally,
    /// What is said in words, by the lines that answer it.
    pub said: Tally,
    /// Figures of the tables beside which none of ours stands.
    pub without: usize,
}

/// How many of what is judged came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tally {
    /// Reproduced.
    pub reproduced: usize,
    /// The order only.
    pub order_only: usize,
    /// Contradicted.
    pub contradicted: usize,
    /// Unresolved.
    pub unresolved: usize,
}

impl Tally {
    /// Counts one verdict, where it is one of those that judge.
    pub const fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Reproduced => self.reproduced += 1,
            Verdict::OrderOnly => self.order_only += 1,
            Verdict::Contradicted => self.contradicted += 1,
            Verdict::Unresolved => self.unresolved += 1,
            Verdict::Shown | Verdict::NotComparable | Verdict::NotMeasured => {}
        }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            reproduced: self.reproduced + other.reproduced,
            order_only: self.order_only + other.order_only,
            contradicted: self.contradicted + other.contradicted,
            unresolved: self.unresolved + other.unresolved,
        }
    }
}

impl Summary {
    /// Counts a paper's tables and claims.
    #[must_use]
    pub fn of(tables: &[Table], claims: &[Claim]) -> Self {
        let mut summary = Self { claims: claims.len(), ..Self::default() };
        for cell in tables.iter().flat_map(|table| &table.cells) {
            summary.cells += 1;
            summary.without += usize::from(cell.lines.iter().all(|line| line.ours.is_none()));
            cell.lines.iter().for_each(|line| summary.add(line));
        }
        for against in claims.iter().flat_map(|claim| &claim.lines).filter_map(|line| line.against.as_ref()) {
            summary.said.add(against.factor);
        }
        summary
    }

    fn add(&mut self, line: &Line) {
        self.counts.add(line.verdict);
        if let Some(against) = &line.against {
            self.orders.add(against.order);
            self.ratios.add(against.factor);
        }
        if let Some(after) = &line.after {
            self.neighbours.add(after.order);
        }
    }

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            cells: self.cells + other.cells,
            claims: self.claims + other.claims,
            counts: self.counts.and(other.counts),
            orders: self.orders.and(other.orders),
            ratios: self.ratios.and(other.ratios),
            neighbours: self.neighbours.and(other.neighbours),
            said: self.said.and(other.said),
            without: self.without + other.without,
        }
    }
}
