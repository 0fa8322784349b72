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

    /// The product in GF(2^n).
    pub fn field_mul(&mut self, x: &[Bit], y: &[Bit]) -> Word {
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
