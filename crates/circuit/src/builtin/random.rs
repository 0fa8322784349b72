//! Pseudo-random circuits: AND gates in any number, for measurements.

use crate::builder::{Bit, Builder, ComponentBuilder, Gates, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// Bits of each input and of the output.
const WIDTH: usize = 128;

/// A circuit of exactly `ands` AND gates, all of which the output depends on; always the same for
/// the same number.
pub(super) fn random(ands: u32) -> Result<Circuit, CircuitError> {
    let (mut b, mut state) = start(format!("random:{ands}"));
    stir(&mut b, &mut state, ands);
    b.output("z", &state, Type::Uint(WIDTH as u32), Receivers::All);
    b.finish()
}

/// The same number of AND gates, as consecutive calls of one component with `part` gates, which
/// divides `ands`.
pub(super) fn random_in_parts(ands: u32, part: u32) -> Result<Circuit, CircuitError> {
    let mut c = ComponentBuilder::new(format!("random-{part}"));
    let mut state = c.input(WIDTH);
    stir(&mut c, &mut state, part);
    c.output(&state);
    let component = c.finish()?;

    let (mut b, mut state) = start(format!("random:{ands}/{part}"));
    for _ in 0..ands / part {
        state = b.call_one(&component, &[&state]);
    }
    b.output("z", &state, Type::Uint(WIDTH as u32), Receivers::All);
    b.finish()
}

fn start(name: String) -> (Builder, Word) {
    let mut b = Builder::new(name);
    let x = b.input("x", Type::Uint(WIDTH as u32), 0);
    let y = b.input("y", Type::Uint(WIDTH as u32), 1);
    let state = b.xor(&x, &y);
    (b, state)
}

/// Adds the product of two bits of the state to a third one, until `ands` gates have been made.
///
/// No bit is ever replaced, only added to, so every product remains part of the sum that its bit
/// is.
fn stir(g: &mut Gates, state: &mut [Bit], ands: u32) {
    let end = g.and_count() + u64::from(ands);
    let mut seed = u64::from(ands);
    while g.and_count() < end {
        let choice = split_mix(&mut seed);
        let [i, j, k] = [0, 8, 16].map(|shift| (choice >> shift) as usize % WIDTH);
        if i == j || j == k || i == k {
            continue;
        }
        let before = g.and_count();
        let product = g.and_bit(state[i], state[j]);
        // A product that already exists is not added: added twice, it might cancel.
        if g.and_count() > before {
            state[k] = g.xor_bit(state[k], product);
        }
    }
}

/// Steele, Lea and Flood's SplitMix64.
fn split_mix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::and_count;

    #[test]
    fn has_exactly_so_many_ands_after_sweeping() {
        for ands in [1, 2, 3, 100, 1000, 65_537] {
            let circuit = random(ands).unwrap();
            assert_eq!(and_count(&circuit), u64::from(ands));
            assert_eq!(circuit, random(ands).unwrap());
        }
        let circuit = random_in_parts(12_000, 1000).unwrap();
        assert_eq!(and_count(&circuit), 12_000);
        assert_eq!(circuit.components().len(), 2);
        assert_eq!(circuit.main().calls.len(), 12);
    }

    #[test]
    fn depends_on_all_inputs() {
        // Flipping one bit of either input changes the output, as for a random function.
        let circuit = random(2000).unwrap();
        let base = crate::testing::bits(1, 2 * WIDTH);
        let out = crate::reference::eval(&circuit, &base);
        for i in 0..2 * WIDTH {
            let mut flipped = base.clone();
            flipped[i] ^= true;
            assert_ne!(crate::reference::eval(&circuit, &flipped), out, "{i}");
        }
    }
}
