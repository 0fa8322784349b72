//! Choices, blocks and loops.

use std::rc::Rc;

use num_bigint::Sign;
use symbolon_circuit::builder::{Bit, Joiner, Word};

use super::body::{Body, Most, Rounds};
use super::least::{least_of, stays};
use super::pace::{Beyond, Pace};
use super::state::Frame;
use super::tries::Tries;
use super::{Done, Failed, Machine};
use crate::interp::decode;
use crate::source::Span;
use crate::tir::{Expr, Kind, Local, Over, Pattern, PatternKind, Stmt};
use crate::ty::{Shape, TyId};
use crate::value::Value;
use crate::walk::collect;

impl Machine<'_, '_, '_> {
    pub(super) fn control(&mut self, frame: &mut Frame, expr: &Expr, ty: TyId) -> Done<Word> {
        match &expr.kind {
            Kind::If(..) => self.choose_if(frame, expr),
            Kind::Match(value, arms) => {
                let wants = std::mem::take(&mut self.told.wanted);
                let value = self.eval(frame, value)?;
                self.told.wanted = wants;
                self.choose_arm(frame, arms, &value)
            }
            Kind::Block(stmts, tail) => self.block(frame, stmts, tail.as_deref(), ty),
            Kind::Comprehension(pattern, over, body) => {
                let over = self.over(frame, over, frame.instance.types[pattern.ty as usize])?;
                let body = Body { pattern, expr: body, gives: true };
                if let Some(bits) = self.copies(frame, &over.0, over.1, body)? {
                    return Ok(bits.into());
                }
                let mut values = Joiner::default();
                // What has to be a constant stays one.
                self.rounds(frame, &over, body, !expr.constant, &mut values)?;
                Ok(values.finish())
            }
            _ => Err(Failed),
        }
    }

    /// Returns whether a value matches a pattern, and binds the pattern's names.
    pub(super) fn bind(&mut self, frame: &mut Frame, pattern: &Pattern, word: &Word) -> Done<Bit> {
        let ty = frame.instance.types[pattern.ty as usize];
        match &pattern.kind {
            PatternKind::Any => Ok(Bit::ONE),
            PatternKind::Bind(local) => {
                self.copied(word.width());
                frame.declare(*local, word.clone());
                Ok(Bit::ONE)
            }
            PatternKind::Range(low, high) => Ok(self.in_range(ty, low, high, word)),
            PatternKind::Tuple(parts) => {
                let mut fits = Bit::ONE;
                for (place, part) in parts.iter().enumerate() {
                    let (start, part_ty) = self.lower.tir.shapes.part(ty, place);
                    let range = start..start + self.width(part_ty);
                    let part = self.bind(frame, part, &word.slice(range))?;
                    fits = self.gates.and_bit(fits, part);
                }
                Ok(fits)
            }
            PatternKind::Variant(variant, parts) => {
                let tag = self.lower.tir.shapes.tag_bits(ty);
                let wanted = Word::constant(tag, *variant as u128);
                let mut fits = self.gates.eq(&word[..tag], &wanted);
                let mut start = tag;
                for part in parts {
                    let width = self.width(frame.instance.types[part.ty as usize]);
                    let part = self.bind(frame, part, &word.slice(start..start + width))?;
                    fits = self.gates.and_bit(fits, part);
                    start += width;
                }
                Ok(fits)
            }
            PatternKind::Or(patterns) => self.bind_any(frame, patterns, word),
        }
    }

    fn bind_any(&mut self, frame: &mut Frame, patterns: &[Pattern], word: &Word) -> Done<Bit> {
        let mut fits = Bit::ZERO;
        let mut names: Vec<Local> = Vec::new();
        for pattern in patterns {
            self.step(pattern.span)?;
            let before: Vec<Rc<Word>> =
                names.iter().map(|&local| frame.word(local).clone()).collect();
            let this = self.bind(frame, pattern, word)?;
            for (&local, before) in names.iter().zip(&before) {
                let now = frame.word(local).clone();
                self.copied(8 * now.width());
                // The first alternative that fits gives the values.
                frame.declare(local, self.choose(fits, before, &now));
            }
            if names.is_empty() {
                collect(pattern, &mut names);
            }
            fits = self.gates.or_bit(fits, this);
        }
        Ok(fits)
    }

    fn block(
        &mut self,
        frame: &mut Frame,
        stmts: &[Stmt],
        tail: Option<&Expr>,
        ty: TyId,
    ) -> Done<Word> {
        for (place, stmt) in stmts.iter().enumerate() {
            let before = self.left(frame);
            self.stmt(frame, stmt)?;
            let left = self.left(frame);
            if left == before || left == Bit::ZERO {
                continue;
            }
            let rest = &stmts[place + 1..];
            if left != Bit::ONE && (!rest.is_empty() || tail.is_some()) {
                let span = frame.instance.span;
                self.listable(self.width(ty), span)?;
                return self.under(frame, !left, |this, frame| {
                    this.deeper(span, |this| this.block(frame, rest, tail, ty))
                });
            }
            return Ok(Word::zero(self.width(ty)));
        }
        match tail {
            Some(tail) => self.eval(frame, tail),
            None => Ok(Word::zero(self.width(ty))),
        }
    }

    fn stmt(&mut self, frame: &mut Frame, stmt: &Stmt) -> Done<()> {
        match stmt {
            Stmt::Let(pattern, value) => {
                let value = self.eval(frame, value)?;
                self.bind(frame, pattern, &value)?;
                Ok(())
            }
            Stmt::Expr(value) => self.eval(frame, value).map(drop),
            Stmt::Assign(place, op, value) => {
                let before = self.account(place.span);
                self.assign(frame, place, *op, value)?;
                self.account(before);
                Ok(())
            }
            Stmt::For(pattern, over, body, unroll) => {
                self.for_loop(frame, (pattern, body), over, *unroll)
            }
        }
    }

    fn for_loop(
        &mut self,
        frame: &mut Frame,
        (pattern, body): (&Pattern, &Expr),
        over: &Over,
        unroll: bool,
    ) -> Done<()> {
        let whole = self.whole;
        self.whole |= unroll;
        // What the loop iterates over is outside of it: a `break` there leaves the outer loop.
        let bodies = match over {
            Over::Rounds(bodies) => Err(bodies),
            _ => Ok(self.over(frame, over, frame.instance.types[pattern.ty as usize])?),
        };
        let looped = |this: &mut Self, frame: &mut Frame| {
            match &bodies {
                Ok(over) => {
                    let body = Body { pattern, expr: body, gives: false };
                    this.rounds(frame, over, body, !unroll, &mut Joiner::default())?;
                }
                Err(bodies) => this.bodies(frame, bodies)?,
            }
            (frame.left.broken, frame.left.continued) = (Bit::ZERO, Bit::ZERO);
            Ok(Word::zero(0))
        };
        // If the same statement has left something before, the loop has flags of its own.
        let left = self.left(frame);
        self.under(frame, !left, looped)?;
        self.whole = whole;
        Ok(())
    }

    /// Writes the rounds of a loop whose bodies differ.
    fn bodies(&mut self, frame: &mut Frame, bodies: &[Expr]) -> Done<()> {
        let mut pace = Pace::new(self);
        for (place, body) in bodies.iter().enumerate() {
            if !self.round(frame, None, body, &Word::zero(0))? {
                break;
            }
            let left = (bodies.len() - place - 1) as u64;
            self.look_ahead(&mut pace, || left, body.span)?;
        }
        Ok(())
    }

    /// Writes one round of a loop; returns false once the loop is certainly left.
    fn round(
        &mut self,
        frame: &mut Frame,
        pattern: Option<&Pattern>,
        body: &Expr,
        word: &Word,
    ) -> Done<bool> {
        frame.left.continued = Bit::ZERO;
        let left = self.left(frame);
        if left == Bit::ONE {
            return Ok(false);
        }
        self.under(frame, !left, |this, frame| {
            if let Some(pattern) = pattern {
                this.bind(frame, pattern, word)?;
            }
            this.eval(frame, body)?;
            frame.left.continued = Bit::ZERO;
            Ok(Word::zero(0))
        })?;
        Ok(true)
    }

    /// Writes the rounds of a loop, as a repeat if it `may` be one; appends their values to
    /// `values`.
    fn rounds(
        &mut self,
        frame: &mut Frame,
        (rounds, count, span): &(Rounds, u64, Span),
        body: Body<'_>,
        may: bool,
        values: &mut Joiner,
    ) -> Done<()> {
        let (count, span) = (*count, *span);
        let element = frame.instance.types[body.pattern.ty as usize];
        let mut pace = Pace::new(self);
        // Asked before the first round, and again if rounds have other constants than those before.
        let most = match self.lower.repeats.all {
            true => Most::Gates(u64::MAX, u64::MAX),
            false => Most::Calls,
        };
        let mut at_once = may && (self.lower.repeats.all || self.may_call(frame, body.expr));
        let mut tries = Tries::new(self.made(), may);
        let mut place = 0;
        let mut least = None;
        while place < count {
            if at_once {
                let at = (place, count - place);
                let done = self.repeat(frame, rounds, at, (body, most), values)?;
                place += done.rounds;
                at_once = done.rounds + done.alike > 0;
                if done.rounds > 0 {
                    continue;
                }
            }
            self.step(span)?;
            let before = self.made();
            let word = self.element(rounds, place, element);
            if body.gives {
                self.bind(frame, body.pattern, &word)?;
                values.push(&self.eval(frame, body.expr)?);
                self.listable(values.listed_bits(), span)?;
            } else if !self.round(frame, Some(body.pattern), body.expr, &word)? {
                break;
            }
            place += 1;
            let left = count - place;
            let ahead = self.ahead(&mut pace, || left);
            let most = match (tries.now(before, self.made(), (place, left)), ahead) {
                // As a repeat it may fit, even if its rounds share gates that a body cannot.
                (_, Some(_)) if tries.last() => Some(Most::Gates(u64::MAX, u64::MAX)),
                (most, _) => most,
            };
            if let Some(most) = most {
                let done = self.repeat(frame, rounds, (place, left), (body, most), values)?;
                place += done.rounds;
                tries.done(self.made(), &done, place);
                self.skip(&mut pace);
                if done.rounds > 0 {
                    continue;
                }
            }
            if let Some(Beyond { wires, far: true }) = ahead {
                return self.beyond(wires, span);
            }
            // What is not a repeat by now is written out, however its rounds differ.
            if tries.is_over() && least.is_none() {
                let rounds = if stays(body.expr) { 1 + least_of(body.expr) } else { 0 };
                least = Some(rounds);
                self.steps_for(left.saturating_mul(rounds), span)?;
            }
        }
        Ok(())
    }

    /// Returns what a loop iterates over, how often, and the place that says so.
    fn over(&mut self, frame: &mut Frame, over: &Over, element: TyId) -> Done<(Rounds, u64, Span)> {
        match over {
            Over::Range(low, high, inclusive) => {
                let mut bounds = Vec::new();
                for bound in [low, high] {
                    let word = self.eval(frame, bound)?;
                    // Unknown if the counter of a repeated loop is part of it.
                    let bits: Option<Vec<bool>> =
                        word.iter().map(|bit| bit.as_constant()).collect();
                    match decode(&self.lower.tir.shapes, element, &bits.ok_or(Failed)?) {
                        Value::Int(value) => bounds.push(value),
                        _ => return Err(Failed),
                    }
                }
                let (Some(end), Some(start)) = (bounds.pop(), bounds.pop()) else {
                    return Err(Failed);
                };
                let count = end + i32::from(*inclusive) - &start;
                let count = match count.sign() {
                    Sign::Plus => u64::try_from(&count).unwrap_or(u64::MAX),
                    _ => 0,
                };
                Ok((Rounds::Range(start), count, low.span.to(high.span)))
            }
            Over::Array(array) => {
                let ty = frame.instance.types[array.ty as usize];
                let word = self.eval(frame, array)?;
                let Shape::Array(_, len) = *self.lower.tir.shapes.shape(ty) else {
                    return Err(Failed);
                };
                Ok((Rounds::Array(word, self.width(element)), len, array.span))
            }
            Over::Rounds(_) => Err(Failed),
        }
    }

    /// Returns the element of a round.
    fn element(&self, rounds: &Rounds, place: u64, element: TyId) -> Word {
        match rounds {
            Rounds::Range(low) => self.constant_word(element, &Value::Int(low + place)),
            Rounds::Array(word, width) => {
                let start = place as usize * width;
                word.slice(start..start + width)
            }
        }
    }
}
