//! Calls of components.

use super::bit::{Bit, Part, Word};
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
        let given = args.iter().map(|arg| arg.len()).collect();
        self.call_with(callee, given, |gates, first| {
            for &arg in args {
                gates.pass(first, arg);
            }
        })
    }

    /// Calls like [`call`](Self::call). Words of wires in a row are passed without listing their
    /// bits.
    pub fn call_words(&mut self, callee: &Subcircuit, args: &[&Word]) -> Vec<Word> {
        let given = args.iter().map(|arg| arg.width()).collect();
        self.call_with(callee, given, |gates, first| {
            for &arg in args {
                gates.pass_word(first, arg);
            }
        })
    }

    /// Adds a word to the arguments from `first` on.
    pub(super) fn pass_word(&mut self, first: usize, word: &Word) {
        for part in word.parts() {
            match part {
                Part::Wires(range) => WireRange::push_all(&mut self.call_args, first, range),
                Part::Bits(bits) => self.pass(first, bits),
            }
        }
    }

    /// Adds bits to the arguments from `first` on.
    pub(super) fn pass(&mut self, first: usize, bits: &[Bit]) {
        let mut rest = bits;
        while let Some((&bit, more)) = rest.split_first() {
            let wire = self.materialise(bit);
            // Wires in a row are passed together.
            let follows =
                more.iter().zip(wire + 1..).take_while(|(bit, w)| **bit == Bit::of_wire(*w));
            let row = follows.count();
            let range = WireRange { first: wire, len: 1 + row as u32 };
            WireRange::push_all(&mut self.call_args, first, range);
            rest = &more[row..];
        }
    }

    /// Calls a component with arguments of the given widths, which `pass` adds from this place on.
    fn call_with(
        &mut self,
        callee: &Subcircuit,
        given: Vec<usize>,
        pass: impl FnOnce(&mut Gates, usize),
    ) -> Vec<Word> {
        let definition = &*callee.0;
        let widths = &definition.input_widths;
        if given != *widths {
            let name = &definition.component.name;
            self.note_mismatch(|| {
                format!("`{name}` takes words of {widths:?} bits, not {given:?}")
            });
            return definition.output_widths.iter().map(|&width| Word::zero(width)).collect();
        }
        let first_arg = self.call_args.len();
        pass(self, first_arg);
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
        let mut first = first_output;
        let word = |&width: &usize| {
            let word = Word::of_wires(first, width as u32);
            first += width as u32;
            word
        };
        definition.output_widths.iter().map(word).collect()
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
