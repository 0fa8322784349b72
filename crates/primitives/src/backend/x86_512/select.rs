//! Additions selected by bits: a mask register for four blocks.

use std::arch::x86_64::*;

use super::{
    super::portable, broadcast, load, load_bytes, load_tail, store, store_tail, store_words,
};
use crate::Block;

/// Returns the masks of sixteen quads of blocks. Each bit appears twice, because masks count 64-bit
/// words. The mask of quad q begins at bit 8·(q % 8) of number q / 8.
#[inline]
#[target_feature(enable = "bmi2")]
pub(super) fn quad_masks(word: u64) -> [u64; 2] {
    [word, word >> 32].map(|word| _pdep_u64(word, 0x5555_5555_5555_5555) * 3)
}

/// Returns the mask of quad `q`.
#[inline]
pub(super) fn quad_mask(masks: [u64; 2], q: usize) -> u8 {
    (masks[q / 8] >> (q % 8 * 8)) as u8
}

#[target_feature(enable = "avx512f,bmi2")]
pub(in super::super) fn xor_masked(out: &mut [Block], words: &[u64], values: &[Block]) {
    for ((&word, out), values) in words.iter().zip(out.chunks_mut(64)).zip(values.chunks(64)) {
        let masks = quad_masks(word);
        let (quads, tail) = out.as_chunks_mut::<4>();
        let (value_quads, value_tail) = values.as_chunks::<4>();
        for (q, (out, value)) in quads.iter_mut().zip(value_quads).enumerate() {
            let old = load(out);
            store(out, _mm512_mask_xor_epi64(old, quad_mask(masks, q), old, load(value)));
        }
        if !tail.is_empty() {
            let (old, mask) = (load_tail(tail), quad_mask(masks, quads.len()));
            store_tail(tail, _mm512_mask_xor_epi64(old, mask, old, load_tail(value_tail)));
        }
    }
}

#[target_feature(enable = "avx512f")]
pub(in super::super) fn truncate_u64(blocks: &[Block], out: &mut [u64]) {
    let ((eights, tail), (out, out_tail)) = (blocks.as_chunks::<8>(), out.as_chunks_mut::<8>());
    let even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    for (blocks, out) in eights.iter().zip(out) {
        let [first, second]: &[[Block; 4]; 2] = bytemuck::cast_ref(blocks);
        store_words(out, _mm512_permutex2var_epi64(load(first), even, load(second)));
    }
    portable::truncate_u64(tail, out_tail);
}

#[target_feature(enable = "avx512f")]
pub(in super::super) fn lsbs(words: &[u64], out: &mut [u64]) {
    let ones = _mm512_set1_epi64(1);
    let (wholes, tail) = words.as_chunks::<64>();
    let (out, out_tail) = out.split_at_mut(wholes.len());
    for (words, out) in wholes.iter().zip(out) {
        let eights: &[[u8; 64]; 8] = bytemuck::cast_ref(words);
        // A closure here would not be inlined.
        let mut bits = [0; 8];
        for (bits, eight) in bits.iter_mut().zip(eights) {
            *bits = _mm512_test_epi64_mask(load_bytes(eight), ones);
        }
        *out = u64::from_le_bytes(bits);
    }
    portable::lsbs(tail, out_tail);
}

#[target_feature(enable = "avx512f")]
pub(in super::super) fn xor_words_masked(out: &mut [u64], words: &[u64], values: &[u64]) {
    for ((&word, out), values) in words.iter().zip(out.chunks_mut(64)).zip(values.chunks(64)) {
        let (eights, tail) = out.as_chunks_mut::<8>();
        let (value_eights, value_tail) = values.as_chunks::<8>();
        for ((out, value), mask) in eights.iter_mut().zip(value_eights).zip(word.to_le_bytes()) {
            let old = load_bytes(bytemuck::cast_ref(out));
            let value = load_bytes(bytemuck::cast_ref(value));
            store_words(out, _mm512_mask_xor_epi64(old, mask, old, value));
        }
        if !tail.is_empty() {
            portable::xor_words_masked(tail, &[word >> (8 * eights.len())], value_tail);
        }
    }
}

#[target_feature(enable = "avx512f,bmi2")]
pub(in super::super) fn xor_key_masked(out: &mut [Block], words: &[u64], value: Block) {
    let value = broadcast(value);
    for (&word, out) in words.iter().zip(out.chunks_mut(64)) {
        let masks = quad_masks(word);
        let (quads, tail) = out.as_chunks_mut::<4>();
        for (q, out) in quads.iter_mut().enumerate() {
            let old = load(out);
            store(out, _mm512_mask_xor_epi64(old, quad_mask(masks, q), old, value));
        }
        if !tail.is_empty() {
            let (old, mask) = (load_tail(tail), quad_mask(masks, quads.len()));
            store_tail(tail, _mm512_mask_xor_epi64(old, mask, old, value));
        }
    }
}
