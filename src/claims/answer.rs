//! The words of the [`mapping`](super::mapping): what a table, a column and an answer are. Owns these types and how one of them is
//! put together, and no entry.

/// A table of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name in the claims file.
    pub name: &'static str,
    /// What a reader finds it by.
    pub title: &'static str,
    /// What its rows are set against.
    pub against: Option<Reference>,
}

/// What a figure is set against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// The same column of that row; every row also stands against the one before it in the order of the paper's figures.
    Row(&'static str),
    /// That column of the same row.
    Column(&'static str),
}

/// A column of a paper's table, and what answers it.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The table's name.
    pub table: &'static str,
    /// The column's name in the claims file.
    pub column: &'static str,
    /// Its head in the paper.
    pub label: &'static str,
    /// The unit of its figures, and of ours beside them.
    pub unit: &'static str,
    /// The measurements that answer it, the paper's own reading first.
    pub answers: &'static [Answer],
    /// Why there is none.
    pub reason: &'static str,
}

/// A measurement that answers a column: the coordinates of a results file, with the row's name put in.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Which reading of the column it is.
    pub reading: &'static str,
    /// Whose measurement it is, and for which rows there is one.
    pub name: Name,
    /// The suite.
    pub suite: &'static str,
    /// The timed region.
    pub model: Option<&'static str>,
    /// The ways of driving, in the order in which they are taken; none: the measurement has no such coordinate.
    pub rows: &'static [&'static str],
    /// The waits, likewise.
    pub waits: &'static [&'static str],
    /// Whose side.
    pub side: Option<&'static str>,
    /// What is counted.
    pub metric: &'static str,
    /// Which percentile of it.
    pub percentile: Option<&'static str>,
    /// The rate and the arrivals that a run must have been under.
    pub load: Option<(f64, &'static str)>,
    /// How the measured number becomes the column's.
    pub shape: Shape,
    /// What is said of it.
    pub judging: Judging,
}

/// Whose measurement answers.
#[derive(Debug, Clone, Copy)]
pub enum Name {
    /// The protocol has the row's name.
    Row,
    /// Only these rows have this reading: the row's name, and the protocol's.
    Only(&'static [(&'static str, &'static str)]),
    /// This arm; the row is the workload.
    Arm(&'static str),
}

/// How a measured number becomes the column's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As it is.
    Plain,
    /// Nanoseconds to microseconds.
    Microseconds,
    /// Nanoseconds to times a second.
    PerSecond,
    /// Nanoseconds, with the bytes of the same codec's message, to 10^6 bytes a second.
    Megabytes,
    /// Bytes to what they are over the payload's, in per cent.
    OverPayload,
}

/// What is said of a figure.
#[derive(Debug, Clone, Copy)]
pub enum Judging {
    /// A time of another machine: shown; its order and its ratio to the reference are judged.
    Ratio,
    /// An exact count: judged by itself, and its order and ratio, too.
    Exact,
    /// What is computed from an exact count that is judged elsewhere: judged by itself, to so many decimals.
    Count(usize),
    /// A count that is judged only where the paper claims none at all; else why it cannot be.
    Zero(&'static str),
    /// Shown, and nothing is said of it, for this reason.
    Shown(&'static str),
    /// Shown, and not the same thing, for this reason.
    NotComparable(&'static str),
}

/// A claim in words, and what answers it.
#[derive(Debug, Clone, Copy)]
pub enum Saying {
    /// One row of a column over another.
    Ratio {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row above the line.
        row: &'static str,
        /// The row below it.
        against: &'static str,
    },
    /// The papers' bound on the 99th percentile of a round trip of `zap`.
    Bound,
    /// How the rows' figures grow from one column of `sustained` to another.
    Growth {
        /// The rows.
        rows: &'static [&'static str],
        /// The column of the first minute.
        from: &'static str,
        /// That of the last.
        to: &'static str,
    },
    /// Nothing does, for this reason.
    Without(&'static str),
}

impl Column {
    /// A column that these answer.
    #[must_use]
    pub const fn new(
        table: &'static str,
        column: &'static str,
        label: &'static str,
        unit: &'static str,
        answers: &'static [Answer],
    ) -> Self {
        Self { table, column, label, unit, answers, reason: "" }
    }

    /// A column that nothing answers.
    #[must_use]
    pub const fn without(
        table: &'static str,
        column: &'static str,
        label: &'static str,
        unit: &'static str,
        reason: &'static str,
    ) -> Self {
        Self { table, column, label, unit, answers: &[], reason }
    }
}

impl Answer {
    /// A measurement of the row's own protocol, by its suite and metric.
    #[must_use]
    pub const fn new(reading: &'static str, suite: &'static str, metric: &'static str) -> Self {
        Self {
            reading,
            name: Name::Row,
            suite,
            model: None,
            rows: &[],
            waits: &[],
            side: None,
            metric,
            percentile: None,
            load: None,
            shape: Shape::Plain,
            judging: Judging::Ratio,
        }
    }

    /// Of that timed region.
    #[must_use]
    pub const fn model(self, model: &'static str) -> Self {
        Self { model: Some(model), ..self }
    }

    /// Driven in one of these ways.
    #[must_use]
    pub const fn rows(self, rows: &'static [&'static str]) -> Self {
        Self { rows, ..self }
    }

    /// In one of these waits.
    #[must_use]
    pub const fn waits(self, waits: &'static [&'static str]) -> Self {
        Self { waits, ..self }
    }

    /// Of that side.
    #[must_use]
    pub const fn side(self, side: &'static str) -> Self {
        Self { side: Some(side), ..self }
    }

    /// That percentile.
    #[must_use]
    pub const fn percentile(self, percentile: &'static str) -> Self {
        Self { percentile: Some(percentile), ..self }
    }

    /// Under that load.
    #[must_use]
    pub const fn load(self, rate: f64, arrivals: &'static str) -> Self {
        Self { load: Some((rate, arrivals)), ..self }
    }

    /// Made into the column's unit in that way.
    #[must_use]
    pub const fn shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// Judged in that way.
    #[must_use]
    pub const fn judged(self, judging: Judging) -> Self {
        Self { judging, ..self }
    }

    /// Of somebody else than the row's own protocol.
    #[must_use]
    pub const fn of(self, name: Name) -> Self {
        Self { name, ..self }
    }

    /// The protocol whose measurement answers `row`; none where the row has not this reading.
    #[must_use]
    pub fn protocol<'r>(&self, row: &'r str) -> Option<&'r str> {
        match self.name {
            Name::Row => Some(row),
            Name::Arm(arm) => Some(arm),
            Name::Only(rows) => rows.iter().find(|(known, _)| *known == row).map(|(_, protocol)| *protocol),
        }
    }

    /// The workload of the measurement that answers `row`.
    #[must_use]
    pub const fn workload<'r>(&self, row: &'r str) -> Option<&'r str> {
        match self.name {
            Name::Arm(_) => Some(row),
            Name::Row | Name::Only(_) => None,
        }
    }
}
