//! What can be timed. Owns the trait that a driver's inner loop sees, and the two workloads of the serialization suite:
//! a codec with its corpus, and the verification of a vote's signature.

use crate::codec::{Batch, Codec, CodecError, Model, Pace};
use crate::vote::Vote;
use crate::vote::signature::Signed;

/// Something that can be run over and over: one candidate of a round.
pub trait Workload {
    /// Runs one pass, whose operations are counted by [`operations`](Self::operations).
    ///
    /// # Errors
    /// A sentence that says what went wrong; the row is then `failed`.
    fn pass(&mut self, cell: Cell) -> Result<(), String>;

    /// Operations in one pass.
    fn operations(&self) -> u64;
}

/// Which of a workload's timed regions runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The model; [`Model::Read`] where a workload has only one.
    pub model: Model,
    /// The pace.
    pub pace: Pace,
}

/// A codec and the corpus that it runs over.
pub struct CodecWorkload {
    codec: Box<dyn Codec>,
    batch: Batch,
}

impl CodecWorkload {
    /// Encodes the corpus, and checks outside any clock that every message becomes its vote again and that `read` gives the
    /// digest of all six fields: a benchmark is also a test.
    ///
    /// # Errors
    /// A sentence that names the codec and what it got wrong.
    pub fn new(mut codec: Box<dyn Codec>, votes: Vec<Vote>) -> Result<Self, String> {
        let name = codec.name();
        let refused = |error: CodecError| format!("{name} refused a vote of the corpus: {error}");
        let batch = Batch::new(codec.as_mut(), votes).map_err(refused)?;
        for (message, vote) in batch.messages().zip(batch.votes()) {
            if codec.own(message).map_err(refused)? != *vote {
                return Err(format!("{name} made another vote of a message that it had encoded"));
            }
            if codec.read(message).map_err(refused)? != crate::vote::Digest::of(vote) {
                return Err(format!("{name} read something other than the six fields of a vote"));
            }
            codec.open(message).map_err(refused)?;
        }
        Ok(Self { codec, batch })
    }

    /// The codec's messages for the corpus.
    #[must_use]
    pub const fn batch(&self) -> &Batch {
        &self.batch
    }
}

impl Workload for CodecWorkload {
    fn pass(&mut self, cell: Cell) -> Result<(), String> {
        self.codec.run_batch(cell.model, &self.batch, cell.pace).map_err(|error| error.to_string())
    }

    fn operations(&self) -> u64 {
        self.batch.len() as u64
    }
}

/// Verifying the Ed25519 signature of votes: what handling a vote costs besides its codec.
pub struct SignatureWorkload {
    signed: Vec<Signed>,
}

impl SignatureWorkload {
    /// Votes in one pass: at some 30 us each, a pass is a slice.
    pub const VOTES: usize = 64;

    /// Signs [`VOTES`](Self::VOTES) of the corpus.
    #[must_use]
    pub fn new(votes: &[Vote]) -> Self {
        Self {
            signed: votes.iter().take(Self::VOTES).enumerate().map(|(n, vote)| Signed::new(vote, n as u64)).collect(),
        }
    }
}

impl Workload for SignatureWorkload {
    fn pass(&mut self, _: Cell) -> Result<(), String> {
        for signed in &self.signed {
            if !std::hint::black_box(signed).verifies() {
                return Err("a valid signature did not verify".to_owned());
            }
        }
        Ok(())
    }

    fn operations(&self) -> u64 {
        self.signed.len() as u64
    }
}
