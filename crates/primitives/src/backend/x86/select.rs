//! Additions selected by bits: a register of masks for two blocks.

use std::arch::x86_64::*;

use super::{broadcast, load, load_pair, load_words, store, store_pair, store_words};
use crate::Block;
use crate::backend::portable;

/// Returns a word of bits in each lane, from which masks are made.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn spread(word: u64) -> __m256i {
    _mm256_set1_epi64x(word.cast_signed())
}

/// Returns all ones in each lane whose bit is set, according to the lowest two bits; `bits` moves
/// on to the next two.
///
/// This compares registers rather than making a mask from one bit, so that the compiler cannot turn
/// it into a branch.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn next_pair_mask(bits: &mut __m256i) -> __m256i {
    let places = _mm256_set_epi64x(2, 2, 1, 1);
    let mask = _mm256_cmpeq_epi64(_mm256_and_si256(*bits, places), places);
    *bits = _mm256_srli_epi64::<2>(*bits);
    mask
}

/// Returns the same for four words.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn next_quad_mask(bits: &mut __m256i) -> __m256i {
    let places = _mm256_set_epi64x(8, 4, 2, 1);
    let mask = _mm256_cmpeq_epi64(_mm256_and_si256(*bits, places), places);
    *bits = _mm256_srli_epi64::<4>(*bits);
    mask
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn xor_masked(out: &mut [Block], words: &[u64], values: &[Block]) {
    for ((&word, out), values) in words.iter().zip(out.chunks_mut(64)).zip(values.chunks(64)) {
        let mut bits = spread(word);
        let (pairs, tail) = out.as_chunks_mut::<2>();
        let (value_pairs, value_tail) = values.as_chunks::<2>();
        for (out, value) in pairs.iter_mut().zip(value_pairs) {
            let value = _mm256_and_si256(load_pair(value), next_pair_mask(&mut bits));
            store_pair(out, _mm256_xor_si256(load_pair(out), value));
        }
        if let ([out], [value]) = (tail, value_tail) {
            let mask = _mm256_castsi256_si128(next_pair_mask(&mut bits));
            store(out, _mm_xor_si128(load(out), _mm_and_si128(load(value), mask)));
        }
    }
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn xor_key_masked(out: &mut [Block], words: &[u64], value: Block) {
    let value = broadcast(&value);
    for (&word, out) in words.iter().zip(out.chunks_mut(64)) {
        let mut bits = spread(word);
        let (pairs, tail) = out.as_chunks_mut::<2>();
        for out in pairs {
            let value = _mm256_and_si256(value, next_pair_mask(&mut bits));
            store_pair(out, _mm256_xor_si256(load_pair(out), value));
        }
        if let [out] = tail {
            let value = _mm256_and_si256(value, next_pair_mask(&mut bits));
            store(out, _mm_xor_si128(load(out), _mm256_castsi256_si128(value)));
        }
    }
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn xor_words_masked(out: &mut [u64], words: &[u64], values: &[u64]) {
    for ((&word, out), values) in words.iter().zip(out.chunks_mut(64)).zip(values.chunks(64)) {
        let mut bits = spread(word);
        let (fours, tail) = out.as_chunks_mut::<4>();
        let (value_fours, value_tail) = values.as_chunks::<4>();
        for (out, value) in fours.iter_mut().zip(value_fours) {
            let value = _mm256_and_si256(load_words(value), next_quad_mask(&mut bits));
            store_words(out, _mm256_xor_si256(load_words(out), value));
        }
        if !tail.is_empty() {
            portable::xor_words_masked(tail, &[word >> (4 * fours.len())], value_tail);
        }
    }
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn truncate_u64(blocks: &[Block], out: &mut [u64]) {
    let ((fours, tail), (out, out_tail)) = (blocks.as_chunks::<4>(), out.as_chunks_mut::<4>());
    for (blocks, out) in fours.iter().zip(out) {
        let [first, second]: &[[Block; 2]; 2] = bytemuck::cast_ref(blocks);
        // In the order 0, 2, 1, 3.
        let words = _mm256_unpacklo_epi64(load_pair(first), load_pair(second));
        store_words(out, _mm256_permute4x64_epi64::<0b11_01_10_00>(words));
    }
    portable::truncate_u64(tail, out_tail);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn lsbs(words: &[u64], out: &mut [u64]) {
    let (wholes, tail) = words.as_chunks::<64>();
    let (out, out_tail) = out.split_at_mut(wholes.len());
    for (words, out) in wholes.iter().zip(out) {
        *out = 0;
        for (q, four) in words.as_chunks::<4>().0.iter().enumerate() {
            let signs = _mm256_castsi256_pd(_mm256_slli_epi64::<63>(load_words(four)));
            *out |= u64::from(_mm256_movemask_pd(signs).cast_unsigned()) << (4 * q);
        }
    }
    portable::lsbs(tail, out_tail);
}
