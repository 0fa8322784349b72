//! Fast evaluation in the clear, many inputs side by side.
//!
//! A *lane word* holds one bit of every evaluation; one pass over the plan does them all. The
//! simple evaluator in [`crate::reference`] is the specification of this one.

use zeroize::{Zeroize, Zeroizing};

use crate::plan::{And, Batch, Linear, LookupGate, Plan};
use crate::{Circuit, CircuitError, Table};

/// A word whose bits belong to independent evaluations: `u64` for 64 of them, `[u64; N]` for
/// `64 · N`.
pub trait Lanes: Copy + Zeroize {
    /// Every evaluation's bit 0.
    const ZEROS: Self;
    /// Every evaluation's bit 1.
    const ONES: Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
}

impl Lanes for u64 {
    const ZEROS: Self = 0;
    const ONES: Self = u64::MAX;

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
}

impl<const N: usize> Lanes for [u64; N] {
    const ZEROS: Self = [0; N];
    const ONES: Self = [u64::MAX; N];

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] ^ other[i])
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] & other[i])
    }
}

/// Evaluates a planned circuit: one lane word per input wire in, one per output wire out, both in
/// wire order.
///
/// # Panics
/// When `inputs` has another length than [`Plan::input_slots`].
pub fn eval_lanes<L: Lanes>(plan: &Plan, inputs: &[L]) -> Vec<L> {
    assert_eq!(inputs.len(), plan.input_slots().len(), "one lane word per input wire");
    // A protocol may evaluate in the clear what only one party knows.
    let mut slots = Zeroizing::new(vec![L::ZEROS; plan.slots()]);
    slots[plan.input_slots()].copy_from_slice(inputs);
    let mut places = Zeroizing::new(Vec::with_capacity(1 << Table::MAX_INPUTS));
    let mut cursor = plan.cursor();
    while let Some(Batch { base, linear, ands, lookups, .. }) = cursor.next_batch() {
        let slots = &mut slots[base..];
        for op in linear {
            match *op {
                Linear::Xor { a, b, out } => {
                    slots[out as usize] = slots[a as usize].xor(slots[b as usize]);
                }
                Linear::Inv { a, out } => slots[out as usize] = slots[a as usize].xor(L::ONES),
                Linear::Const { value, out } => {
                    slots[out as usize] = if value { L::ONES } else { L::ZEROS };
                }
                Linear::Copy { from, out, len } => {
                    slots.copy_within(from as usize..(from + len) as usize, out as usize);
                }
            }
        }
        for &And { a, b, out } in ands {
            slots[out as usize] = slots[a as usize].and(slots[b as usize]);
        }
        for LookupGate { table, inputs, outputs } in lookups.iter() {
            one_hot(inputs.iter().map(|&slot| slots[slot as usize]), &mut places);
            look_up(&plan.tables()[table as usize], &places, |output, value| {
                slots[outputs[output] as usize] = value;
            });
        }
    }
    plan.output_slots().iter().map(|&slot| slots[slot as usize]).collect()
}

/// Makes `places` one-hot: in each evaluation, only the place whose number the bits form is set.
/// This number differs between evaluations, so no entry can be picked by an index.
fn one_hot<L: Lanes>(bits: impl Iterator<Item = L>, places: &mut Vec<L>) {
    places.clear();
    places.push(L::ONES);
    for bit in bits {
        for place in 0..places.len() {
            let high = places[place].and(bit);
            places[place] = places[place].xor(high);
            places.push(high);
        }
    }
}

/// Passes every output of a table, by number, to `write`: the bits of the entry at the place that
/// is set.
fn look_up<L: Lanes>(table: &Table, places: &[L], mut write: impl FnMut(usize, L)) {
    for output in 0..table.outputs() as usize {
        let entries = table.entries().iter().zip(places);
        let chosen = entries.filter(|(entry, _)| **entry >> output & 1 == 1);
        write(output, chosen.fold(L::ZEROS, |sum, (_, &place)| sum.xor(place)));
    }
}

/// Evaluates 64 times at once: bit `i` of every word belongs to evaluation `i`.
///
/// # Panics
/// When `inputs` has another length than [`Plan::input_slots`].
pub fn eval_words(plan: &Plan, inputs: &[u64]) -> Vec<u64> {
    eval_lanes(plan, inputs)
}

/// A circuit that is evaluated many times: it is planned once, which takes longer than an evaluation.
pub struct Evaluator<'a> {
    circuit: &'a Circuit,
    plan: Plan,
}

impl<'a> Evaluator<'a> {
    /// Plans the circuit.
    pub fn new(circuit: &'a Circuit) -> Self {
        Evaluator { circuit, plan: Plan::with_lookups(circuit) }
    }

    /// Evaluates once on the bits of all inputs, joined in order; returns the bits of all outputs,
    /// joined in order.
    ///
    /// # Panics
    /// When `inputs` has another length than the main component's inputs; [`ports`](Self::ports)
    /// checks.
    pub fn bits(&self, inputs: &[bool]) -> Vec<bool> {
        let words: Vec<u64> = inputs.iter().map(|&bit| u64::from(bit)).collect();
        eval_words(&self.plan, &words).into_iter().map(|word| word & 1 == 1).collect()
    }

    /// Evaluates once on one bit vector per input; returns one per output.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when there are more or fewer vectors than inputs,
    /// [`CircuitError::Value`] when one has another length than its input's width.
    pub fn ports(&self, inputs: &[Vec<bool>]) -> Result<Vec<Vec<bool>>, CircuitError> {
        let circuit = self.circuit;
        if inputs.len() != circuit.inputs().len() {
            return Err(CircuitError::invalid(format!(
                "values for {} inputs given, the circuit has {}",
                inputs.len(),
                circuit.inputs().len()
            )));
        }
        for (input, bits) in circuit.inputs().iter().zip(inputs) {
            if bits.len() as u64 != input.ty.width() {
                return Err(CircuitError::Value {
                    input: input.name.clone(),
                    ty: input.ty.to_string(),
                    reason: format!("has {} bits, {} given", input.ty.width(), bits.len()),
                });
            }
        }
        let mut outputs = self.bits(&inputs.concat()).into_iter();
        let take = |width: u64| outputs.by_ref().take(width as usize).collect();
        Ok(circuit.outputs().iter().map(|output| output.ty.width()).map(take).collect())
    }
}

/// Evaluates once, as [`Evaluator::bits`] does.
///
/// # Panics
/// When `inputs` has another length than the main component's inputs.
pub fn eval_bits(circuit: &Circuit, inputs: &[bool]) -> Vec<bool> {
    Evaluator::new(circuit).bits(inputs)
}

/// Evaluates once, as [`Evaluator::ports`] does.
///
/// # Errors
/// Those of [`Evaluator::ports`].
pub fn eval_ports(circuit: &Circuit, inputs: &[Vec<bool>]) -> Result<Vec<Vec<bool>>, CircuitError> {
    Evaluator::new(circuit).ports(inputs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference;
    use crate::testing::{Choices, arbitrary_circuit, bits};
    use crate::{Component, Input, Output, Receivers, Step, Type};

    proptest! {
        #[test]
        fn agrees_with_the_reference(circuit in arbitrary_circuit(), seed in any::<u64>()) {
            let inputs = bits(seed, circuit.main().inputs as usize);
            prop_assert_eq!(eval_bits(&circuit, &inputs), reference::eval(&circuit, &inputs));
        }

        #[test]
        fn every_lane_is_an_evaluation(circuit in arbitrary_circuit(), seed in any::<u64>()) {
            let mut choices = Choices::new(seed);
            let inputs: Vec<[u64; 4]> = (0..circuit.main().inputs)
                .map(|_| std::array::from_fn(|_| choices.word()))
                .collect();
            let plan = Plan::new(&circuit);
            let outputs = eval_lanes(&plan, &inputs);
            for word in 0..4 {
                let column: Vec<u64> = inputs.iter().map(|lanes| lanes[word]).collect();
                let expected = eval_words(&plan, &column);
                prop_assert_eq!(outputs.iter().map(|l| l[word]).collect::<Vec<_>>(), expected);
            }
            for lane in 0..256 {
                let bit = |lanes: &[u64; 4]| lanes[lane / 64] >> (lane % 64) & 1 == 1;
                let expected = reference::eval(&circuit, &inputs.iter().map(bit).collect::<Vec<_>>());
                prop_assert_eq!(outputs.iter().map(bit).collect::<Vec<_>>(), expected);
            }
        }
    }

    /// Two inputs of two and three bits; the outputs are the second and the first.
    fn swap() -> Circuit {
        let component =
            Component { inputs: 5, wires: 5, outputs: vec![2, 3, 4, 0, 1], ..Component::default() };
        let input =
            |name: &str, width| Input { name: name.into(), ty: Type::Uint(width), owner: 0.into() };
        let output = |name: &str, width| Output {
            name: name.into(),
            ty: Type::Uint(width),
            to: Receivers::All,
        };
        Circuit::new(
            "swap",
            vec![input("a", 2), input("b", 3)],
            vec![output("b", 3), output("a", 2)],
            vec![component],
        )
        .expect("valid")
    }

    #[test]
    fn ports_are_split_and_checked() {
        let (a, b) = (vec![true, false], vec![false, true, true]);
        assert_eq!(eval_ports(&swap(), &[a.clone(), b.clone()]), Ok(vec![b.clone(), a.clone()]));
        assert!(matches!(
            eval_ports(&swap(), std::slice::from_ref(&a)),
            Err(CircuitError::Invalid(_))
        ));
        let Err(CircuitError::Value { input, ty, .. }) = eval_ports(&swap(), &[b.clone(), a])
        else {
            panic!("a value of the wrong width was taken")
        };
        assert_eq!((input.as_str(), ty.as_str()), ("a", "u2"));
    }

    #[test]
    fn constants_fill_every_lane() {
        let component = Component {
            wires: 2,
            steps: vec![Step::Const { value: true, out: 0 }, Step::Const { value: false, out: 1 }],
            outputs: vec![0, 1],
            ..Component::default()
        };
        let plan = Plan::new(&crate::testing::circuit(vec![component]));
        assert_eq!(eval_words(&plan, &[]), [u64::MAX, 0]);
    }
}
