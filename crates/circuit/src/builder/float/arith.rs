//! Addition, multiplication, division, square roots.

use super::pack::{InRange, Unrounded};
use super::{Format, Parts};
use crate::builder::bit::{Bit, Word};
use crate::builder::gates::Gates;

impl Gates {
    /// `x + y`; about 680 ANDs for `f32`.
    pub fn float_add(&mut self, f: Format, x: &[Bit], y: &[Bit]) -> Word {
        let x = &*self.number(f, x);
        let y = &*self.number(f, y);
        let top = f.width() - 1;
        let swap = self.lt(&x[..top], &y[..top]);
        let (large, small) = self.swap_if(swap, &x[..top], &y[..top]);
        let large_sign = self.select_bit(swap, y[top], x[top]);
        let subtract = self.xor_bit(x[top], y[top]);
        let (large, exponent, large_special) = self.leading(f, &large);
        let (small, small_exponent, small_special) = self.leading(f, &small);
        let fraction = self.any(&large[..f.fraction]);
        let cancels = self.and_bit(small_special, subtract);
        let nan = self.or_bit(fraction, cancels);
        let nan = self.and_bit(nan, large_special);

        // Two more bits below the significand, and whether anything is below these, are enough.
        let distance = self.sub(&exponent, &small_exponent);
        let stages = (usize::BITS - (f.precision() + 1).leading_zeros()) as usize;
        let far = self.any(&distance[stages..]);
        let amount: Word = distance[..stages].iter().map(|&bit| self.or_bit(bit, far)).collect();
        let small = Word::join([&Word::zero(2), &small]);
        let (small, sticky) = self.shift_down_sticky(&small, &amount);
        let small = Word::join([&sticky.into(), &small]);
        let large = Word::join([&Word::zero(3), &large]);
        let term: Word = small.iter().map(|&bit| self.xor_bit(bit, subtract)).collect();
        let (sum, carry) = self.add_with_carry(&large, &term, subtract);
        let carry = self.xor_bit(carry, subtract);
        let sum = Word::join([&sum, &carry.into()]);

        let (sum, exponent) = self.normalise_within(&sum, &exponent);
        let (low, significand) = (sum.slice(0..4), sum.slice(4..sum.width()));
        let exponent = self.and_each(significand.sign(), &exponent).resize(f.exponent + 1);
        let sticky = self.any(&low[..3]);
        // An exact cancellation gives +0.
        let nonzero = self.any(&significand);
        let cancelled = self.and_bit(subtract, !nonzero);
        let sign = self.and_bit(large_sign, !cancelled);
        let guard = low[3];
        let infinite = large_special;
        self.round(f, InRange { sign, exponent, significand, guard, sticky, infinite, nan })
    }

    /// `x - y`; as `x + y`.
    pub fn float_sub(&mut self, f: Format, x: &[Bit], y: &[Bit]) -> Word {
        let x = &*self.number(f, x);
        let y = &*self.number(f, y);
        let mut negative: Word = y.to_vec().into();
        negative[f.width() - 1] = !y[f.width() - 1];
        self.float_add(f, x, &negative)
    }

    /// A magnitude's significand with its leading bit, its exponent (1 for subnormal numbers), and
    /// whether it is special.
    fn leading(&mut self, f: Format, x: &[Bit]) -> (Word, Word, Bit) {
        let (fraction, exponent) = x.split_at(f.fraction);
        let normal = self.any(exponent);
        let special = self.all(exponent);
        let mut exponent: Word = exponent.to_vec().into();
        exponent[0] = self.xor_bit(exponent[0], !normal);
        let fraction: Word = fraction.to_vec().into();
        (Word::join([&fraction, &normal.into()]), exponent, special)
    }

    /// Shifts the word up until its top bit is 1, or the exponent minus the shift is 0.
    fn normalise_within(&mut self, word: &[Bit], exponent: &[Bit]) -> (Word, Word) {
        let mut word: Word = word.to_vec().into();
        let mut exponent: Word = exponent.to_vec().into();
        let stages = (usize::BITS - (word.width() - 1).leading_zeros()) as usize;
        for stage in (0..stages).rev() {
            let by = 1 << stage;
            let nonzero = self.any(&word[word.width() - by..]);
            let room = self.any(&exponent[stage..]);
            let here = self.and_bit(!nonzero, room);
            word = self.shift_up_over_zeros(&word, by, here);
            let step = Word::from(here).resize(exponent.width() - stage);
            let high = self.sub(&exponent[stage..], &step);
            exponent[stage..].copy_from_slice(&high);
        }
        (word, exponent)
    }

    /// `x · y`; about 1500 ANDs for `f32`.
    pub fn float_mul(&mut self, f: Format, x: &[Bit], y: &[Bit]) -> Word {
        let x = &*self.number(f, x);
        let y = &*self.number(f, y);
        let p = f.precision();
        let (x, y) = (self.unpack(f, x), self.unpack(f, y));
        let sign = self.xor_bit(x.sign, y.sign);
        // The product of two subnormal numbers is zero, so only one has to be normalised.
        let swap = !y.significand.sign();
        let (one, other) = self.swap_if(swap, &x.significand, &y.significand);
        let one_special = self.select_bit(swap, y.special, x.special);
        let differ = self.xor_bit(x.special, y.special);
        let other_special = self.xor_bit(one_special, differ);
        let (one, shift) = self.normalise(&one);
        let one_nonzero = one.sign();
        let other_nonzero = self.any(&other);
        let nan = self.product_nan([one_special, other_special], [one_nonzero, other_nonzero]);
        let infinite = self.or_bit(one_special, other_special);

        let product = self.mul_full(&one, &other);
        let top = product.sign();
        let significand = self.select(top, &product[p - 1..], &product[p - 2..2 * p - 1]);
        let below = self.any(&product[..p - 2]);
        let more = self.and_bit(top, product[p - 2]);
        let sticky = self.or_bit(below, more);
        // x + y - shift - !top - bias, where !top + bias is a power of two less top.
        let wide = f.exponent + 1;
        let sum = self.add_modular(&x.exponent.resize(wide), &y.exponent.resize(wide), top);
        let sum = self.sub(&sum.resize(wide + 1), &shift.resize(wide + 1));
        let exponent = self.sub(&sum, &Word::constant(wide + 1, f.bias() as u128 + 1));
        let zero = Bit::ZERO;
        self.pack(f, Unrounded { sign, exponent, significand, sticky, infinite, nan, zero })
    }

    /// Whether a product is NaN: NaN times anything, or infinity times zero.
    fn product_nan(&mut self, special: [Bit; 2], nonzero: [Bit; 2]) -> Bit {
        let one = self.and_bit(special[0], nonzero[0]);
        let other = self.and_bit(special[1], nonzero[1]);
        let nan = self.or_bit(one, other);
        let zeros = self.and_bit(!nonzero[0], !nonzero[1]);
        let differ = self.xor_bit(special[0], special[1]);
        let undefined = self.and_bit(zeros, differ);
        self.or_bit(nan, undefined)
    }

    /// `x / y`; about 1250 ANDs for `f32`.
    pub fn float_div(&mut self, f: Format, x: &[Bit], y: &[Bit]) -> Word {
        let x = &*self.number(f, x);
        let y = &*self.number(f, y);
        let (x, y) = (self.unpack_normalised(f, x), self.unpack_normalised(f, y));
        let sign = self.xor_bit(x.sign, y.sign);
        let nan = self.quotient_nan(&x, &y);
        let (quotient, sticky) = self.quotient(&x.significand, &y.significand);
        let p = f.precision();
        let top = quotient.sign();
        let significand = self.select(top, &quotient[1..], &quotient[..p + 1]);
        let last = self.and_bit(top, quotient[0]);
        let sticky = self.or_bit(sticky, last);
        // x - y - (x's shift - y's shift) - !top + bias - 1.
        let wide = f.exponent + 2;
        let exponents = (x.exponent.resize(wide), y.exponent.resize(wide));
        let difference = self.sub_borrowing(&exponents.0, &exponents.1, !top);
        let shifts = self.sub(&x.shift.resize(wide), &y.shift.resize(wide));
        let difference = self.sub(&difference, &shifts);
        let exponent = self.add(&difference, &Word::constant(wide, f.bias() as u128 - 1));
        let infinite = self.and_bit(!y.special, !y.nonzero());
        let infinite = self.or_bit(infinite, x.special);
        let zero = y.special;
        self.pack(f, Unrounded { sign, exponent, significand, sticky, infinite, nan, zero })
    }

    /// Whether a quotient is NaN: an operand is NaN, infinity by infinity, or zero by zero.
    fn quotient_nan(&mut self, x: &Parts, y: &Parts) -> Bit {
        let one = self.and_bit(x.special, x.nonzero());
        let other = self.and_bit(y.special, y.nonzero());
        let nan = self.or_bit(one, other);
        let zeros = self.and_bit(!x.nonzero(), !y.nonzero());
        let differ = self.xor_bit(x.special, y.special);
        let undefined = self.and_bit(zeros, !differ);
        self.or_bit(nan, undefined)
    }

    /// The quotient of two words from 1 to 2, one bit before the point and two more after it than
    /// they have, and whether a remainder is left.
    pub(super) fn quotient(&mut self, x: &[Bit], y: &[Bit]) -> (Word, Bit) {
        let m = y.len();
        let mut quotient = Vec::with_capacity(m + 2);
        // Non-restoring: the remainder is from -y to y - 1.
        let mut remainder = Word::from(x.to_vec()).resize(m + 1);
        for k in 0..m + 2 {
            let shifted = match k {
                0 => remainder.clone(),
                _ => Word::join([&Word::zero(1), &remainder.slice(0..m)]),
            };
            let subtract = if k == 0 { Bit::ONE } else { !remainder[m] };
            let mut term: Word = y.iter().map(|&bit| self.xor_bit(bit, subtract)).collect();
            term = Word::join([&term, &subtract.into()]);
            remainder = self.add_modular(&shifted, &term, subtract);
            quotient.push(!remainder[m]);
        }
        // Nothing is left if the remainder is -y (0 leaves a last bit of 1). That is so if each
        // bit of their sum's carries, x ⊕ y, is x ∨ y of the bits below.
        let differ = self.xor(&remainder[..m], y);
        let mut fits = vec![remainder[m], !differ[0]];
        for i in 0..m - 1 {
            let carry = self.or_bit(remainder[i], y[i]);
            let equal = self.xor_bit(carry, differ[i + 1]);
            fits.push(!equal);
        }
        let exact = self.all(&fits);
        (quotient.into_iter().rev().collect(), !exact)
    }

    /// `√x`; about 600 ANDs for `f32`. Of a negative number, NaN; of -0, -0.
    pub fn float_sqrt(&mut self, f: Format, x: &[Bit]) -> Word {
        let x = &*self.number(f, x);
        let p = f.precision();
        let x = self.unpack_normalised(f, x);
        let nonzero = x.nonzero();
        let nan = self.or_bit(x.special, x.sign);
        let nan = self.and_bit(nan, nonzero);
        let minus_infinite = self.and_bit(x.special, x.sign);
        let nan = self.or_bit(nan, minus_infinite);
        // With the bias an even exponent is odd: exponent - shift + bias = 2 · field, or + 1.
        let wide = f.exponent + 2;
        let sum = self.sub_borrowing(&x.exponent.resize(wide), &x.shift.resize(wide), Bit::ONE);
        let sum = self.add(&sum, &Word::constant(wide, f.bias() as u128 + 1));
        let odd = sum[0];
        let low = Word::join([&Word::zero(p + 1), &x.significand, &Word::zero(1)]);
        let high = Word::join([&Word::zero(p + 2), &x.significand]);
        let radicand = self.select(odd, &high, &low);
        let root = self.sqrt(&radicand);
        // A root is never halfway between two numbers: below its guard bit is always something.
        let sticky = Bit::ONE;
        let guard = root[0];
        let mut significand = root.slice(1..p + 1);
        significand[p - 1] = Bit::ZERO;
        let field = sum.slice(1..f.exponent + 2);
        let exponent = self.and_each(nonzero, &field);
        let (sign, infinite) = (x.sign, x.special);
        self.round(f, InRange { sign, exponent, significand, guard, sticky, infinite, nan })
    }

    /// `x - y - borrow` modulo 2^n.
    pub(super) fn sub_borrowing(&mut self, x: &[Bit], y: &[Bit], borrow: Bit) -> Word {
        let negative: Word = y.iter().map(|&bit| !bit).collect();
        self.add_modular(x, &negative, !borrow)
    }
}
