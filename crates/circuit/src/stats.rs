//! How big a program is: what it will cost, before it is run.

use crate::Circuit;
use crate::plan::{And, Batch, Linear, Plan};

/// Measures of a circuit as written, every call counted as often as it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// AND gates.
    pub and: u64,
    /// XOR gates.
    pub xor: u64,
    /// NOT gates.
    pub inv: u64,
    /// Public constants.
    pub constants: u64,
    /// The most AND gates on any path, whether or not it leads to an output.
    pub and_depth: u32,
    /// Wires of the flattened program: one per input bit and gate.
    pub wires: u64,
    /// Slots that a walk over the plan needs: the live wires at their most numerous, with the room
    /// that calls take.
    pub live_width: u64,
    /// Bits of all inputs.
    pub input_bits: u64,
    /// Bits of all outputs.
    pub output_bits: u64,
}

impl Stats {
    /// Measures a circuit. Plans it and walks it once; the memory follows the live wires.
    pub fn of(circuit: &Circuit) -> Stats {
        Stats::of_plan(&Plan::new(circuit))
    }

    /// Measures a circuit that is already planned.
    pub fn of_plan(plan: &Plan) -> Stats {
        let counts = plan.counts();
        let input_bits = plan.input_slots().len() as u64;
        Stats {
            and: counts.and,
            xor: counts.xor,
            inv: counts.inv,
            constants: counts.constants,
            and_depth: and_depth(plan),
            wires: input_bits + counts.and + counts.xor + counts.inv + counts.constants,
            live_width: plan.slots() as u64,
            input_bits,
            output_bits: plan.output_slots().len() as u64,
        }
    }
}

/// The exact AND-depth, by one walk with a depth per slot. A depth beyond `u32` saturates.
fn and_depth(plan: &Plan) -> u32 {
    let mut depths = vec![0u32; plan.slots()];
    let mut deepest = 0;
    let mut cursor = plan.cursor();
    while let Some(Batch { base, linear, ands, .. }) = cursor.next_batch() {
        let depths = &mut depths[base..];
        for op in linear {
            let (out, depth) = match *op {
                Linear::Xor { a, b, out } => (out, depths[a as usize].max(depths[b as usize])),
                Linear::Inv { a, out } => (out, depths[a as usize]),
                Linear::Const { out, .. } => (out, 0),
                Linear::Copy { from, out } => (out, depths[from as usize]),
            };
            depths[out as usize] = depth;
        }
        for &And { a, b, out } in ands {
            let depth = depths[a as usize].max(depths[b as usize]).saturating_add(1);
            depths[out as usize] = depth;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::arbitrary_circuit;
    use crate::{Component, Step};

    /// Counts and depths straight from the definition, call by call.
    fn measure(
        components: &[Component],
        index: usize,
        depths: &[u32],
        stats: &mut Stats,
    ) -> Vec<u32> {
        let component = &components[index];
        let mut wires = vec![0u32; component.wires as usize];
        wires[..depths.len()].copy_from_slice(depths);
        for step in &component.steps {
            match *step {
                Step::Xor { a, b, out } => {
                    stats.xor += 1;
                    wires[out as usize] = wires[a as usize].max(wires[b as usize]);
                }
                Step::And { a, b, out } => {
                    stats.and += 1;
                    let depth = wires[a as usize].max(wires[b as usize]) + 1;
                    wires[out as usize] = depth;
                    stats.and_depth = stats.and_depth.max(depth);
                }
                Step::Inv { a, out } => {
                    stats.inv += 1;
                    wires[out as usize] = wires[a as usize];
                }
                Step::Const { .. } => stats.constants += 1,
                Step::Call(call) => {
                    let call = component.calls[call as usize];
                    let args: Vec<u32> = component.call_args[call.first_arg as usize..]
                        [..call.arg_count as usize]
                        .iter()
                        .flat_map(|r| wires[r.first as usize..][..r.len as usize].to_vec())
                        .collect();
                    let results = measure(components, call.component as usize, &args, stats);
                    wires[call.first_output as usize..][..results.len()].copy_from_slice(&results);
                }
            }
        }
        component.outputs.iter().map(|&wire| wires[wire as usize]).collect()
    }

    proptest! {
        #[test]
        fn measures_the_flattened_program(circuit in arbitrary_circuit()) {
            let mut expected = Stats::default();
            let main = circuit.main();
            let inputs = vec![0; main.inputs as usize];
            measure(circuit.components(), circuit.components().len() - 1, &inputs, &mut expected);
            expected.input_bits = u64::from(main.inputs);
            expected.output_bits = main.outputs.len() as u64;
            expected.wires = expected.input_bits
                + expected.and + expected.xor + expected.inv + expected.constants;
            let stats = Stats::of(&circuit);
            expected.live_width = stats.live_width;
            prop_assert!(stats.live_width <= expected.wires + Plan::new(&circuit).counts().copies);
            prop_assert_eq!(stats, expected);
        }
    }
}
