//! `zap-builder`: the bytes of [`zap`](super::zap), written through the runtime's general [`Builder`], which takes objects of
//! any schema one field after another, as the general builders of the other formats do; and read as `zap` is.

use super::zap::Zap;
use super::{Class, Codec, CodecError, Info, Model};
use crate::schema::generated::vote_zap::VoteFields;
use crate::vote::{Digest, Vote};
use crate::zap::Builder;

const READ_AS_ZAP: &str = "it is read as `zap` is";

static INFO: Info = Info {
    name: "zap-builder",
    class: Class::Variant,
    crates: &[],
    summary: "the bytes of zap, through the runtime's general builder; read as zap is",
    lead: 4,
    lacks: &[(Model::Open, READ_AS_ZAP), (Model::Read, READ_AS_ZAP), (Model::Own, READ_AS_ZAP)],
};

/// The codec `zap-builder`.
pub(super) struct ZapBuilder {
    builder: Builder,
    reader: Zap,
}

impl ZapBuilder {
    pub(super) fn new() -> Self {
        Self { builder: Builder::with_buffer(Vec::with_capacity(256)), reader: Zap::new() }
    }
}

impl Codec for ZapBuilder {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline]
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError> {
        let Vote { round, block_hash, voter_id, signature, timestamp, vote_type } = vote;
        let fields =
            VoteFields { round: *round, block_hash, voter_id, signature, timestamp: *timestamp, vote_type: *vote_type };
        self.builder.reset();
        let root = fields.build(&mut self.builder);
        self.builder.finish(root).map_err(|error| CodecError::malformed("zap", error))
    }

    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError> {
        self.reader.open_round(message)
    }

    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError> {
        self.reader.read(message)
    }

    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        self.reader.own(message)
    }
}
