//! Sums of products of tags by VPCLMULQDQ, eight tags at a time.

use std::arch::x86_64::*;

use super::gf128::xor_lanes;
use crate::backend::x86;
use crate::mac_hash::{Keys, SelectedSums};

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

/// The sums of products under either set of keys, in the lanes.
#[derive(Clone, Copy)]
struct Sums([__m512i; 2]);

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new() -> Sums {
        Sums([_mm512_setzero_si512(); 2])
    }

    /// Adds the products of pairs of tags side by side.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn add(&mut self, tags: __m512i, keys: [__m512i; 2]) {
        for (sum, keys) in self.0.iter_mut().zip(keys) {
            let keyed = _mm512_xor_si512(tags, keys);
            *sum = _mm512_xor_si512(*sum, _mm512_clmulepi64_epi128::<0x10>(keyed, keyed));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn finish(self) -> [u128; 2] {
        [bytemuck::cast(xor_lanes(self.0[0])), bytemuck::cast(xor_lanes(self.0[1]))]
    }
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(in super::super) fn tag_products(tags: &[u64], Keys(keys): Keys<'_>) -> [u128; 2] {
    let mut sums = Sums::new();
    let (eights, rest) = tags.as_chunks::<8>();
    let [first, second] = keys.map(|keys| keys.split_at(tags.len() - rest.len()));
    let whole = first.0.as_chunks::<8>().0.iter().zip(second.0.as_chunks::<8>().0);
    for (tags, (first, second)) in eights.iter().zip(whole) {
        sums.add(load_words(tags), [load_words(first), load_words(second)]);
    }
    // Zeros beyond the last keys, too: their products are zero.
    sums.add(load_words(rest), [load_words(first.1), load_words(second.1)]);
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

#[target_feature(enable = "avx512f,avx512dq,vpclmulqdq")]
pub(in super::super) fn selected_tag_products(
    tags: SelectedSums<'_>,
    (keys, n): (Keys<'_>, usize),
) -> [[u128; 2]; 2] {
    let whole = n / 64 * 64;
    let mut sums = if tags.is_shared() {
        words::<true, true, true>(tags, keys, n / 64)
    } else {
        // One after the other: with all six rows at once more streams come from memory than it is
        // good at.
        let [own, _] = words::<false, true, false>(tags, keys, n / 64);
        let [_, expected] = words::<false, false, true>(tags, keys, n / 64);
        [own, expected]
    };
    if whole < n {
        let rest = x86::selected_tag_products(tags.from(whole), (keys.from(whole), n - whole));
        let both = sums.as_flattened_mut().iter_mut().zip(rest.as_flattened());
        both.for_each(|(sum, rest)| *sum ^= rest);
    }
    sums
}

/// The products of the tags that belong to this many whole words of bits, of the first list, the
/// second, or both.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,vpclmulqdq")]
fn words<const SHARED: bool, const FIRST: bool, const SECOND: bool>(
    tags: SelectedSums<'_>,
    keys: Keys<'_>,
    n: usize,
) -> [[u128; 2]; 2] {
    let mut sums = [Sums::new(); 2];
    let delta = _mm512_set1_epi64(tags.delta.cast_signed());
    // No closures here: they would be calls.
    let (mut same, mut rows) = ([[delta; 3]; 2], [[&[][..]; 3]; 2]);
    let both = same.as_flattened_mut().iter_mut().zip(rows.as_flattened_mut());
    for ((same, chunks), row) in both.zip(tags.rows.as_flattened()) {
        *same = _mm512_set1_epi64(row[0].cast_signed());
        *chunks = row.as_chunks::<64>().0;
    }
    // Bits by the byte, so that masks are loaded and not shifted.
    let bits = [tags.bits[0], tags.bits[1], tags.flips];
    let mut masks: [&[[u8; 8]]; 3] = [&[]; 3];
    for (masks, words) in masks.iter_mut().zip(bits) {
        *masks = bytemuck::cast_slice(&words[..n]);
    }
    let keys = keys.0[0].as_chunks::<64>().0.iter().zip(keys.0[1].as_chunks::<64>().0);
    let masks = masks[0].iter().zip(masks[1]).zip(masks[2]).zip(keys);
    for (word, (((c, d), flips), (first, second))) in masks.enumerate() {
        for eight in 0..8 {
            let row = |list: usize, row: usize| match SHARED {
                true => same[list][row],
                false => load_eight(&rows[list][row][word], eight),
            };
            let sum = |list: usize| {
                let sum = row(list, 0);
                let sum = _mm512_mask_xor_epi64(sum, c[eight], sum, row(list, 1));
                _mm512_mask_xor_epi64(sum, d[eight], sum, row(list, 2))
            };
            let keys = [load_eight(first, eight), load_eight(second, eight)];
            if FIRST {
                sums[0].add(sum(0), keys);
            }
            if SECOND {
                let sum = sum(1);
                sums[1].add(_mm512_mask_xor_epi64(sum, flips[eight], sum, delta), keys);
            }
        }
    }
    [sums[0].finish(), sums[1].finish()]
}
