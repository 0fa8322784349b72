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

/// A circuit that is evaluated many times: it is planned once, which takes longer than an
/// evaluation.
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
        let asked = self.circuit.main().inputs as usize;
        assert_eq!(inputs.len(), asked, "one bit per input wire");
        let mut slots = Slots::new(self.plan.slots());
        inputs.iter().enumerate().for_each(|(slot, &bit)| slots.set(slot, bit.into()));
        slots.walk(&self.plan);
        self.plan.output_slots().iter().map(|&slot| slots.get(slot as usize) == 1).collect()
    }

    /// Evaluates once on one bit vector per input; returns one per output.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when there are more or fewer vectors than inputs,
    /// [`CircuitError::Value`] when one has another length than its input's width.
    pub fn ports(&self, inputs: &[Vec<bool>]) -> Result<Vec<Vec<bool>>, CircuitError> {
        let given = inputs.iter().map(|bits| bits.len() as u64);
        check_ports(self.circuit, given, ("bits", |width| width))?;
        let mut outputs = self.bits(&inputs.concat()).into_iter();
        let take = |width: u64| outputs.by_ref().take(width as usize).collect();
        Ok(self.circuit.outputs().iter().map(|output| output.ty.width()).map(take).collect())
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

/// Evaluates once on packed bits, one list of words per input: wire i is bit i mod 64 of word
/// ⌊i / 64⌋. Returns the outputs likewise; their unused bits are zero. A value takes memory for its
/// bits alone, so inputs may be very wide.
///
/// # Errors
/// Those of [`eval_ports`], where the number of words stands for that of bits.
pub fn eval_packed(
    circuit: &Circuit,
    inputs: &[&[u64]],
) -> Result<Vec<Zeroizing<Vec<u64>>>, CircuitError> {
    let words = |width: u64| width.div_ceil(64);
    check_ports(circuit, inputs.iter().map(|words| words.len() as u64), ("words", words))?;
    let plan = Plan::with_lookups(circuit);
    let mut slots = Slots::new(plan.slots());
    let mut first = 0;
    for (input, words) in circuit.inputs().iter().zip(inputs) {
        let width = input.ty.width() as usize;
        for (start, word) in (0..width).step_by(64).zip(words.iter()) {
            slots.set_run(first + start, (width - start).min(64), *word);
        }
        first += width;
    }
    slots.walk(&plan);
    let mut left = plan.output_slots().iter();
    let outputs = circuit.outputs().iter().map(|output| {
        let width = output.ty.width();
        let mut packed = Zeroizing::new(vec![0; words(width) as usize]);
        for (place, &slot) in left.by_ref().take(width as usize).enumerate() {
            packed[place / 64] |= slots.get(slot as usize) << (place % 64);
        }
        packed
    });
    Ok(outputs.collect())
}

/// The slots of one evaluation, a bit each.
struct Slots(Zeroizing<Vec<u64>>);

impl Slots {
    fn new(slots: usize) -> Slots {
        Slots(Zeroizing::new(vec![0; slots.div_ceil(64) + 1]))
    }

    fn get(&self, slot: usize) -> u64 {
        self.0[slot / 64] >> (slot % 64) & 1
    }

    fn set(&mut self, slot: usize, bit: u64) {
        let word = &mut self.0[slot / 64];
        *word = *word & !(1 << (slot % 64)) | bit << (slot % 64);
    }

    /// Returns `len` slots from `first` on, at most 64 and at least one.
    fn run(&self, first: usize, len: usize) -> u64 {
        let (place, shift) = (first / 64, first % 64);
        let low = self.0[place] >> shift;
        let high = if shift > 0 { self.0[place + 1] << (64 - shift) } else { 0 };
        (low | high) & u64::MAX >> (64 - len)
    }

    /// Sets `len` slots from `first` on, at most 64 and at least one.
    fn set_run(&mut self, first: usize, len: usize, bits: u64) {
        let (place, shift) = (first / 64, first % 64);
        let mask = u64::MAX >> (64 - len);
        let bits = bits & mask;
        self.0[place] = self.0[place] & !(mask << shift) | bits << shift;
        if shift + len > 64 {
            let word = &mut self.0[place + 1];
            *word = *word & !(mask >> (64 - shift)) | bits >> (64 - shift);
        }
    }

    /// Walks the plan, from the slots of the inputs to those of the outputs.
    fn walk(&mut self, plan: &Plan) {
        let mut cursor = plan.cursor();
        while let Some(Batch { base, linear, ands, lookups, .. }) = cursor.next_batch() {
            let at = |slot: u32| base + slot as usize;
            for op in linear {
                match *op {
                    Linear::Xor { a, b, out } => {
                        self.set(at(out), self.get(at(a)) ^ self.get(at(b)));
                    }
                    Linear::Inv { a, out } => self.set(at(out), self.get(at(a)) ^ 1),
                    Linear::Const { value, out } => self.set(at(out), value.into()),
                    Linear::Copy { from, out, len } => {
                        for start in (0..len).step_by(64) {
                            let len = (len - start).min(64) as usize;
                            let bits = self.run(at(from + start), len);
                            self.set_run(at(out + start), len, bits);
                        }
                    }
                }
            }
            for &And { a, b, out } in ands {
                self.set(at(out), self.get(at(a)) & self.get(at(b)));
            }
            for LookupGate { table, inputs, outputs } in lookups.iter() {
                let bits = inputs.iter().rev();
                let place = bits.fold(0, |place, &slot| place << 1 | self.get(at(slot)));
                // All entries are read: the place may be secret.
                let entries = (0..).zip(plan.tables()[table as usize].entries());
                let entry = entries.fold(0, |found, (number, &entry)| {
                    found | entry & 0u64.wrapping_sub(u64::from(number == place))
                });
                for (output, &slot) in outputs.iter().enumerate() {
                    self.set(at(slot), entry >> output & 1);
                }
            }
        }
    }
}

/// Checks that there is a value for each input, which has as many parts as its width asks for.
fn check_ports(
    circuit: &Circuit,
    given: impl ExactSizeIterator<Item = u64>,
    (what, asked): (&str, impl Fn(u64) -> u64),
) -> Result<(), CircuitError> {
    if given.len() != circuit.inputs().len() {
        return Err(CircuitError::invalid(format!(
            "values for {} inputs given, the circuit has {}",
            given.len(),
            circuit.inputs().len()
        )));
    }
    for (input, given) in circuit.inputs().iter().zip(given) {
        let asked = asked(input.ty.width());
        if given != asked {
            return Err(CircuitError::Value {
                input: input.name.clone(),
                ty: input.ty.to_string(),
                reason: format!("has {asked} {what}, {given} given"),
            });
        }
    }
    Ok(())
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
        fn packed_bits_are_evaluated_alike(circuit in arbitrary_circuit(), seed in any::<u64>()) {
            let mut inputs = Vec::new();
            for (input, seed) in circuit.inputs().iter().zip(seed..) {
                inputs.push(bits(seed, input.ty.width() as usize));
            }
            let pack = |bits: &Vec<bool>| -> Vec<u64> {
                let word = |bits: &[bool]| bits.iter().rev().fold(0, |w, &b| w << 1 | u64::from(b));
                bits.chunks(64).map(word).collect()
            };
            let packed: Vec<Vec<u64>> = inputs.iter().map(pack).collect();
            let packed: Vec<&[u64]> = packed.iter().map(|words| &words[..]).collect();
            let found = eval_packed(&circuit, &packed).unwrap();
            let expected = eval_ports(&circuit, &inputs).unwrap();
            let expected: Vec<Vec<u64>> = expected.iter().map(pack).collect();
            let found: Vec<Vec<u64>> = found.iter().map(|words| words.to_vec()).collect();
            prop_assert_eq!(found, expected);
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
