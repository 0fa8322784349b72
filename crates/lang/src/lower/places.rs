//! Places that are assigned to.

use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::state::{Effect, Frame, Update, Way, write_gates};
use super::{Done, Failed, Machine, local_type};
use crate::ast::BinaryOp;
use crate::source::Span;
use crate::tir::{Expr, Kind, Place, Step};
use crate::ty::{Shape, TyId};
use crate::walk::assigns;

/// Returns the operator and the operand of an assignment, also of `x = x + a` and `x = a + x`.
pub(super) fn operation<'e>(
    place: &Place,
    op: Option<BinaryOp>,
    value: &'e Expr,
) -> (Option<BinaryOp>, &'e Expr) {
    let Kind::Binary(inner @ (BinaryOp::Add | BinaryOp::Sub), a, b) = &value.kind else {
        return (op, value);
    };
    if op.is_some() || !place.path.is_empty() {
        return (op, value);
    }
    let is_target = |expr: &Expr| matches!(expr.kind, Kind::Local(local) if local == place.local);
    if is_target(a) && !assigns(b) {
        return (Some(*inner), b);
    }
    if *inner == BinaryOp::Add && is_target(b) && !assigns(a) {
        return (Some(BinaryOp::Add), a);
    }
    (op, value)
}

impl Machine<'_, '_, '_> {
    /// Writes `place = value` or `place += value`.
    pub(super) fn assign(
        &mut self,
        frame: &mut Frame,
        place: &Place,
        op: Option<BinaryOp>,
        value: &Expr,
    ) -> Done<()> {
        let mut ty = local_type(&frame.instance, place.local);
        let (mut target, mut path) = (place.local, &place.path[..]);
        if let Some(depth) = self.depth_of(frame, target) {
            let (indices, rest) = path.split_at(depth);
            let indices = indices.iter().map(|(step, inner)| match step {
                Step::Index(index) => Ok((index, *inner)),
                Step::Field(_) => Err(Failed),
            });
            let indices = indices.collect::<Done<Vec<_>>>()?;
            ty = indices.last().map_or(ty, |(_, inner)| frame.instance.types[*inner as usize]);
            let indices: Vec<&Expr> = indices.into_iter().map(|(index, _)| index).collect();
            (target, path) = (self.element_of(frame, target, &indices)?, rest);
        }
        let whole = self.width(ty);
        let mut ways: Vec<Option<(Way, TyId)>> = Vec::new();
        for (step, step_ty) in path {
            let inner = frame.instance.types[*step_ty as usize];
            let way = match step {
                Step::Field(field) => Some(Way::Known(self.lower.tir.shapes.part(ty, *field).0)),
                Step::Index(index) => self.way(frame, ty, index)?,
            };
            ways.push(way.map(|way| (way, inner)));
            ty = inner;
        }
        let (op, value) = operation(place, op, value);
        let amount = frame.instance.types[value.ty as usize];
        let value = self.eval(frame, value)?;
        // An index beyond the array writes nothing.
        let Some(ways) = ways.into_iter().collect::<Option<Vec<_>>>() else { return Ok(()) };
        self.room(write_gates(&ways, whole, op.is_some()), place.span)?;
        let waiting = op.and_then(|op| self.addend(op, ty, (&ways, whole), &value));
        let (value, effect) = match (op, waiting) {
            (_, Some((value, effect))) => (value, effect),
            (Some(op), None) => {
                let old = self.local(frame, target)?;
                let before = self.read_way(&old, &ways, place.span)?;
                self.binary_room(op, ty, &before, &value, place.span)?;
                (self.binary(op, ty, amount, &before, &value), Effect::Set)
            }
            (None, None) => (value, Effect::Set),
        };
        let condition = !self.left(frame);
        let known = ways.iter().map_while(|(way, _)| way.start()).collect::<Vec<_>>();
        let start = known.iter().sum();
        let ways = &ways[known.len()..];
        let width = match (ways.first(), value.width()) {
            (Some((Way::Secret(_, len), element)), _) => len * self.width(*element),
            (_, width) => width,
        };
        let (ways, value, at) = (ways.into(), Rc::new(value), place.span);
        self.write(frame, target, Update { effect, condition, start, width, ways, value, at })
    }

    /// Returns the way to an element, or `None` if the index is known to be beyond the array.
    fn way(&mut self, frame: &mut Frame, array: TyId, index: &Expr) -> Done<Option<Way>> {
        let Shape::Array(element, len) = *self.lower.tir.shapes.shape(array) else {
            return Ok(None);
        };
        let word = self.eval(frame, index)?;
        let width = self.width(element);
        match constant(&word) {
            Some(at) if at < u128::from(len) => Ok(Some(Way::Known(at as usize * width))),
            Some(at) if index.constant => self.lower.beyond_array(at, len, index.span),
            Some(_) => Ok(None),
            // The counter of a repeated loop has to be known here.
            None if index.constant => Err(Failed),
            None => Ok(Some(Way::Secret(word, len as usize))),
        }
    }

    fn read_way(&mut self, from: &[Bit], ways: &[(Way, TyId)], at: Span) -> Done<Word> {
        let Some(((way, ty), rest)) = ways.split_first() else { return Ok(from.to_vec().into()) };
        let width = self.width(*ty);
        match way {
            Way::Known(start) => self.read_way(&from[*start..start + width], rest, at),
            Way::Secret(index, len) => {
                let element = self.select_element(from, width, *len, index, at)?;
                self.read_way(&element, rest, at)
            }
        }
    }

    /// Writes a value under a condition.
    pub(super) fn write_way(
        &mut self,
        to: &mut [Bit],
        ways: &[(Way, TyId)],
        value: &[Bit],
        condition: Bit,
        at: Span,
    ) -> Done<()> {
        let Some(((way, ty), rest)) = ways.split_first() else {
            for (old, &new) in to.iter_mut().zip(value) {
                if *old != new {
                    *old = self.gates.select_bit(condition, new, *old);
                }
            }
            return Ok(());
        };
        let width = self.width(*ty);
        match way {
            Way::Known(start) => {
                self.write_way(&mut to[*start..start + width], rest, value, condition, at)
            }
            Way::Secret(index, len) => {
                let places = self.gates.one_hot_under(condition, index, *len);
                if rest.is_empty() && self.write_wide(to, value, &places, at)? {
                    return Ok(());
                }
                self.room(3 * to.len() as u64, at)?;
                for (place, &here) in places.iter().enumerate() {
                    self.write_way(&mut to[place * width..][..width], rest, value, here, at)?;
                }
                Ok(())
            }
        }
    }

    /// Returns an element at a secret place; zeros beyond the array.
    pub(super) fn select_element(
        &mut self,
        array: &[Bit],
        width: usize,
        len: usize,
        index: &[Bit],
        at: Span,
    ) -> Done<Word> {
        if len == 0 || width == 0 {
            return Ok(Word::zero(width));
        }
        let (array, index) = self.read_wide(array, width, index, at)?;
        self.room(3 * array.width() as u64, at)?;
        let elements: Vec<Word> =
            array.chunks(width).map(|element| element.to_vec().into()).collect();
        Ok(self.gates.read(&elements, index))
    }
}

/// Returns the number that a word is, if all its bits are constants; `u128::MAX` if it is too
/// large.
pub(super) fn constant(word: &[Bit]) -> Option<u128> {
    let mut value = 0u128;
    for (place, bit) in word.iter().enumerate() {
        match (bit.as_constant()?, place) {
            (true, 128..) => value = u128::MAX,
            (true, place) => value |= 1 << place,
            (false, _) => {}
        }
    }
    Some(value)
}
