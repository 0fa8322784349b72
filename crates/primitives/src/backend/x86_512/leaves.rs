//! Sums of many leaves' streams by VAES, with the streams never leaving the registers.

use std::arch::x86_64::*;

use super::aes::{rounds, wide_keys};
use super::{XOR3, numbers};
use crate::{Block, Leaves};

/// Registers of one leaf's stream in flight.
const WIDTH: usize = 4;

/// The leaves that are added up in registers: a subtree of two levels.
const GROUP: usize = 4;
const LEVELS: usize = 2;

/// Blocks in a register.
const QUAD: usize = 4;

/// The sums over `keys.len()` leaves, a power of two and at least four; see [`Leaves::sums`].
#[target_feature(enable = "avx512f,vaes")]
pub(in super::super) fn leaf_sums(
    keys: &[[Block; 11]],
    first: u128,
    total: &mut [u8],
    sums: &mut [u8],
) {
    let stride = total.len();
    let mut upper = [Upper { waiting: zero(), sum: zero() }; Leaves::MAX_BITS - LEVELS];
    let upper = &mut upper[..keys.len().ilog2() as usize - LEVELS];
    let mut at = 0;
    while at < stride {
        let from = first.wrapping_add((at / 16) as u128);
        let left = stride - at;
        let bytes = if left >= 64 * WIDTH {
            strip::<WIDTH>(keys, from, upper, at, total, sums);
            64 * WIDTH
        } else {
            strip::<1>(keys, from, upper, at, total, sums);
            left.min(64)
        };
        at += bytes;
    }
}

/// A level of the tree above those that are added up in registers.
#[derive(Clone, Copy)]
struct Upper {
    /// The node that waits for its sibling.
    waiting: [__m512i; WIDTH],
    /// The sum of the level's bit.
    sum: [__m512i; WIDTH],
}

#[inline]
#[target_feature(enable = "avx512f")]
fn zero() -> [__m512i; WIDTH] {
    [_mm512_setzero_si512(); WIDTH]
}

/// `N` registers of each sum, or what is left of them, from byte `at` of `total` on.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn strip<const N: usize>(
    keys: &[[Block; 11]],
    from: u128,
    upper: &mut [Upper],
    at: usize,
    total: &mut [u8],
    sums: &mut [u8],
) {
    let zero = [_mm512_setzero_si512(); N];
    let mut counters = zero;
    for (i, counter) in counters.iter_mut().enumerate() {
        *counter = numbers(from.wrapping_add((QUAD * i) as u128));
    }
    let (groups, _) = keys.as_chunks::<GROUP>();
    let (mut low, mut high) = (zero, zero);
    upper.iter_mut().for_each(|level| level.sum[..N].copy_from_slice(&zero));
    let mut node = zero;
    for (g, group) in groups.iter().enumerate() {
        let a = rounds(&wide_keys(&group[0]), counters);
        let b = rounds(&wide_keys(&group[1]), counters);
        let c = rounds(&wide_keys(&group[2]), counters);
        let d = rounds(&wide_keys(&group[3]), counters);
        for i in 0..N {
            low[i] = _mm512_ternarylogic_epi64::<XOR3>(low[i], b[i], d[i]);
            high[i] = _mm512_ternarylogic_epi64::<XOR3>(high[i], c[i], d[i]);
            let abc = _mm512_ternarylogic_epi64::<XOR3>(a[i], b[i], c[i]);
            node[i] = _mm512_xor_si512(abc, d[i]);
        }
        let ends = (g.trailing_ones() as usize).min(upper.len());
        let (ended, open) = upper.split_at_mut(ends);
        for level in ended {
            for ((node, sum), waiting) in node.iter_mut().zip(&mut level.sum).zip(&level.waiting) {
                *sum = _mm512_xor_si512(*sum, *node);
                *node = _mm512_xor_si512(*node, *waiting);
            }
        }
        if let Some(level) = open.first_mut() {
            level.waiting[..N].copy_from_slice(&node);
        }
    }
    let stride = total.len();
    let bytes = (stride - at).min(64 * N);
    write(&mut total[at..][..bytes], &node);
    let upper = upper.iter().map(|level| &level.sum[..N]);
    for (level, sum) in [&low[..], &high].into_iter().chain(upper).enumerate() {
        write(&mut sums[level * stride + at..][..bytes], sum);
    }
}

/// Stores whole blocks, as many as `out` takes.
#[inline]
#[target_feature(enable = "avx512f")]
fn write(out: &mut [u8], values: &[__m512i]) {
    for (out, &value) in out.chunks_mut(64).zip(values) {
        let mask = super::tail_mask(out.len() / 16);
        // SAFETY: the mask selects words within the chunk alone; others are not accessed.
        unsafe { _mm512_mask_storeu_epi64(out.as_mut_ptr().cast(), mask, value) }
    }
}
