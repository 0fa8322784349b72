//! What depends on nothing but the counter of a repeated loop: in each round it is a constant,
//! which is computed here for all rounds.

use std::rc::Rc;

use super::body::Counter;
use super::places::constant;
use super::state::Frame;
use super::{Done, Failed, Machine};
use crate::ast::BinaryOp;
use crate::tir::{Expr, Kind, Local};
use crate::ty::{Shape, TyId};
use crate::value::Value;
use crate::walk::walk;

use symbolon_circuit::builder::Word;

/// An unsigned number that depends on the counter.
pub(super) enum Number {
    Counter(u32),
    Fixed(u64),
    /// Cut to this many bits.
    Cut(Box<Number>, u32),
    Two(BinaryOp, Box<Number>, Box<Number>, u32),
}

/// Returns the low bits of a number.
fn low(value: u128, bits: u32) -> u64 {
    (value & ((1u128 << bits) - 1)) as u64
}

impl Number {
    /// Returns its value; `None` if that is not defined by what is written here.
    pub(super) fn value(&self, counter: u64) -> Option<u64> {
        let (op, a, b, bits) = match self {
            Number::Counter(bits) => return Some(low(counter.into(), *bits)),
            Number::Fixed(value) => return Some(*value),
            Number::Cut(value, bits) => return Some(low(value.value(counter)?.into(), *bits)),
            Number::Two(op, a, b, bits) => (op, a.value(counter)?, b.value(counter)?, *bits),
        };
        let (wide, by) = (u128::from(a), u128::from(b));
        let value = match op {
            BinaryOp::Add => wide + by,
            BinaryOp::Sub => wide + (1u128 << bits) - by,
            BinaryOp::Mul => wide * by,
            BinaryOp::Div => wide.checked_div(by)?,
            BinaryOp::Rem => wide.checked_rem(by)?,
            BinaryOp::And => wide & by,
            BinaryOp::Or => wide | by,
            BinaryOp::Xor => wide ^ by,
            BinaryOp::Shl if b < u64::from(bits) => wide << b,
            BinaryOp::Shr if b < u64::from(bits) => wide >> b,
            BinaryOp::Shl | BinaryOp::Shr => 0,
            BinaryOp::Eq => u128::from(a == b),
            BinaryOp::Ne => u128::from(a != b),
            BinaryOp::Lt => u128::from(a < b),
            BinaryOp::Le => u128::from(a <= b),
            BinaryOp::Gt => u128::from(a > b),
            BinaryOp::Ge => u128::from(a >= b),
            BinaryOp::AndAlso | BinaryOp::OrElse => return None,
        };
        Some(low(value, bits))
    }
}

/// Returns whether an expression reads a variable.
pub(super) fn reads(expr: &Expr, local: Local) -> bool {
    let mut found = false;
    walk(expr, 1, &mut |expr, _| {
        found |= matches!(expr.kind, Kind::Local(other) if other == local)
    });
    found
}

impl Machine<'_, '_, '_> {
    /// Returns the value of an expression in the body of a repeated loop if the counter decides it,
    /// and it is the same in all rounds. If it is not, the loop can only be a repeat up to the
    /// first round with another value.
    ///
    /// # Errors
    /// When rounds differ.
    pub(super) fn uniform(&mut self, frame: &mut Frame, expr: &Expr) -> Done<Option<Word>> {
        let Some(counter) = counter_of(frame, expr) else { return Ok(None) };
        let mut first: Option<Word> = None;
        let number = self.number(frame, expr, counter)?;
        for round in 0..counter.bodies {
            let word = self.in_round(frame, expr, counter, round, number.as_ref())?;
            match &first {
                None => first = Some(word),
                Some(first) if *first == word => {}
                Some(_) => {
                    if let Some(outer) = &mut frame.outer {
                        outer.differs = Some(round);
                    }
                    return Err(Failed);
                }
            }
        }
        Ok(first)
    }

    /// Returns the place that an index has in each round, if the counter decides it, of an array of
    /// this many elements.
    ///
    /// # Errors
    /// When it is beyond the array in a round, which is an error where the rounds are written out.
    pub(super) fn places(
        &mut self,
        frame: &mut Frame,
        index: &Expr,
        len: u64,
    ) -> Done<Option<Rc<[u32]>>> {
        if !index.constant {
            return Ok(None);
        }
        let Some(counter) = frame.outer.as_ref().and_then(|outer| outer.counter) else {
            return Ok(None);
        };
        let rounds = if reads(index, counter.local) { counter.bodies } else { 1 };
        let number = self.number(frame, index, counter)?;
        let mut places = Vec::with_capacity(counter.bodies as usize);
        for round in 0..rounds {
            let place = match &number {
                Some(number) => {
                    self.lower.spent.steps += u64::from(round.is_multiple_of(16));
                    number.value(counter.at(round)).map(u128::from)
                }
                None => None,
            };
            let place = match place {
                Some(place) => place,
                None => {
                    let word = self.in_round(frame, index, counter, round, None)?;
                    constant(&word).ok_or(Failed)?
                }
            };
            if place >= u128::from(len) {
                return Err(Failed);
            }
            places.push(u32::try_from(place).map_err(|_| Failed)?);
        }
        let first = *places.first().ok_or(Failed)?;
        places.resize(counter.bodies as usize, first);
        self.step(index.span)?;
        Ok(Some(places.into()))
    }

    /// Returns the constant that an expression is in a round.
    fn in_round(
        &mut self,
        frame: &mut Frame,
        expr: &Expr,
        counter: Counter,
        round: u32,
        number: Option<&Number>,
    ) -> Done<Word> {
        if let Some(value) = number.and_then(|number| number.value(counter.at(round))) {
            self.lower.spent.steps += u64::from(round.is_multiple_of(16));
            let ty = frame.instance.types[expr.ty as usize];
            return Ok(Word::constant(self.width(ty), value.into()));
        }
        let ty = super::local_type(&frame.instance, counter.local);
        let value = Value::Int(counter.value(round).into());
        let word = Rc::new(self.constant_word(ty, &value));
        let before = frame.replace(counter.local, word);
        let word = self.eval(frame, expr);
        frame.replace(counter.local, before);
        let word = word?;
        let is_known = word.iter().all(|bit| bit.as_constant().is_some());
        if is_known { Ok(word) } else { Err(Failed) }
    }

    /// Returns an expression in a form that is quickly computed; `None` for what has none.
    pub(super) fn number(
        &mut self,
        frame: &mut Frame,
        expr: &Expr,
        counter: Counter,
    ) -> Done<Option<Number>> {
        let ty = frame.instance.types[expr.ty as usize];
        let bits = match self.unsigned(ty) {
            Some(bits) => bits,
            None => return Ok(None),
        };
        if !reads(expr, counter.local) {
            let word = self.eval(frame, expr)?;
            let value = constant(&word).ok_or(Failed)?;
            return Ok(u64::try_from(value).ok().map(Number::Fixed));
        }
        Ok(match &expr.kind {
            Kind::Local(_) => Some(Number::Counter(bits)),
            Kind::Cast(value) => {
                let value = self.number(frame, value, counter)?;
                value.map(|value| Number::Cut(value.into(), bits))
            }
            Kind::Binary(op, a, b) => {
                let (a, b) = (self.number(frame, a, counter)?, self.number(frame, b, counter)?);
                match (a, b) {
                    (Some(a), Some(b)) => Some(Number::Two(*op, a.into(), b.into(), bits)),
                    _ => None,
                }
            }
            Kind::Block(stmts, Some(tail)) if stmts.is_empty() => {
                self.number(frame, tail, counter)?
            }
            _ => None,
        })
    }

    /// Returns the width of a Boolean or an unsigned integer of at most 64 bits.
    fn unsigned(&self, ty: TyId) -> Option<u32> {
        match *self.lower.tir.shapes.shape(ty) {
            Shape::Bool => Some(1),
            Shape::Int(false, bits @ 1..=64) => Some(bits),
            _ => None,
        }
    }
}

/// Returns the counter of a repeated loop, if a constant expression depends on it.
fn counter_of(frame: &Frame, expr: &Expr) -> Option<Counter> {
    let counter = frame.outer.as_ref()?.counter?;
    (expr.constant && reads(expr, counter.local)).then_some(counter)
}
