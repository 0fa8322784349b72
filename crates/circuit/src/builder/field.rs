//! Binary fields, and the tags that protect what clients share.
//!
//! An element of GF(2^n) is a word: bit i is the coefficient of x^i, modulo
//! x^n + x^4 + x^3 + x + 1, which is irreducible for n = 8 and n = 64.

use super::bit::{Bit, Word};
use super::gates::Gates;
use super::subcircuit::Subcircuit;

/// The exponents below n of the modulus.
const TAPS: [usize; 4] = [0, 1, 3, 4];

impl Gates {
    /// The product of polynomials over GF(2), by Karatsuba's method: 3^k ANDs for 2^k bits each.
    fn polynomial_mul(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        if x.len() < 2 {
            return self.and(x, y).resize(2 * x.len());
        }
        let half = x.len().div_ceil(2);
        let ((x0, x1), (y0, y1)) = (x.split_at(half), y.split_at(half));
        let low = self.polynomial_mul(x0, y0);
        let (x1, y1) = (Word::from(x1.to_vec()), Word::from(y1.to_vec()));
        let (x1, y1) = (x1.resize(half), y1.resize(half));
        let high = self.polynomial_mul(&x1, &y1);
        let (x_sum, y_sum) = (self.xor(x0, &x1), self.xor(y0, &y1));
        let middle = self.polynomial_mul(&x_sum, &y_sum);
        let middle = self.xor(&middle, &low);
        let middle = self.xor(&middle, &high);
        let product = Word::join([&low, &high]);
        let shifted = middle.resize(4 * half).shl(half);
        self.xor(&product, &shifted).resize(2 * x.len())
    }

    /// Reduces a polynomial of at most 2n coefficients; free.
    fn field_reduce(&mut self, x: &[Bit], n: usize) -> Word {
        let mut bits = x.to_vec();
        for high in (n..bits.len()).rev() {
            for tap in TAPS {
                bits[high - n + tap] = self.xor_bit(bits[high - n + tap], bits[high]);
            }
        }
        Word::from(bits).resize(n)
    }

    /// The product in GF(2^n): 300 ANDs for n = 64, 27 for n = 8.
    pub fn field_mul(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        if x.len() == 64 && y.len() == 64 {
            return self.field_mul_64(x, y);
        }
        let product = self.polynomial_mul(x, y);
        self.field_reduce(&product, x.len())
    }

    /// The square in GF(2^n), which is linear: free.
    pub fn field_square(&mut self, x: &[Bit]) -> Word {
        let spread: Word = x.iter().flat_map(|&bit| [bit, Bit::ZERO]).collect();
        self.field_reduce(&spread, x.len())
    }
}

/// Computes tags over blocks, elements of one field.
pub struct Tags {
    multiplier: Subcircuit,
    width: usize,
}

impl Tags {
    /// Creates the circuits of tags in the field GF(2^n) in which this component multiplies, made
    /// of [`field_mul`](Gates::field_mul).
    pub fn new(multiplier: Subcircuit) -> Tags {
        let width = multiplier.output_bits() as usize;
        Tags { multiplier, width }
    }

    /// Returns the words cut into blocks, each word's last one filled up with zeros.
    pub fn blocks(&self, word: &Word) -> Vec<Word> {
        word.split(self.width).iter().map(|block| block.resize(self.width)).collect()
    }

    /// Returns s^(q+1) + Σ x_i·s^i over d blocks x_1 … x_d, where q is the smallest power of two
    /// above d: a tag that detects every change which does not depend on s. It takes d products.
    ///
    /// This is the code for algebraic manipulation detection of Cramer, Dodis, Fehr, Padró and
    /// Wichs (2008), which has s^(d+2) for odd d, and a product more for even d. `docs/proofs`
    /// has the proof for q + 1.
    pub fn amd(&self, gates: &mut Gates, blocks: &[Word], s: &[Bit]) -> Word {
        let squarings = usize::BITS - blocks.len().leading_zeros();
        let power =
            (0..squarings).fold(Word::from(s.to_vec()), |power, _| gates.field_square(&power));
        let mut sum = Word::zero(self.width);
        for (place, block) in blocks.iter().enumerate().rev() {
            sum = gates.xor(&sum, block);
            if place == 0 {
                sum = gates.xor(&sum, &power);
            }
            sum = gates.call_one(&self.multiplier, &[&sum, s]);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Builder, ComponentBuilder, and_count};
    use crate::{Field, Receivers, Type, eval_words};

    /// Returns a circuit that multiplies, squares and makes a tag over two blocks.
    fn circuit(n: usize) -> crate::Circuit {
        let mut component = ComponentBuilder::new("product");
        let (x, y) = (component.input(n), component.input(n));
        let product = component.field_mul(&x, &y);
        component.output(&product);
        let tags = Tags::new(component.finish().expect("a component"));
        let mut b = Builder::new("field");
        let [x, y, s] = ["x", "y", "s"].map(|name| b.input(name, Type::Uint(n as u32), 0));
        let product = b.field_mul(&x, &y);
        let square = b.field_square(&x);
        let tag = tags.amd(&mut b, &tags.blocks(&Word::join([&x, &y])), &s);
        for (name, word) in [("product", product), ("square", square), ("tag", tag)] {
            b.output(name, &word, Type::Uint(n as u32), Receivers::All);
        }
        b.finish().expect("a circuit")
    }

    #[test]
    fn gates_compute_in_the_field() {
        for (field, ands) in [(Field::SMALL, 27), (Field::BLOCKS, 300)] {
            let n = field.bits() as usize;
            let circuit = circuit(n);
            // Squares are free, and a tag takes a product for each block.
            assert_eq!(and_count(&circuit), 3 * ands);
            let plan = crate::Plan::new(&circuit);
            let mut state = 1u64;
            let mut draw = || {
                state =
                    state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                (state ^ state >> 29) & (u64::MAX >> (64 - n))
            };
            for round in 0..256 {
                // Single bits first: the product is linear in both.
                let one = |bit: usize| 1 << (bit % n);
                let (x, y) =
                    if round < 128 { (one(round), one(5 * round)) } else { (draw(), draw()) };
                let s = draw();
                let bits = |word: u64| (0..n).map(move |bit| word >> bit & 1);
                let inputs: Vec<u64> = [x, y, s].into_iter().flat_map(bits).collect();
                let outputs = eval_words(&plan, &inputs);
                let word = |place: usize| {
                    let bits = outputs[place * n..(place + 1) * n].iter().rev();
                    bits.fold(0, |word, bit| word << 1 | (bit & 1))
                };
                assert_eq!(word(0), field.mul(x, y), "{x:x} · {y:x}");
                assert_eq!(word(1), field.mul(x, x));
                assert_eq!(word(2), field.amd_tag(&[x, y], s));
            }
        }
    }
}
