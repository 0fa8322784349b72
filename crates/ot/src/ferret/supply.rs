//! What an expansion is made of, and its outputs, tree by tree.

use std::collections::VecDeque;

use symbolon_primitives::{Block, Delta, HugeBuf, gf128, transpose_128};
use symbolon_transport::{Error, Result};
use zeroize::{Zeroize, Zeroizing};

use super::code::LocalCode;
use super::params::{CHECK_COTS, LpnParams};
use super::trees::{Leaves, TreeExpander};
use crate::columns::{COLUMNS, Columns};

/// The correlated OTs that an expansion starts from.
pub(super) struct Reserve {
    /// Keys or MACs.
    pub blocks: Zeroizing<Vec<Block>>,
    /// The receiver's bits, one in a byte; zeros at the sender.
    pub bits: Zeroizing<Vec<u8>>,
}

impl Reserve {
    pub fn new(params: LpnParams) -> Self {
        let base = params.base();
        Reserve {
            blocks: Zeroizing::new(vec![Block::ZERO; base]),
            bits: Zeroizing::new(vec![0; base]),
        }
    }
}

/// One side's trees.
pub(super) trait Trees {
    /// Whether this side has the bits.
    const BITS: bool;

    /// Grows a tree.
    fn grow(&self, expander: &TreeExpander, tree: usize, leaves: &mut Leaves);
}

/// The trees of the side that knows all leaves.
pub(super) struct SenderTrees {
    pub delta: Delta,
    /// The left node of each tree's level 1.
    pub roots: Zeroizing<Vec<Block>>,
}

impl SenderTrees {
    /// Returns the sums of all levels of all trees, each hidden by its key.
    pub fn sums(&self, expander: &TreeExpander, keys: &[Block], params: LpnParams) -> Vec<Block> {
        let mut leaves = Leaves::new(params.leaves());
        let mut sums = keys.to_vec();
        for (tree, sums) in sums.chunks_exact_mut(params.height).enumerate() {
            let root = self.roots[tree];
            expander.grow(tree, *self.delta, root, &mut leaves.blocks, |level, sum| {
                sums[level] ^= sum;
            });
        }
        sums
    }
}

impl Trees for SenderTrees {
    const BITS: bool = false;

    fn grow(&self, expander: &TreeExpander, tree: usize, leaves: &mut Leaves) {
        expander.grow(tree, *self.delta, self.roots[tree], &mut leaves.blocks, |_, _| ());
    }
}

/// The trees of the side that knows all leaves but one.
pub(super) struct ReceiverTrees {
    /// For each level of each tree, the sum of the children that are not on α's side.
    pub sums: Zeroizing<Vec<Block>>,
    /// The bits of each tree's α, one in a byte.
    pub alphas: Zeroizing<Vec<u8>>,
}

impl Trees for ReceiverTrees {
    const BITS: bool = true;

    fn grow(&self, expander: &TreeExpander, tree: usize, leaves: &mut Leaves) {
        let height = expander.height();
        let levels = tree * height..(tree + 1) * height;
        let (alpha, sums) = (&self.alphas[levels.clone()], &self.sums[levels]);
        expander.grow_punctured(tree, alpha, sums, leaves);
    }
}

/// One expansion.
pub(super) struct Supply<T> {
    params: LpnParams,
    expander: TreeExpander,
    code: LocalCode,
    /// On large pages: places are read at random.
    table: HugeBuf<Block>,
    table_bits: Zeroizing<Vec<u64>>,
    check: Reserve,
    trees: T,
    next: usize,
}

impl<T: Trees> Supply<T> {
    /// Starts from the public starts of the trees and of the matrix. `trees` gets the keys or MACs
    /// for the trees' levels, and their bits.
    pub fn new(
        params: LpnParams,
        [trees_start, matrix]: [Block; 2],
        reserve: Reserve,
        trees: impl FnOnce(&TreeExpander, &[Block], &[u8]) -> T,
    ) -> Self {
        let expander = TreeExpander::new(trees_start, params.height);
        let (secret, rest) = reserve.blocks.split_at(params.secret);
        let mut table = HugeBuf::zeroed(params.secret);
        table.copy_from_slice(secret);
        let (bits, rest_bits) = reserve.bits.split_at(params.secret);
        let at = params.trees * params.height;
        let trees = trees(&expander, &rest[..at], &rest_bits[..at]);
        let word = |bits: &[u8]| bits.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit));
        Supply {
            params,
            expander,
            code: LocalCode::new(matrix, params.secret),
            table,
            table_bits: Zeroizing::new(bits.chunks(64).map(word).collect()),
            check: Reserve {
                blocks: Zeroizing::new(rest[at..].to_vec()),
                bits: Zeroizing::new(rest_bits[at..].to_vec()),
            },
            trees,
            next: 0,
        }
    }

    pub fn params(&self) -> LpnParams {
        self.params
    }

    /// Returns the keys or MACs of the check.
    pub fn check_blocks(&self) -> &[Block] {
        &self.check.blocks
    }

    /// Returns x*, the bits of the check.
    pub fn check_bits(&self) -> Block {
        debug_assert_eq!(self.check.bits.len(), CHECK_COTS);
        Block(self.check.bits.iter().rev().fold(0, |all, bit| all << 1 | u128::from(*bit)))
    }

    /// Returns Σ ρ_j·χ_y·(leaf y of tree j), and φ = Σ ρ_j·χ_{α_j}, which is 0 at the sender.
    pub fn hash(&self, chi: &[Block], rho: &[Block]) -> (Block, Block) {
        let mut leaves = Leaves::new(self.params.leaves());
        let (mut sum, mut phi) = (Block::ZERO, Block::ZERO);
        for (tree, rho) in rho.iter().enumerate() {
            self.trees.grow(&self.expander, tree, &mut leaves);
            sum ^= gf128::mul(*rho, gf128::inner_product(&leaves.blocks, chi));
            let at = leaves.path.iter().zip(chi).fold(Block::ZERO, |at, (p, c)| at ^ (*p & *c));
            phi ^= gf128::mul(*rho, at);
        }
        (sum, phi)
    }

    fn remaining(&self) -> usize {
        (self.params.trees - self.next) * self.params.leaves()
    }

    /// Computes the outputs of the next tree.
    fn outputs(&mut self, leaves: &mut Leaves, bits: &mut [u8]) {
        let first = self.next * self.params.leaves();
        self.trees.grow(&self.expander, self.next, leaves);
        self.next += 1;
        if T::BITS {
            for (bit, path) in bits.iter_mut().zip(leaves.path.iter()) {
                *bit = path.lsb().into();
            }
            let table = (&self.table[..], &self.table_bits[..]);
            self.code.add_with_bits(first, table, (&mut leaves.blocks, bits));
        } else {
            self.code.add(first, &self.table, &mut leaves.blocks);
        }
    }
}

#[cfg(test)]
impl Supply<ReceiverTrees> {
    /// Returns the number of a tree's leaf α.
    pub fn alpha(&self, tree: usize) -> usize {
        let bits = &self.trees.alphas[tree * self.params.height..][..self.params.height];
        bits.iter().rev().fold(0, |alpha, bit| alpha << 1 | usize::from(*bit))
    }
}

/// Groups of 128 rows that are transposed at a time: together they fill lines of the cache.
const GROUPS: usize = 4;

/// The outputs of expansions that nothing has used, each of which is used once.
pub(super) struct Stock<T> {
    supplies: VecDeque<Supply<T>>,
    leaves: Leaves,
    bits: Zeroizing<Vec<u8>>,
    /// The used outputs of the current tree.
    used: usize,
}

impl<T: Trees> Stock<T> {
    pub fn new() -> Self {
        Stock {
            supplies: VecDeque::new(),
            leaves: Leaves::new(0),
            bits: Zeroizing::default(),
            used: 0,
        }
    }

    /// Returns the number of outputs.
    pub fn total(&self) -> usize {
        let current = self.bits.len() - self.used;
        current + self.supplies.iter().map(Supply::remaining).sum::<usize>()
    }

    /// Adds an expansion whose check has passed.
    pub fn add(&mut self, supply: Supply<T>) {
        self.supplies.push_back(supply);
    }

    /// Uses outputs as the base of an expansion.
    ///
    /// # Errors
    /// `Internal` if there are too few.
    pub fn reserve(&mut self, params: LpnParams) -> Result<Reserve> {
        let mut reserve = Reserve::new(params);
        let Reserve { blocks, bits } = &mut reserve;
        self.rows(self.total(), blocks, bits)?;
        Ok(reserve)
    }

    /// Uses outputs as they are: keys or MACs, and bits, one in a byte, if this side has them.
    ///
    /// # Errors
    /// `Internal` if that are more than `most`.
    pub fn rows(&mut self, most: usize, blocks: &mut [Block], bits: &mut [u8]) -> Result<()> {
        if most < blocks.len() {
            return Err(Error::internal("silent OT has too few outputs"));
        }
        self.take(blocks, bits);
        Ok(())
    }

    /// Uses outputs as the 128 columns of a draw, of `stride` bytes each. The caller knows that
    /// there are enough.
    /// Calls `each` with the first row and the bits of each group of 128.
    pub fn columns(
        &mut self,
        stride: usize,
        columns: &mut Columns,
        mut each: impl FnMut(usize, &[u8]),
    ) {
        let bytes = columns.reset(stride);
        let mut rows = Zeroizing::new([[Block::ZERO; 128]; GROUPS]);
        let mut bits = Zeroizing::new([0; 128]);
        for at in (0..stride).step_by(16 * GROUPS) {
            let groups = GROUPS.min((stride - at) / 16);
            for (group, rows) in rows.iter_mut().take(groups).enumerate() {
                self.take(rows, &mut *bits);
                each(8 * at + 128 * group, &*bits);
                let mut turned = [Block::ZERO; 128];
                transpose_128(Block::as_bytes(rows), 16, &mut turned);
                *rows = turned;
                turned.zeroize();
            }
            for column in 0..COLUMNS {
                let out = &mut bytes[column * stride + at..][..16 * groups];
                for (out, rows) in out.chunks_exact_mut(16).zip(rows.iter()) {
                    out.copy_from_slice(&rows[column].to_bytes());
                }
            }
        }
    }

    fn take(&mut self, out: &mut [Block], out_bits: &mut [u8]) {
        let mut filled = 0;
        while filled < out.len() {
            if self.used == self.bits.len() {
                self.next_tree();
            }
            let count = (out.len() - filled).min(self.bits.len() - self.used);
            let from = self.used..self.used + count;
            out[filled..][..count].copy_from_slice(&self.leaves.blocks[from.clone()]);
            out_bits[filled..][..count].copy_from_slice(&self.bits[from]);
            (filled, self.used) = (filled + count, self.used + count);
        }
    }

    /// Computes the outputs of the next tree, when those of the current one are used.
    fn next_tree(&mut self) {
        let supply = self.supplies.front_mut().expect("the caller asked how many there are");
        let size = supply.params.leaves();
        if self.bits.len() != size {
            self.leaves = Leaves::new(size);
            self.bits = Zeroizing::new(vec![0; size]);
        }
        supply.outputs(&mut self.leaves, &mut self.bits);
        self.used = 0;
        if supply.remaining() == 0 {
            self.supplies.pop_front();
        }
    }
}
