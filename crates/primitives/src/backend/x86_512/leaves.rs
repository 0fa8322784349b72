//! Sums of many leaves' streams by VAES, with the streams never leaving the registers.

use std::arch::x86_64::*;

use super::aes::{rounds, wide_keys};
use super::{XOR3, numbers};
use crate::{Block, Leaves};

/// Registers of one leaf's stream in flight, at most. The draws that triples are made of are five strips of so many.
const WIDTH: usize = 5;

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

/// The same for trees with `UPPER` levels above those that are added up in registers.
#[target_feature(enable = "avx512f,vaes")]
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
        at += match (stride - at).div_ceil(64) {
            1 => strip::<1, UPPER>(keys, from, out),
            2 => strip::<2, UPPER>(keys, from, out),
            3 => strip::<3, UPPER>(keys, from, out),
            4 => strip::<4, UPPER>(keys, from, out),
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
#[target_feature(enable = "avx512f,vaes")]
fn strip<const N: usize, const UPPER: usize>(
    keys: &[[Block; 11]],
    from: u128,
    Out { at, total, sums }: Out<'_>,
) -> usize {
    let zero = [_mm512_setzero_si512(); N];
    let mut counters = zero;
    for (i, counter) in counters.iter_mut().enumerate() {
        *counter = numbers(from.wrapping_add((QUAD * i) as u128));
    }
    let (groups, _) = keys.as_chunks::<GROUP>();
    let (mut low, mut high) = (zero, zero);
    // Of the levels above: the node that waits for its sibling, and the sum of the level's bit.
    let (mut waiting, mut upper) = ([zero; UPPER], [zero; UPPER]);
    let mut node = zero;
    for (g, group) in groups.iter().enumerate().take(1 << UPPER) {
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
        for level in 0..UPPER {
            if g >> level & 1 == 0 {
                waiting[level] = node;
                break;
            }
            for i in 0..N {
                upper[level][i] = _mm512_xor_si512(upper[level][i], node[i]);
                node[i] = _mm512_xor_si512(node[i], waiting[level][i]);
            }
        }
    }
    let stride = total.len();
    let bytes = (stride - at).min(64 * N);
    write(&mut total[at..][..bytes], &node);
    for (level, sum) in [&low, &high].into_iter().chain(&upper).enumerate() {
        write(&mut sums[level * stride + at..][..bytes], sum);
    }
    bytes
}

/// Stores whole blocks, as many as `out` takes.
#[inline]
#[target_feature(enable = "avx512f")]
fn write<const N: usize>(out: &mut [u8], values: &[__m512i; N]) {
    let (whole, rest) = out.as_chunks_mut::<64>();
    for (out, &value) in whole.iter_mut().zip(values) {
        // SAFETY: 64 bytes, and the store wants no alignment.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), value) }
    }
    if let (Some(&value), false) = (values.get(whole.len()), rest.is_empty()) {
        let mask = super::tail_mask(rest.len() / 16);
        // SAFETY: the mask selects words within the slice alone; others are not accessed.
        unsafe { _mm512_mask_storeu_epi64(rest.as_mut_ptr().cast(), mask, value) }
    }
}
