//! What can be wrong with a schema: [`SchemaError`].

use std::fmt;

use super::{MAX_LIST_DEPTH, MAX_SECTION_BYTES};

/// Why a text is no schema: the file, the line, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The file, as it was named to the parser.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong in a line of a schema. Names and texts are cut where they are long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The grammar wants something else here.
    Expected {
        /// What it wants.
        expected: &'static str,
        /// What there is.
        found: String,
    },
    /// A type is named that is neither built in nor declared in the file.
    UnknownType {
        /// The name.
        name: String,
    },
    /// A name is declared twice: as alias or struct in the file, or as a field in one struct.
    RepeatedName {
        /// The name.
        name: String,
        /// The line of the first.
        first: u32,
    },
    /// An alias or a struct has the name of a type that is built in.
    BuiltInName {
        /// The name.
        name: String,
    },
    /// An alias stands, by way of others or not, for itself.
    AliasCycle {
        /// The name.
        name: String,
    },
    /// Two fields of a struct share a byte.
    Overlap {
        /// The field that starts later.
        field: String,
        /// The field that it starts in.
        other: String,
        /// Its line.
        line: u32,
        /// The first offset behind it.
        free: u32,
    },
    /// A field ends behind [`MAX_SECTION_BYTES`].
    SectionTooLarge,
    /// Lists of lists go deeper than [`MAX_LIST_DEPTH`].
    ListTooDeep,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.problem)
    }
}

impl std::error::Error for SchemaError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::UnknownType { name } => {
                write!(f, "expected a type, found `{name}`, which is neither built in nor declared")
            }
            Self::RepeatedName { name, first } => {
                write!(f, "expected a new name, found `{name}`, which line {first} declares already")
            }
            Self::BuiltInName { name } => write!(f, "expected a new name, found `{name}`, which is built in"),
            Self::AliasCycle { name } => {
                write!(f, "expected a type, found `{name}`, an alias that leads back to itself")
            }
            Self::Overlap { field, other, line, free } => write!(
                f,
                "expected `{field}` at {free} or behind, found it inside of `{other}`, which line {line} declares"
            ),
            Self::SectionTooLarge => {
                write!(f, "expected a field that ends within {MAX_SECTION_BYTES} bytes, found one that does not")
            }
            Self::ListTooDeep => {
                write!(f, "expected lists at most {MAX_LIST_DEPTH} deep, found a deeper one")
            }
        }
    }
}

/// A text of the schema as errors show it: not longer than a line takes.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
