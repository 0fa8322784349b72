//! Half-gates of four garblings side by side, two garblings per register.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256 as and, _mm256_blendv_epi8, _mm256_setzero_si256 as zero,
    _mm256_shuffle_epi32, _mm256_slli_epi32, _mm256_srai_epi32, _mm256_xor_si256 as xor,
};

use super::hash::{hash_lanes, sigma};
use super::{broadcast, load_pair, store_pair, transpose_lanes};
use crate::Block;
use crate::side_by_side::{HalfGates, Lanes};

/// A block of each garbling, in two registers.
type Registers = [__m256i; 2];

/// The number of gates that are evaluated at a time: as many as it takes to hide the latency.
const EVALUATED: usize = 2;

/// The kernel of [`Backend::garble_lanes`](crate::Backend::garble_lanes).
#[target_feature(enable = "avx2,vaes")]
pub(in super::super) fn garble_lanes(
    (starts, first, deltas): (&Lanes, u128, &Lanes),
    inputs: &[[Lanes; 2]],
    tables: &mut [&mut [HalfGates]],
    outputs: &mut [Lanes],
) {
    let (starts, deltas) = (load(starts), load(deltas));
    let offsets = [sigma(deltas[0]), sigma(deltas[1])];
    let mut tweak = first;
    for (k, (inputs, outputs)) in inputs.iter().zip(outputs).enumerate() {
        let [a, b] = [load(&inputs[0]), load(&inputs[1])];
        let [hashes] = hash_lanes([keys(starts, tweak)], |_, i| {
            let input = sigma(if i < 2 { a[i] } else { b[i - 2] });
            [input, xor(input, offsets[i % 2])]
        });
        let mut made = [[zero(); 2]; 2];
        for pair in 0..2 {
            let ([of_a, of_b], delta) = ([hashes[pair], hashes[2 + pair]], deltas[pair]);
            let [x, y] = [colours(a[pair]), colours(b[pair])];
            let generator = xor(xor(of_a[0], of_a[1]), and(y, delta));
            let evaluator = xor(xor(of_b[0], of_b[1]), a[pair]);
            made[pair] = transpose_lanes([generator, evaluator]);
            // α is a ⊕ Δ if a has colour 1.
            let alpha = _mm256_blendv_epi8(of_a[0], of_a[1], x);
            let beta = _mm256_blendv_epi8(of_b[0], of_b[1], y);
            let output = xor(xor(alpha, beta), and(and(x, y), delta));
            store_pair(&mut outputs.0.as_chunks_mut().0[pair], output);
        }
        for (table, made) in tables.iter_mut().zip(made.as_flattened()) {
            store_pair(&mut table[k], *made);
        }
        tweak = tweak.wrapping_add(2);
    }
}

/// The kernel of [`Backend::evaluate_lanes`](crate::Backend::evaluate_lanes).
#[target_feature(enable = "avx2,vaes")]
pub(in super::super) fn evaluate_lanes(
    (starts, first): (&Lanes, u128),
    inputs: &[[Lanes; 2]],
    tables: &[&[HalfGates]],
    outputs: &mut [Lanes],
) {
    let starts = load(starts);
    let (whole, rest) = inputs.as_chunks::<EVALUATED>();
    let (outputs, last) = outputs.as_chunks_mut::<EVALUATED>();
    let (mut gate, mut tweak) = (0, first);
    for (inputs, outputs) in whole.iter().zip(outputs) {
        evaluate((starts, tweak), inputs, (tables, gate), outputs);
        gate += EVALUATED;
        tweak = tweak.wrapping_add(2 * EVALUATED as u128);
    }
    for (inputs, output) in rest.iter().zip(last) {
        let (inputs, output) = (std::array::from_ref(inputs), std::array::from_mut(output));
        evaluate((starts, tweak), inputs, (tables, gate), output);
        gate += 1;
        tweak = tweak.wrapping_add(2);
    }
}

/// Evaluates `N` gates. The first one's half-gates are those of gate `first` in each table.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn evaluate<const N: usize>(
    (starts, tweak): (Registers, u128),
    inputs: &[[Lanes; 2]; N],
    (tables, first): (&[&[HalfGates]], usize),
    outputs: &mut [Lanes; N],
) {
    let mut under = [[zero(); 4]; N];
    for (keys_of, k) in under.iter_mut().zip(0..) {
        *keys_of = keys(starts, tweak.wrapping_add(2 * k));
    }
    let label = |n: usize, i: usize| load_pair(&inputs[n][i / 2].0.as_chunks().0[i % 2]);
    let hashes = hash_lanes(under, |n, i| [sigma(label(n, i))]);
    for (n, outputs) in outputs.iter_mut().enumerate() {
        let mut halves = [zero(); 4];
        for (halves, table) in halves.iter_mut().zip(tables) {
            *halves = load_pair(&table[first + n]);
        }
        for pair in 0..2 {
            let [a, b] = [label(n, pair), label(n, 2 + pair)];
            let ([of_a], [of_b]) = (hashes[n][pair], hashes[n][2 + pair]);
            let [generator, evaluator] = transpose_lanes([halves[2 * pair], halves[2 * pair + 1]]);
            let of_a = xor(of_a, and(colours(a), generator));
            let of_b = xor(of_b, and(colours(b), xor(evaluator, a)));
            store_pair(&mut outputs.0.as_chunks_mut().0[pair], xor(of_a, of_b));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &Lanes) -> Registers {
    let [a, b, c, d] = lanes.0;
    [load_pair(&[a, b]), load_pair(&[c, d])]
}

/// Returns the keys of both tweaks of a gate: those of the first tweak in all garblings, then those
/// of the second.
#[inline]
#[target_feature(enable = "avx2")]
fn keys(starts: Registers, first: u128) -> [__m256i; 4] {
    let [one, two] = [broadcast(&Block(first)), broadcast(&Block(first.wrapping_add(1)))];
    [xor(starts[0], one), xor(starts[1], one), xor(starts[0], two), xor(starts[1], two)]
}

/// Returns blocks of ones where the label has colour 1, and zero elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
fn colours(labels: __m256i) -> __m256i {
    // Copies the lowest word of each block to the whole block, then its lowest bit to all bits.
    let low = _mm256_shuffle_epi32::<0>(labels);
    _mm256_srai_epi32::<31>(_mm256_slli_epi32::<31>(low))
}
