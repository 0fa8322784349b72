//! Random circuits and inputs.
#![allow(dead_code, reason = "not every test file uses all of it")]

use proptest::prelude::*;
use symbolon_circuit::{
    Call, Circuit, Component, Input, Output, Plan, Program, Receivers, Step, Type, WireRange,
};
use symbolon_garbling::{InputKeys, Instance, Labels, choose};
use symbolon_primitives::{BitVec, Block, Prg};

pub const SESSION: [u8; 32] = [9; 32];

/// Returns a component of this many random steps on these inputs, with calls of `earlier`
/// components.
fn component(prg: &mut Prg, earlier: &[Component], inputs: u32, steps: u32) -> Component {
    let mut made = Component { inputs, wires: inputs, ..Component::default() };
    for _ in 0..steps {
        let out = made.wires;
        let mut wire = || prg.below(out.into()) as u32;
        let (a, b) = (wire(), wire());
        made.wires += 1;
        match prg.below(8) {
            0 | 1 => made.steps.push(Step::Xor { a, b, out }),
            2..=4 => made.steps.push(Step::And { a, b, out }),
            5 => made.steps.push(Step::Inv { a, out }),
            6 => made.steps.push(Step::Const { value: prg.bool(), out }),
            _ if earlier.is_empty() => made.steps.push(Step::Xor { a, b: a, out }),
            _ => {
                let index = prg.below(earlier.len() as u64) as u32;
                let callee = &earlier[index as usize];
                let first_arg = made.call_args.len() as u32;
                made.call_args.extend((0..callee.inputs).map(|_| {
                    let first = prg.below(out.into()) as u32;
                    WireRange { first, len: 1 }
                }));
                made.wires = out + callee.outputs.len() as u32;
                made.steps.push(Step::Call(made.calls.len() as u32));
                made.calls.push(Call {
                    component: index,
                    first_arg,
                    arg_count: callee.inputs,
                    first_output: out,
                });
            }
        }
    }
    made.outputs = (0..20).map(|_| prg.below(made.wires.into()) as u32).collect();
    made
}

/// Returns a circuit with every kind of gate: components that call each other, constants among the
/// outputs, wires ANDed with themselves.
pub fn random_circuit(seed: u128) -> Circuit {
    let mut prg = Prg::from_public_seed(Block(seed));
    let mut components = Vec::new();
    for _ in 0..1 + prg.below(3) {
        let (inputs, steps) = (1 + prg.below(12) as u32, prg.below(400) as u32);
        components.push(component(&mut prg, &components, inputs, steps));
    }
    let main = components.last().unwrap();
    let input = Input { name: "x".into(), ty: Type::Uint(main.inputs), owner: 0.into() };
    let ty = Type::Uint(main.outputs.len() as u32);
    let output = Output { name: "y".into(), ty, to: Receivers::All };
    Circuit::new("random", vec![input], vec![output], Program::from(components)).unwrap()
}

pub fn random_inputs(plan: &Plan, seed: u128) -> BitVec {
    BitVec::random(plan.input_slots().len(), &mut Prg::from_public_seed(Block(seed)))
}

/// Returns the evaluator's labels for these inputs.
pub fn active(keys: &InputKeys, inputs: &BitVec) -> Labels {
    choose(&keys.inputs, inputs, &keys.delta)
}

/// Garbles into memory. Returns the table and the outputs' labels for 0.
pub fn garble_table(instance: &Instance<'_>, keys: &InputKeys) -> (Vec<[Block; 2]>, Labels) {
    let mut table = vec![[Block::ZERO; 2]; instance.gates() as usize];
    let outputs = instance.garble_into(keys, &mut table);
    (table, outputs)
}

/// Returns the values of outputs, from their labels and the [`decoding`].
pub fn decode(labels: &[Block], decoding: &BitVec) -> BitVec {
    let mut values = symbolon_garbling::decoding(labels);
    values.xor_assign(decoding);
    values
}

pub fn seeds() -> impl Strategy<Value = u128> {
    any::<u128>()
}
