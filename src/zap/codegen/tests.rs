//! Tests of the generator's text. What it makes is compiled and used in `tests/zapc.rs`.

use super::super::schema;
use super::*;

fn generated(schema: &str) -> String {
    generate(&schema::parse("x.zap", schema).unwrap())
}

#[test]
fn comments_stay_what_they_say() {
    let comments = "# a [link] <b>, *stars*, \u{202e}turned\u{7}\tround `\\`\npackage p";
    assert!(generated(comments).contains("//! a \\[link\\] \\<b\\>, \\*stars\\*, turned round \\`\\\\\\`\n"));
}

#[test]
fn nothing_is_generated_for_a_package_without_structs() {
    assert_eq!(generated("package p type a = u8").lines().count(), 3);
}

#[test]
fn the_same_schema_gives_the_same_text() {
    let schema = "package p struct A { b B @0 } struct B { a list<A> @0 x list<bytes_fixed[3]> @8 }";
    assert_eq!(generated(schema), generated(schema));
}

#[test]
fn names_that_come_out_alike_are_told_apart() {
    let text = generated(
        "package p struct a { x_y u8 @0 xY u8 @1 XY u8 @2 Fn u8 @3 _ u8 @4 } struct A { } struct AFields { }",
    );
    for name in [
        "pub struct A<'a>",
        "pub struct A2<'a>",
        "pub struct AFields2<'a>",
        "pub struct AFields {",
        "pub struct A2Fields {",
    ] {
        assert!(text.contains(name), "{name} in {text}");
    }
    for name in ["fn x_y(", "fn x_y_2(", "fn xy(", "fn fn_2(", "fn field_("] {
        assert!(text.contains(name), "{name} in {text}");
    }
}

#[test]
fn gaps_are_written_as_zeros() {
    let text = generated("package p struct S { b u8 @9 a u32 @2 }");
    let put: Vec<&str> =
        text.lines().map(str::trim).filter(|line| line.contains("::put::") && line.contains("section")).collect();
    assert_eq!(
        put,
        [
            "zap::layout::put::<0, 2, 10>(section, &[0; 2]);",
            "zap::layout::put::<2, 4, 10>(section, &self.a.to_le_bytes());",
            "zap::layout::put::<6, 3, 10>(section, &[0; 3]);",
            "zap::layout::put::<9, 1, 10>(section, &self.b.to_le_bytes());",
        ]
    );
}
