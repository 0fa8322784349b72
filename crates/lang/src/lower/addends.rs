//! Additions that wait: `x += a` need not be made before `x` is read.
//!
//! What is added to a variable is noted as an update. When the variable is read, all that waits is
//! summed at once, by full adders that take three bits each, where one addition after the other
//! would take a carry chain each. Under a condition, what is added is zero where the condition does
//! not hold, instead of a selection of the whole sum: with a constant, that takes no gates.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::state::{Effect, Group, Update, Way, is_addition};
use super::wide::is_wide;
use super::{Done, Machine};
use crate::ast::BinaryOp;
use crate::ty::{Shape, TyId};

/// A number that is added or subtracted, as wide as the sum.
type Term = (Word, Effect);

/// What is added to numbers, by the first bit of each.
type Sums = BTreeMap<usize, Vec<Term>>;

/// Gates that are not made yet.
#[derive(Clone, Copy, Default)]
pub(super) struct Waiting {
    pub(super) wires: u64,
    /// As many as it would take to add and to select each sum at once.
    pub(super) ands: u64,
}

/// Returns how many of the bits are not constants.
fn open(bits: &[Bit]) -> usize {
    bits.iter().filter(|bit| bit.as_constant().is_none()).count()
}

impl Machine<'_, '_, '_> {
    /// Returns what `x op= a` does if the addition may wait, and notes its gates: the value that is
    /// added, and how.
    pub(super) fn addend(
        &mut self,
        op: BinaryOp,
        ty: TyId,
        (ways, whole): (&[(Way, TyId)], usize),
        value: &Word,
    ) -> Option<Term> {
        let effect = match op {
            BinaryOp::Add => Effect::Add,
            BinaryOp::Sub => Effect::Sub,
            _ => return None,
        };
        let shape = self.lower.tir.shapes.shape(ty);
        let is_number = matches!(shape, Shape::Int(..) | Shape::Fixed(..));
        let is_secret = ways.iter().any(|(way, _)| way.start().is_none());
        if !is_number || value.width() < 2 || (is_secret && is_wide(whole)) {
            return None;
        }
        let open = open(value);
        let bits = match open {
            0 => value.iter().filter(|bit| **bit == Bit::ONE).count().min(2),
            open => open,
        };
        self.reuse.waiting.wires += 5 * bits as u64;
        self.reuse.waiting.ands += 2 * value.width() as u64;
        Some(match (effect, open) {
            (Effect::Sub, 0) => (self.gates.neg(value), Effect::Add),
            _ => (value.clone(), effect),
        })
    }

    /// Makes the gates of groups of updates, one after the other, of the bits from `first` on.
    pub(super) fn apply_all(
        &mut self,
        word: &mut [Bit],
        first: usize,
        groups: &[Group],
    ) -> Done<()> {
        let mut sums = Sums::new();
        for group in groups {
            if group.iter().all(is_addition) {
                self.collect(&mut sums, first, group)?;
            } else {
                self.add_up(word, std::mem::take(&mut sums))?;
                self.apply(word, first, group, false)?;
            }
        }
        self.add_up(word, sums)
    }

    /// Adds the terms of a group, of which at most one holds for each number.
    fn collect(&mut self, sums: &mut Sums, first: usize, group: &[Update]) -> Done<()> {
        let made = (self.gates.wire_count(), self.gates.and_count());
        let mut own = Sums::new();
        for update in group {
            let before = self.account(update.at);
            self.room(5 * update.width as u64, update.at)?;
            self.terms(&mut own, update.start - first, &update.ways, update)?;
            self.account(before);
        }
        for (start, terms) in own {
            let (added, others): (Vec<Term>, Vec<Term>) =
                terms.into_iter().partition(|(_, effect)| *effect == Effect::Add);
            let all = sums.entry(start).or_default();
            let added = added.into_iter().map(|(term, _)| term);
            if let Some(term) = added.reduce(|a, b| self.gates.xor(&a, &b)) {
                all.push((term, Effect::Add));
            }
            all.extend(others);
        }
        self.are_made(made);
        Ok(())
    }

    /// Takes the gates that have been made since from those that are not made yet.
    fn are_made(&mut self, (wires, ands): (u32, u64)) {
        let wires = u64::from(self.gates.wire_count() - wires);
        let ands = self.gates.and_count() - ands;
        let Waiting { wires: left, ands: and_left } = self.reuse.waiting;
        let (wires, ands) = (left.saturating_sub(wires), and_left.saturating_sub(ands));
        self.reuse.waiting = Waiting { wires, ands };
    }

    /// Notes what an update adds to the numbers at the end of its way.
    fn terms(
        &mut self,
        sums: &mut Sums,
        start: usize,
        ways: &[(Way, TyId)],
        update: &Update,
    ) -> Done<()> {
        self.terms_under(sums, start, (ways, update.condition), (&update.value, update.effect))
    }

    fn terms_under(
        &mut self,
        sums: &mut Sums,
        start: usize,
        (ways, condition): (&[(Way, TyId)], Bit),
        value: (&Word, Effect),
    ) -> Done<()> {
        let Some(((way, ty), rest)) = ways.split_first() else {
            let term = self.gates.and_each(condition, value.0);
            sums.entry(start).or_default().push((term, value.1));
            return Ok(());
        };
        match way {
            Way::Known(offset) => self.terms_under(sums, start + offset, (rest, condition), value),
            Way::Secret(index, len) => {
                let width = self.width(*ty);
                let places = self.gates.one_hot_under(condition, index, *len);
                for (place, &here) in places.iter().enumerate() {
                    self.terms_under(sums, start + place * width, (rest, here), value)?;
                }
                Ok(())
            }
        }
    }

    /// Adds what has been noted to the numbers.
    fn add_up(&mut self, word: &mut [Bit], sums: Sums) -> Done<()> {
        let made = (self.gates.wire_count(), self.gates.and_count());
        for (start, terms) in sums {
            let width = terms.first().map_or(0, |(term, _)| term.width());
            let number = &mut word[start..start + width];
            self.room((5 * width * terms.len()) as u64, self.booking.at)?;
            let sum = match &terms[..] {
                [(term, Effect::Sub)] => self.gates.sub(number, term),
                [(term, _)] => self.gates.add(number, term),
                _ => self.sum_of(number, terms),
            };
            number.copy_from_slice(&sum);
        }
        self.are_made(made);
        Ok(())
    }

    /// Returns the sum of a number and at least two terms.
    fn sum_of(&mut self, number: &[Bit], terms: Vec<Term>) -> Word {
        let width = number.len();
        let mut constant = Word::zero(width);
        let mut words = vec![Word::from(number.to_vec())];
        for (mut term, effect) in terms {
            if effect == Effect::Sub {
                // -x = !x + 1.
                term.iter_mut().for_each(|bit| *bit = !*bit);
                constant = self.gates.add(&constant, &Word::constant(width, 1));
            }
            let top = term.sign();
            let from = term.iter().rposition(|bit| *bit != top).map_or(0, |place| place + 1);
            if top.as_constant().is_none() && from + 1 < width {
                // A sign s in all columns from k on is -s·2^k = (1 - s)·2^k - 2^k.
                let ones = (0..width).map(|place| Bit::constant(place >= from));
                constant = self.gates.add(&constant, &ones.collect::<Word>());
                term[from] = !top;
                term[from + 1..].fill(Bit::ZERO);
            }
            match open(&term) {
                0 => constant = self.gates.add(&constant, &term),
                _ => words.push(term),
            }
        }
        words.push(constant);
        let words: Vec<&[Bit]> = words.iter().map(|word| &word[..]).collect();
        self.gates.sum(width, &words)
    }

    /// Returns the updates of an arm, which only add, with sums of those that would take more ANDs
    /// for the arm's condition than their sum does.
    pub(super) fn presummed(&mut self, groups: Vec<Group>) -> Done<Vec<Group>> {
        let mut counts: BTreeMap<(usize, usize), (usize, usize)> = BTreeMap::new();
        for update in groups.iter().flatten().filter(|update| update.ways.is_empty()) {
            let ands = if update.condition == Bit::ONE { open(&update.value) } else { 1 };
            let (all, count) = counts.entry((update.start, update.width)).or_default();
            (*all, *count) = (*all + ands, *count + 1);
        }
        counts.retain(|(_, width), (ands, count)| *count > 1 && *ands > *width);
        let much: BTreeSet<(usize, usize)> = counts.into_keys().collect();
        if much.is_empty() {
            return Ok(groups);
        }
        let mut parts: BTreeMap<(usize, usize), Vec<Group>> = BTreeMap::new();
        let mut left = Vec::new();
        for group in groups {
            let mut others = Vec::new();
            let mut own: BTreeMap<(usize, usize), Group> = BTreeMap::new();
            for update in group {
                let key = (update.start, update.width);
                if update.ways.is_empty() && much.contains(&key) {
                    own.entry(key).or_default().push(update);
                } else {
                    others.push(update);
                }
            }
            own.into_iter().for_each(|(key, part)| parts.entry(key).or_default().push(part));
            if !others.is_empty() {
                left.push(others);
            }
        }
        for ((start, width), groups) in parts {
            let mut sum = Word::zero(width);
            self.apply_all(&mut sum, start, &groups)?;
            let sum = Update::plain(start, Rc::new(sum), self.booking.at);
            left.push(vec![Update { effect: Effect::Add, ..sum }]);
        }
        Ok(left)
    }
}
