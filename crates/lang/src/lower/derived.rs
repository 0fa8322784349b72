//! What words have been computed from, so that what people compute from these takes the gates that
//! are there: whether a sum has wrapped, a distance, an absolute value, a rotation.

use std::collections::HashMap;

use symbolon_circuit::builder::{Bit, Word};

use super::Machine;
use super::places::constant;
use crate::ast::BinaryOp;

/// Wider words are not kept.
const WIDEST: usize = 256;

/// The maximum number of words that are kept.
const MOST: usize = 1 << 14;

/// What a word is.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Origin {
    Sum(Word, Word),
    /// The first less the second.
    Difference(Word, Word),
    /// The first, shifted towards the highest bit by the second.
    Left(Word, Word),
    Right(Word, Word),
}

/// The words that are kept.
#[derive(Default)]
pub(super) struct Derived {
    words: HashMap<Word, Origin>,
    /// The gates' run to which they belong: in a later one, the same operations make new gates.
    run: u64,
}

impl Machine<'_, '_, '_> {
    /// Notes what a word has been computed from.
    pub(super) fn derive(&mut self, word: &Word, origin: Origin) {
        if !(2..=WIDEST).contains(&word.width()) || constant(word).is_some() {
            return;
        }
        let run = self.gates.run_count();
        if self.reuse.derived.run != run || self.reuse.derived.words.len() == MOST {
            self.reuse.derived = Derived { run, ..Derived::default() };
        }
        self.reuse.derived.words.insert(word.clone(), origin);
    }

    fn origin(&self, word: &Word) -> Option<Origin> {
        let is_current = self.reuse.derived.run == self.gates.run_count();
        self.reuse.derived.words.get(word).filter(|_| is_current).cloned()
    }

    /// Returns whether an unsigned number is less than another, if that says whether a sum or a
    /// difference has wrapped: the carry then takes one AND.
    pub(super) fn wraps(&mut self, a: &Word, b: &Word) -> Option<Bit> {
        match (self.origin(a), self.origin(b)) {
            (Some(Origin::Sum(x, y)), _) if *b == x || *b == y => {
                Some(self.gates.add_with_carry(&x, &y, Bit::ZERO).1)
            }
            (_, Some(Origin::Difference(x, y))) if *a == x => Some(self.gates.lt(&x, &y)),
            _ => None,
        }
    }

    /// Returns `if choice { a } else { b }` where one is minus the other, or where `b` is zero and
    /// the choice says that `a` is not; `None` otherwise.
    pub(super) fn choose_derived(&mut self, choice: Bit, a: &Word, b: &Word) -> Option<Word> {
        if choice.as_constant().is_some() || !(2..=WIDEST).contains(&a.width()) {
            return None;
        }
        if constant(b) == Some(0) && a.iter().all(|bit| bit.as_constant().is_none()) {
            return (self.gates.any(a) == choice).then(|| a.clone());
        }
        let is_minus = |origin: &Option<Origin>, word: &Word| match origin {
            Some(Origin::Difference(x, y)) => constant(x) == Some(0) && y == word,
            _ => false,
        };
        let origins = (self.origin(a), self.origin(b));
        if is_minus(&origins.0, b) {
            return Some(self.gates.neg_if(choice, b));
        }
        if is_minus(&origins.1, a) {
            return Some(self.gates.neg_if(!choice, a));
        }
        if let Some(word) = self.choose_sum(choice, (a, b), &origins) {
            return Some(word);
        }
        match origins {
            (Some(Origin::Difference(x, y)), Some(Origin::Difference(y2, x2)))
                if x == x2 && y == y2 =>
            {
                // The difference whose borrows the comparison has made already.
                let flipped = |word: &Word| {
                    let mut word = word.clone();
                    word.iter_mut().next_back().into_iter().for_each(|bit| *bit = !*bit);
                    word
                };
                let less = self.gates.lt(&x, &y);
                let less_signed = self.gates.lt(&flipped(&x), &flipped(&y));
                let is_first = [less, less_signed].iter().any(|b| b.plain().0 == choice.plain().0);
                Some(match is_first {
                    true => self.gates.neg_if(!choice, a),
                    false => self.gates.neg_if(choice, b),
                })
            }
            _ => None,
        }
    }

    /// Returns `if choice { a } else { b }` where one is the other with a constant added, or where
    /// they are the sum and the difference of two numbers.
    fn choose_sum(
        &mut self,
        choice: Bit,
        (a, b): (&Word, &Word),
        origins: &(Option<Origin>, Option<Origin>),
    ) -> Option<Word> {
        for (choice, origin, other) in [(choice, &origins.0, b), (!choice, &origins.1, a)] {
            // What is added is zero where nothing is.
            let (x, y) = match origin {
                Some(Origin::Sum(x, y)) if x == other => (x, y),
                Some(Origin::Sum(x, y)) if y == other => (y, x),
                Some(Origin::Difference(x, y)) if x == other => (x, y),
                _ => continue,
            };
            if constant(y).is_some() {
                let added = self.gates.and_each(choice, y);
                return Some(match origin {
                    Some(Origin::Sum(..)) => self.gates.add(x, &added),
                    _ => self.gates.sub(x, &added),
                });
            }
        }
        let (minus, (x, y), difference) = match origins {
            (Some(Origin::Difference(x, y)), Some(Origin::Sum(a, b))) => (choice, (a, b), (x, y)),
            (Some(Origin::Sum(a, b)), Some(Origin::Difference(x, y))) => (!choice, (a, b), (x, y)),
            _ => return None,
        };
        if (x, y) != difference && (y, x) != difference {
            return None;
        }
        // x - y = x + !y + 1.
        let (x, y) = difference;
        let y: Word = y.iter().map(|&bit| self.gates.xor_bit(bit, minus)).collect();
        Some(self.gates.add_with_carry(x, &y, minus).0)
    }

    /// Returns `a op b` where these are the two parts of a rotation by a secret amount.
    pub(super) fn rotation(&mut self, op: BinaryOp, a: &[Bit], b: &[Bit]) -> Option<Word> {
        if !matches!(op, BinaryOp::Or | BinaryOp::Xor | BinaryOp::Add) {
            return None;
        }
        let (a, b) = (self.origin(&a.to_vec().into())?, self.origin(&b.to_vec().into())?);
        let (word, left, right) = match (a, b) {
            (Origin::Left(x, left), Origin::Right(y, right))
            | (Origin::Right(x, right), Origin::Left(y, left))
                if x == y =>
            {
                (x, left, right)
            }
            _ => return None,
        };
        let width = word.width();
        if !width.is_power_of_two() {
            return None;
        }
        let used = width.ilog2() as usize;
        for (by, rest, to_left) in [(&left, &right, true), (&right, &left, false)] {
            // An amount of 0 gives the word twice where the other one wraps to 0 as well.
            let is_wide = rest.width() > used;
            let is_short = by.iter().skip(used).all(|bit| *bit == Bit::ZERO);
            if !is_short || !(is_wide || op == BinaryOp::Or) || rest.width() < used {
                continue;
            }
            let other = self
                .gates
                .sub(&Word::constant(rest.width(), width as u128), &by.resize(rest.width()));
            if other == *rest {
                let by = by.resize(used);
                return Some(match to_left {
                    true => self.gates.rotl_by(&word, &by),
                    false => self.gates.rotr_by(&word, &by),
                });
            }
        }
        None
    }
}
