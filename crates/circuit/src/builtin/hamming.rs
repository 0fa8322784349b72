//! Hamming distance.

use std::collections::HashMap;

use crate::builder::{Builder, ComponentBuilder, Gates, Subcircuit, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// Bits of each input that one component compares and counts.
const CHUNK: usize = 1024;

/// The number of places in which two words of `bits` bits differ; about one AND per bit.
pub(super) fn hamming(bits: u32) -> Result<Circuit, CircuitError> {
    let mut b = Builder::new(format!("hamming:{bits}"));
    let x = b.input("x", Type::Uint(bits), 0).split(CHUNK);
    let y = b.input("y", Type::Uint(bits), 1).split(CHUNK);

    let mut c = ComponentBuilder::new(format!("distance-{CHUNK}"));
    let (left, right) = (c.input(CHUNK), c.input(CHUNK));
    let count = distance(&mut c, &left, &right);
    c.output(&count);
    let chunk = c.finish()?;

    let mut counts = Vec::with_capacity(x.len());
    for (x, y) in x.iter().zip(&y) {
        counts.push(match x.width() {
            CHUNK => b.call_one(&chunk, &[x, y]),
            _ => distance(&mut b, x, y),
        });
    }
    let width = bits.ilog2() + 1;
    let total = add_up(&mut b, counts)?.resize(width as usize);
    b.output("distance", &total, Type::Uint(width), Receivers::All);
    b.finish()
}

fn distance(g: &mut Gates, x: &Word, y: &Word) -> Word {
    let difference = g.xor(x, y);
    g.popcount(&difference)
}

/// The sum of one or more counts, in a tree of adders, one component for each width.
fn add_up(b: &mut Builder, mut counts: Vec<Word>) -> Result<Word, CircuitError> {
    let mut adders: HashMap<usize, Subcircuit> = HashMap::new();
    while counts.len() > 1 {
        let mut sums = Vec::with_capacity(counts.len().div_ceil(2));
        for pair in counts.chunks(2) {
            let [x, y] = pair else {
                sums.push(pair[0].clone());
                continue;
            };
            let width = x.width().max(y.width());
            let adder = match adders.get(&width) {
                Some(adder) => adder.clone(),
                None => adders.entry(width).or_insert(adder(width)?).clone(),
            };
            sums.push(b.call_one(&adder, &[&x.resize(width), &y.resize(width)]));
        }
        counts = sums;
    }
    Ok(counts.swap_remove(0))
}

/// The sum of two counts, one bit wider than these.
fn adder(width: usize) -> Result<Subcircuit, CircuitError> {
    let mut c = ComponentBuilder::new(format!("add-{width}"));
    let (x, y) = (c.input(width), c.input(width));
    let sum = c.add(&x.resize(width + 1), &y.resize(width + 1));
    c.output(&sum);
    c.finish()
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::run;
    use crate::testing::Choices;

    #[test]
    fn counts_the_places_that_differ() {
        let mut choices = Choices::new(7);
        for bits in [1, 2, 3, 100, 1023, 1024, 1025, 5000] {
            let circuit = hamming(bits).unwrap();
            let ones = (BigUint::from(1u8) << bits) - 1u8;
            let mut random = || {
                let bytes: Vec<u8> = (0..bits.div_ceil(8)).map(|_| choices.word() as u8).collect();
                BigUint::from_bytes_be(&bytes) & &ones
            };
            let pairs = [(random(), random()), (ones.clone(), BigUint::ZERO)];
            for (x, y) in pairs {
                let expected = (&x ^ &y).count_ones();
                assert_eq!(run(&circuit, &[x, y]), [BigUint::from(expected)], "{bits}");
            }
            assert!(and_count(&circuit) < 2 * u64::from(bits));
        }
    }

    #[test]
    fn the_papers_distance_is_small_as_a_program() {
        let circuit = hamming(1 << 20).unwrap();
        assert!(and_count(&circuit) <= 1_070_000, "{}", and_count(&circuit));
        let steps: usize = circuit.components().iter().map(|c| c.steps.len()).sum();
        assert!(steps < 20_000, "{steps}");
        assert_eq!(circuit.outputs()[0].ty.width(), 21);
    }
}
