//! Operators, casts, comparisons, and what the language itself cannot express.

use num_bigint::BigInt;
use symbolon_circuit::builder::{Bit, Word};

use super::Machine;
use super::derived::Origin;
use super::float::format;
use super::places::constant;
use crate::ast::{BinaryOp, UnaryOp};
use crate::tir::Intrinsic;
use crate::ty::{Shape, TyId};
use crate::value::Value;

/// Comparisons of wider numbers are not shared.
const COMPARED: usize = 256;

/// The maximum number of comparisons that are kept to be shared.
const MOST_COMPARED: usize = 1 << 14;

impl Machine<'_, '_, '_> {
    pub(super) fn shape(&self, ty: TyId) -> Shape {
        self.lower.tir.shapes.shape(ty).clone()
    }

    pub(super) fn unary(&mut self, op: UnaryOp, ty: TyId, value: &[Bit]) -> Word {
        match (op, self.shape(ty)) {
            (UnaryOp::Neg, Shape::Int(..) | Shape::Fixed(..)) => {
                let minus = self.gates.neg(value);
                let value = Word::from(value.to_vec());
                self.derive(&minus, Origin::Difference(Word::zero(value.width()), value));
                minus
            }
            (UnaryOp::Neg, Shape::Float(_)) => {
                let mut negative: Word = value.to_vec().into();
                if let Some(sign) = negative.last_mut() {
                    *sign = !*sign;
                }
                negative
            }
            _ => value.iter().map(|&bit| !bit).collect(),
        }
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        ty: TyId,
        amount: TyId,
        a: &[Bit],
        b: &[Bit],
    ) -> Word {
        use BinaryOp::*;
        if self.lower.tir.shapes.has_float(ty) && !matches!(op, And | Or | Xor) {
            return self.float_binary(op, ty, a, b);
        }
        if let Some(rotated) = self.rotation(op, a, b) {
            return rotated;
        }
        match op {
            And => return self.gates.and(a, b),
            Or => return self.gates.or(a, b),
            Xor => return self.gates.xor(a, b),
            Eq => return self.gates.eq(a, b).into(),
            Ne => return (!self.gates.eq(a, b)).into(),
            Lt => return self.less(ty, a, b).into(),
            Ge => return (!self.less(ty, a, b)).into(),
            Gt => return self.less(ty, b, a).into(),
            Le => return (!self.less(ty, b, a)).into(),
            Add => {
                let sum = self.gates.add(a, b);
                self.derive(&sum, Origin::Sum(a.to_vec().into(), b.to_vec().into()));
                return sum;
            }
            Sub => {
                let difference = self.gates.sub(a, b);
                let origin = Origin::Difference(a.to_vec().into(), b.to_vec().into());
                self.derive(&difference, origin);
                return difference;
            }
            _ => {}
        }
        match (op, self.shape(ty)) {
            (Mul, Shape::Int(..)) => self.gates.mul(a, b),
            (Mul, Shape::Fixed(_, frac)) => {
                let wide = a.len() + frac as usize;
                let (a, b) = (extend(a, wide, true), extend(b, wide, true));
                self.gates.mul(&a, &b).slice(frac as usize..wide)
            }
            (Div, Shape::Int(false, _)) => self.gates.div_rem(a, b).0,
            (Div, Shape::Int(true, _)) => self.gates.div_rem_signed(a, b).0,
            (Div, Shape::Fixed(_, frac)) => {
                // One more bit, so that the least number divided by −1 does not wrap too early.
                let wide = a.len() + frac as usize + 1;
                let dividend = extend(a, wide, true).shl(frac as usize);
                let divisor = extend(b, wide, true);
                self.gates.div_rem_signed(&dividend, &divisor).0.resize(a.len())
            }
            (Rem, Shape::Int(false, _)) => self.gates.div_rem(a, b).1,
            (Rem, _) => self.gates.div_rem_signed(a, b).1,
            (Shl | Shr, Shape::Int(signed, _)) => self.shift(op, signed, amount, a, b),
            _ => a.to_vec().into(),
        }
    }

    fn shift(&mut self, op: BinaryOp, signed: bool, _: TyId, a: &[Bit], by: &[Bit]) -> Word {
        let word: Word = a.to_vec().into();
        if let Some(by) = constant(by) {
            let by = usize::try_from(by).unwrap_or(usize::MAX).min(a.len());
            return match (op, signed) {
                (BinaryOp::Shl, _) => word.shl(by),
                (_, false) => word.shr(by),
                (_, true) => word.sar(by),
            };
        }
        let amount = Word::from(by.to_vec());
        let (shifted, origin) = match (op, signed) {
            (BinaryOp::Shl, _) => (self.gates.shl_by(a, by), Origin::Left(word, amount)),
            (_, false) => (self.gates.shr_by(a, by), Origin::Right(word, amount)),
            (_, true) => return self.gates.sar_by(a, by),
        };
        self.derive(&shifted, origin);
        shifted
    }

    /// Returns whether a value of any type comes before another in the total order.
    pub(super) fn less(&mut self, ty: TyId, a: &[Bit], b: &[Bit]) -> Bit {
        let (a, b) = (self.key(ty, a), self.key(ty, b));
        self.compare(a, b)
    }

    /// Returns whether a number is less than another. If they were compared the other way round,
    /// it takes as many ANDs to find whether they are equal, which `==` shares.
    fn compare(&mut self, a: Word, b: Word) -> Bit {
        if let Some(wraps) = self.wraps(&a, &b) {
            return wraps;
        }
        let is_known = |bit: &Bit| bit.as_constant().is_some();
        if a.width() < 2 || a.width() > COMPARED || a.iter().chain(&b[..]).any(is_known) {
            return self.gates.lt(&a, &b);
        }
        let key = [b, a];
        let other = self.reuse.compared.get(&key).copied();
        let [b, a] = key;
        let less = match other {
            Some(greater) => {
                let equal = self.gates.eq(&a, &b);
                self.gates.and_bit(!greater, !equal)
            }
            None => self.gates.lt(&a, &b),
        };
        if self.reuse.compared.len() == MOST_COMPARED {
            self.reuse.compared.clear();
        }
        self.reuse.compared.insert([a, b], less);
        less
    }

    /// Returns the smaller or the larger of two values without floating-point numbers. Both take
    /// the same gates, also if the values are swapped; returns `None` if some bits are constants,
    /// with which one order may take fewer gates.
    pub(super) fn extremum(&mut self, ty: TyId, a: &Word, b: &Word, larger: bool) -> Option<Word> {
        let mut bits = a.iter().chain(&b[..]);
        if self.lower.tir.shapes.has_float(ty) || bits.any(|bit| bit.as_constant().is_some()) {
            return None;
        }
        let (swaps, first, second) = self.ordered(ty, (a, b), larger);
        Some(self.choose(swaps, first, second))
    }

    /// Returns the condition under which the first of two values is the smaller one, or the larger
    /// one, and both in an order that does not depend on the caller's.
    pub(super) fn ordered<'w>(
        &mut self,
        ty: TyId,
        (a, b): (&'w Word, &'w Word),
        larger: bool,
    ) -> (Bit, &'w Word, &'w Word) {
        let (first, second) = if **a <= **b { (a, b) } else { (b, a) };
        let swaps = self.less(ty, second, first);
        if larger { (swaps, first, second) } else { (swaps, second, first) }
    }

    /// Returns a number, the least significant bit first, that has the order of the values.
    fn key(&mut self, ty: TyId, word: &[Bit]) -> Word {
        match self.shape(ty) {
            Shape::Bool | Shape::Int(false, _) => word.to_vec().into(),
            Shape::Int(true, _) | Shape::Fixed(..) => {
                let mut key: Word = word.to_vec().into();
                if let Some(sign) = key.last_mut() {
                    *sign = !*sign;
                }
                key
            }
            Shape::Float(precision) => self.gates.float_key(format(precision), word),
            Shape::Array(element, len) => self.keys(&vec![element; len as usize], word),
            Shape::Tuple(parts) => self.keys(&parts, word),
            Shape::Struct(_, fields) => {
                let parts: Vec<TyId> = fields.into_iter().map(|field| field.1).collect();
                self.keys(&parts, word)
            }
            Shape::Enum(_, variants) => {
                let (tag, payload) = word.split_at(self.lower.tir.shapes.tag_bits(ty));
                let mut chosen: Option<Word> = None;
                for (number, (_, parts)) in variants.iter().enumerate() {
                    if parts.is_empty() {
                        continue;
                    }
                    // The first part is the most significant, so shorter keys are padded below.
                    let key = self.keys(parts, payload);
                    let fill = Word::zero(payload.len() - key.width());
                    let key = Word::join([&fill, &key]);
                    chosen = Some(match chosen {
                        None => key,
                        Some(before) => {
                            let wanted = Word::constant(tag.len(), number as u128);
                            let here = self.gates.eq(tag, &wanted);
                            self.choose(here, &key, &before)
                        }
                    });
                }
                let low = chosen.unwrap_or_default();
                Word::join([&low, &tag.to_vec().into()])
            }
        }
    }

    fn keys(&mut self, parts: &[TyId], word: &[Bit]) -> Word {
        let mut keys = Vec::with_capacity(parts.len());
        let mut start = 0;
        for &part in parts {
            let width = self.width(part);
            keys.push(self.key(part, &word[start..start + width]));
            start += width;
        }
        Word::join(keys.iter().rev())
    }

    pub(super) fn in_range(&mut self, ty: TyId, low: &BigInt, high: &BigInt, word: &[Bit]) -> Bit {
        if self.shape(ty) == Shape::Bool {
            let one = BigInt::from(1);
            return match (*low == BigInt::ZERO, *high == one) {
                (true, true) => Bit::ONE,
                (true, false) => !word[0],
                (false, _) => word[0],
            };
        }
        let low_word = self.constant_word(ty, &Value::Int(low.clone()));
        if low == high {
            return self.gates.eq(word, &low_word);
        }
        let high_word = self.constant_word(ty, &Value::Int(high.clone()));
        let below = self.less(ty, word, &low_word);
        let above = self.less(ty, &high_word, word);
        let outside = self.gates.or_bit(below, above);
        !outside
    }

    pub(super) fn cast(&mut self, from: TyId, to: TyId, word: &[Bit]) -> Word {
        if let Some(value) = self.float_cast(from, to, word) {
            return value;
        }
        let (signed, from_frac) = match self.shape(from) {
            Shape::Int(signed, _) => (signed, 0),
            Shape::Fixed(_, frac) => (true, frac as usize),
            _ => (false, 0),
        };
        let to_frac = match self.shape(to) {
            Shape::Fixed(_, frac) => frac as usize,
            _ => 0,
        };
        let wide = word.len().max(self.width(to)) + to_frac + from_frac;
        let value = extend(word, wide, signed).shl(to_frac).sar(from_frac);
        value.resize(self.width(to))
    }

    pub(super) fn intrinsic(
        &mut self,
        op: Intrinsic,
        types: &[TyId],
        words: &[Word],
        result: TyId,
    ) -> Word {
        let width = self.width(result);
        match (op, words) {
            (Intrinsic::Zero, _) => Word::zero(width),
            (Intrinsic::ToBits, [word]) => word.clone(),
            (Intrinsic::FromBits, [word]) => self.sanitise(result, word),
            (Intrinsic::Sum, [word]) => {
                let Shape::Array(element, len) = self.shape(types[0]) else {
                    return Word::zero(width);
                };
                let part = self.width(element);
                let terms: Vec<Word> = (0..len as usize)
                    .map(|i| word.slice(i * part..(i + 1) * part).resize(width))
                    .collect();
                let terms: Vec<&[Bit]> = terms.iter().map(|term| &term[..]).collect();
                self.gates.sum(width, &terms)
            }
            (Intrinsic::Count, [word]) => self.gates.popcount(word).resize(width),
            (Intrinsic::MulWide, [a, b]) => self.gates.mul_full(a, b).resize(width),
            (Intrinsic::DivRem, [a, b]) => {
                let (quotient, remainder) = match self.shape(types[0]) {
                    Shape::Int(false, _) => self.gates.div_rem(a, b),
                    _ => self.gates.div_rem_signed(a, b),
                };
                Word::join([&quotient, &remainder])
            }
            (Intrinsic::Clog2, [word]) => {
                let n = constant(word).unwrap_or(0) as u64;
                Word::constant(width, u128::from(crate::ty::clog2(n)))
            }
            (Intrinsic::Sqrt, [word]) => match self.shape(types[0]) {
                Shape::Float(precision) => self.gates.float_sqrt(format(precision), word),
                _ => self.gates.sqrt(word).resize(width),
            },
            (Intrinsic::Fast(op), [a, b]) => self.fast_binary(op, types[0], a, b),
            (Intrinsic::FastSqrt, [word]) => match self.shape(types[0]) {
                Shape::Float(precision) => self.gates.float_sqrt_fast(format(precision), word),
                _ => Word::zero(width),
            },
            (Intrinsic::Fits(fits), words) => self.fits(fits, types, words).into(),
            (Intrinsic::MayHold, [word]) => Bit::constant(word[0] != Bit::ZERO).into(),
            (Intrinsic::Before, [a, b]) => self.less(types[0], a, b).into(),
            (Intrinsic::AbsDiff, [a, b]) => {
                let signed = matches!(self.shape(types[0]), Shape::Int(true, _));
                let a = extend(a, a.width() + 1, signed);
                let b = extend(b, b.width() + 1, signed);
                let difference = self.gates.sub(&a, &b);
                self.gates.abs(&difference).resize(width)
            }
            _ => Word::zero(width),
        }
    }

    /// Turns bits from outside into a valid value: an invalid variant becomes the first one, and
    /// bits that a variant does not use become zero.
    pub(super) fn sanitise(&mut self, ty: TyId, word: &[Bit]) -> Word {
        match self.shape(ty) {
            Shape::Bool | Shape::Int(..) | Shape::Fixed(..) | Shape::Float(_) => {
                word.to_vec().into()
            }
            Shape::Array(element, len) => self.sanitise_all(&vec![element; len as usize], word),
            Shape::Tuple(_) | Shape::Struct(..) => {
                let parts = self.lower.tir.shapes.parts(ty);
                self.sanitise_all(&parts, word)
            }
            Shape::Enum(_, variants) => {
                let bits = self.lower.tir.shapes.tag_bits(ty);
                let (tag, payload) = word.split_at(bits);
                let last = Word::constant(bits, variants.len() as u128 - 1);
                let beyond = self.gates.lt(&last, tag);
                let tag = self.gates.and_each(!beyond, tag);
                let mut clean = Word::zero(payload.len());
                for (number, (_, parts)) in variants.iter().enumerate() {
                    if parts.is_empty() {
                        continue;
                    }
                    let wanted = Word::constant(bits, number as u128);
                    let here = self.gates.eq(&tag, &wanted);
                    let own = self.sanitise_all(parts, payload).resize(payload.len());
                    let own = self.gates.and_each(here, &own);
                    clean = self.gates.xor(&clean, &own);
                }
                Word::join([&tag, &clean])
            }
        }
    }

    fn sanitise_all(&mut self, parts: &[TyId], word: &[Bit]) -> Word {
        let mut bits = Vec::with_capacity(word.len());
        let mut start = 0;
        for &part in parts {
            let width = self.width(part);
            bits.extend_from_slice(&self.sanitise(part, &word[start..start + width]));
            start += width;
        }
        bits.into()
    }
}

pub(super) fn extend(word: &[Bit], width: usize, signed: bool) -> Word {
    let word: Word = word.to_vec().into();
    if signed { word.resize_signed(width) } else { word.resize(width) }
}
