//! GF(2^128) and carry-less products with PMULL.

use std::arch::aarch64::*;

use super::{load, load_bytes};
use crate::Block;
use crate::backend::portable::select_tags;
use crate::selected_sums::{Keys, SelectedSums};

/// Multiplies the lower halves.
#[inline]
#[target_feature(enable = "aes,neon")]
fn low_product(a: poly64x2_t, b: poly64x2_t) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_p64(vgetq_lane_p64::<0>(a), vgetq_lane_p64::<0>(b)))
}

/// Multiplies the upper halves.
#[inline]
#[target_feature(enable = "aes,neon")]
fn high_product(a: poly64x2_t, b: poly64x2_t) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_high_p64(a, b))
}

/// A factor; the low half of `both` holds the sum of its halves.
#[derive(Clone, Copy)]
struct Factor {
    halves: poly64x2_t,
    both: poly64x2_t,
}

impl Factor {
    #[inline]
    #[target_feature(enable = "aes,neon")]
    fn new(halves: uint8x16_t) -> Factor {
        let both = veorq_u8(halves, vextq_u8::<8>(halves, halves));
        Factor { halves: vreinterpretq_p64_u8(halves), both: vreinterpretq_p64_u8(both) }
    }
}

/// A sum of products before reduction by Karatsuba's rule, with three carry-less products each:
/// low + 2^64·(low + middle + high) + 2^128·high.
#[derive(Clone, Copy)]
struct Sum {
    low: uint8x16_t,
    middle: uint8x16_t,
    high: uint8x16_t,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "neon")]
    fn zero() -> Sum {
        let zero = vdupq_n_u8(0);
        Sum { low: zero, middle: zero, high: zero }
    }

    #[inline]
    #[target_feature(enable = "aes,neon")]
    fn add_product(&mut self, a: Factor, b: Factor) {
        self.low = veorq_u8(self.low, low_product(a.halves, b.halves));
        self.high = veorq_u8(self.high, high_product(a.halves, b.halves));
        self.middle = veorq_u8(self.middle, low_product(a.both, b.both));
    }

    #[inline]
    #[target_feature(enable = "aes,neon")]
    fn reduce(self) -> Block {
        let middle = veorq_u8(veorq_u8(self.low, self.middle), self.high);
        reduce(self.low, middle, self.high)
    }
}

/// Reduces low + 2^64·middle + 2^128·high. The part above X^128 is multiplied by X^128 = X^7 +
/// X^2 + X + 1, its upper word first, because that one overflows into the lower one.
#[inline]
#[target_feature(enable = "aes,neon")]
fn reduce(low: uint8x16_t, middle: uint8x16_t, high: uint8x16_t) -> Block {
    let zero = vdupq_n_u8(0);
    let polynomial = vdupq_n_p64(0x87);
    let low = veorq_u8(low, vextq_u8::<8>(zero, middle));
    let high = veorq_u8(high, vextq_u8::<8>(middle, zero));
    let upper = high_product(vreinterpretq_p64_u8(high), polynomial);
    let low = veorq_u8(low, vextq_u8::<8>(zero, upper));
    let high = veorq_u8(high, vextq_u8::<8>(upper, zero));
    let low = veorq_u8(low, low_product(vreinterpretq_p64_u8(high), polynomial));
    Block(vreinterpretq_p128_u8(low))
}

#[target_feature(enable = "aes,neon")]
pub(in super::super) fn inner_product(a: &[Block], b: &[Block]) -> Block {
    let mut sum = Sum::zero();
    for (x, y) in a.iter().zip(b) {
        sum.add_product(Factor::new(load(x)), Factor::new(load(y)));
    }
    sum.reduce()
}

#[target_feature(enable = "aes,neon")]
pub(in super::super) fn words_inner_product(words: &[u64], coeffs: &[Block]) -> Block {
    let zero = vdupq_n_u8(0);
    let (mut low, mut middle) = (zero, zero);
    for (&word, coeff) in words.iter().zip(coeffs) {
        let (word, coeff) = (vdupq_n_p64(word), vreinterpretq_p64_u8(load(coeff)));
        low = veorq_u8(low, low_product(word, coeff));
        middle = veorq_u8(middle, high_product(word, coeff));
    }
    reduce(low, middle, zero)
}

#[target_feature(enable = "aes,neon")]
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

#[target_feature(enable = "aes,neon")]
pub(in super::super) fn carryless_products(
    words: &[u64],
    factor: u64,
    low: &mut [u64],
    high: &mut [u64],
) {
    for (&word, (low, high)) in words.iter().zip(low.iter_mut().zip(high)) {
        let product = vmull_p64(word, factor);
        (*low, *high) = (product as u64, (product >> 64) as u64);
    }
}

#[target_feature(enable = "aes,neon")]
pub(in super::super) fn tag_products(tags: &[u64], Keys(keys): Keys<'_>) -> [u128; 2] {
    let mut sums = [0; 2];
    for (sum, keys) in sums.iter_mut().zip(keys) {
        for (tags, &[first, second]) in tags.chunks(2).zip(keys.as_chunks().0) {
            let next = tags.get(1).copied().unwrap_or_default();
            *sum ^= vmull_p64(tags[0] ^ first, next ^ second);
        }
    }
    sums
}

/// The number of tags selected at a time: whole words of bits, whose data stay in the L1 cache.
const PIECE: usize = 512;

#[target_feature(enable = "aes,neon")]
pub(in super::super) fn selected_tag_products(
    tags: SelectedSums<'_>,
    (keys, n): (Keys<'_>, usize),
) -> [[u128; 2]; 2] {
    let mut words = zeroize::Zeroizing::new([0; PIECE]);
    let mut products = [[0; 2]; 2];
    for (list, products) in products.iter_mut().enumerate() {
        for start in (0..n).step_by(PIECE) {
            let words = &mut words[..PIECE.min(n - start)];
            select_tags(tags, list, start, words);
            let more = tag_products(words, keys.from(start));
            products.iter_mut().zip(more).for_each(|(sum, more)| *sum ^= more);
        }
    }
    products
}
