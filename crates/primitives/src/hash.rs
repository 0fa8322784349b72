//! The hash for garbling and OT: re-keyed AES.
//!
//! # Construction
//! The hash of a block x under a tweak t is that of Guo, Katz, Wang, Weng and Yu ("Better Concrete
//! Security for Half-Gates Garbling", CRYPTO 2020; MITCCRH):
//!
//! ```text
//! linear:   H(t, x) = E_k(x)    ⊕ x,        k = start ⊕ t
//! circular: H(t, x) = E_k(σ(x)) ⊕ σ(x),     σ(hi ‖ lo) = (hi ⊕ lo) ‖ hi
//! ```
//!
//! with E = AES-128 as an ideal cipher. The key changes with the tweak, so an attacker who observes
//! many instances gains from each only the few hashes made under one key. The bound degrades with
//! the number of uses of *one* tweak rather than with the square of all uses, as it would under one
//! fixed key. `start` is public and random per session and purpose (see
//! [`derive_block`](crate::derive_block)), which separates the keys of different sessions.
//!
//! # Why σ
//! Correlation robustness says that H(t, x ⊕ Δ) looks random for a secret Δ; the *circular* form
//! says that H(t, x ⊕ Δ) ⊕ b·Δ does, too. Without σ, E_k(x ⊕ Δ) ⊕ (x ⊕ Δ) ⊕ Δ = E_k(x ⊕ Δ) ⊕ x, so
//! one more Δ from the caller would cancel the feed-forward. σ is a linear orthomorphism, that is,
//! x ↦ σ(x) and x ↦ σ(x) ⊕ x are both one-to-one, so neither σ(Δ) nor σ(Δ) ⊕ Δ loses any entropy of
//! Δ. The linear form is for callers that have already applied such a map to their inputs (two
//! labels combined as 2A ⊕ 4B in GF(2^128)).
//!
//! # Tweaks
//! `group` consecutive blocks share a key, and with it the cost of a key schedule. The protocol
//! determines which blocks share a tweak (the blocks of one gate that hash different labels); **a
//! tweak must not be reused under the same start and Δ**. Keys are start ⊕ t, so all 128 bits of t
//! count.

use std::fmt;

use crate::{Backend, Block};

pub use crate::tweaks::Tweaks;

/// A hash with multi-instance tweakable circular correlation robustness; see the [module](self).
#[derive(Clone, Copy)]
pub struct TweakedHash {
    start: Block,
}

impl fmt::Debug for TweakedHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TweakedHash(..)")
    }
}

impl TweakedHash {
    /// Creates the hash with this start, which is public.
    pub fn new(start: Block) -> TweakedHash {
        TweakedHash { start }
    }

    pub(crate) fn start(&self) -> Block {
        self.start
    }

    /// Hashes each block in place without σ: `xs[i] = E_k(xs[i]) ⊕ xs[i]` with key `k = start ⊕
    /// (first_tweak + i / group)`. The caller must have applied an orthomorphism.
    ///
    /// # Panics
    /// If `group` is not 1, 2, 4 or 8, or the length is not a multiple of it.
    #[inline]
    pub fn hash_linear(&self, first_tweak: u128, group: usize, xs: &mut [Block]) {
        Backend::active().hash_linear(self.start, Tweaks::From(first_tweak), group, xs);
    }

    /// Hashes each block in place: `xs[i] = E_k(y) ⊕ y` with `y = σ(xs[i])` and key
    /// `k = start ⊕ (first_tweak + i / group)`.
    ///
    /// # Panics
    /// If `group` is not 1, 2, 4 or 8, or the length is not a multiple of it.
    #[inline]
    pub fn hash(&self, first_tweak: u128, group: usize, xs: &mut [Block]) {
        Backend::active().hash_circular(self.start, Tweaks::From(first_tweak), group, xs);
    }

    /// Adds the half-gates (Zahur, Rosulek and Evans 2015) of gates that do not depend on each
    /// other. H is as in [`hash`](TweakedHash::hash), t = `first_tweak` + 2k, and `[α, β] =
    /// pairs[k]` are the labels of gate k's inputs for 0:
    ///
    /// ```text
    /// message[k] ⊕= [H(t, α) ⊕ H(t, α ⊕ Δ),  H(t + 1, β) ⊕ H(t + 1, β ⊕ Δ) ⊕ α]
    /// labels[k]  ⊕=  H(t, α) ⊕ H(t + 1, β)
    /// ```
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    pub fn half_gates(
        &self,
        first_tweak: u128,
        delta: Block,
        pairs: &[[Block; 2]],
        message: &mut [[Block; 2]],
        labels: &mut [Block],
    ) {
        Backend::active().half_gates((self.start, first_tweak, delta), pairs, message, labels);
    }

    /// Computes the hashes of leaky ANDs (Yang, Wang and Zhang 2020, Fig. 14), with H₀ and H₁ as in
    /// [`hash`](TweakedHash::hash) and t = `first_tweak` + k:
    ///
    /// ```text
    /// u[k]  = H₀(t, keys[k]) ⊕ H₀(t, keys[k] ⊕ Δ) ⊕ phi[k]
    /// s[k] ⊕= H₀(t, keys[k]) ⊕ H₁(t, macs[k])
    /// ```
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    pub fn leaky_hashes(
        hashes: &[TweakedHash; 2],
        (first_tweak, delta): (u128, Block),
        [macs, keys]: [&[Block]; 2],
        phi: &[Block],
        s: &mut [Block],
        u: &mut [Block],
    ) {
        let starts = hashes.map(|hash| hash.start);
        let by = (starts, first_tweak, delta);
        Backend::active().leaky_hashes(by, [macs, keys], phi, s, u);
    }

    /// Hashes as [`hash`](TweakedHash::hash), with a tweak for each group: block `i` has key `start
    /// ⊕ tweaks[i / group]`.
    ///
    /// # Panics
    /// If `group` is not 1, 2, 4 or 8, or there are not exactly `group` blocks for each tweak.
    #[inline]
    pub fn hash_with(&self, tweaks: &[u128], group: usize, xs: &mut [Block]) {
        Backend::active().hash_circular(self.start, Tweaks::List(tweaks), group, xs);
    }
}

/// Computes what authenticated bits, for which the holder has a MAC and a key each, add to labels
/// with offset Δ: sets `sums[k][l]` to the key of bit k of list l, ⊕ Δ if the bit is 1. One or two
/// lists.
///
/// # Panics
/// If the lengths differ, or there are not one or two lists.
#[inline]
pub fn key_sums<const LISTS: usize>(
    delta: Block,
    bits: [&[bool]; LISTS],
    auths: [&[[Block; 2]]; LISTS],
    sums: &mut [[Block; LISTS]],
) {
    Backend::active().key_sums(delta, bits, auths, sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aes128, Prg};

    #[test]
    fn keys_and_bits_add_up() {
        let mut prg = Prg::from_seed(Block(3));
        let delta = prg.block();
        for n in (0..10).chain([63, 64]) {
            let mut auth = || -> Vec<_> { (0..n).map(|_| [prg.block(), prg.block()]).collect() };
            let (a, b) = (auth(), auth());
            let mut bits = || -> Vec<_> { (0..n).map(|_| prg.block().lsb()).collect() };
            let (x, y) = (bits(), bits());
            let sum = |bit: bool, [_, key]: [Block; 2]| if bit { key ^ delta } else { key };
            for backend in Backend::available() {
                let mut one = vec![[Block::ONE]; n];
                backend.key_sums(delta, [&x], [&a], &mut one);
                assert!((0..n).all(|k| one[k] == [sum(x[k], a[k])]), "{backend:?} {n}");
                let mut two = vec![[Block::ONE; 2]; n];
                backend.key_sums(delta, [&x, &y], [&a, &b], &mut two);
                let both = |k: usize| [sum(x[k], a[k]), sum(y[k], b[k])];
                assert!((0..n).all(|k| two[k] == both(k)), "{backend:?} {n}");
            }
        }
    }

    fn sigma(x: Block) -> Block {
        let (hi, lo) = ((x.0 >> 64) as u64, x.0 as u64);
        Block(u128::from(hi ^ lo) << 64 | u128::from(hi))
    }

    #[test]
    fn follows_the_definition() {
        let (start, tweak) = (Block(0xfeed << 70), 77u128);
        let hash = TweakedHash::new(start);
        let mut xs = [Block(5), Block(6 << 64), Block(7), Block(8 << 100)];
        let inputs = xs;
        hash.hash(tweak, 2, &mut xs);
        for (i, (&x, &h)) in inputs.iter().zip(&xs).enumerate() {
            let aes = Aes128::new(start ^ Block(tweak + i as u128 / 2));
            assert_eq!(h, aes.encrypt(sigma(x)) ^ sigma(x));
        }
        let mut ys = inputs.map(sigma);
        hash.hash_linear(tweak, 2, &mut ys);
        assert_eq!(xs, ys);
    }

    #[test]
    fn every_backend_agrees_with_the_portable_one() {
        let mut prg = Prg::from_seed(Block(1));
        let start = prg.block();
        // These tweaks overflow their low and their high half during the run.
        let firsts = [0, u128::from(u64::MAX) - 5, u128::MAX - 9, 3 << 90];
        for group in [1, 2, 4, 8] {
            for groups in (0..40).chain([63, 64, 65, 100]) {
                let first = firsts[groups % firsts.len()];
                let list: Vec<u128> = (0..groups).map(|_| prg.block().0).collect();
                let mut input = vec![Block::ZERO; group * groups];
                prg.fill_blocks(&mut input);
                for tweaks in [Tweaks::From(first), Tweaks::List(&list)] {
                    let (mut linear, mut circular) = (input.clone(), input.clone());
                    Backend::Portable.hash_linear(start, tweaks, group, &mut linear);
                    Backend::Portable.hash_circular(start, tweaks, group, &mut circular);
                    for backend in Backend::available() {
                        let (mut a, mut b) = (input.clone(), input.clone());
                        backend.hash_linear(start, tweaks, group, &mut a);
                        backend.hash_circular(start, tweaks, group, &mut b);
                        assert_eq!(a, linear, "{backend:?} {group} {groups}");
                        assert_eq!(b, circular, "{backend:?} {group} {groups}");
                    }
                }
            }
        }
    }

    #[test]
    fn half_gates_are_sums_of_hashes() {
        let mut prg = Prg::from_seed(Block(2));
        let (start, delta) = (prg.block(), prg.block());
        let hash = TweakedHash::new(start);
        for gates in (0..10).chain([15, 16, 17, 31, 32, 33, 64, 77]) {
            // One of these tweaks overflows its low half during the run.
            for first in [6, u128::from(u64::MAX) - 5, u128::MAX - 40] {
                let pairs: Vec<_> = (0..gates).map(|_| [prg.block(), prg.block()]).collect();
                let before: Vec<_> = (0..gates).map(|_| [prg.block(), prg.block()]).collect();
                let labels: Vec<_> = (0..gates).map(|_| prg.block()).collect();
                for backend in Backend::available() {
                    let (mut made, mut new) = (before.clone(), labels.clone());
                    backend.half_gates((start, first, delta), &pairs, &mut made, &mut new);
                    for k in 0..gates {
                        let [alpha, beta] = pairs[k];
                        let mut h = [alpha, alpha ^ delta, beta, beta ^ delta];
                        hash.hash(first.wrapping_add(2 * k as u128), 2, &mut h);
                        let halves =
                            [before[k][0] ^ h[0] ^ h[1], before[k][1] ^ h[2] ^ h[3] ^ alpha];
                        assert_eq!(made[k], halves, "{backend:?} {gates} {k}");
                        assert_eq!(new[k], labels[k] ^ h[0] ^ h[2], "{backend:?} {gates} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn leaky_hashes_are_sums_of_hashes() {
        let mut prg = Prg::from_seed(Block(6));
        let (starts, delta) = ([prg.block(), prg.block()], prg.block());
        let hashes = starts.map(TweakedHash::new);
        for n in [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 95, 128, 200] {
            // One of these tweaks overflows its low half during the run.
            for first in [6, u128::from(u64::MAX) - 5, u128::MAX - 40] {
                let mut blocks = || (0..n).map(|_| prg.block()).collect::<Vec<_>>();
                let [macs, keys, phi, before] = [(); 4].map(|()| blocks());
                for backend in Backend::available() {
                    let (mut s, mut u) = (before.clone(), before.clone());
                    let by = (starts, first, delta);
                    backend.leaky_hashes(by, [&macs, &keys], &phi, &mut s, &mut u);
                    for k in 0..n {
                        let tweak = first.wrapping_add(k as u128);
                        let (mut pair, mut single) = ([keys[k], keys[k] ^ delta], [macs[k]]);
                        hashes[0].hash(tweak, 2, &mut pair);
                        hashes[1].hash(tweak, 1, &mut single);
                        assert_eq!(u[k], pair[0] ^ pair[1] ^ phi[k], "{backend:?} {n} {k}");
                        assert_eq!(s[k], before[k] ^ pair[0] ^ single[0], "{backend:?} {n} {k}");
                    }
                }
                let (mut s, mut u) = (before.clone(), before.clone());
                let (mut again, mut of_u) = (before.clone(), before.clone());
                TweakedHash::leaky_hashes(
                    &hashes,
                    (first, delta),
                    [&macs, &keys],
                    &phi,
                    &mut s,
                    &mut u,
                );
                let by = (starts, first, delta);
                Backend::Portable.leaky_hashes(by, [&macs, &keys], &phi, &mut again, &mut of_u);
                assert_eq!((s, u), (again, of_u));
            }
        }
    }

    #[test]
    #[should_panic(expected = "equal length")]
    fn refuses_missing_room_for_leaky_hashes() {
        let (one, hash) = ([Block::ONE], TweakedHash::new(Block::ZERO));
        let by = (0, Block::ONE);
        TweakedHash::leaky_hashes(&[hash; 2], by, [&one, &one], &one, &mut [], &mut [Block::ONE]);
    }

    #[test]
    fn explicit_tweaks_are_the_same_function() {
        let hash = TweakedHash::new(Block(9));
        let mut a = [Block(1), Block(2), Block(3), Block(4)];
        let mut b = a;
        hash.hash(40, 2, &mut a);
        hash.hash_with(&[40, 41], 2, &mut b);
        assert_eq!(a, b);
    }

    #[test]
    #[should_panic(expected = "group")]
    fn refuses_odd_groups() {
        TweakedHash::new(Block(0)).hash(0, 3, &mut [Block(0); 6]);
    }

    #[test]
    #[should_panic(expected = "multiple")]
    fn refuses_part_of_a_group() {
        TweakedHash::new(Block(0)).hash(0, 4, &mut [Block(0); 6]);
    }

    #[test]
    #[should_panic(expected = "tweak")]
    fn refuses_a_missing_tweak() {
        TweakedHash::new(Block(0)).hash_with(&[1], 2, &mut [Block(0); 4]);
    }
}
