//! Choices, blocks and loops.

use std::rc::Rc;

use num_bigint::Sign;
use symbolon_circuit::builder::{Bit, Word};

use super::pace::Pace;
use super::places::collect;
use super::repeat::{Body, Most, Rounds};
use super::{Done, Failed, Frame, Machine};
use crate::interp::decode;
use crate::source::Span;
use crate::tir::{Arm, Expr, Kind, Local, Over, Pattern, PatternKind, Stmt};
use crate::ty::{Shape, TyId};
use crate::value::Value;

/// A loop whose rounds together make more gates than this stays a loop if it can.
const MANY: u64 = 1 << 20;

/// What a choice may change.
struct State {
    locals: Vec<Rc<Word>>,
    returned: Bit,
    result: Option<Word>,
    broken: Bit,
    continued: Bit,
}

impl Machine<'_, '_, '_> {
    /// Returns whether the function or the round of the loop has been left.
    pub(super) fn left(&mut self, frame: &Frame) -> Bit {
        let left = self.gates.or_bit(frame.returned, frame.broken);
        self.gates.or_bit(left, frame.continued)
    }

    fn save(frame: &Frame, assigned: &[Local]) -> State {
        State {
            locals: assigned.iter().map(|&l| frame.locals[l as usize].clone()).collect(),
            returned: frame.returned,
            result: frame.result.clone(),
            broken: frame.broken,
            continued: frame.continued,
        }
    }

    fn restore(frame: &mut Frame, assigned: &[Local], state: State) {
        for (&local, word) in assigned.iter().zip(state.locals) {
            frame.locals[local as usize] = word;
        }
        frame.returned = state.returned;
        frame.result = state.result;
        frame.broken = state.broken;
        frame.continued = state.continued;
    }

    /// Writes one side if the choice is known; both sides, and selections, if it is secret.
    fn branch(
        &mut self,
        frame: &mut Frame,
        choice: Bit,
        assigned: &[Local],
        then: impl FnOnce(&mut Self, &mut Frame) -> Done<Word>,
        otherwise: impl FnOnce(&mut Self, &mut Frame) -> Done<Word>,
    ) -> Done<Word> {
        match choice.as_constant() {
            Some(true) => return then(self, frame),
            Some(false) => return otherwise(self, frame),
            None => {}
        }
        // What is saved, put back and compared.
        self.lower.steps += assigned.len() as u64 / 8;
        let before = Self::save(frame, assigned);
        self.path.push((choice, None));
        let first = then(self, frame)?;
        self.path.pop();
        let after = Self::save(frame, assigned);
        Self::restore(frame, assigned, before);
        self.path.push((!choice, None));
        let second = otherwise(self, frame)?;
        self.path.pop();
        for (&local, word) in assigned.iter().zip(&after.locals) {
            let place = local as usize;
            if !Rc::ptr_eq(word, &frame.locals[place]) {
                let other = frame.locals[place].clone();
                frame.locals[place] = Rc::new(self.choose(choice, word, &other));
            }
        }
        // A result counts only where its flag is set.
        frame.result = match (after.result, frame.result.take()) {
            (Some(a), Some(b)) if after.returned == Bit::ZERO => Some({
                drop(a);
                b
            }),
            (Some(a), Some(_)) if frame.returned == Bit::ZERO => Some(a),
            (Some(a), Some(b)) => Some(self.choose(choice, &a, &b)),
            (a, b) => a.or(b),
        };
        let flags = [
            (after.returned, frame.returned),
            (after.broken, frame.broken),
            (after.continued, frame.continued),
        ];
        let [returned, broken, continued] = flags.map(|(a, b)| self.choose(choice, &[a], &[b])[0]);
        (frame.returned, frame.broken, frame.continued) = (returned, broken, continued);
        Ok(self.choose(choice, &first, &second))
    }

    pub(super) fn control(&mut self, frame: &mut Frame, expr: &Expr, ty: TyId) -> Done<Word> {
        match &expr.kind {
            Kind::If(condition, then, otherwise) => {
                let choice = self.eval(frame, condition)?[0];
                self.choices += u64::from(choice.as_constant().is_some());
                let assigned = self.assigned(expr);
                self.branch(
                    frame,
                    choice,
                    &assigned,
                    |this, frame| this.eval(frame, then),
                    |this, frame| match otherwise {
                        Some(otherwise) => this.eval(frame, otherwise),
                        None => Ok(Word::zero(0)),
                    },
                )
            }
            Kind::Match(value, arms) => {
                let value = self.eval(frame, value)?;
                let assigned = self.assigned(expr);
                self.arms(frame, arms, &value, &assigned)
            }
            Kind::Block(stmts, tail) => {
                let assigned = self.assigned(expr);
                self.block(frame, stmts, tail.as_deref(), ty, &assigned)
            }
            Kind::Comprehension(pattern, over, body) => {
                let mut bits = Vec::with_capacity(self.width(ty));
                let over = self.over(frame, over, frame.instance.types[pattern.ty as usize])?;
                let body = Body { pattern, expr: body, gives: true };
                // What has to be a constant stays one.
                self.rounds(frame, &over, body, !expr.constant, &mut bits)?;
                Ok(bits.into())
            }
            _ => Err(Failed),
        }
    }

    fn arms(
        &mut self,
        frame: &mut Frame,
        arms: &[Arm],
        value: &Word,
        assigned: &[Local],
    ) -> Done<Word> {
        let Some((arm, rest)) = arms.split_first() else { return Err(Failed) };
        let fits = self.bind(frame, &arm.pattern, value)?;
        if rest.is_empty() && arm.guard.is_none() {
            return self.eval(frame, &arm.body);
        }
        let choice = match &arm.guard {
            None => fits,
            Some(guard) => self.branch(
                frame,
                fits,
                assigned,
                |this, frame| this.eval(frame, guard),
                |_, _| Ok(Word::zero(1)),
            )?[0],
        };
        self.choices += u64::from(choice.as_constant().is_some());
        self.branch(
            frame,
            choice,
            assigned,
            |this, frame| this.eval(frame, &arm.body),
            |this, frame| {
                this.deeper(arm.body.span, |this| this.arms(frame, rest, value, assigned))
            },
        )
    }

    /// Returns whether a value matches a pattern, and binds the pattern's names.
    pub(super) fn bind(&mut self, frame: &mut Frame, pattern: &Pattern, word: &[Bit]) -> Done<Bit> {
        let ty = frame.instance.types[pattern.ty as usize];
        match &pattern.kind {
            PatternKind::Any => Ok(Bit::ONE),
            PatternKind::Bind(local) => {
                self.copied(word.len());
                frame.locals[*local as usize] = Rc::new(word.to_vec().into());
                Ok(Bit::ONE)
            }
            PatternKind::Range(low, high) => Ok(self.in_range(ty, low, high, word)),
            PatternKind::Tuple(parts) => {
                let mut fits = Bit::ONE;
                for (place, part) in parts.iter().enumerate() {
                    let (start, part_ty) = self.lower.tir.shapes.part(ty, place);
                    let range = start..start + self.width(part_ty);
                    let part = self.bind(frame, part, &word[range])?;
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
                    let part = self.bind(frame, part, &word[start..start + width])?;
                    fits = self.gates.and_bit(fits, part);
                    start += width;
                }
                Ok(fits)
            }
            PatternKind::Or(patterns) => self.bind_any(frame, patterns, word),
        }
    }

    fn bind_any(&mut self, frame: &mut Frame, patterns: &[Pattern], word: &[Bit]) -> Done<Bit> {
        let mut fits = Bit::ZERO;
        let mut names: Vec<Local> = Vec::new();
        for pattern in patterns {
            self.step(pattern.span)?;
            let before: Vec<Rc<Word>> =
                names.iter().map(|&local| frame.locals[local as usize].clone()).collect();
            let this = self.bind(frame, pattern, word)?;
            for (&local, before) in names.iter().zip(&before) {
                let now = frame.locals[local as usize].clone();
                self.copied(8 * now.width());
                // The first alternative that fits gives the values.
                frame.locals[local as usize] = Rc::new(self.choose(fits, before, &now));
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
        assigned: &[Local],
    ) -> Done<Word> {
        for (place, stmt) in stmts.iter().enumerate() {
            let before = self.left(frame);
            self.stmt(frame, stmt)?;
            let left = self.left(frame);
            if left == before || left == Bit::ZERO {
                continue;
            }
            let rest = &stmts[place + 1..];
            if rest.is_empty() && tail.is_none() {
                break;
            }
            let nothing = Word::zero(self.width(ty));
            return self.branch(
                frame,
                !left,
                assigned,
                |this, frame| {
                    frame.returned = Bit::ZERO;
                    frame.broken = Bit::ZERO;
                    frame.continued = Bit::ZERO;
                    let span = frame.instance.span;
                    this.deeper(span, |this| this.block(frame, rest, tail, ty, assigned))
                },
                |_, _| Ok(nothing),
            );
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
                    this.rounds(frame, over, body, !unroll, &mut Vec::new())?;
                }
                Err(bodies) => this.bodies(frame, bodies)?,
            }
            (frame.broken, frame.continued) = (Bit::ZERO, Bit::ZERO);
            Ok(Word::zero(0))
        };
        let left = self.left(frame);
        if left == Bit::ZERO {
            looped(self, frame)?;
            self.whole = whole;
            return Ok(());
        }
        // The same statement has left something before. The loop has its own flags, so the whole
        // loop is one side of that choice.
        let mut assigned = match &bodies {
            Ok(_) => self.assigned(body).to_vec(),
            Err(bodies) => bodies.iter().flat_map(|body| self.assigned(body).to_vec()).collect(),
        };
        assigned.sort_unstable();
        assigned.dedup();
        let inside = |this: &mut Self, frame: &mut Frame| {
            frame.returned = Bit::ZERO;
            (frame.broken, frame.continued) = (Bit::ZERO, Bit::ZERO);
            looped(this, frame)
        };
        self.branch(frame, !left, &assigned, inside, |_, _| Ok(Word::zero(0)))?;
        self.whole = whole;
        Ok(())
    }

    /// Writes the rounds of a loop whose bodies differ.
    fn bodies(&mut self, frame: &mut Frame, bodies: &[Expr]) -> Done<()> {
        let mut pace = Pace::new(self);
        for (place, body) in bodies.iter().enumerate() {
            if !self.round(frame, None, body, &[])? {
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
        word: &[Bit],
    ) -> Done<bool> {
        frame.continued = Bit::ZERO;
        let left = self.gates.or_bit(frame.returned, frame.broken);
        if left == Bit::ONE {
            return Ok(false);
        }
        let assigned = self.assigned(body);
        self.branch(
            frame,
            !left,
            &assigned,
            |this, frame| {
                frame.returned = Bit::ZERO;
                frame.broken = Bit::ZERO;
                if let Some(pattern) = pattern {
                    this.bind(frame, pattern, word)?;
                }
                this.eval(frame, body)?;
                frame.continued = Bit::ZERO;
                Ok(Word::zero(0))
            },
            |_, _| Ok(Word::zero(0)),
        )?;
        Ok(true)
    }

    /// Writes the rounds of a loop, as a repeat if it `may` be one; appends their values to `bits`.
    fn rounds(
        &mut self,
        frame: &mut Frame,
        (rounds, count, span): &(Rounds, u64, Span),
        body: Body<'_>,
        may: bool,
        bits: &mut Vec<Bit>,
    ) -> Done<()> {
        let (count, span) = (*count, *span);
        let element = frame.instance.types[body.pattern.ty as usize];
        let mut pace = Pace::new(self);
        let most = match self.lower.repeat_all {
            true => Most::Gates(u64::MAX, u64::MAX),
            false => Most::Calls,
        };
        let at_once =
            may && count > 1 && (self.lower.repeat_all || self.may_call(frame, body.expr));
        if at_once && self.repeat(frame, rounds, (0, count), (body, most), bits)? {
            return Ok(());
        }
        let start = self.gates.wire_count();
        let mut asked = [!may; 2];
        for place in 0..count {
            self.step(span)?;
            let before =
                (self.gates.wire_count(), self.gates.and_count(), self.gates.lookup_count());
            let word = self.element(rounds, place, element);
            if body.gives {
                self.bind(frame, body.pattern, &word)?;
                bits.extend_from_slice(&self.eval(frame, body.expr)?);
            } else if !self.round(frame, Some(body.pattern), body.expr, &word)? {
                break;
            }
            let left = count - place - 1;
            // Tries once when the second round shows that all rounds together are too large, and
            // once when the rounds so far are: by then, the first rounds no longer save gates.
            let now = self.gates.wire_count();
            let ahead = u64::from(now - before.0).saturating_mul(count) > MANY;
            let large = u64::from(now - start) > MANY;
            if place > 0 && left > 1 && (ahead && !asked[0] || large && !asked[1]) {
                asked = [true, asked[1] || large];
                let ands = self.gates.and_count() - before.1;
                let most = Most::Gates(ands, self.gates.lookup_count() - before.2);
                if self.repeat(frame, rounds, (place + 1, left), (body, most), bits)? {
                    break;
                }
            }
            self.look_ahead(&mut pace, || left, span)?;
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
