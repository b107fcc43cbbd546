//! Properties of the ZAP runtime: whatever the bytes, the reader answers by the rules and reads nothing outside of the
//! message; whatever is built reads back; whatever the text, the schema compiler answers.

#![expect(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test that panics fails, as it should")]

use proptest::prelude::*;
use votebench::codec::{self, CodecError};
use votebench::vote::{Vote, corpus};
use votebench::zap::{Builder, Flags, Message, ObjectRef, Version, codegen, layout, schema};

mod zap_walk;
use zap_walk::walk;

/// Bytes that are mostly messages: a sound header whose root and size are often sensible, and slots that often lead somewhere.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![3 => 0_u32..64, 1 => any::<u32>(), 1 => (1_u32..48).prop_map(u32::wrapping_neg)];
    let body = prop::collection::vec(word, 0..48);
    let root = prop_oneof![4 => 0_u32..64, 1 => any::<u32>()];
    (body, root, 0_u32..8, prop::collection::vec(any::<u8>(), 0..4), any::<u16>()).prop_map(
        |(body, root, short, behind, flags)| {
            let body: Vec<u8> = body.iter().flat_map(|word| word.to_le_bytes()).chain(behind).collect();
            let size = u32::try_from(16 + body.len()).unwrap().saturating_sub(short);
            [&layout::header(Version::V1, Flags(flags), root, size)[..], &body].concat()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_read_by_the_rules(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        walk(&bytes);
    }

    #[test]
    fn any_message_reads_by_the_rules(message in messages()) {
        walk(&message);
    }

    #[test]
    fn damaged_votes_read_by_the_rules_and_are_votes_or_refused(
        index in 0_usize..16,
        changes in prop::collection::vec((0_usize..161, any::<u8>()), 0..6),
        header in prop::option::of((0_u16..4, 0_u16..9, 0_u32..40, 140_u32..170)),
        length in prop_oneof![4 => Just(161_usize), 1 => 0_usize..180],
    ) {
        let mut codec = codec::by_name("zap").unwrap();
        let mut message = codec.encode(&corpus::votes(16, 9)[index]).unwrap().to_vec();
        if let Some((version, flags, root, size)) = header {
            message[..16].copy_from_slice(&layout::header(Version::V1, Flags(flags), root, size));
            message[4..6].copy_from_slice(&version.to_le_bytes());
        }
        for (at, value) in changes {
            message[at] = value;
        }
        message.resize(length, 0xee);
        walk(&message);
        let owned = codec.own(&message);
        prop_assert_eq!(&owned, &strictly(&message));
        prop_assert_eq!(codec.read(&message), owned.as_ref().map(votebench::vote::Digest::of).map_err(Clone::clone));
        prop_assert_eq!(codec.open_round(&message), owned.map(|vote| vote.round));
    }

    #[test]
    fn what_is_built_reads_back(tree in trees()) {
        let mut builder = Builder::new();
        let root = tree.build(&mut builder);
        let message = builder.finish(root).unwrap();
        walk(message);
        tree.assert_in(Message::parse(message).unwrap().root());
    }

    #[test]
    fn any_text_is_a_schema_or_refused(text in prop::collection::vec(token(), 0..60)) {
        let text = format!("package p struct S {{ {} ", text.join(" "));
        if let Ok(schema) = schema::parse("x.zap", &text) {
            prop_assert!(codegen::generate(&schema).contains("pub struct S"));
        }
    }
}

/// The strict codec's rules once more, in the plainest words.
fn strictly(bytes: &[u8]) -> Result<Vote, CodecError> {
    let message = Message::parse(bytes)?;
    let root = u64::from(message.root_offset());
    if message.flags().0 & 3 != 0 {
        return Err(CodecError::unsupported_flags());
    }
    if root < 16 || root >= message.size() as u64 {
        return Err(CodecError::root_out_of_bounds());
    }
    if root + 145 > message.size() as u64 {
        return Err(CodecError::truncated_object());
    }
    if bytes.len() > message.size() {
        return Err(CodecError::trailing_bytes());
    }
    let at = |at: usize| root as usize + at;
    Ok(Vote {
        round: u64::from_le_bytes(bytes[at(0)..at(8)].try_into().unwrap()),
        block_hash: bytes[at(8)..at(40)].try_into().unwrap(),
        voter_id: bytes[at(40)..at(72)].try_into().unwrap(),
        signature: bytes[at(72)..at(136)].try_into().unwrap(),
        timestamp: u64::from_le_bytes(bytes[at(136)..at(144)].try_into().unwrap()),
        vote_type: bytes[at(144)],
    })
}

fn token() -> impl Strategy<Value = String> {
    const FIXED: [&str; 31] = [
        "a",
        "b",
        "c_1",
        "u8",
        "f64",
        "bytes",
        "text",
        "list",
        "<",
        ">",
        "bytes_fixed",
        "[",
        "]",
        "@",
        "0",
        "8",
        "16",
        "99999999",
        "{",
        "}",
        "type",
        "struct",
        "=",
        "S",
        "# c\n",
        "\n",
        "a u8 @0",
        "b list<S> @8",
        "c text @16",
        "}",
        "type T = list<S>",
    ];
    prop_oneof![9 => prop::sample::select(&FIXED[..]).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

/// An object to be built: a number, two byte strings, a list, and objects that are built before it or while it is open.
#[derive(Clone, Debug)]
struct Tree {
    number: u64,
    bytes: [Vec<u8>; 2],
    list: Vec<u64>,
    entries: Vec<Vec<u8>>,
    before: Option<Box<Tree>>,
    inside: Option<Box<Tree>>,
    padding: usize,
}

fn trees() -> impl Strategy<Value = Tree> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..20);
    let fields = move || {
        let lists = (prop::collection::vec(any::<u64>(), 0..5), prop::collection::vec(bytes(), 0..5));
        (any::<u64>(), [bytes(), bytes()], lists, 0_usize..9)
    };
    let tree = |((number, bytes, (list, entries), padding), before, inside)| Tree {
        number,
        bytes,
        list,
        entries,
        before,
        inside,
        padding,
    };
    let leaf = fields().prop_map(move |fields| tree((fields, None, None)));
    leaf.prop_recursive(4, 16, 2, move |inner| {
        let child = || prop::option::of(inner.clone().prop_map(Box::new));
        (fields(), child(), child()).prop_map(tree)
    })
}

impl Tree {
    const SIZE: usize = 48;

    fn build(&self, builder: &mut Builder) -> ObjectRef {
        let before = self.before.as_ref().map(|tree| tree.build(builder));
        let list = builder.list_u64(&self.list);
        let mut object = builder.object(Self::SIZE + self.padding);
        object.set_bytes(0, &self.bytes[0]).set_list(16, list);
        let inside = object.nest(|builder| {
            let entries = builder.list_entries(&self.entries);
            (entries, self.inside.as_ref().map(|tree| tree.build(builder)))
        });
        object.set_list(24, inside.0).set_bytes(8, &self.bytes[1]).set_u64(40, self.number);
        if let Some(before) = before {
            object.set_object(32, before);
        }
        if let Some(inside) = inside.1 {
            object.set_object(36, inside);
        }
        object.finish()
    }

    fn assert_in(&self, object: votebench::zap::Object<'_>) {
        assert_eq!(object.position() % 8, 0);
        assert_eq!(object.u64(40), self.number);
        for (at, bytes) in [(0, &self.bytes[0]), (8, &self.bytes[1])] {
            assert_eq!(object.bytes(at), (!bytes.is_empty()).then_some(&bytes[..]));
        }
        assert_eq!(object.list(16).elements::<u64>().iter().collect::<Vec<_>>(), self.list);
        assert_eq!(object.list(24).entries().collect::<Vec<_>>(), self.entries);
        for (at, child) in [(32, &self.before), (36, &self.inside)] {
            assert_eq!(object.object(at).is_null(), child.is_none());
            if let Some(child) = child {
                child.assert_in(object.object(at));
            }
        }
    }
}
