//! GF(2^128) with VPCLMULQDQ: four products at a time, and one reduction at the end.

use std::arch::x86_64::*;

use super::{XOR3, load, load_bytes, load_tail, load_tail_bytes, store, transpose_lanes};
use crate::Block;
use crate::backend::gf128_kernel::gf128_kernel;
use crate::backend::instructions::instructions;
use crate::backend::x86;

const BLOCKS: usize = 4;

gf128_kernel!("avx512f,avx512bw,vpclmulqdq,pclmulqdq", __m512i);

instructions! {
    "avx512f" zero(): __m512i = _mm512_setzero_si512();
    "avx512f" xor(a, b): __m512i = _mm512_xor_si512(a, b);
    "avx512f" xor3(a, b, c): __m512i = _mm512_ternarylogic_epi64::<XOR3>(a, b, c);
    "avx512f,vpclmulqdq" low_products(a, b): __m512i = _mm512_clmulepi64_epi128::<0x00>(a, b);
    "avx512f,vpclmulqdq" high_products(a, b): __m512i = _mm512_clmulepi64_epi128::<0x11>(a, b);
    "avx512f,vpclmulqdq" high_by_low(a, b): __m512i = _mm512_clmulepi64_epi128::<0x01>(a, b);
    "avx512f" swap_halves(x): __m512i = _mm512_shuffle_epi32::<0b01_00_11_10>(x);
    "avx512f,avx512bw" shift_up(x): __m512i = _mm512_bslli_epi128::<8>(x);
    "avx512f,avx512bw" shift_down(x): __m512i = _mm512_bsrli_epi128::<8>(x);
    "avx512f" polynomial(): __m512i = _mm512_set1_epi64(0x87);
}

impl Sum {
    /// Adds products with four carry-less products each: fewer steps than [`Karatsuba`] if a factor
    /// is used once.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn add_products(&mut self, a: __m512i, b: __m512i) {
        self.low = _mm512_xor_si512(self.low, _mm512_clmulepi64_epi128::<0x00>(a, b));
        self.high = _mm512_xor_si512(self.high, _mm512_clmulepi64_epi128::<0x11>(a, b));
        self.middle = _mm512_ternarylogic_epi64::<XOR3>(
            self.middle,
            _mm512_clmulepi64_epi128::<0x01>(a, b),
            _mm512_clmulepi64_epi128::<0x10>(a, b),
        );
    }
}

/// Returns in lane i the sum of the lanes of register i.
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_sums(xs: [__m512i; 4]) -> __m512i {
    let [a, b, c, d] = transpose_lanes(xs);
    _mm512_xor_si512(_mm512_ternarylogic_epi64::<XOR3>(a, b, c), d)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn xor_lanes(x: __m512i) -> __m128i {
    let halves = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
    _mm_xor_si128(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves))
}

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq,pclmulqdq")]
pub(in super::super) fn inner_product(a: &[Block], b: &[Block]) -> Block {
    if a.len() < 4 {
        return x86::inner_product(a, b);
    }
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sum = Sum::zero();
    for (x, y) in a.iter().zip(b) {
        sum.add_products(load(x), load(y));
    }
    if !a_tail.is_empty() {
        sum.add_products(load_tail(a_tail), load_tail(b_tail));
    }
    sum.reduce()
}

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq,pclmulqdq")]
pub(in super::super) fn words_inner_product(words: &[u64], coeffs: &[Block]) -> Block {
    let ((eights, tail), (coeff_eights, coeff_tail)) =
        (words.as_chunks::<8>(), coeffs.as_chunks::<8>());
    // There is nothing above X^192, because words have no upper halves.
    let zero = _mm512_setzero_si512();
    let (mut low, mut middle) = ([zero; 2], [zero; 2]);
    for (words, coeffs) in eights.iter().zip(coeff_eights) {
        let words = load_bytes(bytemuck::cast_ref(words));
        let [first, second]: &[[Block; 4]; 2] = bytemuck::cast_ref(coeffs);
        let (first, second) = (load(first), load(second));
        // A lane of words belongs to an even coefficient and the next one.
        let even = _mm512_shuffle_i64x2::<0b10_00_10_00>(first, second);
        let odd = _mm512_shuffle_i64x2::<0b11_01_11_01>(first, second);
        low = [
            _mm512_xor_si512(low[0], _mm512_clmulepi64_epi128::<0x00>(words, even)),
            _mm512_xor_si512(low[1], _mm512_clmulepi64_epi128::<0x01>(words, odd)),
        ];
        middle = [
            _mm512_xor_si512(middle[0], _mm512_clmulepi64_epi128::<0x10>(words, even)),
            _mm512_xor_si512(middle[1], _mm512_clmulepi64_epi128::<0x11>(words, odd)),
        ];
    }
    let [low, middle] = [low, middle].map(|[even, odd]| xor_lanes(_mm512_xor_si512(even, odd)));
    x86::reduce(low, middle, _mm_setzero_si128()) ^ x86::words_inner_product(tail, coeff_tail)
}
