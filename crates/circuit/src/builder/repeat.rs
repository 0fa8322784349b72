//! Repeats: one component, round after round.

use super::bit::{Bit, Word};
use super::gates::Gates;
use super::subcircuit::Subcircuit;
use crate::{Ranges, Repeat, RepeatArg};

/// What [`Gates::repeat`] passes to every round.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// The same bits in every round.
    Fixed(&'a [Bit]),
    /// These bits in the first round, then what the previous round passes on.
    Carried(&'a [Bit]),
    /// The same number of bits for each round, those of the first round first.
    Strided(&'a Word),
    /// The low `bits` bits of `start + step · round`, least significant first, modulo 2^64.
    Counter {
        /// The number of the first round.
        start: u64,
        /// What is added from round to round.
        step: u64,
        /// How many bits there are; at most 64.
        bits: u32,
    },
}

impl Argument<'_> {
    /// Returns how many bits each of `count` rounds gets.
    fn width(&self, count: u32) -> usize {
        match self {
            Argument::Fixed(bits) | Argument::Carried(bits) => bits.len(),
            Argument::Strided(bits) => bits.width() / count.max(1) as usize,
            Argument::Counter { bits, .. } => *bits as usize,
        }
    }
}

impl Gates {
    /// Calls a component in `count` rounds. The arguments, joined, are its inputs. Its first
    /// outputs are what a round passes on to the next, in the order of the carried arguments.
    /// Returns those of the last round, and then the other outputs of every round, joined.
    ///
    /// It takes the memory of one call. With no rounds, the carried arguments are returned.
    ///
    /// `finish` reports arguments whose widths do not fit the component.
    pub fn repeat(
        &mut self,
        callee: &Subcircuit,
        count: u32,
        args: &[Argument<'_>],
    ) -> (Word, Word) {
        let initial: Word = args
            .iter()
            .flat_map(|arg| if let Argument::Carried(bits) = arg { bits } else { &[][..] })
            .copied()
            .collect();
        let given: usize = args.iter().map(|arg| arg.width(count)).sum();
        let carried = initial.width();
        let outputs = callee.output_bits() as usize;
        let strided = args.iter().all(|arg| match arg {
            Argument::Strided(bits) => bits.width().is_multiple_of(count.max(1) as usize),
            Argument::Counter { bits, .. } => *bits <= 64,
            _ => true,
        });
        if given != callee.input_bits() as usize || carried > outputs || !strided {
            self.note_mismatch(|| {
                let inputs = callee.input_bits();
                format!("{count} rounds of {callee:?} take {inputs} bits each, not {given}")
            });
            return (initial, Word::zero(outputs.saturating_sub(carried) * count as usize));
        }
        if count == 0 {
            return (initial, Word::zero(0));
        }
        let others = (outputs - carried) as u64 * u64::from(count);
        let written = u32::try_from(carried as u64 + others).ok();
        let first_arg = self.repeat_args.len();
        for arg in args.iter().filter(|arg| arg.width(count) > 0) {
            let arg = self.repeat_arg(arg);
            self.repeat_args.push(arg);
        }
        self.too_large |= written.is_none() || u32::try_from(self.call_args.len()).is_err();
        let Some(first_output) = self.allocate(written.unwrap_or(u32::MAX)) else {
            // It is too large anyway, so the results may be any few bits.
            return (initial, Word::zero(0));
        };
        let repeat = Repeat {
            component: self.callee_index(callee),
            count,
            first_arg: first_arg as u32,
            arg_count: (self.repeat_args.len() - first_arg) as u32,
            first_output,
        };
        self.repeat_step(repeat, callee.and_count());
        let middle = first_output + carried as u32;
        (Word::of_wires(first_output, carried as u32), Word::of_wires(middle, others as u32))
    }

    fn repeat_arg(&mut self, arg: &Argument<'_>) -> RepeatArg {
        let first = self.call_args.len();
        let new = |ranges: Ranges| match *arg {
            Argument::Fixed(_) => RepeatArg::Fixed(ranges),
            Argument::Carried(_) => RepeatArg::Carried(ranges),
            Argument::Strided(_) => RepeatArg::Strided(ranges),
            Argument::Counter { start, step, bits } => RepeatArg::Counter { start, step, bits },
        };
        match *arg {
            Argument::Fixed(bits) | Argument::Carried(bits) => self.pass(first, bits),
            Argument::Strided(word) => self.pass_word(first, word),
            Argument::Counter { .. } => {}
        }
        new(Ranges { first: first as u32, count: (self.call_args.len() - first) as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Builder, ComponentBuilder};
    use crate::{Receivers, Type, eval_bits};

    /// Returns a round: the carried number plus an input of its own plus the round's number, and
    /// the complement of that sum.
    fn round() -> Subcircuit {
        let mut c = ComponentBuilder::new("round");
        let (sum, own, number) = (c.input(16), c.input(16), c.input(16));
        let sum = c.add(&sum, &own);
        let sum = c.add(&sum, &number);
        c.output(&sum);
        let other: Word = sum.iter().map(|&bit| !bit).collect();
        c.output(&other);
        c.finish().expect("a component")
    }

    #[test]
    fn rounds_hand_on_and_give() {
        let numbers = [3u16, 500, 65_000, 77, 1];
        let mut b = Builder::new("sum");
        let x = b.input("x", Type::words(5, 16), 0);
        let zero = Word::zero(16);
        let (start, step) = (7, u64::MAX - 2);
        let args = [
            Argument::Carried(&zero),
            Argument::Strided(&x),
            Argument::Counter { start, step, bits: 16 },
        ];
        let (sum, others) = b.repeat(&round(), 5, &args);
        b.output("sum", &sum, Type::Uint(16), Receivers::All);
        b.output("others", &others, Type::words(5, 16), Receivers::All);
        let circuit = b.finish().expect("a circuit");
        assert_eq!((circuit.main().repeats.len(), circuit.main().calls.len()), (1, 0));
        let bits: Vec<bool> =
            numbers.iter().flat_map(|n| (0..16).map(move |i| n >> i & 1 == 1)).collect();
        let outputs = eval_bits(&circuit, &bits);
        let words: Vec<u16> = outputs
            .chunks(16)
            .map(|bits| bits.iter().rev().fold(0, |n, &bit| n << 1 | u16::from(bit)))
            .collect();
        let mut sum = 0u16;
        let mut expected = Vec::new();
        for (i, number) in (0u16..).zip(numbers) {
            sum = sum.wrapping_add(number).wrapping_add(7u16.wrapping_sub(3 * i));
            expected.push(!sum);
        }
        assert_eq!(words[0], sum);
        assert_eq!(words[1..], expected);
    }

    #[test]
    fn wrong_widths_are_reported() {
        let mut b = Builder::new("wrong");
        let x = b.input("x", Type::words(5, 16), 0);
        let zero = Word::zero(16);
        let (sum, _) = b.repeat(&round(), 5, &[Argument::Carried(&zero), Argument::Strided(&x)]);
        b.output("sum", &sum, Type::Uint(16), Receivers::All);
        let error = b.finish().unwrap_err().to_string();
        assert!(error.contains("5 rounds of Subcircuit(round"), "{error}");
    }

    #[test]
    fn no_rounds_hand_on_what_they_were_given() {
        let mut b = Builder::new("none");
        let x = b.input("x", Type::Uint(32), 0);
        let nothing = Word::zero(0);
        let args = [
            Argument::Carried(&x[..16]),
            Argument::Strided(&nothing),
            Argument::Counter { start: 0, step: 1, bits: 16 },
        ];
        let (sum, others) = b.repeat(&round(), 0, &args);
        assert_eq!((&sum[..], others.width()), (&x[..16], 0));
    }
}
