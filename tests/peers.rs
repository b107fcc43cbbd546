//! Our codecs against implementations that are not ours: Python's protobuf, flatbuffers and pycapnp.
//!
//! `scripts/golden.py` writes `tests/golden/peers/`: each vote as the peer wrote it, and our bytes for it as they were when
//! the peer read them back whole. No Python is needed here: every codec that reads the format must own what the peer
//! wrote, and our encoders must still write the very bytes that the peer accepted.

#![expect(clippy::unwrap_used, reason = "the helpers of a test file stand outside of its tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use votebench::codec;
use votebench::vote::{Digest, Vote};

/// The golden files, and of how many messages each has ours beside the peer's.
const FILES: [(&str, bool); 8] = [
    ("protobuf", true),
    ("flatbuffers", true),
    ("flatbuffers-one-struct", true),
    ("flatbuffers-vectors", true),
    ("capnp", true),
    ("capnp-packed", true),
    ("capnp-segments", false),
    ("capnp-words", true),
];

fn json(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn golden(name: &str) -> Value {
    json(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/peers").join(name).with_extension("json"))
}

fn bytes(value: &Value) -> Vec<u8> {
    const_hex::decode(value.as_str().unwrap()).unwrap()
}

/// The votes by their names, in the order of the file.
fn votes(list: &Value) -> Vec<(&str, Vote)> {
    let vote = |case: &Value| Vote {
        round: case["round"].as_str().unwrap().parse().unwrap(),
        block_hash: bytes(&case["block_hash"]).try_into().unwrap(),
        voter_id: bytes(&case["voter_id"]).try_into().unwrap(),
        signature: bytes(&case["signature"]).try_into().unwrap(),
        timestamp: case["timestamp"].as_str().unwrap().parse().unwrap(),
        vote_type: case["vote_type"].as_u64().unwrap().try_into().unwrap(),
    };
    list.as_array().unwrap().iter().map(|case| (case["name"].as_str().unwrap(), vote(case))).collect()
}

/// Calls `check` with each codec of each golden file, and each message of that file with its vote.
fn each_message(mut check: impl FnMut(&mut dyn codec::Codec, &Value, &Vote, &str)) {
    let list = golden("votes");
    let votes = votes(&list);
    assert!(votes.len() >= 30);
    for (file, _) in FILES {
        let golden = golden(file);
        let messages = golden["messages"].as_array().unwrap();
        assert_eq!(messages.len(), votes.len(), "{file}");
        for name in golden["codecs"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            let mut codec = codec::by_name(name).unwrap_or_else(|| panic!("no codec {name}"));
            for (message, (vote_name, vote)) in messages.iter().zip(&votes) {
                assert_eq!(message["name"], *vote_name, "{file}");
                check(codec.as_mut(), message, vote, &format!("{name} and {file}'s {vote_name}"));
            }
        }
    }
}

#[test]
fn every_codec_reads_what_the_peer_wrote() {
    each_message(|codec, message, vote, what| {
        let written = bytes(&message["written"]);
        assert_eq!(codec.own(&written).as_ref(), Ok(vote), "{what}");
        assert_eq!(codec.read(&written), Ok(Digest::of(vote)), "{what}");
        assert_eq!(codec.open(&written), Ok(()), "{what}");
    });
}

#[test]
fn every_codec_still_writes_what_the_peer_accepted() {
    let mut compared = 0;
    each_message(|codec, message, vote, what| {
        if let Some(accepted) = message.get("accepted").map(bytes) {
            assert_eq!(const_hex::encode(codec.encode(vote).unwrap()), const_hex::encode(accepted), "{what}");
            compared += 1;
        }
    });
    let votes = golden("votes").as_array().unwrap().len();
    let codecs: usize =
        FILES.iter().filter(|(_, ours)| *ours).map(|(file, _)| golden(file)["codecs"].as_array().unwrap().len()).sum();
    assert_eq!(compared, votes * codecs);
}

/// Our bytes for the votes of `VOTEBENCH_GOLDEN_VOTES`, by codec, into `VOTEBENCH_GOLDEN_OURS`.
#[test]
#[ignore = "scripts/golden.py runs it to have our bytes read by the peers"]
fn write_ours() {
    let list = json(std::env::var_os("VOTEBENCH_GOLDEN_VOTES").unwrap());
    let votes = votes(&list);
    let messages: BTreeMap<&str, Vec<String>> = codec::all()
        .into_iter()
        .map(|mut codec| {
            let messages = votes.iter().map(|(_, vote)| const_hex::encode(codec.encode(vote).unwrap())).collect();
            (codec.name(), messages)
        })
        .collect();
    fs::write(std::env::var_os("VOTEBENCH_GOLDEN_OURS").unwrap(), serde_json::to_string(&messages).unwrap()).unwrap();
}
