//! The size of a program: what it will cost, before it is run.

use std::collections::BTreeMap;

use crate::plan::{And, Batch, Linear, LookupGate, Plan};
use crate::{Circuit, Step};

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
    /// Look-ups; [`LookupCount::of`] has them by shape.
    pub lookups: u64,
    /// The most AND gates and look-ups on any path, whether or not it leads to an output.
    pub and_depth: u32,
    /// Wires of the flattened program: one per input bit, gate and output of a look-up.
    pub wires: u64,
    /// Slots that a walk over the plan needs: the most wires that are live at once, with the room
    /// that calls take.
    pub live_width: u64,
    /// Bits of all inputs.
    pub input_bits: u64,
    /// Bits of all outputs.
    pub output_bits: u64,
}

impl Stats {
    /// Measures a circuit with its look-ups. Plans it and walks it once; memory grows with the live
    /// wires.
    pub fn of(circuit: &Circuit) -> Stats {
        Stats::of_plan(&Plan::with_lookups(circuit))
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
            lookups: counts.lookups,
            and_depth: and_depth(plan),
            wires: input_bits + counts.wires(),
            live_width: plan.slots() as u64,
            input_bits,
            output_bits: plan.output_slots().len() as u64,
        }
    }
}

/// How many look-ups of one shape a circuit makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LookupCount {
    /// Bits in.
    pub inputs: u32,
    /// Bits out.
    pub outputs: u32,
    /// How many, every call counted as often as it is made.
    pub count: u64,
}

impl LookupCount {
    /// Returns the look-ups of a circuit as written, by shape in ascending order.
    pub fn of(circuit: &Circuit) -> Vec<LookupCount> {
        let mut counts = BTreeMap::new();
        for (table, count) in circuit.tables().iter().zip(table_uses(circuit)) {
            *counts.entry((table.inputs(), table.outputs())).or_insert(0) += count;
        }
        counts.retain(|_, count| *count > 0);
        let count = |((inputs, outputs), count)| LookupCount { inputs, outputs, count };
        counts.into_iter().map(count).collect()
    }
}

/// Returns how often each table is used. The limit on a program's gates keeps sums from
/// overflowing.
fn table_uses(circuit: &Circuit) -> Vec<u64> {
    let mut uses = vec![0; circuit.tables().len()];
    let mut runs = vec![0u64; circuit.components().len()];
    if let Some(main) = runs.last_mut() {
        *main = 1;
    }
    // Callers come after what they call.
    for (index, component) in circuit.components().iter().enumerate().rev() {
        let times = runs[index];
        for step in component.steps.iter().filter(|_| times > 0) {
            match *step {
                Step::Call(call) => {
                    runs[component.calls[call as usize].component as usize] += times
                }
                Step::Repeat(repeat) => {
                    let repeat = component.repeats[repeat as usize];
                    runs[repeat.component as usize] += times * u64::from(repeat.count);
                }
                Step::Lookup(lookup) => {
                    uses[component.lookups[lookup as usize].table as usize] += times;
                }
                _ => {}
            }
        }
    }
    uses
}

/// Computes the exact AND-depth, by one walk with a depth per slot. A depth beyond `u32` saturates.
fn and_depth(plan: &Plan) -> u32 {
    let mut depths = vec![0u32; plan.slots()];
    let mut deepest = 0;
    let mut cursor = plan.cursor();
    while let Some(Batch { base, linear, ands, lookups, .. }) = cursor.next_batch() {
        let depths = &mut depths[base..];
        for op in linear {
            let (out, depth) = match *op {
                Linear::Xor { a, b, out } => (out, depths[a as usize].max(depths[b as usize])),
                Linear::Inv { a, out } => (out, depths[a as usize]),
                Linear::Const { out, .. } => (out, 0),
                Linear::Copy { from, out, len } => {
                    depths.copy_within(from as usize..(from + len) as usize, out as usize);
                    continue;
                }
            };
            depths[out as usize] = depth;
        }
        for &And { a, b, out } in ands {
            let depth = depths[a as usize].max(depths[b as usize]).saturating_add(1);
            depths[out as usize] = depth;
            deepest = deepest.max(depth);
        }
        for LookupGate { inputs, outputs, .. } in lookups.iter() {
            let deepest_input = inputs.iter().map(|&slot| depths[slot as usize]).max();
            let depth = deepest_input.unwrap_or(0).saturating_add(1);
            outputs.iter().for_each(|&slot| depths[slot as usize] = depth);
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
    use crate::{Component, Source, Step};

    /// Counts and depths straight from the definition, call by call.
    fn measure(
        components: &[Component],
        index: usize,
        depths: &[u32],
        stats: &mut Stats,
        uses: &mut BTreeMap<u32, u64>,
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
                    let callee = call.component as usize;
                    let results = measure(components, callee, &args, stats, uses);
                    wires[call.first_output as usize..][..results.len()].copy_from_slice(&results);
                }
                Step::Repeat(repeat) => {
                    let repeat = component.repeats[repeat as usize];
                    let carried = component.carried_by(repeat) as usize;
                    let (mut rounds, mut sources) = (component.rounds(repeat), Vec::new());
                    let (mut last, mut at) = (Vec::<u32>::new(), repeat.first_output as usize);
                    let first = at;
                    at += carried;
                    while rounds.next(&mut sources) {
                        let depth = |source: &Source| match *source {
                            Source::Wire(wire) => wires[wire as usize],
                            Source::Before(output) => last[output as usize],
                            Source::Constant(_) => 0,
                        };
                        let args: Vec<u32> = sources.iter().map(depth).collect();
                        let constant = |source: &&Source| matches!(source, Source::Constant(_));
                        stats.constants += sources.iter().filter(constant).count() as u64;
                        last = measure(components, repeat.component as usize, &args, stats, uses);
                        let others = &last[carried..];
                        wires[at..][..others.len()].copy_from_slice(others);
                        at += others.len();
                    }
                    wires[first..][..carried].copy_from_slice(&last[..carried]);
                }
                Step::Lookup(lookup) => {
                    let lookup = component.lookups[lookup as usize];
                    let inputs = component.inputs_of(lookup).iter();
                    let depth = inputs.map(|&wire| wires[wire as usize]).max().unwrap() + 1;
                    lookup.outputs().for_each(|wire| wires[wire as usize] = depth);
                    stats.lookups += 1;
                    stats.wires += u64::from(lookup.output_count);
                    stats.and_depth = stats.and_depth.max(depth);
                    *uses.entry(lookup.table).or_default() += 1;
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
            let last = circuit.components().len() - 1;
            let mut uses = BTreeMap::new();
            measure(circuit.components(), last, &inputs, &mut expected, &mut uses);
            let by_table = table_uses(&circuit);
            prop_assert_eq!(by_table.iter().filter(|count| **count > 0).count(), uses.len());
            uses.iter().for_each(|(&table, &count)| assert_eq!(by_table[table as usize], count));
            let shapes = LookupCount::of(&circuit);
            prop_assert!(shapes.is_sorted_by_key(|shape| (shape.inputs, shape.outputs)));
            prop_assert_eq!(shapes.iter().map(|s| s.count).sum::<u64>(), expected.lookups);
            expected.input_bits = u64::from(main.inputs);
            expected.output_bits = main.outputs.len() as u64;
            expected.wires += expected.input_bits
                + expected.and + expected.xor + expected.inv + expected.constants;
            let stats = Stats::of(&circuit);
            expected.live_width = stats.live_width;
            let copies = Plan::with_lookups(&circuit).counts().copies;
            prop_assert!(stats.live_width <= expected.wires + copies);
            prop_assert_eq!(stats, expected);
        }
    }
}
