//! Rows of MACs and keys, four per register.

use std::arch::x86_64::*;

use super::hash::in_order as in_turns;
use super::select::{quad_mask, quad_masks};
use super::{XOR3, load, store};
use crate::Block;
use crate::backend::instructions::instructions;
use crate::backend::portable;
use crate::backend::rows_kernel::rows_kernel;

const BLOCKS: usize = 4;

rows_kernel!("avx512f,bmi2", __m512i);

instructions! {
    "avx512f" xor(a, b): __m512i = _mm512_xor_si512(a, b);
    "avx512f" xor3(a, b, c): __m512i = _mm512_ternarylogic_epi64::<XOR3>(a, b, c);
}

/// The masks of a word's bits, and the index of the next four blocks.
struct Masks([u64; 2], usize);

impl Masks {
    #[inline]
    #[target_feature(enable = "avx512f,bmi2")]
    fn new(word: u64) -> Masks {
        Masks(quad_masks(word), 0)
    }

    #[inline]
    #[target_feature(enable = "avx512f,bmi2")]
    fn xor_next(&mut self, x: [__m512i; 2], y: [__m512i; 2]) -> [__m512i; 2] {
        let mask = quad_mask(self.0, self.1);
        self.1 += 1;
        [
            _mm512_mask_xor_epi64(x[0], mask, x[0], y[0]),
            _mm512_mask_xor_epi64(x[1], mask, x[1], y[1]),
        ]
    }
}
