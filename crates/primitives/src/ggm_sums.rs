//! Sums of the streams of many generators.
//!
//! The leaves of a punctured tree are 2^k seeds. Correlated OT needs from their streams r_0 …
//! r_{2^k − 1} (AES in counter mode, as in [`Prg`](crate::Prg)) only the k + 1 sums
//!
//! ```text
//! total = ⊕_z r_z        sums[j] = ⊕_{z: bit j of z is 1} r_z
//! ```
//!
//! Computed one by one, these would take k·2^(k−1) + 2^k additions. Instead the leaves are summed
//! as a binary tree: a node is the sum of its two children, and only the right child also enters
//! the sum of its level's bit. That takes two additions per node, 2·(2^k − 1) in all. A node waits
//! only for its sibling, so strips short enough for the L1 cache need room for k nodes.

use std::fmt;

use crate::backend::{LeafCiphers, MAX_LEAF_BITS};
use crate::{Backend, Block};

/// The expanded keys of 2^k leaves. They are wiped on drop.
pub struct Leaves {
    ciphers: LeafCiphers,
    bits: usize,
}

impl fmt::Debug for Leaves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leaves(..)")
    }
}

impl Leaves {
    /// The maximum k.
    pub const MAX_BITS: usize = MAX_LEAF_BITS;

    /// Expands generators with these seeds, leaf 0 first.
    ///
    /// # Panics
    /// If there are not 2^k seeds for a k from 2 to [`Leaves::MAX_BITS`].
    pub fn new(seeds: &[Block]) -> Leaves {
        Leaves::with_backend(Backend::active(), seeds)
    }

    /// As [`Leaves::new`], with a backend of the caller's choice.
    ///
    /// # Panics
    /// As [`Leaves::new`].
    pub fn with_backend(backend: Backend, seeds: &[Block]) -> Leaves {
        let bits = seeds.len().checked_ilog2().unwrap_or(0) as usize;
        assert!(
            seeds.len() == 1 << bits && (2..=Leaves::MAX_BITS).contains(&bits),
            "{} leaves, which is not 2^k for a k from 2 to {}",
            seeds.len(),
            Leaves::MAX_BITS
        );
        Leaves { ciphers: backend.leaf_ciphers(seeds), bits }
    }

    /// Overwrites `total` and `sums` with the sums of the leaves' blocks `first`, `first + 1`, … :
    /// `sums` holds k rows as long as `total`, that of bit 0 first.
    ///
    /// # Panics
    /// If `total` is not whole blocks of 16 bytes, or `sums` is not k times as long.
    pub fn sums(&self, first: u128, total: &mut [u8], sums: &mut [u8]) {
        assert!(total.len().is_multiple_of(16), "{} bytes are not whole blocks", total.len());
        assert_eq!(sums.len(), self.bits * total.len(), "one sum for each of {} bits", self.bits);
        self.ciphers.sums(self.bits, first, total, sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aes128, Prg};

    #[test]
    fn every_backend_agrees_with_the_definition() {
        let mut prg = Prg::from_seed(Block(1));
        // The second number overflows its low half during the run.
        let firsts = [0, u128::from(u64::MAX) - 20, 7 << 70];
        for bits in 2..=Leaves::MAX_BITS {
            let mut seeds = vec![Block::ZERO; 1 << bits];
            prg.fill_blocks(&mut seeds);
            let ciphers: Vec<Aes128> = seeds.iter().map(|&seed| Aes128::new(seed)).collect();
            let lengths = (0..24).chain([31, 32, 33, 39, 40, 41, 64, 75]);
            for (case, blocks) in lengths.enumerate() {
                let first = firsts[case % firsts.len()];
                let mut expected = vec![Block::ZERO; (1 + bits) * blocks];
                for (z, cipher) in ciphers.iter().enumerate() {
                    let mut leaf = vec![Block::ZERO; blocks];
                    cipher.counter_blocks(first, &mut leaf);
                    for (i, &block) in leaf.iter().enumerate() {
                        expected[i] ^= block;
                        for bit in 0..bits {
                            expected[(1 + bit) * blocks + i] ^= block.select(z >> bit & 1 == 1);
                        }
                    }
                }
                for backend in Backend::available() {
                    let leaves = Leaves::with_backend(backend, &seeds);
                    let mut got = vec![1u8; 16 * (1 + bits) * blocks];
                    let (total, sums) = got.split_at_mut(16 * blocks);
                    leaves.sums(first, total, sums);
                    assert_eq!(got, Block::as_bytes(&expected), "{backend:?} {bits} {blocks}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "2^k")]
    fn refuses_other_numbers_of_leaves() {
        Leaves::new(&[Block::ZERO; 12]);
    }

    #[test]
    #[should_panic(expected = "whole blocks")]
    fn refuses_part_of_a_block() {
        Leaves::new(&[Block::ZERO; 4]).sums(0, &mut [0; 17], &mut [0; 34]);
    }

    #[test]
    #[should_panic(expected = "one sum")]
    fn refuses_a_missing_sum() {
        Leaves::new(&[Block::ZERO; 4]).sums(0, &mut [0; 16], &mut [0; 16]);
    }
}
