//! Reading a vote from JSON. Owns the visitor that finds the six fields in a JSON object (or a list of six), and what a
//! parsed vote is before its hex is decoded: numbers, and borrowed text.

use std::str::Utf8Error;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::VoteJsonError;
use super::integer::Integer;
use crate::vote::{Field, Vote};

/// A vote's JSON, parsed: integers read and in range, byte fields still as the text that lies in the message.
///
/// It is filled in place and not returned by value: it is large, and moving it would cost as much as reading a field.
#[derive(Debug, Default)]
pub struct Parsed<'a> {
    seen: u8,
    vote_type: u8,
    round: u64,
    timestamp: u64,
    block_hash: &'a [u8],
    voter_id: &'a [u8],
    signature: &'a [u8],
    /// Texts that had escapes, resolved; they stand in for what lies in the message.
    unescaped: Vec<(Field, Vec<u8>)>,
    out_of_range: Option<Field>,
}

impl<'a> Parsed<'a> {
    /// Parses `text`, which must be one JSON object and nothing more, into a new, empty `self`.
    ///
    /// # Errors
    /// All but those of hex and its length, which only [`vote`](Self::vote) looks at.
    #[inline]
    pub fn parse(&mut self, text: &'a [u8]) -> Result<(), VoteJsonError> {
        match parse_all(text, Body { vote: self, list: false }) {
            Ok(()) => self.complete(),
            Err(error) => Err(self.error(error)),
        }
    }

    /// The round.
    #[inline]
    #[must_use]
    pub fn round(&self) -> u64 {
        self.round
    }

    /// The vote, its hex decoded.
    ///
    /// # Errors
    /// Where a byte field is not hexadecimal or has another length.
    #[inline]
    pub fn vote(&self) -> Result<Vote, VoteJsonError> {
        let mut vote =
            Vote { round: self.round, timestamp: self.timestamp, vote_type: self.vote_type, ..Vote::default() };
        unhex(Field::BlockHash, self.text(Field::BlockHash, self.block_hash), &mut vote.block_hash)?;
        unhex(Field::VoterId, self.text(Field::VoterId, self.voter_id), &mut vote.voter_id)?;
        unhex(Field::Signature, self.text(Field::Signature, self.signature), &mut vote.signature)?;
        Ok(vote)
    }

    #[inline]
    fn text<'t>(&'t self, field: Field, text: &'t [u8]) -> &'t [u8] {
        if self.unescaped.is_empty() { text } else { self.resolved(field).unwrap_or(text) }
    }

    #[cold]
    #[inline(never)]
    fn resolved(&self, field: Field) -> Option<&[u8]> {
        self.unescaped.iter().find(|(of, _)| *of == field).map(|(_, text)| &text[..])
    }

    /// That no field is missing.
    ///
    /// # Errors
    /// The first one that is.
    #[inline]
    pub(crate) fn complete(&self) -> Result<(), VoteJsonError> {
        if self.seen == ALL_SEEN { Ok(()) } else { Err(self.missing()) }
    }

    #[cold]
    #[inline(never)]
    fn missing(&self) -> VoteJsonError {
        let missing = Field::ALL.into_iter().find(|field| self.seen & bit(*field) == 0);
        VoteJsonError::MissingField { field: missing.unwrap_or(Field::Round) }
    }

    /// Why parsing ended with `error`: what a field noted, because an error of serde's cannot carry one, else that error.
    #[cold]
    #[inline(never)]
    pub(crate) fn error(&self, error: serde_json::Error) -> VoteJsonError {
        match self.out_of_range {
            Some(field) => VoteJsonError::OutOfRange { field },
            None => VoteJsonError::Syntax(error),
        }
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

const fn bit(field: Field) -> u8 {
    1 << field as u8
}

const ALL_SEEN: u8 = (1 << Field::ALL.len()) - 1;

/// Reads the value of one field into its place.
struct Value<'f, 'a> {
    field: Field,
    vote: &'f mut Parsed<'a>,
}

impl<'de> DeserializeSeed<'de> for Value<'_, 'de> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self { field, vote } = self;
        if vote.seen & bit(field) != 0 {
            return Err(D::Error::duplicate_field(field.name()));
        }
        vote.seen |= bit(field);
        let place = match field {
            Field::Round | Field::Timestamp => {
                let integer = Integer { field, max: u64::MAX, out_of_range: &mut vote.out_of_range };
                let value = integer.deserialize(deserializer)?;
                *(if field == Field::Round { &mut vote.round } else { &mut vote.timestamp }) = value;
                return Ok(());
            }
            Field::VoteType => {
                let integer = Integer { field, max: u64::from(u8::MAX), out_of_range: &mut vote.out_of_range };
                vote.vote_type = u8::try_from(integer.deserialize(deserializer)?).unwrap_or(u8::MAX);
                return Ok(());
            }
            Field::BlockHash => &mut vote.block_hash,
            Field::VoterId => &mut vote.voter_id,
            Field::Signature => &mut vote.signature,
        };
        deserializer.deserialize_bytes(Text { field, place, unescaped: &mut vote.unescaped })
    }
}

/// A string as the bytes that lie in the message; a copy only where escapes had to be resolved.
struct Text<'f, 'a> {
    field: Field,
    place: &'f mut &'a [u8],
    unescaped: &'f mut Vec<(Field, Vec<u8>)>,
}

impl<'de> Visitor<'de> for Text<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, a string of hexadecimal digits", self.field)
    }

    #[inline]
    fn visit_borrowed_bytes<E: Error>(self, text: &'de [u8]) -> Result<(), E> {
        *self.place = text;
        Ok(())
    }

    #[cold]
    fn visit_bytes<E: Error>(self, text: &[u8]) -> Result<(), E> {
        self.unescaped.push((self.field, text.to_vec()));
        Ok(())
    }
}

/// A vote as a JSON object or, where `list` says so, as a list of its six values: both ways of a JSON-RPC call's parameters.
pub(crate) struct Body<'f, 'a> {
    pub(crate) vote: &'f mut Parsed<'a>,
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
                Some(field) => map.next_value_seed(Value { field, vote: self.vote })?,
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
            if list.next_element_seed(Value { field, vote: self.vote })?.is_none() {
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
