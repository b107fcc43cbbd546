//! Wire formats behind one trait. Owns the [`Codec`] trait, what each codec says of itself ([`Info`]) and the registry
//! ([`all`]). A wire format is one file here and one line in the registry; the timed loops over a corpus are in [`batch`].

pub mod batch;
pub mod error;

mod buffer;
mod capnp;
mod capnp_memory;
mod capnp_message;
mod capnp_packed;
mod capnp_words;
mod context;
mod copy;
mod fields;
mod flatbuffers;
mod flatbuffers_buffer;
mod flatbuffers_one_struct;
mod flatbuffers_table;
mod flatbuffers_vectors;
mod grpc;
mod json;
mod json_rpc;
mod packed;
mod protobuf;
mod protobuf_bytes;
mod protobuf_mux;
mod quic_raw;
mod zap;
mod zap_builder;

pub use batch::{Batch, Pace};
pub use error::{CodecError, Envelope, Malformed};

use crate::vote::{Digest, Vote};

/// What a codec's timed region does to a message (`METHODOLOGY.md`, Timed regions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Model {
    /// Logical vote to finished message bytes, ready to send, in reused buffers.
    Encode,
    /// Bytes to the format's own message: whatever it checks or parses before the first field can be read.
    Open,
    /// Open, then every field read and folded into a [`Digest`].
    Read,
    /// Bytes to an owned logical [`Vote`].
    Own,
}

impl Model {
    /// All models, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Encode, Self::Open, Self::Read, Self::Own];

    /// The model's name in results and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Encode => "encode",
            Self::Open => "open",
            Self::Read => "read",
            Self::Own => "own",
        }
    }
}

/// In which part of the tables a codec stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The row that stands for its format: the safe way that its documentation advises.
    Row,
    /// A labelled choice within a format.
    Variant,
    /// A yardstick, not a format that anyone would send.
    Floor,
    /// A format outside the papers' tables, for comparison.
    Context,
}

impl Class {
    /// The class's name in results and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Variant => "variant",
            Self::Floor => "floor",
            Self::Context => "context",
        }
    }
}

/// What a codec says of itself.
#[derive(Debug)]
pub struct Info {
    /// Name in kebab-case, as in results and on the command line.
    pub name: &'static str,
    /// Where it stands in the tables.
    pub class: Class,
    /// The crates under test, by their registry names; empty where the code is this project's own.
    pub crates: &'static [&'static str],
    /// What it is made of, in one line: layout, mode, checks.
    pub summary: &'static str,
    /// How far behind an 8-byte boundary a message starts when its stack delivers it, in bytes (a message behind a
    /// 4-byte length: 4).
    pub lead: usize,
    /// Models that this codec does not have, each with the reason.
    pub lacks: &'static [(Model, &'static str)],
}

impl Info {
    /// Why this codec has no such model, or `None` where it has.
    #[must_use]
    pub fn lacks(&self, model: Model) -> Option<&'static str> {
        self.lacks.iter().find(|(lacking, _)| *lacking == model).map(|(_, reason)| *reason)
    }
}

/// One wire format, with the buffers that it reuses from message to message.
///
/// The methods that take one message are what every program calls; the `_batch` forms are the timed loops, called once
/// for a whole corpus. An implementor writes the five required ones.
pub trait Codec: Send {
    /// What this codec is.
    fn info(&self) -> &'static Info;

    /// Writes `vote` as one message, valid until the next call.
    ///
    /// # Errors
    /// Where the format's library refuses; no vote is unrepresentable in any registered format.
    fn encode(&mut self, vote: &Vote) -> Result<&[u8], CodecError>;

    /// Opens `message` and returns its round: the model `open`, and the first value that depends on it.
    ///
    /// # Errors
    /// Where the bytes are no message of this format, as far as the format looks at this stage.
    fn open_round(&mut self, message: &[u8]) -> Result<u64, CodecError>;

    /// Opens `message` and reads all six fields.
    ///
    /// # Errors
    /// Where the bytes are not exactly one vote; then never a digest of zeros in place of what is missing.
    fn read(&mut self, message: &[u8]) -> Result<Digest, CodecError>;

    /// Turns `message` into an owned vote.
    ///
    /// # Errors
    /// The same messages that [`read`](Self::read) refuses, with the same errors.
    fn own(&mut self, message: &[u8]) -> Result<Vote, CodecError>;

    /// Writes `vote` as the answer to `request`, a message that [`own`](Self::own) has taken. In most formats an answer is a
    /// vote like any other; an envelope that tells the two apart says so here.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), and where the envelope says that `request` is an answer itself.
    fn encode_answer(&mut self, request: &[u8], vote: &Vote) -> Result<&[u8], CodecError> {
        let _ = request;
        self.encode(vote)
    }

    /// Turns an answer into an owned vote: the other half of [`encode_answer`](Self::encode_answer).
    ///
    /// # Errors
    /// As [`own`](Self::own), and where the envelope says that the message is no answer.
    fn own_answer(&mut self, message: &[u8]) -> Result<Vote, CodecError> {
        self.own(message)
    }

    /// Opens `message`: everything that the format does before a first field can be read.
    ///
    /// # Errors
    /// As [`open_round`](Self::open_round).
    fn open(&mut self, message: &[u8]) -> Result<(), CodecError> {
        self.open_round(message).map(drop)
    }

    /// The codec's name.
    fn name(&self) -> &'static str {
        self.info().name
    }

    /// Encodes every vote of the batch, one call each.
    ///
    /// # Errors
    /// The first error of [`encode`](Self::encode).
    fn encode_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        batch::encode(self, batch, pace)
    }

    /// Opens every message of the batch, one call each.
    ///
    /// # Errors
    /// The first error of [`open`](Self::open).
    fn open_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        batch::open(self, batch, pace)
    }

    /// Reads every message of the batch, one call each.
    ///
    /// # Errors
    /// The first error of [`read`](Self::read).
    fn read_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        batch::read(self, batch, pace)
    }

    /// Owns every message of the batch, one call each.
    ///
    /// # Errors
    /// The first error of [`own`](Self::own).
    fn own_batch(&mut self, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        batch::own(self, batch, pace)
    }

    /// One pass of `model` over the batch.
    ///
    /// # Errors
    /// The first error of that model.
    fn run_batch(&mut self, model: Model, batch: &Batch, pace: Pace) -> Result<(), CodecError> {
        match model {
            Model::Encode => self.encode_batch(batch, pace),
            Model::Open => self.open_batch(batch, pace),
            Model::Read => self.read_batch(batch, pace),
            Model::Own => self.own_batch(batch, pace),
        }
    }
}

/// Every codec, rows first, in the order of the tables.
#[must_use]
pub fn all() -> Vec<Box<dyn Codec>> {
    vec![
        Box::new(zap::Zap::new()),
        Box::new(flatbuffers::Flatbuffers::<true>::new()),
        Box::new(capnp::Capnp::new()),
        Box::new(protobuf::Protobuf::new()),
        Box::new(grpc::Grpc::new()),
        Box::new(quic_raw::QuicRaw::new()),
        Box::new(protobuf_mux::ProtobufMux::new()),
        Box::new(json_rpc::JsonRpc::new()),
        Box::new(json::Json::<false>::new()),
        Box::new(zap_builder::ZapBuilder::new()),
        Box::new(flatbuffers::Flatbuffers::<false>::new()),
        Box::new(flatbuffers_one_struct::OneStruct::<true>::new()),
        Box::new(flatbuffers_one_struct::OneStruct::<false>::new()),
        Box::new(flatbuffers_vectors::Vectors::new()),
        Box::new(capnp::Overwrite::new()),
        Box::new(capnp_words::Words::new()),
        Box::new(capnp_packed::Packed::new()),
        Box::new(protobuf_bytes::ProtobufBytes::new()),
        Box::new(json::Json::<true>::new()),
        Box::new(copy::Copy::new()),
        Box::new(packed::Packed::new()),
        Box::new(context::Bincode::new()),
        Box::new(context::Borsh::new()),
        Box::new(context::Bcs::new()),
        Box::new(context::Postcard::new()),
        Box::new(context::Rkyv::new()),
        Box::new(context::Ssz::default()),
        Box::new(context::Scale::new()),
    ]
}

/// The codec of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<Box<dyn Codec>> {
    all().into_iter().find(|codec| codec.name() == name)
}
