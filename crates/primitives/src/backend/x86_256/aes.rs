//! AES under one key with VAES.

use std::arch::x86_64::*;

use super::{broadcast, load_one, load_pair, numbers, store, store_pair};
use crate::Block;

/// Registers in flight: enough to hide the latency of a round.
const WIDTH: usize = 8;

/// Encrypts `N` registers side by side. Round keys come from memory, because there are too few
/// registers to keep them.
#[inline]
#[target_feature(enable = "avx2,vaes")]
pub(super) fn rounds<const N: usize>(keys: &[Block; 11], mut xs: [__m256i; N]) -> [__m256i; N] {
    let first = broadcast(&keys[0]);
    for x in &mut xs {
        *x = _mm256_xor_si256(*x, first);
    }
    for key in &keys[1..10] {
        let key = broadcast(key);
        for x in &mut xs {
            *x = _mm256_aesenc_epi128(*x, key);
        }
    }
    let last = broadcast(&keys[10]);
    for x in &mut xs {
        *x = _mm256_aesenclast_epi128(*x, last);
    }
    xs
}

#[target_feature(enable = "avx2,vaes")]
pub(in super::super) fn encrypt(keys: &[Block; 11], blocks: &mut [Block]) {
    let (pairs, tail) = blocks.as_chunks_mut::<2>();
    let (chunks, rest) = pairs.as_chunks_mut::<WIDTH>();
    for chunk in chunks {
        let mut xs = [_mm256_setzero_si256(); WIDTH];
        for (x, pair) in xs.iter_mut().zip(&*chunk) {
            *x = load_pair(pair);
        }
        for (pair, y) in chunk.iter_mut().zip(rounds(keys, xs)) {
            store_pair(pair, y);
        }
    }
    for pair in rest {
        let [y] = rounds(keys, [load_pair(pair)]);
        store_pair(pair, y);
    }
    for block in tail {
        let [y] = rounds(keys, [load_one(block)]);
        store(block, _mm256_castsi256_si128(y));
    }
}

#[target_feature(enable = "avx2,vaes")]
pub(in super::super) fn counter(keys: &[Block; 11], first: u128, out: &mut [Block]) {
    let (pairs, tail) = out.as_chunks_mut::<2>();
    let (chunks, rest) = pairs.as_chunks_mut::<WIDTH>();
    let mut next = first;
    for chunk in chunks {
        let ys = rounds(keys, numbers::<WIDTH>(next));
        next = next.wrapping_add(2 * WIDTH as u128);
        for (pair, y) in chunk.iter_mut().zip(ys) {
            store_pair(pair, y);
        }
    }
    for pair in rest {
        let [y] = rounds(keys, numbers(next));
        next = next.wrapping_add(2);
        store_pair(pair, y);
    }
    for block in tail {
        let [y] = rounds(keys, [load_one(&Block(next))]);
        store(block, _mm256_castsi256_si128(y));
    }
}
