//! GF(2^128) by VPCLMULQDQ: two products at a time, one reduction in the end.

use std::arch::x86_64::*;

use super::{load_one, load_pair, load_wide, load_words, store_pair, transpose_lanes};
use crate::Block;
use crate::backend::x86;

/// In each lane a sum of products before reduction: low + 2^64·middle + 2^128·high.
#[derive(Clone, Copy)]
struct Sum {
    low: __m256i,
    middle: __m256i,
    high: __m256i,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn reduce(self) -> Block {
        x86::reduce(xor_lanes(self.low), xor_lanes(self.middle), xor_lanes(self.high))
    }
}

/// Two factors, and in the low half of each lane of `both` the sum of its halves.
#[derive(Clone, Copy)]
struct Factor {
    halves: __m256i,
    both: __m256i,
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(halves: __m256i) -> Factor {
        let swapped = _mm256_shuffle_epi32::<0b01_00_11_10>(halves);
        Factor { halves, both: _mm256_xor_si256(halves, swapped) }
    }
}

/// A sum of products by Karatsuba's rule, three carry-less ones each: its middle still has low and
/// high in it.
#[derive(Clone, Copy)]
struct Karatsuba(Sum);

impl Karatsuba {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn zero() -> Karatsuba {
        let zero = _mm256_setzero_si256();
        Karatsuba(Sum { low: zero, middle: zero, high: zero })
    }

    #[inline]
    #[target_feature(enable = "avx2,vpclmulqdq")]
    fn add(&mut self, a: Factor, b: Factor) {
        let Karatsuba(sum) = self;
        let low = _mm256_clmulepi64_epi128::<0x00>(a.halves, b.halves);
        let high = _mm256_clmulepi64_epi128::<0x11>(a.halves, b.halves);
        let middle = _mm256_clmulepi64_epi128::<0x00>(a.both, b.both);
        sum.low = _mm256_xor_si256(sum.low, low);
        sum.high = _mm256_xor_si256(sum.high, high);
        sum.middle = _mm256_xor_si256(sum.middle, middle);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum(self) -> Sum {
        let Sum { low, middle, high } = self.0;
        Sum { low, middle: _mm256_xor_si256(_mm256_xor_si256(low, middle), high), high }
    }
}

/// The residues of two sums, one to a lane; the steps are those of the 128-bit kernel.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn reduce_two([a, b]: [Sum; 2]) -> __m256i {
    let low = lane_sums([a.low, b.low]);
    let middle = lane_sums([a.middle, b.middle]);
    let high = lane_sums([a.high, b.high]);
    let polynomial = _mm256_set1_epi64x(0x87);
    let low = _mm256_xor_si256(low, _mm256_bslli_epi128::<8>(middle));
    let high = _mm256_xor_si256(high, _mm256_bsrli_epi128::<8>(middle));
    let upper = _mm256_clmulepi64_epi128::<0x01>(high, polynomial);
    let low = _mm256_xor_si256(low, _mm256_bslli_epi128::<8>(upper));
    let high = _mm256_xor_si256(high, _mm256_bsrli_epi128::<8>(upper));
    _mm256_xor_si256(low, _mm256_clmulepi64_epi128::<0x00>(high, polynomial))
}

/// Lane i of the result is the sum of the lanes of register i.
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
        sum.add(Factor::new(load_pair(x)), Factor::new(load_pair(y)));
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
    // Nothing stands above X^192: words have no upper halves.
    let zero = _mm256_setzero_si256();
    let (mut low, mut middle) = (zero, zero);
    for (words, coeffs) in fours.iter().zip(coeff_fours) {
        let words = load_words(words);
        let [first, second]: &[[Block; 2]; 2] = bytemuck::cast_ref(coeffs);
        // A lane of words belongs to one coefficient of even number and the next one.
        let [even, odd] = transpose_lanes([load_pair(first), load_pair(second)]);
        low = _mm256_xor_si256(low, _mm256_clmulepi64_epi128::<0x00>(words, even));
        low = _mm256_xor_si256(low, _mm256_clmulepi64_epi128::<0x01>(words, odd));
        middle = _mm256_xor_si256(middle, _mm256_clmulepi64_epi128::<0x10>(words, even));
        middle = _mm256_xor_si256(middle, _mm256_clmulepi64_epi128::<0x11>(words, odd));
    }
    let sum = Sum { low, middle, high: zero }.reduce();
    sum ^ x86::words_inner_product(tail, coeff_tail)
}

#[target_feature(enable = "avx2,vpclmulqdq")]
pub(in super::super) fn column_hash(
    cols: &[u8],
    stride: usize,
    coeffs: &[Block],
    out: &mut [Block; 128],
) {
    let (pairs, tail) = coeffs.as_chunks::<2>();
    // Two rows at a time share the loads of the coefficients, and the reduction.
    for (i, hashes) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let (first, second) = (&cols[2 * i * stride..], &cols[(2 * i + 1) * stride..]);
        let rows = [&first[..16 * coeffs.len()], &second[..16 * coeffs.len()]];
        let (first, second) = (rows[0].as_chunks::<32>().0, rows[1].as_chunks::<32>().0);
        let bodies = [&first[..pairs.len()], &second[..pairs.len()]];
        let mut sums = [Karatsuba::zero(); 2];
        for (k, pair) in pairs.iter().enumerate() {
            let coeff = Factor::new(load_pair(pair));
            for (sum, body) in sums.iter_mut().zip(bodies) {
                sum.add(Factor::new(load_wide(&body[k])), coeff);
            }
        }
        if let [coeff] = tail {
            let coeff = Factor::new(load_one(coeff));
            for (row, sum) in rows.iter().zip(&mut sums) {
                let last = row.last_chunk().expect("a row of at least one block");
                sum.add(Factor::new(load_one(&Block::from_bytes(*last))), coeff);
            }
        }
        let [a, b] = sums;
        store_pair(hashes, reduce_two([a.sum(), b.sum()]));
    }
}
