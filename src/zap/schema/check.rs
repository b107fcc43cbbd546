//! Whether a schema means anything: names are declared once and before anything else known, aliases end somewhere, fields
//! lie apart. Owns those rules, and makes a [`Schema`] of syntax that keeps them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::error::{Problem, shown};
use super::parser::{Inner, Kind, StructSyntax, Syntax, built_in};
use super::{Field, MAX_LIST_DEPTH, MAX_SECTION_BYTES, Schema, Struct, Type};

type Checked<T> = Result<T, (u32, Problem)>;

/// What a declared name stands for.
#[derive(Clone, Copy)]
enum Declared {
    Alias(usize),
    Struct(usize),
}

/// Checks the syntax of a schema.
pub(super) fn check(syntax: Syntax<'_>) -> Checked<Schema> {
    let names = declare(&syntax)?;
    let mut resolver = Resolver { names: &names, syntax: &syntax, resolved: vec![None; syntax.aliases.len()] };
    // Aliases that no field uses are checked too.
    for alias in 0..syntax.aliases.len() {
        resolver.alias(alias)?;
    }
    let mut structs = Vec::with_capacity(syntax.structs.len());
    for structure in &syntax.structs {
        structs.push(resolver.structure(structure)?);
    }
    Ok(Schema { package: syntax.package.to_owned(), comment: syntax.comment, structs })
}

/// Every declared name with what it stands for and its line.
fn declare<'t>(syntax: &Syntax<'t>) -> Checked<HashMap<&'t str, (Declared, u32)>> {
    let aliases = syntax.aliases.iter().enumerate().map(|(i, alias)| (alias.name, alias.line, Declared::Alias(i)));
    let structs = syntax.structs.iter().enumerate().map(|(i, one)| (one.name, one.line, Declared::Struct(i)));
    let mut all: Vec<_> = aliases.chain(structs).collect();
    // In the order of the file, so that the second of two is the one complained of.
    all.sort_by_key(|(_, line, _)| *line);
    let mut names = HashMap::with_capacity(all.len());
    for (name, line, declared) in all {
        if built_in(name).is_some() || matches!(name, "list" | "bytes_fixed") {
            return Err((line, Problem::BuiltInName { name: name.to_owned() }));
        }
        match names.entry(name) {
            Entry::Vacant(entry) => entry.insert((declared, line)),
            Entry::Occupied(entry) => {
                return Err((line, Problem::RepeatedName { name: shown(name), first: entry.get().1 }));
            }
        };
    }
    Ok(names)
}

struct Resolver<'s, 't> {
    names: &'s HashMap<&'t str, (Declared, u32)>,
    syntax: &'s Syntax<'t>,
    /// What each alias stands for, where that is known already: a type in so many lists.
    resolved: Vec<Option<(u32, Type)>>,
}

impl Resolver<'_, '_> {
    /// What an alias stands for: followed from alias to alias until the end is known, then told to all on the way.
    fn alias(&mut self, first: usize) -> Checked<(u32, Type)> {
        let mut way = Vec::new();
        let mut on_the_way = std::collections::HashSet::new();
        let mut alias = first;
        let (mut lists, end) = loop {
            if let Some(known) = &self.resolved[alias] {
                break known.clone();
            }
            let declaration = &self.syntax.aliases[alias];
            if !on_the_way.insert(alias) {
                return Err((declaration.line, Problem::AliasCycle { name: shown(declaration.name) }));
            }
            way.push(alias);
            match &declaration.kind.inner {
                Inner::BuiltIn(kind) => break (0, kind.clone()),
                Inner::Named(name, line) => match self.declared(name, *line)? {
                    Declared::Struct(index) => break (0, Type::Struct(index)),
                    Declared::Alias(next) => alias = next,
                },
            }
        };
        for alias in way.into_iter().rev() {
            let declaration = &self.syntax.aliases[alias];
            lists += declaration.kind.lists;
            if lists > MAX_LIST_DEPTH {
                return Err((declaration.line, Problem::ListTooDeep));
            }
            self.resolved[alias] = Some((lists, end.clone()));
        }
        Ok((lists, end))
    }

    /// A field's type.
    fn kind(&mut self, kind: &Kind<'_>, line: u32) -> Checked<Type> {
        let (lists, inner) = match &kind.inner {
            Inner::BuiltIn(kind) => (0, kind.clone()),
            Inner::Named(name, line) => match self.declared(name, *line)? {
                Declared::Struct(index) => (0, Type::Struct(index)),
                Declared::Alias(alias) => self.alias(alias)?,
            },
        };
        let lists = lists + kind.lists;
        if lists > MAX_LIST_DEPTH {
            return Err((line, Problem::ListTooDeep));
        }
        Ok((0..lists).fold(inner, |inner, _| Type::List(Box::new(inner))))
    }

    fn declared(&self, name: &str, line: u32) -> Checked<Declared> {
        match self.names.get(name) {
            Some((declared, _)) => Ok(*declared),
            None => Err((line, Problem::UnknownType { name: shown(name) })),
        }
    }

    fn structure(&mut self, syntax: &StructSyntax<'_>) -> Checked<Struct> {
        let mut lines = HashMap::with_capacity(syntax.fields.len());
        let mut fields = Vec::with_capacity(syntax.fields.len());
        let mut size = 0;
        for field in &syntax.fields {
            if let Some(first) = lines.insert(field.name, field.line) {
                return Err((field.line, Problem::RepeatedName { name: shown(field.name), first }));
            }
            let kind = self.kind(&field.kind, field.line)?;
            let end = field.offset.saturating_add(kind.width());
            if end > MAX_SECTION_BYTES {
                return Err((field.line, Problem::SectionTooLarge));
            }
            size = size.max(end);
            let (name, comment) = (field.name.to_owned(), field.comment.clone());
            fields.push(Field { name, comment, kind, offset: field.offset });
        }
        apart(&fields, &lines)?;
        Ok(Struct { name: syntax.name.to_owned(), comment: syntax.comment.clone(), size, fields })
    }
}

/// Whether no two fields share a byte.
fn apart(fields: &[Field], lines: &HashMap<&str, u32>) -> Checked<()> {
    let mut sorted: Vec<&Field> = fields.iter().filter(|field| field.kind.width() > 0).collect();
    sorted.sort_by_key(|field| field.offset);
    for pair in sorted.windows(2) {
        let (other, field) = (pair[0], pair[1]);
        let free = other.offset + other.kind.width();
        if field.offset < free {
            let line_of = |field: &Field| lines.get(field.name.as_str()).copied().unwrap_or_default();
            let (field_name, other_name) = (shown(&field.name), shown(&other.name));
            let problem = Problem::Overlap { field: field_name, other: other_name, line: line_of(other), free };
            return Err((line_of(field), problem));
        }
    }
    Ok(())
}
