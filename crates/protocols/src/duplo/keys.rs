//! Keys of a wire, and what is committed to of them (section 5.1).
//!
//! A wire has keys K^0 and K^1 = K^0 ⊕ Δ for the values 0 and 1; the last bit of Δ is 1, so that
//! the last bit of a key, its colour, tells them apart. The *indicator bit* σ is the colour of K^0.
//! The *base key* is the one of colour 0, K^0 ⊕ σΔ. Committed is the base key with σ in the place
//! of its last bit, which is known to be 0.

use symbolon_primitives::{Block, Challenge, TweakedHash, derive_block};

/// What is committed to of a wire: the base key, with the indicator bit in the last place.
///
/// Paper: KNRTT17, GenWire, VerWire | what is committed to of a wire
pub(super) fn committed(zero: Block, delta: Block) -> Block {
    let indicator = zero.lsb();
    (zero ^ delta.select(indicator)).with_lsb(indicator)
}

/// The key for 0, from what is committed to.
///
/// Paper: KNRTT17, GenWire, VerWire
pub(super) fn zero_key(committed: Block, delta: Block) -> Block {
    committed.with_lsb(false) ^ delta.select(committed.lsb())
}

/// The key for a value.
#[cfg(test)]
pub(super) fn key(committed: Block, delta: Block, value: bool) -> Block {
    zero_key(committed, delta) ^ delta.select(value)
}

/// How many keys of authenticators are hashed at a time: they fill the widest registers, and stay
/// in the L1 cache.
pub(super) const HASHED: usize = 64;

/// K^0 = H(Δ) of self-authenticating wires. Every key of every authenticator has a number of its
/// own, which is the tweak of its hash.
///
/// H has to hide Δ from who knows K^0 or K^0 ⊕ Δ of each wire of a bundle, under tweaks, and so
/// keys of the ideal cipher, of their own; nobody gains by a collision, because a wire's
/// keys differ and one Δ has one hash. In H(Δ) = E(σ(Δ)) ⊕ σ(Δ) both are as hard to invert as the
/// ideal cipher is, for σ(x) ⊕ x is one-to-one as well.
pub(super) struct SelfHash(TweakedHash);

impl SelfHash {
    /// That of a session.
    pub fn new(session: &[u8; 32]) -> SelfHash {
        let start = derive_block("symbolon duplo self-authenticating keys 2", session, 0);
        SelfHash(TweakedHash::new(start))
    }

    /// K^0 of keys with these numbers, at most [`HASHED`], from their Δ, in place.
    pub fn hash(&self, numbers: impl Iterator<Item = u64>, offsets: &mut [Block]) {
        let (tweaks, n) = tweaks(numbers);
        self.0.hash_with(&tweaks[..n], 1, offsets);
    }
}

/// The hash by which authenticators accept keys: that of garbling, whose tweak is the
/// authenticator's number.
///
/// Its start is drawn after the keys are committed to. So what was computed before does not help
/// to find a third key with the hash of one of the two, and each call of the ideal cipher after it
/// finds one with probability 2^-127: 128 bits of hash are enough. It hides the key that the
/// evaluator lacks, as that of half-gates does: it is the hash of the other key ⊕ Δ, under a
/// tweak that no other key has, with a Δ that only the wires of one bundle share.
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

    /// The hashes of keys, at most [`HASHED`], in place: `group` of them (1, 2, 4 or 8) in each of
    /// those with these numbers.
    pub fn hash_groups(
        &self,
        numbers: impl Iterator<Item = u64>,
        group: usize,
        keys: &mut [Block],
    ) {
        let (tweaks, n) = tweaks(numbers);
        TweakedHash::new(self.0).hash_with(&tweaks[..n], group, keys);
    }

    /// What is accepted for keys with these numbers, at most [`HASHED`]: the hashes of the key of
    /// colour 0 and of the key of colour 1, in the place of what is `[committed to, Δ]`.
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
