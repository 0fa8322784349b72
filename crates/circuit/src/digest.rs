//! A name for what is computed, that parties can compare.
//!
//! The encoding under the hash, version 1. Numbers are little-endian and of fixed width; every list
//! and every string is preceded by its length as `u64`, so no two programs share an encoding.
//!
//! ```text
//! circuit   = inputs outputs components                      (each a list)
//! input     = name type owner:u16
//! output    = name type receivers
//! type      = 0 width:u32 | 1 width:u32 | 2 len:u32 type     (Uint, Int, Array)
//! receivers = 0 | 1 list of u16                              (All, Only)
//! component = inputs:u32 wires:u32 steps calls args outputs  (each a list)
//! step      = 0 a b out | 1 a b out | 2 a out | 3 value:u8 out | 4 call   (Xor, And, Inv, Const, Call)
//! call      = component first_arg arg_count first_output
//! arg       = first len
//! ```
//!
//! Tags are one byte, what has no width given is `u32`. Names of ports are part of it, since users
//! set inputs by them; names of the circuit and its components are not.

use crate::{Circuit, Component, Receivers, Step, Type};

/// Domain and version: another encoding gets another context.
const CONTEXT: &str = "Symbolon circuit digest, encoding version 1";

impl Circuit {
    /// A 256-bit BLAKE3 digest of the inputs (names, types, owners), the outputs (names, types,
    /// receivers) and the program, gate for gate as written. Two circuits with the same digest do
    /// the same in a protocol; circuits that merely compute the same function differ in it.
    pub fn digest(&self) -> [u8; 32] {
        let mut encoder = Encoder::new();
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
        encoder.length(self.components().len());
        self.components().iter().for_each(|component| encoder.component(component));
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

    fn new() -> Self {
        Encoder {
            hasher: blake3::Hasher::new_derive_key(CONTEXT),
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
        }
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
            Input { name: "a".into(), ty: Type::Uint(2), owner: 0 },
            Input { name: "b".into(), ty: Type::words(2, 1), owner: 1 },
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
            |p| p.0[0].owner = 1,
            |p| p.1[0].name = "x".into(),
            |p| p.1[0].ty = Type::Uint(2),
            |p| p.1[0].to = Receivers::Only(vec![]),
            |p| p.1[0].to = Receivers::Only(vec![0]),
            |p| p.1[0].to = Receivers::Only(vec![0, 1]),
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
