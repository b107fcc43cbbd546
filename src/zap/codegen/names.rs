//! What generated items are called: Rust's spelling of the schema's names, made unique where two come out alike, and out of
//! the way of Rust's keywords and of what a view has besides its fields.

use std::collections::{HashMap, HashSet};

use super::super::schema::Schema;

/// The names of all generated items.
pub(super) struct Names {
    structs: Vec<StructNames>,
}

struct StructNames {
    view: String,
    values: String,
    fields: Vec<String>,
}

/// Names that may be no identifier, or no method of a view or of values.
const TAKEN: [&str; 64] = [
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "parse",
    "parse_exact",
    "from_message",
    "from_object",
    "from_section",
    "as_section",
    "as_object",
    "clone",
    "eq",
    "fmt",
    "read",
    "into",
    "hash",
];

impl Names {
    pub(super) fn new(schema: &Schema) -> Self {
        let mut types = Unique::new("");
        types.take("Self");
        let named: Vec<(String, String)> = schema
            .structs
            .iter()
            .map(|structure| {
                let view = types.name(camel(&structure.name));
                let values = types.name(format!("{view}Fields"));
                (view, values)
            })
            .collect();
        let structs = named
            .into_iter()
            .zip(&schema.structs)
            .map(|((view, values), structure)| {
                let mut fields = Unique::new("_");
                TAKEN.iter().for_each(|name| fields.take(name));
                let fields = structure.fields.iter().map(|field| fields.name(snake(&field.name))).collect();
                StructNames { view, values, fields }
            })
            .collect();
        Self { structs }
    }

    pub(super) fn view(&self, index: usize) -> &str {
        &self.structs[index].view
    }

    pub(super) fn values(&self, index: usize) -> &str {
        &self.structs[index].values
    }

    pub(super) fn fields(&self, index: usize) -> impl Iterator<Item = &str> {
        self.structs[index].fields.iter().map(String::as_str)
    }
}

/// Names given out so far.
struct Unique {
    /// What stands between a name and its number.
    separator: &'static str,
    taken: HashSet<String>,
    /// How often each name was asked for when it was taken, so that many of a kind do not all begin at 2.
    asked: HashMap<String, u32>,
}

impl Unique {
    fn new(separator: &'static str) -> Self {
        Self { separator, taken: HashSet::new(), asked: HashMap::new() }
    }

    fn take(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    /// `name`, or the first of it with a number from 2 on that is free.
    fn name(&mut self, name: String) -> String {
        let mut candidate = name.clone();
        while !self.taken.insert(candidate.clone()) {
            let count = self.asked.entry(name.clone()).or_insert(1);
            *count += 1;
            candidate = format!("{name}{}{count}", self.separator);
        }
        candidate
    }
}

/// A field's name: `BlockHash`, `blockHash` and `block_hash` are all `block_hash`.
fn snake(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut snake = String::with_capacity(name.len() + 4);
    for (place, &byte) in bytes.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| bytes[place]);
        let starts = byte.is_ascii_uppercase()
            && match before {
                None | Some(b'_') => false,
                Some(b'A'..=b'Z') => bytes.get(place + 1).is_some_and(u8::is_ascii_lowercase),
                Some(_) => true,
            };
        if starts {
            snake.push('_');
        }
        snake.push(char::from(byte.to_ascii_lowercase()));
    }
    if snake.bytes().all(|byte| byte == b'_') { format!("field{snake}") } else { snake }
}

/// A struct's name: `vote_set` and `VoteSet` are both `VoteSet`.
fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    for part in name.split('_') {
        let mut characters = part.chars();
        camel.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(characters.as_str());
    }
    if camel.starts_with(|first: char| first.is_ascii_alphabetic()) { camel } else { format!("Struct{camel}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling() {
        for (name, expected) in [
            ("BlockHash", "block_hash"),
            ("blockHash", "block_hash"),
            ("block_hash", "block_hash"),
            ("ID", "id"),
            ("HTTPStatus", "http_status"),
            ("x2Y", "x2_y"),
            ("__", "field__"),
            ("_a", "_a"),
        ] {
            assert_eq!(snake(name), expected);
        }
        for (name, expected) in
            [("vote", "Vote"), ("vote_set", "VoteSet"), ("VoteSet", "VoteSet"), ("_", "Struct"), ("_1a", "Struct1a")]
        {
            assert_eq!(camel(name), expected);
        }
    }

    #[test]
    fn names_that_come_out_alike_are_told_apart() {
        let mut unique = Unique::new("_");
        unique.take("type");
        let names: Vec<String> = ["type", "a", "a", "a_2", "a"].map(|name| unique.name(name.to_owned())).to_vec();
        assert_eq!(names, ["type_2", "a", "a_2", "a_2_2", "a_3"]);
    }
}
