//! How large the numbers get that the body of a repeated loop only adds to.
//!
//! If `n` is small before a loop and each round adds little to it, its high bits stay zeros. The
//! gates of a carry chain do not show that: in each round a carry seems to reach one bit more.

use symbolon_circuit::builder::Bit;

use super::places::{constant, operation};
use super::state::Frame;
use super::{Machine, local_type};
use crate::ast::BinaryOp;
use crate::tir::{Expr, Kind, Local, Stmt};
use crate::ty::{Shape, TyId};
use crate::value::Value;
use crate::walk::walk;

/// Wider numbers have no bounds.
const WIDEST: u32 = 100;

/// A number within a variable: its first bit, its width, and whether it is signed.
type Number = (usize, u32, bool);

impl Machine<'_, '_, '_> {
    /// Returns, for each bit of a variable that a body changes, whether it is zero before and after
    /// each of `count` rounds; `None` if none is.
    pub(super) fn bounds(
        &self,
        frame: &Frame,
        body: &Expr,
        (local, word): (Local, &[Bit]),
        count: u32,
    ) -> Option<Vec<bool>> {
        let added = self.added(frame, body, local)?.checked_mul(count.into())?;
        let mut numbers = Vec::new();
        self.numbers(local_type(&frame.instance, local), 0, &mut numbers);
        let mut zeros = vec![false; word.len()];
        for (start, width, signed) in numbers {
            let bits = &word[start..start + width as usize];
            let most: Vec<Bit> =
                bits.iter().map(|bit| if *bit == Bit::ZERO { *bit } else { Bit::ONE }).collect();
            let Some(most) = constant(&most).and_then(|most| most.checked_add(added)) else {
                continue;
            };
            let used = u128::BITS - most.leading_zeros();
            if used + u32::from(signed) <= width {
                zeros[start + used as usize..start + width as usize].fill(true);
            }
        }
        zeros.contains(&true).then_some(zeros)
    }

    /// Returns the most that a body adds to a number of a variable, if that is all it does with it.
    fn added(&self, frame: &Frame, body: &Expr, local: Local) -> Option<u128> {
        let mut sum = Some(0u128);
        walk(body, 1, &mut |expr, weight| {
            let Kind::Block(stmts, _) = &expr.kind else { return };
            for stmt in stmts {
                let Stmt::Assign(place, op, value) = stmt else { continue };
                if place.local != local {
                    continue;
                }
                let more = match operation(place, *op, value) {
                    (Some(BinaryOp::Add), value) if weight == 1 => self.largest(frame, value),
                    _ => None,
                };
                sum = sum.zip(more).and_then(|(sum, more)| sum.checked_add(more));
            }
        });
        sum
    }

    /// Returns a number that an expression does not exceed; `None` if it may be negative or large.
    fn largest(&self, frame: &Frame, expr: &Expr) -> Option<u128> {
        let ty = frame.instance.types[expr.ty as usize];
        let (signed, width) = self.integer(ty)?;
        let of_type = || (!signed).then(|| (1u128 << width) - 1);
        match &expr.kind {
            Kind::Int(value) => u128::try_from(value).ok(),
            Kind::Const(value) => match &**value {
                Value::Int(value) => u128::try_from(value).ok(),
                _ => of_type(),
            },
            Kind::Cast(value) => {
                let from = self.integer(frame.instance.types[value.ty as usize]);
                let most = from.and_then(|_| self.largest(frame, value));
                let fits = |most: &u128| most >> (width - u32::from(signed)) == 0;
                most.filter(fits).or_else(of_type)
            }
            Kind::If(_, a, Some(b)) => Some(self.largest(frame, a)?.max(self.largest(frame, b)?)),
            Kind::Block(stmts, Some(tail)) if stmts.is_empty() => self.largest(frame, tail),
            Kind::Binary(BinaryOp::And, a, b) if !signed => {
                let sides = [self.largest(frame, a), self.largest(frame, b)];
                sides.into_iter().flatten().min()
            }
            _ => of_type(),
        }
    }

    /// Returns whether a number of this type is signed, and its width.
    fn integer(&self, ty: TyId) -> Option<(bool, u32)> {
        match *self.lower.tir.shapes.shape(ty) {
            Shape::Bool => Some((false, 1)),
            Shape::Int(signed, width @ 1..=WIDEST) => Some((signed, width)),
            _ => None,
        }
    }

    /// Finds the integers within a type.
    fn numbers(&self, ty: TyId, start: usize, found: &mut Vec<Number>) {
        let shapes = &self.lower.tir.shapes;
        match shapes.shape(ty) {
            Shape::Int(signed, width @ 1..=WIDEST) => found.push((start, *width, *signed)),
            Shape::Array(element, len) => {
                let width = self.width(*element);
                (0..*len as usize).for_each(|i| self.numbers(*element, start + i * width, found));
            }
            Shape::Tuple(parts) => (0..parts.len()).for_each(|part| {
                let (offset, ty) = shapes.part(ty, part);
                self.numbers(ty, start + offset, found);
            }),
            Shape::Struct(_, fields) => (0..fields.len()).for_each(|part| {
                let (offset, ty) = shapes.part(ty, part);
                self.numbers(ty, start + offset, found);
            }),
            _ => {}
        }
    }
}
