//! The columns of a draw's matrix, and what is done with them.

use symbolon_primitives::{Block, gf128, mask64, transpose};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Columns of the matrix: the bits of Δ.
pub const COLUMNS: usize = 128;

/// Memory for the columns of one draw at a time; wiped when dropped.
#[derive(Default, ZeroizeOnDrop)]
pub struct Columns {
    stride: usize,
    bytes: Vec<u8>,
}

impl Columns {
    /// Returns memory for columns of `stride` bytes, side by side. It still has the contents of
    /// earlier draws.
    pub(crate) fn reset(&mut self, stride: usize) -> &mut [u8] {
        self.stride = stride;
        self.bytes.resize(COLUMNS * stride, 0);
        &mut self.bytes
    }

    /// Returns the columns, in the stride that was set last.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.bytes.chunks_exact_mut(self.stride)
    }

    /// Returns the hash of every column: t̃ or q̃ of [`cot`](crate::cot).
    pub fn hash(&self, chi: &[Block]) -> [Block; COLUMNS] {
        let mut hashes = [Block::ZERO; COLUMNS];
        gf128::column_hash(&self.bytes, self.stride, chi.len(), chi, &mut hashes);
        hashes
    }

    /// Writes the first `out.len()` rows to `out`: MACs or keys.
    pub fn rows(&self, out: &mut [Block]) {
        transposed(&self.bytes, self.stride, out);
    }
}

/// Memory for one correction at a time, and for its intermediate values.
#[derive(Default)]
pub struct Correction {
    pub(crate) u: Vec<u8>,
    /// Receives a tree's total, which is useless without the missing leaf.
    pub(crate) total: Zeroizing<Vec<u8>>,
}

/// Memory for one draw at a time, between two parties.
#[derive(Default)]
pub struct Workspace {
    pub(crate) columns: Columns,
    pub(crate) correction: Correction,
}

/// Writes the first `out.len()` rows of a matrix of 128 columns, each of `stride` bytes, to `out`.
///
/// Whole groups of 128 rows go straight to `out`: a copy would be one more pass over memory.
pub(crate) fn transposed(columns: &[u8], stride: usize, out: &mut [Block]) {
    let (whole, rest) = out.split_at_mut(out.len() / 128 * 128);
    transpose::transpose_128(columns, stride, whole);
    if !rest.is_empty() {
        let mut last = [Block::ZERO; 128];
        transpose::transpose_128(&columns[whole.len() / 8..], stride, &mut last);
        rest.copy_from_slice(&last[..rest.len()]);
        last.zeroize();
    }
}

/// XORs one column into another.
pub(crate) fn xor_into(into: &mut [u8], other: &[u8]) {
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b;
    }
}

/// XORs `other` into a column if `bit`, without a branch.
pub(crate) fn xor_if(into: &mut [u8], other: &[u8], bit: bool) {
    let mask = mask64(bit) as u8;
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b & mask;
    }
}
