//! Sums of many leaves' streams with AES-NI.
//!
//! Unsafe: stores to bytes | 16 bytes of a chunk

use std::arch::x86_64::{
    __m128i, _mm_aesenc_si128 as encrypt, _mm_aesenclast_si128 as encrypt_last,
    _mm_setzero_si128 as zero, _mm_storeu_si128, _mm_xor_si128 as xor,
};

use super::aes::numbers;
use super::load as broadcast;
use crate::Block;
use crate::backend::MAX_LEAF_BITS;
use crate::backend::leaf_kernel;

leaf_kernel!("aes,avx2", __m128i);

const BLOCKS: usize = 1;

#[inline]
#[target_feature(enable = "avx2")]
fn xor3(a: __m128i, b: __m128i, c: __m128i) -> __m128i {
    xor(a, xor(b, c))
}

/// Stores as many blocks as `out` takes.
#[inline]
#[target_feature(enable = "avx2")]
fn write<const N: usize>(out: &mut [u8], values: &[__m128i; N]) {
    let blocks = out.as_chunks_mut::<16>().0.first_chunk_mut::<N>().expect("room for a strip");
    for (block, &value) in blocks.iter_mut().zip(values) {
        // SAFETY: 16 bytes, and the store wants no alignment.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), value) }
    }
}
