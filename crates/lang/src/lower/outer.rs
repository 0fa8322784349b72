//! Takes from around the body of a repeated loop what it reads.

use std::rc::Rc;

use symbolon_circuit::builder::Word;

use super::body::{Array, Counter};
use super::known::reads;
use super::places::constant;
use super::state::Frame;
use super::vast::is_vast;
use super::{Done, Failed, Machine};
use crate::ast::BinaryOp;
use crate::tir::{Expr, Kind, Local};
use crate::ty::Shape;

/// Returns whether a variable is outside of a repeated loop, and not taken from there yet.
pub(super) fn is_outside(frame: &Frame, local: Local) -> bool {
    frame.outer.as_ref().is_some_and(|outer| outer.pending[local as usize])
}

impl Machine<'_, '_, '_> {
    /// Returns the value of a variable.
    pub(super) fn local(&mut self, frame: &mut Frame, local: Local) -> Done<Rc<Word>> {
        if self.depth_of(frame, local).is_some() {
            return Err(Failed);
        }
        if let Some(outer) = &mut frame.outer
            && std::mem::take(&mut outer.pending[local as usize])
        {
            let word = outer.words[local as usize].clone();
            if is_vast(word.width()) {
                return Err(Failed);
            }
            let word: Word = word.iter().map(|&bit| outer.bit(self.gates, bit)).collect();
            frame.declare(local, word);
        }
        self.settle(frame, local)?;
        Ok(frame.word(local).clone())
    }

    /// Returns some bits of a variable; only these are taken from outside.
    pub(super) fn local_slice(
        &mut self,
        frame: &mut Frame,
        local: Local,
        start: usize,
        width: usize,
    ) -> Done<Word> {
        let place = local as usize;
        match &mut frame.outer {
            Some(outer) if outer.pending[place] => {
                let word = outer.words[place].slice(start..start + width);
                if is_vast(width) {
                    return Err(Failed);
                }
                Ok(word.iter().map(|&bit| outer.bit(self.gates, bit)).collect())
            }
            _ => Ok(self.local(frame, local)?.slice(start..start + width)),
        }
    }

    /// Returns an element of an array from outside, at a place that moves with the counter, as an
    /// input of its own for each round.
    pub(super) fn strided(
        &mut self,
        frame: &mut Frame,
        array: &Expr,
        index: &Expr,
        len: u64,
        width: usize,
    ) -> Done<Option<Word>> {
        let Some(counter) = frame.outer.as_ref().and_then(|outer| outer.counter) else {
            return Ok(None);
        };
        let outside = match array.kind {
            Kind::Local(local) => is_outside(frame, local),
            Kind::Const(_) => true,
            _ => false,
        };
        if !outside {
            return Ok(None);
        }
        let Some(offset) = self.offset(frame, index, counter)? else {
            if !reads(index, counter.local) {
                return Ok(None);
            }
            let places = self.places(frame, index, len)?;
            return places.map(|places| self.gathered(frame, array, (places, width))).transpose();
        };
        let (first, count) = (counter.low + offset, counter.rounds());
        // An index beyond the array is an error where the rounds are written out.
        if first < 0 || first + i128::from(count) > i128::from(len) {
            return Err(Failed);
        }
        let range = first as usize * width..(first as usize + count as usize) * width;
        let (key, word) = self.outside(frame, array)?;
        let Some(outer) = &mut frame.outer else { return Ok(None) };
        let row = match outer.elements.get(&(key, first as u64)) {
            Some(known) => known.clone(),
            None => {
                let row =
                    outer.strided(self.gates, word.slice(range), width * counter.each as usize);
                outer.elements.insert((key, first as u64), row.clone());
                row
            }
        };
        let start = counter.part as usize * width;
        Ok(Some(row.slice(start..start + width)))
    }

    /// Returns an array from outside, and which it is.
    fn outside(&mut self, frame: &Frame, array: &Expr) -> Done<(Array, Rc<Word>)> {
        match (&array.kind, &frame.outer) {
            (Kind::Local(local), Some(outer)) => {
                Ok((Array::Variable(*local), outer.words[*local as usize].clone()))
            }
            (Kind::Const(value), _) => {
                let ty = frame.instance.types[array.ty as usize];
                let word = self.constant_word(ty, value);
                Ok((Array::Constant(array.id), Rc::new(word)))
            }
            _ => Err(Failed),
        }
    }

    /// Returns an element of an array from outside that is at these places in the rounds.
    pub(super) fn gathered(
        &mut self,
        frame: &mut Frame,
        array: &Expr,
        (places, width): (Rc<[u32]>, usize),
    ) -> Done<Word> {
        let (array, word) = self.outside(frame, array)?;
        // Elements of different depths differ in their widths.
        let key = (array, width);
        let outer = frame.outer.as_mut().ok_or(Failed)?;
        if let Some(known) = outer.others.get(&(key, places.clone())) {
            return Ok(known.clone());
        }
        if is_vast(places.len() * width) {
            return Err(Failed);
        }
        let mut all = Vec::with_capacity(places.len() * width);
        for &place in &*places {
            let start = place as usize * width;
            word.append_to(start..start + width, &mut all);
        }
        let all = Word::from(all);
        let element = outer.strided(self.gates, all, width);
        self.lower.spent.steps += (places.len() * width) as u64 / 64;
        outer.others.insert((key, places), element.clone());
        Ok(element)
    }

    /// Returns the constant in an index that is the counter plus a constant.
    fn offset(&mut self, frame: &mut Frame, expr: &Expr, counter: Counter) -> Done<Option<i128>> {
        let offset = match &expr.kind {
            Kind::Local(local) if *local == counter.local => Some(0),
            Kind::Cast(value) => self.offset(frame, value, counter)?,
            Kind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) if b.constant => {
                match self.offset(frame, a, counter)? {
                    None => None,
                    Some(offset) => {
                        let by = self.eval(frame, b)?;
                        let by = constant(&by).and_then(|by| i128::try_from(by).ok());
                        by.and_then(|by| match op {
                            BinaryOp::Add => offset.checked_add(by),
                            _ => offset.checked_sub(by),
                        })
                    }
                }
            }
            _ => None,
        };
        // Nothing may have wrapped on the way.
        let ty = frame.instance.types[expr.ty as usize];
        let (least, most) = match *self.lower.tir.shapes.shape(ty) {
            Shape::Int(false, width @ 1..=64) => (0, (1i128 << width) - 1),
            Shape::Int(true, width @ 1..=64) => {
                (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
            }
            _ => return Ok(None),
        };
        let fits = |offset: &i128| {
            let first = counter.low + offset;
            least <= first && first + i128::from(counter.rounds()) - 1 <= most
        };
        Ok(offset.filter(fits))
    }
}
