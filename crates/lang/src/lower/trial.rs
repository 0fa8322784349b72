//! The body of a repeated loop, written as a component, with what is assumed of its variables.

use std::collections::HashMap;
use std::rc::Rc;

use num_bigint::BigInt;
use symbolon_circuit::builder::{Bit, ComponentBuilder, Joiner, Subcircuit, Word};

use super::body::{Body, Counter, Most, Outer, Passed, Rounds, Stretch};
use super::places::constant;
use super::scatter::Given;
use super::state::Frame;
use super::vast::is_vast;
use super::{Booked, Done, Failed, Machine, Never};
use crate::cost::Totals;
use crate::source::Span;
use crate::tir::{Local, PatternKind};
use crate::ty::TyId;
use crate::value::Value;
use crate::walk::{assigned, bound, collect};

/// What becomes of a bit of a variable that a body may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is a constant before the loop, and stays one.
    Known,
    /// It stays as it is.
    Kept,
    /// The body changes it.
    Changed,
}

impl Fate {
    pub(super) fn of(known: bool) -> Fate {
        if known { Fate::Known } else { Fate::Changed }
    }
}

/// What becomes of the bits of the variables that are carried, and those that are passed on.
type Fates = (Vec<Vec<Fate>>, Vec<Bit>);

/// What is assumed of the variables that a body changes.
pub(super) struct Guess {
    /// Those that are carried from round to round as a whole.
    pub(super) carried: Vec<(Local, Rc<Word>)>,
    pub(super) fates: Vec<Vec<Fate>>,
    /// Which of their bits are zeros throughout, whatever the gates show.
    pub(super) zeros: Vec<Vec<bool>>,
    /// Those of which each round has elements of its own, and how many indices these have.
    pub(super) arrays: Vec<(Local, usize)>,
    /// Whether elements that are constants before the loop are taken as such.
    pub(super) assumes: bool,
}

impl Guess {
    /// Notes which bits are no constants, or else which variables are none `as a whole`: the
    /// carries of a sum would show one bit after the other.
    pub(super) fn learn(&mut self, fates: Vec<Vec<Fate>>, as_a_whole: bool) {
        let known = |fates: &[Fate]| fates.iter().filter(|fate| **fate == Fate::Known).count();
        for ((before, after), zeros) in self.fates.iter_mut().zip(fates).zip(&self.zeros) {
            let changed = known(&after) < known(before);
            *before = after;
            if changed && as_a_whole {
                *before = zeros.iter().map(|zero| Fate::of(*zero)).collect();
            }
        }
    }
}

/// How the writing of a body as a component ended.
pub(super) enum Outcome {
    Fits(Trial),
    /// It would take more gates than it may.
    Refused,
    /// Some bits that were assumed constant are changed; the others may be constant.
    Again(Vec<Vec<Fate>>),
    /// How many rounds have the same constants.
    Differs(u32),
    /// The elements of arrays do not go from round to round as they must.
    Clash,
}

/// A body as a component.
pub(super) struct Trial {
    pub(super) body: Subcircuit,
    /// How many look-ups it has.
    pub(super) lookups: u64,
    /// What becomes of each bit that is carried.
    pub(super) fates: Vec<Vec<Fate>>,
    pub(super) passed: Vec<Passed>,
    pub(super) given: Vec<Given>,
    pub(super) never: Option<Never>,
    pub(super) name: String,
    pub(super) costs: HashMap<Span, Totals>,
}

impl Machine<'_, '_, '_> {
    /// Writes a body as a component, unless that takes more gates than it may. `alive` is set if it
    /// can fail.
    pub(super) fn trial(
        &mut self,
        frame: &Frame,
        rounds: &Rounds,
        stretch: Stretch,
        (body, name): (Body<'_>, String),
        (most, alive): (Most, Option<Bit>),
        guess: &Guess,
    ) -> Done<Outcome> {
        if guess.carried.iter().any(|(_, word)| is_vast(word.width())) {
            return Ok(Outcome::Refused);
        }
        let (whole, depth, code_bits) = (self.whole, self.depth, self.lower.code_bits);
        // What fails in every round of a loop that is reached fails in the component around it.
        let around = if self.is_certain() { self.given } else { 0 };
        let mut builder = ComponentBuilder::new(name.clone());
        let mut inner = inner_frame(frame, body, guess);
        let mut input = |width: usize| match width {
            0 => Word::zero(0),
            width => builder.input(width),
        };
        let given = given(&guess.carried, &guess.fates, &mut input);
        for ((local, _), word) in guess.carried.iter().zip(&given) {
            inner.declare(*local, word.clone());
        }
        let element = frame.instance.types[body.pattern.ty as usize];
        let width = self.width(element);
        if matches!(rounds, Rounds::Range(_)) && width > 64 {
            return Ok(Outcome::Refused);
        }
        let word = input(width * stretch.each as usize);
        let first = match rounds {
            Rounds::Range(low) => Some(self.start(element, low + stretch.place)),
            Rounds::Array(..) => None,
        };
        let each = (stretch.each, first);
        let (failed, code) = match alive {
            Some(_) => (input(1)[0], input(code_bits)),
            None => (Bit::ZERO, Word::zero(code_bits)),
        };
        if let Some(outer) = &mut inner.outer {
            outer.counter = counter(rounds, stretch, body);
        }
        let mut machine = Machine::new(self.lower, &mut builder, whole);
        (machine.depth, machine.failure.failed, machine.failure.code) = (depth, failed, code);
        machine.account(body.expr.span);
        if let (Some(alive), Some(outer)) = (alive, &mut inner.outer) {
            let alive = outer.bit(machine.gates, alive);
            machine.path.push((alive, Some(alive)));
            machine.given = around;
        }
        let Ok(value) = machine.rounds_of_body(&mut inner, body, each, &word) else {
            let differs = inner.outer.and_then(|outer| outer.differs);
            return differs.map(Outcome::Differs).ok_or(Failed);
        };
        if [inner.left.returned, inner.left.broken] != [Bit::ZERO; 2] {
            return Ok(Outcome::Refused);
        }
        let (after, mut outputs) = machine.compared(&mut inner, guess, &given)?;
        let known =
            |fates: &[Vec<Fate>]| fates.iter().flatten().filter(|f| **f == Fate::Known).count();
        if known(&after) < known(&guess.fates) {
            return Ok(Outcome::Again(after));
        }
        let Some(scattered) = machine.scattered(&mut inner) else { return Ok(Outcome::Clash) };
        let (guards, never) = (machine.counts.failing_calls, machine.failure.never);
        let (failed, code, booked) = machine.into_parts();
        let (failed, code) = match alive {
            Some(_) => (&[failed][..], &code[..]),
            None => (&[][..], &[][..]),
        };
        let value = if body.gives { &value[..] } else { &[] };
        for part in [failed, code, &scattered.carried, &scattered.outputs, value] {
            outputs.extend_from_slice(part);
        }
        builder.output(&outputs);
        let lookups = builder.lookup_count();
        let booked = (booked, body.expr.span);
        let Some((finished, costs)) = self.finished(builder, booked, &outputs, (most, guards))
        else {
            return Ok(Outcome::Refused);
        };
        let passed = inner.outer.map(|outer| outer.passed).unwrap_or_default();
        let given = scattered.given;
        let (body, fates) = (finished, after);
        Ok(Outcome::Fits(Trial { body, lookups, fates, passed, given, never, name, costs }))
    }

    /// Writes `each` rounds of a body, each with its part of the word; returns their values in a
    /// row. If the parts are counters, the `first` one begins with the low bits of this number.
    fn rounds_of_body(
        &mut self,
        inner: &mut Frame,
        body: Body<'_>,
        (each, first): (u32, Option<u64>),
        word: &Word,
    ) -> Done<Word> {
        let width = word.width() / each as usize;
        let mut values = Joiner::default();
        for part in 0..each {
            if let Some(counter) = inner.outer.as_mut().and_then(|outer| outer.counter.as_mut()) {
                counter.part = part;
            }
            let start = part as usize * width;
            let mut word = word.slice(start..start + width);
            if let Some(first) = first {
                let known = first.wrapping_add(part.into());
                for place in 0..width.min(each.trailing_zeros() as usize) {
                    word[place] = Bit::constant(known >> place & 1 == 1);
                }
            }
            self.bind(inner, body.pattern, &word)?;
            let value = self.eval(inner, body.expr)?;
            if each > 1 {
                inner.left.continued = Bit::ZERO;
            }
            if body.gives {
                values.push(&value);
            }
        }
        Ok(values.finish())
    }

    /// Returns what has become of the carried variables, and the bits that the body passes on.
    fn compared(&mut self, inner: &mut Frame, guess: &Guess, given: &[Word]) -> Done<Fates> {
        let (mut after, mut outputs) = (Vec::new(), Vec::new());
        for (place, (local, _)) in guess.carried.iter().enumerate() {
            self.settle(inner, *local)?;
            let (word, before) = (inner.word(*local), &given[place]);
            let one = |bit: usize| match (word[bit] == before[bit], guess.fates[place][bit]) {
                _ if guess.zeros[place][bit] => Fate::Known,
                (true, Fate::Known) => Fate::Known,
                (true, _) => Fate::Kept,
                (false, _) => Fate::Changed,
            };
            let fates: Vec<Fate> = (0..word.width()).map(one).collect();
            let changed = word.iter().zip(&fates).filter(|(_, fate)| **fate == Fate::Changed);
            outputs.extend(changed.map(|(&bit, _)| bit));
            after.push(fates);
        }
        Ok((after, outputs))
    }

    /// Finishes a body, unless it takes more gates than it may.
    fn finished(
        &mut self,
        builder: ComponentBuilder,
        booked: (Booked, Span),
        outputs: &[Bit],
        (most, guards): (Most, u64),
    ) -> Option<(Subcircuit, HashMap<Span, Totals>)> {
        if let Most::Gates(ands, lookups) = most
            && (builder.and_count() > ands || builder.lookup_count() > lookups)
        {
            return None;
        }
        let (finished, costs) = self.lower.finish(builder, booked, outputs).ok()?;
        let fits = most.is_large() || finished.has_calls() && finished.own_gates() <= guards;
        fits.then_some((finished, costs))
    }

    /// Returns the low bits of a counter's first value.
    pub(super) fn start(&self, ty: TyId, first: BigInt) -> u64 {
        constant(&self.constant_word(ty, &Value::Int(first))).unwrap_or(0) as u64
    }
}

/// Returns the carried variables as the body sees them: constants for known bits, inputs for
/// others.
fn given(
    carried: &[(Local, Rc<Word>)],
    fates: &[Vec<Fate>],
    mut input: impl FnMut(usize) -> Word,
) -> Vec<Word> {
    let one = |((_, word), fates): (&(Local, Rc<Word>), &Vec<Fate>)| {
        let unknown = fates.iter().filter(|fate| **fate != Fate::Known).count();
        let inputs = input(unknown);
        let mut inputs = inputs.iter().copied();
        let bits = word.iter().zip(fates).map(|(&bit, fate)| match fate {
            Fate::Known => bit,
            _ => inputs.next().unwrap_or(bit),
        });
        bits.collect()
    };
    carried.iter().zip(fates).map(one).collect()
}

/// Returns the counter of a body, if it has one that it does not change.
pub(super) fn counter(rounds: &Rounds, stretch: Stretch, body: Body<'_>) -> Option<Counter> {
    let (Rounds::Range(low), PatternKind::Bind(local)) = (rounds, &body.pattern.kind) else {
        return None;
    };
    let low = i128::try_from(low).ok()? + i128::from(stretch.place);
    let changed = assigned(body.expr).contains(local);
    let Stretch { bodies, each, .. } = stretch;
    (!changed).then_some(Counter { local: *local, low, bodies, each, part: 0 })
}

/// Returns the frame of a body: what it declares and what is carried is its own, all else is
/// outside.
fn inner_frame(frame: &Frame, body: Body<'_>, guess: &Guess) -> Frame {
    let mut pending = vec![true; frame.instance.locals.len()];
    let mut own = Vec::new();
    collect(body.pattern, &mut own);
    own.extend(bound(body.expr));
    own.extend(guess.carried.iter().map(|(local, _)| *local));
    own.extend(guess.arrays.iter().map(|(local, _)| *local));
    own.into_iter().for_each(|local| pending[local as usize] = false);
    let outer = Outer {
        words: frame.words(),
        pending,
        bits: HashMap::new(),
        elements: HashMap::new(),
        others: HashMap::new(),
        passed: Vec::new(),
        counter: None,
        differs: None,
        arrays: guess.arrays.clone(),
        scattered: Vec::new(),
        assumes: guess.assumes,
    };
    Frame::new(frame.instance.clone(), Some(outer))
}
