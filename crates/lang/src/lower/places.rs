//! Walks over expressions; places that are assigned to.

use std::collections::BTreeSet;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::state::{Effect, Frame, Update, Way, write_gates};
use super::{Done, Failed, Machine, local_type};
use crate::ast::BinaryOp;
use crate::diag::Code;
use crate::source::Span;
use crate::tir::{Expr, Kind, Local, Over, Pattern, PatternKind, Place, Step, Stmt};
use crate::ty::{Shape, TyId};

/// Shows every expression inside one, itself first, with the least number of times that it is
/// evaluated, at most 2.
pub(super) fn walk<'e>(expr: &'e Expr, weight: u8, see: &mut dyn FnMut(&'e Expr, u8)) {
    see(expr, weight);
    match &expr.kind {
        Kind::Int(_)
        | Kind::Fraction(_)
        | Kind::Const(_)
        | Kind::Local(_)
        | Kind::Break
        | Kind::Continue => {}
        Kind::Unary(_, a)
        | Kind::Cast(a)
        | Kind::Repeat(a)
        | Kind::Field(a, _)
        | Kind::Slice(a, _)
        | Kind::Assert(a, _)
        | Kind::Expect(a, _)
        | Kind::Return(a) => walk(a, weight, see),
        Kind::Binary(_, a, b) | Kind::Index(a, b) => {
            walk(a, weight, see);
            walk(b, weight, see);
        }
        Kind::Aggregate(parts)
        | Kind::Variant(_, parts)
        | Kind::Call(_, parts)
        | Kind::Intrinsic(_, parts) => parts.iter().for_each(|part| walk(part, weight, see)),
        Kind::If(condition, then, otherwise) => {
            walk(condition, weight, see);
            walk(then, weight, see);
            otherwise.iter().for_each(|other| walk(other, weight, see));
        }
        Kind::Match(value, arms) => {
            walk(value, weight, see);
            for arm in arms {
                arm.guard.iter().for_each(|guard| walk(guard, weight, see));
                walk(&arm.body, weight, see);
            }
        }
        Kind::Block(stmts, tail) => {
            stmts.iter().for_each(|stmt| walk_stmt(stmt, weight, see));
            tail.iter().for_each(|tail| walk(tail, weight, see));
        }
        Kind::Comprehension(_, over, body) => {
            walk_over(over, weight, see);
            walk(body, 2, see);
        }
    }
}

fn walk_over<'e>(over: &'e Over, weight: u8, see: &mut dyn FnMut(&'e Expr, u8)) {
    match over {
        Over::Range(low, high, _) => {
            walk(low, weight, see);
            walk(high, weight, see);
        }
        Over::Array(array) => walk(array, weight, see),
        Over::Rounds(rounds) => rounds.iter().for_each(|round| walk(round, weight, see)),
    }
}

fn walk_stmt<'e>(stmt: &'e Stmt, weight: u8, see: &mut dyn FnMut(&'e Expr, u8)) {
    match stmt {
        Stmt::Let(_, value) | Stmt::Expr(value) => walk(value, weight, see),
        Stmt::Assign(place, _, value) => {
            for (step, _) in &place.path {
                if let Step::Index(index) = step {
                    walk(index, weight, see);
                }
            }
            walk(value, weight, see);
        }
        Stmt::For(_, over, body, _) => {
            walk_over(over, weight, see);
            walk(body, 2, see);
        }
    }
}

/// Returns the variables that an expression changes but does not itself declare.
pub(super) fn assigned(expr: &Expr) -> Vec<Local> {
    changed(expr).difference(&bound(expr)).copied().collect()
}

/// Returns the variables that an expression changes.
pub fn changed(expr: &Expr) -> BTreeSet<Local> {
    let mut changed = BTreeSet::new();
    walk(expr, 1, &mut |expr, _| {
        if let Kind::Block(stmts, _) = &expr.kind {
            for stmt in stmts {
                if let Stmt::Assign(place, ..) = stmt {
                    changed.insert(place.local);
                }
            }
        }
    });
    changed
}

/// Returns whether an expression does more than give a value: it may change a variable, fail, or
/// leave.
pub fn has_effects(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, 1, &mut |expr, _| match &expr.kind {
        Kind::Assert(..) | Kind::Expect(..) | Kind::Call(..) => found = true,
        Kind::Return(_) | Kind::Break | Kind::Continue => found = true,
        _ => found |= changes(expr),
    });
    found
}

/// Returns whether an expression has assignments.
pub fn assigns(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, 1, &mut |expr, _| found |= changes(expr));
    found
}

/// Returns whether an expression may change a variable, or leave the function or a loop.
pub(super) fn leaves_or_assigns(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, 1, &mut |expr, _| match &expr.kind {
        Kind::Return(_) | Kind::Break | Kind::Continue => found = true,
        _ => found |= changes(expr),
    });
    found
}

fn changes(expr: &Expr) -> bool {
    let Kind::Block(stmts, _) = &expr.kind else { return false };
    stmts.iter().any(|stmt| matches!(stmt, Stmt::Assign(..)))
}

/// Collects the variables that a pattern binds.
pub(super) fn collect(pattern: &Pattern, names: &mut Vec<Local>) {
    match &pattern.kind {
        PatternKind::Bind(local) => names.push(*local),
        PatternKind::Tuple(parts) | PatternKind::Variant(_, parts) | PatternKind::Or(parts) => {
            parts.iter().for_each(|part| collect(part, names));
        }
        PatternKind::Any | PatternKind::Range(..) => {}
    }
}

/// Returns the variables that an expression declares.
pub(super) fn bound(expr: &Expr) -> BTreeSet<Local> {
    let mut bound = BTreeSet::new();
    walk(expr, 1, &mut |expr, _| match &expr.kind {
        Kind::Block(stmts, _) => {
            for stmt in stmts {
                match stmt {
                    Stmt::Let(pattern, _) => names(pattern, &mut bound),
                    Stmt::For(pattern, ..) => names(pattern, &mut bound),
                    Stmt::Assign(..) | Stmt::Expr(_) => {}
                }
            }
        }
        Kind::Match(_, arms) => arms.iter().for_each(|arm| names(&arm.pattern, &mut bound)),
        Kind::Comprehension(pattern, ..) => names(pattern, &mut bound),
        _ => {}
    });
    bound
}

fn names(pattern: &Pattern, bound: &mut BTreeSet<Local>) {
    match &pattern.kind {
        PatternKind::Bind(local) => drop(bound.insert(*local)),
        PatternKind::Tuple(parts) | PatternKind::Variant(_, parts) | PatternKind::Or(parts) => {
            parts.iter().for_each(|part| names(part, bound));
        }
        PatternKind::Any | PatternKind::Range(..) => {}
    }
}

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
            Some(at) if index.constant => {
                let message = format!("the index is {at}, the array has {len} elements");
                self.lower.error(Code::Constant, index.span, message)
            }
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
