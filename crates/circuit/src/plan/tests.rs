use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::testing::{arbitrary_circuit, bits, without_repeats};
use crate::{Component, Step, reference};

/// Walks a plan bit by bit, checking the promises about batches on the way.
fn walk(plan: &Plan, inputs: &[bool]) -> Vec<bool> {
    let mut slots = vec![false; plan.slots()];
    slots[plan.input_slots()].copy_from_slice(inputs);
    let mut counts = GateCounts::default();
    let mut cursor = plan.cursor();
    let mut passing = plan.cursor();
    while let Some(Batch { base, linear, ands, first_and, lookups }) = cursor.next_batch() {
        if !ands.is_empty() {
            assert_eq!(passing.skip_ands(), Some(ands.len()), "passing over shows the same");
            assert_eq!(passing.next_and, first_and + ands.len() as u64);
        }
        assert!(!linear.is_empty() || !ands.is_empty() || !lookups.is_empty());
        assert!(ands.len() + lookups.iter().len() <= plan.limits().batch);
        assert_eq!(first_and, counts.and);
        let slots = &mut slots[base..];
        copies_are_whole(linear);
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
                Linear::Copy { from, out, len } => {
                    counts.copies += u64::from(len);
                    slots.copy_within(from as usize..(from + len) as usize, out as usize);
                    continue;
                }
            };
            slots[out as usize] = value;
        }
        let written = || {
            let looked_up = lookups.iter().flat_map(|lookup| lookup.outputs.iter().copied());
            ands.iter().map(|and| and.out).chain(looked_up)
        };
        let outs: HashSet<u32> = written().collect();
        assert_eq!(outs.len(), written().count(), "two gates of a batch write one slot");
        for and in ands {
            assert!(!outs.contains(&and.a) && !outs.contains(&and.b), "an AND reads a result");
            slots[and.out as usize] = slots[and.a as usize] & slots[and.b as usize];
            counts.and += 1;
        }
        for LookupGate { table, inputs, outputs } in lookups.iter() {
            assert!(inputs.iter().all(|slot| !outs.contains(slot)), "a look-up reads a result");
            let index = inputs.iter().rev().fold(0, |i, &s| 2 * i + usize::from(slots[s as usize]));
            let table = &plan.tables()[table as usize];
            let shape = (table.inputs() as usize, table.outputs() as usize);
            assert_eq!((inputs.len(), outputs.len()), shape);
            let entry = table.entry(index);
            let bits = outputs.iter().enumerate();
            bits.for_each(|(i, &slot)| slots[slot as usize] = entry >> i & 1 == 1);
            counts.lookups += 1;
            counts.lookup_outputs += outputs.len() as u64;
        }
    }
    assert!(cursor.next_batch().is_none(), "a walk that has ended stays so");
    assert_eq!([passing.skip_ands(), passing.skip_ands()], [None, None]);
    assert_eq!(cursor.next_and, plan.and_count());
    assert_eq!(counts, plan.counts());
    plan.output_slots().iter().map(|&slot| slots[slot as usize]).collect()
}

/// Checks that every copy of a batch goes from some slots to others, and that no copy of arguments,
/// whose targets come after their sources, continues the copy before it. (Copies of results may,
/// because results that nobody reads may be between them.)
fn copies_are_whole(linear: &[Linear]) {
    let mut ends = None;
    for op in linear {
        let Linear::Copy { from, out, len } = *op else {
            ends = None;
            continue;
        };
        assert!(len > 0, "a copy of nothing");
        assert!(from + len <= out || out + len <= from, "a copy overlaps with itself");
        assert!(from > out || ends != Some((from, out)), "one copy would do");
        ends = Some((from + len, out + len));
    }
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
        let limits = Limits { window, batch };
        let plan = Plan::with_limits(&circuit, limits);
        prop_assert_eq!(&walk(&plan, &inputs), &expected);
        prop_assert!(plan.counts().lookups == 0 && plan.tables().is_empty());
        prop_assert_eq!(&walk(&Plan::with_lookups(&circuit), &inputs), &expected);
        prop_assert_eq!(&walk(&Plan::of(&circuit, limits), &inputs), &expected);
    }

    /// A repeat equals its rounds as calls: as many gates, in a plan of the same depth.
    #[test]
    fn repeats_are_calls(circuit in arbitrary_circuit(), seed in any::<u64>()) {
        let inputs = bits(seed, circuit.main().inputs as usize);
        let calls = without_repeats(&circuit);
        let expected = reference::eval(&calls, &inputs);
        prop_assert_eq!(&walk(&Plan::with_lookups(&circuit), &inputs), &expected);
        let [repeated, called] = [&circuit, &calls].map(crate::Stats::of);
        prop_assert_eq!((repeated.and, repeated.inv), (called.and, called.inv));
        prop_assert_eq!((repeated.lookups, repeated.and_depth), (called.lookups, called.and_depth));
    }

    #[test]
    fn a_window_of_one_keeps_the_order(circuit in arbitrary_circuit(), seed in any::<u64>()) {
        let plan = Plan::with_limits(&circuit, Limits { window: 0, batch: 0 });
        prop_assert_eq!(plan.limits(), Limits { window: 1, batch: 1 });
        let inputs = bits(seed, circuit.main().inputs as usize);
        prop_assert_eq!(walk(&plan, &inputs), reference::eval(&circuit, &inputs));
    }
}

/// Returns a main component that calls a chain of `calls` NOT gates, one after the other.
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
        ..Component::default()
    };
    crate::testing::circuit(vec![not, main])
}

/// Returns a repeat of a component with `gates` ANDs, one after the other, which passes on one of
/// its two bits.
fn repeated(gates: u32, count: u32) -> Circuit {
    let steps = (0..gates).map(|i| Step::And { a: i, b: i + 1, out: i + 2 });
    let round = Component {
        name: "round".into(),
        inputs: 2,
        wires: gates + 2,
        steps: steps.collect(),
        outputs: vec![gates + 1],
        ..Component::default()
    };
    let ranges = |first| crate::Ranges { first, count: 1 };
    let main = Component {
        name: "main".into(),
        inputs: 2,
        wires: 3,
        steps: vec![Step::Repeat(0)],
        call_args: (0..2).map(|first| crate::WireRange { first, len: 1 }).collect(),
        repeats: vec![crate::Repeat {
            component: 0,
            count,
            first_arg: 0,
            arg_count: 2,
            first_output: 2,
        }],
        repeat_args: vec![crate::RepeatArg::Carried(ranges(0)), crate::RepeatArg::Fixed(ranges(1))],
        outputs: vec![2],
        ..Component::default()
    };
    crate::testing::circuit(vec![round, main])
}

#[test]
fn a_repeat_takes_the_memory_of_one_round() {
    let plan = Plan::new(&repeated(50_000, 100_000));
    assert_eq!(plan.and_count(), 5_000_000_000);
    assert!(plan.slots() < 100, "{} slots", plan.slots());
    let stored: usize = plan.frames.iter().map(|f| f.ands.len() + f.linear.len()).sum();
    assert!(stored < 60_000, "{stored} operations");
    // Rounds of few gates are walked many at a time.
    let plan = Plan::new(&repeated(3, 1_000_000));
    let mut cursor = plan.cursor();
    let mut batches = 0;
    while cursor.next_batch().is_some() {
        batches += 1;
    }
    assert_eq!(cursor.next_and, 3_000_000);
    assert!(batches < 3_200_000, "{batches} batches");
}

#[test]
fn memory_follows_live_wires() {
    let plan = Plan::new(&chain(10_000));
    assert!(plan.slots() <= 4, "{} slots", plan.slots());
    assert_eq!(plan.counts().inv, 10_000);
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
            ..Component::default()
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
    assert_eq!(widths(&plan), [256, 256, 256, 232]);
}

#[test]
fn cursors_are_independent() {
    let plan = Plan::new(&chain(5000));
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

/// A walk that skips some batches continues as if they had been walked.
#[test]
fn a_walk_goes_on_behind_what_was_passed_over() {
    let plan = Plan::new(&rounds(100, 200));
    let rest = |mut cursor: Cursor<'_>| {
        let mut ands = Vec::new();
        while let Some(batch) = cursor.next_batch() {
            ands.extend(batch.ands.iter().map(|and| [and.a, and.b, and.out]));
        }
        ands
    };
    let all = rest(plan.cursor());
    let mut cursor = plan.cursor();
    let mut passed = 0;
    while let Some(ands) = cursor.skip_ands() {
        passed += ands;
        assert!(rest(cursor.clone()) == all[passed..], "behind {passed} gates");
    }
    assert_eq!(passed, all.len());
}

/// Returns a main component that squares and negates `width` bits, one call each, `rounds` times
/// over.
fn rounds(width: u32, rounds: u32) -> Circuit {
    let square = Component {
        name: "square".into(),
        inputs: 1,
        wires: 3,
        steps: vec![Step::And { a: 0, b: 0, out: 1 }, Step::Inv { a: 1, out: 2 }],
        outputs: vec![2],
        ..Component::default()
    };
    let calls = width * rounds;
    let call =
        |i| crate::Call { component: 0, first_arg: i, arg_count: 1, first_output: i + width };
    let main = Component {
        name: "main".into(),
        inputs: width,
        wires: width + calls,
        steps: (0..calls).map(Step::Call).collect(),
        calls: (0..calls).map(call).collect(),
        call_args: (0..calls).map(|first| crate::WireRange { first, len: 1 }).collect(),
        outputs: (calls..width + calls).collect(),
        ..Component::default()
    };
    crate::testing::circuit(vec![square, main])
}

fn widths(plan: &Plan) -> Vec<usize> {
    let mut widths = Vec::new();
    let mut cursor = plan.cursor();
    while let Some(batch) = cursor.next_batch() {
        widths.push(batch.ands.len());
    }
    widths.retain(|&width| width > 0);
    widths
}

#[test]
fn small_calls_are_written_out() {
    let circuit = rounds(40, 3);
    let plan = Plan::new(&circuit);
    assert_eq!(plan.counts().copies, 0);
    assert_eq!(widths(&plan), [40; 3]);
    assert_eq!(walk(&plan, &[true; 40]), [false; 40]);
}

#[test]
fn independent_calls_are_joined() {
    let circuit = rounds(100, 200);
    let plan = Plan::new(&circuit);
    assert_eq!(plan.and_count(), 20_000);
    assert_eq!(plan.counts().copies, 40_000);
    // 100 = 64 + 32 + 4; the window that ends within a round cuts it again.
    assert!(widths(&plan).len() <= 3 * 200 + 4);
    assert!(plan.slots() < 400, "{} slots", plan.slots());
    assert_eq!(walk(&plan, &[true; 100]), [true; 100]);
    // A window of one gate keeps the order as written.
    let plan = Plan::with_limits(&circuit, Limits { window: 1, batch: 256 });
    assert!(widths(&plan).iter().all(|&width| width == 1));
    assert_eq!(walk(&plan, &[true; 100]), [true; 100]);
}

#[test]
fn dependent_calls_are_not_joined() {
    let plan = Plan::new(&chain(10_000));
    assert_eq!(plan.counts().copies, 20_000);
    assert_eq!(walk(&plan, &[false]), [false]);
}

/// Returns the first slots read and written by every copy of a walk, and its length.
fn copies(plan: &Plan) -> Vec<[u32; 3]> {
    let mut copies = Vec::new();
    let mut cursor = plan.cursor();
    while let Some(batch) = cursor.next_batch() {
        copies.extend(batch.linear.iter().filter_map(|op| match *op {
            Linear::Copy { from, out, len } => Some([from, out, len]),
            _ => None,
        }));
    }
    copies
}

/// Six inputs, `args` of which go through a component that gives those of its inputs that `results`
/// names; the outputs are the results `read`. Nothing is written out in full.
fn passing(args: &[(u32, u32)], results: &[u32], read: &[u32]) -> Plan {
    let inputs = args.iter().map(|&(_, len)| len).sum();
    let pass =
        Component { inputs, wires: inputs, outputs: results.to_vec(), ..Component::default() };
    let main = Component {
        inputs: 6,
        wires: 6 + results.len() as u32,
        steps: vec![Step::Call(0)],
        calls: vec![crate::Call {
            component: 0,
            first_arg: 0,
            arg_count: args.len() as u32,
            first_output: 6,
        }],
        call_args: args.iter().map(|&(first, len)| crate::WireRange { first, len }).collect(),
        outputs: read.iter().map(|result| 6 + result).collect(),
        ..Component::default()
    };
    let circuit = crate::testing::circuit(vec![pass, main]);
    let plan = Plan::with_limits(&circuit, Limits { window: 1, batch: 256 });
    for seed in 0..8 {
        let inputs = bits(seed, 6);
        assert_eq!(walk(&plan, &inputs), reference::eval(&circuit, &inputs));
    }
    plan
}

/// As few copies as possible are made: the callee's frame begins after the caller's six slots, and
/// results go to the lowest slots, because no input is read any more.
#[test]
fn what_lies_together_is_copied_at_once() {
    let all = [0, 1, 2, 3, 4, 5];
    let plan = passing(&[(0, 6)], &all, &all);
    assert_eq!(copies(&plan), [[0, 6, 6], [6, 0, 6]]);
    assert_eq!(plan.counts().copies, 12);
    // Adjacent ranges of arguments are one.
    let plan = passing(&[(0, 2), (2, 4)], &all, &all);
    assert_eq!(copies(&plan), [[0, 6, 6], [6, 0, 6]]);
    let plan = passing(&[(4, 2), (0, 3), (0, 1)], &all, &all);
    assert_eq!(copies(&plan), [[4, 6, 2], [0, 8, 3], [0, 11, 1], [6, 0, 6]]);
    // Results are cut where the callee's slots are not consecutive.
    let plan = passing(&[(0, 6)], &[3, 4, 5, 5, 0, 1], &all);
    assert_eq!(copies(&plan), [[0, 6, 6], [9, 0, 3], [11, 3, 1], [6, 4, 2]]);
    assert_eq!(plan.counts().copies, 12);
}

#[test]
fn results_that_nobody_reads_are_not_copied() {
    let all = [0, 1, 2, 3, 4, 5];
    let plan = passing(&[(0, 6)], &all, &[1, 2, 5]);
    assert_eq!(copies(&plan), [[0, 6, 6], [7, 0, 2], [11, 2, 1]]);
    assert_eq!(plan.counts().copies, 9);
    // Those of several runs that nobody reads, and the end of one of which is read.
    let plan = passing(&[(0, 6)], &[4, 5, 0, 1, 2], &[0, 4]);
    assert_eq!(copies(&plan), [[0, 6, 6], [10, 0, 1], [8, 1, 1]]);
    assert_eq!(plan.counts().copies, 8);
    let plan = passing(&[(0, 6)], &all, &[]);
    assert_eq!(copies(&plan), [[0, 6, 6]]);
    // There is no empty batch either.
    let plan = passing(&[], &[], &[]);
    assert!(plan.cursor().next_batch().is_none());
}

/// Calls that pass more wires than are looked at together, some of them for the last time, and all
/// of them from slots that are not in order.
#[test]
fn wide_calls_free_the_wires_that_they_read_last() {
    let width = 300;
    let pass = Component {
        inputs: width,
        wires: width,
        outputs: (0..width).rev().collect(),
        ..Component::default()
    };
    let ranges = [(0, 300), (500, 100), (300, 200), (150, 300), (700, 300)];
    let ends = [1, 3, 4, 5];
    let starts = [0, 1, 3, 4];
    let main = Component {
        inputs: width,
        wires: 5 * width,
        steps: (0..4).map(Step::Call).collect(),
        calls: std::iter::zip(starts, ends)
            .zip(1..)
            .map(|((start, end), place)| crate::Call {
                component: 0,
                first_arg: start,
                arg_count: end - start,
                first_output: place * width,
            })
            .collect(),
        call_args: ranges.iter().map(|&(first, len)| crate::WireRange { first, len }).collect(),
        outputs: (4 * width..5 * width).chain(5..70).collect(),
        ..Component::default()
    };
    let circuit = crate::testing::circuit(vec![pass, main]);
    let plan = Plan::with_limits(&circuit, Limits { window: 1, batch: 256 });
    let inputs = bits(1, width as usize);
    assert_eq!(walk(&plan, &inputs), reference::eval(&circuit, &inputs));
    // The main frame has room for three words of 300 bits, the callee's for one.
    assert!(plan.slots() <= 4 * width as usize, "{}", plan.slots());
}

/// Results may also go to slots that are not adjacent: the inputs between them are still read.
#[test]
fn results_are_cut_where_their_places_are_apart() {
    let pass = Component { inputs: 6, wires: 6, outputs: (0..6).collect(), ..Component::default() };
    let main = Component {
        inputs: 6,
        wires: 12,
        steps: vec![Step::Call(0)],
        calls: vec![crate::Call { component: 0, first_arg: 0, arg_count: 1, first_output: 6 }],
        call_args: vec![crate::WireRange { first: 0, len: 6 }],
        outputs: vec![2, 3, 6, 7, 8, 9, 10, 11],
        ..Component::default()
    };
    let circuit = crate::testing::circuit(vec![pass, main]);
    let plan = Plan::with_limits(&circuit, Limits { window: 1, batch: 256 });
    // Eight slots; 2 and 3 stay what they are.
    assert_eq!(copies(&plan), [[0, 8, 6], [8, 0, 2], [10, 4, 4]]);
    let inputs = bits(1, 6);
    assert_eq!(walk(&plan, &inputs), reference::eval(&circuit, &inputs));
}

/// Rounds are joined for each shape of arguments, as many as fill a window: a small file has
/// thousands of shapes.
#[test]
fn rounds_are_joined_for_a_limited_number_of_shapes() {
    let and = Step::And { a: 0, b: 13, out: 14 };
    let leaf = Component { inputs: 14, wires: 15, steps: vec![and], ..Component::default() };
    let leaf = Component { outputs: vec![14], ..leaf };
    let mut main = Component { inputs: 14, wires: 14, outputs: vec![14], ..Component::default() };
    for shape in 0u32..1 << 13 {
        let first_arg = main.repeat_args.len() as u32;
        let mut first = 0;
        // A set bit ends an argument after its wire.
        for wire in (0..14).filter(|wire| (shape | 1 << 13) >> wire & 1 == 1) {
            let range = crate::Ranges { first: main.call_args.len() as u32, count: 1 };
            main.call_args.push(crate::WireRange { first, len: wire + 1 - first });
            main.repeat_args.push(crate::RepeatArg::Fixed(range));
            first = wire + 1;
        }
        main.steps.push(Step::Repeat(shape));
        main.repeats.push(crate::Repeat {
            component: 0,
            count: 64,
            first_arg,
            arg_count: main.repeat_args.len() as u32 - first_arg,
            first_output: main.wires,
        });
        main.wires += 64;
    }
    let plan = Plan::new(&crate::testing::circuit(vec![leaf, main]));
    assert!(plan.frames.len() < 5000, "{} frames", plan.frames.len());
    assert_eq!(plan.and_count(), 64 << 13);
    assert_eq!(walk(&plan, &[true; 14]), [true]);
}
