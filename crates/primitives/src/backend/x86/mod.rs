//! Kernels for AES-NI, PCLMULQDQ and AVX2: one 128-bit block to a register, mostly.
//!
//! Every function names the instructions it needs; the compiler lets it be called safely only from
//! one that has them, and [`Backend`](super::Backend) sees to it that the processor has them all.

mod aes;
mod gf128;
mod keys;
mod tags;
mod transpose;

use std::arch::x86_64::*;

pub(super) use aes::{counter, encrypt, expand, hash};
pub(super) use gf128::{column_hash, inner_product, reduce, words_inner_product};
pub(super) use keys::key_sums;
pub(super) use tags::{carryless_products, selected_tag_products, tag_products};
pub(super) use transpose::{bytes_of_rows, rows_of_bytes, transpose_128};

use crate::records::{Buckets, Place, Records, Rows};
use crate::{BitVec, Block};

/// Whether the processor has what this module needs.
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

/// Two blocks, one to a lane.
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

/// One block in both lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn broadcast(block: &Block) -> __m256i {
    _mm256_broadcastsi128_si256(load(block))
}

/// The portable kernel, which the compiler makes into AVX2 by itself.
#[target_feature(enable = "avx2")]
pub(super) fn bits_inner_product(bits: &BitVec, coeffs: &[Block]) -> Block {
    super::portable::bits_inner_product(bits, coeffs)
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn add_blocks(out: &mut [Block], values: &[Block]) {
    super::portable::add_blocks(out, values);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn add_sums(out: &mut [Block], a: &[Block], b: &[Block]) {
    super::portable::add_sums(out, a, b);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn pair_up(macs: &[Block], keys: &[Block], out: &mut [[Block; 2]]) {
    super::portable::pair_up(macs, keys, out);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn pair_up_where(
    rows: [&[Block]; 2],
    words: &[u64],
    more: [&[Block]; 2],
    out: &mut [[Block; 2]],
) {
    super::portable::pair_up_where(rows, words, more, out);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn low_bits(words: &[u64], out: &mut [u64]) {
    super::portable::low_bits(words, out);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn low_words(blocks: &[Block], out: &mut [u64]) {
    super::portable::low_words(blocks, out);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn add_where(out: &mut [Block], words: &[u64], values: &[Block]) {
    super::portable::add_where(out, words, values);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn add_words_where(out: &mut [u64], words: &[u64], values: &[u64]) {
    super::portable::add_words_where(out, words, values);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn add_key_where(out: &mut [Block], words: &[u64], value: Block) {
    super::portable::add_key_where(out, words, value);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn lay_out(rows: &Rows<'_>, sums: [&mut [Block]; 2], to: Place<'_>) {
    super::portable::lay_out(rows, sums, to);
}

/// As above.
#[target_feature(enable = "avx2")]
pub(super) fn sum_buckets(
    records: Records<'_>,
    peer: usize,
    buckets: &Buckets<'_>,
    sums: [&mut [Block]; 4],
) {
    super::portable::sum_buckets(records, peer, buckets, sums);
}
