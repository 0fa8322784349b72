//! Rows of MACs and keys, two per register.

use std::arch::x86_64::*;

use super::select::{next_pair_mask, spread};
use super::{load_pair as load, store_pair as store, transpose_lanes as in_turns};
use crate::Block;
use crate::backend::instructions::instructions;
use crate::backend::portable;
use crate::backend::rows_kernel::rows_kernel;

const BLOCKS: usize = 2;

rows_kernel!("avx2", __m256i);

instructions! {
    "avx2" xor(a, b): __m256i = _mm256_xor_si256(a, b);
    "avx2" xor3(a, b, c): __m256i = xor(a, xor(b, c));
}

/// The bits from which masks are made, the lowest two first.
struct Masks(__m256i);

impl Masks {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(word: u64) -> Masks {
        Masks(spread(word))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn xor_next(&mut self, x: [__m256i; 2], y: [__m256i; 2]) -> [__m256i; 2] {
        let mask = next_pair_mask(&mut self.0);
        [xor(x[0], _mm256_and_si256(mask, y[0])), xor(x[1], _mm256_and_si256(mask, y[1]))]
    }
}
