//! The ZAP schema compiler end to end: what is committed is what it makes now, and what it makes of every type reads what it
//! wrote.

#![expect(clippy::unwrap_used, reason = "a test that panics fails, as it should")]

use std::path::{Path, PathBuf};

use votebench::zap::{self, Builder, Flags, Message, Version, codegen, schema};

#[rustfmt::skip]
#[allow(unreachable_pub, dead_code, missing_docs)]
#[path = "zap_types/every_type.rs"]
mod every_type;
use every_type::{Empty, EmptyFields, EveryScalar, EveryScalarFields, Pair, PairFields, Tails, TailsFields};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn committed_code_is_what_the_compiler_makes_now() {
    for (from, committed) in [
        ("schemas/vote.zap", "src/schema/generated/vote_zap.rs"),
        ("schemas/http.zap", "src/schema/generated/http_zap.rs"),
        ("tests/zap_types/every_type.zap", "tests/zap_types/every_type.rs"),
    ] {
        let schema = schema::parse(from, &std::fs::read_to_string(root(from)).unwrap()).unwrap();
        let committed_text = std::fs::read_to_string(root(committed)).unwrap();
        assert!(
            codegen::generate(&schema) == committed_text,
            "{committed} is not what `votebench zapc {from} --out {committed}` makes"
        );
    }
}

const ID: [u8; 32] = [7; 32];

fn scalars(id: &[u8; 32]) -> EveryScalarFields<'_> {
    EveryScalarFields {
        bool: true,
        a_byte: 200,
        type_2: 50_000,
        self_2: 3_000_000_000,
        http_id: 1 << 63,
        i_8: -1,
        i_16: -2,
        i_32: -3,
        i_64: i64::MIN,
        parse_2: 1.5,
        fn_2: -2.25,
        id,
    }
}

#[test]
fn scalars_read_back_from_an_array() {
    let mut message = [0xff; EveryScalar::MESSAGE_SIZE];
    scalars(&ID).write(&mut message);
    let mut builder = Builder::new();
    let object = scalars(&ID).build(&mut builder);
    assert_eq!(builder.finish(object), Ok(&message[..]), "gaps are zeros, and both ways of writing agree");

    let view = EveryScalar::parse(&message).unwrap();
    assert_eq!((view.bool(), view.a_byte(), view.type_2(), view.self_2()), (true, 200, 50_000, 3_000_000_000));
    assert_eq!((view.http_id(), view.i_8(), view.i_16(), view.i_32()), (1 << 63, -1, -2, -3));
    assert_eq!((view.i_64(), view.parse_2(), view.fn_2(), view.id()), (i64::MIN, 1.5, -2.25, &ID));
    assert_eq!(EveryScalar::from_section(view.as_section()), view);
}

#[test]
fn views_are_all_or_nothing() {
    let mut message = [0; Pair::MESSAGE_SIZE];
    PairFields { left: 1, right: -2 }.write_as(Version::V2, Flags::SIGNED, &mut message);
    let view = Pair::parse_exact(&message, Flags::COMPRESSED).unwrap();
    assert_eq!((view.left(), view.right()), (1, -2));
    assert_eq!(
        Message::parse(&message).map(|message| (message.version(), message.flags())),
        Ok((Version::V2, Flags::SIGNED))
    );
    assert_eq!(Pair::parse_exact(&message, Flags::SIGNED), None);
    assert_eq!(Pair::parse_exact(&[&message[..], &[0]].concat(), Flags::NONE), None);
    for length in 0..message.len() {
        assert!(Pair::parse(&message[..length]).is_err());
    }
    for (root, size, error) in [
        (15, 30, zap::ViewError::RootOutOfBounds),
        (30, 30, zap::ViewError::RootOutOfBounds),
        (u32::MAX, 30, zap::ViewError::RootOutOfBounds),
        (17, 30, zap::ViewError::TruncatedObject),
        (16, 29, zap::ViewError::TruncatedObject),
    ] {
        message[..16].copy_from_slice(&zap::layout::header(Version::V1, Flags::NONE, root, size));
        assert_eq!(Pair::parse(&message), Err(error), "root {root}, size {size}");
        assert_eq!(Pair::parse_exact(&message, Flags::NONE), None);
    }
}

#[test]
fn bytes_and_texts_are_appended() {
    for (note, data) in [("", &b""[..]), ("note", b""), ("", b"data"), ("n\u{f6}te", b"data")] {
        let values = TailsFields { note, flag: true, data };
        let mut out = b"in front".to_vec();
        values.append(Version::V1, Flags::of_type(9), &mut out).unwrap();
        let message = out.strip_prefix(b"in front").unwrap();
        assert_eq!(message.len(), values.message_size());

        let mut builder = Builder::new();
        builder.set_flags(Flags::of_type(9));
        let object = values.build(&mut builder);
        assert_eq!(builder.finish(object), Ok(message));

        let view = Tails::parse(message).unwrap();
        assert_eq!((view.note().unwrap_or(""), view.flag(), view.data().unwrap_or(b"")), (note, true, data));
        assert_eq!((view.note().is_none(), view.data().is_none()), (note.is_empty(), data.is_empty()));
    }
}

/// Every kind of list, and objects before and behind the one that refers to them.
fn everything(builder: &mut Builder) -> zap::ObjectRef {
    let mut message = Vec::new();
    TailsFields { note: "inner", flag: false, data: &[1] }.append(Version::V1, Flags::NONE, &mut message).unwrap();
    let tails = builder.list_entries([&message[..], b"no message"]);
    let mut list = builder.list();
    list.push_bool(true).push_bool(false);
    let bools = list.finish();
    let mut list = builder.list();
    list.push_u16(1).push_u16(60_000);
    let u16s = list.finish();
    let mut list = builder.list();
    list.push_f64(0.5);
    let f64s = list.finish();
    let mut list = builder.list();
    list.push_fixed(&ID).push_fixed(&[8; 32]);
    let ids = list.finish();
    let mut list = builder.list();
    for right in [-1, -2] {
        let mut section = [0; Pair::SIZE];
        PairFields { left: 5, right }.write_section(&mut section);
        list.push_fixed(&section);
    }
    let pairs = list.finish();
    let entries = builder.list_entries([&b"a"[..], b"", b"\xff"]);
    let scalars = scalars(&ID).build(builder);
    let mut next = None;
    for round in [1, 2] {
        let list = |list| Some(list);
        let fields = every_type::OptionFields {
            next,
            scalars: Some(scalars),
            bools: list(bools),
            u16s: list(u16s),
            f64s: list(f64s),
            ids: list(ids),
            pairs: list(pairs),
            tails: list(tails),
            texts: list(entries),
            blobs: list(entries),
            lists: None,
            round,
            texts_: "one",
            texts_2: "two",
        };
        next = Some(fields.build(builder));
    }
    next.unwrap()
}

#[test]
fn every_kind_of_slot_reads_back() {
    let mut builder = Builder::new();
    let object = everything(&mut builder);
    let message = builder.finish(object).unwrap();
    let view = every_type::Option::parse(message).unwrap();
    let next = view.next().unwrap();
    assert_eq!((view.round(), next.round(), next.next()), (2, 1, None));
    assert_eq!((view.texts_(), next.texts_2()), (Some("one"), Some("two")));
    for view in [view, next] {
        assert_eq!(view.scalars().map(EveryScalar::i_64), Some(i64::MIN));
        assert_eq!(view.bools().iter().collect::<Vec<_>>(), [true, false]);
        assert_eq!(view.u16s().iter().collect::<Vec<_>>(), [1, 60_000]);
        assert_eq!((view.f64s().get(0), view.f64s().get(1), view.f64s().len()), (Some(0.5), None, 1));
        assert_eq!(view.ids().iter().collect::<Vec<_>>(), [&ID, &[8; 32]]);
        assert_eq!(
            view.pairs().into_iter().map(|pair| (pair.left(), pair.right())).collect::<Vec<_>>(),
            [(5, -1), (5, -2)]
        );
        assert_eq!(view.texts().collect::<Vec<_>>(), [Some("a"), Some(""), None]);
        assert_eq!(view.blobs().collect::<Vec<_>>(), [&b"a"[..], b"", b"\xff"]);
        assert_eq!(view.lists().count(), 0);
        let notes: Vec<_> = view.tails().map(|tails| tails.map(Tails::note)).collect();
        let refused = zap::ViewError::Parse(zap::ParseError::BufferTooSmall);
        assert_eq!(notes, [Ok(Some("inner")), Err(refused)]);
    }
    // Where the message is cut, what was in it is gone, and nothing else is read.
    for length in 16..message.len() {
        let mut cut = message[..length].to_vec();
        cut[12..16].copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
        assert!(every_type::Option::parse(&cut).is_err() || length >= message.len() - 6);
    }
}

#[test]
fn structs_without_fields_are_messages_too() {
    let mut message = [0xff; Empty::MESSAGE_SIZE];
    EmptyFields {}.write(&mut message);
    assert_eq!(message, zap::layout::header(Version::V1, Flags::NONE, 16, 16));
    assert_eq!(Empty::parse(&message).map(Empty::as_section), Ok(&[]));
}
