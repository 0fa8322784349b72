//! The keys of a wire, and the committed value for them (section 5.1).
//!
//! A wire has keys K^0 and K^1 = K^0 ⊕ Δ for the values 0 and 1. Δ ends in 1, so the last bit of a
//! key, its colour, tells the two keys apart. The *indicator bit* σ is the colour of K^0. The *base
//! key* is the key of colour 0, K^0 ⊕ σΔ. The committed value is the base key with σ in place of
//! its last bit, which is known to be 0.

use symbolon_primitives::{Block, Challenge, TweakedHash, derive_block};

/// Returns the committed value of a wire: the base key with the indicator bit as its last bit.
///
/// Paper: KNRTT17, GenWire, VerWire | what is committed to of a wire
pub(super) fn committed(zero: Block, delta: Block) -> Block {
    let indicator = zero.lsb();
    (zero ^ delta.select(indicator)).with_lsb(indicator)
}

/// Returns the key for 0, from the committed value.
///
/// Paper: KNRTT17, GenWire, VerWire
pub(super) fn zero_key(committed: Block, delta: Block) -> Block {
    committed.with_lsb(false) ^ delta.select(committed.lsb())
}

/// How many keys of authenticators are hashed at a time: enough to fill the widest registers, few
/// enough to stay in the L1 cache.
pub(super) const HASHED: usize = 64;

/// The hash of self-authenticating wires: K^0 = H(Δ). Its tweak is the number of the key; no two
/// keys of authenticators have the same number.
///
/// H must hide Δ from a party that knows K^0 or K^0 ⊕ Δ of each wire of a bundle. Each wire has its
/// own tweak, and so its own key of the ideal cipher. Collisions do not help a cheater, because the
/// two keys of a wire differ and one Δ has one hash. With H(Δ) = E(σ(Δ)) ⊕ σ(Δ), both keys are as
/// hard to invert as the ideal cipher, since σ(x) ⊕ x is one-to-one, too.
pub(super) struct SelfHash(TweakedHash);

impl SelfHash {
    /// Returns the hash of a session.
    pub fn new(session: &[u8; 32]) -> SelfHash {
        let start = derive_block("symbolon duplo self-authenticating keys 2", session, 0);
        SelfHash(TweakedHash::new(start))
    }

    /// Replaces each Δ by its K^0, for at most [`HASHED`] keys with these numbers.
    pub fn hash(&self, numbers: impl Iterator<Item = u64>, offsets: &mut [Block]) {
        let (tweaks, n) = tweaks(numbers);
        self.0.hash_with(&tweaks[..n], 1, offsets);
    }
}

/// The hash by which authenticators accept keys: that of garbling, with the number of the
/// authenticator's key as its tweak.
///
/// Its start is drawn after the keys are committed. So nothing computed earlier helps to find a
/// third key that hashes to the same value as one of the two, and each later call of the ideal
/// cipher finds one with probability 2^-127: 128 bits of hash are enough. The hash also hides the
/// key that the evaluator lacks, as in half-gates: it is the hash of the evaluator's key ⊕ Δ, under
/// a tweak that no other key has (`docs/proofs/duplo.md#a-cheating-evaluator`).
#[derive(Clone)]
pub(super) struct KeyHash(Block);

impl KeyHash {
    pub fn new(challenge: Challenge) -> KeyHash {
        KeyHash(challenge.into_prg().block())
    }

    pub fn from_block(start: Block) -> KeyHash {
        KeyHash(start)
    }

    pub fn to_block(&self) -> Block {
        self.0
    }

    /// Hashes at most [`HASHED`] keys in place. Each of these numbers is the tweak of `group` keys
    /// (1, 2, 4 or 8).
    pub fn hash_groups(
        &self,
        numbers: impl Iterator<Item = u64>,
        group: usize,
        keys: &mut [Block],
    ) {
        let (tweaks, n) = tweaks(numbers);
        TweakedHash::new(self.0).hash_with(&tweaks[..n], group, keys);
    }

    /// Replaces each `[committed value, Δ]` by the hashes that are accepted: of the key of colour 0
    /// and of the key of colour 1. Takes at most [`HASHED`] keys, with these numbers.
    pub fn accepted(&self, numbers: impl Iterator<Item = u64>, keys: &mut [[Block; 2]]) {
        for [key, offset] in keys.iter_mut() {
            let base = key.with_lsb(false);
            (*key, *offset) = (base, base ^ *offset);
        }
        let (tweaks, n) = tweaks(numbers);
        TweakedHash::new(self.0).hash_with(&tweaks[..n], 2, keys.as_flattened_mut());
    }
}

fn tweaks(numbers: impl Iterator<Item = u64>) -> ([u128; HASHED], usize) {
    let (mut tweaks, mut n) = ([0; HASHED], 0);
    for number in numbers {
        (tweaks[n], n) = (u128::from(number), n + 1);
    }
    (tweaks, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(committed: Block, delta: Block, value: bool) -> Block {
        zero_key(committed, delta) ^ delta.select(value)
    }

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
        let hash = KeyHash::from_block(Block(3));
        let (delta, committed) = (Block(77), Block(1000));
        let mut accepted = [[committed, delta], [committed, delta]];
        hash.accepted([5, 6].into_iter(), &mut accepted);
        for value in [false, true] {
            let key = key(committed, delta, value);
            let mut hashes = [key; 2];
            hash.hash_groups([5, 6].into_iter(), 1, &mut hashes);
            let colour = usize::from(key.lsb());
            assert_eq!(accepted.map(|accepted| accepted[colour]), hashes);
            assert_ne!(hashes[0], hashes[1]);
        }
    }
}
