//! Sums of products of tags with VPCLMULQDQ, eight tags at a time.
//!
//! Unsafe: loads of a part of a register | the mask comes from the slice's length

use std::arch::x86_64::*;

use super::gf128::xor_lanes;
use super::{load_words as load, store_words as store};
use crate::backend::instructions::instructions;
use crate::backend::mac_kernel::mac_kernel;
use crate::backend::x86;
use crate::selected_sums::{Keys, SelectedSums};

const WORDS: usize = 8;

mac_kernel!("avx512f,avx512dq,vpclmulqdq,pclmulqdq", __m512i);

/// Loads up to seven words, then zeros.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_tail(words: &[u64]) -> __m512i {
    let mask = ((1u16 << words.len().min(8)) - 1) as u8;
    // SAFETY: the mask selects words within the slice alone; others are not accessed.
    unsafe { _mm512_maskz_loadu_epi64(mask, words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}

instructions! {
    "avx512f" zero(): __m512i = _mm512_setzero_si512();
    "avx512f" xor(a, b): __m512i = _mm512_xor_si512(a, b);
    "avx512f,vpclmulqdq" even_products(a, b): __m512i = _mm512_clmulepi64_epi128::<0x00>(a, b);
    "avx512f,vpclmulqdq" odd_products(a, b): __m512i = _mm512_clmulepi64_epi128::<0x01>(a, b);
    "avx512f,vpclmulqdq" multiply_halves(a): __m512i = _mm512_clmulepi64_epi128::<0x10>(a, a);
    "avx512f" low_words(a, b): __m512i = _mm512_unpacklo_epi64(a, b);
    "avx512f" high_words(a, b): __m512i = _mm512_unpackhi_epi64(a, b);
}

/// Returns the products of the tags that belong to this many whole words of bits.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,vpclmulqdq,pclmulqdq")]
fn selected_words(tags: SelectedSums<'_>, keys: Keys<'_>, n: usize) -> [[u128; 2]; 2] {
    if tags.is_shared() {
        return list_words::<true, true, true>(tags, keys, n);
    }
    // The lists are processed one after the other: all six rows at once would be too many streams
    // for the memory system.
    let [own, _] = list_words::<false, true, false>(tags, keys, n);
    let [_, expected] = list_words::<false, false, true>(tags, keys, n);
    [own, expected]
}

/// Returns the same for the tags of the first list, the second, or both.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,vpclmulqdq,pclmulqdq")]
fn list_words<const SHARED: bool, const FIRST: bool, const SECOND: bool>(
    tags: SelectedSums<'_>,
    keys: Keys<'_>,
    n: usize,
) -> [[u128; 2]; 2] {
    let mut sums = [Sums::new(); 2];
    let delta = _mm512_set1_epi64(tags.delta.cast_signed());
    // Closures here would not be inlined.
    let (mut same, mut rows) = ([[delta; 3]; 2], [[&[][..]; 3]; 2]);
    let both = same.as_flattened_mut().iter_mut().zip(rows.as_flattened_mut());
    for ((same, chunks), row) in both.zip(tags.rows.as_flattened()) {
        *same = _mm512_set1_epi64(row[0].cast_signed());
        *chunks = row.as_chunks::<64>().0;
    }
    // Bits are taken by the byte, so that masks are loaded rather than shifted.
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

/// Loads words 8·`eight` to 8·`eight` + 7.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_eight(words: &[u64; 64], eight: usize) -> __m512i {
    load(&words.as_chunks().0[eight])
}
