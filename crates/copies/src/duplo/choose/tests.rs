//! Tests components against the reference evaluation.

use proptest::prelude::*;
use symbolon_circuit::components::{ComponentGraph, Wire, assemble};
use symbolon_circuit::{
    Call, Circuit, Component, Input, Output, Ranges, Receivers, Repeat, RepeatArg, Step, Type,
    WireRange, builtin, eval_bits, lower_lookups, reference,
};
use symbolon_primitives::{Block, Prg};

use super::super::params::{Games, Params};
use super::*;

/// Evaluates all executions in the clear.
fn eval(graph: &ComponentGraph, inputs: &[bool]) -> Vec<bool> {
    let mut wires = inputs.to_vec();
    wires.resize(graph.wires, false);
    let sum = |wires: &[bool], (terms, constant): (&[Wire], bool)| {
        terms.iter().fold(constant, |sum, &wire| sum ^ wires[wire as usize])
    };
    for slot in &graph.slots {
        let kind = &graph.kinds[slot.kind];
        let numbers = slot.first_sum..slot.first_sum + kind.inputs();
        let inputs: Vec<bool> = numbers.map(|number| sum(&wires, graph.sums.get(number))).collect();
        let outputs = eval_bits(&kind.circuit, &inputs);
        wires[slot.first_output as usize..][..outputs.len()].copy_from_slice(&outputs);
    }
    graph.outputs.iter().map(|source| sum(&wires, source)).collect()
}

/// A program of components with random gates and calls: sources interleaved, repeated and constant,
/// outputs scattered.
fn random_program(seed: u128) -> Circuit {
    let mut prg = Prg::from_seed(Block(seed));
    let mut components: Vec<Component> = Vec::new();
    for _ in 0..1 + prg.below(5) {
        components.push(random_component(&mut prg, &components));
    }
    let main = components.last().unwrap();
    let port = |bits: usize| (bits > 0).then_some(Type::Uint(bits as u32));
    let inputs = port(main.inputs as usize);
    let inputs = inputs.map(|ty| Input { name: "x".into(), ty, owner: 0.into() });
    let outputs = port(main.outputs.len());
    let outputs = outputs.map(|ty| Output { name: "y".into(), ty, to: Receivers::All });
    let (inputs, outputs) = (inputs.into_iter().collect(), outputs.into_iter().collect());
    Circuit::new("random", inputs, outputs, components).unwrap()
}

fn random_component(prg: &mut Prg, earlier: &[Component]) -> Component {
    let inputs = 1 + prg.below(6) as u32;
    let mut component = Component { inputs, wires: inputs, ..Component::default() };
    for _ in 0..prg.below(14) {
        let wire = |prg: &mut Prg, wires: u32| prg.below(wires.into()) as u32;
        let (a, b) = (wire(prg, component.wires), wire(prg, component.wires));
        let out = component.wires;
        component.wires += 1;
        let step = match prg.below(8) {
            0 | 1 => Step::Xor { a, b, out },
            2 | 3 => Step::And { a, b, out },
            4 => Step::Inv { a, out },
            5 => Step::Const { value: a % 2 == 0, out },
            _ if earlier.is_empty() => Step::Xor { a, b, out },
            6 => random_repeat(prg, earlier, &mut component, out),
            _ => {
                let callee = prg.below(earlier.len() as u64) as usize;
                let first_arg = component.call_args.len() as u32;
                for _ in 0..earlier[callee].inputs {
                    let first = wire(prg, out);
                    component.call_args.push(WireRange { first, len: 1 });
                }
                component.calls.push(Call {
                    component: callee as u32,
                    first_arg,
                    arg_count: earlier[callee].inputs,
                    first_output: out,
                });
                component.wires = out + earlier[callee].outputs.len() as u32;
                Step::Call(component.calls.len() as u32 - 1)
            }
        };
        component.steps.push(step);
    }
    let outputs = 1 + prg.below(5);
    component.outputs = (0..outputs).map(|_| prg.below(component.wires.into()) as u32).collect();
    component
}

/// A repeat of up to three rounds; each input bit is passed in a random way.
fn random_repeat(
    prg: &mut Prg,
    earlier: &[Component],
    component: &mut Component,
    out: u32,
) -> Step {
    let callee = prg.below(earlier.len() as u64) as usize;
    let (count, outputs) = (1 + prg.below(3) as u32, earlier[callee].outputs.len() as u32);
    let (first_arg, mut carried) = (component.repeat_args.len() as u32, 0);
    for _ in 0..earlier[callee].inputs {
        let kind = prg.below(4);
        let first = component.call_args.len() as u32;
        let ranges = Ranges { first, count: if kind == 1 { count } else { 1 } };
        component.repeat_args.push(match kind {
            0 if carried < outputs => {
                carried += 1;
                RepeatArg::Carried(ranges)
            }
            1 => RepeatArg::Strided(ranges),
            2 => RepeatArg::Counter { start: prg.below(9), step: prg.below(3), bits: 1 },
            _ => RepeatArg::Fixed(ranges),
        });
        for _ in 0..if kind == 2 { 0 } else { ranges.count } {
            let first = prg.below(out.into()) as u32;
            component.call_args.push(WireRange { first, len: 1 });
        }
    }
    component.repeats.push(Repeat {
        component: callee as u32,
        count,
        first_arg,
        arg_count: component.repeat_args.len() as u32 - first_arg,
        first_output: out,
    });
    component.wires = out + carried + count * (outputs - carried);
    Step::Repeat(component.repeats.len() as u32 - 1)
}

fn random_bits(prg: &mut Prg, n: usize) -> Vec<bool> {
    (0..n).map(|_| prg.bool()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_selection_computes_the_same(seed: u128, chosen: u32) {
        let circuit = random_program(seed);
        let selected: Vec<bool> =
            (0..circuit.components().len()).map(|i| chosen >> i & 1 == 1).collect();
        let graph = assemble(&circuit, &selected).unwrap();
        let mut prg = Prg::from_seed(Block(seed ^ 1));
        let all: Vec<Vec<bool>> = (0..3).map(|_| random_bits(&mut prg, graph.inputs)).collect();
        let expected: Vec<Vec<bool>> =
            all.iter().map(|inputs| reference::eval(&circuit, inputs)).collect();
        for (inputs, outputs) in all.iter().zip(&expected) {
            prop_assert_eq!(&eval(&graph, inputs), outputs);
        }
        prop_assert_eq!(eval(&graph.repeated(3), &all.concat()), expected.concat());
    }
}

#[test]
fn built_in_circuits_are_the_same_in_components() {
    let mut prg = Prg::from_seed(Block(9));
    for name in ["aes128", "aes128:sbox", "cbcmac:3", "matmul:3x8", "sort:5x4", "random:600/100"] {
        let Some(circuit) = builtin::by_name(name).ok() else { panic!("{name}") };
        let lowered = lower_lookups(&circuit);
        let graph = choose(&lowered, choice(&[])).unwrap();
        let inputs = random_bits(&mut prg, graph.inputs);
        assert_eq!(eval(&graph, &inputs), reference::eval(&circuit, &inputs), "{name}");
    }
}

/// Repeated parts become components of one kind; XOR between them needs no component.
#[test]
fn blocks_of_a_cbc_mac_are_one_kind() {
    let circuit = builtin::by_name("cbcmac:16").unwrap();
    let graph = choose(&circuit, choice(&[])).unwrap();
    let ands: Vec<(usize, usize)> =
        graph.kinds.iter().map(|kind| kind.ands()).zip(graph.counts()).collect();
    assert!(ands.iter().any(|&(_, count)| count == 16), "{ands:?}");
}

fn choice(named: &[String]) -> Choice<'_> {
    Choice { executions: 1, games: Games::new(40), named }
}

/// A program with a small component that is called often and one that is called once.
fn often_and_once() -> Circuit {
    use symbolon_circuit::builder::{Builder, ComponentBuilder};
    let component = |name: &str, bits: usize, repeat: usize| {
        let mut c = ComponentBuilder::new(name);
        let (x, y) = (c.input(bits), c.input(bits));
        let mut z = x.clone();
        for _ in 0..repeat {
            z = c.mul(&z, &y);
        }
        c.output(&z);
        c.finish().unwrap()
    };
    let (often, once) = (component("often", 16, 2), component("once", 16, 1));
    let mut b = Builder::new("often and once");
    let [x, y] = [0, 1].map(|party| b.input(format!("{party}"), Type::Uint(16), party));
    let mut z = b.call_one(&once, &[&x, &y]);
    for _ in 0..40 {
        z = b.call_one(&often, &[&z, &y]);
    }
    b.output("z", &z, Type::Uint(16), Receivers::All);
    b.finish().unwrap()
}

/// The chosen selection costs no more than any other, including those that no bound gives.
#[test]
fn the_choice_is_the_cheapest_of_all_selections() {
    let circuit = often_and_once();
    let cost = |graph: &ComponentGraph| {
        let params = Params::rough(graph, 1, Games::new(40)).unwrap();
        params.cost(graph, 1)
    };
    let chosen = cost(&choose(&circuit, choice(&[])).unwrap());
    let n = circuit.components().len();
    for selection in 0..1u32 << n {
        let selected: Vec<bool> = (0..n).map(|at| selection >> at & 1 == 1).collect();
        let graph = assemble(&circuit, &selected).unwrap();
        assert!(chosen <= cost(&graph), "{selected:?}");
    }
}

#[test]
fn named_components_are_garbled_and_no_others() {
    let circuit = often_and_once();
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let kinds = |named: &[&str]| {
        let graph = choose(&circuit, choice(&names(named)))?;
        let kinds = graph.kinds.iter().map(|kind| kind.name.clone());
        Ok::<_, symbolon_transport::Error>(kinds.zip(graph.counts()).collect::<Vec<_>>())
    };
    let kind = |name: &str, count: usize| (name.to_string(), count);
    assert_eq!(kinds(&["often", "once"]).unwrap(), [kind("once", 1), kind("often", 40)]);
    assert_eq!(kinds(&["often"]).unwrap(), [kind("leftover gates", 1), kind("often", 40)]);
    assert_eq!(kinds(&["often and once"]).unwrap(), [kind("often and once", 1)]);
    assert!(kinds(&["never"]).unwrap_err().to_string().contains("no component `never`"));
}
