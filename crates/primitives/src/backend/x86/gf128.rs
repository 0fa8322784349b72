//! GF(2^128) with PCLMULQDQ.

use std::arch::x86_64::*;

use super::{load, load_bytes};
use crate::Block;

/// A factor; the low half of `both` holds the sum of its halves.
#[derive(Clone, Copy)]
struct Factor {
    halves: __m128i,
    both: __m128i,
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(halves: __m128i) -> Factor {
        let swapped = _mm_shuffle_epi32::<0b01_00_11_10>(halves);
        Factor { halves, both: _mm_xor_si128(halves, swapped) }
    }
}

/// A sum of products before reduction by Karatsuba's rule, with three carry-less products each:
/// low + 2^64·(low + middle + high) + 2^128·high.
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
    fn add_product(&mut self, a: Factor, b: Factor) {
        self.low = _mm_xor_si128(self.low, _mm_clmulepi64_si128::<0x00>(a.halves, b.halves));
        self.high = _mm_xor_si128(self.high, _mm_clmulepi64_si128::<0x11>(a.halves, b.halves));
        self.middle = _mm_xor_si128(self.middle, _mm_clmulepi64_si128::<0x00>(a.both, b.both));
    }

    #[inline]
    #[target_feature(enable = "pclmulqdq,avx2")]
    fn reduce(self) -> Block {
        let middle = _mm_xor_si128(_mm_xor_si128(self.low, self.middle), self.high);
        reduce(self.low, middle, self.high)
    }
}

/// Reduces low + 2^64·middle + 2^128·high. The part above X^128 is multiplied by X^128 = X^7 +
/// X^2 + X + 1, its upper word first, because that one overflows into the lower one.
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
        sum.add_product(Factor::new(load(x)), Factor::new(load(y)));
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
    // Two rows at a time share the loads of the coefficients.
    for (i, hashes) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let (first, second) = (&cols[2 * i * stride..], &cols[(2 * i + 1) * stride..]);
        let (first, second) = (first.as_chunks::<16>().0, second.as_chunks::<16>().0);
        let rows = [&first[..coeffs.len()], &second[..coeffs.len()]];
        let mut sums = [Sum::zero(); 2];
        for (k, coeff) in coeffs.iter().enumerate() {
            let coeff = Factor::new(load(coeff));
            for (sum, row) in sums.iter_mut().zip(rows) {
                sum.add_product(Factor::new(load_bytes(&row[k])), coeff);
            }
        }
        for (hash, sum) in hashes.iter_mut().zip(sums) {
            *hash = sum.reduce();
        }
    }
}
