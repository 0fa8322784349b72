//! AES with the AArch64 instructions. AESE adds the round key before it substitutes, so a round
//! ends with AESMC, and only the last round key is added separately.

use std::arch::aarch64::*;

use super::{load, store};
use crate::Block;
use crate::backend::RCON;
use crate::tweaks::Tweaks;

/// Returns the next round key of a schedule. On a word that is in all four columns, AESE computes
/// SubWord, because ShiftRows has no effect there.
#[inline]
#[target_feature(enable = "aes,neon")]
fn next_key(key: uint8x16_t, rcon: i32) -> uint8x16_t {
    let zero = vdupq_n_u8(0);
    let last = vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(key));
    let rotated = vsriq_n_u32::<8>(vshlq_n_u32::<24>(last), last);
    let word = vaeseq_u8(vreinterpretq_u8_u32(rotated), zero);
    let word = veorq_u8(word, vreinterpretq_u8_u32(vdupq_n_u32(rcon.cast_unsigned())));
    // Each word of the new key depends on all earlier words of the old one.
    let pairs = veorq_u8(key, vextq_u8::<12>(zero, key));
    let prefix = veorq_u8(pairs, vextq_u8::<8>(zero, pairs));
    veorq_u8(prefix, word)
}

#[target_feature(enable = "aes,neon")]
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
#[target_feature(enable = "aes,neon")]
fn encrypt_many<const N: usize>(keys: &[Block; 11], mut xs: [uint8x16_t; N]) -> [uint8x16_t; N] {
    for key in &keys[..9] {
        let key = load(key);
        for x in &mut xs {
            *x = vaesmcq_u8(vaeseq_u8(*x, key));
        }
    }
    let (key, last) = (load(&keys[9]), load(&keys[10]));
    for x in &mut xs {
        *x = veorq_u8(vaeseq_u8(*x, key), last);
    }
    xs
}

#[inline]
#[target_feature(enable = "aes,neon")]
fn encrypt_in_place<const N: usize>(keys: &[Block; 11], blocks: &mut [Block; N]) {
    let mut xs = [vdupq_n_u8(0); N];
    for (x, block) in xs.iter_mut().zip(&*blocks) {
        *x = load(block);
    }
    for (block, y) in blocks.iter_mut().zip(encrypt_many(keys, xs)) {
        store(block, y);
    }
}

#[target_feature(enable = "aes,neon")]
pub(in super::super) fn encrypt(keys: &[Block; 11], blocks: &mut [Block]) {
    let (chunks, tail) = blocks.as_chunks_mut::<8>();
    for chunk in chunks {
        encrypt_in_place(keys, chunk);
    }
    for block in tail {
        encrypt_in_place(keys, std::array::from_mut(block));
    }
}

#[target_feature(enable = "aes,neon")]
pub(in super::super) fn counter(keys: &[Block; 11], first: u128, out: &mut [Block]) {
    for (block, number) in out.iter_mut().zip(0..) {
        *block = Block(first.wrapping_add(number));
    }
    encrypt(keys, out);
}

#[target_feature(enable = "aes,neon")]
pub(in super::super) fn hash<const SIGMA: bool>(
    start: Block,
    tweaks: Tweaks<'_>,
    group: usize,
    xs: &mut [Block],
) {
    // As many keys at a time as it takes to hide the latency of the rounds.
    match group {
        1 => hash_groups::<SIGMA, 1, 8>(start, tweaks, xs),
        2 => hash_groups::<SIGMA, 2, 4>(start, tweaks, xs),
        4 => hash_groups::<SIGMA, 4, 2>(start, tweaks, xs),
        _ => hash_groups::<SIGMA, 8, 1>(start, tweaks, xs),
    }
}

/// Hashes groups of `GROUP` blocks, `KEYS` groups at a time.
#[inline]
#[target_feature(enable = "aes,neon")]
fn hash_groups<const SIGMA: bool, const GROUP: usize, const KEYS: usize>(
    start: Block,
    tweaks: Tweaks<'_>,
    xs: &mut [Block],
) {
    let (groups, _) = xs.as_chunks_mut::<GROUP>();
    let (chunks, tail) = groups.as_chunks_mut::<KEYS>();
    let done = chunks.len() * KEYS;
    let key = |g: usize| start ^ Block(tweaks.get(g));
    for (c, chunk) in chunks.iter_mut().enumerate() {
        let mut keys = [Block::ZERO; KEYS];
        for (k, slot) in keys.iter_mut().enumerate() {
            *slot = key(c * KEYS + k);
        }
        hash_chunk::<SIGMA, GROUP, KEYS>(&keys, chunk);
    }
    for (g, group) in tail.iter_mut().enumerate() {
        hash_chunk::<SIGMA, GROUP, 1>(&[key(done + g)], std::array::from_mut(group));
    }
}

#[inline]
#[target_feature(enable = "aes,neon")]
fn hash_chunk<const SIGMA: bool, const GROUP: usize, const KEYS: usize>(
    keys: &[Block; KEYS],
    chunk: &mut [[Block; GROUP]; KEYS],
) {
    let mut round_keys = [vdupq_n_u8(0); KEYS];
    let mut inputs = [[vdupq_n_u8(0); GROUP]; KEYS];
    for k in 0..KEYS {
        round_keys[k] = load(&keys[k]);
        for (input, block) in inputs[k].iter_mut().zip(&chunk[k]) {
            *input = if SIGMA { sigma(load(block)) } else { load(block) };
        }
    }
    let mut states = inputs;
    for (round, &rcon) in RCON.iter().enumerate() {
        for k in 0..KEYS {
            for state in &mut states[k] {
                *state = vaeseq_u8(*state, round_keys[k]);
                if round < 9 {
                    *state = vaesmcq_u8(*state);
                }
            }
            round_keys[k] = next_key(round_keys[k], rcon);
        }
    }
    for k in 0..KEYS {
        for ((state, input), block) in states[k].iter().zip(inputs[k]).zip(&mut chunk[k]) {
            store(block, veorq_u8(veorq_u8(*state, round_keys[k]), input));
        }
    }
}

/// Returns σ(hi ‖ lo) = (hi ⊕ lo) ‖ hi.
#[inline]
#[target_feature(enable = "neon")]
fn sigma(x: uint8x16_t) -> uint8x16_t {
    let high = vreinterpretq_u8_u64(vsetq_lane_u64::<0>(0, vreinterpretq_u64_u8(x)));
    veorq_u8(vextq_u8::<8>(x, x), high)
}
