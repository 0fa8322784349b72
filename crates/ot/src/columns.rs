//! What generators do with the columns of a draw's matrix.

use symbolon_primitives::{Block, transpose};

/// The first `out.len()` rows of a matrix of 128 columns, each of `stride` bytes.
///
/// Whole groups of 128 rows go straight to `out`: a copy would be one more pass over memory.
pub(crate) fn transposed(columns: &[u8], stride: usize, out: &mut [Block]) {
    let (whole, rest) = out.split_at_mut(out.len() / 128 * 128);
    transpose::transpose_128(columns, stride, whole);
    if !rest.is_empty() {
        let mut last = [Block::ZERO; 128];
        transpose::transpose_128(&columns[whole.len() / 8..], stride, &mut last);
        rest.copy_from_slice(&last[..rest.len()]);
        zeroize::Zeroize::zeroize(&mut last);
    }
}

/// Adds one column to another.
pub(crate) fn xor_into(into: &mut [u8], other: &[u8]) {
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b;
    }
}

/// Adds a column if `bit`, without a branch.
pub(crate) fn xor_if(into: &mut [u8], other: &[u8], bit: bool) {
    let mask = 0u8.wrapping_sub(u8::from(bit));
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b & mask;
    }
}
