//! A polynomial hash of short tags, some of which are sums that public bits select.
//!
//! It is [`PolyHash`](crate::PolyHash) of the tags as blocks whose upper half is zero, for half the products; and
//! the sums are formed on the way, so that what they are selected from is read once.

use std::fmt;

use zeroize::Zeroize;

use crate::{Backend, Block, gf128};

/// How many powers of χ are kept: this many products share one reduction. Whole words of bits.
pub(crate) const POWERS: usize = 1024;

/// Tags of which each is a sum: tag k is `rows[0][k]`, ⊕ `rows[1][k]` where bit k of `bits[0]` is set, ⊕ `rows[2][k]`
/// where bit k of `bits[1]` is, ⊕ `delta` where bit k of `flips` is.
///
/// Bit k is bit k % 64 of word k / 64. Rows of one tag stand for as many as there are.
#[derive(Clone, Copy)]
pub struct Selected<'a> {
    /// What is selected from.
    pub rows: [&'a [u64]; 3],
    /// What selects the second and the third row.
    pub bits: [&'a [u64]; 2],
    /// What selects `delta`.
    pub flips: &'a [u64],
    /// A tag of its own.
    pub delta: u64,
}

impl fmt::Debug for Selected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Selected(..)")
    }
}

impl<'a> Selected<'a> {
    /// Whether a row stands for many tags.
    pub(crate) fn is_shared(&self) -> bool {
        self.rows[0].len() == 1
    }

    /// The same from tag `start` on, which begins a word of bits, for `n` tags.
    pub(crate) fn part(self, start: usize, n: usize) -> Selected<'a> {
        let row = |row: &'a [u64]| if row.len() == 1 { row } else { &row[start..start + n] };
        let words = |words: &'a [u64]| &words[start / 64..(start + n).div_ceil(64)];
        Selected {
            rows: self.rows.map(row),
            bits: self.bits.map(words),
            flips: words(self.flips),
            delta: self.delta,
        }
    }

    fn check(&self, n: usize) {
        let long = self.rows[0].len();
        assert!(
            (long == 1 || long == n) && self.rows.iter().all(|row| row.len() == long),
            "rows of one tag, or of {n}"
        );
        let words = n.div_ceil(64);
        assert!(
            self.bits.iter().chain([&self.flips]).all(|bits| bits.len() >= words),
            "bits for {n} tags"
        );
    }
}

/// The powers of χ in the halves that tags are multiplied with.
#[derive(Clone, Copy)]
pub(crate) struct Powers<'a> {
    pub low: &'a [u64],
    pub high: &'a [u64],
}

/// Σ t_k·χ^k in GF(2^128), k from 1, of 64-bit tags that arrive in pieces.
pub struct TagHash {
    backend: Backend,
    low: Vec<u64>,
    high: Vec<u64>,
    /// The last of them.
    step: Block,
    /// How many products the unreduced sums hold.
    at: usize,
    /// Σ t_k·low and Σ t_k·high.
    sums: [u128; 2],
    /// χ to the number of tags before these.
    scale: Block,
    sum: Block,
}

impl fmt::Debug for TagHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TagHash(..)")
    }
}

impl Drop for TagHash {
    fn drop(&mut self) {
        self.sums.zeroize();
        self.sum.zeroize();
    }
}

impl TagHash {
    /// The hash at the point χ.
    pub fn new(chi: Block) -> TagHash {
        TagHash::with_backend(Backend::active(), chi)
    }

    /// The same with these instructions.
    pub fn with_backend(backend: Backend, chi: Block) -> TagHash {
        let mut powers = vec![chi; POWERS];
        for i in 1..POWERS {
            // χ^(i+1) from two halves: a shorter chain than one factor at a time.
            powers[i] = gf128::mul(powers[i / 2], powers[(i - 1) / 2]);
        }
        TagHash {
            backend,
            low: powers.iter().map(|power| power.0 as u64).collect(),
            high: powers.iter().map(|power| (power.0 >> 64) as u64).collect(),
            step: powers[POWERS - 1],
            at: 0,
            sums: [0; 2],
            scale: Block::ONE,
            sum: Block::ZERO,
        }
    }

    /// Adds tags.
    pub fn update(&mut self, mut tags: &[u64]) {
        while !tags.is_empty() {
            let (now, rest) = tags.split_at(tags.len().min(POWERS - self.at));
            let sums = self.backend.tag_products(now, self.powers(now.len()));
            self.add(sums, now.len());
            tags = rest;
        }
    }

    /// Adds `n` tags that are sums.
    ///
    /// # Panics
    /// If a row has neither one nor `n` tags, or there are fewer bits; if the number of tags before these is no multiple
    /// of 64.
    pub fn update_selected(&mut self, tags: Selected<'_>, n: usize) {
        tags.check(n);
        assert!(self.at.is_multiple_of(64), "sums come in whole words");
        let mut start = 0;
        while start < n {
            let now = (n - start).min(POWERS - self.at);
            let sums = self.backend.selected_tag_products(tags.part(start, now), self.powers(now));
            self.add(sums, now);
            start += now;
        }
    }

    fn powers(&self, n: usize) -> Powers<'_> {
        let range = self.at..self.at + n;
        Powers { low: &self.low[range.clone()], high: &self.high[range] }
    }

    fn add(&mut self, sums: [u128; 2], n: usize) {
        self.sums[0] ^= sums[0];
        self.sums[1] ^= sums[1];
        self.at += n;
        if self.at == POWERS {
            self.reduce();
        }
    }

    fn reduce(&mut self) {
        let [low, high] = self.sums.map(Block);
        self.sum ^= gf128::mul(self.scale, low ^ times_x64(high));
        self.scale = gf128::mul(self.scale, self.step);
        (self.sums, self.at) = ([0; 2], 0);
    }

    /// The hash of all tags added.
    pub fn finish(mut self) -> Block {
        self.reduce();
        self.sum
    }
}

/// The products of polynomials of degree below 64 with `factor`, unreduced: the low words of all, then the high ones.
///
/// # Panics
/// If there is not room for exactly two words each.
pub fn carryless_products(words: &[u64], factor: u64, out: &mut [u64]) {
    assert_eq!(out.len(), 2 * words.len(), "two words for each product");
    let (low, high) = out.split_at_mut(words.len());
    Backend::active().carryless_products(words, factor, low, high);
}

/// The product with X^64: what is pushed over the edge comes back times X^7 + X^2 + X + 1.
fn times_x64(Block(x): Block) -> Block {
    let over = x >> 64;
    Block(x << 64 ^ over ^ over << 1 ^ over << 2 ^ over << 7)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{PolyHash, Prg};

    fn words(n: usize, prg: &mut Prg) -> Vec<u64> {
        (0..n).map(|_| prg.u64()).collect()
    }

    fn bit(bits: &[u64], k: usize) -> u64 {
        (bits[k / 64] >> (k % 64) & 1).wrapping_neg()
    }

    proptest! {
        #[test]
        fn every_backend_multiplies_alike(
            words in prop::collection::vec(any::<u64>(), 0..40),
            factor: u64,
        ) {
            let n = words.len();
            for backend in Backend::available() {
                let (mut low, mut high) = (vec![1; n], vec![1; n]);
                backend.carryless_products(&words, factor, &mut low, &mut high);
                for k in 0..n {
                    let product = gf128::mul(Block(words[k].into()), Block(factor.into()));
                    prop_assert_eq!(product.0, u128::from(high[k]) << 64 | u128::from(low[k]));
                }
            }
        }

        #[test]
        fn every_backend_hashes_as_blocks_are_hashed(
            lengths in prop::collection::vec(0usize..2400, 1..4),
            tail in 0usize..700,
            shared: bool,
            seed: u128,
        ) {
            let prg = &mut Prg::from_seed(Block(seed));
            let chi = prg.block();
            let mut reference = PolyHash::new(chi);
            let mut hashes: Vec<TagHash> =
                Backend::available().into_iter().map(|b| TagHash::with_backend(b, chi)).collect();
            let last = lengths.len() - 1;
            for (i, n) in lengths.into_iter().enumerate() {
                // Whole words, but for the last piece.
                let n = if i == last { n } else { n / 64 * 64 };
                let rows = [(); 3].map(|()| words(if shared { 1 } else { n }, prg));
                let bits = [(); 3].map(|()| words(n.div_ceil(64), prg));
                let delta = prg.u64();
                let tags = Selected {
                    rows: rows.each_ref().map(|row| &row[..]),
                    bits: [&bits[0], &bits[1]],
                    flips: &bits[2],
                    delta,
                };
                let at = |row: &[u64], k: usize| row[if shared { 0 } else { k }];
                let sums = (0..n).map(|k| {
                    let [p, v, u] = rows.each_ref().map(|row| at(row, k));
                    let sum = p ^ v & bit(&bits[0], k) ^ u & bit(&bits[1], k);
                    Block((sum ^ delta & bit(&bits[2], k)).into())
                });
                reference.update(&sums.collect::<Vec<_>>());
                hashes.iter_mut().for_each(|hash| hash.update_selected(tags, n));
            }
            let tags = words(tail, prg);
            reference.update(&tags.iter().map(|&tag| Block(tag.into())).collect::<Vec<_>>());
            let expected = reference.finish();
            for mut hash in hashes {
                hash.update(&tags);
                prop_assert_eq!(hash.finish(), expected);
            }
        }
    }
}
