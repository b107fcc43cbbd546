//! What the JSON-RPC clients do once they are connected: one call of `vote_submit` through jsonrpsee's own client service, or,
//! in the stacks whose names end in `-plain`, through its public `request`. Owns the ids and the check of the answer.
//!
//! The service is a shortcut of ours, open to whoever writes a layer: it is taken out of the client by the layer that jsonrpsee
//! has for such things. `request` of the client itself would put a timer around every call: tokio's over HTTP, and over
//! WebSocket one of a helper thread that every call wakes. Neither can be turned off, and the driver has one timer for all votes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jsonrpsee::core::JsonRawValue;
use jsonrpsee::core::client::{ClientT, Error, MiddlewareMethodResponse};
use jsonrpsee::core::middleware::RpcServiceT;
use jsonrpsee::core::traits::ToRpcParams;
use jsonrpsee::types::{Id, Request, ResponseSuccess};

use serde::{Deserialize, Deserializer, de};

use super::TransportError;
use super::jsonrpc_server::{METHOD, raw};
use crate::codec::CodecError;
use crate::vote::Vote;
use crate::vote::json::{self, Body, Parsed};

/// Where the layer leaves the service that it has seen.
pub(super) type Slot<S> = Arc<OnceLock<S>>;

/// Calls the service.
#[derive(Clone)]
pub(super) struct Caller<S> {
    service: S,
    /// The next call's id, which no other call of the same connection has.
    id: Arc<AtomicU64>,
}

impl<S> Caller<S>
where
    S: RpcServiceT<MethodResponse = Result<MiddlewareMethodResponse, Error>> + Clone,
{
    /// Takes the service from where the layer has left it.
    pub(super) fn new(slot: &Slot<S>) -> Result<Self, TransportError> {
        let service = slot.get().cloned().ok_or_else(|| TransportError::connect("jsonrpsee has made no service"))?;
        Ok(Self { service, id: Arc::default() })
    }

    /// One call, its answer checked; `None` where the service has lost its connection, whose client knows the reason.
    pub(super) async fn exchange(&self, vote: &Vote) -> Result<Option<()>, TransportError> {
        let params = raw(vote).map_err(TransportError::stack)?;
        let id = self.id.fetch_add(1, Ordering::Relaxed);
        let response = match self.service.call(Request::borrowed(METHOD, Some(&params), Id::Number(id))).await {
            Ok(response) => response.into_response().into_inner(),
            Err(Error::ServiceDisconnect) => return Ok(None),
            Err(error) => return Err(TransportError::stack(error)),
        };
        let success = ResponseSuccess::try_from(response).map_err(TransportError::stack)?;
        if success.id != Id::Number(id) {
            return Err(TransportError::WrongAnswer);
        }
        let answer = json::parse(success.result.get().as_bytes()).map_err(CodecError::from)?;
        if vote.is_answered_by(&answer) { Ok(Some(())) } else { Err(TransportError::WrongAnswer) }
    }
}

/// One call through `client` as every user makes it, with its timer, its answer checked; `None` where its connection is lost,
/// for which it knows the reason.
pub(super) async fn request(client: &impl ClientT, vote: &Vote) -> Result<Option<()>, TransportError> {
    match client.request::<Answer, _>(METHOD, Params(vote)).await {
        Ok(Answer(answer)) if vote.is_answered_by(&answer) => Ok(Some(())),
        Ok(_) => Err(TransportError::WrongAnswer),
        Err(Error::ServiceDisconnect) => Ok(None),
        Err(error) => Err(TransportError::stack(error)),
    }
}

/// A vote, as the parameters of a call.
struct Params<'a>(&'a Vote);

impl ToRpcParams for Params<'_> {
    fn to_rpc_params(self) -> Result<Option<Box<JsonRawValue>>, serde_json::Error> {
        raw(self.0).map(Some)
    }
}

/// A vote, as the result of a call.
struct Answer(Vote);

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut parsed = Parsed::default();
        de::DeserializeSeed::deserialize(Body { vote: &mut parsed, list: false }, deserializer)?;
        parsed.complete().and_then(|()| parsed.vote()).map(Self).map_err(de::Error::custom)
    }
}
