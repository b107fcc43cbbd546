//! `json-rpc`: a whole JSON-RPC 2.0 request, `{"jsonrpc":"2.0","id":0,"method":"vote_submit","params":{…}}`, keys in that
//! order. `params` is the vote of [`vote::json`](crate::vote::json), which says how the text is written and read.
//!
//! The id counts from 0 in each codec as it encodes. A reader takes the keys in any order, skips ones that it does not
//! know, takes any id that JSON-RPC calls good (a whole number or a string; null belongs to answers), and the parameters by
//! name or by position. Another version or method, a bad id, or one of the four parts absent is an invalid envelope; what is
//! wrong inside `params` is the vote's error; a key twice, or anything that is not JSON, is invalid JSON.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Unexpected, Visitor};

use super::json::Text;
use super::{Class, Codec, CodecError, Envelope, Info};
use crate::vote::json::{self, AsJson, Body, Parsed};
use crate::vote::{Digest, Vote};

static INFO: Info = Info {
    name: "json-rpc",
    class: Class::Row,
    crates: &["serde_json", "const-hex"],
    summary: "the whole JSON-RPC 2.0 request; params is the vote of json",
    lead: 0,
    lacks: &[],
};

const VERSION: &str = "2.0";
const METHOD: &str = "vote_submit";

/// Bytes of everything around the id and the parameters.
const AROUND_BYTES: usize = r#"{"jsonrpc":"2.0","id":,"method":"vote_submit","params":}"#.len();

/// The codec `json-rpc`.
pub(super) struct JsonRpc {
    id: i64,
    buffer: Text<{ AROUND_BYTES + json::MAX_DIGITS + json::MAX_BYTES }>,
}

impl JsonRpc {
    pub(super) const fn new() -> Self {
        Self { id: 0, buffer: Text([0; _]) }
    }
}

/// A request, to be written by serde_json. The id is signed because a `u64` is written as a string here.
#[derive(serde::Serialize)]
struct Written<'a> {
    jsonrpc: &'a str,
    id: i64,
    method: &'a str,
    params: AsJson<'a>,
}

impl Codec for JsonRpc {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let request = Written { jsonrpc: VERSION, id: self.id, method: METHOD, params: AsJson(vote) };
        self.id = self.id.wrapping_add(1) & i64::MAX;
        let length = json::write_serialized(&request, &mut self.buffer.0).map_err(json::VoteJsonError::Syntax)?;
        Ok(&self.buffer.0[..length])
    }

    #[inline]
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        let mut request = Request::default();
        request.parse(message)?;
        Ok(request.vote.round())
    }

    #[inline]
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        let mut request = Request::default();
        request.parse(message)?;
        Ok(Digest::of(&request.vote.vote()?))
    }

    #[inline]
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        let mut request = Request::default();
        request.parse(message)?;
        Ok(request.vote.vote()?)
    }
}

/// The parts of a request.
#[derive(Clone, Copy)]
enum Part {
    Version,
    Id,
    Method,
    Params,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Version => "jsonrpc",
            Self::Id => "id",
            Self::Method => "method",
            Self::Params => "params",
        }
    }
}

const ALL_SEEN: u8 = 0b1111;

/// What has been found of a request.
#[derive(Default)]
struct Request<'a> {
    seen: u8,
    vote: Parsed<'a>,
    problem: Option<Envelope>,
}

impl<'a> Request<'a> {
    #[inline]
    fn parse(&mut self, message: &'a [u8]) -> Result<(), CodecError> {
        json::parse_all(message, Parts(self)).map_err(|error| self.error(error))?;
        if self.seen != ALL_SEEN {
            return Err(CodecError::invalid_envelope(Envelope::Missing));
        }
        Ok(self.vote.complete()?)
    }

    #[cold]
    #[inline(never)]
    fn error(&self, error: serde_json::Error) -> CodecError {
        match self.problem {
            Some(envelope) => CodecError::invalid_envelope(envelope),
            None => self.vote.error(error).into(),
        }
    }
}

/// Reads the object around the parts.
struct Parts<'r, 'a>(&'r mut Request<'a>);

impl<'de> DeserializeSeed<'de> for Parts<'_, 'de> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Parts<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON-RPC request: an object")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let request = self.0;
        while let Some(key) = map.next_key_seed(Key)? {
            let Some(part) = key else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if request.seen & (1 << part as u8) != 0 {
                return Err(A::Error::duplicate_field(part.name()));
            }
            request.seen |= 1 << part as u8;
            let problem = &mut request.problem;
            match part {
                Part::Version => map.next_value_seed(Known { text: VERSION, envelope: Envelope::Version, problem })?,
                Part::Id => map.next_value_seed(Id { problem })?,
                Part::Method => map.next_value_seed(Known { text: METHOD, envelope: Envelope::Method, problem })?,
                Part::Params => map.next_value_seed(Body { vote: &mut request.vote, list: true })?,
            }
        }
        Ok(())
    }

    /// Serde's own words would repeat the whole string, however long it is.
    #[cold]
    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Err(E::invalid_type(Unexpected::Other("string"), &self))
    }
}

/// A key of the request: a part, or one that no request has.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<Part>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<Part>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a part's name")
    }

    #[inline]
    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(match name.as_bytes() {
            b"jsonrpc" => Some(Part::Version),
            b"id" => Some(Part::Id),
            b"method" => Some(Part::Method),
            b"params" => Some(Part::Params),
            _ => None,
        })
    }
}

/// The visits of scalars that are none of what a part wants: noted as the part's problem.
macro_rules! refuse {
    ($($visit:ident: $type:ty),*) => {$(
        #[cold]
        fn $visit<E: Error>(self, _: $type) -> Result<(), E> {
            self.refuse()
        }
    )*};
}

/// A part that must be this very string.
struct Known<'p> {
    text: &'static str,
    envelope: Envelope,
    problem: &'p mut Option<Envelope>,
}

impl Known<'_> {
    #[cold]
    #[inline(never)]
    fn refuse<E: Error>(self) -> Result<(), E> {
        *self.problem = Some(self.envelope);
        Err(E::custom(self.envelope))
    }
}

impl<'de> DeserializeSeed<'de> for Known<'_> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Known<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the string {:?}", self.text)
    }

    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if text == self.text { Ok(()) } else { self.refuse() }
    }

    refuse!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);

    #[cold]
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.refuse()
    }
}

/// The request's id, which a vote's reader does not need.
struct Id<'p> {
    problem: &'p mut Option<Envelope>,
}

impl Id<'_> {
    #[cold]
    #[inline(never)]
    fn refuse<E: Error>(self) -> Result<(), E> {
        *self.problem = Some(Envelope::Id);
        Err(E::custom(Envelope::Id))
    }
}

impl<'de> DeserializeSeed<'de> for Id<'_> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Id<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an id: a whole number or a string")
    }

    #[inline]
    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    refuse!(visit_bool: bool, visit_f64: f64);

    #[cold]
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.refuse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vote::Field;

    fn canonical() -> String {
        let mut text = [0; json::MAX_BYTES];
        let length = json::write(&Vote::canonical(), &mut text);
        String::from_utf8(text[..length].to_vec()).unwrap()
    }

    fn own(text: &str) -> Result<Vote, CodecError> {
        let mut codec = JsonRpc::new();
        let outcome = codec.own(text.as_bytes());
        assert_eq!(codec.read(text.as_bytes()), outcome.as_ref().map(Digest::of).map_err(Clone::clone));
        outcome
    }

    fn request(version: &str, id: &str, method: &str, params: &str) -> String {
        format!(r#"{{"jsonrpc":{version},"id":{id},"method":{method},"params":{params}}}"#)
    }

    #[test]
    fn ids_count_from_zero() {
        let mut codec = JsonRpc::new();
        for id in 0..1_001 {
            let message = codec.encode(&Vote::canonical()).unwrap();
            let expected = request("\"2.0\"", &id.to_string(), "\"vote_submit\"", &canonical());
            assert_eq!(std::str::from_utf8(message).unwrap(), expected);
        }
        codec.id = i64::MAX;
        let longest = Vote { round: u64::MAX, timestamp: u64::MAX, vote_type: u8::MAX, ..Vote::default() };
        let message = codec.encode(&longest).unwrap().to_vec();
        assert_eq!(codec.own(&message), Ok(longest));
    }

    #[test]
    fn any_order_any_good_id_names_or_positions() {
        let vote = canonical();
        let values: serde_json::Value = serde_json::from_str(&vote).unwrap();
        let list = Field::ALL.map(|field| values[field.name()].to_string()).join(",");
        for params in [vote.clone(), format!("[{list}]"), format!(" [ {} ] ", list.replace(',', " , "))] {
            for id in ["0", "7", "-7", "18446744073709551615", r#""a\nb""#] {
                assert_eq!(own(&request("\"2.0\"", id, "\"vote_submit\"", &params)), Ok(Vote::canonical()), "{id}");
            }
        }
        assert_eq!(
            own(&format!(r#"{{"params":{vote},"x":[1],"method":"vote\u005fsubmit","id":1,"jsonrpc":"2.0"}} "#)),
            Ok(Vote::canonical())
        );
    }

    #[test]
    fn another_envelope_is_refused() {
        let vote = canonical();
        let good = ["\"2.0\"", "1", "\"vote_submit\"", &vote];
        let replaced = |at: usize, part: &str| {
            let mut parts = good;
            parts[at] = part;
            request(parts[0], parts[1], parts[2], parts[3])
        };
        for (at, envelope, parts) in [
            (0, Envelope::Version, &["\"1.0\"", "\"\"", "\"2.00\"", "2.0", "2", "null", "true", "-2"][..]),
            (1, Envelope::Id, &["null", "1.5", "true"]),
            (2, Envelope::Method, &["\"vote\"", "\"Vote_submit\"", "\"vote_submit \"", "1", "null"]),
        ] {
            for part in parts {
                assert_eq!(own(&replaced(at, part)), Err(CodecError::invalid_envelope(envelope)), "{part}");
            }
        }
        for at in 0..4 {
            let name = [Part::Version, Part::Id, Part::Method, Part::Params][at].name();
            let text = replaced(at, "0").replacen(&format!("\"{name}\":0"), "\"other\":0", 1);
            assert_eq!(own(&text), Err(CodecError::invalid_envelope(Envelope::Missing)), "{text}");
            for part in ["[", "{}x", ""] {
                assert_eq!(own(&replaced(at, part)).unwrap_err().kind(), "invalid-json");
            }
            let twice = replaced(at, &format!("{},\"{name}\":{}", good[at], good[at]));
            assert_eq!(own(&twice).unwrap_err().kind(), "invalid-json");
        }
        for text in ["", "[]", "null", "\"x\"", "{", "[{}]"] {
            assert_eq!(own(text).unwrap_err().kind(), "invalid-json", "{text}");
        }
        assert_eq!(own("{}"), Err(CodecError::invalid_envelope(Envelope::Missing)));
    }

    #[test]
    fn what_is_wrong_inside_is_the_votes_error() {
        let vote = canonical();
        let params = |params: &str| own(&request("\"2.0\"", "1", "\"vote_submit\"", params));
        for bad in ["null", "1", "\"x\"", "true", "[1,2,3,4,5,6,7]", "[null]", "{\"round\":[]}"] {
            assert_eq!(params(bad).unwrap_err().kind(), "invalid-json", "{bad}");
        }
        assert_eq!(params("{}"), Err(CodecError::missing_field(Field::Round)));
        assert_eq!(params("[]"), Err(CodecError::missing_field(Field::Round)));
        assert_eq!(params("[1,\"11\"]"), Err(CodecError::missing_field(Field::VoterId)));
        assert_eq!(params("[-1]"), Err(CodecError::out_of_range(Field::Round)));
        assert_eq!(params(&vote.replacen("0x11", "0x", 1)), Err(CodecError::wrong_length(Field::BlockHash, 31)));
        assert_eq!(params(&vote.replacen("0x22", "0xzz", 1)), Err(CodecError::invalid_hex(Field::VoterId)));
        assert_eq!(params(&vote.replacen(":1}", ":256}", 1)), Err(CodecError::out_of_range(Field::VoteType)));
    }
}
