//! What a byte-carrying stack carries: the votes of a codec, or 161 bytes that nobody reads. Owns both ends of the exchange
//! as far as bytes go: a [`Requester`] makes a request of a vote and checks the response, a [`Responder`] answers.
//!
//! The responder is a validator: it decodes the vote, has every field of it in hand, and answers with an encoded vote. The
//! requester decodes that and compares all six fields. Neither allocates where its codec does not.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use super::TransportError;
use crate::codec::{self, Codec, CodecError};
use crate::vote::Vote;

/// Bytes of the floors' message: a ZAP vote's.
pub const OPAQUE_BYTES: usize = 161;

/// What is carried.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Payload {
    /// Votes in the codec of that name.
    Codec(String),
    /// [`OPAQUE_BYTES`] bytes, echoed unread.
    Opaque,
}

impl Payload {
    /// The client's end.
    ///
    /// # Errors
    /// Where there is no codec of that name.
    pub fn requester(&self) -> Result<Box<dyn Requester>, TransportError> {
        Ok(match self {
            Self::Codec(name) => Box::new(Voter { codec: codec_of(name)? }),
            Self::Opaque => Box::new(Echo),
        })
    }

    /// The server's end.
    ///
    /// # Errors
    /// Where there is no codec of that name.
    pub fn responder(&self) -> Result<Box<dyn Responder>, TransportError> {
        Ok(match self {
            Self::Codec(name) => Box::new(Validator { codec: codec_of(name)? }),
            Self::Opaque => Box::new(Echo),
        })
    }
}

fn codec_of(name: &str) -> Result<Box<dyn Codec>, TransportError> {
    codec::by_name(name).ok_or_else(|| TransportError::Unsupported(format!("there is no codec {name}")))
}

/// The client's end of one connection.
pub trait Requester: Send {
    /// The request that carries `vote`, valid until the next call.
    ///
    /// # Errors
    /// Those of the codec.
    fn request(&mut self, vote: &Vote) -> Result<&[u8], CodecError>;

    /// Decodes `response` and checks that it is the answer to `vote`.
    ///
    /// # Errors
    /// Those of the codec, or [`TransportError::WrongAnswer`].
    fn check(&mut self, vote: &Vote, response: &[u8]) -> Result<(), TransportError>;
}

/// The server's end of one connection.
pub trait Responder: Send {
    /// The response to `request`, valid until the next call.
    ///
    /// # Errors
    /// [`TransportError::Refused`], where the request is no vote.
    fn respond<'a>(&'a mut self, request: &'a [u8]) -> Result<&'a [u8], TransportError>;
}

struct Voter {
    codec: Box<dyn Codec>,
}

impl Requester for Voter {
    fn request(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        self.codec.encode(vote)
    }

    fn check(&mut self, vote: &Vote, response: &[u8]) -> Result<(), TransportError> {
        if vote.is_answered_by(&self.codec.own_answer(response)?) { Ok(()) } else { Err(TransportError::WrongAnswer) }
    }
}

struct Validator {
    codec: Box<dyn Codec>,
}

impl Responder for Validator {
    fn respond<'a>(&'a mut self, request: &'a [u8]) -> Result<&'a [u8], TransportError> {
        let vote = self.codec.own(request).map_err(TransportError::Refused)?;
        // The answer needs four of the six fields; a validator needs them all.
        let answer = black_box(&vote).answer();
        self.codec.encode_answer(request, &answer).map_err(TransportError::Refused)
    }
}

/// The message of both floors.
const OPAQUE: [u8; OPAQUE_BYTES] = [0x5a; OPAQUE_BYTES];

struct Echo;

impl Requester for Echo {
    fn request(&mut self, _: &Vote) -> Result<&[u8], CodecError> {
        Ok(&OPAQUE)
    }

    fn check(&mut self, _: &Vote, response: &[u8]) -> Result<(), TransportError> {
        if response == OPAQUE { Ok(()) } else { Err(TransportError::WrongAnswer) }
    }
}

impl Responder for Echo {
    fn respond<'a>(&'a mut self, request: &'a [u8]) -> Result<&'a [u8], TransportError> {
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_that_owns_a_vote_answers_it() {
        for codec in codec::all() {
            let payload = Payload::Codec(codec.name().to_owned());
            // A JSON-RPC response is no request; its own stacks speak it.
            if codec.info().lacks(codec::Model::Own).is_some() || codec.name() == "json-rpc" {
                continue;
            }
            let (mut client, mut server) = (payload.requester().unwrap(), payload.responder().unwrap());
            let vote = Vote::canonical();
            let request = client.request(&vote).unwrap().to_vec();
            let response = server.respond(&request).unwrap().to_vec();
            client.check(&vote, &response).unwrap_or_else(|error| panic!("{}: {error}", codec.name()));
            let other = Vote { round: 43, ..vote };
            assert!(matches!(client.check(&other, &response), Err(TransportError::WrongAnswer)), "{}", codec.name());
            let echoed = client.check(&vote, &request);
            assert!(matches!(echoed, Err(TransportError::WrongAnswer | TransportError::Codec(_))), "{}", codec.name());
            assert!(server.respond(&request[..request.len() - 1]).is_err(), "{}", codec.name());
        }
    }
}
