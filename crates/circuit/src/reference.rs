//! The simplest evaluator: one bit at a time, straight from the definition. The specification that
//! every other evaluation is tested against.

use crate::{Circuit, Source, Step};

/// Evaluates `circuit` on the bits of all its inputs, joined in order, and returns the bits of all
/// its outputs, joined in order.
///
/// # Panics
/// When `inputs` has another length than the main component's inputs.
pub fn eval(circuit: &Circuit, inputs: &[bool]) -> Vec<bool> {
    eval_component(circuit, circuit.components().len() - 1, inputs)
}

fn eval_component(circuit: &Circuit, index: usize, inputs: &[bool]) -> Vec<bool> {
    let component = &circuit.components()[index];
    assert_eq!(inputs.len(), component.inputs as usize, "input width");
    let mut wires = vec![false; component.wires as usize];
    wires[..inputs.len()].copy_from_slice(inputs);
    for step in &component.steps {
        match *step {
            Step::Xor { a, b, out } => wires[out as usize] = wires[a as usize] ^ wires[b as usize],
            Step::And { a, b, out } => wires[out as usize] = wires[a as usize] & wires[b as usize],
            Step::Inv { a, out } => wires[out as usize] = !wires[a as usize],
            Step::Const { value, out } => wires[out as usize] = value,
            Step::Call(call) => {
                let call = component.calls[call as usize];
                let args =
                    &component.call_args[call.first_arg as usize..][..call.arg_count as usize];
                let bits: Vec<bool> = args
                    .iter()
                    .flat_map(|r| wires[r.first as usize..][..r.len as usize].to_vec())
                    .collect();
                let results = eval_component(circuit, call.component as usize, &bits);
                wires[call.first_output as usize..][..results.len()].copy_from_slice(&results);
            }
            Step::Repeat(repeat) => {
                let repeat = component.repeats[repeat as usize];
                let carried = component.carried_by(repeat) as usize;
                let mut rounds = component.rounds(repeat);
                let (mut sources, mut last) = (Vec::new(), Vec::new());
                let mut next = repeat.first_output as usize + carried;
                while rounds.next(&mut sources) {
                    let bits: Vec<bool> = sources
                        .iter()
                        .map(|source| match *source {
                            Source::Wire(wire) => wires[wire as usize],
                            Source::Before(output) => last[output as usize],
                            Source::Constant(bit) => bit,
                        })
                        .collect();
                    last = eval_component(circuit, repeat.component as usize, &bits);
                    let others = &last[carried..];
                    wires[next..][..others.len()].copy_from_slice(others);
                    next += others.len();
                }
                wires[repeat.first_output as usize..][..carried].copy_from_slice(&last[..carried]);
            }
            Step::Lookup(lookup) => {
                let lookup = component.lookups[lookup as usize];
                let inputs = component.inputs_of(lookup).iter().enumerate();
                let index = inputs.map(|(i, &wire)| usize::from(wires[wire as usize]) << i).sum();
                let entry = circuit.tables()[lookup.table as usize].entry(index);
                lookup
                    .outputs()
                    .enumerate()
                    .for_each(|(i, w)| wires[w as usize] = entry >> i & 1 == 1);
            }
        }
    }
    component.outputs.iter().map(|&w| wires[w as usize]).collect()
}
