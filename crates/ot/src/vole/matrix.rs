//! Bit matrices of any number of columns.

use symbolon_primitives::{Block, gf128, transpose};
use zeroize::{Zeroize, Zeroizing};

use crate::codes::{Code, DIMENSION};
use crate::columns::xor_into;

/// Columns, in groups of 128, the last of which is filled up with zeros. Wiped on drop.
#[derive(Default)]
pub(super) struct Matrix {
    stride: usize,
    bytes: Zeroizing<Vec<u8>>,
}

/// Rows that are transposed at a time.
const ROWS: usize = 512;

impl Matrix {
    /// Room for columns of `stride` bytes. What they hold is left from earlier draws, but for the
    /// zeros after them.
    pub fn reset(&mut self, columns: usize, stride: usize) {
        self.stride = stride;
        self.bytes.resize(columns.next_multiple_of(128) * stride, 0);
        self.bytes[columns * stride..].fill(0);
    }

    /// All columns, one after another, also those that fill up.
    pub fn columns_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The hashes of the first `columns` columns by the first row of coefficients, then by the
    /// next.
    pub fn hash(&self, columns: usize, chi: &[Vec<Block>]) -> Zeroizing<Vec<Block>> {
        let mut out = Zeroizing::new(Vec::with_capacity(chi.len() * columns));
        for chi in chi {
            for first in (0..columns).step_by(128) {
                let mut hashes = [Block::ZERO; 128];
                let group = &self.bytes[first * self.stride..];
                gf128::column_hash(group, self.stride, chi.len(), chi, &mut hashes);
                out.extend_from_slice(&hashes[..(columns - first).min(128)]);
                hashes.zeroize();
            }
        }
        out
    }

    /// The first `n` rows, of `words` words each, one after another.
    pub fn rows(&self, words: usize, n: usize, out: &mut [u64]) {
        let mut group = Zeroizing::new(vec![Block::ZERO; ROWS]);
        for (piece, out) in out.chunks_mut(ROWS * words).enumerate() {
            let rows = out.len() / words;
            debug_assert!(piece * ROWS + rows <= n);
            let whole = &mut group[..rows.next_multiple_of(128)];
            for word in (0..words).step_by(2) {
                let columns = &self.bytes[word * 64 * self.stride + piece * ROWS / 8..];
                transpose::transpose_128(columns, self.stride, whole);
                for (row, block) in out.chunks_exact_mut(words).zip(whole.iter()) {
                    row[word] = block.0 as u64;
                    if let Some(high) = row.get_mut(word + 1) {
                        *high = (block.0 >> 64) as u64;
                    }
                }
            }
        }
    }
}

/// Bytes of columns that are worked on at a time, so that all parity columns' fit a core's cache.
const STRIP: usize = 256;

/// Adds to each parity column the sum of those of the 128 message columns that belong to it.
///
/// Which columns those are is public. Four message columns are taken at a time (the method of the
/// four Russians): their 16 sums are computed once, and each parity column takes one of them.
pub(super) fn add_parity(code: &Code, message: &[u8], parity: &mut [u8], stride: usize) {
    let mut sums = Zeroizing::new([[0u8; STRIP]; 16]);
    for start in (0..stride).step_by(STRIP) {
        let bytes = STRIP.min(stride - start);
        for first in (0..DIMENSION).step_by(4) {
            for value in 1..16usize {
                let lowest = value.trailing_zeros() as usize;
                let rest = value & (value - 1);
                let (known, new) = sums.split_at_mut(value);
                new[0] = known[rest];
                let column = &message[(first + lowest) * stride + start..][..bytes];
                xor_into(&mut new[0][..bytes], column);
            }
            for (parity, bits) in parity.chunks_exact_mut(stride).zip(code.sums()) {
                let value = (bits.0 >> first) as usize & 15;
                if value != 0 {
                    xor_into(&mut parity[start..start + bytes], &sums[value][..bytes]);
                }
            }
        }
    }
}
