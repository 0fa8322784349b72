use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::reference;
use crate::testing::{arbitrary_circuit, bits};

/// Walks a plan bit by bit, checking the promises about batches on the way.
fn walk(plan: &Plan, inputs: &[bool]) -> Vec<bool> {
    let mut slots = vec![false; plan.slots()];
    slots[plan.input_slots()].copy_from_slice(inputs);
    let mut counts = GateCounts::default();
    let mut cursor = plan.cursor();
    while let Some(Batch { base, linear, ands, first_and }) = cursor.next_batch() {
        assert!(!linear.is_empty() || !ands.is_empty());
        assert!(ands.len() <= plan.limits().batch);
        assert_eq!(first_and, counts.and);
        let slots = &mut slots[base..];
        for op in linear {
            let (out, value) = match *op {
                Linear::Xor { a, b, out } => {
                    counts.xor += 1;
                    (out, slots[a as usize] ^ slots[b as usize])
                }
                Linear::Inv { a, out } => {
                    counts.inv += 1;
                    (out, !slots[a as usize])
                }
                Linear::Const { value, out } => {
                    counts.constants += 1;
                    (out, value)
                }
                Linear::Copy { from, out } => {
                    counts.copies += 1;
                    (out, slots[from as usize])
                }
            };
            slots[out as usize] = value;
        }
        let outs: HashSet<u32> = ands.iter().map(|and| and.out).collect();
        assert_eq!(outs.len(), ands.len(), "two ANDs of a batch write one slot");
        for and in ands {
            assert!(!outs.contains(&and.a) && !outs.contains(&and.b), "an AND reads a result");
            slots[and.out as usize] = slots[and.a as usize] & slots[and.b as usize];
            counts.and += 1;
        }
    }
    assert!(cursor.next_batch().is_none(), "a walk that has ended stays so");
    assert_eq!(cursor.ands_done(), plan.and_count());
    assert_eq!(counts, plan.counts());
    plan.output_slots().iter().map(|&slot| slots[slot as usize]).collect()
}

proptest! {
    #[test]
    fn walking_is_evaluating(
        circuit in arbitrary_circuit(),
        seed in any::<u64>(),
        window in 1usize..200,
        batch in 1usize..40,
    ) {
        let inputs = bits(seed, circuit.main().inputs as usize);
        let expected = reference::eval(&circuit, &inputs);
        prop_assert_eq!(&walk(&Plan::new(&circuit), &inputs), &expected);
        let plan = Plan::with_limits(&circuit, Limits { window, batch });
        prop_assert_eq!(&walk(&plan, &inputs), &expected);
    }

    #[test]
    fn a_window_of_one_keeps_the_order(circuit in arbitrary_circuit(), seed in any::<u64>()) {
        let plan = Plan::with_limits(&circuit, Limits { window: 0, batch: 0 });
        prop_assert_eq!(plan.limits(), Limits { window: 1, batch: 1 });
        let inputs = bits(seed, circuit.main().inputs as usize);
        prop_assert_eq!(walk(&plan, &inputs), reference::eval(&circuit, &inputs));
    }
}

/// A main component that calls a chain of `calls` NOT gates, one after the other.
fn chain(calls: u32) -> Circuit {
    let not = Component {
        name: "not".into(),
        inputs: 1,
        wires: 2,
        steps: vec![Step::Inv { a: 0, out: 1 }],
        outputs: vec![1],
        ..Component::default()
    };
    let main = Component {
        name: "main".into(),
        inputs: 1,
        wires: calls + 1,
        steps: (0..calls).map(Step::Call).collect(),
        calls: (0..calls)
            .map(|i| crate::Call { component: 0, first_arg: i, arg_count: 1, first_output: i + 1 })
            .collect(),
        call_args: (0..calls).map(|first| crate::WireRange { first, len: 1 }).collect(),
        outputs: vec![calls],
    };
    crate::testing::circuit(vec![not, main])
}

#[test]
fn memory_follows_live_wires() {
    let plan = Plan::new(&chain(10_000));
    assert!(plan.slots() <= 4, "{} slots", plan.slots());
    assert_eq!(plan.inv_count(), 10_000);
    assert_eq!(walk(&plan, &[true]), [true]);
}

#[test]
fn deep_nesting_is_walked_without_recursion() {
    let mut components = vec![Component {
        name: "leaf".into(),
        inputs: 1,
        wires: 2,
        steps: vec![Step::And { a: 0, b: 0, out: 1 }],
        outputs: vec![1],
        ..Component::default()
    }];
    for component in 0..50_000 {
        components.push(Component {
            name: "shell".into(),
            inputs: 1,
            wires: 2,
            steps: vec![Step::Call(0)],
            calls: vec![crate::Call { component, first_arg: 0, arg_count: 1, first_output: 1 }],
            call_args: vec![crate::WireRange { first: 0, len: 1 }],
            outputs: vec![1],
        });
    }
    let plan = Plan::new(&crate::testing::circuit(components));
    assert_eq!(walk(&plan, &[true]), [true]);
}

#[test]
fn independent_gates_share_a_batch() {
    let ands = 1000u32;
    let component = Component {
        name: "wide".into(),
        inputs: 2 * ands,
        wires: 4 * ands,
        steps: (0..ands)
            .flat_map(|i| {
                let (product, sum) = (2 * ands + i, 3 * ands + i);
                [
                    Step::And { a: 2 * i, b: 2 * i + 1, out: product },
                    Step::Xor { a: product, b: 2 * i, out: sum },
                ]
            })
            .collect(),
        outputs: (3 * ands..4 * ands).collect(),
        ..Component::default()
    };
    let plan = Plan::new(&crate::testing::circuit(vec![component]));
    let mut widths = Vec::new();
    let mut cursor = plan.cursor();
    while let Some(batch) = cursor.next_batch() {
        widths.push(batch.ands.len());
    }
    assert_eq!(widths, [256, 256, 256, 232, 0]);
}

#[test]
fn cursors_are_independent() {
    let plan = Plan::new(&chain(20));
    let mut ahead = plan.cursor();
    (0..7).for_each(|_| assert!(ahead.next_batch().is_some()));
    let mut behind = plan.cursor();
    (0..7).for_each(|_| assert!(behind.next_batch().is_some()));
    loop {
        let (a, b) = (ahead.next_batch(), behind.next_batch());
        assert_eq!(a.map(|b| (b.base, b.linear)), b.map(|b| (b.base, b.linear)));
        if a.is_none() {
            break;
        }
    }
}
