//! The re-keyed hash with AES-NI: the parts around the rounds of
//! [`hash_kernel`](mod@crate::backend::hash_kernel).

use std::arch::x86_64::*;
use std::arch::x86_64::{
    _mm_aesenc_si128 as encrypt, _mm_aesenclast_si128 as encrypt_last, _mm_setzero_si128 as zero,
    _mm_xor_si128 as xor,
};

use super::aes::next_key;
use super::{load, store};
use crate::Block;
use crate::backend::{RCON, lanes_kernel};
use crate::tweaks::Tweaks;

lanes_kernel!("aes,avx2", __m128i);

#[target_feature(enable = "aes,avx2")]
pub(in super::super) fn hash<const SIGMA: bool>(
    start: Block,
    tweaks: Tweaks<'_>,
    group: usize,
    xs: &mut [Block],
) {
    // As many keys as fill the registers with blocks, but no more than needed to hide the latency.
    match group {
        1 => hash_singles::<SIGMA>(start, tweaks, xs),
        2 => hash_groups::<SIGMA, 2, 4>(start, tweaks, xs),
        4 => hash_groups::<SIGMA, 4, 2>(start, tweaks, xs),
        _ => hash_groups::<SIGMA, 8, 1>(start, tweaks, xs),
    }
}

/// Hashes blocks with a key each: eight at a time, then the rest as groups of one.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn hash_singles<const SIGMA: bool>(start: Block, tweaks: Tweaks<'_>, xs: &mut [Block]) {
    let (chunks, tail) = xs.as_chunks_mut::<8>();
    let done = 8 * chunks.len();
    for (c, chunk) in chunks.iter_mut().enumerate() {
        let keys = keys::<8>(start, tweaks, 8 * c);
        let mut registers = [[zero(); 4]; 2];
        for (register, key) in registers.as_flattened_mut().iter_mut().zip(&keys) {
            *register = load(key);
        }
        let hashes = hash_lanes(registers, |n, i| {
            let block = load(&chunk[4 * n + i]);
            [if SIGMA { sigma(block) } else { block }]
        });
        for (block, [hash]) in chunk.iter_mut().zip(hashes.as_flattened()) {
            store(block, *hash);
        }
    }
    hash_groups::<SIGMA, 1, 4>(start, tweaks.after(done), tail);
}

/// Hashes groups of `GROUP` blocks, `KEYS` groups at a time.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn hash_groups<const SIGMA: bool, const GROUP: usize, const KEYS: usize>(
    start: Block,
    tweaks: Tweaks<'_>,
    xs: &mut [Block],
) {
    let (groups, _) = xs.as_chunks_mut::<GROUP>();
    let (chunks, tail) = groups.as_chunks_mut::<KEYS>();
    let done = chunks.len() * KEYS;
    for (c, chunk) in chunks.iter_mut().enumerate() {
        hash_chunk::<SIGMA, GROUP, KEYS>(keys(start, tweaks, c * KEYS), chunk);
    }
    for (g, group) in tail.iter_mut().enumerate() {
        let key = keys::<1>(start, tweaks, done + g);
        hash_chunk::<SIGMA, GROUP, 1>(key, std::array::from_mut(group));
    }
}

#[inline]
fn keys<const KEYS: usize>(start: Block, tweaks: Tweaks<'_>, first: usize) -> [Block; KEYS] {
    std::array::from_fn(|i| start ^ Block(tweaks.get(first + i)))
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn hash_chunk<const SIGMA: bool, const GROUP: usize, const KEYS: usize>(
    keys: [Block; KEYS],
    chunk: &mut [[Block; GROUP]; KEYS],
) {
    let mut round_keys = [zero(); KEYS];
    let mut states = [[zero(); GROUP]; KEYS];
    for k in 0..KEYS {
        round_keys[k] = load(&keys[k]);
        for (state, block) in states[k].iter_mut().zip(&mut chunk[k]) {
            let mut y = load(block);
            if SIGMA {
                y = sigma(y);
                store(block, y);
            }
            *state = xor(y, round_keys[k]);
        }
    }
    for key in &mut round_keys {
        *key = next_key(*key, RCON[0]);
    }
    for &rcon in &RCON[1..] {
        for k in 0..KEYS {
            // The next key starts before the preceding round, which hides the latency of the
            // schedule.
            let next = next_key(round_keys[k], rcon);
            for state in &mut states[k] {
                *state = encrypt(*state, round_keys[k]);
            }
            round_keys[k] = next;
        }
    }
    for k in 0..KEYS {
        for (&state, block) in states[k].iter().zip(&mut chunk[k]) {
            let y = load(block);
            store(block, xor(encrypt_last(state, round_keys[k]), y));
        }
    }
}

/// Returns the next round keys of four schedules, word by word.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn next_words(w: [__m128i; 4], rcon: i32) -> [__m128i; 4] {
    // RotWord, and the inverse of the ShiftRows that AESENCLAST will apply to four keys' words.
    let rotate = _mm_set_epi32(0x0007_0a0d, 0x0c03_0609, 0x080f_0205, 0x040b_0e01);
    let word = encrypt_last(_mm_shuffle_epi8(w[3], rotate), _mm_set1_epi32(rcon));
    // This takes more XORs than necessary, but w3, for which the next step waits, has only one
    // after the substitution.
    let (w01, w23) = (xor(w[0], w[1]), xor(w[2], w[3]));
    let w0 = xor(w[0], word);
    let w1 = xor(w01, word);
    let w2 = xor(w[2], w1);
    let w3 = xor(xor(w01, w23), word);
    [w0, w1, w2, w3]
}

/// Transposes the 4×4 matrix of 32-bit words in four registers.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_words([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    [
        _mm_unpacklo_epi64(ab_low, cd_low),
        _mm_unpackhi_epi64(ab_low, cd_low),
        _mm_unpacklo_epi64(ab_high, cd_high),
        _mm_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Returns σ(hi ‖ lo) = (hi ⊕ lo) ‖ hi.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sigma(x: __m128i) -> __m128i {
    xor(_mm_shuffle_epi32::<0b11_10_11_10>(x), _mm_slli_si128::<8>(x))
}
