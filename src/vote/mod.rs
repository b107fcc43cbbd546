//! The logical vote that every wire format carries. Owns its fields, their names and widths, its digest ([`digest`]),
//! its JSON form ([`json`]) and the seeded [`corpus`]. Knows no wire format.

pub mod corpus;
pub mod digest;
pub mod json;
pub mod signature;

pub use digest::Digest;

/// Bytes of a vote's fields laid end to end: 8 + 32 + 32 + 64 + 8 + 1.
pub const PAYLOAD_BYTES: usize = 145;

/// One validator's vote on one block.
///
/// The compiler chooses its layout in memory, and every codec starts from and arrives at this same type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    /// Consensus round.
    pub round: u64,
    /// Hash of the block voted on.
    pub block_hash: [u8; 32],
    /// Identity of the voting validator.
    pub voter_id: [u8; 32],
    /// Ed25519 signature.
    pub signature: [u8; 64],
    /// Nanoseconds since the Unix epoch.
    pub timestamp: u64,
    /// Kind of vote (prevote, precommit, ...): any byte.
    pub vote_type: u8,
}

impl Vote {
    /// The canonical vote of the contracts, whose encoded sizes are published.
    #[must_use]
    pub const fn canonical() -> Self {
        Self {
            round: 42,
            block_hash: [0x11; 32],
            voter_id: [0x22; 32],
            signature: [0x33; 64],
            timestamp: 1_700_000_000_123_456_789,
            vote_type: 1,
        }
    }

    /// The server's answer to this vote: same round, block and time, the answerer's own identity and signature (0x5e).
    #[must_use]
    pub const fn answer(&self) -> Self {
        Self {
            round: self.round,
            block_hash: self.block_hash,
            voter_id: [0x5e; 32],
            signature: [0x5e; 64],
            timestamp: self.timestamp,
            vote_type: self.vote_type,
        }
    }

    /// Whether `answer` is [the answer](Self::answer) to this vote: all six fields are compared.
    #[must_use]
    pub fn is_answered_by(&self, answer: &Self) -> bool {
        *answer == self.answer()
    }
}

impl Default for Vote {
    fn default() -> Self {
        Self { round: 0, block_hash: [0; 32], voter_id: [0; 32], signature: [0; 64], timestamp: 0, vote_type: 0 }
    }
}

/// The six fields, for errors that name one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// `round`, u64.
    Round,
    /// `block_hash`, 32 bytes.
    BlockHash,
    /// `voter_id`, 32 bytes.
    VoterId,
    /// `signature`, 64 bytes.
    Signature,
    /// `timestamp`, u64.
    Timestamp,
    /// `vote_type`, u8.
    VoteType,
}

impl Field {
    /// All fields, in the vote's order.
    pub const ALL: [Self; 6] =
        [Self::Round, Self::BlockHash, Self::VoterId, Self::Signature, Self::Timestamp, Self::VoteType];

    /// The field's name, as in every schema and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::BlockHash => "block_hash",
            Self::VoterId => "voter_id",
            Self::Signature => "signature",
            Self::Timestamp => "timestamp",
            Self::VoteType => "vote_type",
        }
    }

    /// The field's width in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Round | Self::Timestamp => 8,
            Self::BlockHash | Self::VoterId => 32,
            Self::Signature => 64,
            Self::VoteType => 1,
        }
    }
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
