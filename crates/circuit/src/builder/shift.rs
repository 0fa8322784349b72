//! Shifts and rotations by words; those by constants are [`Word`]'s and free.

use super::bit::{Bit, Word};
use super::gates::Gates;

impl Gates {
    /// `x` shifted towards the most significant bit by `amount`, zeros coming in: all zero for
    /// amounts of the width or more. About n ANDs for each bit of the amount that matters.
    pub fn shl_by(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        let reversed: Word = x.iter().rev().copied().collect();
        let shifted = self.shift_down(&reversed, amount, Bit::ZERO);
        shifted.iter().rev().copied().collect()
    }

    /// `x` shifted towards the least significant bit by `amount`, zeros coming in: all zero for
    /// amounts of the width or more. About n ANDs for each bit of the amount that matters.
    pub fn shr_by(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        self.shift_down(x, amount, Bit::ZERO)
    }

    /// `x` shifted towards the least significant bit by `amount`, signs coming in: all signs for
    /// amounts of the width or more. About n ANDs for each bit of the amount that matters.
    pub fn sar_by(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        self.shift_down(x, amount, x.last().copied().unwrap_or(Bit::ZERO))
    }

    /// `x` rotated towards the most significant bit by `amount` modulo the width; n ANDs for each
    /// bit of the amount, without those that do not matter because the width is a power of two.
    pub fn rotl_by(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        let mut word: Word = x.to_vec().into();
        // 2^k modulo the width, without ever holding 2^k.
        let mut step = 1;
        for &bit in amount {
            if x.is_empty() || step % x.len() == 0 {
                break;
            }
            let rotated = word.rotl(step);
            word = self.select(bit, &rotated, &word);
            step = step * 2 % x.len();
        }
        word
    }

    /// `x` rotated towards the least significant bit by `amount` modulo the width; costs as
    /// [`rotl_by`](Self::rotl_by).
    pub fn rotr_by(&mut self, x: &[Bit], amount: &[Bit]) -> Word {
        let reversed: Word = x.iter().rev().copied().collect();
        let rotated = self.rotl_by(&reversed, amount);
        rotated.iter().rev().copied().collect()
    }

    fn shift_down(&mut self, x: &[Bit], amount: &[Bit], fill: Bit) -> Word {
        let mut word: Word = x.to_vec().into();
        // Amount bits from this one on shift everything out.
        let stages = (x.len().max(1).ilog2() + u32::from(!x.len().is_power_of_two())) as usize;
        for (k, &bit) in amount.iter().enumerate().take(stages) {
            let mut shifted = word[(1 << k).min(word.len())..].to_vec();
            shifted.resize(x.len(), fill);
            word = self.select(bit, &shifted, &word);
        }
        let beyond = self.any(&amount[stages.min(amount.len())..]);
        let out: Word = std::iter::repeat_n(fill, x.len()).collect();
        self.select(beyond, &out, &word)
    }
}
