//! The variables of a function that is being written, and what secret choices do to them.
//!
//! A secret choice writes one arm after the other. What an arm writes is noted, so that it can be
//! taken back before the next arm, at a cost that depends on what was written alone. Afterwards a
//! variable has *updates*: values that it takes under conditions. They become gates when the
//! variable is read, or when the arm is left in which it is declared. If the choice around is left
//! before, each condition becomes a conjunction instead: so a variable that is assigned under
//! nested conditions is selected once.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::body::Outer;
use super::select::select_among;
use super::vast::is_vast;
use super::wide::is_wide;
use super::{Done, Machine};
use crate::source::Span;
use crate::tir::{Instance, Local};
use crate::ty::TyId;

/// At most this many updates of a variable wait outside of arms, and fewer if they are of more than
/// [`MOST_BITS`] bits together.
const MOST_WAITING: usize = 1 << 10;

/// The bits of all numbers that waiting updates may change.
const MOST_BITS: usize = 1 << 20;

/// The variables of one function that is being written.
pub(super) struct Frame {
    pub(super) instance: Rc<Instance>,
    locals: Vec<Variable>,
    pub(super) left: Left,
    /// The surroundings, in the body of a repeated loop.
    pub(super) outer: Option<Outer>,
    /// What has been written in each of the surrounding arms, the innermost last.
    logs: Vec<Vec<Note>>,
}

/// Whether the function, the loop or its round has been left: at most one of them.
#[derive(Clone)]
pub(super) struct Left {
    pub(super) returned: Bit,
    pub(super) broken: Bit,
    pub(super) continued: Bit,
    /// The function's result, where it has been left.
    pub(super) result: Option<Rc<Word>>,
}

impl Left {
    pub(super) const NOTHING: Left =
        Left { returned: Bit::ZERO, broken: Bit::ZERO, continued: Bit::ZERO, result: None };

    /// Returns the flags.
    pub(super) fn flags(&self) -> [Bit; 3] {
        [self.returned, self.broken, self.continued]
    }

    pub(super) fn is_certain(&self) -> bool {
        self.flags().contains(&Bit::ONE)
    }
}

#[derive(Clone)]
struct Variable {
    word: Rc<Word>,
    /// What is not in `word` yet, in the order in which it was written.
    updates: Vec<Group>,
    /// The arm in which it is declared, by how many are around it.
    own: usize,
    /// The arm in which it was last written.
    written: usize,
}

/// A step with its index computed.
#[derive(Clone)]
pub(super) enum Way {
    /// From this bit on.
    Known(usize),
    /// One of these elements.
    Secret(Word, usize),
}

impl Way {
    pub(super) fn start(&self) -> Option<usize> {
        match self {
            Way::Known(start) => Some(*start),
            Way::Secret(..) => None,
        }
    }
}

/// Returns how many gates it takes at most to write to a part of a value of this many bits, and to
/// read it before.
pub(super) fn write_gates(ways: &[(Way, TyId)], width: usize, reads: bool) -> u64 {
    let (mut arrays, mut elements, mut hot) = (0u64, 1u64, 0u64);
    for (way, _) in ways {
        if let Way::Secret(_, len) = way {
            arrays += 1;
            elements = elements.saturating_mul(*len as u64);
            hot = hot.saturating_add(elements);
        }
    }
    // A selection for each bit, and the bits that say which element it is.
    let is_repeat =
        is_wide(width) && arrays == 1 && matches!(ways.last(), Some((Way::Secret(..), _)));
    let width = if is_repeat { 0 } else { width };
    let selected = (3 * arrays + 2 * u64::from(reads && arrays > 0)).saturating_mul(width as u64);
    selected.saturating_add(hot.saturating_mul(2))
}

/// Updates of which at most one holds for each bit.
pub(super) type Group = Vec<Update>;

/// What an update does with its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It is the new value.
    Set,
    /// It is added to numbers, or subtracted from them.
    Add,
    Sub,
}

/// A value that a part of a variable takes under a condition, or that is added to it.
#[derive(Clone)]
pub(super) struct Update {
    pub(super) effect: Effect,
    pub(super) condition: Bit,
    pub(super) start: usize,
    /// How many bits from `start` on it may change.
    pub(super) width: usize,
    /// The way from these bits to an element at a secret place; empty if all of them are changed.
    pub(super) ways: Rc<[(Way, TyId)]>,
    pub(super) value: Rc<Word>,
    /// The place in the program.
    pub(super) at: Span,
}

impl Update {
    /// Returns an update of all these bits, in any case.
    pub(super) fn plain(start: usize, value: Rc<Word>, at: Span) -> Update {
        let (width, ways) = (value.width(), Rc::new([]));
        Update { effect: Effect::Set, condition: Bit::ONE, start, width, ways, value, at }
    }

    pub(super) fn is_plain(&self) -> bool {
        self.effect == Effect::Set && self.condition == Bit::ONE && self.ways.is_empty()
    }

    /// Returns the part that changes these bits, all of which it changes; `None` of no bits.
    pub(super) fn part(&self, range: Range<usize>) -> Option<Update> {
        if range.is_empty() {
            return None;
        }
        if range == self.range() {
            return Some(self.clone());
        }
        let value = self.value.slice(range.start - self.start..range.end - self.start);
        let part = Update { start: range.start, width: range.len(), ..self.clone() };
        Some(Update { value: Rc::new(value), ..part })
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.width
    }

    /// Returns the value of a bit, unless that depends on a secret place or the value before.
    pub(super) fn bit(&self, place: usize) -> Option<Bit> {
        let is_set = self.effect == Effect::Set && self.ways.is_empty();
        is_set.then(|| self.value[place - self.start])
    }
}

/// Returns whether an update adds to what is there.
pub(super) fn is_addition(update: &Update) -> bool {
    update.effect != Effect::Set
}

/// Returns how many of these updates may wait.
pub(super) fn most_waiting(groups: &[Group]) -> usize {
    let bits = groups.iter().flatten().map(|update| update.width).max().unwrap_or(0);
    (MOST_BITS / bits.max(1)).clamp(1, MOST_WAITING)
}

/// What undoes a write.
struct Note {
    local: Local,
    undo: Undo,
    /// The arm in which the variable was last written before.
    written: usize,
}

enum Undo {
    /// These bits were here.
    Bits(usize, Word),
    /// All of it was this.
    All(Rc<Word>, Vec<Group>),
    /// The number of groups of updates before.
    Updates(usize),
}

/// What an arm writes to a variable.
#[derive(Default)]
struct Written {
    all: bool,
    ranges: Vec<Range<usize>>,
    /// The first group of updates that was added.
    updates: Option<usize>,
}

impl Frame {
    /// Returns the variables of a function, without values.
    pub(super) fn new(instance: Rc<Instance>, outer: Option<Outer>) -> Frame {
        let nothing =
            Variable { word: Rc::new(Word::zero(0)), updates: Vec::new(), own: 0, written: 0 };
        let locals = vec![nothing; instance.locals.len()];
        Frame { instance, locals, left: Left::NOTHING, outer, logs: Vec::new() }
    }

    /// Declares a variable here.
    pub(super) fn declare(&mut self, local: Local, word: Word) {
        let level = self.logs.len();
        self.locals[local as usize] =
            Variable { word: Rc::new(word), updates: Vec::new(), own: level, written: level };
    }

    /// Adds a variable that is declared outside of all arms.
    pub(super) fn add(&mut self, word: Word) -> Local {
        self.locals.push(Variable { word: Rc::new(word), updates: Vec::new(), own: 0, written: 0 });
        if let Some(outer) = &mut self.outer {
            outer.pending.push(false);
        }
        self.locals.len() as Local - 1
    }

    /// Exchanges the value of a variable that has no updates.
    pub(super) fn replace(&mut self, local: Local, word: Rc<Word>) -> Rc<Word> {
        std::mem::replace(&mut self.locals[local as usize].word, word)
    }

    /// Returns the value of a variable that has no updates.
    pub(super) fn word(&self, local: Local) -> &Rc<Word> {
        &self.locals[local as usize].word
    }

    /// Returns the values of all variables; those with updates have others.
    pub(super) fn words(&self) -> Vec<Rc<Word>> {
        self.locals.iter().map(|variable| variable.word.clone()).collect()
    }

    pub(super) fn enter(&mut self) {
        self.logs.push(Vec::new());
    }

    /// Returns whether bits of a variable have updates.
    pub(super) fn is_updated(&self, local: Local, range: &Range<usize>) -> bool {
        let mut updates = self.locals[local as usize].updates.iter().flatten();
        updates.any(|update| update.start < range.end && range.start < update.range().end)
    }

    fn note(&mut self, local: Local, level: usize, undo: Undo) {
        let variable = &mut self.locals[local as usize];
        let written = std::mem::replace(&mut variable.written, level);
        self.logs[level - 1].push(Note { local, undo, written });
    }

    fn undo(&mut self, note: Note) {
        let variable = &mut self.locals[note.local as usize];
        variable.written = note.written;
        match note.undo {
            Undo::Bits(start, bits) => {
                Rc::make_mut(&mut variable.word)[start..start + bits.width()]
                    .copy_from_slice(&bits);
            }
            Undo::All(word, updates) => (variable.word, variable.updates) = (word, updates),
            Undo::Updates(count) => variable.updates.truncate(count),
        }
    }
}

impl Machine<'_, '_, '_> {
    /// Returns whether the function or the round of the loop has been left.
    pub(super) fn left(&mut self, frame: &Frame) -> Bit {
        let left = self.gates.xor_bit(frame.left.returned, frame.left.broken);
        self.gates.xor_bit(left, frame.left.continued)
    }

    /// Writes a part of a variable under a condition.
    pub(super) fn write(&mut self, frame: &mut Frame, local: Local, update: Update) -> Done<()> {
        let level = frame.logs.len();
        let variable = &mut frame.locals[local as usize];
        let is_plain = update.is_plain();
        let is_whole = is_plain && update.width == variable.word.width();
        if !is_whole && is_vast(variable.word.width()) {
            return self.lower.too_vast(update.at);
        }
        if variable.own >= level && !is_plain {
            return self.update(frame, local, vec![vec![update]]);
        }
        if is_whole {
            let word = std::mem::replace(&mut variable.word, update.value);
            let updates = std::mem::take(&mut variable.updates);
            if variable.own < level {
                frame.note(local, level, Undo::All(word, updates));
            }
            return Ok(());
        }
        if !is_plain || !variable.updates.is_empty() {
            return self.update(frame, local, vec![vec![update]]);
        }
        // In place, unless something else keeps the old value.
        let copied = if Rc::strong_count(&variable.word) > 1 { variable.word.width() } else { 0 };
        let range = update.range();
        if variable.own < level {
            let old = variable.word.slice(range.clone());
            frame.note(local, level, Undo::Bits(range.start, old));
        }
        let word = &mut frame.locals[local as usize].word;
        Rc::make_mut(word)[range].copy_from_slice(&update.value);
        self.copied(copied + update.width);
        Ok(())
    }

    /// Adds updates to a variable. Outside of the arms after its declaration, only additions wait.
    pub(super) fn update(
        &mut self,
        frame: &mut Frame,
        local: Local,
        groups: Vec<Group>,
    ) -> Done<()> {
        let level = frame.logs.len();
        let variable = &mut frame.locals[local as usize];
        if variable.own < level {
            let count = variable.updates.len();
            variable.updates.extend(groups);
            frame.note(local, level, Undo::Updates(count));
            return Ok(());
        }
        if groups.iter().flatten().all(is_addition) {
            let most = most_waiting(&groups);
            variable.updates.extend(groups);
            return if variable.updates.len() > most { self.settle(frame, local) } else { Ok(()) };
        }
        self.settle(frame, local)?;
        let variable = &mut frame.locals[local as usize];
        if Rc::strong_count(&variable.word) > 1 {
            self.copied(variable.word.width());
        }
        let mut word = std::mem::take(&mut variable.word);
        let bits: &mut Word = Rc::make_mut(&mut word);
        for group in &groups {
            self.apply(bits, 0, group, false)?;
        }
        frame.locals[local as usize].word = word;
        Ok(())
    }

    /// Makes the gates of a variable's updates.
    pub(super) fn settle(&mut self, frame: &mut Frame, local: Local) -> Done<()> {
        let variable = &frame.locals[local as usize];
        if variable.updates.is_empty() {
            return Ok(());
        }
        let (level, own) = (variable.written, variable.own);
        let word = self.settled(variable)?;
        let variable = &mut frame.locals[local as usize];
        let old = std::mem::replace(&mut variable.word, word);
        let updates = std::mem::take(&mut variable.updates);
        // The value stays the same in all arms from that on in which it was last written.
        if level > own {
            frame.note(local, level, Undo::All(old, updates));
        }
        Ok(())
    }

    fn settled(&mut self, variable: &Variable) -> Done<Rc<Word>> {
        if variable.updates.is_empty() {
            return Ok(variable.word.clone());
        }
        let mut word = Word::clone(&variable.word);
        self.copied(word.width());
        self.apply_all(&mut word, 0, &variable.updates)?;
        Ok(Rc::new(word))
    }

    /// Leaves an arm: takes back what it has written, and returns that as updates.
    pub(super) fn leave(&mut self, frame: &mut Frame) -> Done<Vec<(Local, Vec<Group>)>> {
        let notes = frame.logs.pop().unwrap_or_default();
        self.lower.spent.steps += notes.len() as u64;
        let written = if frame.left.returned == Bit::ONE { Vec::new() } else { written(&notes) };
        let mut changes = Vec::with_capacity(written.len());
        for (local, written) in written {
            let variable = &frame.locals[local as usize];
            let at = self.booking.at;
            let update = |start, value| Update::plain(start, value, at);
            if written.all {
                let word = self.settled(variable)?;
                changes.push((local, vec![vec![update(0, word)]]));
                continue;
            }
            let bits =
                |range: Range<usize>| update(range.start, Rc::new(variable.word.slice(range)));
            let first: Group = joined_ranges(written.ranges).into_iter().map(bits).collect();
            self.copied(first.iter().map(|update| update.width).sum());
            let mut groups = if first.is_empty() { Vec::new() } else { vec![first] };
            if let Some(from) = written.updates {
                groups.extend_from_slice(&variable.updates[from..]);
            }
            changes.push((local, groups));
        }
        notes.into_iter().rev().for_each(|note| frame.undo(note));
        Ok(changes)
    }

    /// Makes the gates of a group of updates of the bits from `first` on. If it is `complete`, one
    /// of the updates of each bit holds, or the bit does not matter.
    pub(super) fn apply(
        &mut self,
        word: &mut [Bit],
        first: usize,
        group: &[Update],
        complete: bool,
    ) -> Done<()> {
        if let [update] = group {
            let condition = if complete { Bit::ONE } else { update.condition };
            return self.apply_one(word, first, update, condition);
        }
        if group.iter().any(|update| !update.ways.is_empty()) {
            // At most one holds, so one after the other gives the same.
            let mut updates = group.iter();
            return updates
                .try_for_each(|update| self.apply_one(word, first, update, update.condition));
        }
        let ranges: Vec<Range<usize>> = group.iter().map(Update::range).collect();
        for (range, here) in segments(&ranges) {
            let at = group[here[0]].at;
            let before = self.account(at);
            let work = range.len() as u64 * here.len() as u64;
            self.lower.spent.steps += work / 32;
            self.room(work.saturating_mul(4), at)?;
            let mut rest = Bit::ONE;
            for &update in &here {
                rest = self.gates.xor_bit(rest, group[update].condition);
            }
            if complete {
                rest = Bit::ZERO;
            }
            for place in range {
                let values = here.iter().map(|&update| &group[update]);
                let values =
                    values.map(|update| (update.condition, update.value[place - update.start]));
                let old = word[place - first];
                word[place - first] = select_among(self.gates, values, (rest, old));
            }
            self.account(before);
        }
        Ok(())
    }

    fn apply_one(
        &mut self,
        word: &mut [Bit],
        first: usize,
        update: &Update,
        condition: Bit,
    ) -> Done<()> {
        let before = self.account(update.at);
        let most = match update.ways.is_empty() {
            true => 3 * update.width as u64,
            false => write_gates(&update.ways, update.width, false),
        };
        self.room(if update.is_plain() { 0 } else { most }, update.at)?;
        self.copied(update.width);
        let range = update.start - first..update.start - first + update.width;
        if update.ways.is_empty() && update.width == word.len() {
            let old = Word::from(word.to_vec());
            if let Some(chosen) = self.choose_derived(condition, &update.value, &old) {
                word.copy_from_slice(&chosen);
                self.account(before);
                return Ok(());
            }
        }
        self.write_way(&mut word[range], &update.ways, &update.value, condition, update.at)?;
        self.account(before);
        Ok(())
    }
}

/// Returns what the notes of an arm say of each variable, in the order of the first writes.
fn written(notes: &[Note]) -> Vec<(Local, Written)> {
    let mut found: Vec<(Local, Written)> = Vec::new();
    let mut places = HashMap::new();
    for note in notes {
        let place = *places.entry(note.local).or_insert_with(|| {
            found.push((note.local, Written::default()));
            found.len() - 1
        });
        let written = &mut found[place].1;
        match &note.undo {
            Undo::Bits(start, bits) => written.ranges.push(*start..start + bits.width()),
            Undo::All(..) => written.all = true,
            Undo::Updates(count) => drop(written.updates.get_or_insert(*count)),
        }
    }
    found
}

/// Returns the ranges in order, those that meet as one.
pub(super) fn joined_ranges(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Returns the parts into which the ends of ranges cut them, in order, each with the ranges that
/// contain it.
pub(super) fn segments(ranges: &[Range<usize>]) -> Vec<(Range<usize>, Vec<usize>)> {
    let mut ends: Vec<usize> = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut order: Vec<usize> = (0..ranges.len()).filter(|&i| !ranges[i].is_empty()).collect();
    order.sort_by_key(|&place| ranges[place].start);
    let mut order = order.into_iter().peekable();
    let (mut here, mut found) = (Vec::<usize>::new(), Vec::new());
    for pair in ends.windows(2) {
        here.retain(|&place| ranges[place].end > pair[0]);
        while let Some(place) = order.next_if(|&place| ranges[place].start == pair[0]) {
            let at = here.partition_point(|&other| other < place);
            here.insert(at, place);
        }
        if !here.is_empty() {
            found.push((pair[0]..pair[1], here.clone()));
        }
    }
    found
}
