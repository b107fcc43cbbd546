//! Tests of the schema parser: what it accepts, and what it says of what it refuses.

use super::*;

fn refused(text: &str) -> String {
    parse("x.zap", text).unwrap_err().to_string()
}

#[test]
fn the_specifications_example() {
    let text =
        "package vote\n\ntype id32 = bytes_fixed[32]\n\nstruct Example {\n    Round u64  @0\n    Hash  id32 @8\n}";
    let schema = parse("x.zap", text).unwrap();
    assert_eq!((schema.package.as_str(), schema.structs.len()), ("vote", 1));
    let example = &schema.structs[0];
    assert_eq!((example.name.as_str(), example.size, example.is_fixed()), ("Example", 40, true));
    assert_eq!(example.fields[0].kind, Type::Scalar(Scalar::U64));
    assert_eq!((&example.fields[1].kind, example.fields[1].offset), (&Type::BytesFixed(32), 8));
}

#[test]
fn every_type_and_its_width() {
    let scalars = Scalar::ALL.map(Scalar::name);
    let others = ["bytes", "text", "bytes_fixed[7]", "list<u8>", "list<list<Other>>", "Other", "alias"];
    let widths = [1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 8, 7, 8, 8, 4, 8];
    let mut text =
        String::from("package all struct Other { } type alias = again type again = list < Other > struct All {");
    let mut at = 0;
    for (index, (kind, width)) in scalars.iter().chain(&others).zip(widths).enumerate() {
        text += &format!("f{index} {kind}@{at} ");
        at += width;
    }
    let schema = parse("x.zap", &(text + "}")).unwrap();
    let all = &schema.structs[1];
    assert_eq!((all.size, all.fields.len(), all.is_fixed()), (at, widths.len(), false));
    assert!(all.fields.iter().zip(widths).all(|(field, width)| field.kind.width() == width));
    let list = Type::List(Box::new(Type::Struct(0)));
    assert_eq!(all.fields[17].kind, list);
    assert_eq!(all.fields[15].kind, Type::List(Box::new(list)));
    assert_eq!((schema.structs[0].size, schema.structs[0].is_fixed()), (0, true));
}

#[test]
fn comments_belong_to_what_they_stand_at() {
    let text = "# one\n# two\npackage p # lost\n\n# lost too\n\n# of S\nstruct S { # lost\n  # above\n  a u8 @0 # behind\n\n  b u8 @1\n}\n# end";
    let schema = parse("x.zap", text).unwrap();
    let structure = &schema.structs[0];
    assert_eq!(schema.comment, ["one", "two"]);
    assert_eq!(structure.comment, ["of S"]);
    assert_eq!(structure.fields[0].comment, ["above", "behind"]);
    assert!(structure.fields[1].comment.is_empty());
}

#[test]
fn grammar_errors_name_line_and_expectation() {
    for (text, expected) in [
        ("", "x.zap:1: expected `package`, with which a schema starts, found the end of the file"),
        ("\nstruct", "x.zap:2: expected `package`, with which a schema starts, found `struct`"),
        ("package 7", "x.zap:1: expected the package's name, found `7`"),
        ("package p\nfield u8 @0", "x.zap:2: expected `type`, `struct` or the end of the file, found `field`"),
        ("package p type = u8", "x.zap:1: expected the alias's name, found `=`"),
        ("package p type a\nu8", "x.zap:2: expected `=` behind the alias's name, found `u8`"),
        ("package p type a =", "x.zap:1: expected the type that the alias stands for, found the end of the file"),
        ("package p struct {", "x.zap:1: expected the struct's name, found `{`"),
        ("package p struct S\n\n}", "x.zap:3: expected `{` behind the struct's name, found `}`"),
        ("package p struct S {", "x.zap:1: expected a field's name or `}`, found the end of the file"),
        ("package p struct S { a @0 }", "x.zap:1: expected the field's type, found `@`"),
        ("package p struct S { a u8 0 }", "x.zap:1: expected `@` and the field's offset, found `0`"),
        ("package p struct S { a u8 @-1 }", "x.zap:1: expected a name, a number, or one of { } [ ] < > = @, found '-'"),
        ("package p struct S { a u8 @b }", "x.zap:1: expected the field's offset, found `b`"),
        ("package p type a = list u8", "x.zap:1: expected `<` and the type of the list's elements, found `u8`"),
        ("package p type a = list<>", "x.zap:1: expected the type of the list's elements, found `>`"),
        (
            "package p type a = list<u8",
            "x.zap:1: expected `>` behind the type of the list's elements, found the end of the file",
        ),
        ("package p type a = bytes_fixed", "x.zap:1: expected `[` and the number of bytes, found the end of the file"),
        ("package p type a = bytes_fixed[x]", "x.zap:1: expected the number of bytes, found `x`"),
        (
            "package p type a = bytes_fixed[1",
            "x.zap:1: expected `]` behind the number of bytes, found the end of the file",
        ),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
}

#[test]
fn meaning_errors_name_line_and_expectation() {
    for (text, expected) in [
        (
            "package p\nstruct S {\n a T @0 }",
            "x.zap:3: expected a type, found `T`, which is neither built in nor declared",
        ),
        ("package p\ntype a = list<b>", "x.zap:2: expected a type, found `b`, which is neither built in nor declared"),
        (
            "package p\ntype a = u8\nstruct a { }",
            "x.zap:3: expected a new name, found `a`, which line 2 declares already",
        ),
        (
            "package p\nstruct S { a u8 @0\n a u8 @1 }",
            "x.zap:3: expected a new name, found `a`, which line 2 declares already",
        ),
        ("package p\ntype u8 = u16", "x.zap:2: expected a new name, found `u8`, which is built in"),
        ("package p\nstruct list { }", "x.zap:2: expected a new name, found `list`, which is built in"),
        ("package p\ntype a = a", "x.zap:2: expected a type, found `a`, an alias that leads back to itself"),
        (
            "package p\ntype a = b\ntype b = list<c>\ntype c = b",
            "x.zap:3: expected a type, found `b`, an alias that leads back to itself",
        ),
        (
            "package p\nstruct S {\n b u64 @4\n a u64 @0 }",
            "x.zap:3: expected `b` at 8 or behind, found it inside of `a`, which line 4 declares",
        ),
        (
            "package p struct S { a u8 @4294967296 }",
            "x.zap:1: expected a field that ends within 1048576 bytes, found one that does not",
        ),
        (
            "package p struct S { a u8 @1048576 }",
            "x.zap:1: expected a field that ends within 1048576 bytes, found one that does not",
        ),
        (
            "package p type a = bytes_fixed[99999999999999999999999]",
            "x.zap:1: expected a field that ends within 1048576 bytes, found one that does not",
        ),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
}

#[test]
fn structs_may_refer_to_each_other_and_fields_may_be_called_anything() {
    let schema =
        parse("x.zap", "package package struct A { type B @0 struct list<A> @4 } struct B { package A @0 }").unwrap();
    assert_eq!(schema.structs[0].fields[0].kind, Type::Struct(1));
    assert_eq!(schema.structs[1].fields[0].kind, Type::Struct(0));
}

#[test]
fn hostile_schemas_cost_no_stack_and_little_time() {
    let depth = 300_000;
    let text = format!("package p type a = {}u8{}", "list<".repeat(depth), ">".repeat(depth));
    assert_eq!(refused(&text), "x.zap:1: expected lists at most 16 deep, found a deeper one");

    // A chain of aliases, used from its far end; and the same closed to a ring.
    let chain: String = (1..depth).map(|index| format!("type a{index} = a{}\n", index - 1)).collect();
    let text = format!("package p type a0 = u8 {chain} struct S {{ x a{} @0 }}", depth - 1);
    assert_eq!(parse("x.zap", &text).unwrap().structs[0].size, 1);
    let text = format!("package p type a0 = a{} {chain}", depth - 1);
    assert!(refused(&text).ends_with("an alias that leads back to itself"));

    // Lists that only get deep through aliases.
    let deep: String = (1..64).map(|index| format!("type a{index} = list<a{}>\n", index - 1)).collect();
    assert_eq!(
        refused(&format!("package p\ntype a0 = u8\n{deep}")),
        "x.zap:19: expected lists at most 16 deep, found a deeper one"
    );

    let fields: String = (0..depth).map(|index| format!("f{index} u8 @{index}\n")).collect();
    assert_eq!(parse("x.zap", &format!("package p struct S {{ {fields} }}")).unwrap().structs[0].size as usize, depth);

    let name = "x".repeat(1 << 20);
    assert!(refused(&format!("package p struct S {{ a {name} @0 }}")).len() < 200);
}

#[test]
fn errors_show_other_characters_and_cut_long_ones() {
    assert_eq!(
        refused("package p\n\u{feff}"),
        "x.zap:2: expected a name, a number, or one of { } [ ] < > = @, found '\\u{feff}'"
    );
    assert_eq!(refused("paket \u{0}"), "x.zap:1: expected `package`, with which a schema starts, found `paket`");
}
