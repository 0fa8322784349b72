//! Asserts that fail whatever the others give, found by one party alone.
//!
//! The circuit is evaluated in the clear on what is known. Every bit is a sum of a known bit and of
//! unknown ones; a product of two sums is split up, and the product of their unknown parts is a new
//! unknown bit, the same for the same factors. So an assert that depends on known inputs alone has
//! a known result, and what cancels out is known, too. An assert fails for certain if no values of
//! the unknown bits make the number of [`Circuit::FAILURE`] zero.

use std::hash::{BuildHasher, RandomState};

use zeroize::{Zeroize, Zeroizing};

use crate::eval::{Lanes, eval_lanes};
use crate::{Circuit, Failure, Plan};

/// A bit as a sum: bit 0 is its known part, the others are a label of its unknown part, 0 if there
/// is none. Labels of different unknown bits are as good as independent.
#[derive(Clone, Copy, Zeroize)]
struct Sum(u128);

impl Lanes for Sum {
    const ZEROS: Self = Sum(0);
    const ONES: Self = Sum(1);

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Sum(self.0 ^ other.0)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        let mask = |bit: u128| 0u128.wrapping_sub(bit);
        let (known, label) = ([self.0 & 1, other.0 & 1], [self.0 & !1, other.0 & !1]);
        // (k + u)(l + v) = kl + kv + lu + uv.
        let by_known = known[0] & known[1] ^ mask(known[0]) & label[1] ^ mask(known[1]) & label[0];
        Sum(by_known ^ product(label[0], label[1]))
    }
}

/// Returns the label of a product of unknown parts: none if either has none, and their own if both
/// are the same.
#[inline(always)]
fn product(a: u128, b: u128) -> u128 {
    let mask = |holds: bool| 0u128.wrapping_sub(u128::from(holds));
    let (low, high) = (a.min(b), a.max(b));
    let first =
        (low ^ 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).wrapping_mul(high | 1).rotate_left(67);
    let second = (first ^ high ^ 0xc2b2_ae3d_27d4_eb4f_1656_67b1_9e37_79f9)
        .wrapping_mul(first | 1)
        .rotate_left(61);
    let new = (second ^ second >> 59) & !1;
    let same = mask(a == b);
    (a & same | new & !same) & mask(a != 0) & mask(b != 0)
}

/// Returns the asserts of which one fails whatever the unknown inputs are, by the bits of the known
/// inputs (`None` for unknown ones): those that may be the first to fail. Returns an empty list if
/// none has to fail, or if that does not show.
///
/// Timing: inputs of programs with asserts | **depends**: masks from single bits may become
/// branches; before a peer is contacted
///
/// # Panics
/// When the plan is of another circuit, or the bits of an input are more or fewer than its width.
pub fn certain_failures<'c>(
    circuit: &'c Circuit,
    plan: &Plan,
    known: &[Option<Vec<bool>>],
) -> Vec<&'c Failure> {
    let mut start = 0;
    let mut place = None;
    for output in circuit.outputs() {
        let width = output.ty.width() as usize;
        if output.name == Circuit::FAILURE && !circuit.failures().is_empty() {
            place = Some(start..start + width);
        }
        start += width;
    }
    let Some(place) = place else { return Vec::new() };
    // Unpredictable, so that nobody can choose a circuit in which labels cancel out.
    let random = RandomState::new();
    let mut inputs = Zeroizing::new(Vec::with_capacity(plan.input_slots().len()));
    for (input, known) in circuit.inputs().iter().zip(known) {
        match known {
            Some(bits) => inputs.extend(bits.iter().map(|&bit| Sum(bit.into()))),
            None => {
                let first = inputs.len() as u64;
                inputs.extend((0..input.ty.width()).map(|bit| label(&random, first + bit)));
            }
        }
    }
    let outputs = Zeroizing::new(eval_lanes(plan, &inputs));
    let code = &outputs[place];
    if is_possible(code, 0) {
        return Vec::new();
    }
    let numbered = (1..).zip(circuit.failures());
    // Numbers that no assert has are without a text.
    let possible =
        numbered.filter(|(number, failure)| !failure.text.is_empty() && is_possible(code, *number));
    possible.map(|(_, failure)| failure).collect()
}

/// Returns an unknown input bit.
fn label(random: &impl BuildHasher, place: u64) -> Sum {
    let half = |half: u8| u128::from(random.hash_one((place, half)));
    Sum((half(0) << 64 | half(1)) & !1)
}

/// Returns whether there are values of the unknown bits, taken for independent, for which these
/// bits form this number: equations between sums.
fn is_possible(code: &[Sum], number: u128) -> bool {
    let mut basis: Vec<u128> = Vec::with_capacity(code.len());
    for (place, bit) in code.iter().enumerate() {
        let wanted = if place < 128 { number >> place & 1 } else { 0 };
        let mut row = bit.0 ^ wanted;
        for &known in &basis {
            // Clears the highest bit of `known` if it is set.
            row = row.min(row ^ known);
        }
        match row {
            0 => {}
            1 => return false,
            _ => basis.push(row),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasherDefault, DefaultHasher};

    use proptest::prelude::*;

    use super::*;
    use crate::builder::{Bit, Builder};
    use crate::testing::{arbitrary_circuit, bits};
    use crate::{Receivers, Type, eval_bits};

    /// Party 0 has `a`, party 1 `b`; the asserts fail where the bits that `fails` returns are set,
    /// and have the numbers of a program's.
    fn circuit(
        numbers: &[u64],
        fails: impl Fn(&mut Builder, &[Bit], &[Bit]) -> Vec<Bit>,
    ) -> Circuit {
        let mut builder = Builder::new("asserts");
        let a = builder.input("a", Type::Uint(8), 0);
        let b = builder.input("b", Type::Uint(8), 1);
        let fails = fails(&mut builder, &a, &b);
        let (mut failed, mut code) = (Bit::ZERO, vec![Bit::ZERO; 4]);
        for (&number, bit) in numbers.iter().zip(fails) {
            let first = builder.and_bit(bit, !failed);
            failed = builder.xor_bit(failed, first);
            for (place, sum) in code.iter_mut().enumerate() {
                if number >> place & 1 == 1 {
                    *sum = builder.xor_bit(*sum, first);
                }
            }
        }
        builder.output(Circuit::FAILURE, &code.into(), Type::Uint(4), Receivers::All);
        let failure = |number| Failure {
            text: if numbers.contains(&number) {
                format!("assert {number}")
            } else {
                String::new()
            },
            file: "a.sym".into(),
            line: 1,
        };
        builder.finish().unwrap().with_failures((1..16).map(failure).collect::<Vec<_>>())
    }

    fn found(circuit: &Circuit, known: [Option<u8>; 2]) -> Vec<String> {
        let bits = |byte: u8| (0..8).map(|place| byte >> place & 1 == 1).collect();
        let known = known.map(|byte| byte.map(bits));
        let found = certain_failures(circuit, &Plan::new(circuit), &known);
        found.iter().map(|failure| failure.text.clone()).collect()
    }

    #[test]
    fn an_assert_on_own_inputs_fails_alone() {
        let one = circuit(&[1], |builder, a, _| vec![builder.and_bit(a[0], a[1])]);
        assert_eq!(found(&one, [Some(3), None]), ["assert 1"]);
        assert!(found(&one, [Some(2), None]).is_empty());
        assert!(found(&one, [None, Some(3)]).is_empty());
    }

    #[test]
    fn asserts_on_others_inputs_hide_it_nowhere() {
        // The numbers of the first asserts of a program: their bits' sum is always 1.
        let numbers = [1, 2, 4, 7, 8];
        for own in 0..5 {
            let all = circuit(&numbers, |builder, a, b| {
                let other = |builder: &mut Builder, i: usize| builder.and_bit(b[i], b[i + 1]);
                (0..5).map(|i| if i == own { a[0] } else { other(builder, i) }).collect()
            });
            let texts = found(&all, [Some(1), None]);
            assert!(texts.contains(&format!("assert {}", numbers[own])), "{own}: {texts:?}");
            assert!(found(&all, [Some(0), None]).is_empty(), "{own}");
        }
    }

    /// If this were found by trying values of the others, it would be found wrongly.
    #[test]
    fn what_fails_for_most_values_is_not_certain() {
        let equal = circuit(&[1], |builder, a, b| {
            let same: Vec<Bit> = a.iter().zip(b).map(|(&a, &b)| !builder.xor_bit(a, b)).collect();
            vec![!same.into_iter().fold(Bit::ONE, |all, bit| builder.and_bit(all, bit))]
        });
        for byte in [0, 1, 77, 255] {
            assert!(found(&equal, [Some(byte), None]).is_empty());
        }
        assert_eq!(found(&equal, [Some(5), Some(6)]), ["assert 1"]);
    }

    proptest! {
        /// Whatever is known of an output is so for all values of what is unknown.
        #[test]
        fn what_is_known_is_true(
            circuit in arbitrary_circuit(),
            seed in any::<u64>(),
            mask in any::<u64>(),
        ) {
            let n = circuit.main().inputs as usize;
            let (own, is_known) = (bits(seed, n), bits(mask, n));
            let random = BuildHasherDefault::<DefaultHasher>::default();
            let given = |i| match is_known[i] {
                true => Sum(u128::from(own[i])),
                false => label(&random, i as u64),
            };
            let given: Vec<Sum> = (0..n).map(given).collect();
            let sums = eval_lanes(&Plan::new(&circuit), &given);
            for others in 0..8u64 {
                let others = bits(seed.rotate_left(7) ^ others.wrapping_mul(0x9e37_79b9_7f4a_7c15), n);
                let all: Vec<bool> =
                    (0..n).map(|i| if is_known[i] { own[i] } else { others[i] }).collect();
                let outputs = eval_bits(&circuit, &all);
                for (sum, &bit) in sums.iter().zip(&outputs) {
                    prop_assert!(sum.0 > 1 || (sum.0 == 1) == bit);
                }
                // The same sum is the same bit, and one more the opposite.
                for (i, j) in (1..sums.len()).map(|j| (j - 1, j)) {
                    let sum = sums[i].0 ^ sums[j].0;
                    prop_assert!(sum > 1 || (sum == 1) == (outputs[i] ^ outputs[j]));
                }
            }
        }
    }
}
