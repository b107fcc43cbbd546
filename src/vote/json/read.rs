//! Reading a vote from JSON. Owns the visitor that finds the six fields in a JSON object (or a list of six), and what a
//! parsed vote is before its hex is decoded: numbers, and borrowed text.

use std::borrow::Cow;
use std::str::Utf8Error;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::VoteJsonError;
use super::integer::Integer;
use crate::vote::{Field, Vote};

/// A vote's JSON, parsed: integers read and in range, byte fields still as the text that lies in the message.
#[derive(Debug)]
pub struct Parsed<'a>(Found<'a>);

impl<'a> Parsed<'a> {
    /// Parses `text`, which must be one JSON object and nothing more.
    ///
    /// # Errors
    /// All but those of hex and its length, which only [`vote`](Self::vote) looks at.
    #[inline]
    pub fn new(text: &'a [u8]) -> Result<Self, VoteJsonError> {
        let mut fields = Fields::default();
        match parse_all(text, Body { fields: &mut fields, list: false }) {
            Ok(()) => Ok(Self(fields.found()?)),
            Err(error) => Err(fields.error(error)),
        }
    }

    /// The round.
    #[inline]
    #[must_use]
    pub fn round(&self) -> u64 {
        self.0.round
    }

    /// The vote, its hex decoded.
    ///
    /// # Errors
    /// Where a byte field is not hexadecimal or has another length.
    #[inline]
    pub fn vote(&self) -> Result<Vote, VoteJsonError> {
        self.0.vote()
    }
}

/// Reads `text`, one JSON value and nothing but white space behind it, with `seed`.
///
/// UTF-8 is checked once for the whole text, and not once for every string: that is what serde_json does in a `str`.
#[inline]
pub(crate) fn parse_all<'a>(text: &'a [u8], seed: impl DeserializeSeed<'a, Value = ()>) -> serde_json::Result<()> {
    let text = std::str::from_utf8(text).map_err(not_utf8)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    seed.deserialize(&mut deserializer)?;
    deserializer.end()
}

#[cold]
#[inline(never)]
fn not_utf8(error: Utf8Error) -> serde_json::Error {
    serde_json::Error::custom(error)
}

/// What [`Fields`] are once none is missing.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) round: u64,
    block_hash: Cow<'a, [u8]>,
    voter_id: Cow<'a, [u8]>,
    signature: Cow<'a, [u8]>,
    timestamp: u64,
    vote_type: u8,
}

impl Found<'_> {
    /// The vote, its hex decoded.
    #[inline]
    pub(crate) fn vote(&self) -> Result<Vote, VoteJsonError> {
        let mut vote =
            Vote { round: self.round, timestamp: self.timestamp, vote_type: self.vote_type, ..Vote::default() };
        unhex(Field::BlockHash, &self.block_hash, &mut vote.block_hash)?;
        unhex(Field::VoterId, &self.voter_id, &mut vote.voter_id)?;
        unhex(Field::Signature, &self.signature, &mut vote.signature)?;
        Ok(vote)
    }
}

#[inline]
fn unhex(field: Field, text: &[u8], out: &mut [u8]) -> Result<(), VoteJsonError> {
    let digits = match text {
        [b'0', b'x' | b'X', digits @ ..] => digits,
        _ => text,
    };
    const_hex::decode_to_slice(digits, out).map_err(|_| bad_hex(field, digits))
}

/// What is wrong with `digits`, which are not the hex of a field.
#[cold]
#[inline(never)]
fn bad_hex(field: Field, digits: &[u8]) -> VoteJsonError {
    if digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit) {
        VoteJsonError::WrongLength { field, actual: digits.len() / 2 }
    } else {
        VoteJsonError::InvalidHex { field }
    }
}

/// The fields seen so far, and the first thing that is wrong with one.
#[derive(Default)]
pub(crate) struct Fields<'a> {
    seen: u8,
    round: u64,
    block_hash: Cow<'a, [u8]>,
    voter_id: Cow<'a, [u8]>,
    signature: Cow<'a, [u8]>,
    timestamp: u64,
    vote_type: u8,
    problem: Option<VoteJsonError>,
}

impl<'a> Fields<'a> {
    /// All six, or the first that is missing.
    #[inline]
    pub(crate) fn found(self) -> Result<Found<'a>, VoteJsonError> {
        if self.seen != ALL_SEEN {
            return Err(self.missing());
        }
        let Self { round, block_hash, voter_id, signature, timestamp, vote_type, .. } = self;
        Ok(Found { round, block_hash, voter_id, signature, timestamp, vote_type })
    }

    #[cold]
    #[inline(never)]
    fn missing(&self) -> VoteJsonError {
        let missing = Field::ALL.into_iter().find(|field| self.seen & bit(*field) == 0);
        VoteJsonError::MissingField { field: missing.unwrap_or(Field::Round) }
    }

    /// Why parsing ended with `error`: what a field noted, else the error itself.
    #[cold]
    pub(crate) fn error(&mut self, error: serde_json::Error) -> VoteJsonError {
        self.problem.take().unwrap_or(VoteJsonError::Syntax(error))
    }
}

const fn bit(field: Field) -> u8 {
    1 << field as u8
}

const ALL_SEEN: u8 = (1 << Field::ALL.len()) - 1;

/// Reads the value of one field into its place.
struct Value<'f, 'a> {
    field: Field,
    fields: &'f mut Fields<'a>,
}

impl<'de> DeserializeSeed<'de> for Value<'_, 'de> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self { field, fields } = self;
        if fields.seen & bit(field) != 0 {
            return Err(D::Error::duplicate_field(field.name()));
        }
        fields.seen |= bit(field);
        let problem = &mut fields.problem;
        match field {
            Field::Round => fields.round = Integer { field, max: u64::MAX, problem }.deserialize(deserializer)?,
            Field::BlockHash => fields.block_hash = deserializer.deserialize_bytes(Text(field))?,
            Field::VoterId => fields.voter_id = deserializer.deserialize_bytes(Text(field))?,
            Field::Signature => fields.signature = deserializer.deserialize_bytes(Text(field))?,
            Field::Timestamp => fields.timestamp = Integer { field, max: u64::MAX, problem }.deserialize(deserializer)?,
            Field::VoteType => {
                let value = Integer { field, max: u64::from(u8::MAX), problem }.deserialize(deserializer)?;
                fields.vote_type = u8::try_from(value).unwrap_or(u8::MAX);
            }
        }
        Ok(())
    }
}

/// A string as the bytes that lie in the message; a copy only where escapes had to be resolved.
struct Text(Field);

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, [u8]>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, a string of hexadecimal digits", self.0)
    }

    #[inline]
    fn visit_borrowed_bytes<E: Error>(self, text: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    #[cold]
    fn visit_bytes<E: Error>(self, text: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_vec()))
    }
}

/// A vote as a JSON object or, where `list` says so, as a list of its six values: both ways of a JSON-RPC call's parameters.
pub(crate) struct Body<'f, 'a> {
    pub(crate) fields: &'f mut Fields<'a>,
    pub(crate) list: bool,
}

impl<'de> DeserializeSeed<'de> for Body<'_, 'de> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Body<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.list { "a vote: an object, or a list of six values" } else { "a vote: an object" })
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(Key)? {
            match key {
                Some(field) => map.next_value_seed(Value { field, fields: self.fields })?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    #[cold]
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !self.list {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        for field in Field::ALL {
            if list.next_element_seed(Value { field, fields: self.fields })?.is_none() {
                return Ok(());
            }
        }
        match list.next_element::<IgnoredAny>()? {
            Some(_) => Err(A::Error::invalid_length(Field::ALL.len() + 1, &"six values")),
            None => Ok(()),
        }
    }

    /// Serde's own words would repeat the whole string, however long it is.
    #[cold]
    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Err(E::invalid_type(Unexpected::Other("string"), &self))
    }
}

/// A key of the object: a field, or one that no vote has.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<Field>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<Field>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a field's name")
    }

    #[inline]
    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(match name.as_bytes() {
            b"round" => Some(Field::Round),
            b"block_hash" => Some(Field::BlockHash),
            b"voter_id" => Some(Field::VoterId),
            b"signature" => Some(Field::Signature),
            b"timestamp" => Some(Field::Timestamp),
            b"vote_type" => Some(Field::VoteType),
            _ => None,
        })
    }
}
