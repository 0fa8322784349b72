//! Sums of many leaves' streams with VAES on registers of 256 bits.
//!
//! Unsafe: stores to bytes | 16 or 32 bytes of a chunk

use std::arch::x86_64::{
    __m256i, _mm_storeu_si128, _mm256_aesenc_epi128 as encrypt,
    _mm256_aesenclast_epi128 as encrypt_last, _mm256_castsi256_si128, _mm256_setzero_si256 as zero,
    _mm256_storeu_si256, _mm256_xor_si256 as xor,
};

use super::{broadcast, numbers};
use crate::Block;
use crate::backend::MAX_LEAF_BITS;
use crate::backend::leaf_kernel;

leaf_kernel!("avx2,vaes", __m256i);

const BLOCKS: usize = 2;

#[inline]
#[target_feature(enable = "avx2")]
fn xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    xor(a, xor(b, c))
}

/// Stores as many blocks as `out` takes.
#[inline]
#[target_feature(enable = "avx2")]
fn write<const N: usize>(out: &mut [u8], values: &[__m256i; N]) {
    let (pairs, rest) = out.as_chunks_mut::<32>();
    // A whole strip is stored from registers. If the length were not a constant, the compiler would
    // copy through the stack.
    if let Some(pairs) = pairs.first_chunk_mut::<N>() {
        for (pair, &value) in pairs.iter_mut().zip(values) {
            store_wide(pair, value);
        }
        return;
    }
    for (pair, &value) in pairs.iter_mut().zip(values) {
        store_wide(pair, value);
    }
    if let (Some(&value), Some(out)) = (values.get(pairs.len()), rest.first_chunk_mut::<16>()) {
        // SAFETY: 16 bytes, and the store wants no alignment.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm256_castsi256_si128(value)) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_wide(out: &mut [u8; 32], value: __m256i) {
    // SAFETY: 32 bytes, and the store wants no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), value) }
}
