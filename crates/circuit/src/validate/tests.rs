//! Good and broken programs.

use super::*;
use crate::{Call, Circuit, Receivers, Type, WireRange};

/// What the reason must say, and how a good program is changed.
type Case<F> = (&'static str, F);
type Break = fn(&mut Component);
type BreakPorts = fn(&mut Vec<Input>, &mut Vec<Output>);

fn xor(a: u32, b: u32, out: u32) -> Step {
    Step::Xor { a, b, out }
}

/// Two inputs, their XOR and its negation; the outputs are these two.
fn leaf() -> Component {
    Component {
        name: "leaf".into(),
        inputs: 2,
        wires: 4,
        steps: vec![xor(0, 1, 2), Step::Inv { a: 2, out: 3 }],
        outputs: vec![2, 3],
        ..Component::default()
    }
}

/// Calls the leaf on its two inputs.
fn caller() -> Component {
    Component {
        name: "caller".into(),
        inputs: 2,
        wires: 4,
        steps: vec![Step::Call(0)],
        calls: vec![Call { component: 0, first_arg: 0, arg_count: 1, first_output: 2 }],
        call_args: vec![WireRange { first: 0, len: 2 }],
        outputs: vec![3, 2],
        ..Component::default()
    }
}

fn ports(width: u32) -> (Vec<Input>, Vec<Output>) {
    let ty = Type::Uint(width);
    let input = Input { name: "x".into(), ty: ty.clone(), owner: 0.into() };
    (vec![input], vec![Output { name: "x".into(), ty, to: Receivers::All }])
}

fn refusal(components: Vec<Component>) -> String {
    let (inputs, outputs) = ports(2);
    match Circuit::new("test", inputs, outputs, components) {
        Err(CircuitError::Invalid(reason)) => reason,
        other => panic!("not refused as invalid: {other:?}"),
    }
}

#[test]
fn good_programs_are_taken() {
    for components in [vec![leaf()], vec![leaf(), caller()]] {
        let (inputs, outputs) = ports(2);
        Circuit::new("test", inputs, outputs, components).expect("valid");
    }
}

#[test]
fn broken_leaves_are_refused() {
    let cases: [Case<Break>; 10] = [
        ("more inputs than wires", |c| c.inputs = 5),
        ("claims 5 wires", |c| c.wires = 5),
        ("claims 3 wires", |c| c.wires = 3),
        ("more than 2^30 wires", |c| c.wires = u32::MAX),
        ("reads wire 3 before", |c| c.steps[0] = xor(0, 3, 2)),
        ("reads wire 2 before", |c| c.steps.swap(0, 1)),
        ("reads wire 4 before", |c| c.steps[0] = xor(4, 0, 2)),
        ("writes wire 2 twice", |c| c.steps[1] = xor(0, 1, 2)),
        ("writes wire 4 twice, or it is out of range", |c| c.steps[1] = xor(0, 1, 4)),
        ("reads wire 9 before", |c| c.outputs[0] = 9),
    ];
    for (reason, break_it) in cases {
        let mut component = leaf();
        break_it(&mut component);
        let found = refusal(vec![component]);
        assert!(found.contains(reason), "{reason}: {found}");
    }
}

#[test]
fn broken_calls_are_refused() {
    let cases: [Case<Break>; 10] = [
        ("no call number 1", |c| c.steps[0] = Step::Call(1)),
        ("not an earlier one", |c| c.calls[0].component = 1),
        ("not an earlier one", |c| c.calls[0].component = 2),
        ("arguments out of range", |c| c.calls[0].arg_count = 2),
        ("arguments out of range", |c| c.calls[0].first_arg = u32::MAX),
        ("wrong number of wires", |c| c.calls[0].arg_count = 0),
        ("wrong number of wires", |c| c.call_args[0].len = 3),
        ("a call has an empty range of wires", |c| {
            c.calls[0].arg_count = 2;
            c.call_args.insert(0, WireRange { first: 0, len: 0 });
        }),
        ("reads wire 2 before", |c| c.call_args[0].first = 1),
        ("writes wire 4 twice", |c| c.calls[0].first_output = 3),
    ];
    for (reason, break_it) in cases {
        let mut component = caller();
        break_it(&mut component);
        let found = refusal(vec![leaf(), component]);
        assert!(found.contains(reason), "{reason}: {found}");
    }
}

/// A component with this many inputs and gates, without outputs, and one that makes `calls` calls
/// of it, each with the same `args` arguments.
fn wide(inputs: u32, gates: u32, calls: u32, args: u32) -> Vec<Component> {
    let callee = Component {
        name: "wide".into(),
        inputs,
        wires: inputs + gates,
        steps: (inputs..inputs + gates).map(|out| Step::Inv { a: 0, out }).collect(),
        ..Component::default()
    };
    let len = inputs / args;
    let main = Component {
        name: "main".into(),
        inputs,
        wires: inputs,
        steps: (0..calls).map(Step::Call).collect(),
        calls: vec![
            Call { component: 0, first_arg: 0, arg_count: args, first_output: 0 };
            calls as usize
        ],
        call_args: (0..args).map(|arg| WireRange { first: arg * len, len }).collect(),
        outputs: vec![0, 1],
        ..Component::default()
    };
    vec![callee, main]
}

fn check_wide(components: Vec<Component>) -> Result<Circuit, CircuitError> {
    let (mut inputs, outputs) = ports(2);
    inputs[0].ty = Type::words(components[0].inputs, 1);
    Circuit::new("test", inputs, outputs, components)
}

/// A call of any width takes a few bytes of a file, and time for every wire that it passes.
#[test]
fn wires_that_nothing_reads_are_passed_within_limits() {
    let refused = |components| check_wide(components).expect_err("too many").to_string();
    let found = refused(wide(1 << 20, 0, 1000, 1));
    assert!(found.contains("pass 1048576000 wires beyond 4 for each gate"), "{found}");
    assert!(found.contains("more than 284819456, which are 2^28"), "{found}");
    let many = |count: u32| {
        let mut components = wide(1 << 20, 0, 0, 1);
        let main = &mut components[1];
        main.repeat_args = vec![RepeatArg::Fixed(Ranges { first: 0, count: 1 })];
        let repeat = Repeat { component: 0, count: 1, first_arg: 0, arg_count: 1, first_output: 0 };
        main.repeats = vec![repeat; count as usize];
        main.steps = (0..count).map(Step::Repeat).collect();
        components
    };
    let found = refused(many(1000));
    assert!(found.contains("beyond 4 for each gate"), "{found}");
    check_wide(many(100)).expect("few repeats");
    // The limit is for all components together.
    let mut components = wide(1 << 20, 0, 200, 1);
    check_wide(components.clone()).expect("few calls");
    components.push(Component { name: "other".into(), ..components[1].clone() });
    let found = refused(components);
    assert!(found.contains("component `other` and those before it pass 419430400"), "{found}");
    // Components that use what they get, and many calls of components of usual widths.
    check_wide(wide(1 << 20, 1 << 18, 1000, 1)).expect("gates for the wires");
    check_wide(wide(1 << 14, 0, 1 << 16, 1)).expect("steps for the wires");
    check_wide(wide(1000, 0, 1_000_000, 1)).expect("steps for the wires");
}

/// A list that every call names in full would be read once for each of them.
#[test]
fn calls_share_arguments_within_limits() {
    let found = check_wide(wide(1024, 0, 1024, 1024)).expect_err("too many").to_string();
    assert!(found.contains("calls of component `main` name 1048576 arguments"), "{found}");
    assert!(found.contains("more than 263168, which are those in its list"), "{found}");
    check_wide(wide(1024, 0, 1024, 256)).expect("few arguments");
}

/// Repeats may name the same arguments, and arguments the same runs of wires: without a limit, the
/// work would grow with the product of three lists.
#[test]
fn repeats_share_arguments_within_limits() {
    let named = |repeats: u32, args: u32, runs: u32| {
        let mut components = wide(args * runs, 0, 0, 1);
        let main = &mut components[1];
        main.call_args = vec![WireRange { first: 0, len: 1 }; runs as usize];
        main.repeat_args = vec![RepeatArg::Fixed(Ranges { first: 0, count: runs }); args as usize];
        let repeat =
            Repeat { component: 0, count: 1, first_arg: 0, arg_count: args, first_output: 0 };
        main.repeats = vec![repeat; repeats as usize];
        main.steps = (0..repeats).map(Step::Repeat).collect();
        check_wide(components)
    };
    let found = named(1024, 1024, 1).expect_err("too many").to_string();
    assert!(found.contains("repeats of component `main` name 1048576 arguments"), "{found}");
    assert!(found.contains("more than 263168, which are those in its list"), "{found}");
    let found = named(1, 1024, 1024).expect_err("too many").to_string();
    assert!(found.contains("name 1048576 runs of wires: more than 1280"), "{found}");
    named(1024, 256, 1).expect("few arguments");
    named(4, 16, 16).expect("few runs");
}

/// Results of calls are noted by words of 64 wires: each is still written exactly once.
#[test]
fn wide_results_are_written_once_wherever_they_begin() {
    let called = |first: [u32; 2]| {
        let mut wide = leaf();
        wide.outputs = vec![2; 200];
        let mut main = caller();
        main.steps = vec![Step::Call(0), Step::Call(1)];
        main.calls = first.map(|first_output| Call { first_output, ..main.calls[0] }).to_vec();
        main.wires = 402;
        vec![wide, main]
    };
    for first in [[2, 202], [202, 2]] {
        let (inputs, outputs) = ports(2);
        Circuit::new("test", inputs, outputs, called(first)).expect("valid");
    }
    for (first, wire) in [([2, 201], 201), ([2, 70], 70), ([66, 2], 66), ([202, 203], 203)] {
        let found = refusal(called(first));
        assert!(found.contains(&format!("writes wire {wire} twice")), "{found}");
    }
    let found = refusal(called([2, 203]));
    assert!(found.contains("writes wire 402 twice, or it is out of range"), "{found}");
}

/// Repeats the leaf on its two inputs: passes one on, and outputs the other in each of two rounds.
fn repeater() -> Component {
    Component {
        name: "repeater".into(),
        inputs: 2,
        wires: 5,
        steps: vec![Step::Repeat(0)],
        call_args: vec![WireRange { first: 0, len: 1 }, WireRange { first: 0, len: 2 }],
        repeats: vec![Repeat {
            component: 0,
            count: 2,
            first_arg: 0,
            arg_count: 2,
            first_output: 2,
        }],
        repeat_args: vec![
            RepeatArg::Carried(Ranges { first: 0, count: 1 }),
            RepeatArg::Strided(Ranges { first: 1, count: 1 }),
        ],
        outputs: vec![4, 2],
        ..Component::default()
    }
}

#[test]
fn types_without_values_are_refused() {
    let none = Type::Enum { name: "E".into(), variants: vec![] };
    let part = Type::Enum { name: "O".into(), variants: vec![("S".into(), vec![none.clone()])] };
    for empty in [none.clone(), part, Type::Array { len: 0, elem: none.into() }] {
        let ty = Type::Tuple(vec![Type::Uint(2), empty]);
        let with = |is_input: bool| {
            let (mut inputs, mut outputs) = ports(2);
            match is_input {
                true => inputs[0].ty = ty.clone(),
                false => outputs[0].ty = ty.clone(),
            }
            Circuit::new("test", inputs, outputs, vec![leaf()]).unwrap_err().to_string()
        };
        assert!(with(true).contains("input `x` has an enumeration without variants"));
        assert!(with(false).contains("output `x` has an enumeration without variants"));
        let (inputs, outputs) = ports(2);
        let circuit = Circuit::new("test", inputs, outputs, vec![leaf()]).expect("valid");
        let error = circuit.with_types(vec![ty], vec![Type::Uint(2)]).unwrap_err().to_string();
        assert!(error.contains("enumeration without variants"), "{error}");
    }
}

/// A step may write many wires in a few bytes; they take memory wherever a circuit is used.
#[test]
fn wires_are_bounded_by_steps() {
    let many = |count: u32| {
        let mut wide = leaf();
        wide.outputs = vec![2; 64];
        let mut repeat = repeater();
        repeat.repeats[0] = Repeat { count, arg_count: 1, ..repeat.repeats[0] };
        repeat.repeat_args[0] = RepeatArg::Fixed(Ranges { first: 1, count: 1 });
        repeat.wires = 2 + 64 * count;
        vec![wide, repeat]
    };
    let found = refusal(many((1 << 21) + 5));
    assert!(
        found.contains("has 134218048 wires beside its inputs: more than 134217984"),
        "{found}"
    );
    let (inputs, outputs) = ports(2);
    Circuit::new("test", inputs, outputs, many(1 << 14)).expect("valid");
}

#[test]
fn broken_repeats_are_refused() {
    let (inputs, outputs) = ports(2);
    Circuit::new("test", inputs, outputs, vec![leaf(), repeater()]).expect("valid");
    let cases: [Case<Break>; 19] = [
        ("no repeat number 1", |c| c.steps[0] = Step::Repeat(1)),
        ("names a component that is not an earlier", |c| c.repeats[0].component = 1),
        ("names a component that is not an earlier", |c| c.repeats[0].component = u32::MAX),
        ("has no rounds", |c| c.repeats[0].count = 0),
        ("arguments are out of range", |c| c.repeats[0].arg_count = 3),
        ("arguments are out of range", |c| c.repeats[0].first_arg = u32::MAX),
        ("different numbers of wires", |c| c.repeats[0].count = 3),
        ("passes a wrong number of wires", |c| c.repeats[0].count = 1),
        ("passes a wrong number of wires", |c| c.repeats[0].arg_count = 1),
        ("passes a wrong number of wires", |c| {
            c.repeat_args[1] = RepeatArg::Fixed(Ranges { first: 1, count: 1 });
        }),
        ("counter has more than 64 bits", |c| {
            c.repeat_args[1] = RepeatArg::Counter { start: 0, step: 1, bits: 65 };
        }),
        ("passes a wrong number of wires", |c| {
            c.repeat_args[1] = RepeatArg::Counter { start: 0, step: 1, bits: 0 };
        }),
        ("out of range, or empty", |c| {
            c.repeat_args[0] = RepeatArg::Carried(Ranges { first: 0, count: 3 });
        }),
        ("out of range, or empty", |c| {
            c.repeat_args[0] = RepeatArg::Carried(Ranges { first: u32::MAX, count: 1 });
        }),
        ("out of range, or empty", |c| c.call_args[0].len = 0),
        ("reads wire 2 before", |c| c.call_args[1].first = 1),
        ("writes wire 5 twice, or it is out of range", |c| c.repeats[0].first_output = 3),
        ("claims 5 wires, its inputs and steps write 4", |c| {
            c.repeat_args[1] = RepeatArg::Fixed(Ranges { first: 0, count: 1 });
            c.repeats[0].count = 1;
        }),
        // A repeat that no step names must also make sense, because code that sums up uses reads
        // it.
        ("names a component that is not an earlier", |c| {
            c.repeats.push(Repeat { component: 7, ..c.repeats[0] });
        }),
    ];
    for (reason, break_it) in cases {
        let mut component = repeater();
        break_it(&mut component);
        let found = refusal(vec![leaf(), component]);
        assert!(found.contains(reason), "{reason}: {found}");
    }
}

#[test]
fn rounds_count_as_gates() {
    let mut components = vec![leaf()];
    for component in 0..3 {
        components.push(Component {
            name: "many".into(),
            inputs: 2,
            wires: 4,
            steps: vec![Step::Repeat(0)],
            call_args: vec![WireRange { first: 0, len: 2 }],
            repeats: vec![Repeat {
                component,
                count: 1 << 17,
                first_arg: 0,
                arg_count: 1,
                first_output: 2,
            }],
            repeat_args: vec![RepeatArg::Carried(Ranges { first: 0, count: 1 })],
            outputs: vec![2, 3],
            ..Component::default()
        });
    }
    assert!(refusal(components.clone()).contains("more than 2^48"));
    components.pop();
    let (inputs, outputs) = ports(2);
    Circuit::new("test", inputs, outputs, components).expect("2^34 rounds");
}

/// Looks up both inputs in a table of two bits in and two out.
fn looker() -> Program {
    let lookup =
        Lookup { table: 0, first_input: 0, input_count: 2, first_output: 2, output_count: 2 };
    let component = Component {
        name: "looker".into(),
        inputs: 2,
        wires: 4,
        steps: vec![Step::Lookup(0)],
        lookups: vec![lookup],
        lookup_inputs: vec![1, 0],
        outputs: vec![2, 3],
        ..Component::default()
    };
    let table = Table::new(2, 2, vec![3, 1, 0, 2]).expect("a table");
    Program { components: vec![component], tables: vec![table] }
}

#[test]
fn broken_look_ups_are_refused() {
    let (inputs, outputs) = ports(2);
    Circuit::new("test", inputs, outputs, looker()).expect("valid");
    let cases: [Case<fn(&mut Program)>; 11] = [
        ("looks up in table 0: none", |p| p.tables.clear()),
        ("looks up in table 1: none", |p| p.components[0].lookups[0].table = 1),
        ("looks up 2 bits by 3 in table 0, which has 2 by 2", |p| {
            p.components[0].lookups[0].input_count = 3;
        }),
        ("looks up 1 bits by 2", |p| p.components[0].lookups[0].output_count = 1),
        ("inputs out of range", |p| p.components[0].lookups[0].first_input = 1),
        ("inputs out of range", |p| p.components[0].lookups[0].first_input = u32::MAX),
        ("no look-up number 1", |p| p.components[0].steps[0] = Step::Lookup(1)),
        ("reads wire 2 before", |p| p.components[0].lookup_inputs[1] = 2),
        ("writes wire 4 twice, or it is out of range", |p| {
            p.components[0].lookups[0].first_output = 3;
        }),
        ("writes wire 1 twice", |p| p.components[0].lookups[0].first_output = 1),
        ("claims 4 wires, its inputs and steps write 6", |p| {
            p.components[0].steps.push(Step::Lookup(0));
        }),
    ];
    for (reason, break_it) in cases {
        let mut program = looker();
        break_it(&mut program);
        let (inputs, outputs) = ports(2);
        match Circuit::new("test", inputs, outputs, program) {
            Err(CircuitError::Invalid(found)) => assert!(found.contains(reason), "{found}"),
            other => panic!("not refused as invalid: {other:?}"),
        }
    }
}

#[test]
fn ports_must_fit_the_main_component() {
    assert!(refusal(vec![]).contains("at least one component"));
    let cases: [Case<BreakPorts>; 6] = [
        ("the inputs have 3 bits", |inputs, _| inputs[0].ty = Type::Uint(3)),
        ("the outputs have 0 bits", |_, outputs| outputs.clear()),
        ("has no bits", |inputs, _| inputs[0].ty = Type::words(0, 2)),
        ("is empty or repeated", |inputs, _| inputs[0].name.clear()),
        ("is empty or repeated", |inputs, _| {
            inputs[0].ty = Type::Uint(1);
            inputs.push(inputs[0].clone());
        }),
        ("bits, the main component has 2", |inputs, _| {
            let elem = Box::new(Type::words(u32::MAX, u32::MAX));
            inputs[0].ty = Type::Array { len: u32::MAX, elem };
        }),
    ];
    for (reason, break_it) in cases {
        let (mut inputs, mut outputs) = ports(2);
        break_it(&mut inputs, &mut outputs);
        match Circuit::new("test", inputs, outputs, vec![leaf()]) {
            Err(CircuitError::Invalid(found)) => assert!(found.contains(reason), "{found}"),
            other => panic!("not refused as invalid: {other:?}"),
        }
    }
}

#[test]
fn programs_that_would_never_end_are_refused() {
    // Each component calls the one before twice; without a gate anywhere, a walk still takes
    // a step per call.
    for leaf in [
        Component { name: "empty".into(), ..Component::default() },
        Component {
            name: "one".into(),
            wires: 1,
            steps: vec![Step::Const { value: false, out: 0 }],
            ..Component::default()
        },
    ] {
        let mut components = vec![leaf];
        for component in 0..60 {
            let call = Call { component, first_arg: 0, arg_count: 0, first_output: 0 };
            components.push(Component {
                name: "twice".into(),
                steps: vec![Step::Call(0), Step::Call(1)],
                calls: vec![call; 2],
                ..Component::default()
            });
        }
        assert!(refusal(components).contains("more than 2^48"));
    }
}

#[test]
fn lists_of_receivers_have_one_order() {
    let (inputs, mut outputs) = ports(2);
    let list =
        |parties: &[u16]| Receivers::Only(parties.iter().map(|&party| party.into()).collect());
    outputs[0].to = list(&[3, 0, 3]);
    let circuit = Circuit::new("test", inputs, outputs, vec![leaf()]).expect("valid");
    assert_eq!(circuit.outputs()[0].to, list(&[0, 3]));
    let circuit = circuit.with_receivers(vec![list(&[2, 1, 2])]).expect("one list");
    assert_eq!(circuit.outputs()[0].to, list(&[1, 2]));
    assert!(circuit.clone().with_receivers(vec![]).is_err());
    assert!(circuit.with_owners(&[0, 1]).is_err());
}

/// A receiver of zeros must learn that an assert failed.
#[test]
fn whoever_receives_an_output_receives_failed_asserts() {
    let (inputs, mut outputs) = ports(2);
    let to = |parties: &[u16]| Receivers::only(parties.iter().copied());
    outputs[0].ty = Type::Uint(1);
    outputs.push(Output { name: Circuit::FAILURE.into(), ..outputs[0].clone() });
    let circuit = Circuit::new("test", inputs, outputs, vec![leaf()]).expect("valid");
    let plain = circuit.clone().with_receivers(vec![to(&[2]), to(&[0])]).expect("two lists");
    assert_eq!(plain.outputs()[1].to, to(&[0]), "it reports nothing");
    let failure = crate::Failure { text: "no".into(), file: "a.sym".into(), line: 1 };
    let circuit = circuit.with_failures(vec![failure]);
    let circuit = circuit.with_receivers(vec![to(&[2]), to(&[0])]).expect("two lists");
    assert_eq!(circuit.outputs()[1].to, to(&[0, 2]));
    let circuit = circuit.with_receivers(vec![Receivers::All, to(&[])]).expect("two lists");
    assert_eq!(circuit.outputs()[1].to, Receivers::All);
}

/// A value of such a type could be read or printed in two ways.
#[test]
fn fields_and_variants_with_one_name_are_refused() {
    let parts = |name: &str| (name.to_string(), Type::Uint(1));
    let variant = |name: &str| (name.to_string(), vec![Type::Uint(1)]);
    let types = [
        Type::Struct { name: "S".into(), fields: vec![parts("a"), parts("a")] },
        Type::Struct { name: "S".into(), fields: vec![parts("a"), parts("")] },
        Type::Enum { name: "E".into(), variants: vec![variant("A"), variant("A")] },
    ];
    for ty in types {
        let (mut inputs, outputs) = ports(2);
        inputs[0].ty = Type::Tuple(vec![ty]);
        match Circuit::new("test", inputs, outputs, vec![leaf()]) {
            Err(CircuitError::Invalid(reason)) => {
                assert!(reason.contains("is empty or repeated"), "{reason}");
            }
            other => panic!("not refused: {other:?}"),
        }
    }
}

/// A line break in a name could forge lines of what is printed.
#[test]
fn names_with_control_characters_are_refused() {
    type Change = fn(&mut Input, &mut Output, &mut Component);
    let changes: [Change; 5] = [
        |input, _, _| input.name = "z\n".into(),
        |_, output, _| output.name = "\u{1b}[2J".into(),
        |_, _, component| component.name = "a\tb".into(),
        |input, _, _| {
            input.ty =
                Type::Struct { name: "S".into(), fields: vec![("a\r".into(), Type::Uint(2))] };
        },
        |_, output, _| {
            let one = ("V".into(), vec![Type::Uint(1)]);
            output.ty =
                Type::Enum { name: "E\n".into(), variants: vec![one, ("W".into(), vec![])] };
        },
    ];
    for change in changes {
        let (mut inputs, mut outputs) = ports(2);
        let mut component = leaf();
        change(&mut inputs[0], &mut outputs[0], &mut component);
        match Circuit::new("test", inputs, outputs, vec![component]) {
            Err(CircuitError::Invalid(reason)) => {
                assert!(reason.contains("has control characters"), "{reason}");
            }
            other => panic!("not refused: {other:?}"),
        }
    }
}
