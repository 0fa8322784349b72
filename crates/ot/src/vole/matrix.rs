//! Bit matrices of any number of columns.

use symbolon_primitives::block_xor::xor_blocks;
use symbolon_primitives::{Block, gf128, transpose};
use zeroize::{Zeroize, Zeroizing};

use crate::codes::{Code, DIMENSION};
use crate::columns::transposed;

/// Columns in groups of 128; the last group is padded with zeros. Wiped on drop.
#[derive(Default)]
pub(super) struct Matrix {
    stride: usize,
    blocks: Zeroizing<Vec<Block>>,
}

/// Rows that are transposed at a time.
const ROWS: usize = 512;

impl Matrix {
    /// Makes room for columns of `stride` bytes, whole blocks. The columns still have the contents
    /// of earlier draws, but the padding is zero.
    pub fn reset(&mut self, columns: usize, stride: usize) {
        debug_assert!(stride.is_multiple_of(size_of::<Block>()));
        let blocks = stride / size_of::<Block>();
        self.stride = stride;
        self.blocks.resize(columns.next_multiple_of(128) * blocks, Block::ZERO);
        self.blocks[columns * blocks..].fill(Block::ZERO);
    }

    /// Returns all columns, one after another, including the padding.
    pub fn columns_mut(&mut self) -> &mut [u8] {
        Block::as_bytes_mut(&mut self.blocks)
    }

    /// Returns all columns as blocks.
    pub fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.blocks
    }

    fn columns(&self) -> &[u8] {
        Block::as_bytes(&self.blocks)
    }

    /// Returns the hashes of the first `columns` columns under the first row of coefficients, then
    /// under the next.
    pub fn hash(&self, columns: usize, chi: &[Vec<Block>]) -> Zeroizing<Vec<Block>> {
        let mut out = Zeroizing::new(Vec::with_capacity(chi.len() * columns));
        for chi in chi {
            for first in (0..columns).step_by(128) {
                let mut hashes = [Block::ZERO; 128];
                let group = &self.columns()[first * self.stride..];
                gf128::column_hash(group, self.stride, chi.len(), chi, &mut hashes);
                out.extend_from_slice(&hashes[..(columns - first).min(128)]);
                hashes.zeroize();
            }
        }
        out
    }

    /// Writes the first rows of the first 128 columns to `out`.
    pub fn strings(&self, out: &mut [Block]) {
        transposed(self.columns(), self.stride, out);
    }

    /// Writes the first `n` rows to `out`, `words` words each, one after another.
    pub fn rows(&self, words: usize, n: usize, out: &mut [u64]) {
        let groups = words.div_ceil(2);
        let mut room = Zeroizing::new(vec![Block::ZERO; groups * ROWS]);
        for (piece, out) in out.chunks_mut(ROWS * words).enumerate() {
            let rows = out.len() / words;
            debug_assert!(piece * ROWS + rows <= n);
            for (group, place) in room.chunks_exact_mut(ROWS).enumerate() {
                let columns = &self.columns()[group * 128 * self.stride + piece * ROWS / 8..];
                let place = &mut place[..rows.next_multiple_of(128)];
                transpose::transpose_128(columns, self.stride, place);
            }
            match words {
                // The row lengths of the default parameters at ρ = 40, 64 and 80.
                7 => join(out.as_chunks_mut::<7>().0, &room),
                8 => join(out.as_chunks_mut::<8>().0, &room),
                9 => join(out.as_chunks_mut::<9>().0, &room),
                _ => out.chunks_exact_mut(words).enumerate().for_each(|(i, row)| {
                    let blocks = room[i..].iter().step_by(ROWS);
                    row.chunks_mut(2).zip(blocks).for_each(|(pair, block)| put(pair, *block));
                }),
            }
        }
    }
}

/// Joins rows of a fixed length from their pairs of words, with [`ROWS`] blocks for each pair.
fn join<const WORDS: usize>(rows: &mut [[u64; WORDS]], pairs: &[Block]) {
    let pairs = pairs.as_chunks::<ROWS>().0;
    for (i, row) in rows.iter_mut().enumerate() {
        row.chunks_mut(2).zip(pairs).for_each(|(words, pair)| put(words, pair[i]));
    }
}

/// Writes a block to one or two words of a row.
#[inline]
fn put(words: &mut [u64], block: Block) {
    words[0] = block.0 as u64;
    if let Some(high) = words.get_mut(1) {
        *high = (block.0 >> 64) as u64;
    }
}

/// How many blocks of each column are worked on at a time, so that those of all parity columns fit
/// a core's cache.
const STRIP: usize = 32;

/// Adds to each parity column the sum of the message columns, out of 128, that belong to it.
/// Columns have `stride` blocks.
///
/// Which columns belong to it is public. Four message columns are taken at a time (the method of
/// the four Russians): their 16 sums are computed once, and each parity column takes one of them.
pub(super) fn add_parity(code: &Code, message: &[Block], parity: &mut [Block], stride: usize) {
    let mut sums = Zeroizing::new([[Block::ZERO; STRIP]; 16]);
    for start in (0..stride).step_by(STRIP) {
        let blocks = STRIP.min(stride - start);
        for first in (0..DIMENSION).step_by(4) {
            for value in 1..16usize {
                let lowest = value.trailing_zeros() as usize;
                let rest = value & (value - 1);
                let (known, new) = sums.split_at_mut(value);
                new[0] = known[rest];
                let column = &message[(first + lowest) * stride + start..][..blocks];
                xor_blocks(&mut new[0][..blocks], column);
            }
            for (parity, bits) in parity.chunks_exact_mut(stride).zip(code.sums()) {
                let value = (bits.0 >> first) as usize & 15;
                if value != 0 {
                    xor_blocks(&mut parity[start..start + blocks], &sums[value][..blocks]);
                }
            }
        }
    }
}
