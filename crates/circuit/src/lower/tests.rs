use proptest::prelude::*;

use super::*;
use crate::builder::{Builder, and_count};
use crate::testing::{arbitrary_circuit, arbitrary_table, bits};
use crate::{Plan, Receivers, Type, eval_bits, reference};

/// Returns a circuit of one look-up in a table.
fn alone(table: &Table) -> Circuit {
    let mut b = Builder::new("alone");
    let x = b.input("x", Type::Uint(table.inputs()), 0);
    let y = b.lookup(table, &x);
    b.output("y", &y, Type::Uint(table.outputs()), Receivers::All);
    b.finish().unwrap()
}

/// Returns all entries, as a circuit computes them.
fn entries(circuit: &Circuit, inputs: u32) -> Vec<u64> {
    let entry = |index: u32| {
        let bits: Vec<bool> = (0..inputs).map(|i| index >> i & 1 == 1).collect();
        let outputs = reference::eval(circuit, &bits);
        outputs.iter().rev().fold(0, |entry, &bit| entry << 1 | u64::from(bit))
    };
    (0..1 << inputs).map(entry).collect()
}

/// Returns the bound that the module gives.
fn bound(inputs: u32, outputs: u32) -> u64 {
    let cost = |low: u32| (1u64 << low) - u64::from(low) - 1 + most(inputs, outputs, low);
    fn most(inputs: u32, outputs: u32, low: u32) -> u64 {
        u64::from(outputs) * ((1 << (inputs - low)) - 1)
    }
    (0..=inputs).map(cost).min().unwrap()
}

proptest! {
    #[test]
    fn lowered_circuits_compute_the_same(circuit in arbitrary_circuit(), seed in any::<u64>()) {
        let lowered = lower_lookups(&circuit);
        prop_assert!(lowered.tables().is_empty());
        prop_assert_eq!((lowered.inputs(), lowered.outputs()), (circuit.inputs(), circuit.outputs()));
        for seed in [seed, !seed] {
            let inputs = bits(seed, circuit.main().inputs as usize);
            let expected = reference::eval(&circuit, &inputs);
            prop_assert_eq!(&reference::eval(&lowered, &inputs), &expected);
            prop_assert_eq!(&eval_bits(&circuit, &inputs), &expected);
        }
        prop_assert_eq!(lowered.digest() == circuit.digest(), circuit.tables().is_empty());
        // A lowered circuit keeps the rules of circuits.
        let (inputs, outputs) = (lowered.inputs().to_vec(), lowered.outputs().to_vec());
        Circuit::new("again", inputs, outputs, lowered.components().to_vec()).unwrap();
    }

    #[test]
    fn tables_become_their_gates(table in arbitrary_table()) {
        let lowered = lower_lookups(&alone(&table));
        prop_assert_eq!(&entries(&lowered, table.inputs())[..], table.entries());
        prop_assert!(and_count(&lowered) <= bound(table.inputs(), table.outputs()));
        prop_assert!(lowered.components()[0].steps.len() as u64 <= table.most_gates());
    }
}

#[test]
fn costs_are_those_documented() {
    let mut seed = 1u64;
    let mut random = |outputs: u32| {
        let entries = (0..256).map(|_| {
            seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0xd1b5_4a32_d192_ed03);
            (seed ^ seed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> (64 - outputs)
        });
        Table::new(8, outputs, entries.collect::<Vec<_>>()).unwrap()
    };
    let cost = |table: &Table| Plan::new(&alone(table)).and_count();
    assert_eq!(cost(&random(8)), 81);
    assert_eq!(cost(&random(1)), 26);
    assert_eq!(cost(&random(64)), 184);
    assert_eq!(cost(&sbox::TABLE), 32);
    type Function = fn(u64) -> u64;
    let functions: [(Function, u64); 5] = [
        (|_| 0xa5, 0),
        (|x| x ^ x >> 1 ^ 0x80, 0),
        (|x| u64::from(x == 255), 7),
        (|x| (x & 15) * (x >> 4), 55),
        (|x| u64::from(x.count_ones()), 21),
    ];
    for (function, expected) in functions {
        let table = Table::new(8, 8, (0..256).map(function).collect::<Vec<_>>()).unwrap();
        assert_eq!(cost(&table), expected);
    }
}

/// The inverse S-box, inversion, and the S-box between linear maps, with up to 32 outputs.
#[test]
fn tables_around_the_s_box_take_its_ands() {
    let sbox = |x: u64| sbox::TABLE.entry(x as usize);
    let inverse = |x: u64| (0..256).find(|&y| sbox(y) == x).unwrap();
    let doubled = |x: u64| (x << 1 ^ if x & 0x80 == 0 { 0 } else { 0x11b }) & 0xff;
    let rotated = |x: u64, by: u32| u64::from((x as u8).rotate_left(by));
    let undone = |x: u64| rotated(x, 1) ^ rotated(x, 3) ^ rotated(x, 6) ^ 5;
    let column = |x: u64| {
        let s = sbox(x);
        doubled(s) | s << 8 | s << 16 | (s ^ doubled(s)) << 24
    };
    let tables: [(&dyn Fn(u64) -> u64, u32); 6] = [
        (&inverse, 8),
        (&|x| undone(sbox(x)), 8),
        (&column, 32),
        (&|x| sbox(x ^ x >> 1 ^ 0x35) ^ 0x5a, 8),
        (&|x| inverse(x ^ (x << 3 & 0xff)) << 3 ^ 0x401, 12),
        (&|x| sbox(rotated(x, 5)), 8),
    ];
    for (function, outputs) in tables {
        let table = Table::new(8, outputs, (0..256).map(function).collect::<Vec<_>>()).unwrap();
        let lowered = lower_lookups(&alone(&table));
        assert_eq!(and_count(&lowered), 32, "{outputs}");
        assert_eq!(&entries(&lowered, 8)[..], table.entries());
    }
    // Almost the S-box, and the S-box without a bit of its output.
    let mut close = sbox::TABLE.entries().to_vec();
    close.swap(3, 77);
    let close = Table::new(8, 8, close).unwrap();
    assert!(AroundSbox::of(&close).is_none());
    let part = sbox::TABLE.entries().iter().map(|entry| entry & 0x7f).collect::<Vec<_>>();
    assert!(AroundSbox::of(&Table::new(8, 7, part).unwrap()).is_none());
}

#[test]
fn tables_stand_once_however_many_look_ups() {
    let mut b = Builder::new("many");
    let x = b.input("x", Type::Uint(64), 0);
    let table = Table::new(4, 4, (0..16).map(|i| i * 7 % 16).collect::<Vec<_>>()).unwrap();
    let mut state = x.clone();
    for _ in 0..10 {
        state =
            state.rotl(3).chunks(4).flat_map(|nibble| b.lookup(&table, nibble).to_vec()).collect();
    }
    b.output("y", &state, Type::Uint(64), Receivers::All);
    let circuit = b.finish().unwrap();
    let lowered = lower_lookups(&circuit);
    assert_eq!(lowered.components().len(), 2);
    assert_eq!(lowered.main().calls.len(), 160);
    assert_eq!(lowered.main().wires, circuit.main().wires);
}
