//! The re-keyed hash by VAES: four keys to a register.
//!
//! Lane l of a key register holds the key of group l, and lane l of a state register one block of that
//! group, so blocks are permuted once on the way in and once on the way out, and round keys never.

use std::arch::x86_64::*;

use super::{broadcast, load, numbers, store};
use crate::Block;
use crate::backend::RCON;
use crate::hash::Tweaks;

#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(in super::super) fn hash<const SIGMA: bool>(
    start: Block,
    tweaks: Tweaks<'_>,
    group: usize,
    xs: &mut [Block],
) {
    // As many key registers as hide the latency of a key schedule.
    match group {
        1 => hash_groups::<SIGMA, 1, 4>(start, tweaks, xs),
        2 => hash_groups::<SIGMA, 2, 4>(start, tweaks, xs),
        4 => hash_groups::<SIGMA, 4, 2>(start, tweaks, xs),
        _ => hash_groups::<SIGMA, 8, 1>(start, tweaks, xs),
    }
}

/// Four groups' blocks, in memory order: quad q of the groups is `quads[q]`.
type Quads<const GROUP: usize> = [[Block; 4]; GROUP];

/// Hashes groups of `GROUP` blocks, four groups to a register and `SETS` registers at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn hash_groups<const SIGMA: bool, const GROUP: usize, const SETS: usize>(
    start: Block,
    tweaks: Tweaks<'_>,
    xs: &mut [Block],
) {
    let wide_start = broadcast(start);
    let (sets, tail) = xs.split_at_mut(xs.len() / (4 * GROUP) * (4 * GROUP));
    let (sets, _) = sets.as_chunks_mut::<4>().0.as_chunks_mut::<GROUP>();
    let done = 4 * sets.len();
    let (chunks, rest) = sets.as_chunks_mut::<SETS>();
    let mut g = 0;
    for chunk in chunks {
        let mut keys = [wide_start; SETS];
        for key in &mut keys {
            *key = _mm512_xor_si512(*key, four_tweaks(tweaks, g));
            g += 4;
        }
        hash_chunk::<SIGMA, GROUP, SETS>(keys, chunk);
    }
    for set in rest {
        let key = _mm512_xor_si512(wide_start, four_tweaks(tweaks, g));
        g += 4;
        hash_chunk::<SIGMA, GROUP, 1>([key], std::array::from_mut(set));
    }
    if !tail.is_empty() {
        let groups = tail.len() / GROUP;
        let mut keys = [start; 4];
        for (i, key) in keys.iter_mut().enumerate().take(groups) {
            *key ^= Block(tweaks.get(done + i));
        }
        let mut set: Quads<GROUP> = [[Block::ZERO; 4]; GROUP];
        set.as_flattened_mut()[..tail.len()].copy_from_slice(tail);
        hash_chunk::<SIGMA, GROUP, 1>([load(&keys)], std::array::from_mut(&mut set));
        tail.copy_from_slice(&set.as_flattened()[..tail.len()]);
    }
}

/// The tweaks of groups `g .. g + 4`.
#[inline]
#[target_feature(enable = "avx512f")]
fn four_tweaks(tweaks: Tweaks<'_>, g: usize) -> __m512i {
    match tweaks {
        Tweaks::From(first) => numbers(first.wrapping_add(g as u128)),
        Tweaks::List(list) => {
            let list: &[Block] = bytemuck::cast_slice(&list[g..g + 4]);
            load(list.first_chunk().expect("four tweaks"))
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn hash_chunk<const SIGMA: bool, const GROUP: usize, const SETS: usize>(
    mut keys: [__m512i; SETS],
    chunk: &mut [Quads<GROUP>; SETS],
) {
    let zero = _mm512_setzero_si512();
    let mut inputs = [[zero; GROUP]; SETS];
    let mut states = [[zero; GROUP]; SETS];
    for set in 0..SETS {
        for (input, quad) in inputs[set].iter_mut().zip(&chunk[set]) {
            *input = load(quad);
        }
        inputs[set] = by_group(inputs[set]);
        for (input, state) in inputs[set].iter_mut().zip(&mut states[set]) {
            if SIGMA {
                *input = sigma(*input);
            }
            *state = _mm512_xor_si512(*input, keys[set]);
        }
    }
    for &rcon in &RCON[..9] {
        for set in 0..SETS {
            keys[set] = next_key(keys[set], rcon);
            for state in &mut states[set] {
                *state = _mm512_aesenc_epi128(*state, keys[set]);
            }
        }
    }
    for set in 0..SETS {
        let last = next_key(keys[set], RCON[9]);
        for (state, &input) in states[set].iter_mut().zip(&inputs[set]) {
            *state = _mm512_xor_si512(_mm512_aesenclast_epi128(*state, last), input);
        }
        for (quad, hashed) in chunk[set].iter_mut().zip(in_order(states[set])) {
            store(quad, hashed);
        }
    }
}

/// The next round keys of four schedules; see the 128-bit kernel.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn next_key(keys: __m512i, rcon: i32) -> __m512i {
    let rotate = _mm512_set1_epi32(0x0c0f_0e0d);
    let rotated = _mm512_shuffle_epi8(keys, rotate);
    let word = _mm512_aesenclast_epi128(rotated, _mm512_set1_epi32(rcon));
    let pairs = _mm512_xor_si512(keys, _mm512_bslli_epi128::<4>(keys));
    _mm512_ternarylogic_epi64::<XOR3>(pairs, _mm512_bslli_epi128::<8>(pairs), word)
}

/// The truth table of a ⊕ b ⊕ c.
const XOR3: i32 = 0x96;

/// σ(hi ‖ lo) = (hi ⊕ lo) ‖ hi in each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn sigma(x: __m512i) -> __m512i {
    let swapped = _mm512_shuffle_epi32::<0b01_00_11_10>(x);
    _mm512_mask_xor_epi64(swapped, 0b1010_1010, swapped, x)
}

/// From memory order to one group a lane: lane l of register j becomes block j of group l.
#[inline]
#[target_feature(enable = "avx512f")]
fn by_group<const GROUP: usize>(mut xs: [__m512i; GROUP]) -> [__m512i; GROUP] {
    match GROUP {
        2 => {
            let (a, b) = (xs[0], xs[1]);
            xs[0] = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
            xs[1] = _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
        }
        4 => {
            let square = transpose_lanes([xs[0], xs[1], xs[2], xs[3]]);
            xs.copy_from_slice(&square);
        }
        8 => {
            let low = transpose_lanes([xs[0], xs[2], xs[4], xs[6]]);
            let high = transpose_lanes([xs[1], xs[3], xs[5], xs[7]]);
            xs[..4].copy_from_slice(&low);
            xs[4..].copy_from_slice(&high);
        }
        _ => {}
    }
    xs
}

/// The inverse of [`by_group`].
#[inline]
#[target_feature(enable = "avx512f")]
fn in_order<const GROUP: usize>(mut xs: [__m512i; GROUP]) -> [__m512i; GROUP] {
    match GROUP {
        2 => {
            let (a, b) = (xs[0], xs[1]);
            let first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
            let second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
            xs[0] = _mm512_permutex2var_epi64(a, first, b);
            xs[1] = _mm512_permutex2var_epi64(a, second, b);
        }
        4 => xs = by_group(xs),
        8 => {
            let low = transpose_lanes([xs[0], xs[1], xs[2], xs[3]]);
            let high = transpose_lanes([xs[4], xs[5], xs[6], xs[7]]);
            for i in 0..4 {
                xs[2 * i] = low[i];
                xs[2 * i + 1] = high[i];
            }
        }
        _ => {}
    }
    xs
}

/// Transposes a 4×4 matrix of lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_lanes([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let ab_low = _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b);
    let ab_high = _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b);
    let cd_low = _mm512_shuffle_i64x2::<0b01_00_01_00>(c, d);
    let cd_high = _mm512_shuffle_i64x2::<0b11_10_11_10>(c, d);
    [
        _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_low, cd_low),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_low, cd_low),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_high, cd_high),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_high, cd_high),
    ]
}
