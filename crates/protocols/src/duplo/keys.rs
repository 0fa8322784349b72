//! Keys of a wire, and what is committed to of them (section 5.1).
//!
//! A wire has keys K^0 and K^1 = K^0 ⊕ Δ for the values 0 and 1; the last bit of Δ is 1, so that
//! the last bit of a key, its colour, tells them apart. The *indicator bit* σ is the colour of K^0.
//! The *base key* is the one of colour 0, K^0 ⊕ σΔ. Committed is the base key with σ in the place
//! of its last bit, which is known to be 0.

use symbolon_primitives::{Block, Challenge};

/// What is committed to of a wire: the base key, with the indicator bit in the last place.
pub(super) fn committed(zero: Block, delta: Block) -> Block {
    let indicator = zero.lsb();
    (zero ^ delta.select(indicator)).with_lsb(indicator)
}

/// The key for 0, from what is committed to.
pub(super) fn zero_key(committed: Block, delta: Block) -> Block {
    committed.with_lsb(false) ^ delta.select(committed.lsb())
}

/// The key for a value.
#[cfg(test)]
pub(super) fn key(committed: Block, delta: Block, value: bool) -> Block {
    zero_key(committed, delta) ^ delta.select(value)
}

/// K^0 of a self-authenticating wire: H(Δ). Every authenticator has a number of its own.
pub(super) fn self_authenticating(session: &[u8; 32], number: u64, delta: Block) -> Block {
    let mut hasher = blake3::Hasher::new_derive_key("symbolon 2026 duplo self-authenticating key");
    hasher.update(session);
    hasher.update(&number.to_le_bytes());
    hasher.update(&delta.to_bytes());
    truncated(&hasher.finalize())
}

/// The hash by which authenticators accept keys. Its key is drawn after the keys are committed to,
/// so that nobody can look for collisions first.
#[derive(Clone)]
pub(super) struct KeyHash([u8; 32]);

impl KeyHash {
    pub fn new(challenge: Challenge) -> KeyHash {
        let mut key = [0; 32];
        challenge.into_prg().fill(&mut key);
        KeyHash(key)
    }

    pub fn from_bytes(key: [u8; 32]) -> KeyHash {
        KeyHash(key)
    }

    pub fn to_bytes(&self) -> [u8; 32] {
        self.0
    }

    /// The hash of a key in the authenticator with this number.
    pub fn hash(&self, number: u64, key: Block) -> Block {
        let mut input = [0; 24];
        input[..8].copy_from_slice(&number.to_le_bytes());
        input[8..].copy_from_slice(&key.to_bytes());
        truncated(&blake3::keyed_hash(&self.0, &input))
    }

    /// What an authenticator accepts: the hashes of the key of colour 0 and of the key of colour 1.
    pub fn accepted(&self, number: u64, committed: Block, delta: Block) -> [Block; 2] {
        let base = committed.with_lsb(false);
        [self.hash(number, base), self.hash(number, base ^ delta)]
    }
}

fn truncated(hash: &blake3::Hash) -> Block {
    let [low, _] = *hash.as_bytes().as_chunks::<16>().0 else { unreachable!("32 bytes") };
    Block::from_bytes(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_from_what_is_committed_to() {
        let delta = Block(0x1234_5679);
        for zero in [Block(0xabcd0), Block(0xabcd1)] {
            let committed = committed(zero, delta);
            assert_eq!(committed.lsb(), zero.lsb());
            assert_eq!(zero_key(committed, delta), zero);
            assert_eq!(key(committed, delta, true), zero ^ delta);
        }
    }

    #[test]
    fn an_authenticator_accepts_both_keys_by_their_colour() {
        let hash = KeyHash::from_bytes([3; 32]);
        let (delta, committed) = (Block(77), Block(1000));
        let accepted = hash.accepted(5, committed, delta);
        for value in [false, true] {
            let key = key(committed, delta, value);
            assert_eq!(accepted[usize::from(key.lsb())], hash.hash(5, key));
            assert_ne!(accepted[usize::from(key.lsb())], hash.hash(6, key));
        }
    }
}
