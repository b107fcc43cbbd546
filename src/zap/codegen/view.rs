//! The types that read: a view a struct. One check makes it, and after that a field in the section is a plain load.

use std::fmt::{self, Write};

use super::super::schema::{Scalar, Type};
use super::{Item, docs, field_docs};

/// Writes the view of a struct.
pub(super) fn write(out: &mut String, item: Item<'_>) -> fmt::Result {
    let (view, size) = (item.view(), item.structure.size);
    writeln!(
        out,
        "\n/// A view of a `{}` whose fixed section of {size} bytes lies wholly in its message.",
        item.structure.name
    )?;
    docs(out, "///", true, &item.structure.comment)?;
    writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub struct {view}<'a> {{")?;
    if !item.is_fixed() {
        writeln!(out, "    object: zap::Object<'a>,")?;
    }
    writeln!(out, "    section: &'a [u8; {size}],\n}}\n\nimpl<'a> {view}<'a> {{")?;
    constants(out, item)?;
    constructors(out, item)?;
    for (field, name) in item.fields() {
        writeln!(out)?;
        field_docs(out, item.schema, field)?;
        accessor(out, item, &field.kind, field.offset, name)?;
    }
    writeln!(out, "}}")?;
    if item.is_fixed() {
        element(out, view)?;
    }
    Ok(())
}

fn constants(out: &mut String, item: Item<'_>) -> fmt::Result {
    let size = item.structure.size;
    writeln!(out, "    /// Bytes of the fixed section.\n    pub const SIZE: usize = {size};\n")?;
    let what = if item.is_fixed() { "that is nothing but" } else { "without the values of its slots: the header and" };
    writeln!(out, "    /// Bytes of a message {what} this struct.")?;
    writeln!(out, "    pub const MESSAGE_SIZE: usize = {};", u64::from(size) + 16)
}

fn constructors(out: &mut String, item: Item<'_>) -> fmt::Result {
    let size = item.structure.size;
    let object = if item.is_fixed() { "" } else { "object, " };
    let root = if item.is_fixed() { "_" } else { "object" };
    out.write_str(
        "
    /// The root object of the message that `bytes` start with.
    ///
    /// # Errors
    /// Where the bytes are no message, or its root is not wholly in it.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> ::core::result::Result<Self, zap::ViewError> {
        Self::from_message(zap::Message::parse(bytes)?)
    }

    /// The root object of `bytes`, where they are exactly one message, have none of the flags `refused`, and the root is
    /// wholly in it.
    #[inline]
    pub fn parse_exact(bytes: &'a [u8], refused: zap::Flags) -> ::core::option::Option<Self> {
",
    )?;
    if item.is_fixed() {
        writeln!(
            out,
            "        ::core::option::Option::Some(Self {{ section: zap::Message::exact_root_section(bytes, refused)? }})"
        )?;
    } else {
        writeln!(out, "        let message = zap::Message::parse(bytes).ok()?;")?;
        writeln!(out, "        if message.size() != bytes.len() || message.flags().intersects(refused) {{")?;
        writeln!(out, "            return ::core::option::Option::None;\n        }}")?;
        writeln!(out, "        Self::from_message(message).ok()")?;
    }
    write!(
        out,
        "    }}

    /// The root object of a message.
    ///
    /// # Errors
    /// Where the root is not wholly in the message.
    #[inline]
    pub fn from_message(message: zap::Message<'a>) -> ::core::result::Result<Self, zap::ViewError> {{
        let ({root}, section) = message.root_section()?;
        ::core::result::Result::Ok(Self {{ {object}section }})
    }}

    /// An object, where its whole fixed section lies in the message.
    #[inline]
    pub fn from_object(object: zap::Object<'a>) -> ::core::option::Option<Self> {{
        ::core::option::Option::Some(Self {{ {object}section: object.section()? }})
    }}

    /// The fixed section.
    #[inline]
    pub const fn as_section(self) -> &'a [u8; {size}] {{
        self.section
    }}
"
    )?;
    if item.is_fixed() {
        write!(
            out,
            "
    /// A fixed section that lies anywhere.
    #[inline]
    pub const fn from_section(section: &'a [u8; {size}]) -> Self {{
        Self {{ section }}
    }}
"
        )
    } else {
        out.write_str(
            "
    /// The object, for access by offsets.
    #[inline]
    pub const fn as_object(self) -> zap::Object<'a> {
        self.object
    }
",
        )
    }
}

fn accessor(out: &mut String, item: Item<'_>, kind: &Type, at: u32, name: &str) -> fmt::Result {
    let part = |width: u32| format!("zap::layout::part::<{at}, {width}, {}>(self.section)", item.structure.size);
    let (constant, returned, body) = match kind {
        Type::Scalar(Scalar::Bool) => ("const ", "bool".to_owned(), format!("{}[0] != 0", part(1))),
        Type::Scalar(scalar) => {
            let body = format!("{}::from_le_bytes(*{})", scalar.name(), part(scalar.width()));
            ("const ", scalar.name().to_owned(), body)
        }
        Type::BytesFixed(width) => ("const ", format!("&'a [u8; {width}]"), part(*width)),
        Type::Bytes => ("", "::core::option::Option<&'a [u8]>".to_owned(), format!("self.object.bytes({at})")),
        Type::Text => ("", "::core::option::Option<&'a str>".to_owned(), format!("self.object.text({at})")),
        Type::Struct(index) => {
            let view = item.names.view(*index);
            (
                "",
                format!("::core::option::Option<{view}<'a>>"),
                format!("{view}::from_object(self.object.object({at}))"),
            )
        }
        Type::List(element) => {
            let (returned, access) = list(item, element);
            ("", returned, format!("self.object.list({at}){access}"))
        }
    };
    writeln!(out, "    #[inline]\n    pub {constant}fn {name}(self) -> {returned} {{\n        {body}\n    }}")
}

/// What an accessor of a list returns, and how it gets there from the list.
fn list(item: Item<'_>, element: &Type) -> (String, String) {
    let elements = |element: &str| (format!("zap::Elements<'a, {element}>"), ".elements()".to_owned());
    let iterator = |of: &str| format!("impl ::core::iter::Iterator<Item = {of}> + ::core::clone::Clone + use<'a>");
    match element {
        Type::Scalar(scalar) => elements(scalar.name()),
        Type::BytesFixed(width) => elements(&format!("&'a [u8; {width}]")),
        Type::Struct(index) => {
            let view = item.names.view(*index);
            if item.schema.structs[*index].is_fixed() {
                elements(&format!("{view}<'a>"))
            } else {
                let of = format!("::core::result::Result<{view}<'a>, zap::ViewError>");
                (iterator(&of), format!(".entries().map({view}::parse)"))
            }
        }
        Type::Text => {
            let map = ".entries().map(|entry| ::core::str::from_utf8(entry).ok())";
            (iterator("::core::option::Option<&'a str>"), map.to_owned())
        }
        Type::Bytes | Type::List(_) => ("zap::Entries<'a>".to_owned(), ".entries()".to_owned()),
    }
}

fn element(out: &mut String, view: &str) -> fmt::Result {
    write!(
        out,
        "
impl<'a> zap::Element<'a> for {view}<'a> {{
    const STRIDE: usize = Self::SIZE;

    #[inline]
    fn read(list: zap::List<'a>, index: usize) -> ::core::option::Option<Self> {{
        ::core::option::Option::Some(Self {{ section: list.bytes_fixed(index)? }})
    }}
}}
"
    )
}
