//! Rounds and packs numbers.

use super::Format;
use crate::builder::bit::{Bit, Word};
use crate::builder::gates::Gates;

/// A result before it is rounded.
pub(super) struct Unrounded {
    pub(super) sign: Bit,
    /// The exponent field, less the top bit of the significand: two's complement, at least two
    /// bits wider than the field.
    pub(super) exponent: Word,
    /// The significand, and one more bit below it.
    pub(super) significand: Word,
    /// Whether anything below that is not zero.
    pub(super) sticky: Bit,
    /// Whether the result is infinite, whatever the other fields say.
    pub(super) infinite: Bit,
    /// Whether the result is NaN, whatever the other fields say.
    pub(super) nan: Bit,
    /// Whether the result is zero, whatever the other fields say.
    pub(super) zero: Bit,
}

/// A result whose exponent is in range.
pub(super) struct InRange {
    pub(super) sign: Bit,
    /// As above, not negative, one bit wider than the field.
    pub(super) exponent: Word,
    /// The significand.
    pub(super) significand: Word,
    /// The bit below it, and whether anything below that is not zero.
    pub(super) guard: Bit,
    pub(super) sticky: Bit,
    pub(super) infinite: Bit,
    pub(super) nan: Bit,
}

impl Gates {
    /// Shifts numbers below the least exponent down, and rounds.
    pub(super) fn pack(&mut self, f: Format, x: Unrounded) -> Word {
        let top = x.significand.sign();
        let negative = self.or_bit(x.exponent.sign(), x.zero);
        // The distance -exponent, at most all ones, which shifts everything out.
        let stages = (usize::BITS - f.precision().leading_zeros()) as usize;
        let low = x.exponent.slice(0..stages);
        let distance = self.neg(&low);
        let zero = !self.any(&low);
        let near = self.all(&x.exponent[stages..]);
        let near = self.and_bit(near, !zero);
        let near = self.and_bit(near, !x.zero);
        let mut amount = self.and_each(negative, &distance);
        let far = self.and_bit(negative, !near);
        for bit in amount.iter_mut() {
            *bit = self.or_bit(*bit, far);
        }
        let (shifted, lost) = self.shift_down_sticky(&x.significand, &amount);
        let sticky = self.or_bit(x.sticky, lost);
        let normal = self.and_bit(top, !negative);
        let exponent = self.and_each(normal, &x.exponent[..f.exponent]);
        let exponent = exponent.resize(f.exponent + 1);
        // An exponent that is still too large means infinity.
        let beyond = self.any(&x.exponent[f.exponent..x.exponent.width() - 1]);
        let beyond = self.and_bit(beyond, normal);
        let infinite = self.or_bit(x.infinite, beyond);
        let (guard, significand) = (shifted[0], shifted.slice(1..f.precision() + 1));
        let (sign, nan) = (x.sign, x.nan);
        self.round(f, InRange { sign, exponent, significand, guard, sticky, infinite, nan })
    }

    /// Rounds to nearest, ties to even. The exponent must be zero if the significand's top bit is.
    pub(super) fn round(&mut self, f: Format, x: InRange) -> Word {
        let above = self.or_bit(x.sticky, x.significand[0]);
        let up = self.and_bit(x.guard, above);
        let (fraction, top) = x.significand.split_at(f.fraction);
        let (fraction, carry) = self.add_with_carry(fraction, &Word::zero(f.fraction), up);
        let top = Word::from(top[0]).resize(f.exponent + 1);
        let exponent = self.add_modular(&x.exponent, &top, carry);
        let (exponent, over) = exponent.split_at(f.exponent);
        let special = self.or_bit(x.infinite, x.nan);
        let special = self.or_bit(special, over[0]);
        let exponent: Word = exponent.iter().map(|&bit| self.or_bit(bit, special)).collect();
        // Infinity has no fraction, and NaN the top bit of it.
        let infinite = self.all(&exponent);
        let mut fraction = self.and_each(!infinite, &fraction);
        fraction[f.fraction - 1] = self.xor_bit(fraction[f.fraction - 1], x.nan);
        let sign = self.and_bit(x.sign, !x.nan);
        Word::join([&fraction, &exponent, &sign.into()])
    }
}
