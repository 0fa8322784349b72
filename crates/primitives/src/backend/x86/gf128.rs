//! GF(2^128) by PCLMULQDQ.

use std::arch::x86_64::*;

use super::{load, load_bytes};
use crate::Block;

/// A sum of products before reduction: low + 2^64·middle + 2^128·high.
#[derive(Clone, Copy)]
struct Sum {
    low: __m128i,
    middle: __m128i,
    high: __m128i,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn zero() -> Sum {
        let zero = _mm_setzero_si128();
        Sum { low: zero, middle: zero, high: zero }
    }

    #[inline]
    #[target_feature(enable = "pclmulqdq,avx2")]
    fn add_product(&mut self, a: __m128i, b: __m128i) {
        self.low = _mm_xor_si128(self.low, _mm_clmulepi64_si128::<0x00>(a, b));
        self.high = _mm_xor_si128(self.high, _mm_clmulepi64_si128::<0x11>(a, b));
        let cross =
            _mm_xor_si128(_mm_clmulepi64_si128::<0x01>(a, b), _mm_clmulepi64_si128::<0x10>(a, b));
        self.middle = _mm_xor_si128(self.middle, cross);
    }

    #[inline]
    #[target_feature(enable = "pclmulqdq,avx2")]
    fn reduce(self) -> Block {
        reduce(self.low, self.middle, self.high)
    }
}

/// The residue of low + 2^64·middle + 2^128·high. What stands above X^128 is multiplied by
/// X^128 = X^7 + X^2 + X + 1, its upper word first, as that spills into the lower one.
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(in super::super) fn reduce(low: __m128i, middle: __m128i, high: __m128i) -> Block {
    let polynomial = _mm_set_epi64x(0, 0x87);
    let low = _mm_xor_si128(low, _mm_slli_si128::<8>(middle));
    let high = _mm_xor_si128(high, _mm_srli_si128::<8>(middle));
    let upper = _mm_clmulepi64_si128::<0x01>(high, polynomial);
    let low = _mm_xor_si128(low, _mm_slli_si128::<8>(upper));
    let high = _mm_xor_si128(high, _mm_srli_si128::<8>(upper));
    let low = _mm_xor_si128(low, _mm_clmulepi64_si128::<0x00>(high, polynomial));
    Block(bytemuck::cast(low))
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(in super::super) fn inner_product(a: &[Block], b: &[Block]) -> Block {
    let mut sum = Sum::zero();
    for (x, y) in a.iter().zip(b) {
        sum.add_product(load(x), load(y));
    }
    sum.reduce()
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(in super::super) fn words_inner_product(words: &[u64], coeffs: &[Block]) -> Block {
    let zero = _mm_setzero_si128();
    let (mut low, mut middle) = (zero, zero);
    for (&word, coeff) in words.iter().zip(coeffs) {
        let (word, coeff) = (_mm_cvtsi64_si128(word as i64), load(coeff));
        low = _mm_xor_si128(low, _mm_clmulepi64_si128::<0x00>(word, coeff));
        middle = _mm_xor_si128(middle, _mm_clmulepi64_si128::<0x10>(word, coeff));
    }
    reduce(low, middle, zero)
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(in super::super) fn column_hash(
    cols: &[u8],
    stride: usize,
    coeffs: &[Block],
    out: &mut [Block; 128],
) {
    for (i, hash) in out.iter_mut().enumerate() {
        let (row, _) = cols[i * stride..][..16 * coeffs.len()].as_chunks::<16>();
        let mut sum = Sum::zero();
        for (block, coeff) in row.iter().zip(coeffs) {
            sum.add_product(load_bytes(block), load(coeff));
        }
        *hash = sum.reduce();
    }
}
