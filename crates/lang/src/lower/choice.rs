//! Choices: `if` with its `else if`s, and `match`. What their arms do is selected by `merge`.

use std::collections::HashSet;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::exclude::excluding;
use super::merge::Outcome;
use super::places::constant;
use super::state::{Frame, Left};
use super::{Done, Failed, Machine};
use crate::ast::BinaryOp;
use crate::tir::{Arm, Expr, Kind, Local, PatternKind};
use crate::ty::Shape;
use crate::value::Value;
use crate::walk::leaves_or_assigns;

/// What is left of a choice.
#[derive(Clone, Copy)]
enum Rest<'e> {
    /// An `if` with its `else`.
    If(&'e Expr),
    /// The arms of a `match` from this one on.
    Arms(&'e [Arm], usize),
    /// What is done if nothing before was.
    Last(Part<'e>),
}

/// What an arm does.
#[derive(Clone, Copy)]
enum Part<'e> {
    Nothing,
    Expr(&'e Expr),
    /// A choice of its own.
    Arms(&'e [Arm], usize),
}

/// The numbers of a word of at most this many bits are decoded together.
const MOST_DECODED: usize = 8;

/// What is known of the arms of a `match` before they are written.
#[derive(Clone, Copy, Default)]
struct Known<'a> {
    /// Whether the pattern excludes all before; if it is empty, none does.
    excludes: &'a [bool],
    /// Whether the pattern fits, where that has been computed.
    fits: &'a [Option<Bit>],
}

/// Returns the variable that an expression is.
fn variable(expr: &Expr) -> Option<Local> {
    match &expr.kind {
        Kind::Local(local) => Some(*local),
        Kind::Block(stmts, Some(tail)) if stmts.is_empty() => variable(tail),
        _ => None,
    }
}

/// Returns whether the value of an expression is that of a choice.
fn is_choice(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::If(..) | Kind::Match(..) => true,
        Kind::Block(stmts, Some(tail)) if stmts.is_empty() => is_choice(tail),
        _ => false,
    }
}

impl Part<'_> {
    fn is_choice(self) -> bool {
        match self {
            Part::Nothing => false,
            Part::Expr(expr) => is_choice(expr),
            Part::Arms(..) => true,
        }
    }
}

impl Machine<'_, '_, '_> {
    /// Writes an `if`.
    pub(super) fn choose_if(&mut self, frame: &mut Frame, expr: &Expr) -> Done<Word> {
        if let Some(value) = self.choose_operand(frame, expr)? {
            return Ok(value);
        }
        if let Some(value) = self.choose_arguments(frame, expr)? {
            return Ok(value);
        }
        self.choose_part(frame, Rest::If(expr), &Word::default(), Known::default())
    }

    /// Writes an `if` that compares two variables and gives one of them, without counting on the
    /// order in which they are compared.
    fn choose_operand(&mut self, frame: &mut Frame, expr: &Expr) -> Done<Option<Word>> {
        let Kind::If(condition, then, Some(otherwise)) = &expr.kind else { return Ok(None) };
        let Kind::Binary(op, a, b) = &condition.kind else { return Ok(None) };
        let (Some(a), Some(b)) = (variable(a), variable(b)) else { return Ok(None) };
        let then_smaller = match op {
            BinaryOp::Lt | BinaryOp::Le => a,
            BinaryOp::Gt | BinaryOp::Ge => b,
            _ => return Ok(None),
        };
        let larger = match (variable(then), variable(otherwise)) {
            (Some(then), Some(other)) if (then, other) == (a, b) || (then, other) == (b, a) => {
                then != then_smaller
            }
            _ => return Ok(None),
        };
        if a == b {
            return Ok(None);
        }
        let ty = frame.instance.types[expr.ty as usize];
        let (a, b) = (self.local(frame, a)?, self.local(frame, b)?);
        self.binary_room(BinaryOp::Lt, ty, &a, &b, expr.span)?;
        let value = self.extremum(ty, &a, &b, larger);
        if let Some(value) = &value
            && std::mem::take(&mut self.told.wanted)
        {
            let (choice, first, second) = self.ordered(ty, (&a, &b), larger);
            let arms = [(choice, first.clone()), (!choice, second.clone())];
            self.told.values = Some((value.clone(), self.under_conditions(arms)));
        }
        Ok(value)
    }

    /// Writes a `match`.
    pub(super) fn choose_arm(
        &mut self,
        frame: &mut Frame,
        arms: &[Arm],
        value: &Word,
    ) -> Done<Word> {
        if value.iter().all(|bit| bit.as_constant().is_some()) {
            return self.choose_part(frame, Rest::Arms(arms, 0), value, Known::default());
        }
        let key = arms[0].body.id;
        let excludes = match self.lower.facts.excludes.get(&key) {
            Some(known) => known.clone(),
            None => {
                let found: Rc<[bool]> =
                    excluding(&self.lower.tir.shapes, &frame.instance.types, arms).into();
                self.lower.spent.steps += arms.len() as u64;
                self.lower.facts.excludes.insert(key, found.clone());
                found
            }
        };
        let fits = self.decoded(frame, arms, value);
        let known = Known { excludes: &excludes, fits: &fits };
        self.choose_part(frame, Rest::Arms(arms, 0), value, known)
    }

    /// Returns of each arm whether its number fits. Empty unless the arms name all numbers of a
    /// short word, or all but one: then decoding it takes fewer gates than comparisons.
    fn decoded(&mut self, frame: &Frame, arms: &[Arm], value: &Word) -> Vec<Option<Bit>> {
        let ty = frame.instance.types[arms[0].pattern.ty as usize];
        let is_short = (2..=MOST_DECODED).contains(&value.width());
        if !is_short || !matches!(self.shape(ty), Shape::Int(..)) {
            return Vec::new();
        }
        let number = |arm: &Arm| match &arm.pattern.kind {
            PatternKind::Range(low, high) if low == high => {
                constant(&self.constant_word(ty, &Value::Int(low.clone())))
            }
            _ => None,
        };
        let numbers: Vec<Option<u128>> = arms.iter().map(number).collect();
        let named: HashSet<u128> = numbers.iter().flatten().copied().collect();
        if named.len() + 1 < 1 << value.width() {
            return Vec::new();
        }
        let places = self.gates.decode(value);
        numbers.iter().map(|number| number.map(|number| places[number as usize])).collect()
    }

    /// Writes a choice.
    fn choose_part(
        &mut self,
        frame: &mut Frame,
        mut rest: Rest<'_>,
        value: &Word,
        known: Known<'_>,
    ) -> Done<Word> {
        let wants_values = std::mem::take(&mut self.told.wanted);
        let excludes = known.excludes;
        let mark = self.path.len();
        // If each arm excludes the others, its condition alone says that it is taken.
        let disjoint = !excludes.is_empty() && excludes.iter().all(|&excludes| excludes);
        let mut none = Bit::ONE;
        let mut arms: Vec<Outcome> = Vec::new();
        // Only the first test may leave something.
        let mut before = frame.left.clone();
        loop {
            let (condition, part, next) = self.test(frame, rest, value, known.fits)?;
            if arms.is_empty() {
                before = frame.left.clone();
            }
            let excludes = arms.is_empty()
                || match rest {
                    Rest::Arms(_, place) => excludes.get(place).copied().unwrap_or(false),
                    _ => false,
                };
            match condition.as_constant() {
                Some(true) if arms.is_empty() => {
                    self.told.wanted = wants_values && part.is_choice();
                    return self.part(frame, part, value);
                }
                Some(false) => {
                    rest = next.ok_or(Failed)?;
                    continue;
                }
                _ => {}
            }
            let is_last = condition == Bit::ONE;
            let reached = if disjoint && is_last { none } else { condition };
            self.path.push((reached, None));
            frame.enter();
            self.told.wanted = part.is_choice();
            let value = self.part(frame, part, value)?;
            self.told.wanted = false;
            let values = self.told.values.take().filter(|told| part.is_choice() && told.0 == value);
            let changes = self.leave(frame)?;
            self.path.pop();
            let left = std::mem::replace(&mut frame.left, before.clone());
            let (excludes, values) = (excludes && !is_last, values.map(|told| told.1));
            arms.push(Outcome { condition, excludes, changes, left, value, values });
            if is_last {
                break;
            }
            if disjoint {
                none = self.gates.xor_bit(none, condition);
            } else {
                self.path.push((!condition, None));
            }
            rest = next.ok_or(Failed)?;
        }
        self.path.truncate(mark);
        self.merge(frame, arms, wants_values)
    }

    /// Returns the condition of the next arm, the arm, and what comes after it. `known` says of
    /// each arm of a `match` whether its pattern fits, where that has been computed.
    fn test<'e>(
        &mut self,
        frame: &mut Frame,
        rest: Rest<'e>,
        value: &Word,
        known: &[Option<Bit>],
    ) -> Done<(Bit, Part<'e>, Option<Rest<'e>>)> {
        match rest {
            Rest::Last(part) => Ok((Bit::ONE, part, None)),
            Rest::If(expr) => {
                let Kind::If(condition, then, otherwise) = &expr.kind else { return Err(Failed) };
                let choice = self.choice(frame, condition)?;
                let next = match otherwise.as_deref() {
                    None => Rest::Last(Part::Nothing),
                    Some(other) => match &other.kind {
                        // What a condition changes, it changes only if it is asked.
                        Kind::If(condition, ..) if !leaves_or_assigns(condition) => Rest::If(other),
                        _ => Rest::Last(Part::Expr(other)),
                    },
                };
                Ok((choice, Part::Expr(then), Some(next)))
            }
            Rest::Arms(arms, place) => {
                let Arm { pattern, guard, body } = arms.get(place).ok_or(Failed)?;
                let fits = match known.get(place) {
                    Some(&Some(fits)) => fits,
                    _ => self.bind(frame, pattern, value)?,
                };
                let next = place + 1;
                if next == arms.len() && guard.is_none() {
                    return Ok((Bit::ONE, Part::Expr(body), None));
                }
                let choice = match guard {
                    None => fits,
                    Some(guard) => self.guard(frame, fits, guard)?,
                };
                self.counts.choices += u64::from(choice.as_constant().is_some());
                let changes = |arm: &Arm| arm.guard.as_ref().is_some_and(leaves_or_assigns);
                let after = match arms.get(next).is_some_and(changes) {
                    true => Rest::Last(Part::Arms(arms, next)),
                    false => Rest::Arms(arms, next),
                };
                Ok((choice, Part::Expr(body), Some(after)))
            }
        }
    }

    /// Returns the condition of an `if`.
    pub(super) fn choice(&mut self, frame: &mut Frame, condition: &Expr) -> Done<Bit> {
        let choice = match self.uniform(frame, condition)? {
            Some(choice) => choice[0],
            None => self.eval(frame, condition)?[0],
        };
        self.counts.choices += u64::from(choice.as_constant().is_some());
        Ok(choice)
    }

    fn part(&mut self, frame: &mut Frame, part: Part<'_>, value: &Word) -> Done<Word> {
        match part {
            Part::Nothing => Ok(Word::zero(0)),
            Part::Expr(expr) => self.eval(frame, expr),
            Part::Arms(arms, place) => {
                let span = arms.get(place).ok_or(Failed)?.body.span;
                self.deeper(span, |this| {
                    this.choose_part(frame, Rest::Arms(arms, place), value, Known::default())
                })
            }
        }
    }

    /// Returns whether a pattern fits and its guard holds.
    fn guard(&mut self, frame: &mut Frame, fits: Bit, guard: &Expr) -> Done<Bit> {
        if fits == Bit::ZERO {
            return Ok(Bit::ZERO);
        }
        self.path.push((fits, None));
        let holds = if fits == Bit::ONE || !leaves_or_assigns(guard) {
            self.eval(frame, guard)?
        } else {
            let before = frame.left.clone();
            frame.enter();
            let value = self.eval(frame, guard)?;
            let changes = self.leave(frame)?;
            let left = std::mem::replace(&mut frame.left, before.clone());
            let arms =
                [(fits, changes, left, value), (Bit::ONE, Vec::new(), before, Word::zero(1))];
            self.merge(frame, arms.map(Outcome::first).into(), false)?
        };
        self.path.pop();
        Ok(self.gates.and_bit(fits, *holds.first().unwrap_or(&Bit::ZERO)))
    }

    /// Writes what is done only under a condition that is secret or known, without regard to what
    /// has been left before; the value matters only if the condition holds, and has no bits if it
    /// certainly does not.
    pub(super) fn under(
        &mut self,
        frame: &mut Frame,
        condition: Bit,
        part: impl FnOnce(&mut Self, &mut Frame) -> Done<Word>,
    ) -> Done<Word> {
        if condition == Bit::ZERO {
            return Ok(Word::zero(0));
        }
        let before = std::mem::replace(&mut frame.left, Left::NOTHING);
        if condition == Bit::ONE {
            // Nothing has been left, for otherwise the condition would not be known.
            frame.left = before;
            return part(self, frame);
        }
        self.path.push((condition, None));
        frame.enter();
        let value = part(self, frame)?;
        let changes = self.leave(frame)?;
        self.path.pop();
        let inside = std::mem::replace(&mut frame.left, Left::NOTHING);
        let nothing = || Word::zero(0);
        let arms = [
            (condition, changes, Left::NOTHING, nothing()),
            (Bit::ONE, Vec::new(), Left::NOTHING, nothing()),
        ];
        self.merge(frame, arms.map(Outcome::first).into(), false)?;
        frame.left = self.left_either(before, condition, inside);
        Ok(value)
    }

    /// Returns what has been left in all, if the second part is only reached under a condition
    /// which excludes what has been left before.
    fn left_either(&mut self, before: Left, condition: Bit, inside: Left) -> Left {
        let [returned, broken, continued] = [0, 1, 2].map(|flag| {
            let now = self.gates.and_bit(condition, inside.flags()[flag]);
            self.gates.xor_bit(before.flags()[flag], now)
        });
        // A result counts only where its flag is set.
        let counts = |left: &Left| left.result.clone().filter(|_| left.returned != Bit::ZERO);
        let result = match (counts(&inside), counts(&before)) {
            (Some(a), Some(b)) => Some(Rc::new(self.choose(condition, &a, &b))),
            (a, b) => a.or(b),
        };
        Left { returned, broken, continued, result }
    }
}
