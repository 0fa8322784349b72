//! Kernels for VAES, VPCLMULQDQ, GFNI and AVX-512: four blocks per register.
//!
//! As in the 128-bit kernels, every function names the instructions it needs.
//!
//! Unsafe: loads and stores of 64 bytes, and of parts by mask | they go through references to 64
//! bytes, in unaligned forms; the mask comes from the slice's length

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

pub(super) use aes::{counter, encrypt};
pub(super) use block_xor::{interleave_blocks, interleave_masked, xor_blocks, xor_sums};
pub(super) use gf128::{column_hash, inner_product, words_inner_product};
pub(super) use ggm_sums::leaf_sums;
pub(super) use hash::{half_gates, hash, leaky_hashes};
pub(super) use keys::key_sums;
pub(super) use mac_hash::{carryless_products, selected_tag_products, tag_products};
pub(super) use select::{lsbs, truncate_u64, xor_key_masked, xor_masked, xor_words_masked};
pub(super) use side_by_side::{evaluate_lanes, garble_lanes};
pub(super) use transpose::{bytes_of_rows, rows_of_bytes, transpose_128};

use crate::Block;

/// The truth table of a ⊕ b ⊕ c.
const XOR3: i32 = 0x96;

/// Returns whether the processor has what this module needs.
pub(super) fn supported() -> bool {
    super::x86::supported()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("gfni")
        && is_x86_feature_detected!("vaes")
        && is_x86_feature_detected!("vpclmulqdq")
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(blocks: &[Block; 4]) -> __m512i {
    // SAFETY: the reference is valid for 64 bytes, and the load wants no alignment.
    unsafe { _mm512_loadu_si512(blocks.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_bytes(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference is valid for 64 bytes, and the load wants no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(blocks: &mut [Block; 4], value: __m512i) {
    // SAFETY: the reference is valid for 64 bytes, and the store wants no alignment.
    unsafe { _mm512_storeu_si512(blocks.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_words(words: &[u64; 8]) -> __m512i {
    load_bytes(bytemuck::cast_ref(words))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_words(words: &mut [u64; 8], value: __m512i) {
    // SAFETY: the reference is valid for 64 bytes, and the store wants no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value) }
}

/// Returns the mask of the 64-bit words of `blocks` blocks, at most four.
#[inline]
fn tail_mask(blocks: usize) -> u8 {
    debug_assert!(blocks <= 4);
    ((1u16 << (2 * blocks)) - 1) as u8
}

/// Loads up to four blocks, then zeros.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_tail(blocks: &[Block]) -> __m512i {
    let mask = tail_mask(blocks.len().min(4));
    // SAFETY: the mask selects words within the slice alone; others are not accessed.
    unsafe { _mm512_maskz_loadu_epi64(mask, blocks.as_ptr().cast()) }
}

/// Loads up to 64 bytes of whole blocks, then zeros.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_tail_bytes(bytes: &[u8]) -> __m512i {
    let mask = tail_mask((bytes.len() / 16).min(4));
    // SAFETY: the mask selects words within the slice alone; others are not accessed.
    unsafe { _mm512_maskz_loadu_epi64(mask, bytes.as_ptr().cast()) }
}

/// Stores as many of the four blocks as the slice takes.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_tail(blocks: &mut [Block], value: __m512i) {
    let mask = tail_mask(blocks.len().min(4));
    // SAFETY: the mask selects words within the slice alone; others are not accessed.
    unsafe { _mm512_mask_storeu_epi64(blocks.as_mut_ptr().cast(), mask, value) }
}

/// Returns one block in all four lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(block: Block) -> __m512i {
    _mm512_broadcast_i32x4(bytemuck::cast(block.0))
}

/// Returns the 128-bit numbers `first .. first + 4` modulo 2^128.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbers(first: u128) -> __m512i {
    if first as u64 > u64::MAX - 3 {
        // There is no 128-bit addition, so the carry is handled separately, once in 2^64 numbers.
        return load(&std::array::from_fn(|i| Block(first.wrapping_add(i as u128))));
    }
    _mm512_add_epi64(broadcast(Block(first)), _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0))
}

/// Transposes a 4×4 matrix of lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_lanes([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let ab_low = _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b);
    let ab_high = _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b);
    let cd_low = _mm512_shuffle_i64x2::<0b01_00_01_00>(c, d);
    let cd_high = _mm512_shuffle_i64x2::<0b11_10_11_10>(c, d);
    [
        _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_low, cd_low),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_low, cd_low),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_high, cd_high),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_high, cd_high),
    ]
}
