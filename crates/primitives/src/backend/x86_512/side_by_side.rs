//! Half-gates of four garblings side by side, one garbling per lane of a register.

use std::arch::x86_64::{
    __m512i, _mm512_mask_blend_epi64 as blend, _mm512_maskz_mov_epi64 as select, _mm512_set1_epi64,
    _mm512_shuffle_epi32, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask,
    _mm512_xor_si512 as xor,
};

use zeroize::Zeroize;

use super::hash::{hash_lanes, sigma};
use super::{XOR3, broadcast, load, load_tail, store, store_tail, transpose_lanes};
use crate::Block;
use crate::side_by_side::{HalfGates, LANES, Lanes};

/// The number of gates processed at a time: their half-gates in one table fill two registers.
const GATES: usize = 4;

/// The kernel of [`Backend::garble_lanes`](crate::Backend::garble_lanes).
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(in super::super) fn garble_lanes(
    (starts, first, deltas): (&Lanes, u128, &Lanes),
    inputs: &[[Lanes; 2]],
    tables: &mut [&mut [HalfGates]],
    outputs: &mut [Lanes],
) {
    let by = (load(&starts.0), load(&deltas.0));
    let (whole, rest) = inputs.as_chunks::<GATES>();
    let (outputs, last) = outputs.as_chunks_mut::<GATES>();
    let mut tweak = first;
    for (k, (inputs, outputs)) in whole.iter().zip(outputs).enumerate() {
        let made = garble(by, tweak, inputs, outputs);
        for (lane, table) in tables.iter_mut().enumerate() {
            let parts = table[GATES * k..][..GATES].as_flattened_mut().as_chunks_mut().0;
            parts.iter_mut().zip(made).for_each(|(part, made)| store(part, made[lane]));
        }
        tweak = tweak.wrapping_add(2 * GATES as u128);
    }
    if !rest.is_empty() {
        let (mut padded, mut labels) = ([[Lanes::default(); 2]; GATES], [Lanes::default(); GATES]);
        padded[..rest.len()].copy_from_slice(rest);
        let made = garble(by, tweak, &padded, &mut labels);
        for (lane, table) in tables.iter_mut().enumerate() {
            let parts = table[GATES * whole.len()..].as_flattened_mut().chunks_mut(4);
            parts.zip(made).for_each(|(part, made)| store_tail(part, made[lane]));
        }
        last.copy_from_slice(&labels[..rest.len()]);
        padded.as_flattened_mut().zeroize();
        labels.zeroize();
    }
}

/// The kernel of [`Backend::evaluate_lanes`](crate::Backend::evaluate_lanes).
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(in super::super) fn evaluate_lanes(
    (starts, first): (&Lanes, u128),
    inputs: &[[Lanes; 2]],
    tables: &[&[HalfGates]],
    outputs: &mut [Lanes],
) {
    let starts = load(&starts.0);
    let (whole, rest) = inputs.as_chunks::<GATES>();
    let (outputs, last) = outputs.as_chunks_mut::<GATES>();
    let mut tweak = first;
    for (k, (inputs, outputs)) in whole.iter().zip(outputs).enumerate() {
        let mut halves = [[starts; LANES]; 2];
        for (lane, table) in tables.iter().enumerate() {
            let parts = table[GATES * k..][..GATES].as_flattened().as_chunks().0;
            halves.iter_mut().zip(parts).for_each(|(halves, part)| halves[lane] = load(part));
        }
        evaluate((starts, tweak), inputs, halves, outputs);
        tweak = tweak.wrapping_add(2 * GATES as u128);
    }
    if !rest.is_empty() {
        let (mut padded, mut labels) = ([[Lanes::default(); 2]; GATES], [Lanes::default(); GATES]);
        padded[..rest.len()].copy_from_slice(rest);
        let mut halves = [[starts; LANES]; 2];
        for (lane, table) in tables.iter().enumerate() {
            let parts = table[GATES * whole.len()..].as_flattened().chunks(4);
            halves.iter_mut().zip(parts).for_each(|(halves, part)| halves[lane] = load_tail(part));
        }
        evaluate((starts, tweak), &padded, halves, &mut labels);
        last.copy_from_slice(&labels[..rest.len()]);
        padded.as_flattened_mut().zeroize();
        labels.zeroize();
    }
}

/// Returns the keys of both tweaks of four gates.
#[inline]
#[target_feature(enable = "avx512f")]
fn keys(starts: __m512i, first: u128) -> [[__m512i; 4]; 2] {
    let mut keys = [[starts; 4]; 2];
    for (key, i) in keys.as_flattened_mut().iter_mut().zip(0..) {
        *key = xor(*key, broadcast(Block(first.wrapping_add(i))));
    }
    keys
}

/// Returns the mask of the blocks whose label has colour 1.
#[inline]
#[target_feature(enable = "avx512f")]
fn colours(labels: __m512i) -> u8 {
    // Copies the lowest word of each block to the whole block.
    let low = _mm512_shuffle_epi32::<0>(labels);
    _mm512_test_epi64_mask(low, _mm512_set1_epi64(1))
}

/// Garbles four gates. Returns their half-gates: those of the first two gates in each lane, then
/// those of the others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn garble(
    (starts, delta): (__m512i, __m512i),
    tweak: u128,
    inputs: &[[Lanes; 2]; GATES],
    outputs: &mut [Lanes; GATES],
) -> [[__m512i; LANES]; 2] {
    let offset = sigma(delta);
    let hashes = hash_lanes(keys(starts, tweak), |n, i| {
        let input = sigma(load(&inputs[2 * n + i / 2][i % 2].0));
        [input, xor(input, offset)]
    });
    let mut halves = [[delta; 4]; 2];
    for k in 0..GATES {
        let [a, b] = [load(&inputs[k][0].0), load(&inputs[k][1].0)];
        let [x, y] = [colours(a), colours(b)];
        let (n, i) = (k / 2, 2 * (k % 2));
        let [of_a, of_b] = [hashes[n][i], hashes[n][i + 1]];
        halves[n][i] = _mm512_ternarylogic_epi64::<XOR3>(of_a[0], of_a[1], select(y, delta));
        halves[n][i + 1] = _mm512_ternarylogic_epi64::<XOR3>(of_b[0], of_b[1], a);
        // α is a ⊕ Δ if a has colour 1.
        let [alpha, beta] = [blend(x, of_a[0], of_a[1]), blend(y, of_b[0], of_b[1])];
        let output = _mm512_ternarylogic_epi64::<XOR3>(alpha, beta, select(x & y, delta));
        store(&mut outputs[k].0, output);
    }
    halves.map(|halves| transpose_lanes(halves))
}

/// Evaluates four gates, with half-gates as `garble` returns them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn evaluate(
    (starts, tweak): (__m512i, u128),
    inputs: &[[Lanes; 2]; GATES],
    halves: [[__m512i; LANES]; 2],
    outputs: &mut [Lanes; GATES],
) {
    let hashes =
        hash_lanes(keys(starts, tweak), |n, i| [sigma(load(&inputs[2 * n + i / 2][i % 2].0))]);
    let halves = halves.map(|halves| transpose_lanes(halves));
    for k in 0..GATES {
        let [a, b] = [load(&inputs[k][0].0), load(&inputs[k][1].0)];
        let (n, i) = (k / 2, 2 * (k % 2));
        let ([of_a], [of_b]) = (hashes[n][i], hashes[n][i + 1]);
        let generator = select(colours(a), halves[n][i]);
        let evaluator = select(colours(b), xor(halves[n][i + 1], a));
        let sum = _mm512_ternarylogic_epi64::<XOR3>(of_a, of_b, generator);
        store(&mut outputs[k].0, xor(sum, evaluator));
    }
}
