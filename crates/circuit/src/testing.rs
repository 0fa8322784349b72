//! Random programs and bits for this crate's tests.

use proptest::prelude::*;

use crate::{
    Call, Circuit, Component, Input, Lookup, Output, Program, Ranges, Receivers, Repeat, RepeatArg,
    Source, Step, Table, Type, WireRange,
};

/// A small generator of random choices, driven by a seed that proptest picks.
pub(crate) struct Choices(u64);

impl Choices {
    pub(crate) fn new(seed: u64) -> Self {
        Choices(seed)
    }

    /// Returns the next 64 bits (SplitMix64).
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which is at least 1.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        (self.word() % u64::from(bound)) as u32
    }
}

/// Returns `n` pseudo-random bits.
pub(crate) fn bits(seed: u64, n: usize) -> Vec<bool> {
    let mut choices = Choices::new(seed);
    (0..n).map(|_| choices.word() & 1 == 1).collect()
}

/// Wraps components whose last one is the main one: one input and one output, of its widths.
pub(crate) fn circuit(program: impl Into<Program>) -> Circuit {
    let program = program.into();
    let main = program.components.last().expect("a main component");
    let inputs = match main.inputs {
        0 => Vec::new(),
        n => vec![Input { name: "x".into(), ty: Type::Uint(n), owner: 0.into() }],
    };
    let outputs = match main.outputs.len() as u32 {
        0 => Vec::new(),
        n => vec![Output { name: "y".into(), ty: Type::Uint(n), to: Receivers::All }],
    };
    Circuit::new("test", inputs, outputs, program).expect("a valid program")
}

/// Programs of a few components with all kinds of steps, dead gates, repeated and aliased outputs,
/// wires numbered out of order, components without inputs or outputs, in half of them look-ups, and
/// in a third many inputs and outputs, so that calls pass long runs of wires.
pub(crate) fn arbitrary_circuit() -> impl Strategy<Value = Circuit> {
    (any::<u64>(), 1usize..5, 1u32..60).prop_map(|(seed, components, steps)| {
        let mut choices = Choices::new(seed);
        let mut program = Program::default();
        if choices.below(2) == 0 {
            program.tables = (0..1 + choices.below(4)).map(|_| table(&mut choices)).collect();
        }
        let wide = choices.below(3) == 0;
        for _ in 0..components {
            let steps = choices.below(steps + 1);
            let next = component(&mut choices, &program, steps, wide);
            program.components.push(next);
        }
        circuit(program)
    })
}

/// Tables of all shapes, small ones more often than others.
pub(crate) fn arbitrary_table() -> impl Strategy<Value = Table> {
    any::<u64>().prop_map(|seed| table(&mut Choices::new(seed)))
}

fn table(choices: &mut Choices) -> Table {
    let mut size = |most: u32| {
        let most = 1 + choices.below(most);
        1 + choices.below(most)
    };
    let (inputs, outputs) = (size(Table::MAX_INPUTS), size(Table::MAX_OUTPUTS));
    // Sparse and dense ones.
    let density = choices.below(3);
    let entry = |_| (0..density).fold(choices.word(), |word, _| word & choices.word());
    let entries: Vec<u64> = (0..1 << inputs).map(entry).collect();
    let cut = |entry: &u64| entry & u64::MAX >> (Table::MAX_OUTPUTS - outputs);
    Table::new(inputs, outputs, entries.iter().map(cut).collect::<Vec<_>>()).expect("a table")
}

fn component(choices: &mut Choices, program: &Program, steps: u32, wide: bool) -> Component {
    let earlier = &program.components[..];
    let ports = if wide { 50 } else { 9 };
    let inputs = choices.below(ports);
    let mut made = Component { name: "random".into(), inputs, ..Component::default() };
    let mut wires = inputs;
    for _ in 0..steps {
        let out = wires;
        let kind = if wires == 0 { 3 } else { choices.below(9) };
        if kind < 6 {
            wires += 1;
        }
        match kind {
            0 | 1 => {
                let (a, b) = (choices.below(out), choices.below(out));
                made.steps.push(Step::Xor { a, b, out });
            }
            2 | 4 => {
                let (a, b) = (choices.below(out), choices.below(out));
                made.steps.push(Step::And { a, b, out });
            }
            3 => made.steps.push(Step::Const { value: choices.word() & 1 == 1, out }),
            5 => made.steps.push(Step::Inv { a: choices.below(out), out }),
            6 if program.tables.is_empty() => {}
            6 => wires += lookup(choices, &program.tables, &mut made, out),
            _ if earlier.is_empty() => {}
            8 => wires += repeat(choices, earlier, &mut made, out),
            _ => wires += call(choices, earlier, &mut made, out),
        }
    }
    made.wires = wires;
    if wires > 0 {
        let outputs = choices.below(ports);
        let longest = if wide { 20 } else { 1 };
        while made.outputs.len() < outputs as usize {
            let first = choices.below(wires);
            let len = 1 + choices.below(longest.min(wires - first));
            made.outputs.extend(first..first + len);
        }
    }
    renumber(choices, &mut made);
    made
}

/// Adds a look-up with random wires; returns the number of its results.
fn lookup(choices: &mut Choices, tables: &[Table], made: &mut Component, wires: u32) -> u32 {
    let index = choices.below(tables.len() as u32);
    let table = &tables[index as usize];
    made.steps.push(Step::Lookup(made.lookups.len() as u32));
    made.lookups.push(Lookup {
        table: index,
        first_input: made.lookup_inputs.len() as u32,
        input_count: table.inputs(),
        first_output: wires,
        output_count: table.outputs(),
    });
    made.lookup_inputs.extend((0..table.inputs()).map(|_| choices.below(wires)));
    table.outputs()
}

/// Adds a call whose arguments are random runs of the wires so far; returns the number of its
/// results.
fn call(choices: &mut Choices, earlier: &[Component], made: &mut Component, wires: u32) -> u32 {
    let index = choices.below(earlier.len() as u32);
    let callee = &earlier[index as usize];
    let first_arg = made.call_args.len() as u32;
    let mut missing = callee.inputs;
    while missing > 0 {
        let first = choices.below(wires);
        let len = 1 + choices.below(missing.min(wires - first));
        made.call_args.push(WireRange { first, len });
        missing -= len;
    }
    let arg_count = made.call_args.len() as u32 - first_arg;
    made.steps.push(Step::Call(made.calls.len() as u32));
    made.calls.push(Call { component: index, first_arg, arg_count, first_output: wires });
    callee.outputs.len() as u32
}

/// Adds a repeat of up to five rounds with arguments of all kinds; returns the number of its
/// results.
fn repeat(choices: &mut Choices, earlier: &[Component], made: &mut Component, wires: u32) -> u32 {
    let index = choices.below(earlier.len() as u32);
    let callee = &earlier[index as usize];
    let outputs = callee.outputs.len() as u32;
    let count = 1 + choices.below(5);
    let first_arg = made.repeat_args.len() as u32;
    let (mut missing, mut carried) = (callee.inputs, 0);
    while missing > 0 {
        let width = 1 + choices.below(missing);
        missing -= width;
        let kind = choices.below(4);
        if kind == 3 && width <= 64 {
            let (start, step) = (choices.word(), choices.word());
            made.repeat_args.push(RepeatArg::Counter { start, step, bits: width });
            continue;
        }
        let is_carried = kind == 0 && carried + width <= outputs;
        let mut total = if kind == 1 { width * count } else { width };
        let first = made.call_args.len() as u32;
        while total > 0 {
            let first = choices.below(wires);
            let len = 1 + choices.below(total.min(wires - first));
            made.call_args.push(WireRange { first, len });
            total -= len;
        }
        let ranges = Ranges { first, count: made.call_args.len() as u32 - first };
        carried += if is_carried { width } else { 0 };
        made.repeat_args.push(match kind {
            0 if is_carried => RepeatArg::Carried(ranges),
            1 => RepeatArg::Strided(ranges),
            _ => RepeatArg::Fixed(ranges),
        });
    }
    let arg_count = made.repeat_args.len() as u32 - first_arg;
    made.steps.push(Step::Repeat(made.repeats.len() as u32));
    made.repeats.push(Repeat {
        component: index,
        count,
        first_arg,
        arg_count,
        first_output: wires,
    });
    carried + count * (outputs - carried)
}

/// Returns the same circuit with calls in place of its repeats, and constants for their counters.
pub(crate) fn without_repeats(with: &Circuit) -> Circuit {
    let old = with.components();
    let components = old.iter().map(|component| written_out(component, old)).collect();
    circuit(Program { components, tables: with.tables().to_vec() })
}

fn written_out(old: &Component, all: &[Component]) -> Component {
    let mut new = Component {
        repeats: Vec::new(),
        repeat_args: Vec::new(),
        steps: Vec::new(),
        ..old.clone()
    };
    // The repeats' old wires keep their numbers, and are written last, by XORs with a constant.
    let zero = new.wires;
    new.wires += 1;
    new.steps.push(Step::Const { value: false, out: zero });
    for step in &old.steps {
        let Step::Repeat(repeat) = *step else {
            new.steps.push(*step);
            continue;
        };
        let repeat = old.repeats[repeat as usize];
        let outputs = all[repeat.component as usize].outputs.len() as u32;
        let carried = old.carried_by(repeat);
        let (mut rounds, mut sources) = (old.rounds(repeat), Vec::new());
        let (mut last, mut to) = (0, repeat.first_output + carried);
        let mut copies = Vec::new();
        while rounds.next(&mut sources) {
            let first_arg = new.call_args.len();
            for source in &sources {
                let wire = match *source {
                    Source::Wire(wire) => wire,
                    Source::Before(output) => last + output,
                    Source::Constant(value) => {
                        new.steps.push(Step::Const { value, out: new.wires });
                        new.wires += 1;
                        new.wires - 1
                    }
                };
                new.call_args.push(WireRange { first: wire, len: 1 });
            }
            last = new.wires;
            new.wires += outputs;
            new.steps.push(Step::Call(new.calls.len() as u32));
            new.calls.push(Call {
                component: repeat.component,
                first_arg: first_arg as u32,
                arg_count: sources.len() as u32,
                first_output: last,
            });
            copies.extend((carried..outputs).map(|output| {
                to += 1;
                (last + output, to - 1)
            }));
        }
        copies.extend((0..carried).map(|output| (last + output, repeat.first_output + output)));
        new.steps.extend(copies.into_iter().map(|(a, out)| Step::Xor { a, b: zero, out }));
    }
    new
}

/// Reverses the numbers of the gates' results when the component has no calls or look-ups (whose
/// results must stay runs), so that wires are not always written in ascending order.
fn renumber(choices: &mut Choices, made: &mut Component) {
    if !made.is_leaf() || !made.lookups.is_empty() || choices.below(2) == 0 {
        return;
    }
    let (inputs, wires) = (made.inputs, made.wires);
    let new = |wire: &mut u32| {
        if *wire >= inputs {
            *wire = wires - 1 - (*wire - inputs);
        }
    };
    for step in &mut made.steps {
        match step {
            Step::Xor { a, b, out } | Step::And { a, b, out } => {
                [a, b, out].into_iter().for_each(new)
            }
            Step::Inv { a, out } => [a, out].into_iter().for_each(new),
            Step::Const { out, .. } => new(out),
            Step::Call(_) | Step::Lookup(_) | Step::Repeat(_) => {}
        }
    }
    made.outputs.iter_mut().for_each(new);
}
