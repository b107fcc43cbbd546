//! The ZAP runtime against the reference's golden vectors in `tests/golden/zap/`: the bytes that we build are the
//! reference's, and the lenient reader answers damaged bytes as the reference reader did. The strict vote codec refuses
//! every message among them that is not one whole vote.

#![expect(clippy::unwrap_used, reason = "a test that panics fails, as it should")]

use serde_json::Value;
use votebench::codec::{self, CodecError};
use votebench::vote::Vote;
use votebench::zap::{Builder, Flags, ListRef, Message, ObjectBuilder, Version};

mod golden_support;
use golden_support::{cases, number, text};

fn bytes(case: &Value, key: &str) -> Vec<u8> {
    const_hex::decode(text(case, key)).unwrap()
}

fn fixed<const N: usize>(case: &Value, key: &str) -> [u8; N] {
    bytes(case, key).try_into().unwrap()
}

fn vote(case: &Value) -> Vote {
    Vote {
        round: number(&case["round"]),
        block_hash: fixed(case, "block_hash"),
        voter_id: fixed(case, "voter_id"),
        signature: fixed(case, "signature"),
        timestamp: number(&case["timestamp"]),
        vote_type: number(&case["vote_type"]),
    }
}

/// The vote by the dynamic builder.
fn build(vote: &Vote, version: Version) -> Vec<u8> {
    let mut builder = Builder::new();
    builder.set_version(version);
    let mut object = builder.object(145);
    object
        .set_u64(0, vote.round)
        .set_bytes_fixed(8, &vote.block_hash)
        .set_bytes_fixed(40, &vote.voter_id)
        .set_bytes_fixed(72, &vote.signature)
        .set_u64(136, vote.timestamp)
        .set_u8(144, vote.vote_type);
    let root = object.finish();
    builder.into_message(root).unwrap()
}

#[test]
fn votes() {
    let mut codec = codec::by_name("zap").unwrap();
    let cases = cases("votes.json");
    assert_eq!(cases.len(), 65);
    assert_eq!(vote(&cases[0]), Vote::canonical());
    for case in &cases {
        let (vote, name) = (vote(case), text(case, "name"));
        let (v1, v2) = (bytes(case, "zap_v1"), bytes(case, "zap_v2"));
        assert_eq!(codec.encode(&vote).unwrap(), v1, "{name}");
        assert_eq!(build(&vote, Version::V1), v1, "{name}");
        assert_eq!(build(&vote, Version::V2), v2, "{name}");
        for (message, version) in [(&v1, Version::V1), (&v2, Version::V2)] {
            assert_eq!(codec.own(message).as_ref(), Ok(&vote), "{name}");
            let header = Message::parse(message).unwrap();
            assert_eq!(
                (header.version(), header.flags(), header.size(), header.root_offset()),
                (version, Flags::NONE, 161, 16)
            );
        }
    }
}

#[test]
fn hostile_messages_read_as_the_reference_reads_them() {
    let cases = cases("hostile.json");
    assert_eq!(cases.len(), 175);
    for case in &cases {
        let (name, bytes) = (text(case, "name"), bytes(case, "bytes"));
        let message = match Message::parse(&bytes) {
            Ok(message) => message,
            Err(error) => {
                assert_eq!(error.name(), text(case, "parse"), "{name}");
                continue;
            }
        };
        assert_eq!(text(case, "parse"), "ok", "{name}");
        assert_eq!(message.size(), number::<usize>(&case["size"]), "{name}");
        assert_eq!(message.version().number(), number::<u16>(&case["version"]), "{name}");
        assert_eq!(message.flags().0, case.get("flags").map_or(0, number), "{name}");
        let root = message.root();
        assert_eq!(root.u64(0), number::<u64>(&case["round"]), "{name}");
        assert_eq!(root.u64(136), number::<u64>(&case["timestamp"]), "{name}");
        assert_eq!(root.u8(144), number::<u8>(&case["vote_type"]), "{name}");
        let hex = |bytes: Option<&[u8]>| bytes.map(const_hex::encode);
        let want = |key| case.get(key).map(|value: &Value| value.as_str().unwrap().to_owned());
        assert_eq!(hex(root.bytes_fixed::<32>(8).map(|b| &b[..])), want("block_hash"), "{name}");
        assert_eq!(hex(root.bytes_fixed::<32>(40).map(|b| &b[..])), want("voter_id"), "{name}");
        assert_eq!(hex(root.bytes_fixed::<64>(72).map(|b| &b[..])), want("signature"), "{name}");
        assert_eq!(hex(root.bytes(0)), want("bytes_slot_at_0"), "{name}");
        assert_eq!(root.list(0).len(), number::<usize>(&case["list_len_at_0"]), "{name}");
        assert_eq!(root.object(0).is_null(), case["object_at_0_is_null"], "{name}");
    }
}

#[test]
fn the_codec_refuses_what_is_not_one_whole_vote() {
    let mut codec = codec::by_name("zap").unwrap();
    for case in &cases("hostile.json") {
        let (name, bytes) = (text(case, "name"), bytes(case, "bytes"));
        let whole = ["block_hash", "voter_id", "signature"].iter().all(|field| case.get(field).is_some());
        let read = codec.read(&bytes);
        assert_eq!(read.as_ref().err(), codec.own(&bytes).as_ref().err(), "{name}");
        if let Ok(vote) = codec.own(&bytes) {
            assert_eq!(read, Ok(votebench::vote::Digest::of(&vote)), "{name}");
            assert!(whole, "{name}: a vote with zeros in it");
            assert_eq!((vote.round, vote.timestamp), (number(&case["round"]), number(&case["timestamp"])), "{name}");
        } else if whole {
            let message = Message::parse(&bytes).unwrap();
            let root = usize::try_from(message.root_offset()).unwrap();
            let why = read.unwrap_err();
            let expected = match () {
                () if message.flags().intersects(Flags(3)) => CodecError::unsupported_flags(),
                () if root < 16 || root >= message.size() => CodecError::root_out_of_bounds(),
                () if root + 145 > message.size() => CodecError::truncated_object(),
                () => CodecError::trailing_bytes(),
            };
            assert_eq!(why, expected, "{name}");
        }
    }
}

/// Applies one step of `objects.json` that sets a field: `kind@offset`, and the value.
fn set(object: &mut ObjectBuilder<'_>, kind: &str, at: usize, value: &Value) {
    match kind {
        "bool" => object.set_bool(at, value.as_bool().unwrap()),
        "u8" => object.set_u8(at, number(value)),
        "u32" => object.set_u32(at, number(value)),
        "u64" => object.set_u64(at, number(value)),
        "i16" => object.set_i16(at, number(value)),
        "i32" => object.set_i32(at, number(value)),
        "i64" => object.set_i64(at, number(value)),
        "f32" => object.set_f32(at, number(value)),
        "f64" => object.set_f64(at, number(value)),
        "bytes" => object.set_bytes(at, &const_hex::decode(value.as_str().unwrap()).unwrap()),
        "text" => object.set_text(at, value.as_str().unwrap()),
        _ => panic!("unknown kind {kind}"),
    };
}

/// Builds what the steps of `objects.json` say, in their order.
fn build_steps(steps: &[Value]) -> Vec<u8> {
    let steps: Vec<(&str, &Value)> = steps
        .iter()
        .map(|step| step.as_object().unwrap().iter().next().unwrap())
        .map(|(k, v)| (k.as_str(), v))
        .collect();
    let mut builder = Builder::new();
    let mut lists: Vec<(&str, ListRef)> = Vec::new();
    let mut inner = None;
    let mut rest = &steps[..];
    while let [(key, value), behind @ ..] = rest {
        rest = behind;
        let fields =
            |prefix: &str| rest.iter().take_while(|(key, _)| key.starts_with(prefix) && key.contains('@')).count();
        if let Some(list) = key.strip_prefix("list_") {
            let (kind, name) = list.split_once('_').unwrap();
            let list = match kind {
                "u8" => builder.list_u8(&const_hex::decode(value.as_str().unwrap()).unwrap()),
                "u32" => builder.list_u32(&value.as_array().unwrap().iter().map(number).collect::<Vec<_>>()),
                "u64" => builder.list_u64(&value.as_array().unwrap().iter().map(number).collect::<Vec<_>>()),
                _ => panic!("unknown list {key}"),
            };
            lists.push((name, list));
        } else if *key == "entries" {
            lists.push((
                key,
                builder.list_entries(value.as_array().unwrap().iter().map(|entry| entry.as_str().unwrap())),
            ));
        } else if *key == "inner_object_size" {
            let mut object = builder.object(number(value));
            let (now, later) = rest.split_at(fields("inner "));
            for (key, value) in now {
                let (kind, at) = key["inner ".len()..].split_once('@').unwrap();
                set(&mut object, kind, at.parse().unwrap(), value);
            }
            (rest, inner) = (later, Some(object.finish()));
        } else {
            assert_eq!(*key, "object_size");
            let mut object = builder.object(number(value));
            for (key, value) in std::mem::take(&mut rest) {
                let (kind, at) = key.split_once('@').unwrap();
                let at = at.parse().unwrap();
                match kind {
                    "list" => object.set_list(at, lists.iter().find(|(name, _)| *value == *name).unwrap().1),
                    "object" => object.set_object(at, inner.unwrap()),
                    _ => {
                        set(&mut object, kind, at, value);
                        &mut object
                    }
                };
            }
            let root = object.finish();
            return builder.into_message(root).unwrap();
        }
    }
    panic!("no root object");
}

#[test]
fn objects() {
    let cases = cases("objects.json");
    assert_eq!(cases.len(), 10);
    for case in &cases {
        let built = build_steps(case["build"].as_array().unwrap());
        assert_eq!(const_hex::encode(&built), text(case, "zap_v1"), "{}", text(case, "name"));
    }
}

#[test]
fn objects_read_back() {
    let messages: Vec<(String, Vec<u8>)> =
        cases("objects.json").iter().map(|case| (text(case, "name").to_owned(), bytes(case, "zap_v1"))).collect();
    let root = |name: &str| Message::parse(&messages.iter().find(|(n, _)| n == name).unwrap().1).unwrap().root();

    let scalars = root("scalars");
    assert_eq!((scalars.bool(0), scalars.u8(1), scalars.i16(2), scalars.i32(4)), (true, 200, -2, -70_000));
    assert_eq!((scalars.i64(8), scalars.f32(16), scalars.f64(24), scalars.u64(32)), (-1, 1.5, -2.25, 1 << 63));

    let empty = root("bytes-0-then-text");
    assert_eq!((empty.bytes(0), empty.text(8), empty.bytes(16).map(<[u8]>::len)), (None, Some("vote é"), Some(5)));
    assert_eq!(root("bytes-33-then-text").bytes(0).map(<[u8]>::len), Some(33));

    let lists = root("lists-then-object");
    let elements: Vec<u64> = lists.list(0).elements().iter().collect();
    assert_eq!(elements, [1_000_000_007, 2_000_000_014, 3_000_000_021]);
    assert_eq!((lists.list(8).len(), lists.list(8).u32(0), lists.list(8).u32(1), lists.list(8).u32(2)), (2, 7, 9, 0));
    assert_eq!((lists.list(16).bytes(), lists.u32(24)), (Some(&[1, 2, 3, 4, 5][..]), 42));

    let nested = root("nested-object-first");
    assert_eq!((nested.object(0).u64(0), nested.object(0).text(8), nested.u64(8)), (11, Some("inner"), 22));

    let entries: Vec<&[u8]> = root("variable-entry-list").list(0).entries().collect();
    assert_eq!(entries, [&b"a"[..], b"", b"votes"]);
}
