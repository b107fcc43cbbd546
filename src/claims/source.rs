//! What a paper claims, whichever shape its claims file has: tables of cells in the paper's order, claims in words, and what the
//! source says against itself. Owns these types and the sentences for a file that is none; the shapes are
//! `shapes`'s.

use std::fs;
use std::path::{Path, PathBuf};

use super::shapes;

/// The claims files of this repository, by name, as this program was built with them.
const BUILT_IN: [(&str, &str); 2] = [
    ("lux-zap-benchmarks.json", include_str!("../../results/claims/lux-zap-benchmarks.json")),
    ("zap-http-empirical.json", include_str!("../../results/claims/zap-http-empirical.json")),
];

/// One claims file.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// Its file's name.
    pub file: String,
    /// Which paper it is of.
    pub source: String,
    /// The machine that the paper names.
    pub machine: String,
    /// What the file says of the figures as a whole.
    pub remarks: Vec<String>,
    /// The paper's tables, in its order.
    pub tables: Vec<Table>,
    /// What the paper says in words.
    pub sayings: Vec<Saying>,
    /// What contradicts what within the source.
    pub contradictions: Vec<String>,
}

/// One table of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name in the claims file.
    pub name: String,
    /// The unit of all columns, where the file gives one for all.
    pub unit: Option<String>,
    /// Its cells, row by row.
    pub cells: Vec<Cell>,
}

/// One figure of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The row's name.
    pub row: String,
    /// The column's name.
    pub column: String,
    /// The column's unit, where the file gives one.
    pub unit: Option<String>,
    /// The figure.
    pub value: f64,
}

/// A claim in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Saying {
    /// The words.
    pub claim: String,
    /// The ratio that they name.
    pub ratio: Option<f64>,
    /// What it is of; by this the [`mapping`](super::mapping) knows it.
    pub of: String,
}

/// Why a claims file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    /// The operating system refused.
    #[error("{}: cannot be read: {cause}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The folder holds no JSON file.
    #[error("{}: there is no claims file in it", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// The file is not JSON, or not of a shape that claims have.
    #[error("{}: is not a claims file: {reason}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column where they are known.
        reason: String,
    },
}

impl Table {
    /// The figure of that row and column.
    #[must_use]
    pub fn value(&self, row: &str, column: &str) -> Option<f64> {
        self.cells.iter().find(|cell| cell.row == row && cell.column == column).map(|cell| cell.value)
    }

    /// The columns, in the paper's order.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.column.as_str()))
    }

    /// The row before `row` when the rows that have a figure in `column` stand in the order of their figures, the least first;
    /// of equal ones the paper's order decides.
    #[must_use]
    pub fn before(&self, row: &str, column: &str) -> Option<&Cell> {
        let mut ranked: Vec<&Cell> = self.cells.iter().filter(|cell| cell.column == column).collect();
        ranked.sort_by(|left, right| left.value.total_cmp(&right.value));
        let place = ranked.iter().position(|cell| cell.row == row)?;
        ranked.get(place.checked_sub(1)?).copied()
    }
}

/// The claims files that this program was built with.
///
/// # Errors
/// Where one of them is none; a test holds them to their shape.
pub fn built_in() -> Result<Vec<Claims>, ClaimsError> {
    BUILT_IN.iter().map(|(name, text)| parse(text, Path::new(name))).collect()
}

/// The claims file at `path`, or all those in the folder, in the order of their names.
///
/// # Errors
/// Where there is none, or the first that is malformed.
pub fn load(path: &Path) -> Result<Vec<Claims>, ClaimsError> {
    let refused = |cause| ClaimsError::Read { path: path.to_owned(), cause };
    if !path.is_dir() {
        return Ok(vec![one(path)?]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(refused)? {
        let file = entry.map_err(refused)?.path();
        if file.extension().is_some_and(|extension| extension == "json") {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(ClaimsError::Empty { path: path.to_owned() });
    }
    files.iter().map(|file| one(file)).collect()
}

fn one(path: &Path) -> Result<Claims, ClaimsError> {
    let text = fs::read_to_string(path).map_err(|cause| ClaimsError::Read { path: path.to_owned(), cause })?;
    parse(&text, path)
}

/// Reads the text of a claims file; of `path` only the name is kept.
///
/// # Errors
/// Where it is none: not JSON, a key too many or too few, a row without a name, a figure that stands there twice.
pub fn parse(text: &str, path: &Path) -> Result<Claims, ClaimsError> {
    let claims = shapes::read(text).and_then(|claims| checked(&claims).map(|()| claims));
    let mut claims = claims.map_err(|reason| ClaimsError::Shape { path: path.to_owned(), reason })?;
    claims.file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(claims)
}

/// What the shape alone does not say: that there is something, and nothing twice.
fn checked(claims: &Claims) -> Result<(), String> {
    if claims.tables.iter().all(|table| table.cells.is_empty()) {
        return Err("it has no figure".to_owned());
    }
    for table in &claims.tables {
        for (at, cell) in table.cells.iter().enumerate() {
            let name = || format!("{} {} {}", table.name, cell.row, cell.column);
            if !cell.value.is_finite() || cell.value < 0.0 {
                return Err(format!("{} is below 0, which no figure of these tables can be", name()));
            }
            if table.cells[..at].iter().any(|other| (&other.row, &other.column) == (&cell.row, &cell.column)) {
                return Err(format!("{} stands in it twice", name()));
            }
        }
    }
    for saying in &claims.sayings {
        if saying.ratio.is_some_and(|ratio| !ratio.is_finite() || ratio <= 0.0) {
            return Err(format!("the ratio of {:?} is not above 0", saying.claim));
        }
    }
    Ok(())
}

/// Each of `names` once, in their order.
#[must_use]
pub fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_files_are_read_in_the_papers_order() {
        let all = built_in().unwrap();
        let names = |claims: &Claims| claims.tables.iter().map(|table| table.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&all[0]), ["encode", "decode", "wire_size", "round_trip", "sustained"]);
        assert_eq!(names(&all[1]), ["workloads", "wire_bytes", "bytes_per_request", "allocs_per_request"]);
        let encode = &all[0].tables[0];
        assert_eq!(encode.columns(), ["ops_per_s", "encode_ns", "bytes_per_msg", "throughput"]);
        assert_eq!((encode.cells.len(), encode.value("capnp", "encode_ns")), (28, Some(32.1)));
        assert_eq!(encode.cells[1].unit.as_deref(), Some("ns/op"));
        assert_eq!(all[1].tables[1].value("tiny", "http/1.1"), Some(243.0));
        assert_eq!((all[0].sayings.len(), all[0].contradictions.len()), (11, 7));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/claims");
        assert_eq!(load(&folder).unwrap(), all, "what is built in is what lies there");
    }

    #[test]
    fn rows_are_ranked_by_the_papers_figures() {
        let wire = &built_in().unwrap()[0].tables[2];
        let before = |row| wire.before(row, "wire_bytes").map(|cell| cell.row.clone());
        assert_eq!(before("grpc"), None);
        assert_eq!(before("zap").as_deref(), Some("grpc"));
        assert_eq!(before("quic-raw").as_deref(), Some("zap"), "of equal ones the first in the paper comes first");
        assert_eq!(before("json-rpc").as_deref(), Some("flatbuffers"));
        assert_eq!(before("nobody"), None);
    }
}
