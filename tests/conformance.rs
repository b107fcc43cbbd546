//! What every registered codec keeps, in one loop over the registry: votes come back whole, `open`, `read` and `own` agree,
//! and no bytes make a codec panic, give out zeros for what is missing, or allocate more than a small multiple of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use votebench::codec::{self, Codec, CodecError};
use votebench::measure::allocations::{Counting, count, is_counting};
use votebench::vote::{Digest, Field, Vote, corpus};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Random changes of messages tried on each codec.
const MUTATIONS: usize = 100_000;

/// Heap bytes that one call may ask for: this many times the message, and a floor for the words of an error.
const ALLOCATED_PER_BYTE: u64 = 16;
const ALLOCATED_FLOOR: u64 = 4_096;

/// Votes at the edges of what fields hold, and some of the corpus.
fn votes() -> Vec<Vote> {
    let zeros = Vote::default();
    let ones = Vote {
        round: u64::MAX,
        block_hash: [0xff; 32],
        voter_id: [0xff; 32],
        signature: [0xff; 64],
        timestamp: u64::MAX,
        vote_type: u8::MAX,
    };
    let mut votes = vec![Vote::canonical(), Vote::canonical().answer(), zeros.clone(), ones];
    for bits in 0..64 {
        votes.push(Vote { round: 1 << bits, timestamp: (1 << bits) - 1, ..zeros.clone() });
    }
    for power in 0..20 {
        votes.push(Vote { round: 10_u64.pow(power), timestamp: 10_u64.pow(power) - 1, ..Vote::canonical() });
    }
    for vote_type in [0, 9, 10, 99, 100, 127, 128, 250, 251, 254] {
        votes.push(Vote { vote_type, ..zeros.clone() });
    }
    votes.extend(corpus::votes(100, 7));
    votes
}

/// Decodes `message` in all three ways, checks that they agree and what they allocate, and gives what `own` says.
fn decode(codec: &mut dyn Codec, message: &[u8]) -> Result<Vote, CodecError> {
    let before = count();
    let own = codec.own(message);
    let read = codec.read(message);
    let open = codec.open_round(message);
    let bytes = count().since(before).bytes;
    let limit = 3 * (ALLOCATED_FLOOR + ALLOCATED_PER_BYTE * message.len() as u64);
    assert!(bytes <= limit, "{bytes} bytes allocated for a message of {}", message.len());
    match &own {
        Ok(vote) => {
            assert_eq!(read, Ok(Digest::of(vote)), "read and own differ");
            assert_eq!(open, Ok(vote.round), "open and own differ");
        }
        Err(error) => assert_eq!(read.as_ref(), Err(error), "read and own refuse differently"),
    }
    own
}

/// [`decode`], a failure of which names the codec and the bytes.
fn check(codec: &mut dyn Codec, message: &[u8]) -> Result<Vote, CodecError> {
    catch_unwind(AssertUnwindSafe(|| decode(codec, message))).unwrap_or_else(|panic| {
        eprintln!("{}: the message is {}", codec.name(), hex(message));
        std::panic::resume_unwind(panic)
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn encode(codec: &mut dyn Codec, vote: &Vote) -> Vec<u8> {
    codec.encode(vote).expect("every vote is representable").to_vec()
}

#[test]
fn the_registry_is_in_order() {
    let codecs = codec::all();
    let mut names: Vec<_> = codecs.iter().map(|codec| codec.name()).collect();
    let ranks: Vec<_> = codecs.iter().map(|codec| codec.info().class as u8).collect();
    assert!(ranks.is_sorted(), "rows, variants, floors, context: {names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), codecs.len(), "a name twice");
}

#[test]
fn votes_come_back() {
    assert!(is_counting());
    for mut codec in codec::all() {
        for vote in votes() {
            let message = encode(codec.as_mut(), &vote);
            assert_eq!(check(codec.as_mut(), &message), Ok(vote), "{}", codec.name());
        }
    }
}

#[test]
fn nothing_is_kept_from_one_message_to_the_next() {
    let votes = corpus::votes(20, 9);
    for mut codec in codec::all() {
        let messages: Vec<_> = votes.iter().map(|vote| encode(codec.as_mut(), vote)).collect();
        for (message, vote) in messages.iter().zip(&votes) {
            for cut in [0, 1, message.len() / 2, message.len() - 1] {
                let _ = check(codec.as_mut(), &message[..cut]);
                assert_eq!(check(codec.as_mut(), message).as_ref(), Ok(vote), "{} after {cut} bytes", codec.name());
            }
        }
    }
}

#[test]
fn cut_anywhere() {
    for mut codec in codec::all() {
        for vote in [Vote::canonical(), Vote::default()].iter().chain(&corpus::votes(2, 11)) {
            let message = encode(codec.as_mut(), vote);
            for length in 0..message.len() {
                let outcome = check(codec.as_mut(), &message[..length]);
                // A protobuf message is whole wherever a field ends, with what is absent at zero; bytes must still all be there.
                if let Ok(cut) = outcome {
                    assert!(
                        (&cut.block_hash, &cut.voter_id, &cut.signature)
                            == (&vote.block_hash, &vote.voter_id, &vote.signature),
                        "{} at {length} of {}: zeros in a vote",
                        codec.name(),
                        message.len()
                    );
                }
            }
        }
    }
}

#[test]
fn nothing_may_follow() {
    for mut codec in codec::all() {
        let vote = Vote::canonical();
        let message = encode(codec.as_mut(), &vote);
        for garbage in [&[0][..], &[0xff], &[0x80], b"x", b"{}", &[0; 8], &[0; 16], &[0xff; 300], &message.clone()] {
            // Where bytes that follow are legal, as protobuf's fields are, or white space behind JSON, they change nothing
            // unless they are fields of the vote, which of the last two only a copy of the message holds.
            if let Ok(read) = check(codec.as_mut(), &[&message[..], garbage].concat()) {
                assert_eq!(read, vote, "{} with {garbage:x?}", codec.name());
            }
        }
    }
}

#[test]
fn mutations_are_refused_or_votes() {
    for mut codec in codec::all() {
        let name = codec.name();
        let mut random = ChaCha8Rng::seed_from_u64(name.bytes().map(u64::from).sum());
        let messages: Vec<_> = votes().iter().map(|vote| encode(codec.as_mut(), vote)).collect();
        let (mut message, mut accepted) = (Vec::new(), 0);
        for _ in 0..MUTATIONS {
            message.clear();
            message.extend_from_slice(pick::<Vec<u8>>(&mut random, &messages));
            for _ in 0..=below(&mut random, 3) {
                mutate(&mut random, &mut message);
            }
            if let Ok(vote) = check(codec.as_mut(), &message) {
                accepted += 1;
                // What was accepted is a vote like any other.
                let again = encode(codec.as_mut(), &vote);
                assert_eq!(codec.own(&again), Ok(vote), "{name}");
            }
        }
        assert!(accepted > 0 && accepted < MUTATIONS, "{name}: {accepted} of {MUTATIONS} accepted");
    }
}

/// One random change.
fn mutate(random: &mut ChaCha8Rng, message: &mut Vec<u8>) {
    // Most formats keep what they are made of at either end, so a third of the places are there.
    let place = |random: &mut ChaCha8Rng, length: usize| match below(random, 6) {
        0 => below(random, length.min(24)),
        1 => length - 1 - below(random, length.min(24)),
        _ => below(random, length),
    };
    if message.is_empty() {
        message.push(byte(random));
        return;
    }
    let at = place(random, message.len());
    match below(random, 8) {
        0 | 1 => message[at] ^= 1 << below(random, 8),
        2 => message[at] = byte(random),
        3 => message.insert(at, byte(random)),
        4 => drop(message.remove(at)),
        5 => message.truncate(at),
        6 => {
            // A number in place of another, as a length or an offset might be.
            let values = [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7fff, 0xffff, 1 << 31, u64::MAX];
            let value = *pick(random, &values);
            let width = 1 << below(random, 4);
            let bytes = if below(random, 2) == 0 { value.to_le_bytes() } else { value.to_be_bytes() };
            let bytes = if below(random, 2) == 0 { &bytes[..width] } else { &bytes[8 - width..] };
            let end = message.len().min(at + width);
            message[at..end].copy_from_slice(&bytes[..end - at]);
        }
        _ => {
            // A part of the message again, somewhere else.
            let end = at + below(random, message.len() - at);
            let part = message[at..end].to_vec();
            let to = place(random, message.len());
            message.splice(to..to, part);
        }
    }
}

fn below(random: &mut ChaCha8Rng, bound: usize) -> usize {
    usize::try_from(random.next_u32()).expect("32 bits fit") % bound
}

fn byte(random: &mut ChaCha8Rng) -> u8 {
    random.next_u32().to_le_bytes()[0]
}

fn pick<'a, T>(random: &mut ChaCha8Rng, from: &'a [T]) -> &'a T {
    &from[below(random, from.len())]
}

#[test]
fn every_place_takes_every_byte() {
    // Exhaustive where random changes are thin: each byte of one message, set to values that lengths and flags take.
    for mut codec in codec::all() {
        let message = encode(codec.as_mut(), &Vote::canonical());
        let mut changed = message.clone();
        for at in 0..message.len() {
            for byte in (0..=255).step_by(if at < 24 { 1 } else { 15 }) {
                changed[at] = byte;
                let _ = check(codec.as_mut(), &changed);
            }
            changed[at] = message[at];
        }
    }
}

#[test]
fn garbage_is_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(13);
    for mut codec in codec::all() {
        for length in (0..400).chain([1_000, 10_000, 100_000]) {
            for fill in [0_u8, 0xff, b'[', b'{', b'"', b'0', 0x80, 0x12] {
                let _ = check(codec.as_mut(), &vec![fill; length]);
            }
            let mut bytes = vec![0; length];
            random.fill_bytes(&mut bytes);
            let _ = check(codec.as_mut(), &bytes);
            for text in [("\"", "a", "\""), ("\"", "\u{7f}", "\""), ("{\"", "\\n", "\":1}"), ("{\"x\":", "[", "")] {
                let text = [text.0, &text.1.repeat(length), text.2].concat();
                let _ = check(codec.as_mut(), text.as_bytes());
                let _ = check(codec.as_mut(), format!("{{\"params\":{text}}}").as_bytes());
            }
        }
    }
}

#[test]
fn steady_state_allocates_what_is_told() {
    // prost makes one shared buffer for each byte field that it copies into a vector; all else that is registered here from
    // the text and protobuf families and for context reuses what it has.
    let allocating = |name: &str| match name {
        "protobuf" | "grpc" | "protobuf-mux" => Some(3),
        "quic-raw" | "json-rpc" | "json" | "protobuf-bytes" | "packed-145" | "bincode" | "borsh" | "bcs"
        | "postcard" | "rkyv" | "ssz" | "scale" => Some(0),
        _ => None,
    };
    for mut codec in codec::all() {
        let Some(expected) = allocating(codec.name()) else { continue };
        let vote = Vote::canonical();
        let message = encode(codec.as_mut(), &vote);
        codec.read(&message).unwrap();
        let before = count();
        for _ in 0..1_000 {
            codec.encode(&vote).unwrap();
        }
        assert_eq!(count().since(before).allocations, 0, "{} encodes", codec.name());
        let before = count();
        for _ in 0..1_000 {
            codec.read(&message).unwrap();
        }
        assert_eq!(count().since(before).allocations, 1_000 * expected, "{} reads", codec.name());
    }
}

#[test]
fn fields_are_where_they_belong() {
    // Each field alone: a codec that swaps two, or drops one, cannot pass.
    for mut codec in codec::all() {
        let mut digests = std::collections::HashSet::new();
        for field in Field::ALL {
            let mut vote = Vote::default();
            match field {
                Field::Round => vote.round = 0x0102_0304_0506_0708,
                Field::BlockHash => vote.block_hash = std::array::from_fn(|at| u8::try_from(at).unwrap()),
                Field::VoterId => vote.voter_id = std::array::from_fn(|at| u8::try_from(at).unwrap()),
                Field::Signature => vote.signature = std::array::from_fn(|at| u8::try_from(at).unwrap()),
                Field::Timestamp => vote.timestamp = 0x0102_0304_0506_0708,
                Field::VoteType => vote.vote_type = 7,
            }
            let message = encode(codec.as_mut(), &vote);
            assert_eq!(check(codec.as_mut(), &message), Ok(vote), "{}: {field}", codec.name());
            assert!(digests.insert(codec.read(&message).unwrap()), "{}: {field}", codec.name());
        }
    }
}
