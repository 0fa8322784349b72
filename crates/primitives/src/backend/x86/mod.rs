//! Kernels for AES-NI, PCLMULQDQ and AVX2: one 128-bit block per register for multiplications, two
//! elsewhere.
//!
//! Every function names the instructions it needs. The compiler lets only functions with these
//! instructions call it safely, and [`Backend`](super::Backend) ensures that the processor has them
//! all.
//!
//! Unsafe: loads and stores of 16 and 32 bytes | they go through references to that many bytes, in
//! unaligned forms

mod aes;
mod block_xor;
mod gf128;
mod ggm_sums;
mod hash;
mod keys;
mod mac_hash;
mod select;
mod side_by_side;
mod transpose;

use std::arch::x86_64::*;

pub(super) use aes::{counter, encrypt, expand};
pub(super) use block_xor::{interleave_blocks, interleave_masked, xor_blocks, xor_sums};
pub(super) use gf128::{column_hash, inner_product, reduce, words_inner_product};
pub(super) use ggm_sums::leaf_sums;
pub(super) use hash::hash;
pub(super) use keys::key_sums;
pub(super) use mac_hash::{carryless_products, selected_tag_products, tag_products};
pub(super) use select::{
    lsbs, next_quad_mask, spread, truncate_u64, xor_key_masked, xor_masked, xor_words_masked,
};
pub(super) use side_by_side::{evaluate_lanes, garble_lanes};
pub(super) use transpose::{bytes_of_rows, rows_of_bytes, transpose_128};

use crate::Block;

/// Returns whether the processor has what this module needs.
pub(super) fn supported() -> bool {
    is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("sse4.1")
        && is_x86_feature_detected!("avx2")
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(block: &Block) -> __m128i {
    // SAFETY: the reference is valid for 16 bytes, and the load wants no alignment.
    unsafe { _mm_loadu_si128(std::ptr::from_ref(block).cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_bytes(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference is valid for 16 bytes, and the load wants no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(block: &mut Block, value: __m128i) {
    // SAFETY: the reference is valid for 16 bytes, and the store wants no alignment.
    unsafe { _mm_storeu_si128(std::ptr::from_mut(block).cast(), value) }
}

/// Loads two blocks, one per lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_pair(blocks: &[Block; 2]) -> __m256i {
    // SAFETY: the reference is valid for 32 bytes, and the load wants no alignment.
    unsafe { _mm256_loadu_si256(blocks.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_pair(blocks: &mut [Block; 2], value: __m256i) {
    // SAFETY: the reference is valid for 32 bytes, and the store wants no alignment.
    unsafe { _mm256_storeu_si256(blocks.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_wide(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference is valid for 32 bytes, and the load wants no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Returns one block in both lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn broadcast(block: &Block) -> __m256i {
    _mm256_broadcastsi128_si256(load(block))
}

/// Loads four words, to be used as two blocks.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_words(words: &[u64; 4]) -> __m256i {
    load_wide(bytemuck::cast_ref(words))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_words(words: &mut [u64; 4], value: __m256i) {
    // SAFETY: the reference is valid for 32 bytes, and the store wants no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), value) }
}

/// Returns the first lanes of two registers, and their second lanes: the columns of the rows [a0,
/// a1] and [b0, b1].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose_lanes([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)]
}
