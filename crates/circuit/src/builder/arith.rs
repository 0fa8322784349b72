//! Addition, subtraction, schoolbook multiplication, counting.
//!
//! Carries are majorities, which cost one AND, and sums are free.

use super::bit::{Bit, Word};
use super::gates::Gates;

impl Gates {
    /// `x + y + z` of three bits, as sum and carry; 1 AND.
    pub fn full_adder(&mut self, x: Bit, y: Bit, z: Bit) -> (Bit, Bit) {
        let carry = self.majority_bit(x, y, z);
        // The majority has made x + z already.
        let partial = self.xor_bit(x, z);
        (self.xor_bit(partial, y), carry)
    }

    /// `x + y` modulo 2^n; n - 1 ANDs.
    pub fn add(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        self.add_modular(x, y, Bit::ZERO)
    }

    /// `x + y + carry`, as the sum modulo 2^n and the carry out; n ANDs.
    pub fn add_with_carry(&mut self, x: &[Bit], y: &[Bit], carry: Bit) -> (Word, Bit) {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        let mut carry = carry;
        let sum = x.iter().zip(y).map(|(&x, &y)| {
            let (sum, next) = self.full_adder(x, y, carry);
            carry = next;
            sum
        });
        (sum.collect(), carry)
    }

    /// `x + y + carry` modulo 2^n, without the AND of the last carry.
    pub(super) fn add_modular(&mut self, x: &[Bit], y: &[Bit], carry: Bit) -> Word {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        let Some(last) = x.len().checked_sub(1) else { return Word::zero(0) };
        let (low, carry) = self.add_with_carry(&x[..last], &y[..last], carry);
        let top = self.xor_bit(x[last], y[last]);
        Word::join([&low, &self.xor_bit(top, carry).into()])
    }

    /// `x - y` modulo 2^n; n - 1 ANDs.
    pub fn sub(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        let Some(last) = x.len().checked_sub(1) else { return Word::zero(0) };
        let (low, borrow) = self.sub_with_borrow(&x[..last], &y[..last]);
        let top = self.xor_bit(x[last], y[last]);
        Word::join([&low, &self.xor_bit(top, borrow).into()])
    }

    /// `x - y` modulo 2^n, and whether `x < y` as unsigned integers; n ANDs.
    pub fn sub_with_borrow(&mut self, x: &[Bit], y: &[Bit]) -> (Word, Bit) {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        let mut borrow = Bit::ZERO;
        let difference = x.iter().zip(y).map(|(&x, &y)| {
            let partial = self.xor_bit(x, y);
            let difference = self.xor_bit(partial, borrow);
            borrow = self.borrow_bit(x, y, borrow);
            difference
        });
        (difference.collect(), borrow)
    }

    /// `-x` modulo 2^n; n - 2 ANDs.
    pub fn neg(&mut self, x: &[Bit]) -> Word {
        self.sub(&Word::zero(x.len()), x)
    }

    /// `if negate { -x } else { x }` modulo 2^n; n - 1 ANDs.
    pub fn neg_if(&mut self, negate: Bit, x: &[Bit]) -> Word {
        let flipped: Word = x.iter().map(|&bit| self.xor_bit(bit, negate)).collect();
        self.add_modular(&flipped, &Word::zero(x.len()), negate)
    }

    /// The absolute value of a two's-complement integer, as an unsigned one of the same width, so
    /// it is also right for the least integer; n - 1 ANDs.
    pub fn abs(&mut self, x: &[Bit]) -> Word {
        self.neg_if(x.last().copied().unwrap_or(Bit::ZERO), x)
    }

    /// Two words whose sum is the sum of three, all modulo 2^n; n - 1 ANDs, and the depth of one.
    pub fn carry_save(&mut self, x: &[Bit], y: &[Bit], z: &[Bit]) -> (Word, Word) {
        let level = self.level([x, y, z]);
        let [x, y, z] = level.words();
        let width = x.len();
        let mut carries = Word::zero(width);
        let sum = (0..width).map(|i| {
            if i + 1 < width {
                carries[i + 1] = self.majority_bit(x[i], y[i], z[i]);
            }
            let partial = self.xor_bit(x[i], z[i]);
            self.xor_bit(partial, y[i])
        });
        (sum.collect(), carries)
    }

    /// The sum of any number of words of `width` bits modulo 2^n; k words take fewer than
    /// (n - 1)(k - 1) ANDs.
    pub fn sum(&mut self, width: usize, terms: &[&[Bit]]) -> Word {
        let mut columns = vec![Vec::with_capacity(terms.len()); width];
        for &term in terms {
            let term = self.of_width("a sum", term, width);
            columns.iter_mut().zip(&*term).for_each(|(column, &bit)| column.push(bit));
        }
        self.sum_columns(columns)
    }

    /// The sum of bits, of which those in column i have weight 2^i, modulo 2^n for n columns. A
    /// full adder takes three bits of a column, so a column of t bits, carries included, takes t/2
    /// ANDs.
    pub fn sum_columns(&mut self, mut columns: Vec<Vec<Bit>>) -> Word {
        let Some(top) = columns.pop() else { return Word::zero(0) };
        let (mut sum, carries) = self.sum_low_columns(columns);
        let top = top.iter().chain(&carries).fold(Bit::ZERO, |sum, &bit| self.xor_bit(sum, bit));
        sum.push(top);
        sum.into()
    }

    /// Sums like [`sum_columns`](Self::sum_columns), and also returns the carries out of the top
    /// column.
    pub(super) fn sum_low_columns(&mut self, columns: Vec<Vec<Bit>>) -> (Vec<Bit>, Vec<Bit>) {
        let mut sum = Vec::with_capacity(columns.len() + 1);
        let mut carries: Vec<Bit> = Vec::new();
        for (place, mut column) in columns.into_iter().enumerate() {
            column.append(&mut carries);
            let ones = column.iter().filter(|bit| **bit == Bit::ONE).count();
            column.retain(|bit| bit.as_constant().is_none());
            carries.extend(std::iter::repeat_n(Bit::ONE, ones / 2));
            // A constant comes last: added to one bit it costs nothing, and added to two no more
            // than without it.
            let constant = Bit::constant(ones % 2 == 1);
            // The earliest bits first and sums at the back keep chains of ANDs short.
            let mut next = 0;
            while column.len() - next > 1 {
                let third = column.get(next + 2).copied();
                let (bit, carry) =
                    self.full_adder(column[next], column[next + 1], third.unwrap_or(constant));
                carries.push(carry);
                if third.is_none() {
                    column.truncate(next);
                    sum.push(bit);
                    break;
                }
                next += 3;
                column.push(bit);
            }
            if let Some(&bit) = column.get(next) {
                let (bit, carry) = self.full_adder(bit, constant, Bit::ZERO);
                carries.push(carry);
                sum.push(bit);
            } else if sum.len() == place {
                sum.push(constant);
            }
        }
        (sum, carries)
    }

    /// `x · y + z` modulo 2^n; n² ANDs.
    pub fn mul_add(&mut self, x: &[Bit], y: &[Bit], z: &[Bit]) -> Word {
        let level = self.level([x, y, z]);
        let [x, y, z] = level.words();
        let mut sum: Word = z.to_vec().into();
        for (i, &factor) in y.iter().enumerate() {
            let row = self.and_each(factor, &x[..x.len() - i]);
            let high = self.add(&sum[i..], &row);
            sum[i..].copy_from_slice(&high);
        }
        sum
    }

    /// `x · y + z + t` of unsigned integers, which always fits in the widths of `x` and `y`
    /// together; `z` is as wide as `x` and `t` as `y`; for n and m bits 2nm ANDs.
    pub fn mul_full_add(&mut self, x: &[Bit], y: &[Bit], z: &[Bit], t: &[Bit]) -> Word {
        let (first, second) = (self.level([x, z]), self.level([y, t]));
        let ([x, z], [y, t]) = (first.words(), second.words());
        let mut product = Vec::with_capacity(x.len() + y.len());
        let mut sum = z.to_vec();
        for (&factor, &carry) in y.iter().zip(t) {
            let row = self.and_each(factor, x);
            let (next, carry) = self.add_with_carry(&sum, &row, carry);
            sum.clear();
            sum.extend_from_slice(&next);
            sum.push(carry);
            product.push(sum.remove(0));
        }
        product.extend(sum);
        product.into()
    }

    /// Every bit of `x`, where `factor` is 1, else zeros; n ANDs.
    pub fn and_each(&mut self, factor: Bit, x: &[Bit]) -> Word {
        x.iter().map(|&bit| self.and_bit(factor, bit)).collect()
    }

    /// How many of the bits are 1, in as many bits as the largest count takes (at least one);
    /// fewer than n ANDs: n less the number of ones in n's binary form.
    pub fn popcount(&mut self, x: &[Bit]) -> Word {
        let mut column = x.to_vec();
        let mut count = Vec::new();
        while !column.is_empty() {
            // Each adder takes from the front and puts its sum at the back, so that the
            // columns grow like trees, not like chains.
            let mut carries = Vec::with_capacity(column.len() / 2);
            let mut next = 0;
            while column.len() - next > 1 {
                let third = if column.len() - next > 2 { column[next + 2] } else { Bit::ZERO };
                let (sum, carry) = self.full_adder(column[next], column[next + 1], third);
                next = (next + 3).min(column.len());
                column.push(sum);
                carries.push(carry);
            }
            count.push(column[next]);
            column = carries;
        }
        if count.is_empty() {
            count.push(Bit::ZERO);
        }
        count.into()
    }
}
