//! The two shapes that claims files have. Owns the reading of each into [`Claims`]; a key that neither has is an error, so
//! that nothing in a file is ever passed over in silence.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::source::{Cell, Claims, Saying, Table};

/// Reads either shape.
///
/// # Errors
/// A sentence, where it is neither.
pub(super) fn read(text: &str) -> Result<Claims, String> {
    let shape: Shape = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match (shape.tables, shape.workloads) {
        (Some(_), _) => serde_json::from_str(text).map_err(|error| error.to_string()).and_then(of_votes),
        (None, Some(_)) => serde_json::from_str(text).map_err(|error| error.to_string()).and_then(of_requests),
        (None, None) => Err("it has neither `tables` nor `workloads`".to_owned()),
    }
}

/// What tells the shapes apart.
#[derive(Deserialize)]
struct Shape {
    tables: Option<IgnoredAny>,
    workloads: Option<IgnoredAny>,
}

/// The papers on votes: tables of protocols, claims in words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Votes {
    source: String,
    machine: String,
    message: String,
    tables: Ordered<VoteTable>,
    derived: Vec<Derived>,
    inconsistent_within_the_source: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VoteTable {
    unit: Unit,
    rows: Vec<Ordered<Entry>>,
}

/// One unit for all columns, or one for each.
#[derive(Deserialize)]
#[serde(untagged)]
enum Unit {
    All(String),
    Each(Ordered<String>),
}

/// The name of a row, or one of its figures.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Name(String),
    Figure(f64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Derived {
    claim: String,
    ratio: Option<f64>,
    of: Option<String>,
    bound: Option<String>,
}

fn of_votes(file: Votes) -> Result<Claims, String> {
    let tables = file.tables.0.into_iter().map(|(name, table)| vote_table(name, table)).collect::<Result<_, _>>()?;
    let sayings = file.derived.into_iter().map(|derived| {
        let Derived { claim, ratio, of, bound } = derived;
        match of.or(bound) {
            Some(of) => Ok(Saying { claim, ratio, of }),
            None => Err(format!("{claim:?} does not say what it is `of`")),
        }
    });
    Ok(Claims {
        file: String::new(),
        source: file.source,
        machine: file.machine,
        remarks: vec![format!("The message: {}.", file.message)],
        tables,
        sayings: sayings.collect::<Result<_, _>>()?,
        contradictions: file.inconsistent_within_the_source,
    })
}

fn vote_table(name: String, table: VoteTable) -> Result<Table, String> {
    let unit_of = |column: &str| match &table.unit {
        Unit::All(_) => Ok(None),
        Unit::Each(units) => {
            let known = units.0.iter().find(|(known, _)| known == column);
            known.map(|(_, unit)| Some(unit.clone())).ok_or_else(|| format!("{name} gives no unit for {column}"))
        }
    };
    let mut cells = Vec::new();
    for (at, row) in table.rows.iter().enumerate() {
        let protocol = row.0.iter().find_map(|(key, entry)| match entry {
            Entry::Name(protocol) if key == "protocol" => Some(protocol),
            _ => None,
        });
        let protocol = protocol.ok_or_else(|| format!("row {} of {name} has no `protocol`", at + 1))?;
        for (column, entry) in row.0.iter().filter(|(key, _)| key != "protocol") {
            let Entry::Figure(value) = entry else {
                return Err(format!("{name} {protocol} {column} is not a number"));
            };
            cells.push(Cell { row: protocol.clone(), column: column.clone(), unit: unit_of(column)?, value: *value });
        }
    }
    let unit = match table.unit {
        Unit::All(unit) => Some(unit),
        Unit::Each(_) => None,
    };
    Ok(Table { name, unit, cells })
}

/// The paper on HTTP: lists with a figure for each workload.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Requests {
    source: String,
    machine: String,
    note: String,
    workloads: Vec<Workload>,
    wire_bytes: Ordered<Vec<f64>>,
    bytes_per_request: Ordered<Vec<f64>>,
    allocs_per_request: Ordered<Vec<f64>>,
    relation: String,
    throughput: String,
    flaw_found: Flaw,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    name: String,
    body: f64,
    headers: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flaw {
    #[serde(rename = "where")]
    place: String,
    what: String,
    consequence: String,
}

fn of_requests(file: Requests) -> Result<Claims, String> {
    let cell =
        |row: &str, column: &str, value| Cell { row: row.to_owned(), column: column.to_owned(), unit: None, value };
    let inputs = file
        .workloads
        .iter()
        .flat_map(|Workload { name, body, headers }| [cell(name, "body", *body), cell(name, "headers", *headers)]);
    let mut tables = vec![Table { name: "workloads".to_owned(), unit: None, cells: inputs.collect() }];
    let measured = [
        ("wire_bytes", &file.wire_bytes),
        ("bytes_per_request", &file.bytes_per_request),
        ("allocs_per_request", &file.allocs_per_request),
    ];
    for (name, columns) in measured {
        let mut cells = Vec::new();
        for (at, workload) in file.workloads.iter().enumerate() {
            for (column, values) in &columns.0 {
                let (have, want) = (values.len(), file.workloads.len());
                if have != want {
                    return Err(format!("{name} {column} has {have} figures for {want} workloads"));
                }
                cells.push(cell(&workload.name, column, values[at]));
            }
        }
        tables.push(Table { name: name.to_owned(), unit: None, cells });
    }
    let saying = |of: &str, claim| Saying { claim, ratio: None, of: of.to_owned() };
    let Flaw { place, what, consequence } = file.flaw_found;
    Ok(Claims {
        file: String::new(),
        source: file.source,
        machine: file.machine,
        remarks: vec![format!("{}.", file.note)],
        tables,
        sayings: vec![saying("relation", file.relation), saying("throughput", file.throughput)],
        contradictions: vec![format!("{place}: {what}. {consequence}")],
    })
}

/// An object with its keys in the order of the file, none of them twice.
struct Ordered<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Keys<T> {
            type Value = Ordered<T>;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut all: Vec<(String, T)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, T>()? {
                    if all.iter().any(|(known, _)| *known == key) {
                        return Err(A::Error::custom(format_args!("`{key}` stands in it twice")));
                    }
                    all.push((key, value));
                }
                Ok(Ordered(all))
            }
        }
        deserializer.deserialize_map(Keys(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOTES: &str = include_str!("../../results/claims/lux-zap-benchmarks.json");
    const REQUESTS: &str = include_str!("../../results/claims/zap-http-empirical.json");

    fn why(text: &str) -> String {
        read(text).map(drop).unwrap_err()
    }

    #[test]
    fn keys_keep_their_order_and_stand_once() {
        let ordered: Ordered<u8> = serde_json::from_str(r#"{"z": 1, "a": 2}"#).unwrap();
        assert_eq!(ordered.0, [("z".to_owned(), 1), ("a".to_owned(), 2)]);
        let twice = serde_json::from_str::<Ordered<u8>>(r#"{"z": 1, "z": 2}"#);
        assert!(twice.map(|_| ()).unwrap_err().to_string().contains("`z` stands in it twice"));
    }

    #[test]
    fn what_is_malformed_has_its_sentence() {
        assert!(why("").contains("EOF"));
        assert!(why("[]").contains("expected struct"), "{}", why("[]"));
        assert_eq!(why("{}"), "it has neither `tables` nor `workloads`");
        let broken = |from: &str, to: &str| why(&VOTES.replacen(from, to, 1));
        assert!(broken("\"derived\"", "\"derives\"").contains("unknown field `derives`"));
        assert_eq!(broken("\"protocol\": \"capnp\"", "\"name\": \"capnp\""), "row 3 of encode has no `protocol`");
        assert_eq!(broken("\"encode_ns\": 23.8", "\"encode_ns\": \"fast\""), "encode zap encode_ns is not a number");
        assert_eq!(broken("\"encode_ns\": \"ns/op\",", ""), "encode gives no unit for encode_ns");
        assert!(broken("\"of\": \"decode_ns grpc / decode_ns zap\"", "\"by\": 1").contains("unknown field `by`"));
        let broken = |from: &str, to: &str| why(&REQUESTS.replacen(from, to, 1));
        assert_eq!(broken("   243,\n", ""), "wire_bytes http/1.1 has 4 figures for 5 workloads");
        assert!(broken("\"body\": 16", "\"body\": null").contains("null"));
    }
}
