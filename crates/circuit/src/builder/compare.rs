//! Bitwise operations, comparison, choice.

use super::bit::{Bit, Word};
use super::gates::Gates;

impl Gates {
    /// `x ⊕ y`, bit by bit; free.
    pub fn xor(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        x.iter().zip(y).map(|(&x, &y)| self.xor_bit(x, y)).collect()
    }

    /// `x ∧ y`, bit by bit; n ANDs.
    pub fn and(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        x.iter().zip(y).map(|(&x, &y)| self.and_bit(x, y)).collect()
    }

    /// `x ∨ y`, bit by bit; n ANDs.
    pub fn or(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        x.iter().zip(y).map(|(&x, &y)| self.or_bit(x, y)).collect()
    }

    /// Whether all bits are 1, in a tree; n - 1 ANDs. Of no bits, 1.
    pub fn all(&mut self, bits: &[Bit]) -> Bit {
        let mut bits = bits.to_vec();
        while bits.len() > 1 {
            for i in 0..bits.len() / 2 {
                bits[i] = self.and_bit(bits[2 * i], bits[2 * i + 1]);
            }
            let (half, odd) = (bits.len() / 2, bits.len() % 2);
            bits[half] = bits[bits.len() - 1];
            bits.truncate(half + odd);
        }
        bits.first().copied().unwrap_or(Bit::ONE)
    }

    /// Whether any bit is 1, in a tree; n - 1 ANDs. Of no bits, 0.
    pub fn any(&mut self, bits: &[Bit]) -> Bit {
        let inverted: Word = bits.iter().map(|&bit| !bit).collect();
        !self.all(&inverted)
    }

    /// Whether `x = y`; n - 1 ANDs.
    pub fn eq(&mut self, x: &[Bit], y: &[Bit]) -> Bit {
        let difference = self.xor(x, y);
        !self.any(&difference)
    }

    /// Whether `x < y` as unsigned integers; n ANDs.
    pub fn lt(&mut self, x: &[Bit], y: &[Bit]) -> Bit {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        if x.iter().all(|bit| *bit == Bit::ZERO) {
            return self.any(y);
        }
        x.iter().zip(y).fold(Bit::ZERO, |borrow, (&x, &y)| self.borrow_bit(x, y, borrow))
    }

    /// Whether `x ≤ y` as unsigned integers; n ANDs.
    pub fn le(&mut self, x: &[Bit], y: &[Bit]) -> Bit {
        !self.lt(y, x)
    }

    /// Whether `x < y` as two's-complement integers; n ANDs.
    pub fn lt_signed(&mut self, x: &[Bit], y: &[Bit]) -> Bit {
        let (x, y) = (offset(x), offset(y));
        self.lt(&x, &y)
    }

    /// Whether `x ≤ y` as two's-complement integers; n ANDs.
    pub fn le_signed(&mut self, x: &[Bit], y: &[Bit]) -> Bit {
        !self.lt_signed(y, x)
    }

    /// `if choice { x } else { y }`; n ANDs.
    pub fn select(&mut self, choice: Bit, x: &[Bit], y: &[Bit]) -> Word {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        x.iter().zip(y).map(|(&x, &y)| self.select_bit(choice, x, y)).collect()
    }

    /// Bit by bit, `if choice { x } else { y }`; n ANDs.
    pub fn select_each(&mut self, choice: &[Bit], x: &[Bit], y: &[Bit]) -> Word {
        let level = self.level([choice, x, y]);
        let [choice, x, y] = level.words();
        (0..x.len()).map(|i| self.select_bit(choice[i], x[i], y[i])).collect()
    }

    /// Bit by bit, whether at least two of the three are 1; n ANDs.
    pub fn majority_each(&mut self, x: &[Bit], y: &[Bit], z: &[Bit]) -> Word {
        let level = self.level([x, y, z]);
        let [x, y, z] = level.words();
        (0..x.len()).map(|i| self.majority_bit(x[i], y[i], z[i])).collect()
    }

    /// `if swap { (y, x) } else { (x, y) }`; n ANDs.
    pub fn swap_if(&mut self, swap: Bit, x: &[Bit], y: &[Bit]) -> (Word, Word) {
        let difference = self.xor(x, y);
        let change = self.and_each(swap, &difference);
        (self.xor(x, &change), self.xor(y, &change))
    }

    /// The smaller and the larger of two unsigned integers; 2n ANDs.
    pub fn min_max(&mut self, x: &[Bit], y: &[Bit]) -> (Word, Word) {
        let swap = self.lt(y, x);
        self.swap_if(swap, x, y)
    }

    /// The smaller of two unsigned integers; 2n ANDs.
    pub fn min(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        self.min_max(x, y).0
    }

    /// The larger of two unsigned integers; 2n ANDs.
    pub fn max(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        self.min_max(x, y).1
    }

    /// The smaller of two two's-complement integers; 2n ANDs.
    pub fn min_signed(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        let (x, y) = (offset(x), offset(y));
        offset(&self.min(&x, &y))
    }

    /// The larger of two two's-complement integers; 2n ANDs.
    pub fn max_signed(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        let (x, y) = (offset(x), offset(y));
        offset(&self.max(&x, &y))
    }
}

/// A two's-complement integer plus 2^(n-1): an unsigned one in the same order; and back.
fn offset(x: &[Bit]) -> Word {
    let mut word: Word = x.to_vec().into();
    if let Some(sign) = word.last_mut() {
        *sign = !*sign;
    }
    word
}
