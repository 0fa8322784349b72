//! Division and square roots.

use super::bit::{Bit, Word};
use super::gates::Gates;

impl Gates {
    /// How many AND gates a division takes, without making them: about what
    /// [`div_rem`](Self::div_rem) makes.
    pub fn division_ands(&self, dividend: &[Bit], divisor: &[Bit]) -> u64 {
        restoring_steps(dividend.len(), divisor).0 as u64
    }

    /// Quotient and remainder of unsigned integers; about 0.8·n² ANDs, fewer for divisors with
    /// constant zeros at the top.
    ///
    /// Division by zero gives a quotient of all ones and the dividend as the remainder.
    pub fn div_rem(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        let (quotient, remainder, _) = self.divide(dividend, divisor);
        (quotient, remainder)
    }

    /// Quotient, rounded towards zero, and remainder, with the dividend's sign, of
    /// two's-complement integers; 5n ANDs more than unsigned ones or fewer.
    ///
    /// Division by zero gives the quotient -1 and the dividend as the remainder; the least integer
    /// divided by -1 is itself, with remainder 0.
    pub fn div_rem_signed(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        let level = self.level([dividend, divisor]);
        let [dividend, divisor] = level.words();
        let sign = |word: &[Bit]| word.last().copied().unwrap_or(Bit::ZERO);
        if let Some(power) = power_of_two(divisor) {
            return self.div_rem_power(dividend, power);
        }
        let (dividend_sign, divisor_sign) = (sign(dividend), sign(divisor));
        let (dividend, divisor) = (self.abs(dividend), self.abs(divisor));
        let (quotient, remainder, nonzero) = self.divide(&dividend, &divisor);
        // All ones is already the -1 that a division by zero must give.
        let opposite = self.xor_bit(dividend_sign, divisor_sign);
        let negate = self.and_bit(opposite, nonzero);
        (self.neg_if(negate, &quotient), self.neg_if(dividend_sign, &remainder))
    }

    /// Quotient and remainder of a two's-complement integer and 2^`power`, where the least integer
    /// is less than -2^`power`; n - 1 + `power` ANDs.
    fn div_rem_power(&mut self, dividend: &[Bit], power: usize) -> (Word, Word) {
        let sign = dividend.last().copied().unwrap_or(Bit::ZERO);
        let (low, width) = (&dividend[..power], dividend.len());
        // A negative one is rounded up.
        let up = Word::from(vec![sign; power]).resize(width);
        let quotient = self.add(dividend, &up).sar(power);
        let some = self.any(low);
        let high = vec![self.and_bit(sign, some); width - power];
        (quotient, Word::join([&low.to_vec().into(), &high.into()]))
    }

    /// Divides; also returns whether the divisor is not zero.
    fn divide(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word, Bit) {
        let level = self.level([dividend, divisor]);
        let [dividend, divisor] = level.words();
        let width = dividend.len();
        let used = |word: &[Bit]| {
            word.iter().rposition(|bit| *bit != Bit::ZERO).map_or(0, |place| place + 1)
        };
        let end = used(divisor);
        if end == 0 {
            return (!&Word::zero(width), dividend.to_vec().into(), Bit::ZERO);
        }
        // If a power of two divides the divisor, the dividend's bits below it are part of the
        // remainder.
        let low = divisor.iter().take_while(|bit| **bit == Bit::ZERO).count();
        let divisor = &divisor[low..end];
        let (left_over, rest) = dividend[..used(dividend).max(low)].split_at(low);
        let nonzero = divisor.iter().rev().fold(Bit::ZERO, |any, &bit| self.or_bit(any, bit));
        // A divisor that is narrower than the dividend leaves no room for a remainder as wide as
        // the dividend: without a dividend, a division by zero needs none.
        let narrow = divisor.len() < rest.len();
        let masked = if narrow { self.and_each(nonzero, rest) } else { rest.to_vec().into() };
        let (quotient, remainder) = self.long_division(&masked, divisor);
        let missing = self.xor(rest, &masked);
        let remainder = self.xor(&remainder.resize(missing.width()), &missing);
        let zeros = std::iter::repeat_n(!nonzero, width - quotient.width());
        let quotient = quotient.iter().copied().chain(zeros).collect();
        let left_over = left_over.to_vec().into();
        (quotient, Word::join([&left_over, &remainder]).resize(width), nonzero)
    }

    /// Divides by restoring steps while the remainder is short, which cost twice its bits, then by
    /// non-restoring ones, which cost the divisor's bits, and a correction at the end.
    fn long_division(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        let (n, m) = (dividend.len(), divisor.len());
        if *divisor == [Bit::ONE] {
            return (dividend.to_vec().into(), Word::zero(n));
        }
        let restoring = restoring_steps(n, divisor).1;
        // exceeds[k]: the divisor has a bit at k or above, so that it exceeds all of k bits.
        let mut exceeds = Word::zero(m + 1);
        for k in (1..m).rev() {
            exceeds[k] = self.or_bit(exceeds[k + 1], divisor[k]);
        }
        let mut quotient = Word::zero(n);
        let mut remainder = Word::zero(0);
        for k in 1..=restoring {
            // After k of the dividend's bits the remainder has k bits at most, and no more than
            // the divisor: the other places need no gates.
            remainder = Word::join([&Word::from(dividend[n - k]), &remainder]);
            let wide = remainder.width();
            let own = Word::from(divisor[..wide.min(m)].to_vec()).resize(wide);
            let (difference, borrow) = self.sub_with_borrow(&remainder, &own);
            let fits = self.and_bit(!borrow, !exceeds[wide.min(m)]);
            remainder = self.select(fits, &difference, &remainder).resize(wide.min(m));
            quotient[n - k] = fits;
        }
        if restoring == n {
            return (quotient, remainder);
        }
        // From here on the remainder is from -divisor to divisor - 1.
        let mut remainder = remainder.resize(m + 1);
        for k in restoring + 1..=n {
            let subtract = !remainder[m];
            let shifted = Word::join([&Word::from(dividend[n - k]), &remainder.slice(0..m)]);
            let mut term: Word = divisor.iter().map(|&bit| self.xor_bit(bit, subtract)).collect();
            term = Word::join([&term, &subtract.into()]);
            remainder = self.add_modular(&shifted, &term, subtract);
            quotient[n - k] = !remainder[m];
        }
        let missing = self.and_each(remainder[m], divisor);
        (quotient, self.add(&remainder[..m], &missing))
    }

    /// The square root of an unsigned integer, rounded down, in half as many bits; about n²/8 ANDs.
    pub fn sqrt(&mut self, x: &[Bit]) -> Word {
        let half = x.len().div_ceil(2);
        let x = Word::from(x.to_vec()).resize(2 * half);
        let mut root: Vec<Bit> = Vec::with_capacity(half);
        // Non-restoring: with root q so far, the remainder is from -(2q + 1) to 2q.
        let mut remainder = Word::zero(2);
        for k in 1..=half {
            let pair = x.slice(2 * (half - k)..2 * (half - k) + 2);
            let subtract = !remainder.sign();
            // 4r + pair - (4q + 1), or 4r + pair + (4q + 3) if r is negative.
            let wide = k + 2;
            let shifted = Word::join([&pair, &remainder]).resize_signed(wide);
            let mut term = vec![!subtract, Bit::ONE];
            for &bit in root.iter().rev() {
                term.push(self.xor_bit(bit, subtract));
            }
            term.resize(wide, subtract);
            remainder = self.add_modular(&shifted, &term, subtract);
            root.push(!remainder.sign());
        }
        root.into_iter().rev().collect()
    }
}

/// Returns the exponent of a constant that is a positive power of two, as a two's-complement
/// integer.
fn power_of_two(word: &[Bit]) -> Option<usize> {
    let place = word.iter().position(|bit| *bit != Bit::ZERO)?;
    let is_alone = word[place + 1..].iter().all(|bit| *bit == Bit::ZERO);
    (word[place] == Bit::ONE && is_alone && place + 1 < word.len()).then_some(place)
}

/// The AND gates of a division of `n` bits, and how many of its steps are best restoring.
fn restoring_steps(n: usize, divisor: &[Bit]) -> (usize, usize) {
    let m = divisor.len();
    let constant = divisor.iter().all(|bit| bit.as_constant().is_some());
    let mut best = (n * m + 2 * m - 1, 0);
    let mut restoring = 0;
    for k in 1..=n {
        restoring += match k {
            _ if k < m && constant => 0,
            _ if k < m => 2 * k + 2,
            _ if k == m => 2 * m,
            _ => 2 * m + 1,
        };
        let rest = if k < n { (n - k) * m + 2 * m - 1 } else { 0 };
        best = best.min((restoring + rest, k));
    }
    best
}
