//! Sums of many leaves' streams by VAES, added up as soon as they are there.

use std::arch::x86_64::*;

use super::{broadcast, numbers};
use crate::{Block, Leaves};

/// Registers of one leaf's stream in flight, at most: those of two leaves hide the latency of a round, and the draws that
/// triples are made of are ten strips of so many.
const WIDTH: usize = 5;

/// The leaves that are added up without a place for each node: a subtree of two levels.
const GROUP: usize = 4;
const LEVELS: usize = 2;

/// The sums over `keys.len()` leaves, a power of two and at least four; see [`Leaves::sums`].
#[target_feature(enable = "avx2,vaes")]
pub(in super::super) fn leaf_sums(
    keys: &[[Block; 11]],
    first: u128,
    total: &mut [u8],
    sums: &mut [u8],
) {
    match keys.len().ilog2() as usize - LEVELS {
        0 => all_strips::<0>(keys, first, total, sums),
        1 => all_strips::<1>(keys, first, total, sums),
        2 => all_strips::<2>(keys, first, total, sums),
        3 => all_strips::<3>(keys, first, total, sums),
        4 => all_strips::<4>(keys, first, total, sums),
        5 => all_strips::<5>(keys, first, total, sums),
        6 => all_strips::<6>(keys, first, total, sums),
        _ => unreachable!("there are no more than 2^{} leaves", Leaves::MAX_BITS),
    }
}

/// The same for trees with `UPPER` levels above those of a group.
#[target_feature(enable = "avx2,vaes")]
fn all_strips<const UPPER: usize>(
    keys: &[[Block; 11]],
    first: u128,
    total: &mut [u8],
    sums: &mut [u8],
) {
    let stride = total.len();
    let mut at = 0;
    while at < stride {
        let from = first.wrapping_add((at / 16) as u128);
        let out = Out { at, total, sums };
        at += match (stride - at).div_ceil(32) {
            1 | 2 => strip::<2, UPPER>(keys, from, out),
            3 | 4 => strip::<4, UPPER>(keys, from, out),
            _ => strip::<WIDTH, UPPER>(keys, from, out),
        };
    }
}

/// Where a strip goes: to byte `at` of each sum.
struct Out<'a> {
    at: usize,
    total: &'a mut [u8],
    sums: &'a mut [u8],
}

/// `N` registers of each sum, or what is left of them; returns how many bytes that is.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn strip<const N: usize, const UPPER: usize>(
    keys: &[[Block; 11]],
    from: u128,
    Out { at, total, sums }: Out<'_>,
) -> usize {
    let zero = [_mm256_setzero_si256(); N];
    let counters = numbers::<N>(from);
    let (groups, _) = keys.as_chunks::<GROUP>();
    let (mut low, mut high) = (zero, zero);
    // Of the levels above: the node that waits for its sibling, and the sum of the level's bit.
    let (mut waiting, mut upper) = ([zero; UPPER], [zero; UPPER]);
    let mut node = zero;
    for (g, group) in groups.iter().enumerate().take(1 << UPPER) {
        let [first, second] = two_streams([&group[0], &group[1]], counters);
        let [third, fourth] = two_streams([&group[2], &group[3]], counters);
        add(&mut low, &second);
        add(&mut low, &fourth);
        node = third;
        add(&mut node, &fourth);
        add(&mut high, &node);
        add(&mut node, &first);
        add(&mut node, &second);
        for level in 0..UPPER {
            if g >> level & 1 == 0 {
                waiting[level] = node;
                break;
            }
            add(&mut upper[level], &node);
            add(&mut node, &waiting[level]);
        }
    }
    let stride = total.len();
    let bytes = (stride - at).min(32 * N);
    write(&mut total[at..][..bytes], &node);
    for (level, sum) in [&low, &high].into_iter().chain(&upper).enumerate() {
        write(&mut sums[level * stride + at..][..bytes], sum);
    }
    bytes
}

/// The same counters under two leaves' keys, round by round.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn two_streams<const N: usize>(
    keys: [&[Block; 11]; 2],
    counters: [__m256i; N],
) -> [[__m256i; N]; 2] {
    let mut streams = [counters; 2];
    for (stream, keys) in streams.iter_mut().zip(keys) {
        let first = broadcast(&keys[0]);
        for x in stream {
            *x = _mm256_xor_si256(*x, first);
        }
    }
    for round in 1..10 {
        for (stream, keys) in streams.iter_mut().zip(keys) {
            let key = broadcast(&keys[round]);
            for x in stream {
                *x = _mm256_aesenc_epi128(*x, key);
            }
        }
    }
    for (stream, keys) in streams.iter_mut().zip(keys) {
        let last = broadcast(&keys[10]);
        for x in stream {
            *x = _mm256_aesenclast_epi128(*x, last);
        }
    }
    streams
}

#[inline]
#[target_feature(enable = "avx2")]
fn add<const N: usize>(into: &mut [__m256i; N], other: &[__m256i; N]) {
    for i in 0..N {
        into[i] = _mm256_xor_si256(into[i], other[i]);
    }
}

/// Stores whole blocks, as many as `out` takes.
#[inline]
#[target_feature(enable = "avx2")]
fn write<const N: usize>(out: &mut [u8], values: &[__m256i; N]) {
    let (pairs, rest) = out.as_chunks_mut::<32>();
    // A whole strip is stored from registers. Where the length is not a constant, the compiler copies by way of the stack.
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
