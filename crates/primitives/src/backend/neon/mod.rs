//! Kernels for AArch64 with the AES and PMULL instructions, one block per register.
//!
//! Every AArch64 processor has NEON, so the compiler vectorises the portable XORs and selections
//! itself. This module contains only what it cannot find: AES, carry-less products, transposition.
//!
//! Every function names the instructions it needs. The compiler lets only functions with these
//! instructions call it safely, and [`Backend`](super::Backend) ensures that the processor has them
//! all.
//!
//! Unsafe: loads and stores of 16 bytes | they go through references to that many bytes, in
//! unaligned forms

mod aes;
mod gf128;
mod transpose;

use std::arch::aarch64::*;

pub(super) use super::portable::{
    bytes_of_rows, interleave_blocks, interleave_masked, lsbs, rows_of_bytes, truncate_u64,
    xor_blocks, xor_key_masked, xor_masked, xor_sums, xor_words_masked,
};
pub(super) use aes::{counter, encrypt, expand, hash};
pub(super) use gf128::{
    carryless_products, column_hash, inner_product, selected_tag_products, tag_products,
    words_inner_product,
};
pub(super) use transpose::transpose_128;

use crate::Block;

/// Returns whether the processor has what this module needs.
pub(super) fn supported() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull")
}

#[inline]
#[target_feature(enable = "neon")]
fn load(block: &Block) -> uint8x16_t {
    // SAFETY: the reference is valid for 16 bytes, and the load wants no alignment.
    unsafe { vld1q_u8(std::ptr::from_ref(block).cast()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_bytes(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the reference is valid for 16 bytes, and the load wants no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(block: &mut Block, value: uint8x16_t) {
    // SAFETY: the reference is valid for 16 bytes, and the store wants no alignment.
    unsafe { vst1q_u8(std::ptr::from_mut(block).cast(), value) }
}
