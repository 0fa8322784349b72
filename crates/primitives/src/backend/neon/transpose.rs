//! Transposition of bits: off-diagonal squares are swapped, from side 64 down to 1, as in the
//! portable version.

use std::arch::aarch64::*;

use super::{load, load_bytes, store};
use crate::Block;

#[target_feature(enable = "neon")]
pub(in super::super) fn transpose_128(cols: &[u8], stride: usize, out: &mut [Block]) {
    for (t, square) in out.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        for (i, pair) in (0..64).map(|i| (i, i + 64)) {
            let row = |i: usize| cols[i * stride + 16 * t..].first_chunk().expect("a row");
            let (a, b) = (vreinterpretq_u64_u8(load_bytes(row(i))), load_bytes(row(pair)));
            let b = vreinterpretq_u64_u8(b);
            store(&mut square[i], vreinterpretq_u8_u64(vtrn1q_u64(a, b)));
            store(&mut square[pair], vreinterpretq_u8_u64(vtrn2q_u64(a, b)));
        }
        swap_squares::<32>(square, 0x0000_0000_ffff_ffff);
        swap_squares::<16>(square, 0x0000_ffff_0000_ffff);
        swap_squares::<8>(square, 0x00ff_00ff_00ff_00ff);
        swap_squares::<4>(square, 0x0f0f_0f0f_0f0f_0f0f);
        swap_squares::<2>(square, 0x3333_3333_3333_3333);
        swap_squares::<1>(square, 0x5555_5555_5555_5555);
    }
}

/// Swaps squares of side `SIDE`. `mask` has the bits whose position has the bit `SIDE` clear.
#[inline]
#[target_feature(enable = "neon")]
fn swap_squares<const SIDE: i32>(square: &mut [Block; 128], mask: u64) {
    let mask = vdupq_n_u64(mask);
    for first in (0..128).step_by(2 * SIDE as usize) {
        let (uppers, lowers) = square[first..first + 2 * SIDE as usize].split_at_mut(SIDE as usize);
        for (upper, lower) in uppers.iter_mut().zip(lowers) {
            let (a, b) = (vreinterpretq_u64_u8(load(upper)), vreinterpretq_u64_u8(load(lower)));
            let differ = vandq_u64(veorq_u64(vshrq_n_u64::<SIDE>(a), b), mask);
            store(upper, vreinterpretq_u8_u64(veorq_u64(a, vshlq_n_u64::<SIDE>(differ))));
            store(lower, vreinterpretq_u8_u64(veorq_u64(b, differ)));
        }
    }
}
