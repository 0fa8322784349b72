//! Comparison.

use super::Format;
use crate::builder::bit::{Bit, Word};
use crate::builder::gates::Gates;

impl Gates {
    /// Whether `x < y`; 103 ANDs for `f32`.
    pub fn float_lt(&mut self, f: Format, x: &[Bit], y: &[Bit]) -> Bit {
        let x = &*self.number(f, x);
        let y = &*self.number(f, y);
        let (less, ordered) = self.float_less(f, x, y);
        self.and_bit(less, ordered)
    }

    /// Whether `x ≤ y`; as many ANDs as `x < y`.
    pub fn float_le(&mut self, f: Format, x: &[Bit], y: &[Bit]) -> Bit {
        let x = &*self.number(f, x);
        let y = &*self.number(f, y);
        let (more, ordered) = self.float_less(f, y, x);
        self.and_bit(!more, ordered)
    }

    /// Returns whether `x < y` if neither is NaN, and whether neither is.
    fn float_less(&mut self, f: Format, x: &[Bit], y: &[Bit]) -> (Bit, Bit) {
        let top = f.width() - 1;
        let (x_sign, y_sign) = (x[top], y[top]);
        let (x, y) = (&x[..top], &y[..top]);
        // For the magnitudes, x < y, or x ≤ y if x is negative: negative numbers have the opposite
        // order.
        let below = x.iter().zip(y).fold(x_sign, |borrow, (&x, &y)| self.borrow_bit(x, y, borrow));
        let larger = self.select(below, y, x);
        // One of them is NaN if the larger magnitude is; both are zero if the larger magnitude is.
        let fraction = self.any(&larger[..f.fraction]);
        let special = self.all(&larger[f.fraction..]);
        let exponent = self.any(&larger[f.fraction..]);
        let nan = self.and_bit(fraction, special);
        let nonzero = self.or_bit(fraction, exponent);
        let same = self.xor_bit(below, x_sign);
        let opposite = self.xor_bit(x_sign, y_sign);
        let less = self.select_bit(opposite, x_sign, same);
        (self.and_bit(less, nonzero), !nan)
    }

    /// Whether `x = y`; zeros of both signs are equal, NaN equals nothing.
    pub fn float_eq(&mut self, f: Format, x: &[Bit], y: &[Bit]) -> Bit {
        let x = &*self.number(f, x);
        let y = &*self.number(f, y);
        let top = f.width() - 1;
        let same = self.eq(&x[..top], &y[..top]);
        let fraction = self.any(&x[..f.fraction]);
        let special = self.all(&x[f.fraction..top]);
        let exponent = self.any(&x[f.fraction..top]);
        let nan = self.and_bit(fraction, special);
        let nonzero = self.or_bit(fraction, exponent);
        let opposite = self.xor_bit(x[top], y[top]);
        let differs = self.and_bit(opposite, nonzero);
        let fits = self.and_bit(!nan, !differs);
        self.and_bit(same, fits)
    }

    /// An unsigned integer in the total order of floating-point numbers (IEEE 754, 5.10); free.
    pub fn float_key(&mut self, f: Format, x: &[Bit]) -> Word {
        let x = &*self.number(f, x);
        let sign = x[f.width() - 1];
        let mut key: Word = x.iter().map(|&bit| self.xor_bit(bit, sign)).collect();
        key[f.width() - 1] = !sign;
        key
    }
}
