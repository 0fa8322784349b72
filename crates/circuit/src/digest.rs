//! A digest of what is computed, which parties can compare.
//!
//! The encoding that is hashed: numbers are little-endian and of fixed width; every list and every
//! string is preceded by its length as `u64`, so no two programs share an encoding.
//!
//! ```text
//! circuit   = inputs outputs components                      (each a list)
//! input     = name type owner:u16
//! output    = name type receivers
//! type      = 0 width:u32 | 1 width:u32 | 2 len:u32 type     (Uint, Int, Array)
//!           | 3 | 4 int:u32 frac:u32 | 5 list of type        (Bool, Fixed, Tuple)
//!           | 6 name list of (name type)                     (Struct)
//!           | 7 name list of (name list of type)             (Enum)
//!           | 8 | 9                                          (F32, F64)
//! receivers = 0 | 1 list of u16                              (All, Only)
//! component = inputs:u32 wires:u32 steps calls args outputs  (each a list)
//! step      = 0 a b out | 1 a b out | 2 a out | 3 value:u8 out | 4 call | 5 lookup
//!             (Xor, And, Inv, Const, Call, Lookup)
//! call      = component first_arg arg_count first_output
//! arg       = first len
//! ```
//!
//! This is version 1, for circuits without tables. A circuit with tables is encoded in version 2,
//! under another hash, which differs in
//!
//! ```text
//! circuit   = inputs outputs tables components
//! table     = inputs:u32 outputs:u32 list of u64
//! component = … outputs lookups lookup_inputs                (each a list)
//! lookup    = table first_input input_count first_output output_count
//! ```
//!
//! A circuit with repeats is encoded in version 3, under a third hash, which differs from version 2
//! in
//!
//! ```text
//! component = … lookup_inputs repeats repeat_args            (each a list)
//! step      = … | 6 repeat                                   (Repeat)
//! repeat    = component count first_arg arg_count first_output
//! argument  = 0 first count | 1 first count | 2 first count  (Fixed, Carried, Strided)
//!           | 3 start:u64 step:u64 bits                      (Counter)
//! ```
//!
//! Tags are one byte; numbers without a given width are `u32`. Names of ports are included, since
//! users set inputs by them; names of the circuit and its components are not.

use crate::{Circuit, Component, Lookup, Ranges, Receivers, Repeat, RepeatArg, Step, Table, Type};

/// Domain and version: another encoding gets another context.
const CONTEXT: &str = "Symbolon circuit digest, encoding version 1";

/// The context of circuits with tables, so that those without keep their digests.
const CONTEXT_WITH_TABLES: &str = "Symbolon circuit digest, encoding version 2";

/// The context of circuits with repeats, so that all others keep their digests.
const CONTEXT_WITH_REPEATS: &str = "Symbolon circuit digest, encoding version 3";

impl Circuit {
    /// Returns a 256-bit BLAKE3 digest of the inputs (names, types, owners), the outputs (names,
    /// types, receivers) and the program, gate for gate as written. Two circuits with the same
    /// digest do the same in a protocol; circuits that merely compute the same function have
    /// different digests.
    pub fn digest(&self) -> [u8; 32] {
        // Without a table there is no look-up to encode: a valid one names a table.
        let repeats = self.components().iter().any(|component| !component.repeats.is_empty());
        let tables = repeats || !self.tables().is_empty();
        let mut encoder = Encoder::new(match (repeats, tables) {
            (true, _) => CONTEXT_WITH_REPEATS,
            (false, true) => CONTEXT_WITH_TABLES,
            (false, false) => CONTEXT,
        });
        encoder.length(self.inputs().len());
        for input in self.inputs() {
            encoder.string(&input.name);
            encoder.ty(&input.ty);
            encoder.bytes(&input.owner.to_le_bytes());
        }
        encoder.length(self.outputs().len());
        for output in self.outputs() {
            encoder.string(&output.name);
            encoder.ty(&output.ty);
            encoder.receivers(&output.to);
        }
        if tables {
            encoder.length(self.tables().len());
            self.tables().iter().for_each(|table| encoder.table(table));
        }
        encoder.length(self.components().len());
        for component in self.components() {
            encoder.component(component);
            if tables {
                encoder.lookups(component);
            }
            if repeats {
                encoder.repeats(component);
            }
        }
        encoder.finish()
    }
}

/// Feeds the hash in large pieces: it is several times slower on small ones.
struct Encoder {
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

impl Encoder {
    const PIECE: usize = 1 << 16;

    fn new(context: &str) -> Self {
        Encoder {
            hasher: blake3::Hasher::new_derive_key(context),
            buffer: Vec::with_capacity(Self::PIECE),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > Self::PIECE {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(bytes);
    }

    fn tag(&mut self, tag: u8) {
        self.bytes(&[tag]);
    }

    fn length(&mut self, length: usize) {
        self.bytes(&(length as u64).to_le_bytes());
    }

    fn numbers<const N: usize>(&mut self, numbers: [u32; N]) {
        for number in numbers {
            self.bytes(&number.to_le_bytes());
        }
    }

    fn string(&mut self, string: &str) {
        self.length(string.len());
        self.bytes(string.as_bytes());
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Uint(width) => {
                self.tag(0);
                self.numbers([*width]);
            }
            Type::Int(width) => {
                self.tag(1);
                self.numbers([*width]);
            }
            Type::Array { len, elem } => {
                self.tag(2);
                self.numbers([*len]);
                self.ty(elem);
            }
            Type::Bool => self.tag(3),
            Type::F32 => self.tag(8),
            Type::F64 => self.tag(9),
            Type::Text(len) => {
                self.tag(10);
                self.numbers([*len]);
            }
            Type::Fixed { int, frac } => {
                self.tag(4);
                self.numbers([*int, *frac]);
            }
            Type::Tuple(parts) => {
                self.tag(5);
                self.types(parts);
            }
            Type::Struct { name, fields } => {
                self.tag(6);
                self.string(name);
                self.length(fields.len());
                for (name, ty) in fields {
                    self.string(name);
                    self.ty(ty);
                }
            }
            Type::Enum { name, variants } => {
                self.tag(7);
                self.string(name);
                self.length(variants.len());
                for (name, parts) in variants {
                    self.string(name);
                    self.types(parts);
                }
            }
        }
    }

    fn types(&mut self, types: &[Type]) {
        self.length(types.len());
        types.iter().for_each(|ty| self.ty(ty));
    }

    fn receivers(&mut self, receivers: &Receivers) {
        match receivers {
            Receivers::All => self.tag(0),
            Receivers::Only(parties) => {
                self.tag(1);
                self.length(parties.len());
                parties.iter().for_each(|party| self.bytes(&party.to_le_bytes()));
            }
        }
    }

    fn component(&mut self, component: &Component) {
        self.numbers([component.inputs, component.wires]);
        self.length(component.steps.len());
        component.steps.iter().for_each(|step| self.step(step));
        self.length(component.calls.len());
        for call in &component.calls {
            self.numbers([call.component, call.first_arg, call.arg_count, call.first_output]);
        }
        self.length(component.call_args.len());
        component.call_args.iter().for_each(|range| self.numbers([range.first, range.len]));
        self.length(component.outputs.len());
        component.outputs.iter().for_each(|&wire| self.numbers([wire]));
    }

    fn table(&mut self, table: &Table) {
        self.numbers([table.inputs(), table.outputs()]);
        self.length(table.entries().len());
        table.entries().iter().for_each(|entry| self.bytes(&entry.to_le_bytes()));
    }

    fn lookups(&mut self, component: &Component) {
        self.length(component.lookups.len());
        for lookup in &component.lookups {
            let Lookup { table, first_input, input_count, first_output, output_count } = *lookup;
            self.numbers([table, first_input, input_count, first_output, output_count]);
        }
        self.length(component.lookup_inputs.len());
        component.lookup_inputs.iter().for_each(|&wire| self.numbers([wire]));
    }

    fn repeats(&mut self, component: &Component) {
        self.length(component.repeats.len());
        for repeat in &component.repeats {
            let Repeat { component, count, first_arg, arg_count, first_output } = *repeat;
            self.numbers([component, count, first_arg, arg_count, first_output]);
        }
        self.length(component.repeat_args.len());
        for arg in &component.repeat_args {
            match *arg {
                RepeatArg::Fixed(ranges) => self.ranges(0, ranges),
                RepeatArg::Carried(ranges) => self.ranges(1, ranges),
                RepeatArg::Strided(ranges) => self.ranges(2, ranges),
                RepeatArg::Counter { start, step, bits } => {
                    self.tag(3);
                    self.bytes(&start.to_le_bytes());
                    self.bytes(&step.to_le_bytes());
                    self.numbers([bits]);
                }
            }
        }
    }

    fn ranges(&mut self, tag: u8, Ranges { first, count }: Ranges) {
        self.tag(tag);
        self.numbers([first, count]);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Xor { a, b, out } => {
                self.tag(0);
                self.numbers([a, b, out]);
            }
            Step::And { a, b, out } => {
                self.tag(1);
                self.numbers([a, b, out]);
            }
            Step::Inv { a, out } => {
                self.tag(2);
                self.numbers([a, out]);
            }
            Step::Const { value, out } => {
                self.tag(3);
                self.tag(u8::from(value));
                self.numbers([out]);
            }
            Step::Call(call) => {
                self.tag(4);
                self.numbers([call]);
            }
            Step::Lookup(lookup) => {
                self.tag(5);
                self.numbers([lookup]);
            }
            Step::Repeat(repeat) => {
                self.tag(6);
                self.numbers([repeat]);
            }
        }
    }

    fn finish(mut self) -> [u8; 32] {
        self.hasher.update(&self.buffer);
        *self.hasher.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Call, Input, Output, WireRange};

    fn parts() -> (Vec<Input>, Vec<Output>, Vec<Component>) {
        let inputs = vec![
            Input { name: "a".into(), ty: Type::Uint(2), owner: 0.into() },
            Input { name: "b".into(), ty: Type::words(2, 1), owner: 1.into() },
        ];
        let outputs = vec![Output { name: "c".into(), ty: Type::Int(2), to: Receivers::All }];
        let half = Component {
            name: "half".into(),
            inputs: 2,
            wires: 6,
            steps: vec![
                Step::Xor { a: 0, b: 1, out: 2 },
                Step::And { a: 0, b: 1, out: 3 },
                Step::Inv { a: 2, out: 4 },
                Step::Const { value: true, out: 5 },
            ],
            outputs: vec![3],
            ..Component::default()
        };
        let main = Component {
            name: "main".into(),
            inputs: 4,
            wires: 6,
            steps: vec![Step::Call(0), Step::Call(1)],
            calls: vec![
                Call { component: 0, first_arg: 0, arg_count: 1, first_output: 4 },
                Call { component: 0, first_arg: 1, arg_count: 1, first_output: 5 },
            ],
            call_args: vec![WireRange { first: 0, len: 2 }, WireRange { first: 2, len: 2 }],
            outputs: vec![4, 5],
            ..Component::default()
        };
        (inputs, outputs, vec![half, main])
    }

    type Parts = (Vec<Input>, Vec<Output>, Vec<Component>);

    fn digest_of(change: impl Fn(&mut Parts)) -> [u8; 32] {
        let mut parts = parts();
        change(&mut parts);
        Circuit::new("name", parts.0, parts.1, parts.2).expect("still valid").digest()
    }

    #[test]
    fn names_of_circuit_and_components_do_not_count() {
        let same = digest_of(|p| p.2[0].name = "other".into());
        assert_eq!(same, digest_of(|_| {}));
        let (inputs, outputs, components) = parts();
        let renamed = Circuit::new("other", inputs, outputs, components).expect("valid");
        assert_eq!(renamed.digest(), same);
    }

    #[test]
    fn everything_else_counts() {
        let changes: [fn(&mut Parts); 18] = [
            |_| {},
            |p| p.0[0].name = "x".into(),
            |p| p.0[0].ty = Type::Int(2),
            |p| p.0[0].ty = Type::words(2, 1),
            |p| p.0[1].ty = Type::words(1, 2),
            |p| p.0[0].owner = 1.into(),
            |p| p.1[0].name = "x".into(),
            |p| p.1[0].ty = Type::Uint(2),
            |p| p.1[0].to = Receivers::Only(vec![]),
            |p| p.1[0].to = Receivers::only([0]),
            |p| p.1[0].to = Receivers::only([0, 1]),
            |p| p.2[0].steps[0] = Step::And { a: 0, b: 1, out: 2 },
            |p| p.2[0].steps[1] = Step::And { a: 1, b: 0, out: 3 },
            |p| p.2[0].steps[3] = Step::Const { value: false, out: 5 },
            |p| p.2[0].steps.swap(0, 1),
            |p| p.2[0].outputs = vec![4],
            |p| p.2[1].outputs = vec![5, 4],
            |p| p.2[1].call_args[1].first = 1,
        ];
        let digests: HashSet<[u8; 32]> = changes.iter().map(digest_of).collect();
        assert_eq!(digests.len(), changes.len());
    }

    #[test]
    fn the_encoding_is_fixed() {
        // Parties of different releases compare digests: this one changes only with the version.
        let hex: String = digest_of(|_| {}).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "72fb5aeb29f788afe68acfd0a03676a843f9cc6e5e1aee7e65c407c2c4d3e748");
    }

    #[test]
    fn tables_and_look_ups_count() {
        let digest_of = |change: fn(&mut crate::Program)| {
            let lookup = |first_input, first_output| Lookup {
                table: 0,
                first_input,
                input_count: 2,
                first_output,
                output_count: 2,
            };
            let component = Component {
                inputs: 2,
                wires: 6,
                steps: vec![Step::Lookup(0), Step::Lookup(1)],
                lookups: vec![lookup(0, 2), lookup(1, 4)],
                lookup_inputs: vec![0, 1, 0],
                outputs: vec![2, 4],
                ..Component::default()
            };
            let table = |entries: [u64; 4]| Table::new(2, 2, entries.to_vec()).unwrap();
            let mut program = crate::Program {
                components: vec![component],
                tables: vec![table([0, 1, 2, 3]), table([3, 2, 1, 1])],
            };
            change(&mut program);
            crate::testing::circuit(program).digest()
        };
        let changes: [fn(&mut crate::Program); 8] = [
            |_| {},
            |p| p.tables.swap(0, 1),
            |p| p.tables.truncate(1),
            |p| p.tables[0] = Table::new(2, 2, vec![0, 1, 2, 2]).unwrap(),
            |p| p.components[0].lookups[0].table = 1,
            |p| p.components[0].lookups[1].first_input = 0,
            |p| p.components[0].lookup_inputs[0] = 1,
            |p| p.components[0].steps.swap(0, 1),
        ];
        let digests: HashSet<[u8; 32]> = changes.iter().map(|change| digest_of(*change)).collect();
        assert_eq!(digests.len(), changes.len());
        let hex: String = digest_of(|_| {}).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "f7b265f165ef6fa60575fd37c4b95f0fee81fb16b8b0a61d5c1277447558dd01");
    }

    #[test]
    fn repeats_count() {
        let digest_of = |change: fn(&mut Vec<Component>)| {
            let round = Component {
                inputs: 5,
                wires: 6,
                steps: vec![Step::And { a: 0, b: 3, out: 5 }],
                outputs: vec![5, 2],
                ..Component::default()
            };
            let ranges = |first| Ranges { first, count: 1 };
            let range = |first, len| WireRange { first, len };
            let main = Component {
                inputs: 6,
                wires: 10,
                steps: vec![Step::Repeat(0)],
                call_args: vec![range(0, 1), range(1, 1), range(3, 3), range(2, 1)],
                repeats: vec![Repeat {
                    component: 0,
                    count: 3,
                    first_arg: 0,
                    arg_count: 4,
                    first_output: 6,
                }],
                repeat_args: vec![
                    RepeatArg::Carried(ranges(0)),
                    RepeatArg::Fixed(ranges(1)),
                    RepeatArg::Strided(ranges(2)),
                    RepeatArg::Counter { start: 0, step: 1, bits: 2 },
                ],
                outputs: (6..10).collect(),
                ..Component::default()
            };
            let mut components = vec![round, main];
            change(&mut components);
            crate::testing::circuit(components).digest()
        };
        let changes: [fn(&mut Vec<Component>); 8] = [
            |_| {},
            |c| c[1].repeat_args.swap(0, 1),
            |c| c[1].repeat_args[1] = RepeatArg::Fixed(Ranges { first: 0, count: 1 }),
            |c| c[1].repeat_args[3] = RepeatArg::Counter { start: 1, step: 1, bits: 2 },
            |c| c[1].repeat_args[3] = RepeatArg::Counter { start: 0, step: 2, bits: 2 },
            |c| c[1].call_args[2].first = 2,
            |c| c[1].repeat_args.push(RepeatArg::Fixed(Ranges { first: 0, count: 1 })),
            |c| {
                c[1].repeats[0].count = 1;
                c[1].call_args[2].len = 1;
                c[1].wires = 8;
                c[1].outputs.truncate(2);
            },
        ];
        let digests: HashSet<[u8; 32]> = changes.iter().map(|change| digest_of(*change)).collect();
        assert_eq!(digests.len(), changes.len());
        let hex: String = digest_of(|_| {}).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "e520c2a02e77cbeca19401a13dbb304ba15aaff9a66d193b97a139401aa5ebbf");
    }

    #[test]
    fn large_components_are_hashed_whole() {
        let gates = 20_000u32;
        let build = |last| {
            let mut steps: Vec<Step> = (1..gates).map(|i| Step::Inv { a: i - 1, out: i }).collect();
            steps.push(Step::Inv { a: last, out: gates });
            let component = Component {
                inputs: 1,
                wires: gates + 1,
                steps,
                outputs: vec![1],
                ..Default::default()
            };
            crate::testing::circuit(vec![component]).digest()
        };
        assert_ne!(build(0), build(1));
        assert_eq!(build(7), build(7));
    }
}
