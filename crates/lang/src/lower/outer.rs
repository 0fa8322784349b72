//! What the body of a repeated loop takes from around it.

use std::collections::HashMap;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Gates, Word};

use super::known::reads;
use super::places::constant;
use super::scatter::Element;
use super::state::Frame;
use super::{Done, Failed, Machine};
use crate::ast::BinaryOp;
use crate::tir::{Expr, Kind, Local};
use crate::ty::Shape;

/// An array and the width of its elements, and their places in all rounds.
type Gathered = ((usize, usize), Rc<[u32]>);

/// What the body of a repeated loop takes from around it.
pub(super) struct Outer {
    /// The surrounding variables.
    pub(super) words: Vec<Rc<Word>>,
    /// Those that have not been taken yet, and are not the body's own.
    pub(super) pending: Vec<bool>,
    /// The inputs for bits from outside.
    pub(super) bits: HashMap<Bit, Bit>,
    /// The inputs for elements of arrays, by the array and the first round's index.
    pub(super) elements: HashMap<(usize, u64), Word>,
    /// Those of arrays at other places, by the array, their width and their places in all rounds.
    pub(super) others: HashMap<Gathered, Word>,
    /// What these inputs are, in their order.
    pub(super) passed: Vec<Passed>,
    pub(super) counter: Option<Counter>,
    /// The first round in which a constant is another one than in the rounds before.
    pub(super) differs: Option<u32>,
    /// The arrays whose elements are variables of their own, with the number of indices that each
    /// has, and these elements.
    pub(super) arrays: Vec<(Local, usize)>,
    pub(super) scattered: Vec<Element>,
    /// Whether bits of elements that are the same constants before the loop are taken to stay so
    /// until their round.
    pub(super) assumes: bool,
}

pub(super) enum Passed {
    Fixed(Bit),
    Strided(Word),
    /// These bits in the first round.
    Carried(Word),
}

/// The counter of a repeated loop.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    pub(super) local: Local,
    /// In the first round.
    pub(super) low: i128,
    pub(super) count: u32,
}

impl Outer {
    /// Returns the input for what each round has of its own, of which these are the bits.
    pub(super) fn strided(&mut self, gates: &mut Gates, all: Word, width: usize) -> Word {
        if width == 0 {
            return Word::zero(0);
        }
        self.passed.push(Passed::Strided(all));
        gates.further_input(width as u32)
    }

    /// Returns the input for a bit from outside.
    pub(super) fn bit(&mut self, gates: &mut Gates, bit: Bit) -> Bit {
        if bit.as_constant().is_some() {
            return bit;
        }
        *self.bits.entry(bit).or_insert_with(|| {
            self.passed.push(Passed::Fixed(bit));
            gates.further_input(1)[0]
        })
    }
}

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
        let (first, count) = (counter.low + offset, counter.count as usize);
        // An index beyond the array is an error where the rounds are written out.
        if first < 0 || first + count as i128 > i128::from(len) {
            return Err(Failed);
        }
        let range = first as usize * width..(first as usize + count) * width;
        let (key, word) = self.outside(frame, array)?;
        let Some(outer) = &mut frame.outer else { return Ok(None) };
        if let Some(known) = outer.elements.get(&(key, first as u64)) {
            return Ok(Some(known.clone()));
        }
        let element = outer.strided(self.gates, word.slice(range), width);
        outer.elements.insert((key, first as u64), element.clone());
        Ok(Some(element))
    }

    /// Returns an array from outside, and a key that no other has.
    fn outside(&mut self, frame: &Frame, array: &Expr) -> Done<(usize, Rc<Word>)> {
        match (&array.kind, &frame.outer) {
            (Kind::Local(local), Some(outer)) => {
                Ok((*local as usize, outer.words[*local as usize].clone()))
            }
            (Kind::Const(value), _) => {
                let ty = frame.instance.types[array.ty as usize];
                let word = self.constant_word(ty, value);
                Ok((std::ptr::from_ref(array).addr(), Rc::new(word)))
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
        let bits = places.iter().flat_map(|&place| &word[place as usize * width..][..width]);
        let element = outer.strided(self.gates, bits.copied().collect(), width);
        self.lower.steps += (places.len() * width) as u64 / 64;
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
            least <= first && first + i128::from(counter.count) - 1 <= most
        };
        Ok(offset.filter(fits))
    }
}
