//! IEEE 754 binary floating point: rounding to nearest even, subnormals, infinities, one NaN.
//!
//! Every operation equals the processor's bit for bit, except for NaN: a NaN result is always
//! [`Format::nan`]. A NaN operand may have any payload.

mod arith;
mod convert;
mod fast;
mod order;
mod pack;

use std::borrow::Cow;

use super::bit::{Bit, Word};
use super::gates::Gates;

/// A binary interchange format: fraction on the low bits, then exponent, then sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    exponent: usize,
    fraction: usize,
}

/// binary32: `f32`.
pub const F32: Format = Format { exponent: 8, fraction: 23 };
/// binary64: `f64`.
pub const F64: Format = Format { exponent: 11, fraction: 52 };

impl Format {
    /// How many bits a number has.
    pub fn width(self) -> usize {
        1 + self.exponent + self.fraction
    }

    /// Returns how many bits a significand has, the leading one included.
    fn precision(self) -> usize {
        self.fraction + 1
    }

    /// Returns the exponent field of 1.0.
    fn bias(self) -> usize {
        (1 << (self.exponent - 1)) - 1
    }

    /// The bits of the NaN that operations give: positive, quiet, without a payload.
    pub fn nan(self) -> u64 {
        ((2 << self.exponent) - 1) << (self.fraction - 1)
    }
}

/// An unpacked number, its significand normalised.
struct Parts {
    sign: Bit,
    /// The exponent field; 1 for subnormal numbers and zero.
    exponent: Word,
    /// The significand, shifted up until its top bit is 1; zero for zero and infinity.
    significand: Word,
    /// By how much it was shifted.
    shift: Word,
    /// Whether the number is infinite or NaN.
    special: Bit,
}

impl Parts {
    /// Whether the significand is not zero: a special number is then NaN, any other one is not
    /// zero.
    fn nonzero(&self) -> Bit {
        self.significand.sign()
    }
}

impl Gates {
    /// Returns a number, as wide as its format.
    fn number<'w>(&mut self, f: Format, x: &'w [Bit]) -> Cow<'w, [Bit]> {
        self.of_width("a floating-point operation", x, f.width())
    }

    /// Unpacks a number without normalising it: `shift` is empty.
    fn unpack(&mut self, f: Format, x: &[Bit]) -> Parts {
        let exponent = &x[f.fraction..f.width() - 1];
        let special = self.all(exponent);
        let normal = self.any(exponent);
        // Special numbers get no leading one: an infinite one's significand is zero.
        let leading = self.xor_bit(normal, special);
        let mut exponent: Word = exponent.to_vec().into();
        exponent[0] = self.xor_bit(exponent[0], !normal);
        let fraction: Word = x[..f.fraction].to_vec().into();
        Parts {
            sign: x[f.width() - 1],
            exponent,
            significand: Word::join([&fraction, &leading.into()]),
            shift: Word::default(),
            special,
        }
    }

    fn unpack_normalised(&mut self, f: Format, x: &[Bit]) -> Parts {
        let mut parts = self.unpack(f, x);
        (parts.significand, parts.shift) = self.normalise(&parts.significand);
        parts
    }

    /// Shifts the word up until its top bit is 1; returns it and the shift. Zero stays zero, with a
    /// meaningless shift.
    fn normalise(&mut self, x: &[Bit]) -> (Word, Word) {
        let mut word: Word = x.to_vec().into();
        let stages = usize::BITS - x.len().saturating_sub(1).leading_zeros();
        let mut shift = Word::zero(stages as usize);
        for stage in (0..stages as usize).rev() {
            let by = 1 << stage;
            let zeros = !self.any(&word[word.len() - by.min(word.len())..]);
            shift[stage] = zeros;
            word = self.shift_up_over_zeros(&word, by, zeros);
        }
        (word, shift)
    }

    /// Shifts the word up by `by` places if `here`, which implies that the top `by` bits are zero:
    /// n - by ANDs.
    fn shift_up_over_zeros(&mut self, word: &[Bit], by: usize, here: Bit) -> Word {
        let moved = self.and_each(here, &word[..word.len() - by.min(word.len())]);
        let mut shifted: Word = word.to_vec().into();
        for (place, &bit) in moved.iter().enumerate() {
            // The bit leaves its place and moves to the other.
            shifted[place] = self.xor_bit(shifted[place], bit);
            shifted[place + by] = self.xor_bit(shifted[place + by], bit);
        }
        shifted
    }

    /// Shifts the word down; returns it and whether a bit that fell out was 1.
    fn shift_down_sticky(&mut self, word: &[Bit], amount: &[Bit]) -> (Word, Bit) {
        let mut word: Word = word.to_vec().into();
        let mut sticky = Bit::ZERO;
        for (stage, &here) in amount.iter().enumerate() {
            let by = (1usize << stage).min(word.len());
            let lost = self.any(&word[..by]);
            let lost = self.and_bit(lost, here);
            sticky = self.or_bit(sticky, lost);
            word = self.select(here, &word.shr(by), &word);
        }
        (word, sticky)
    }
}

#[cfg(test)]
mod tests;
