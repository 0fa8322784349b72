//! A circuit in rounds, for protocols that send one message per layer of gates that are not free.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use super::flat::{Gate, walk};
use super::frame::{Frame, Segment};
use super::{And, GateCounts, Limits, Linear, LookupGates, Plan};
use crate::{Circuit, CircuitError, Component, Lookup, Step, Table, Wire};

/// A circuit cut into as few layers as possible: every AND gate and every look-up is in the first
/// layer in which all its operands are known.
///
/// Unlike a [`Plan`] it holds the whole flattened program: about 64 bytes per gate while it is
/// made, 20 afterwards. Look-ups are kept; call [`lower_lookups`](crate::lower_lookups) first to
/// have none.
///
/// To walk it, keep one value per slot ([`slots`](Self::slots) of them). Put the inputs' bits, in
/// order, into the slots [`input_slots`](Self::input_slots); take the layers one after the other,
/// and in each first the linear gates in order, then the AND gates and look-ups in any order or all
/// at once; then the outputs' bits, in order, are in the slots
/// [`output_slots`](Self::output_slots). Slots are assigned by liveness, so there are about as many
/// as wires live at one time in this order.
#[derive(Clone, Debug)]
pub struct Layered {
    frame: Frame,
    tables: Arc<[Table]>,
}

/// Gates of one round.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// To be done first, one after the other. None is a [`Linear::Copy`].
    pub linear: &'a [Linear],
    /// To be done then, with the look-ups, in any order: none reads or overwrites a slot that
    /// another one writes. Only the last layer may have neither ANDs nor look-ups.
    pub ands: &'a [And],
    /// The number of the first of `ands` among all AND gates; the others follow it.
    pub first_and: u64,
    /// To be done with the `ands`.
    pub lookups: LookupGates<'a>,
    /// The number of the first of `lookups` among all look-ups; the others follow it.
    pub first_lookup: u64,
}

impl Layered {
    /// The most wires that the flattened program may have: input bits, gates, and outputs of
    /// look-ups.
    pub const MAX_WIRES: u64 = 1 << 26;

    /// Cuts a circuit into layers.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when the flattened program has more than
    /// [`MAX_WIRES`](Self::MAX_WIRES) wires; nothing of that size has been allocated then.
    pub fn new(circuit: &Circuit) -> Result<Layered, CircuitError> {
        let plan = Plan::with_lookups(circuit);
        let wires = plan.counts().wires() + plan.input_slots().len() as u64;
        if wires > Self::MAX_WIRES {
            return Err(CircuitError::invalid(format!(
                "`{}` has {wires} wires, of which layers can be made for up to {}",
                circuit.name(),
                Self::MAX_WIRES
            )));
        }
        let tables = plan.shared_tables();
        let Ok(component) = flatten(plan);
        let limits = Limits { window: usize::MAX, batch: usize::MAX };
        let frame = Frame::plan(&component, &[], |callee| callee, limits);
        Ok(Layered { frame, tables })
    }

    /// Returns how many slots a walker needs.
    pub fn slots(&self) -> usize {
        self.frame.depth
    }

    /// Returns the slots of the inputs' bits, in order, when the walk starts: `0 .. n`.
    pub fn input_slots(&self) -> Range<usize> {
        0..self.frame.inputs as usize
    }

    /// Returns the slots of the outputs' bits, in order, when the walk has ended. A slot may occur
    /// more than once.
    pub fn output_slots(&self) -> &[u32] {
        &self.frame.outputs
    }

    /// Returns the tables that the look-ups' numbers refer to.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns how many gates of every kind there are; there are no copies.
    pub fn counts(&self) -> GateCounts {
        self.frame.counts
    }

    /// Returns how many layers have AND gates or look-ups, which are the rounds of a walk. These
    /// layers come first.
    pub fn depth(&self) -> usize {
        let last = self.layers().next_back();
        let free = last.is_some_and(|last| last.ands.is_empty() && last.lookups.is_empty());
        self.frame.segments.len() - usize::from(free)
    }

    /// Returns the layers, in order.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = Layer<'_>> + DoubleEndedIterator {
        (0..self.frame.segments.len()).map(|index| {
            let (linear, and, lookup) = match index {
                0 => (0, 0, 0),
                _ => self.ends(index - 1),
            };
            let (linear_end, and_end, lookup_end) = self.ends(index);
            Layer {
                linear: &self.frame.linear[linear..linear_end],
                ands: &self.frame.ands[and..and_end],
                first_and: and as u64,
                lookups: self.frame.lookups.part(lookup..lookup_end),
                first_lookup: lookup as u64,
            }
        })
    }

    /// Returns where a layer ends in the lists of linear gates, ANDs and look-ups.
    fn ends(&self, index: usize) -> (usize, usize, usize) {
        match self.frame.segments[index] {
            Segment::Batch { linear_end, and_end, lookup_end } => {
                (linear_end as usize, and_end as usize, lookup_end as usize)
            }
            Segment::Call(_) | Segment::Repeat(_) => unreachable!("a flat program has no calls"),
        }
    }
}

/// Returns all gates of a plan as one component, whose wires fit a [`Wire`].
fn flatten(plan: Plan) -> Result<Component, Infallible> {
    let inputs = plan.input_slots().len() as u32;
    let mut flat = Component { inputs, wires: inputs, ..Component::default() };
    flat.steps.reserve_exact(plan.counts().gates() as usize);
    let outputs = walk(&plan, |gate, results| {
        let out = flat.wires;
        for result in results.iter_mut() {
            *result = flat.wires.into();
            flat.wires += 1;
        }
        // All numbers of wires were assigned here.
        let wire = |number: u64| number as Wire;
        let step = match gate {
            Gate::Xor(a, b) => Step::Xor { a: wire(a), b: wire(b), out },
            Gate::And(a, b) => Step::And { a: wire(a), b: wire(b), out },
            Gate::Inv(a) => Step::Inv { a: wire(a), out },
            Gate::Const(value) => Step::Const { value, out },
            Gate::Lookup(table, inputs) => {
                let first_input = flat.lookup_inputs.len() as u32;
                flat.lookup_inputs.extend(inputs.iter().map(|&number| wire(number)));
                flat.lookups.push(Lookup {
                    table,
                    first_input,
                    input_count: inputs.len() as u32,
                    first_output: out,
                    output_count: results.len() as u32,
                });
                Step::Lookup(flat.lookups.len() as u32 - 1)
            }
        };
        flat.steps.push(step);
        Ok::<(), Infallible>(())
    })?;
    flat.outputs = outputs.into_iter().map(|number| number as Wire).collect();
    Ok(flat)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::builtin::by_name;
    use crate::plan::LookupGate;
    use crate::testing::{arbitrary_circuit, bits};
    use crate::{Call, Stats, lower_lookups, reference};

    /// Walks the layers bit by bit, checking what they promise on the way.
    fn walk(layered: &Layered, inputs: &[bool]) -> Vec<bool> {
        let mut slots = vec![false; layered.slots()];
        slots[layered.input_slots()].copy_from_slice(inputs);
        let (mut ands, mut lookups) = (0, 0);
        for (index, layer) in layered.layers().enumerate() {
            for op in layer.linear {
                let (out, value) = match *op {
                    Linear::Xor { a, b, out } => (out, slots[a as usize] ^ slots[b as usize]),
                    Linear::Inv { a, out } => (out, !slots[a as usize]),
                    Linear::Const { value, out } => (out, value),
                    Linear::Copy { .. } => panic!("a copy in a flat program"),
                };
                slots[out as usize] = value;
            }
            assert_eq!((layer.first_and, layer.first_lookup), (ands, lookups));
            ands += layer.ands.len() as u64;
            lookups += layer.lookups.iter().len() as u64;
            let costs = !layer.ands.is_empty() || !layer.lookups.is_empty();
            assert_eq!(costs, index < layered.depth());
            let before = slots.clone();
            let mut written = HashSet::new();
            for &And { a, b, out } in layer.ands {
                slots[out as usize] = before[a as usize] & before[b as usize];
                assert!(written.insert(out));
            }
            for LookupGate { table, inputs, outputs } in layer.lookups.iter() {
                let bit = |i: usize, &s: &u32| usize::from(before[s as usize]) << i;
                let index = inputs.iter().enumerate().map(|(i, slot)| bit(i, slot)).sum();
                let entry = layered.tables()[table as usize].entry(index);
                for (i, &slot) in outputs.iter().enumerate() {
                    slots[slot as usize] = entry >> i & 1 == 1;
                    assert!(written.insert(slot));
                }
            }
            let read = layer.lookups.iter().flat_map(|lookup| lookup.inputs.iter().copied());
            let mut read = read.chain(layer.ands.iter().flat_map(|and| [and.a, and.b]));
            assert!(read.all(|slot| !written.contains(&slot)), "a result is read in its layer");
        }
        assert_eq!((ands, lookups), (layered.counts().and, layered.counts().lookups));
        layered.output_slots().iter().map(|&slot| slots[slot as usize]).collect()
    }

    proptest! {
        #[test]
        fn layers_compute_the_same_in_as_few_rounds_as_can_be(
            circuit in arbitrary_circuit(),
            seed in any::<u64>(),
        ) {
            let inputs = bits(seed, circuit.main().inputs as usize);
            let expected = reference::eval(&circuit, &inputs);
            let layered = Layered::new(&circuit).unwrap();
            prop_assert_eq!(&walk(&layered, &inputs), &expected);
            prop_assert_eq!(layered.depth(), Stats::of(&circuit).and_depth as usize);
            let counts = Plan::with_lookups(&circuit).counts();
            prop_assert_eq!(layered.counts(), GateCounts { copies: 0, ..counts });
            let lowered = Layered::new(&lower_lookups(&circuit)).unwrap();
            prop_assert_eq!(lowered.counts().lookups, 0);
            prop_assert_eq!(&walk(&lowered, &inputs), &expected);
        }
    }

    #[test]
    fn calls_share_layers_and_slots_follow_live_wires() {
        let circuit = by_name("cbcmac:3").unwrap();
        let layered = Layered::new(&circuit).unwrap();
        assert_eq!(layered.depth(), Stats::of(&circuit).and_depth as usize);
        assert!(layered.slots() < 5000, "{} slots", layered.slots());
        let inputs = bits(3, circuit.main().inputs as usize);
        assert_eq!(walk(&layered, &inputs), reference::eval(&circuit, &inputs));
    }

    #[test]
    fn programs_that_are_too_large_are_refused_before_anything_is_allocated() {
        let mut components = vec![Component {
            inputs: 1,
            wires: 2,
            steps: vec![Step::Inv { a: 0, out: 1 }],
            outputs: vec![1],
            ..Component::default()
        }];
        for component in 0..27 {
            let call = |first_arg| Call {
                component,
                first_arg,
                arg_count: 1,
                first_output: first_arg + 1,
            };
            components.push(Component {
                inputs: 1,
                wires: 3,
                steps: vec![Step::Call(0), Step::Call(1)],
                calls: vec![call(0), call(1)],
                call_args: (0..2).map(|first| crate::WireRange { first, len: 1 }).collect(),
                outputs: vec![2],
                ..Component::default()
            });
        }
        let error = Layered::new(&crate::testing::circuit(components)).unwrap_err();
        assert!(error.to_string().contains("134217729 wires"), "{error}");
    }
}
