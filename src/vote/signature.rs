//! An Ed25519 signature over a vote, for scale: what a validator does with every vote once its codec is done with it.
//!
//! The signed bytes are the vote's fields end to end without the signature, 81 bytes; the verifying key is decompressed
//! beforehand, as a validator that knows its committee has it.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use super::Vote;

/// A vote's signed bytes, its signature and the key that verifies it.
#[derive(Debug, Clone)]
pub struct Signed {
    message: [u8; 81],
    signature: Signature,
    key: VerifyingKey,
}

impl Signed {
    /// Signs `vote` with the key of validator number `validator`, made from that number.
    #[must_use]
    pub fn new(vote: &Vote, validator: u64) -> Self {
        let mut secret = [0; 32];
        secret[..8].copy_from_slice(&validator.to_le_bytes());
        let key = SigningKey::from_bytes(&secret);
        let mut message = [0; 81];
        message[..8].copy_from_slice(&vote.round.to_le_bytes());
        message[8..40].copy_from_slice(&vote.block_hash);
        message[40..72].copy_from_slice(&vote.voter_id);
        message[72..80].copy_from_slice(&vote.timestamp.to_le_bytes());
        message[80] = vote.vote_type;
        Self { message, signature: key.sign(&message), key: key.verifying_key() }
    }

    /// Whether the signature is the key's over the message, by RFC 8032's strict rules.
    #[must_use]
    pub fn verifies(&self) -> bool {
        self.key.verify_strict(&self.message, &self.signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verifies_what_was_signed_and_nothing_else() {
        let signed = Signed::new(&Vote::canonical(), 7);
        assert!(signed.verifies());
        for byte in 0..81 {
            let mut other = signed.clone();
            other.message[byte] ^= 1;
            assert!(!other.verifies(), "byte {byte}");
        }
        let other = Signed { key: Signed::new(&Vote::canonical(), 8).key, ..signed };
        assert!(!other.verifies());
    }
}
