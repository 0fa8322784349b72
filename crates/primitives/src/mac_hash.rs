//! A hash of short tags, some of which are sums that public bits select.
//!
//! Tags are taken in pairs, in blocks of 1 024. A pair (s, t) at a position with the keys (k, l)
//! gives (s ⊕ k)·(t ⊕ l) in GF(2^64). The sums of these products under two independent sets of keys
//! form a block of 128 bits. The blocks are the coefficients of a polynomial, which is evaluated at
//! a random point of GF(2^128). This takes one 64-bit product per tag, half of what a polynomial in
//! the tags themselves takes. For two given different lists of tags, each at most B blocks long,
//! the hashes agree with probability (B + 1)·2^-128.

use std::fmt;

use zeroize::ZeroizeOnDrop;

use crate::selected_sums::Keys;
use crate::{Backend, Block, HugeBuf, Prg, SelectedSums, gf128};

/// The number of tags with separate keys: this many products share one reduction. It is a multiple
/// of the bits in a word.
pub(crate) const KEYED: usize = 1024;

/// The hashes of some lists of 64-bit tags that arrive in pieces, which are equally long for all
/// lists.
///
/// A piece of an odd number of tags counts as if a zero followed.
#[derive(ZeroizeOnDrop)]
pub struct UniversalMacHash<const LISTS: usize> {
    #[zeroize(skip)]
    backend: Backend,
    /// The keys of the first set, then those of the second.
    keys: HugeBuf<u64>,
    /// The point at which the blocks' polynomial is evaluated.
    point: Block,
    /// The number of positions in the unreduced sums.
    at: usize,
    /// By list: the sums of products under both sets of keys.
    sums: [[u128; 2]; LISTS],
    /// The point to the power of the number of earlier blocks.
    scale: Block,
    hashes: [Block; LISTS],
}

impl<const LISTS: usize> fmt::Debug for UniversalMacHash<LISTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UniversalMacHash(..)")
    }
}

impl<const LISTS: usize> UniversalMacHash<LISTS> {
    /// Creates the hash whose keys and point are drawn from `prg`.
    pub fn new(prg: &mut Prg) -> Self {
        Self::with_backend(Backend::active(), prg)
    }

    /// Creates the hash with this backend.
    pub fn with_backend(backend: Backend, prg: &mut Prg) -> Self {
        let mut keys = HugeBuf::zeroed(2 * KEYED);
        prg.fill(bytemuck::cast_slice_mut(&mut keys));
        UniversalMacHash {
            backend,
            keys,
            point: prg.block(),
            at: 0,
            sums: [[0; 2]; LISTS],
            scale: Block::ONE,
            hashes: [Block::ZERO; LISTS],
        }
    }

    /// Adds a piece of each list.
    ///
    /// # Panics
    /// If the pieces are not equally long.
    pub fn update(&mut self, tags: [&[u64]; LISTS]) {
        let n = tags.first().map_or(0, |tags| tags.len());
        assert!(tags.iter().all(|tags| tags.len() == n), "pieces of different lengths");
        let mut start = 0;
        while start < n {
            let now = (n - start).min(KEYED - self.at);
            let sums =
                tags.map(|tags| self.backend.tag_products(&tags[start..][..now], self.keys(now)));
            self.add(sums, now);
            start += now;
        }
    }

    fn keys(&self, n: usize) -> Keys<'_> {
        let (first, second) = self.keys.split_at(KEYED);
        Keys([first, second].map(|keys| &keys[self.at..][..n.next_multiple_of(2)]))
    }

    fn add(&mut self, sums: [[u128; 2]; LISTS], n: usize) {
        let both = self.sums.as_flattened_mut().iter_mut().zip(sums.as_flattened());
        both.for_each(|(sum, products)| *sum ^= products);
        self.at += n.next_multiple_of(2);
        if self.at == KEYED {
            self.reduce();
        }
    }

    fn reduce(&mut self) {
        for (hash, sums) in self.hashes.iter_mut().zip(&mut self.sums) {
            let [first, second] = sums.map(|sum| u128::from(reduced(sum)));
            *hash ^= gf128::mul(self.scale, Block(second << 64 | first));
            *sums = [0; 2];
        }
        self.scale = gf128::mul(self.scale, self.point);
        self.at = 0;
    }

    /// Returns the hashes of all tags added.
    pub fn finish(mut self) -> [Block; LISTS] {
        self.reduce();
        self.hashes
    }
}

impl UniversalMacHash<2> {
    /// Adds a piece of `n` tags that are sums to each of the two lists.
    ///
    /// # Panics
    /// If a row has neither one nor `n` tags, or there are fewer bits; if the number of earlier
    /// tags is not a multiple of 64.
    pub fn update_selected(&mut self, tags: SelectedSums<'_>, n: usize) {
        tags.check(n);
        assert!(self.at.is_multiple_of(64), "sums come in whole words");
        let mut start = 0;
        while start < n {
            let now = (n - start).min(KEYED - self.at);
            let sums = self.backend.selected_tag_products(tags.from(start), (self.keys(now), now));
            self.add(sums, now);
            start += now;
        }
    }
}

/// Reduces a polynomial of degree below 128 modulo X^64 + X^4 + X^3 + X + 1.
pub(crate) fn reduced(sum: u128) -> u64 {
    let (low, high) = (sum as u64, (sum >> 64) as u64);
    // This reduces twice: the first step overflows by up to four bits.
    let over = high ^ high >> 60 ^ high >> 61 ^ high >> 63;
    low ^ over ^ over << 1 ^ over << 3 ^ over << 4
}

/// Computes the products of polynomials of degree below 64 with `factor`, unreduced: the low words
/// of all, then the high ones.
///
/// # Panics
/// If there is not room for exactly two words per product.
pub fn carryless_products(words: &[u64], factor: u64, out: &mut [u64]) {
    Backend::active().carryless_products(words, factor, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(n: usize, prg: &mut Prg) -> Vec<u64> {
        (0..n).map(|_| prg.u64()).collect()
    }

    fn bit(bits: &[u64], k: usize) -> u64 {
        (bits[k / 64] >> (k % 64) & 1).wrapping_neg()
    }

    /// Multiplies in GF(2^64), from the highest bit down.
    fn times(a: u64, b: u64) -> u64 {
        (0..64).rev().fold(0, |sum, i| {
            let shifted = sum << 1 ^ if sum >> 63 == 1 { 0x1b } else { 0 };
            if a >> i & 1 == 1 { shifted ^ b } else { shifted }
        })
    }

    /// Returns the hash by definition, of tags including the zeros that fill up pieces.
    fn reference(tags: &[u64], seed: Block) -> Block {
        let prg = &mut Prg::from_seed(seed);
        let mut bytes = [0; 16 * KEYED];
        prg.fill(&mut bytes);
        let keys: Vec<u64> =
            bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let (point, mut scale, mut hash) = (prg.block(), Block::ONE, Block::ZERO);
        for block in tags.chunks(KEYED) {
            let row = |keys: &[u64]| {
                let pairs = block.chunks(2).zip(keys.chunks(2));
                u128::from(pairs.fold(0, |sum, (tags, keys)| {
                    let second = tags.get(1).copied().unwrap_or(0);
                    sum ^ times(tags[0] ^ keys[0], second ^ keys[1])
                }))
            };
            let sums = Block(row(&keys[..KEYED]) | row(&keys[KEYED..]) << 64);
            hash ^= gf128::mul(scale, sums);
            scale = gf128::mul(scale, point);
        }
        hash
    }

    proptest! {
        #[test]
        fn every_backend_multiplies_alike(
            words in prop::collection::vec(any::<u64>(), 0..40),
            factor: u64,
        ) {
            let n = words.len();
            for backend in Backend::available() {
                let mut out = vec![1; 2 * n];
                backend.carryless_products(&words, factor, &mut out);
                let (low, high) = out.split_at(n);
                for k in 0..n {
                    let product = gf128::mul(Block(words[k].into()), Block(factor.into()));
                    prop_assert_eq!(product.0, u128::from(high[k]) << 64 | u128::from(low[k]));
                    prop_assert_eq!(reduced(product.0), times(words[k], factor));
                }
            }
        }

        #[test]
        fn reduction_is_division(sum: u128) {
            // With and without the highest bit, which no product of two words has.
            for sum in [sum, sum | 1 << 127, sum >> 1] {
                let mut rest = sum;
                for high in (64..128).rev() {
                    // X^64 + X^4 + X^3 + X + 1, shifted so that it cancels this bit.
                    rest ^= (rest >> high & 1) * ((1 << 64 | 0b11011) << (high - 64));
                }
                prop_assert_eq!(u128::from(reduced(sum)), rest);
            }
        }

        #[test]
        fn every_backend_hashes_as_it_is_written_down(
            lengths in prop::collection::vec(0usize..2400, 1..4),
            tails in prop::collection::vec(0usize..700, 2),
            shared: bool,
            seed: u128,
        ) {
            let prg = &mut Prg::from_seed(Block(seed));
            let seed = prg.block();
            let mut all = [Vec::new(), Vec::new()];
            let mut hashes: Vec<UniversalMacHash<2>> = Backend::available()
                .into_iter()
                .map(|backend| UniversalMacHash::with_backend(backend, &mut Prg::from_seed(seed)))
                .collect();
            let last = lengths.len() - 1;
            for (i, n) in lengths.into_iter().enumerate() {
                // Whole words, except in the last piece.
                let n = if i == last { n } else { n / 64 * 64 };
                let rows = [(); 2].map(|()| [(); 3].map(|()| words(if shared { 1 } else { n }, prg)));
                let bits = [(); 3].map(|()| words(n.div_ceil(64), prg));
                let delta = prg.u64();
                let tags = SelectedSums {
                    rows: rows.each_ref().map(|rows| rows.each_ref().map(|row| &row[..])),
                    bits: [&bits[0], &bits[1]],
                    flips: &bits[2],
                    delta,
                };
                for ((list, rows), delta) in all.iter_mut().zip(&rows).zip([0, delta]) {
                    let [p, v, u] = rows.each_ref();
                    list.extend((0..n).map(|k| {
                        let at = if shared { 0 } else { k };
                        let sum = p[at] ^ v[at] & bit(&bits[0], k) ^ u[at] & bit(&bits[1], k);
                        sum ^ delta & bit(&bits[2], k)
                    }));
                }
                hashes.iter_mut().for_each(|hash| hash.update_selected(tags, n));
            }
            for n in tails {
                let tags = [(); 2].map(|()| words(n, prg));
                for (list, tags) in all.iter_mut().zip(&tags) {
                    list.resize(list.len().next_multiple_of(2), 0);
                    list.extend(tags);
                }
                let tags = tags.each_ref().map(|tags| &tags[..]);
                hashes.iter_mut().for_each(|hash| hash.update(tags));
            }
            let expected = all.map(|list| reference(&list, seed));
            for hash in hashes {
                prop_assert_eq!(hash.finish(), expected);
            }
        }
    }
}
