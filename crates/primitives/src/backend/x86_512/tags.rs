//! Sums of products of tags by VPCLMULQDQ, eight tags at a time.

use std::arch::x86_64::*;

use super::{XOR3, gf128::xor_lanes};
use crate::backend::x86;
use crate::tags::{Powers, Selected};

/// Up to eight words, then zeros.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_words(words: &[u64]) -> __m512i {
    let mask = match words.len() {
        8.. => u8::MAX,
        n => (1 << n) - 1,
    };
    // SAFETY: the mask selects words within the slice alone; others are not accessed.
    unsafe { _mm512_maskz_loadu_epi64(mask, words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,vpclmulqdq,pclmulqdq")]
pub(in super::super) fn carryless_products(
    words: &[u64],
    factor: u64,
    low: &mut [u64],
    high: &mut [u64],
) {
    let (eights, rest) = words.as_chunks::<8>();
    let whole = words.len() - rest.len();
    let factors = _mm512_set1_epi64(factor.cast_signed());
    let out = low.as_chunks_mut::<8>().0.iter_mut().zip(high.as_chunks_mut::<8>().0);
    for (words, (low, high)) in eights.iter().zip(out) {
        let words = load_words(words);
        let even = _mm512_clmulepi64_epi128::<0x00>(words, factors);
        let odd = _mm512_clmulepi64_epi128::<0x01>(words, factors);
        store_words(low, _mm512_unpacklo_epi64(even, odd));
        store_words(high, _mm512_unpackhi_epi64(even, odd));
    }
    x86::carryless_products(rest, factor, &mut low[whole..], &mut high[whole..]);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_words(words: &mut [u64; 8], value: __m512i) {
    // SAFETY: the reference is valid for 64 bytes, and the store wants no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value) }
}

/// Σ tag·low and Σ tag·high, in the lanes.
struct Sums([__m512i; 2]);

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn add(&mut self, tags: __m512i, powers: [__m512i; 2]) {
        for (sum, powers) in self.0.iter_mut().zip(powers) {
            *sum = _mm512_ternarylogic_epi64::<XOR3>(
                *sum,
                _mm512_clmulepi64_epi128::<0x00>(tags, powers),
                _mm512_clmulepi64_epi128::<0x11>(tags, powers),
            );
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn finish(self) -> [u128; 2] {
        self.0.map(|sum| bytemuck::cast(xor_lanes(sum)))
    }
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(in super::super) fn tag_products(tags: &[u64], powers: Powers<'_>) -> [u128; 2] {
    let mut sums = Sums([_mm512_setzero_si512(); 2]);
    let powers = powers.low.chunks(8).zip(powers.high.chunks(8));
    for (tags, (low, high)) in tags.chunks(8).zip(powers) {
        sums.add(load_words(tags), [load_words(low), load_words(high)]);
    }
    sums.finish()
}

/// Words 8·`eight` to 8·`eight` + 7.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_eight(words: &[u64; 64], eight: usize) -> __m512i {
    let words: &[u64; 8] = &words.as_chunks().0[eight];
    // SAFETY: the reference is valid for 64 bytes, and the load wants no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(in super::super) fn selected_tag_products(tags: Selected<'_>, powers: Powers<'_>) -> [u128; 2] {
    let n = powers.low.len();
    let whole = n / 64 * 64;
    let sums =
        if tags.is_shared() { words::<true>(tags, powers) } else { words::<false>(tags, powers) };
    if whole == n {
        return sums;
    }
    let powers = Powers { low: &powers.low[whole..], high: &powers.high[whole..] };
    let rest = x86::selected_tag_products(tags.part(whole, n - whole), powers);
    [sums[0] ^ rest[0], sums[1] ^ rest[1]]
}

/// The products of the tags that belong to whole words of bits.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn words<const SHARED: bool>(tags: Selected<'_>, powers: Powers<'_>) -> [u128; 2] {
    let mut sums = Sums([_mm512_setzero_si512(); 2]);
    let delta = _mm512_set1_epi64(tags.delta.cast_signed());
    let same = tags.rows.map(|row| [row[0]; 64]);
    let rows = tags.rows.map(|row| row.as_chunks::<64>().0);
    let powers = powers.low.as_chunks::<64>().0.iter().zip(powers.high.as_chunks::<64>().0);
    for (word, (low, high)) in powers.enumerate() {
        let [row, first, second] =
            if SHARED { same.each_ref() } else { rows.map(|row| &row[word]) };
        let (c, d, flips) = (tags.bits[0][word], tags.bits[1][word], tags.flips[word]);
        for eight in 0..8 {
            let mask = |bits: u64| (bits >> (8 * eight)) as u8;
            let mut sum = load_eight(row, eight);
            sum = _mm512_mask_xor_epi64(sum, mask(c), sum, load_eight(first, eight));
            sum = _mm512_mask_xor_epi64(sum, mask(d), sum, load_eight(second, eight));
            sum = _mm512_mask_xor_epi64(sum, mask(flips), sum, delta);
            sums.add(sum, [load_eight(low, eight), load_eight(high, eight)]);
        }
    }
    sums.finish()
}
