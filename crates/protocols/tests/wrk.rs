//! `wrk` between two parties against the reference evaluation.
#![allow(missing_docs)]

mod common;

use common::{Setting, assert_runs};
use proptest::prelude::*;
use symbolon_circuit::{Circuit, Component, Input, Output, Receivers, Step, Type};
use symbolon_protocols::Rho;

/// A circuit of one component from a list of steps: (kind, left operand, right operand).
fn circuit(
    inputs: [u32; 2],
    steps: &[(u8, u32, u32)],
    outputs: Vec<(Vec<u32>, Receivers)>,
) -> Circuit {
    let first = inputs[0] + inputs[1];
    let steps: Vec<Step> = (first..)
        .zip(steps)
        .map(|(out, &(kind, a, b))| match kind % 8 {
            0..=2 => Step::And { a: a % out, b: b % out, out },
            3..=5 => Step::Xor { a: a % out, b: b % out, out },
            6 => Step::Inv { a: a % out, out },
            _ => Step::Const { value: a % 2 == 1, out },
        })
        .collect();
    let wires = first + steps.len() as u32;
    let ports = outputs
        .iter()
        .enumerate()
        .map(|(i, (bits, to))| Output {
            name: format!("o{i}"),
            ty: Type::Uint(bits.len() as u32),
            to: to.clone(),
        })
        .collect();
    let component = Component {
        name: "main".into(),
        inputs: first,
        wires,
        steps,
        outputs: outputs.into_iter().flat_map(|(bits, _)| bits).map(|w| w % wires).collect(),
        ..Component::default()
    };
    let input = |(i, &width): (usize, &u32)| Input {
        name: format!("i{i}"),
        ty: Type::Uint(width),
        owner: i as u16,
    };
    let ports_in = inputs.iter().enumerate().map(input).collect();
    Circuit::new("test", ports_in, ports, vec![component]).unwrap()
}

fn receivers() -> impl Strategy<Value = Receivers> {
    prop_oneof![
        Just(Receivers::All),
        Just(Receivers::Only(vec![0])),
        Just(Receivers::Only(vec![1])),
        Just(Receivers::Only(vec![])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_circuits(
        widths in [1u32..9, 1u32..9],
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..120),
        outputs in prop::collection::vec(
            (prop::collection::vec(any::<u32>(), 1..6), receivers()), 1..4),
        bits in prop::collection::vec(any::<bool>(), 16),
    ) {
        let circuit = circuit(widths, &steps, outputs);
        let (a, b) = bits.split_at(8);
        let all = [a[..widths[0] as usize].to_vec(), b[..widths[1] as usize].to_vec()];
        assert_runs(Setting::default(), &circuit, &all);
    }
}

#[test]
fn every_rho_and_several_lanes() {
    let steps: Vec<_> = (0..200u32).map(|i| ((i % 5) as u8, i * 7 + 1, i * 11 + 3)).collect();
    let circuit = circuit([8, 8], &steps, vec![((150..200).collect(), Receivers::All)]);
    let all = [vec![true; 8], vec![false, true, false, true, false, true, true, true]];
    for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
        for lanes in [1, 3] {
            assert_runs(Setting { rho, lanes, ..Setting::default() }, &circuit, &all);
        }
    }
}
