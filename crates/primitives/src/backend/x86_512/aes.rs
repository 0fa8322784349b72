//! AES under one key with VAES.

use std::arch::x86_64::*;

use super::{broadcast, load, load_tail, numbers, store, store_tail};
use crate::Block;
use crate::backend::x86;

/// Registers in flight: enough to hide the latency of a round.
const WIDTH: usize = 8;

/// Returns the round keys, each in all four lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn wide_keys(keys: &[Block; 11]) -> [__m512i; 11] {
    let mut wide = [_mm512_setzero_si512(); 11];
    for (wide, &key) in wide.iter_mut().zip(keys) {
        *wide = broadcast(key);
    }
    wide
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(super) fn rounds<const N: usize>(keys: &[__m512i; 11], mut xs: [__m512i; N]) -> [__m512i; N] {
    for x in &mut xs {
        *x = _mm512_xor_si512(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut xs {
            *x = _mm512_aesenc_epi128(*x, *key);
        }
    }
    for x in &mut xs {
        *x = _mm512_aesenclast_epi128(*x, keys[10]);
    }
    xs
}

#[target_feature(enable = "avx512f,vaes")]
pub(in super::super) fn encrypt(keys: &[Block; 11], blocks: &mut [Block]) {
    if blocks.len() < 4 {
        return x86::encrypt(keys, blocks);
    }
    let keys = wide_keys(keys);
    let (quads, tail) = blocks.as_chunks_mut::<4>();
    let (chunks, rest) = quads.as_chunks_mut::<WIDTH>();
    for chunk in chunks {
        let mut xs = [_mm512_setzero_si512(); WIDTH];
        for (x, quad) in xs.iter_mut().zip(&*chunk) {
            *x = load(quad);
        }
        let ys = rounds(&keys, xs);
        for (quad, y) in chunk.iter_mut().zip(ys) {
            store(quad, y);
        }
    }
    for quad in rest {
        let [y] = rounds(&keys, [load(quad)]);
        store(quad, y);
    }
    if !tail.is_empty() {
        let [y] = rounds(&keys, [load_tail(tail)]);
        store_tail(tail, y);
    }
}

#[target_feature(enable = "avx512f,vaes")]
pub(in super::super) fn counter(keys: &[Block; 11], first: u128, out: &mut [Block]) {
    if out.len() < 4 {
        return x86::counter(keys, first, out);
    }
    let keys = wide_keys(keys);
    let (quads, tail) = out.as_chunks_mut::<4>();
    let (chunks, rest) = quads.as_chunks_mut::<WIDTH>();
    let mut next = first;
    for chunk in chunks {
        let ys = rounds(&keys, many_numbers(next));
        next = next.wrapping_add(4 * WIDTH as u128);
        for (quad, y) in chunk.iter_mut().zip(ys) {
            store(quad, y);
        }
    }
    for quad in rest {
        let [y] = rounds(&keys, [numbers(next)]);
        next = next.wrapping_add(4);
        store(quad, y);
    }
    if !tail.is_empty() {
        let [y] = rounds(&keys, [numbers(next)]);
        store_tail(tail, y);
    }
}

/// Returns `4 * WIDTH` consecutive numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn many_numbers(first: u128) -> [__m512i; WIDTH] {
    let mut out = [numbers(first); WIDTH];
    let carries = first as u64 > u64::MAX - 4 * WIDTH as u64;
    for (i, out) in out.iter_mut().enumerate().skip(1) {
        *out = if carries {
            numbers(first.wrapping_add(4 * i as u128))
        } else {
            _mm512_add_epi64(*out, broadcast(Block(4 * i as u128)))
        };
    }
    out
}
