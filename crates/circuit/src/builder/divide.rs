//! Division.

use super::arith::same_width;
use super::bit::{Bit, Word};
use super::gates::Gates;

impl Gates {
    /// Quotient and remainder of unsigned integers; n² + 3n ANDs or fewer.
    ///
    /// Division by zero gives a quotient of all ones and the dividend as the remainder.
    pub fn div_rem(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        let (quotient, remainder, _) = self.divide(dividend, divisor);
        (quotient, remainder)
    }

    /// Quotient, rounded towards zero, and remainder, with the dividend's sign, of
    /// two's-complement integers; n² + 7n ANDs or fewer.
    ///
    /// Division by zero gives the quotient -1 and the dividend as the remainder; the least integer
    /// divided by -1 is itself, with remainder 0.
    pub fn div_rem_signed(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        same_width(dividend, divisor);
        let sign = |word: &[Bit]| word.last().copied().unwrap_or(Bit::ZERO);
        let (dividend_sign, divisor_sign) = (sign(dividend), sign(divisor));
        let (dividend, divisor) = (self.abs(dividend), self.abs(divisor));
        let (quotient, remainder, nonzero) = self.divide(&dividend, &divisor);
        // All ones is already the -1 that a division by zero is to give.
        let opposite = self.xor_bit(dividend_sign, divisor_sign);
        let negate = self.and_bit(opposite, nonzero);
        (self.neg_if(negate, &quotient), self.neg_if(dividend_sign, &remainder))
    }

    /// Long division; also tells whether the divisor is not zero.
    fn divide(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word, Bit) {
        same_width(dividend, divisor);
        let width = dividend.len();
        // exceeds[k]: the divisor has a bit at k or above, so that it exceeds all of k bits.
        let mut exceeds = Word::zero(width + 1);
        for k in (0..width).rev() {
            exceeds[k] = self.or_bit(exceeds[k + 1], divisor[k]);
        }
        let mut quotient = Word::zero(width);
        let mut remainder = Word::zero(0);
        for k in 1..=width {
            // After k of the dividend's bits the remainder has k bits at most: the other places
            // need no gates.
            let next = Word::from(dividend[width - k]);
            remainder = Word::join([&next, &remainder]);
            let (difference, borrow) = self.sub_with_borrow(&remainder, &divisor[..k]);
            let fits = self.and_bit(!borrow, !exceeds[k]);
            remainder = self.select(fits, &difference, &remainder);
            quotient[width - k] = fits;
        }
        (quotient, remainder, exceeds[0])
    }
}
