//! What can be wrong with a results file. Owns [`ResultError`]; each variant's text is one sentence that names the file.

use std::io;
use std::path::PathBuf;

/// Why a results file was not read or not written.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// The operating system refused to read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The operating system refused to create, write, flush or rename.
    #[error("{}: cannot be written: {cause}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file ends in the middle of its JSON: it was cut off, or is empty.
    #[error("{}: is cut off in line {line}, before its JSON is complete", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The last line.
        line: usize,
    },
    /// A number that is not finite stands in the file; JSON has none.
    #[error("{}: line {line} holds a number that is not finite, which no results file may", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// The file is not JSON.
    #[error("{}: is not JSON: {reason}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What the parser said, with line and column.
        reason: String,
    },
    /// JSON, but written by another program: no `schema` that starts with `votebench.results.`.
    #[error("{}: is not a results file of votebench{}", path.display(), found(schema.as_deref()))]
    OtherTool {
        /// The file.
        path: PathBuf,
        /// The schema that it names.
        schema: Option<String>,
    },
    /// A results file of votebench, of a version that this program does not know.
    #[error("{}: has the schema {schema}, but this program reads {} only", path.display(), super::record::SCHEMA)]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The schema that it names.
        schema: String,
    },
    /// The right schema by name, but a key is missing, or has a value of another type.
    #[error("{}: does not have the shape of {}: {reason}", path.display(), super::record::SCHEMA)]
    Shape {
        /// The file.
        path: PathBuf,
        /// What the parser said, with line and column.
        reason: String,
    },
    /// The shape is right and the contents contradict themselves.
    #[error("{}: {defect}", path.display())]
    Defect {
        /// The file.
        path: PathBuf,
        /// What contradicts what.
        defect: Defect,
    },
}

/// A contradiction within a results file, which is refused on reading and on writing alike.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Two measurements have the same coordinates.
    #[error("{0} stands in it twice")]
    Duplicate(String),
    /// A number is NaN or infinite.
    #[error("{0} holds a number that is not finite")]
    NotFinite(String),
    /// A status other than `ok` has no reason.
    #[error("{0} is not ok and gives no reason")]
    NoReason(String),
    /// The status `ok` has no value.
    #[error("{0} is ok and has no value")]
    NoValue(String),
    /// Something that was not measured has a value.
    #[error("{0} was not measured and has a value all the same")]
    ValueNotMeasured(String),
    /// The run's id is not of the form `20260101T000000Z-0123456789ab`, with `-2`, `-3` ... behind it where needed.
    #[error("its run id {0:?} is not of the form 20260101T000000Z-0123456789ab")]
    RunId(String),
}

fn found(schema: Option<&str>) -> String {
    schema.map_or_else(|| ": it names no schema".to_owned(), |schema| format!(": its schema is {schema:?}"))
}
