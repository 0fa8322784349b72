//! AES with AES-NI.
//!
//! A key schedule step computes SubWord(RotWord(w3)) with AESENCLAST: a shuffle puts the rotated
//! word into all four columns, where ShiftRows has no effect, and the "round key" is the round
//! constant. This is much faster than AESKEYGENASSIST, and schedules of several keys overlap.

use std::arch::x86_64::*;

use super::{load, store};
use crate::Block;
use crate::backend::RCON;

/// Returns the next round key of a schedule.
#[inline]
#[target_feature(enable = "aes,avx2")]
pub(super) fn next_key(key: __m128i, rcon: i32) -> __m128i {
    let rotate = _mm_set1_epi32(0x0c0f_0e0d);
    let word = _mm_aesenclast_si128(_mm_shuffle_epi8(key, rotate), _mm_set1_epi32(rcon));
    // Each word of the new key depends on all earlier words of the old one.
    let pairs = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
    let prefix = _mm_xor_si128(pairs, _mm_slli_si128::<8>(pairs));
    _mm_xor_si128(prefix, word)
}

#[target_feature(enable = "aes,avx2")]
pub(in super::super) fn expand(key: Block) -> [Block; 11] {
    let mut out = [key; 11];
    let mut round_key = load(&key);
    for (slot, &rcon) in out[1..].iter_mut().zip(&RCON) {
        round_key = next_key(round_key, rcon);
        store(slot, round_key);
    }
    out
}

/// Encrypts `N` blocks side by side.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn encrypt_many<const N: usize>(keys: &[Block; 11], mut xs: [__m128i; N]) -> [__m128i; N] {
    let first = load(&keys[0]);
    for x in &mut xs {
        *x = _mm_xor_si128(*x, first);
    }
    for key in &keys[1..10] {
        let key = load(key);
        for x in &mut xs {
            *x = _mm_aesenc_si128(*x, key);
        }
    }
    let last = load(&keys[10]);
    for x in &mut xs {
        *x = _mm_aesenclast_si128(*x, last);
    }
    xs
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn encrypt_in_place<const N: usize>(keys: &[Block; 11], blocks: &mut [Block; N]) {
    let mut xs = [_mm_setzero_si128(); N];
    for (x, block) in xs.iter_mut().zip(&*blocks) {
        *x = load(block);
    }
    let ys = encrypt_many(keys, xs);
    for (block, y) in blocks.iter_mut().zip(ys) {
        store(block, y);
    }
}

#[target_feature(enable = "aes,avx2")]
pub(in super::super) fn encrypt(keys: &[Block; 11], blocks: &mut [Block]) {
    let (chunks, tail) = blocks.as_chunks_mut::<8>();
    for chunk in chunks {
        encrypt_in_place(keys, chunk);
    }
    for block in tail {
        encrypt_in_place(keys, std::array::from_mut(block));
    }
}

#[target_feature(enable = "aes,avx2")]
pub(in super::super) fn counter(keys: &[Block; 11], first: u128, out: &mut [Block]) {
    let (chunks, tail) = out.as_chunks_mut::<8>();
    let mut next = first;
    for chunk in chunks {
        let ys = encrypt_many(keys, numbers::<8>(next));
        next = next.wrapping_add(8);
        for (block, y) in chunk.iter_mut().zip(ys) {
            store(block, y);
        }
    }
    for block in tail {
        let [y] = encrypt_many(keys, numbers(next));
        next = next.wrapping_add(1);
        store(block, y);
    }
}

/// Returns `N` consecutive 128-bit numbers modulo 2^128.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn numbers<const N: usize>(first: u128) -> [__m128i; N] {
    let mut out = [load(&Block(first)); N];
    // There is no 128-bit addition, so the carry is handled separately, once in 2^64 numbers.
    let carries = first as u64 > u64::MAX - N as u64;
    for (out, i) in out.iter_mut().zip(0..) {
        *out = if carries {
            load(&Block(first.wrapping_add(i)))
        } else {
            _mm_add_epi64(*out, _mm_set_epi64x(0, i as i64))
        };
    }
    out
}
