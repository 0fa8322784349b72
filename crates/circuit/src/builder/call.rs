//! Calls of components.

use super::bit::{Bit, Word};
use super::gates::Gates;
use super::subcircuit::Subcircuit;
use crate::{Call, WireRange};

impl Gates {
    /// Calls a component with one argument for each of its inputs; returns one word for each of its
    /// outputs.
    ///
    /// The call stays a call in the finished circuit; nothing folds across its borders, so
    /// constants are better built into a component than passed to it.
    ///
    /// `finish` reports arguments whose number or widths are not those of the component's inputs.
    pub fn call(&mut self, callee: &Subcircuit, args: &[&[Bit]]) -> Vec<Word> {
        let definition = &*callee.0;
        let (widths, given): (_, Vec<usize>) =
            (&definition.input_widths, args.iter().map(|arg| arg.len()).collect());
        if given != *widths {
            let name = &definition.component.name;
            self.note_mismatch(|| {
                format!("`{name}` takes words of {widths:?} bits, not {given:?}")
            });
            return definition.output_widths.iter().map(|&width| Word::zero(width)).collect();
        }
        let first_arg = self.call_args.len();
        for &arg in args {
            for &bit in arg {
                let wire = self.materialise(bit);
                WireRange::push(&mut self.call_args, first_arg, wire);
            }
        }
        let fits = u32::try_from(self.call_args.len()).is_ok();
        self.too_large |= !fits;
        let bits = callee.output_bits();
        let Some(first_output) = self.allocate(bits) else {
            let dead = |&width| std::iter::repeat_n(Bit::of_wire(0), width).collect();
            return definition.output_widths.iter().map(dead).collect();
        };
        let call = Call {
            component: self.callee_index(callee),
            first_arg: first_arg as u32,
            arg_count: (self.call_args.len() - first_arg) as u32,
            first_output,
        };
        self.call_step(call, definition.ands);
        let mut wires = (first_output..first_output + bits).map(Bit::of_wire);
        let widths = definition.output_widths.iter();
        widths.map(|&width| wires.by_ref().take(width).collect()).collect()
    }

    /// Calls like [`call`](Self::call), for components with one output.
    ///
    /// # Panics
    /// As [`call`](Self::call), and when the component does not have exactly one output.
    pub fn call_one(&mut self, callee: &Subcircuit, args: &[&[Bit]]) -> Word {
        let [word] = <[Word; 1]>::try_from(self.call(callee, args)).expect("one output");
        word
    }

    /// Calls like [`call`](Self::call), with all arguments in one word and all outputs in one.
    ///
    /// # Panics
    /// When the word has another width than the component's inputs together.
    pub fn call_flat(&mut self, callee: &Subcircuit, args: &[Bit]) -> Word {
        let mut rest = args;
        let widths = callee.0.input_widths.iter();
        let args: Vec<&[Bit]> = widths
            .map(|&width| {
                let (arg, others) = rest.split_at(width);
                rest = others;
                arg
            })
            .collect();
        assert!(rest.is_empty(), "more bits than the component's inputs have");
        Word::join(&self.call(callee, &args))
    }

    pub(super) fn callee_index(&mut self, callee: &Subcircuit) -> u32 {
        *self.callee_places.entry(callee.identity()).or_insert_with(|| {
            self.callees.push(callee.clone());
            self.callees.len() as u32 - 1
        })
    }
}
