//! Sums of many leaves' streams with VAES on registers of 512 bits. The streams of two leaves, the
//! counters and a group's sums take thirty registers, and their keys take the other two.
//!
//! Unsafe: stores to bytes, and of a part of a register | the bytes of a chunk; the mask comes from
//! its length

use std::arch::x86_64::{
    __m512i, _mm512_aesenc_epi128 as encrypt, _mm512_aesenclast_epi128 as encrypt_last,
    _mm512_mask_storeu_epi64, _mm512_setzero_si512 as zero, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64, _mm512_xor_si512 as xor,
};

use super::{XOR3, tail_mask};
use crate::Block;
use crate::backend::MAX_LEAF_BITS;
use crate::backend::leaf_kernel;

leaf_kernel!("avx512f,vaes", __m512i);

const BLOCKS: usize = 4;

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<XOR3>(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(block: &Block) -> __m512i {
    super::broadcast(*block)
}

/// Returns `4 * N` consecutive numbers modulo 2^128.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbers<const N: usize>(first: u128) -> [__m512i; N] {
    let mut numbers = [super::numbers(first); N];
    for (i, quad) in numbers.iter_mut().enumerate().skip(1) {
        *quad = super::numbers(first.wrapping_add((BLOCKS * i) as u128));
    }
    numbers
}

/// Stores as many blocks as `out` takes.
#[inline]
#[target_feature(enable = "avx512f")]
fn write<const N: usize>(out: &mut [u8], values: &[__m512i; N]) {
    let (quads, rest) = out.as_chunks_mut::<64>();
    // A whole strip is stored from registers. If the length were not a constant, the compiler would
    // copy through the stack.
    if let Some(quads) = quads.first_chunk_mut::<N>() {
        for (quad, &value) in quads.iter_mut().zip(values) {
            store_wide(quad, value);
        }
        return;
    }
    for (quad, &value) in quads.iter_mut().zip(values) {
        store_wide(quad, value);
    }
    if let Some(&value) = values.get(quads.len()) {
        let mask = tail_mask(rest.len() / 16);
        // SAFETY: the mask selects words within the slice alone; others are not accessed.
        unsafe { _mm512_mask_storeu_epi64(rest.as_mut_ptr().cast(), mask, value) }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_wide(out: &mut [u8; 64], value: __m512i) {
    // SAFETY: 64 bytes, and the store wants no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), value) }
}
