//! Half-gates of four garblings side by side, one block per register. The key schedules of the four
//! garblings proceed word by word, which takes fewer instructions than one after the other.

use std::arch::x86_64::{
    __m128i, _mm_and_si128 as and, _mm_blendv_epi8 as blend, _mm_setzero_si128 as zero,
    _mm_shuffle_epi32, _mm_slli_epi32, _mm_srai_epi32, _mm_xor_si128 as xor,
};

use super::hash::{hash_lanes, sigma};
use super::{load, store};
use crate::Block;
use crate::side_by_side::{HalfGates, LANES, Lanes};

/// A block of each garbling.
type Registers = [__m128i; LANES];

/// The kernel of [`Backend::garble_lanes`](crate::Backend::garble_lanes).
#[target_feature(enable = "aes,avx2")]
pub(in super::super) fn garble_lanes(
    (starts, first, deltas): (&Lanes, u128, &Lanes),
    inputs: &[[Lanes; 2]],
    tables: &mut [&mut [HalfGates]],
    outputs: &mut [Lanes],
) {
    let (starts, deltas) = (load_lanes(starts), load_lanes(deltas));
    let mut offsets = deltas;
    for offset in &mut offsets {
        *offset = sigma(*offset);
    }
    let mut tweak = first;
    for (k, ([a, b], outputs)) in inputs.iter().zip(outputs).enumerate() {
        let both = |labels: &Lanes, tweak| {
            let [hashes] = hash_lanes([keys(starts, tweak)], |_, lane| {
                let input = sigma(load(&labels.0[lane]));
                [input, xor(input, offsets[lane])]
            });
            hashes
        };
        let of_a = both(a, tweak);
        let of_b = both(b, tweak.wrapping_add(1));
        let mut made = [[zero(); 2]; LANES];
        for lane in 0..LANES {
            let ([a, b], delta) = ([a, b].map(|all| all.0[lane]), deltas[lane]);
            let ([a, b], of_a, of_b) = ([load(&a), load(&b)], of_a[lane], of_b[lane]);
            let [x, y] = [colours(a), colours(b)];
            let generator = xor(xor(of_a[0], of_a[1]), and(y, delta));
            let evaluator = xor(xor(of_b[0], of_b[1]), a);
            made[lane] = [generator, evaluator];
            // α is a ⊕ Δ if a has colour 1.
            let alpha = blend(of_a[0], of_a[1], x);
            let beta = blend(of_b[0], of_b[1], y);
            store(&mut outputs.0[lane], xor(xor(alpha, beta), and(and(x, y), delta)));
        }
        for (table, [generator, evaluator]) in tables.iter_mut().zip(made) {
            store(&mut table[k][0], generator);
            store(&mut table[k][1], evaluator);
        }
        tweak = tweak.wrapping_add(2);
    }
}

/// The kernel of [`Backend::evaluate_lanes`](crate::Backend::evaluate_lanes).
#[target_feature(enable = "aes,avx2")]
pub(in super::super) fn evaluate_lanes(
    (starts, first): (&Lanes, u128),
    inputs: &[[Lanes; 2]],
    tables: &[&[HalfGates]],
    outputs: &mut [Lanes],
) {
    let starts = load_lanes(starts);
    let mut tweak = first;
    for (k, ([a, b], outputs)) in inputs.iter().zip(outputs).enumerate() {
        let under = [keys(starts, tweak), keys(starts, tweak.wrapping_add(1))];
        let [of_a, of_b] =
            hash_lanes(under, |half, lane| [sigma(load(&if half == 0 { a } else { b }.0[lane]))]);
        let mut halves = [[zero(); 2]; LANES];
        for (halves, table) in halves.iter_mut().zip(tables) {
            *halves = [load(&table[k][0]), load(&table[k][1])];
        }
        for lane in 0..LANES {
            let [a, b] = [load(&a.0[lane]), load(&b.0[lane])];
            let ([of_a], [of_b], [generator, evaluator]) = (of_a[lane], of_b[lane], halves[lane]);
            let of_a = xor(of_a, and(colours(a), generator));
            let of_b = xor(of_b, and(colours(b), xor(evaluator, a)));
            store(&mut outputs.0[lane], xor(of_a, of_b));
        }
        tweak = tweak.wrapping_add(2);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_lanes(lanes: &Lanes) -> Registers {
    let mut registers = [zero(); LANES];
    for (register, block) in registers.iter_mut().zip(&lanes.0) {
        *register = load(block);
    }
    registers
}

/// Returns the keys of a tweak in all garblings.
#[inline]
#[target_feature(enable = "avx2")]
fn keys(mut starts: Registers, tweak: u128) -> Registers {
    let tweak = load(&Block(tweak));
    for start in &mut starts {
        *start = xor(*start, tweak);
    }
    starts
}

/// Returns ones if the label has colour 1, and zero otherwise.
#[inline]
#[target_feature(enable = "avx2")]
fn colours(label: __m128i) -> __m128i {
    // Copies the lowest word to the whole block, then its lowest bit to all bits.
    _mm_srai_epi32::<31>(_mm_slli_epi32::<31>(_mm_shuffle_epi32::<0>(label)))
}
