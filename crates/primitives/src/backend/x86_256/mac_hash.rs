//! Sums of products of tags with VPCLMULQDQ, four tags at a time.
//!
//! Unsafe: loads of a part of a register | the mask comes from the slice's length

use std::arch::x86_64::*;

use super::gf128::xor_lanes;
use super::{load_words as load, store_words as store};
use crate::backend::instructions::instructions;
use crate::backend::mac_kernel::mac_kernel;
use crate::backend::x86::{self, next_quad_mask, spread as broadcast};
use crate::selected_sums::{Keys, SelectedSums};

const WORDS: usize = 4;

mac_kernel!("avx2,vpclmulqdq,pclmulqdq", __m256i);

/// Loads up to three words, then zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn load_tail(words: &[u64]) -> __m256i {
    let places = _mm256_set_epi64x(3, 2, 1, 0);
    let mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(words.len() as i64), places);
    // SAFETY: the mask selects words within the slice alone; others are not accessed.
    unsafe { _mm256_maskload_epi64(words.as_ptr().cast(), mask) }
}

instructions! {
    "avx2" zero(): __m256i = _mm256_setzero_si256();
    "avx2" xor(a, b): __m256i = _mm256_xor_si256(a, b);
    "avx2,vpclmulqdq" even_products(a, b): __m256i = _mm256_clmulepi64_epi128::<0x00>(a, b);
    "avx2,vpclmulqdq" odd_products(a, b): __m256i = _mm256_clmulepi64_epi128::<0x01>(a, b);
    "avx2,vpclmulqdq" multiply_halves(a): __m256i = _mm256_clmulepi64_epi128::<0x10>(a, a);
    "avx2" low_words(a, b): __m256i = _mm256_unpacklo_epi64(a, b);
    "avx2" high_words(a, b): __m256i = _mm256_unpackhi_epi64(a, b);
}

/// Returns the products of the tags that belong to this many whole words of bits.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
fn selected_words(tags: SelectedSums<'_>, keys: Keys<'_>, n: usize) -> [[u128; 2]; 2] {
    if tags.is_shared() {
        [list_words::<true>(tags, 0, keys, n), list_words::<true>(tags, 1, keys, n)]
    } else {
        [list_words::<false>(tags, 0, keys, n), list_words::<false>(tags, 1, keys, n)]
    }
}

/// Returns the same for one list's tags.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
fn list_words<const SHARED: bool>(
    tags: SelectedSums<'_>,
    list: usize,
    keys: Keys<'_>,
    n: usize,
) -> [u128; 2] {
    let mut sums = Sums::new();
    let delta = broadcast(if list == 0 { 0 } else { tags.delta });
    // Closures here would not be inlined.
    let (mut same, mut rows) = ([delta; 3], [&[][..]; 3]);
    for ((same, chunks), row) in same.iter_mut().zip(&mut rows).zip(tags.rows[list]) {
        *same = broadcast(row[0]);
        *chunks = row.as_chunks::<64>().0;
    }
    let keys = [keys.0[0].as_chunks::<64>().0, keys.0[1].as_chunks::<64>().0];
    for word in 0..n {
        let (mut c, mut d) = (broadcast(tags.bits[0][word]), broadcast(tags.bits[1][word]));
        let mut flips = broadcast(tags.flips[word]);
        for four in 0..16 {
            let row = |row: usize| match SHARED {
                true => same[row],
                false => load_four(&rows[row][word], four),
            };
            let first = _mm256_and_si256(row(1), next_quad_mask(&mut c));
            let second = _mm256_and_si256(row(2), next_quad_mask(&mut d));
            let flip = _mm256_and_si256(delta, next_quad_mask(&mut flips));
            let sum = _mm256_xor_si256(_mm256_xor_si256(row(0), first), second);
            let keys = [load_four(&keys[0][word], four), load_four(&keys[1][word], four)];
            sums.add(_mm256_xor_si256(sum, flip), keys);
        }
    }
    sums.finish()
}

/// Loads words 4·`four` to 4·`four` + 3.
#[inline]
#[target_feature(enable = "avx2")]
fn load_four(words: &[u64; 64], four: usize) -> __m256i {
    load(&words.as_chunks().0[four])
}
