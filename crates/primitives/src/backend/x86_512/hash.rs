//! The re-keyed hash with VAES, four keys per register: the parts around the rounds of
//! [`hash_kernel`](mod@crate::backend::hash_kernel).

use std::arch::x86_64::*;
use std::arch::x86_64::{
    _mm512_aesenc_epi128 as encrypt, _mm512_aesenclast_epi128 as encrypt_last,
    _mm512_setzero_si512 as zero, _mm512_xor_si512 as xor,
};

use super::{XOR3, broadcast, load, numbers, store, transpose_lanes};
use crate::Block;
use crate::backend::{RCON, hash_kernel, lanes_kernel, x86};
use crate::tweaks::Tweaks;

hash_kernel!("avx512f,avx512bw,vaes", __m512i, 4);
lanes_kernel!("avx512f,avx512bw,vaes", __m512i);

#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(in super::super) fn hash<const SIGMA: bool>(
    start: Block,
    tweaks: Tweaks<'_>,
    group: usize,
    xs: &mut [Block],
) {
    match group {
        1 => hash_groups::<SIGMA, 1, 2>(start, tweaks, xs),
        2 => hash_groups::<SIGMA, 2, 2>(start, tweaks, xs),
        4 => hash_groups::<SIGMA, 4, 1>(start, tweaks, xs),
        _ => hash_groups::<SIGMA, 8, 2>(start, tweaks, xs),
    }
}

/// Hashes groups of `GROUP` blocks, sixteen at a time, then four, then the rest in narrow
/// registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn hash_groups<const SIGMA: bool, const GROUP: usize, const N: usize>(
    start: Block,
    tweaks: Tweaks<'_>,
    xs: &mut [Block],
) {
    let wide_start = broadcast(start);
    let (sets, tail) = xs.split_at_mut(xs.len() / (4 * GROUP) * (4 * GROUP));
    let (sets, _) = sets.as_chunks_mut::<4>().0.as_chunks_mut::<GROUP>();
    let mut g = 0;
    let mut four_keys = || {
        g += 4;
        xor(wide_start, four_tweaks(tweaks, g - 4))
    };
    let mut rest = sets;
    if GROUP < 8 {
        let (chunks, left) = rest.split_at_mut(rest.len() / (4 * N) * (4 * N));
        for chunk in chunks.as_chunks_mut::<4>().0.as_chunks_mut::<N>().0 {
            let mut keys = [[wide_start; 4]; N];
            for key in keys.as_flattened_mut() {
                *key = four_keys();
            }
            let hashes = hash_lanes(keys, |n, i| inputs::<SIGMA, GROUP>(&chunk[n][i]));
            for (set, hashes) in chunk.as_flattened_mut().iter_mut().zip(hashes.as_flattened()) {
                write(set, *hashes);
            }
        }
        rest = left;
    } else {
        let (chunks, left) = rest.as_chunks_mut::<N>();
        for chunk in chunks {
            let mut keys = [wide_start; N];
            for key in &mut keys {
                *key = four_keys();
            }
            hash_few::<SIGMA, GROUP, N>(keys, chunk);
        }
        rest = left;
    }
    for set in rest {
        hash_few::<SIGMA, GROUP, 1>([four_keys()], std::array::from_mut(set));
    }
    if !tail.is_empty() {
        x86::hash::<SIGMA>(start, tweaks.after(g), GROUP, tail);
    }
}

/// Returns the tweaks of groups `g .. g + 4`.
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

/// The number of gates that [`half_gates`] makes at a time.
const GATES: usize = 16;

/// The kernel of [`Backend::half_gates`](crate::Backend::half_gates) for as many whole sixteens of
/// gates as there are; returns the number of gates. One register holds the labels of two gates, and
/// another the same labels plus Δ, under the same keys, so only the sums need permutations.
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(in super::super) fn half_gates(
    (start, first, delta): (Block, u128, Block),
    pairs: &[[Block; 2]],
    message: &mut [[Block; 2]],
    labels: &mut [Block],
) -> usize {
    let start = broadcast(start);
    let delta = sigma(broadcast(delta));
    let pairs = pairs.as_chunks::<GATES>().0;
    let message = message.as_chunks_mut::<GATES>().0;
    let labels = labels.as_chunks_mut::<GATES>().0;
    let mut tweak = first;
    for ((pairs, message), labels) in pairs.iter().zip(message).zip(labels) {
        let pairs = pairs.as_flattened().as_chunks::<4>().0;
        let mut keys = [[start; 4]; 2];
        for key in keys.as_flattened_mut() {
            *key = xor(start, numbers(tweak));
            tweak = tweak.wrapping_add(4);
        }
        let hashes = hash_lanes(keys, |n, i| {
            let input = sigma(load(&pairs[4 * n + i]));
            [input, xor(input, delta)]
        });
        let message = message.as_flattened_mut().as_chunks_mut::<4>().0;
        for j in 0..8 {
            let [zero, one] = hashes[j / 4][j % 4];
            // Zero for α, α for β.
            let alpha = _mm512_maskz_shuffle_i64x2::<0b10_10_00_00>(
                0b1100_1100,
                load(&pairs[j]),
                load(&pairs[j]),
            );
            let half = _mm512_ternarylogic_epi64::<XOR3>(zero, one, alpha);
            let half = xor(half, load(&message[j]));
            store(&mut message[j], half);
        }
        for (j, labels) in labels.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let [two, more] = [2 * j, 2 * j + 1].map(|j| hashes[j / 4][j % 4][0]);
            let alphas = _mm512_shuffle_i64x2::<0b10_00_10_00>(two, more);
            let betas = _mm512_shuffle_i64x2::<0b11_01_11_01>(two, more);
            let sum = _mm512_ternarylogic_epi64::<XOR3>(alphas, betas, load(labels));
            store(labels, sum);
        }
    }
    pairs.len() * GATES
}

/// The number of triples that [`leaky_hashes`] makes at a time.
const TRIPLES: usize = 32;

/// The kernel of [`Backend::leaky_hashes`](crate::Backend::leaky_hashes) for as many whole runs of
/// [`TRIPLES`] as there are; returns the number of triples. A register holds the hash inputs of
/// four triples, each lane under its own key, so nothing is permuted.
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(in super::super) fn leaky_hashes(
    (starts, first, delta): ([Block; 2], u128, Block),
    auths: [&[Block]; 2],
    phi: &[Block],
    s: &mut [Block],
    u: &mut [Block],
) -> usize {
    let starts = [broadcast(starts[0]), broadcast(starts[1])];
    let delta = sigma(broadcast(delta));
    // Closures over rows here would not be inlined.
    let (macs, keys) = (auths[0].as_chunks::<TRIPLES>().0, auths[1].as_chunks::<TRIPLES>().0);
    let (phi, s) = (phi.as_chunks::<TRIPLES>().0, s.as_chunks_mut::<TRIPLES>().0);
    let (u, done) = (u.as_chunks_mut::<TRIPLES>().0, TRIPLES * s.len());
    let mut tweak = first;
    let triples = macs.iter().zip(keys).zip(phi);
    for (((macs, keys), phi), (s, u)) in triples.zip(s.iter_mut().zip(u)) {
        let (macs, keys) = (macs.as_chunks::<4>().0, keys.as_chunks::<4>().0);
        let phi = phi.as_chunks::<4>().0;
        let (mut own_keys, mut their_keys) = ([[starts[0]; 4]; 2], [[starts[1]; 4]; 2]);
        let under = own_keys.as_flattened_mut().iter_mut().zip(their_keys.as_flattened_mut());
        for (own, theirs) in under {
            let tweaks = numbers(tweak);
            *own = xor(*own, tweaks);
            *theirs = xor(*theirs, tweaks);
            tweak = tweak.wrapping_add(4);
        }
        let own = hash_lanes(own_keys, |n, i| {
            let input = sigma(load(&keys[4 * n + i]));
            [input, xor(input, delta)]
        });
        let theirs = hash_lanes(their_keys, |n, i| [sigma(load(&macs[4 * n + i]))]);
        let out = s.as_chunks_mut::<4>().0.iter_mut().zip(u.as_chunks_mut::<4>().0);
        for (j, (s, u)) in out.enumerate() {
            let ([zero, one], [single]) = (own[j / 4][j % 4], theirs[j / 4][j % 4]);
            store(u, _mm512_ternarylogic_epi64::<XOR3>(load(&phi[j]), zero, one));
            store(s, _mm512_ternarylogic_epi64::<XOR3>(load(s), zero, single));
        }
    }
    done
}

/// Returns the next round keys of sixteen schedules, word by word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn next_words(w: [__m512i; 4], rcon: i32) -> [__m512i; 4] {
    // RotWord, and the inverse of the ShiftRows that AESENCLAST will apply to four keys' words.
    let rotate =
        _mm512_broadcast_i32x4(_mm_set_epi32(0x0007_0a0d, 0x0c03_0609, 0x080f_0205, 0x040b_0e01));
    let rotated = _mm512_shuffle_epi8(w[3], rotate);
    let word = encrypt_last(rotated, _mm512_set1_epi32(rcon));
    let w0 = xor(w[0], word);
    let w1 = _mm512_ternarylogic_epi64::<XOR3>(w[1], w[0], word);
    let w2 = xor(w[2], w1);
    // This avoids w[3] ^ w2 to reduce latency.
    let w3 = _mm512_ternarylogic_epi64::<XOR3>(w[3], w[2], w1);
    [w0, w1, w2, w3]
}

/// Transposes the 4×4 matrix of 32-bit words in each lane of four registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_words([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab_low, cd_low),
        _mm512_unpackhi_epi64(ab_low, cd_low),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Returns the next round keys of four schedules; see the 128-bit kernel.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn next_keys(keys: __m512i, rcon: i32) -> __m512i {
    let rotate = _mm512_set1_epi32(0x0c0f_0e0d);
    let rotated = _mm512_shuffle_epi8(keys, rotate);
    let word = encrypt_last(rotated, _mm512_set1_epi32(rcon));
    let pairs = xor(keys, _mm512_bslli_epi128::<4>(keys));
    _mm512_ternarylogic_epi64::<XOR3>(pairs, _mm512_bslli_epi128::<8>(pairs), word)
}

/// Returns σ(hi ‖ lo) = (hi ⊕ lo) ‖ hi in each lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn sigma(x: __m512i) -> __m512i {
    let swapped = _mm512_shuffle_epi32::<0b01_00_11_10>(x);
    _mm512_mask_xor_epi64(swapped, 0b1010_1010, swapped, x)
}

/// Converts from memory order to one group per lane: lane l of register j becomes block j of group
/// l.
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
pub(super) fn in_order<const GROUP: usize>(mut xs: [__m512i; GROUP]) -> [__m512i; GROUP] {
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
