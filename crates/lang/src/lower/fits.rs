//! Whether the results of operations fit in their types, for `#[checked]` functions.

use symbolon_circuit::builder::{Bit, Word};

use super::Machine;
use super::ops::extend;
use crate::ast::BinaryOp;
use crate::tir::Fits;
use crate::ty::{Shape, TyId};

impl Machine<'_, '_, '_> {
    pub(super) fn fits(&mut self, fits: Fits, types: &[TyId], words: &[Word]) -> Bit {
        let shape = self.shape(types[0]);
        match (fits, words) {
            (Fits::Binary(op), [a, b]) => self.binary_fits(op, &shape, a, b),
            (Fits::Neg, [a, new]) => match shape {
                Shape::Int(false, _) => !self.gates.any(a),
                // Only the least number stays negative.
                Shape::Int(true, _) | Shape::Fixed(..) => match (a.last(), new.last()) {
                    (Some(&before), Some(&after)) => !self.gates.and_bit(before, after),
                    _ => Bit::ONE,
                },
                _ => Bit::ONE,
            },
            (Fits::Cast, [a, new]) => {
                let to = self.shape(types[1]);
                let (Some((signed, frac)), Some((to_signed, to_frac))) =
                    (number(&shape), number(&to))
                else {
                    return Bit::ONE;
                };
                let wide = a.width().max(new.width()) + frac + to_frac + 1;
                let exact = extend(a, wide, signed).shl(to_frac).sar(frac);
                self.gates.eq(&exact, &extend(new, wide, to_signed))
            }
            (Fits::Index(len), [index]) => {
                let bits = (u64::BITS - len.leading_zeros()) as usize;
                let wide = index.width().max(bits);
                let len = Word::constant(wide, u128::from(len));
                self.gates.lt(&index.resize(wide), &len)
            }
            _ => Bit::ONE,
        }
    }

    fn binary_fits(&mut self, op: BinaryOp, shape: &Shape, a: &Word, b: &Word) -> Bit {
        let width = a.width();
        if let BinaryOp::Shl | BinaryOp::Shr = op {
            let bits = (usize::BITS - width.leading_zeros()) as usize;
            let wide = b.width().max(bits);
            return self.gates.lt(&b.resize(wide), &Word::constant(wide, width as u128));
        }
        let Some((signed, frac)) = number(shape) else { return Bit::ONE };
        let is_zero = |this: &mut Self, word: &[Bit]| !this.gates.any(word);
        match op {
            BinaryOp::Rem => !is_zero(self, b),
            BinaryOp::Div if !signed => !is_zero(self, b),
            BinaryOp::Div => {
                let wide = width + frac + 1;
                let dividend = extend(a, wide, true).shl(frac);
                let divisor = extend(b, wide, true);
                let quotient = self.gates.div_rem_signed(&dividend, &divisor).0;
                let fits = self.is_in(&quotient, width, true);
                let zero = is_zero(self, b);
                self.gates.and_bit(fits, !zero)
            }
            BinaryOp::Add | BinaryOp::Sub => {
                let (a, b) = (extend(a, width + 1, signed), extend(b, width + 1, signed));
                let exact = match op {
                    BinaryOp::Add => self.gates.add(&a, &b),
                    _ => self.gates.sub(&a, &b),
                };
                self.is_in(&exact, width, signed)
            }
            BinaryOp::Mul if !signed => {
                let exact = self.gates.mul_full(a, b);
                self.is_in(&exact, width, false)
            }
            BinaryOp::Mul => {
                let wide = 2 * width;
                let (a, b) = (extend(a, wide, true), extend(b, wide, true));
                let exact = self.gates.mul(&a, &b).slice(frac..wide);
                self.is_in(&exact, width, true)
            }
            _ => Bit::ONE,
        }
    }

    /// Returns whether a number fits in fewer bits.
    fn is_in(&mut self, exact: &Word, width: usize, signed: bool) -> Bit {
        let first = if signed { width.saturating_sub(1) } else { width };
        let high = exact.slice(first.min(exact.width())..exact.width());
        let some = self.gates.any(&high);
        if !signed {
            return !some;
        }
        let inverted: Word = high.iter().map(|&bit| !bit).collect();
        let not_all = self.gates.any(&inverted);
        !self.gates.and_bit(some, not_all)
    }
}

/// Returns whether numbers of a type are signed, and how many bits are after the point; `None` for
/// other types.
fn number(shape: &Shape) -> Option<(bool, usize)> {
    match shape {
        Shape::Int(signed, _) => Some((*signed, 0)),
        Shape::Fixed(_, frac) => Some((true, *frac as usize)),
        _ => None,
    }
}
