//! GF(2^128) with VPCLMULQDQ: two products at a time, and one reduction at the end.

use std::arch::x86_64::*;

use super::{
    load_one, load_pair as load, load_wide as load_bytes, load_words, store_pair as store,
    transpose_lanes,
};
use crate::Block;
use crate::backend::gf128_kernel::gf128_kernel;
use crate::backend::instructions::instructions;
use crate::backend::x86;

const BLOCKS: usize = 2;

gf128_kernel!("avx2,vpclmulqdq,pclmulqdq", __m256i);

/// Loads one block, then zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn load_tail(blocks: &[Block]) -> __m256i {
    load_one(&blocks[0])
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_tail_bytes(bytes: &[u8]) -> __m256i {
    load_one(&Block::from_bytes(*bytes.first_chunk().expect("a block")))
}

instructions! {
    "avx2" zero(): __m256i = _mm256_setzero_si256();
    "avx2" xor(a, b): __m256i = _mm256_xor_si256(a, b);
    "avx2" xor3(a, b, c): __m256i = xor(a, xor(b, c));
    "avx2,vpclmulqdq" low_products(a, b): __m256i = _mm256_clmulepi64_epi128::<0x00>(a, b);
    "avx2,vpclmulqdq" high_products(a, b): __m256i = _mm256_clmulepi64_epi128::<0x11>(a, b);
    "avx2,vpclmulqdq" high_by_low(a, b): __m256i = _mm256_clmulepi64_epi128::<0x01>(a, b);
    "avx2" swap_halves(x): __m256i = _mm256_shuffle_epi32::<0b01_00_11_10>(x);
    "avx2" shift_up(x): __m256i = _mm256_bslli_epi128::<8>(x);
    "avx2" shift_down(x): __m256i = _mm256_bsrli_epi128::<8>(x);
    "avx2" polynomial(): __m256i = _mm256_set1_epi64x(0x87);
}

/// Returns in lane i the sum of the lanes of register i.
#[inline]
#[target_feature(enable = "avx2")]
fn lane_sums(registers: [__m256i; 2]) -> __m256i {
    let [lower, upper] = transpose_lanes(registers);
    _mm256_xor_si256(lower, upper)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn xor_lanes(x: __m256i) -> __m128i {
    _mm_xor_si128(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x))
}

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
pub(in super::super) fn inner_product(a: &[Block], b: &[Block]) -> Block {
    if a.len() < 2 {
        return x86::inner_product(a, b);
    }
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
    let mut sum = Karatsuba::zero();
    for (x, y) in a.iter().zip(b) {
        sum.add(Factor::new(load(x)), Factor::new(load(y)));
    }
    if let ([x], [y]) = (a_tail, b_tail) {
        sum.add(Factor::new(load_one(x)), Factor::new(load_one(y)));
    }
    sum.sum().reduce()
}

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
pub(in super::super) fn words_inner_product(words: &[u64], coeffs: &[Block]) -> Block {
    let ((fours, tail), (coeff_fours, coeff_tail)) =
        (words.as_chunks::<4>(), coeffs.as_chunks::<4>());
    // There is nothing above X^192, because words have no upper halves.
    let zero = _mm256_setzero_si256();
    let (mut low, mut middle) = (zero, zero);
    for (words, coeffs) in fours.iter().zip(coeff_fours) {
        let words = load_words(words);
        let [first, second]: &[[Block; 2]; 2] = bytemuck::cast_ref(coeffs);
        // A lane of words belongs to an even coefficient and the next one.
        let [even, odd] = transpose_lanes([load(first), load(second)]);
        low = _mm256_xor_si256(low, _mm256_clmulepi64_epi128::<0x00>(words, even));
        low = _mm256_xor_si256(low, _mm256_clmulepi64_epi128::<0x01>(words, odd));
        middle = _mm256_xor_si256(middle, _mm256_clmulepi64_epi128::<0x10>(words, even));
        middle = _mm256_xor_si256(middle, _mm256_clmulepi64_epi128::<0x11>(words, odd));
    }
    let sum = Sum { low, middle, high: zero }.reduce();
    sum ^ x86::words_inner_product(tail, coeff_tail)
}
