//! The types that write: a struct's values, and every way in which its layout lets them be written.

use std::fmt::{self, Write};

use super::super::schema::{Field, Type};
use super::{Item, docs, field_docs};

/// Writes the values' type of a struct.
pub(super) fn write(out: &mut String, item: Item<'_>) -> fmt::Result {
    let values = item.values();
    let lifetime = if item.structure.fields.iter().any(|field| borrows(&field.kind)) { "<'a>" } else { "" };
    writeln!(out, "\n/// The values of a `{}` that is to be written.", item.structure.name)?;
    docs(out, "///", true, &item.structure.comment)?;
    writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq)]\npub struct {values}{lifetime} {{")?;
    for (field, name) in item.fields() {
        field_docs(out, item.schema, field)?;
        writeln!(out, "    pub {name}: {},", value(&field.kind))?;
    }
    let anonymous = if lifetime.is_empty() { "" } else { "<'_>" };
    writeln!(out, "}}\n\nimpl {values}{anonymous} {{")?;
    if item.is_fixed() {
        write_in_place(out, item)?;
    } else if item.structure.fields.iter().all(|field| is_appended(&field.kind) || field.kind.is_inline()) {
        append(out, item)?;
    }
    build(out, item)?;
    writeln!(out, "}}")
}

/// Whether a value is borrowed.
const fn borrows(kind: &Type) -> bool {
    matches!(kind, Type::BytesFixed(_) | Type::Bytes | Type::Text)
}

/// Whether a value is bytes behind the section, which need nothing but to be appended.
const fn is_appended(kind: &Type) -> bool {
    matches!(kind, Type::Bytes | Type::Text)
}

/// The type that a value is given in.
fn value(kind: &Type) -> String {
    match kind {
        Type::Scalar(scalar) => scalar.name().to_owned(),
        Type::BytesFixed(width) => format!("&'a [u8; {width}]"),
        Type::Bytes => "&'a [u8]".to_owned(),
        Type::Text => "&'a str".to_owned(),
        Type::List(_) => "::core::option::Option<zap::ListRef>".to_owned(),
        Type::Struct(_) => "::core::option::Option<zap::ObjectRef>".to_owned(),
    }
}

/// The bytes of an inline value, as a reference to an array.
fn inline(kind: &Type, name: &str) -> String {
    match kind {
        Type::BytesFixed(_) => format!("self.{name}"),
        Type::Scalar(scalar) if scalar.name() == "bool" => format!("&[self.{name} as u8]"),
        _ => format!("&self.{name}.to_le_bytes()"),
    }
}

/// A struct without slots: written into an array of its size.
fn write_in_place(out: &mut String, item: Item<'_>) -> fmt::Result {
    let (view, size) = (item.view(), item.structure.size);
    let message = u64::from(size) + 16;
    write!(
        out,
        "    /// Writes a whole message of version 1 without flags.
    #[inline]
    pub fn write(&self, message: &mut [u8; {message}]) {{
        self.write_as(zap::Version::V1, zap::Flags::NONE, message);
    }}

    /// Writes a whole message.
    #[inline]
    pub fn write_as(&self, version: zap::Version, flags: zap::Flags, message: &mut [u8; {message}]) {{
        zap::layout::put::<0, 16, {message}>(message, &zap::layout::header(version, flags, 16, {message}));
        if let ::core::option::Option::Some(section) = message.last_chunk_mut::<{{ {view}::SIZE }}>() {{
            self.write_section(section);
        }}
    }}

    /// Writes the fixed section: every byte of it, with zeros where no field is.
    #[inline]
    pub fn write_section(&self, section: &mut [u8; {size}]) {{
"
    )?;
    let mut fields: Vec<(&Field, &str)> = item.fields().collect();
    fields.sort_by_key(|(field, _)| field.offset);
    let mut end = 0;
    for (field, name) in fields {
        let (at, width) = (field.offset, field.kind.width());
        if at > end {
            writeln!(out, "        zap::layout::put::<{end}, {0}, {size}>(section, &[0; {0}]);", at - end)?;
        }
        writeln!(out, "        zap::layout::put::<{at}, {width}, {size}>(section, {});", inline(&field.kind, name))?;
        end = end.max(at + width);
    }
    if item.structure.fields.is_empty() {
        writeln!(out, "        let _ = section;")?;
    }
    writeln!(out, "    }}\n")
}

/// A struct with nothing but bytes and texts behind its section: appended to a vector.
fn append(out: &mut String, item: Item<'_>) -> fmt::Result {
    let size = item.structure.size;
    let message = u64::from(size) + 16;
    let appended = || item.fields().filter(|(field, _)| is_appended(&field.kind));
    writeln!(out, "    /// Bytes of the whole message.\n    #[inline]\n    pub fn message_size(&self) -> usize {{")?;
    let sum: String = appended().map(|(_, name)| format!(".saturating_add(self.{name}.len())")).collect();
    write!(
        out,
        "        {message}_usize{sum}
    }}

    /// Appends a whole message to `out`, with no copy in between.
    ///
    /// # Errors
    /// Where the message does not fit 32-bit offsets; then nothing is appended.
    pub fn append(
        &self,
        version: zap::Version,
        flags: zap::Flags,
        out: &mut ::std::vec::Vec<u8>,
    ) -> ::core::result::Result<(), zap::BuildError> {{
        let length = self.message_size();
        let size = u32::try_from(length).map_err(|_| zap::BuildError::TooLarge)?;
        out.reserve(length);
        out.extend_from_slice(&zap::layout::header(version, flags, 16, size));
        let start = out.len();
        out.resize(start + {size}, 0);
        let mut tails = zap::layout::Tails::new({size});
        if let ::core::option::Option::Some(section) = out.last_chunk_mut::<{size}>() {{
"
    )?;
    for (field, name) in item.fields() {
        let (at, width) = (field.offset, field.kind.width());
        let bytes = match field.kind {
            Type::Bytes => format!("&tails.slot({at}, self.{name})"),
            Type::Text => format!("&tails.slot({at}, self.{name}.as_bytes())"),
            _ => inline(&field.kind, name),
        };
        writeln!(out, "            zap::layout::put::<{at}, {width}, {size}>(section, {bytes});")?;
    }
    writeln!(out, "        }}")?;
    for (field, name) in appended() {
        let bytes = if field.kind == Type::Text { ".as_bytes()" } else { "" };
        writeln!(out, "        out.extend_from_slice(self.{name}{bytes});")?;
    }
    writeln!(out, "        ::core::result::Result::Ok(())\n    }}\n")
}

/// Any struct: built with a builder.
fn build(out: &mut String, item: Item<'_>) -> fmt::Result {
    let size = item.structure.size;
    write!(
        out,
        "    /// Builds the object with a builder, which may hold others already.
    pub fn build(&self, builder: &mut zap::Builder) -> zap::ObjectRef {{
"
    )?;
    if item.structure.fields.is_empty() {
        return writeln!(out, "        builder.object({size}).finish()\n    }}");
    }
    writeln!(out, "        let mut object = builder.object({size});")?;
    for (field, name) in item.fields() {
        let at = field.offset;
        match &field.kind {
            Type::Scalar(scalar) => writeln!(out, "        object.set_{}({at}, self.{name});", scalar.name())?,
            Type::BytesFixed(_) => writeln!(out, "        object.set_bytes_fixed({at}, self.{name});")?,
            Type::Bytes => writeln!(out, "        object.set_bytes({at}, self.{name});")?,
            Type::Text => writeln!(out, "        object.set_text({at}, self.{name});")?,
            Type::List(_) | Type::Struct(_) => {
                let what = if matches!(field.kind, Type::List(_)) { "list" } else { "object" };
                writeln!(out, "        if let ::core::option::Option::Some(target) = self.{name} {{")?;
                writeln!(out, "            object.set_{what}({at}, target);\n        }}")?;
            }
        }
    }
    writeln!(out, "        object.finish()\n    }}")
}
