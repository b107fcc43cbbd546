//! The schema language: what a schema says ([`Schema`]), and [`parse`], which reads and checks one. The grammar is in
//! `docs/zap-wire.md`; `lexer` makes tokens of text, `parser` syntax of tokens, `check` a schema of syntax.
//!
//! A schema comes from a file, and that may be anybody's: nothing here recurses over the input, sizes are computed without
//! overflow, and what a schema may ask for is bounded by [`MAX_SECTION_BYTES`] and [`MAX_LIST_DEPTH`].
//!
//! ```
//! use votebench::zap::schema::{self, Type};
//!
//! let schema = schema::parse("ping.zap", "package ping  struct Ping { nonce u64 @0  note text @8 }")?;
//! assert_eq!((schema.structs[0].size, schema.structs[0].fields[1].kind.clone()), (16, Type::Text));
//!
//! let error = schema::parse("ping.zap", "package ping\nstruct Ping { nonce u65 @0 }").unwrap_err();
//! assert_eq!(error.to_string(), "ping.zap:2: expected a type, found `u65`, which is neither built in nor declared");
//! # Ok::<(), schema::SchemaError>(())
//! ```

mod check;
mod error;
mod lexer;
mod parser;

pub use error::{Problem, SchemaError};

/// The largest fixed section that a struct may have, in bytes: 1 MiB.
pub const MAX_SECTION_BYTES: u32 = 1 << 20;

/// How deep lists of lists may go, aliases resolved.
pub const MAX_LIST_DEPTH: u32 = 16;

/// A checked schema: aliases are resolved, and every struct can be laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The package's name.
    pub package: String,
    /// The comment in front of the package, one line an element.
    pub comment: Vec<String>,
    /// The structs, in the order of the file.
    pub structs: Vec<Struct>,
}

/// A struct: a fixed section, and fields at the author's offsets in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name in the schema.
    pub name: String,
    /// The comment in front of it.
    pub comment: Vec<String>,
    /// Bytes of the fixed section: the largest offset + width.
    pub size: u32,
    /// Its fields, in the order of the file.
    pub fields: Vec<Field>,
}

impl Struct {
    /// Whether the fixed section is all that there is: no slot leads out of it.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.fields.iter().all(|field| field.kind.is_inline())
    }
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the schema.
    pub name: String,
    /// The comment in front of it, and then that behind it on its line.
    pub comment: Vec<String>,
    /// Its type.
    pub kind: Type,
    /// Its offset in the fixed section.
    pub offset: u32,
}

/// A type, aliases resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A bool or a number.
    Scalar(Scalar),
    /// That many bytes inline.
    BytesFixed(u32),
    /// A slot of 8 bytes that leads to bytes.
    Bytes,
    /// A slot of 8 bytes that leads to UTF-8.
    Text,
    /// A slot of 8 bytes that leads to elements of that type.
    List(Box<Self>),
    /// A slot of 4 bytes that leads to an object: the struct of that index in [`Schema::structs`].
    Struct(usize),
}

impl Type {
    /// Bytes in the fixed section.
    #[must_use]
    pub const fn width(&self) -> u32 {
        match self {
            Self::Scalar(scalar) => scalar.width(),
            Self::BytesFixed(width) => *width,
            Self::Bytes | Self::Text | Self::List(_) => 8,
            Self::Struct(_) => 4,
        }
    }

    /// Whether the value itself lies in the fixed section.
    #[must_use]
    pub const fn is_inline(&self) -> bool {
        matches!(self, Self::Scalar(_) | Self::BytesFixed(_))
    }
}

/// A type that is a number or a truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Scalar {
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Scalar {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Bool,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F32,
        Self::F64,
    ];

    /// The type's name, which is the same in a schema and in Rust.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Bytes in the fixed section, and from one element of a list to the next.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// Reads and checks a schema. `file` is only named in errors.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub fn parse(file: &str, text: &str) -> Result<Schema, SchemaError> {
    parser::parse(text).and_then(check::check).map_err(|(line, problem)| SchemaError {
        file: file.to_owned(),
        line,
        problem,
    })
}

#[cfg(test)]
mod tests;
