//! Comprehensions that do nothing but copy: each round takes elements of arrays at places that the
//! counter decides, or parts of its own element. They take time by what they copy, since nothing
//! is evaluated in the rounds.

use std::ops::Range;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::body::{Body, Counter, Rounds};
use super::known::{Number, reads};
use super::places::constant;
use super::state::Frame;
use super::vast::is_vast;
use super::{Done, Machine};
use crate::ast::BinaryOp;
use crate::tir::{Expr, Kind, Local, Pattern, PatternKind};
use crate::ty::{Shape, TyId};

/// Copying these many bits takes the time of a step.
const COPIED: usize = 64;

/// What a round copies.
enum Part {
    /// The same bits in every round.
    Fixed(Word),
    /// These bits of the round's own element.
    Own(Range<usize>),
    /// A number that the counter decides, of this many bits.
    Number(Number, usize),
    /// Some bits of an array's element.
    Element(Element),
    /// One of two parts, as the counter decides.
    If(Number, Box<Part>, Box<Part>),
    /// Parts side by side.
    Join(Vec<Part>),
    /// A part in which these bits are 1.
    Set(Box<Part>, Vec<usize>),
}

/// Some bits of an element of an array, or of an array of arrays.
struct Element {
    array: Rc<Word>,
    /// The indices, each with the length of its array and the width of one element.
    indices: Vec<(Number, u64, usize)>,
    /// The bits of the element.
    range: Range<usize>,
}

/// What decides what a round copies.
struct Own<'w> {
    counter: Option<Counter>,
    /// The variables that the pattern binds, with their bits in the round's own element.
    names: Vec<(Local, Range<usize>)>,
    word: &'w Word,
}

impl Machine<'_, '_, '_> {
    /// Returns the values of all rounds, if they only copy. Otherwise nothing has happened.
    pub(super) fn copies(
        &mut self,
        frame: &mut Frame,
        rounds: &Rounds,
        count: u64,
        body: Body<'_>,
    ) -> Done<Option<Vec<Bit>>> {
        // In the body of a repeat, elements are taken from around it one by one.
        if frame.outer.is_some() {
            return Ok(None);
        }
        let Ok(rounds_count) = u32::try_from(count) else { return Ok(None) };
        let each = self.width(frame.instance.types[body.expr.ty as usize]);
        let is_listed = !is_vast(each.saturating_mul(rounds_count as usize));
        if !is_listed || matches!(rounds, Rounds::Array(word, _) if is_vast(word.width())) {
            return Ok(None);
        }
        let nothing = Word::default();
        let mut own = Own { counter: None, names: Vec::new(), word: &nothing };
        let width = match rounds {
            Rounds::Array(word, width) => {
                own.word = word;
                *width
            }
            Rounds::Range(_) => 0,
        };
        match (rounds, &body.pattern.kind) {
            (Rounds::Range(low), PatternKind::Bind(local)) => {
                let Ok(low) = i128::try_from(low) else { return Ok(None) };
                own.counter =
                    Some(Counter { local: *local, low, bodies: rounds_count, each: 1, part: 0 });
            }
            (Rounds::Range(_), PatternKind::Any) => {}
            (Rounds::Array(..), _) if self.names(frame, body.pattern, 0, &mut own.names) => {}
            _ => return Ok(None),
        }
        let choices = self.counts.choices;
        let Some(part) = self.copied_part(frame, body.expr, &own)? else {
            self.counts.choices = choices;
            return Ok(None);
        };
        let mut bits = Vec::with_capacity(each * rounds_count as usize);
        for round in 0..rounds_count {
            let counter = own.counter.map_or(0, |counter| counter.at(round));
            let element = (own.word, round as usize * width);
            // What is wrong is found again where the rounds are written.
            if part.copy(counter, element, &mut bits).is_none() {
                return Ok(None);
            }
            if round % 256 == 0 {
                self.step(body.expr.span)?;
            }
        }
        self.lower.spent.steps += count + (bits.len() / COPIED) as u64;
        Ok(Some(bits))
    }

    /// Notes the names in a pattern that fits all values; returns whether it is one.
    fn names(
        &self,
        frame: &Frame,
        pattern: &Pattern,
        start: usize,
        names: &mut Vec<(Local, Range<usize>)>,
    ) -> bool {
        let ty = frame.instance.types[pattern.ty as usize];
        match &pattern.kind {
            PatternKind::Any => true,
            PatternKind::Bind(local) => {
                names.push((*local, start..start + self.width(ty)));
                true
            }
            PatternKind::Tuple(parts) => parts.iter().enumerate().all(|(place, part)| {
                let offset = self.lower.tir.shapes.part(ty, place).0;
                self.names(frame, part, start + offset, names)
            }),
            _ => false,
        }
    }

    /// Returns what an expression copies in each round; `None` if it does something else.
    fn copied_part(&mut self, frame: &mut Frame, expr: &Expr, own: &Own<'_>) -> Done<Option<Part>> {
        let ty = frame.instance.types[expr.ty as usize];
        let moves = own.counter.filter(|counter| reads(expr, counter.local));
        match &expr.kind {
            Kind::Local(local) if moves.is_none() => Ok(self.fixed(frame, *local, own)?),
            Kind::Int(_) | Kind::Fraction(_) | Kind::Const(_) => {
                Ok(Some(Part::Fixed(self.eval(frame, expr)?)))
            }
            Kind::Aggregate(parts) => self.copied_parts(frame, parts, own, None, 0),
            Kind::Variant(variant, parts) => {
                let tag = self.lower.tir.shapes.tag_bits(ty);
                let tag = Word::constant(tag, *variant as u128);
                self.copied_parts(frame, parts, own, Some(tag), self.width(ty))
            }
            Kind::Field(value, place) => {
                let outer = frame.instance.types[value.ty as usize];
                let (start, field) = self.lower.tir.shapes.part(outer, *place);
                let range = start..start + self.width(field);
                Ok(self.copied_part(frame, value, own)?.and_then(|part| part.cut(range)))
            }
            Kind::Cast(value) if moves.is_none() || !expr.constant => {
                self.resized(frame, value, ty, own)
            }
            Kind::Binary(op @ (BinaryOp::Shl | BinaryOp::Or), a, b)
                if b.constant && !expr.constant =>
            {
                self.with_constant(frame, *op, (a, b), own)
            }
            Kind::Index(array, index) => self.element_part(frame, array, index, own),
            Kind::Block(stmts, Some(tail)) if stmts.is_empty() => {
                self.copied_part(frame, tail, own)
            }
            Kind::If(condition, then, Some(other)) if condition.constant => {
                let Some(counter) = own.counter else { return Ok(None) };
                let Some(condition) = self.decided(frame, condition, counter)? else {
                    return Ok(None);
                };
                self.counts.choices += 1;
                let then = self.copied_part(frame, then, own)?;
                let other = self.copied_part(frame, other, own)?;
                Ok(then
                    .zip(other)
                    .map(|(then, other)| Part::If(condition, Box::new(then), Box::new(other))))
            }
            _ => match moves {
                Some(counter) if expr.constant => {
                    let number = self.decided(frame, expr, counter)?;
                    Ok(number.map(|number| Part::Number(number, self.width(ty))))
                }
                _ => Ok(None),
            },
        }
    }

    /// Returns an unsigned integer as another one.
    fn resized(
        &mut self,
        frame: &mut Frame,
        value: &Expr,
        ty: TyId,
        own: &Own<'_>,
    ) -> Done<Option<Part>> {
        let from = frame.instance.types[value.ty as usize];
        if [from, ty].iter().any(|ty| !matches!(self.shape(*ty), Shape::Int(false, _))) {
            return Ok(None);
        }
        let (before, after) = (self.width(from), self.width(ty));
        let part = self.copied_part(frame, value, own)?;
        let part = part.and_then(|part| part.cut(0..before.min(after)));
        let zeros = Part::Fixed(Word::zero(after.saturating_sub(before)));
        Ok(part.map(|part| Part::Join(vec![part, zeros])))
    }

    /// Returns an unsigned integer that is shifted by a constant, or has a constant's bits.
    fn with_constant(
        &mut self,
        frame: &mut Frame,
        op: BinaryOp,
        (a, b): (&Expr, &Expr),
        own: &Own<'_>,
    ) -> Done<Option<Part>> {
        let ty = frame.instance.types[a.ty as usize];
        if !matches!(self.shape(ty), Shape::Int(false, _))
            || own.counter.is_some_and(|counter| reads(b, counter.local))
        {
            return Ok(None);
        }
        let Some(part) = self.copied_part(frame, a, own)? else { return Ok(None) };
        let by = self.eval(frame, b)?;
        if op == BinaryOp::Or {
            let ones = (0..by.width()).filter(|&place| by[place] == Bit::ONE).collect();
            return Ok(Some(Part::Set(Box::new(part), ones)));
        }
        let width = self.width(ty);
        let by = constant(&by).and_then(|by| usize::try_from(by).ok());
        let by = by.unwrap_or(width).min(width);
        let kept = part.cut(0..width - by);
        Ok(kept.map(|kept| Part::Join(vec![Part::Fixed(Word::zero(by)), kept])))
    }

    /// Returns a number that the counter decides, in a form that is quickly computed.
    fn decided(
        &mut self,
        frame: &mut Frame,
        expr: &Expr,
        counter: Counter,
    ) -> Done<Option<Number>> {
        if !expr.constant {
            return Ok(None);
        }
        self.number(frame, expr, counter)
    }

    /// Returns a variable as a part.
    fn fixed(&mut self, frame: &mut Frame, local: Local, own: &Own<'_>) -> Done<Option<Part>> {
        if let Some((_, range)) = own.names.iter().find(|(name, _)| *name == local) {
            return Ok(Some(Part::Own(range.clone())));
        }
        Ok(Some(Part::Fixed(Word::clone(&*self.local(frame, local)?))))
    }

    fn copied_parts(
        &mut self,
        frame: &mut Frame,
        parts: &[Expr],
        own: &Own<'_>,
        tag: Option<Word>,
        width: usize,
    ) -> Done<Option<Part>> {
        let mut found: Vec<Part> = tag.map(Part::Fixed).into_iter().collect();
        for part in parts {
            match self.copied_part(frame, part, own)? {
                Some(part) => found.push(part),
                None => return Ok(None),
            }
        }
        let filled: usize = found.iter().map(Part::width).sum();
        if filled < width {
            found.push(Part::Fixed(Word::zero(width - filled)));
        }
        Ok(Some(Part::Join(found)))
    }

    /// Returns an element of an array as a part.
    fn element_part(
        &mut self,
        frame: &mut Frame,
        array: &Expr,
        index: &Expr,
        own: &Own<'_>,
    ) -> Done<Option<Part>> {
        let ty = frame.instance.types[array.ty as usize];
        let Shape::Array(element, len) = *self.lower.tir.shapes.shape(ty) else { return Ok(None) };
        let width = self.width(element);
        let Some(counter) = own.counter else { return Ok(None) };
        let Some(index) = self.decided(frame, index, counter)? else { return Ok(None) };
        let index = (index, len, width);
        let range = 0..width;
        match &array.kind {
            Kind::Local(local) if own.names.iter().any(|(name, _)| name == local) => Ok(None),
            Kind::Local(local) => {
                let array = self.local(frame, *local)?;
                if is_vast(array.width()) {
                    return Ok(None);
                }
                Ok(Some(Part::Element(Element { array, indices: vec![index], range })))
            }
            Kind::Index(outer, place) => {
                let Some(Part::Element(mut part)) = self.element_part(frame, outer, place, own)?
                else {
                    return Ok(None);
                };
                part.indices.push(index);
                part.range = range;
                Ok(Some(Part::Element(part)))
            }
            Kind::Field(..) => {
                let Some(Part::Fixed(array)) = self.copied_part(frame, array, own)? else {
                    return Ok(None);
                };
                let array = Rc::new(array);
                Ok(Some(Part::Element(Element { array, indices: vec![index], range })))
            }
            _ => Ok(None),
        }
    }
}

impl Part {
    fn width(&self) -> usize {
        match self {
            Part::Fixed(word) => word.width(),
            Part::Own(range) => range.len(),
            Part::Number(_, width) => *width,
            Part::Element(element) => element.range.len(),
            Part::If(_, then, _) => then.width(),
            Part::Join(parts) => parts.iter().map(Part::width).sum(),
            Part::Set(part, _) => part.width(),
        }
    }

    /// Returns some of the bits; `None` of what is computed.
    fn cut(self, range: Range<usize>) -> Option<Part> {
        let within = |outer: &Range<usize>| outer.start + range.start..outer.start + range.end;
        Some(match self {
            Part::Fixed(word) => Part::Fixed(word.slice(range)),
            Part::Own(own) => Part::Own(within(&own)),
            Part::Number(..) | Part::Set(..) => return None,
            Part::Element(element) => {
                Part::Element(Element { range: within(&element.range), ..element })
            }
            Part::If(condition, then, other) => {
                let (then, other) = (then.cut(range.clone())?, other.cut(range)?);
                Part::If(condition, Box::new(then), Box::new(other))
            }
            Part::Join(parts) => {
                let (mut start, mut found) = (0, Vec::new());
                for part in parts {
                    let end = start + part.width();
                    let (first, last) = (range.start.max(start), range.end.min(end));
                    if first < last {
                        found.push(part.cut(first - start..last - start)?);
                    }
                    start = end;
                }
                Part::Join(found)
            }
        })
    }

    /// Adds the bits of a round. Returns `None` at a place beyond an array, and where a number is
    /// not defined.
    fn copy(&self, counter: u64, own: (&Word, usize), bits: &mut Vec<Bit>) -> Option<()> {
        match self {
            Part::Fixed(word) => bits.extend_from_slice(word),
            Part::Own(range) => {
                let (word, start) = own;
                word.append_to(start + range.start..start + range.end, bits);
            }
            Part::Number(number, width) => {
                let value = number.value(counter)?;
                bits.extend_from_slice(&Word::constant(*width, value.into()));
            }
            Part::Element(Element { array, indices, range }) => {
                let mut start = range.start;
                for (index, len, width) in indices {
                    let index = index.value(counter).filter(|index| index < len)?;
                    start += index as usize * width;
                }
                array.append_to(start..start + range.len(), bits);
            }
            Part::If(condition, then, other) => {
                let part = if condition.value(counter)? == 1 { then } else { other };
                part.copy(counter, own, bits)?;
            }
            Part::Join(parts) => {
                parts.iter().try_for_each(|part| part.copy(counter, own, bits))?;
            }
            Part::Set(part, ones) => {
                let start = bits.len();
                part.copy(counter, own, bits)?;
                ones.iter().for_each(|&place| bits[start + place] = Bit::ONE);
            }
        }
        Some(())
    }
}
