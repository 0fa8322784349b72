//! Operators of floating-point numbers, and comparison of values that have such parts.

use symbolon_circuit::builder::{Bit, F32, F64, Format, Word};

use super::Machine;
use crate::ast::BinaryOp;
use crate::ty::{Precision, Shape, TyId};

/// Returns the circuit format of a precision.
pub(super) fn format(precision: Precision) -> Format {
    match precision {
        Precision::Single => F32,
        Precision::Double => F64,
    }
}

impl Machine<'_, '_, '_> {
    pub(super) fn float_binary(&mut self, op: BinaryOp, ty: TyId, a: &[Bit], b: &[Bit]) -> Word {
        use BinaryOp::*;
        match op {
            Eq => return self.same(ty, a, b).into(),
            Ne => return (!self.same(ty, a, b)).into(),
            Lt => return self.comes_before(ty, a, b, false).into(),
            Le => return self.comes_before(ty, a, b, true).into(),
            Gt => return self.comes_before(ty, b, a, false).into(),
            Ge => return self.comes_before(ty, b, a, true).into(),
            _ => {}
        }
        let Shape::Float(precision) = self.shape(ty) else { return a.to_vec().into() };
        let f = format(precision);
        match op {
            Add => self.gates.float_add(f, a, b),
            Sub => self.gates.float_sub(f, a, b),
            Mul => self.gates.float_mul(f, a, b),
            _ => self.gates.float_div(f, a, b),
        }
    }

    /// Does the same as [`float_binary`](Self::float_binary), without subnormal numbers.
    pub(super) fn fast_binary(&mut self, op: BinaryOp, ty: TyId, a: &[Bit], b: &[Bit]) -> Word {
        let Shape::Float(precision) = self.shape(ty) else { return a.to_vec().into() };
        let f = format(precision);
        match op {
            BinaryOp::Add => self.gates.float_add_fast(f, a, b),
            BinaryOp::Sub => self.gates.float_sub_fast(f, a, b),
            BinaryOp::Mul => self.gates.float_mul_fast(f, a, b),
            _ => self.gates.float_div_fast(f, a, b),
        }
    }

    /// Returns whether two values are equal: all their parts must be, floating-point ones by
    /// IEEE 754.
    fn same(&mut self, ty: TyId, a: &[Bit], b: &[Bit]) -> Bit {
        if !self.lower.tir.shapes.has_float(ty) {
            return self.gates.eq(a, b);
        }
        if let Shape::Float(precision) = self.shape(ty) {
            return self.gates.float_eq(format(precision), a, b);
        }
        let mut all = Vec::new();
        for parts in self.forms(ty, a, b) {
            let mut fits = parts.here;
            for (part, a, b) in parts.pairs {
                let same = self.same(part, &a, &b);
                fits = self.gates.and_bit(fits, same);
            }
            all.push(fits);
        }
        // Forms exclude each other.
        all.into_iter().fold(Bit::ZERO, |any, fits| self.gates.xor_bit(any, fits))
    }

    /// Returns whether one value comes before another, or is equal if `or_equal`: the first parts
    /// that differ decide. A NaN is neither before nor after anything.
    fn comes_before(&mut self, ty: TyId, a: &[Bit], b: &[Bit], or_equal: bool) -> Bit {
        if !self.lower.tir.shapes.has_float(ty) {
            let less = self.less(ty, if or_equal { b } else { a }, if or_equal { a } else { b });
            return if or_equal { !less } else { less };
        }
        if let Shape::Float(precision) = self.shape(ty) {
            return match or_equal {
                false => self.gates.float_lt(format(precision), a, b),
                true => self.gates.float_le(format(precision), a, b),
            };
        }
        let tag = self.lower.tir.shapes.tag_bits(ty);
        let mut before = self.gates.lt(&a[..tag], &b[..tag]);
        for parts in self.forms(ty, a, b) {
            // From the last part to the first.
            let mut decided = Bit::constant(or_equal);
            for (part, a, b) in parts.pairs.into_iter().rev() {
                let less = self.comes_before(part, &a, &b, false);
                let same = self.same(part, &a, &b);
                let later = self.gates.and_bit(same, decided);
                decided = self.gates.xor_bit(less, later);
            }
            let decided = self.gates.and_bit(parts.here, decided);
            before = self.gates.xor_bit(before, decided);
        }
        before
    }

    /// Returns the forms that both of two values may have, with their parts.
    fn forms(&mut self, ty: TyId, a: &[Bit], b: &[Bit]) -> Vec<Form> {
        let tag = self.lower.tir.shapes.tag_bits(ty);
        let variants: Vec<Vec<TyId>> = match self.shape(ty) {
            Shape::Array(element, len) => vec![vec![element; len as usize]],
            Shape::Enum(_, variants) => variants.into_iter().map(|variant| variant.1).collect(),
            _ => vec![self.lower.tir.shapes.parts(ty)],
        };
        let single = tag == 0;
        let mut forms = Vec::new();
        for (number, parts) in variants.into_iter().enumerate() {
            let wanted = Word::constant(tag, number as u128);
            let here = if single {
                Bit::ONE
            } else {
                let a = self.gates.eq(&a[..tag], &wanted);
                let b = self.gates.eq(&b[..tag], &wanted);
                self.gates.and_bit(a, b)
            };
            let mut start = tag;
            let mut pairs = Vec::new();
            for part in parts {
                let end = start + self.width(part);
                pairs.push((part, a[start..end].to_vec().into(), b[start..end].to_vec().into()));
                start = end;
            }
            forms.push(Form { here, pairs });
        }
        forms
    }

    /// Writes a cast from or to a floating-point number; returns `None` for others.
    pub(super) fn float_cast(&mut self, from: TyId, to: TyId, word: &[Bit]) -> Option<Word> {
        let width = self.width(to);
        Some(match (self.shape(from), self.shape(to)) {
            (Shape::Float(from), Shape::Float(to)) if from == to => word.to_vec().into(),
            (Shape::Float(from), Shape::Float(to)) => {
                self.gates.float_convert(format(from), format(to), word)
            }
            (Shape::Float(from), to) => {
                let (signed, frac) = match to {
                    Shape::Fixed(_, frac) => (true, frac as usize),
                    Shape::Int(signed, _) => (signed, 0),
                    _ => (false, 0),
                };
                self.gates.float_to_int(format(from), word, (width, signed), frac)
            }
            (from, Shape::Float(to)) => {
                let (signed, frac) = match from {
                    Shape::Fixed(_, frac) => (true, frac as usize),
                    Shape::Int(signed, _) => (signed, 0),
                    _ => (false, 0),
                };
                self.gates.float_from_int(format(to), word, signed, frac)
            }
            _ => return None,
        })
    }
}

/// A form that two values may share: whether both have it, and their parts.
struct Form {
    here: Bit,
    pairs: Vec<(TyId, Word, Word)>,
}
