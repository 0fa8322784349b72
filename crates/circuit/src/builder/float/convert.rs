//! Conversions.

use super::Format;
use super::pack::Unrounded;
use crate::builder::bit::{Bit, Word};
use crate::builder::gates::Gates;

impl Gates {
    /// The nearest number to an integer divided by 2^`scale`.
    pub fn float_from_int(&mut self, f: Format, x: &[Bit], signed: bool, scale: usize) -> Word {
        let sign = if signed { x.last().copied().unwrap_or(Bit::ZERO) } else { Bit::ZERO };
        let magnitude = if signed { self.abs(x) } else { x.to_vec().into() };
        let (magnitude, shift) = self.normalise(&magnitude);
        let zeros = Word::zero((f.precision() + 1).saturating_sub(magnitude.width()));
        let whole = Word::join([&zeros, &magnitude]);
        let below = whole.width() - f.precision() - 1;
        let sticky = self.any(&whole[..below]);
        let significand = whole.slice(below..whole.width());
        // The top bit has bias + n - 1 - scale; this is the field minus one, minus the shift.
        let n = x.len();
        let wide = self.exponent_width(f, n + scale);
        let exponent = signed_constant(wide, (f.bias() + n) as i128 - 2 - scale as i128);
        let exponent = self.sub(&exponent, &shift.resize(wide));
        let [infinite, nan, zero] = [Bit::ZERO; 3];
        self.pack(f, Unrounded { sign, exponent, significand, sticky, infinite, nan, zero })
    }

    /// The width that holds the exponents of the format and the given shift distance.
    fn exponent_width(&self, f: Format, places: usize) -> usize {
        let bits = (usize::BITS - places.leading_zeros()) as usize;
        f.exponent.max(bits) + 3
    }

    /// The number times 2^`scale`, truncated to an integer of `width` bits: out of range, the
    /// nearest such integer; 0 for NaN.
    pub fn float_to_int(
        &mut self,
        f: Format,
        x: &[Bit],
        (width, signed): (usize, bool),
        scale: usize,
    ) -> Word {
        if width == 0 {
            return Word::zero(0);
        }
        let x = &*self.number(f, x);
        let x = self.unpack(f, x);
        // With its top bit as the integer's top bit, the significand has the weight 2^(width - 1).
        let significand = match width.checked_sub(f.precision()) {
            Some(low) => Word::join([&Word::zero(low), &x.significand]),
            None => x.significand.slice(f.precision() - width..f.precision()),
        };
        let wide = self.exponent_width(f, width + scale);
        let top = signed_constant(wide, (f.bias() + width) as i128 - 1 - scale as i128);
        let distance = self.sub(&top, &x.exponent.resize(wide));
        let beyond = distance.sign();
        let magnitude = self.shr_by(&significand, &distance[..wide - 1]);
        let finite_beyond = self.or_bit(beyond, x.special);
        if !signed {
            // Subnormal numbers are never out of range; special ones and large ones are.
            let value: Word =
                magnitude.iter().map(|&bit| self.or_bit(bit, finite_beyond)).collect();
            let fraction = self.any(&x.significand);
            let nan = self.and_bit(x.special, fraction);
            let nothing = self.or_bit(nan, x.sign);
            return self.and_each(!nothing, &value);
        }
        let too_large = self.or_bit(finite_beyond, magnitude.sign());
        let value = self.neg_if(x.sign, &magnitude);
        // The least integer is 100…0, the largest 011…1.
        let (low, _) = value.split_at(width - 1);
        let low = low.to_vec();
        let limit = Word::from(vec![!x.sign; width - 1]);
        let low = self.select(too_large, &limit, &low);
        let top = self.select_bit(too_large, x.sign, value.sign());
        let fraction = self.any(&x.significand);
        let nan = self.and_bit(x.special, fraction);
        self.and_each(!nan, &Word::join([&low, &top.into()]))
    }

    /// The nearest number of another format.
    pub fn float_convert(&mut self, from: Format, to: Format, x: &[Bit]) -> Word {
        let x = &*self.number(from, x);
        let x = self.unpack_normalised(from, x);
        let zeros = Word::zero((to.precision() + 1).saturating_sub(from.precision()));
        let whole = Word::join([&zeros, &x.significand]);
        let below = whole.width() - to.precision() - 1;
        let sticky = self.any(&whole[..below]);
        let significand = whole.slice(below..whole.width());
        let wide = from.exponent.max(to.exponent) + 2;
        let (exponent, shift) = (x.exponent.resize(wide), x.shift.resize(wide));
        let exponent = self.sub(&exponent, &shift);
        let bias = to.bias() as i128 - from.bias() as i128 - 1;
        let exponent = self.add(&exponent, &signed_constant(wide, bias));
        let nan = self.and_bit(x.special, x.significand.sign());
        let (sign, infinite, zero) = (x.sign, x.special, Bit::ZERO);
        self.pack(to, Unrounded { sign, exponent, significand, sticky, infinite, nan, zero })
    }
}

fn signed_constant(width: usize, value: i128) -> Word {
    Word::constant(128.min(width), value as u128).resize_signed(width)
}
