//! Kernels for VAES and VPCLMULQDQ on registers of 256 bits: two blocks per register.
//!
//! As in the 128-bit kernels, every function names the instructions it needs. Kernels that need
//! only AVX2 are in the 128-bit module, for both.

mod aes;
mod gf128;
mod ggm_sums;
mod hash;
mod mac_hash;
mod side_by_side;

use std::arch::x86_64::*;

pub(super) use aes::{counter, encrypt};
pub(super) use gf128::{column_hash, inner_product, words_inner_product};
pub(super) use ggm_sums::leaf_sums;
pub(super) use hash::{half_gates, hash, leaky_hashes};
pub(super) use mac_hash::{carryless_products, selected_tag_products, tag_products};
pub(super) use side_by_side::{evaluate_lanes, garble_lanes};

pub(super) use super::x86::{
    bytes_of_rows, interleave_blocks, interleave_masked, lsbs, rows_of_bytes, transpose_128,
    truncate_u64, xor_blocks, xor_key_masked, xor_masked, xor_sums, xor_words_masked,
};

use super::x86::{
    broadcast, load, load_pair, load_wide, load_words, store, store_pair, store_words,
    transpose_lanes,
};
use crate::Block;

/// Returns whether the processor has what this module needs.
pub(super) fn supported() -> bool {
    super::x86::supported()
        && is_x86_feature_detected!("vaes")
        && is_x86_feature_detected!("vpclmulqdq")
}

/// Loads one block into the lower lane, and zero into the other.
#[inline]
#[target_feature(enable = "avx2")]
fn load_one(block: &Block) -> __m256i {
    _mm256_zextsi128_si256(load(block))
}

/// Returns `2 * N` consecutive 128-bit numbers modulo 2^128.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers<const N: usize>(first: u128) -> [__m256i; N] {
    let mut out = [broadcast(&Block(first)); N];
    // There is no 128-bit addition, so the carry is handled separately, once in 2^64 numbers.
    let carries = first as u64 > u64::MAX - 2 * N as u64;
    for (out, i) in out.iter_mut().zip((0..).step_by(2)) {
        *out = if carries {
            load_pair(&[i, i + 1].map(|i| Block(first.wrapping_add(i))))
        } else {
            _mm256_add_epi64(*out, _mm256_set_epi64x(0, i as i64 + 1, 0, i as i64))
        };
    }
    out
}
