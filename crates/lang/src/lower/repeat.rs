//! Loops that stay loops: the body becomes a component, and the rounds one [`Gates::repeat`].
//!
//! What the body reads is the same in every round, what it changes is carried from one to the next,
//! and each round has its own element or counter. A counter is a constant where rounds are written
//! out, so a body that computes with it may take more gates as a component; it is then written out
//! after all. Each round also has its own `a[i]`, if the counter decides `i` ([`super::scatter`]).
//! Where a constant differs from round to round, a repeat goes up to the first other value.
//!
//! [`Gates::repeat`]: symbolon_circuit::builder::Gates::repeat

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use num_bigint::BigInt;
use symbolon_circuit::builder::{Argument, Bit, ComponentBuilder, Joiner, Subcircuit, Word};

use super::body::{Body, Counter, Outer, Passed};
use super::places::constant;
use super::scatter::{self, Given, mentions};
use super::state::{Frame, Update};
use super::vast::is_vast;
use super::{Booked, Done, Failed, Machine, Never, calls};
use crate::cost::Totals;
use crate::source::Span;
use crate::tir::{Expr, Kind, Local, PatternKind};
use crate::ty::TyId;
use crate::value::Value;
use crate::walk::{assigned, bound, collect, walk};

/// A body is written at most this often, to find the bits that stay constants, the elements of
/// arrays that it passes on, and the rounds that have the same constants.
const TRIALS: u32 = 8;

/// After this many trials, a variable with a bit that is not constant is taken to have no constant
/// bits.
const GRADUAL: u32 = 3;

/// Fewer rounds than this are written out, unless their gates are in components.
const FEWEST: u32 = 8;

/// Each time counts as this many steps, apart from those of the body: a component takes time and
/// memory however small it is.
const TRIAL: u64 = 1024;

/// How many bits, passed to rounds or back, count as one step.
const PASSED: u64 = 64;

/// What a loop goes over.
pub(super) enum Rounds {
    /// Integers from this one on.
    Range(BigInt),
    /// The elements of an array, of this many bits each.
    Array(Word, usize),
}

/// The gates that a body may take.
#[derive(Clone, Copy)]
pub(super) enum Most {
    /// None of its own: only calls and free gates.
    Calls,
    /// At most as many ANDs and look-ups as a round that was written out.
    Gates(u64, u64),
}

impl Most {
    fn is_large(self) -> bool {
        matches!(self, Most::Gates(..))
    }
}

/// What becomes of a bit of a variable that a body may change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is a constant before the loop, and stays one.
    Known,
    /// It stays as it is.
    Kept,
    /// The body changes it.
    Changed,
}

impl Fate {
    fn of(known: bool) -> Fate {
        if known { Fate::Known } else { Fate::Changed }
    }
}

/// What becomes of the bits of the variables that are carried, and those that are passed on.
type Fates = (Vec<Vec<Fate>>, Vec<Bit>);

/// How the writing of a body as a component ended.
enum Outcome {
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

/// How the writing of rounds as a repeat ended.
#[derive(Default)]
pub(super) struct Repeated {
    /// How many rounds are written.
    pub(super) rounds: u64,
    /// If none is: how many have the same constants, if that is why.
    pub(super) alike: u64,
}

impl Guess {
    /// Notes which bits are no constants, or else which variables are none `as a whole`: the
    /// carries of a sum would show one bit after the other.
    fn learn(&mut self, fates: Vec<Vec<Fate>>, as_a_whole: bool) {
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

/// What is assumed of the variables that a body changes.
struct Guess {
    /// Those that are carried from round to round as a whole.
    carried: Vec<(Local, Rc<Word>)>,
    fates: Vec<Vec<Fate>>,
    /// Which of their bits are zeros throughout, whatever the gates show.
    zeros: Vec<Vec<bool>>,
    /// Those of which each round has elements of its own, and how many indices these have.
    arrays: Vec<(Local, usize)>,
    /// Whether elements that are constants before the loop are taken as such.
    assumes: bool,
}

/// A body as a component.
struct Trial {
    body: Subcircuit,
    /// What becomes of each bit that is carried.
    fates: Vec<Vec<Fate>>,
    passed: Vec<Passed>,
    given: Vec<Given>,
    never: Option<Never>,
    name: String,
    costs: HashMap<Span, Totals>,
}

impl Machine<'_, '_, '_> {
    /// Returns whether an expression calls what may be a component.
    pub(super) fn may_call(&mut self, frame: &Frame, expr: &Expr) -> bool {
        let key = (expr.id, self.whole);
        if let Some(&known) = self.lower.facts.may_call.get(&key) {
            return known;
        }
        let found = self.finds_call(frame, expr);
        self.lower.facts.may_call.insert(key, found);
        found
    }

    fn finds_call(&mut self, frame: &Frame, expr: &Expr) -> bool {
        let mut called = Vec::new();
        walk(expr, 1, &mut |expr, _| {
            if let Kind::Call(call, _) = expr.kind {
                called.push(frame.instance.calls[call]);
            }
        });
        // Calls of calls, up to eight deep; each instance is looked at once.
        let mut seen = HashSet::new();
        for _ in 0..=8 {
            called.retain(|place| seen.insert(*place));
            let mut next = Vec::new();
            for place in called {
                let Ok(instance) = self.lower.instance(place) else { continue };
                let often = self.lower.facts.counts.get(&place).copied().unwrap_or(0) > 1;
                if !self.lower.is_inline(&instance)
                    && (instance.component || (often && !self.whole))
                {
                    return true;
                }
                next.extend_from_slice(&instance.calls);
            }
            called = next;
        }
        false
    }

    /// Writes rounds from round `place` on as a repeat, at most `count`. If it writes none, nothing
    /// that it has written reaches an output.
    pub(super) fn repeat(
        &mut self,
        frame: &mut Frame,
        rounds: &Rounds,
        (place, count): (u64, u64),
        (body, most): (Body<'_>, Most),
        values: &mut Joiner,
    ) -> Done<Repeated> {
        let key = body.expr.id;
        let Ok(mut count) = u32::try_from(count) else { return Ok(Repeated::default()) };
        let asked_before = matches!(most, Most::Calls) && self.lower.repeats.refused.contains(&key);
        let is_inside = |outer: &Outer| mentions(body.expr, &outer.arrays);
        if count < 2
            || asked_before
            || frame.left.flags() != [Bit::ZERO; 3]
            || frame.outer.as_ref().is_some_and(is_inside)
        {
            return Ok(Repeated::default());
        }
        let fewest = if most.is_large() && !self.lower.repeats.all { FEWEST } else { 2 };
        let errors = self.lower.errors.clone();
        let function = frame.instance.name.clone();
        let loops = self.lower.repeats.loops.get(&function).copied().unwrap_or(0);
        let booked = self.lower.costs.as_ref().map_or(0, |costs| costs.components.len());
        self.lower.repeats.loops.insert(function.clone(), loops + 1);
        let name = format!("{function} loop {}", loops + 1);
        let fails = calls::can_fail(self.lower, &frame.instance, body.expr);
        let alive = if fails { Some(self.alive()) } else { None };
        let scatters = counter(rounds, place, count, body).is_some();
        let mut guess = self.guess(frame, body, count, scatters)?;
        let mut alike = 0;
        for trial in 0..TRIALS {
            let width: usize = guess.carried.iter().map(|(_, word)| word.width()).sum();
            self.lower.spent.steps += TRIAL + width as u64 / 16;
            let (at, named) = ((place, count), (body, name.clone()));
            match self.trial(frame, rounds, at, named, (most, alive), &guess) {
                Ok(Outcome::Fits(trial)) => {
                    self.put_rounds(frame, rounds, at, body, (trial, guess, fails), values)?;
                    return Ok(Repeated { rounds: count.into(), alike: 0 });
                }
                Ok(Outcome::Again(next)) => guess.learn(next, trial >= GRADUAL),
                Ok(Outcome::Differs(fewer)) if fewer >= fewest => count = fewer,
                Ok(Outcome::Differs(fewer)) => {
                    alike = fewer.into();
                    break;
                }
                Ok(Outcome::Clash) if guess.assumes => guess.assumes = false,
                Ok(Outcome::Clash) | Err(Failed) if !guess.arrays.is_empty() => {
                    guess = self.guess(frame, body, count, false)?;
                }
                Ok(Outcome::Refused | Outcome::Clash) | Err(Failed) => break,
            }
            // Any errors are found again in the rounds that are written out.
            *self.lower.errors = errors.clone();
            self.forget_loops(&function, loops + 1, booked);
        }
        *self.lower.errors = errors;
        self.forget_loops(&function, loops, booked);
        if alike == 0 {
            self.lower.repeats.refused.insert(key);
        }
        Ok(Repeated { rounds: 0, alike })
    }

    /// Returns what is assumed of the variables that a body changes at first. Those whose elements
    /// it uses alone are carried as a whole unless `scatters`.
    fn guess(
        &mut self,
        frame: &mut Frame,
        body: Body<'_>,
        count: u32,
        scatters: bool,
    ) -> Done<Guess> {
        let changed = self.changed(frame, body)?;
        let arrays = if scatters { scatter::arrays(body, &changed) } else { Vec::new() };
        let mut carried = Vec::new();
        for local in changed {
            let word = self.local(frame, local)?;
            if !arrays.iter().any(|(array, _)| *array == local) {
                carried.push((local, word));
            }
        }
        // Bits that are constants before the loop are assumed constant until the body changes them.
        let (mut fates, mut zeros) = (Vec::new(), Vec::new());
        for (local, word) in &carried {
            let bounds = self.bounds(frame, body.expr, (*local, word), count);
            let known = |bit: &Bit| Fate::of(bit.as_constant().is_some());
            fates.push(match &bounds {
                Some(zeros) => zeros.iter().map(|zero| Fate::of(*zero)).collect(),
                None => word.iter().map(known).collect(),
            });
            zeros.push(bounds.unwrap_or_else(|| vec![false; word.width()]));
        }
        Ok(Guess { carried, fates, zeros, arrays, assumes: true })
    }

    /// Frees the names of the loops in a body that is written out after all, and drops what was
    /// booked for them.
    fn forget_loops(&mut self, function: &str, loops: u32, booked: usize) {
        self.lower.repeats.loops.insert(function.to_string(), loops);
        if let Some(costs) = &mut self.lower.costs {
            let prefix = format!("{function} loop ");
            let mut place = 0;
            costs.components.retain(|(name, _)| {
                place += 1;
                place <= booked || !name.starts_with(&prefix)
            });
        }
    }

    /// Returns the variables that a body changes. In the body of a repeated loop, also takes what
    /// it reads from outside.
    fn changed(&mut self, frame: &mut Frame, body: Body<'_>) -> Done<Vec<Local>> {
        let mut own = Vec::new();
        collect(body.pattern, &mut own);
        let mut read = Vec::new();
        walk(body.expr, 1, &mut |expr, _| {
            if let Kind::Local(local) = expr.kind {
                read.push(local);
            }
        });
        for local in read {
            if frame.outer.is_some() {
                self.local(frame, local)?;
            } else {
                self.settle(frame, local)?;
            }
        }
        let assigned = self.assigned(body.expr);
        Ok(assigned.iter().copied().filter(|local| !own.contains(local)).collect())
    }

    /// Writes a body as a component, unless that takes more gates than it may. `alive` is set if it
    /// can fail.
    fn trial(
        &mut self,
        frame: &Frame,
        rounds: &Rounds,
        (place, count): (u64, u32),
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
        let word = input(width);
        let (failed, code) = match alive {
            Some(_) => (input(1)[0], input(code_bits)),
            None => (Bit::ZERO, Word::zero(code_bits)),
        };
        if let Some(outer) = &mut inner.outer {
            outer.counter = counter(rounds, place, count, body);
        }
        let mut machine = Machine::new(self.lower, &mut builder, whole);
        (machine.depth, machine.failure.failed, machine.failure.code) = (depth, failed, code);
        machine.account(body.expr.span);
        if let (Some(alive), Some(outer)) = (alive, &mut inner.outer) {
            let alive = outer.bit(machine.gates, alive);
            machine.path.push((alive, Some(alive)));
            machine.given = around;
        }
        machine.bind(&mut inner, body.pattern, &word)?;
        let Ok(value) = machine.eval(&mut inner, body.expr) else {
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
        let booked = (booked, body.expr.span);
        let Some((finished, costs)) = self.finished(builder, booked, &outputs, (most, guards))
        else {
            return Ok(Outcome::Refused);
        };
        let passed = inner.outer.map(|outer| outer.passed).unwrap_or_default();
        let given = scattered.given;
        Ok(Outcome::Fits(Trial { body: finished, fates: after, passed, given, never, name, costs }))
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

    /// Puts a repeat into the current component.
    fn put_rounds(
        &mut self,
        frame: &mut Frame,
        rounds: &Rounds,
        (place, count): (u64, u32),
        body: Body<'_>,
        (trial, guess, fails): (Trial, Guess, bool),
        values: &mut Joiner,
    ) -> Done<()> {
        let span = body.expr.span;
        self.failure.never = self.failure.never.or(trial.never);
        let before = self.account(span);
        let mut args: Vec<Argument<'_>> = Vec::new();
        for ((_, word), fates) in guess.carried.iter().zip(&trial.fates) {
            // Known bits are not inputs of the component.
            let mut start = 0;
            for run in fates.chunk_by(|a, b| a == b) {
                let part = &word[start..start + run.len()];
                match run[0] {
                    Fate::Known => {}
                    Fate::Kept => args.push(Argument::Fixed(part)),
                    Fate::Changed => args.push(Argument::Carried(part)),
                }
                start += run.len();
            }
        }
        let element = frame.instance.types[body.pattern.ty as usize];
        let rest = match rounds {
            Rounds::Range(_) => Word::zero(0),
            Rounds::Array(word, width) => {
                let start = place as usize * width;
                word.slice(start..start + count as usize * width)
            }
        };
        args.push(match rounds {
            Rounds::Range(low) => self.counter_argument(element, low + place),
            Rounds::Array(..) => Argument::Strided(&rest),
        });
        let (failed, code) = ([self.failure.failed], self.failure.code.clone());
        if fails {
            args.extend([Argument::Carried(&failed), Argument::Carried(&code)]);
        }
        for passed in &trial.passed {
            args.push(match passed {
                Passed::Fixed(bit) => Argument::Fixed(std::slice::from_ref(bit)),
                Passed::Strided(word) => Argument::Strided(word),
                Passed::Carried(word) => Argument::Carried(word),
            });
        }
        self.passes(&args, &trial.body, count);
        let (results, others) = self.gates.repeat(&trial.body, count, &args);
        let mut results = results.iter().copied();
        for ((local, word), fates) in guess.carried.iter().zip(&trial.fates) {
            let merged = word.iter().zip(fates).map(|(&old, fate)| match fate {
                Fate::Changed => results.next().unwrap_or(old),
                _ => old,
            });
            let word: Word = merged.collect();
            self.write(frame, *local, Update::plain(0, Rc::new(word), span))?;
        }
        if fails {
            self.failure.failed = results.next().unwrap_or(self.failure.failed);
            self.counts.failing_calls += 1;
            self.failure.code = results.take(self.lower.code_bits).collect();
        }
        let each = others.width() / count as usize;
        self.scatter(frame, &trial.given, (&others, each), span)?;
        if body.gives {
            let written: usize = trial.given.iter().map(Given::bits).sum();
            if written == 0 {
                values.push(&others);
            } else {
                others.chunks(each.max(1)).for_each(|round| values.push_bits(&round[written..]));
            }
        }
        let rounds = u64::from(count);
        let port_bits = trial.body.port_bits().saturating_mul(rounds);
        self.book(span, Totals { calls: rounds, port_bits, ..Totals::default() });
        if let Some(all) = &mut self.lower.costs {
            all.components.push((trial.name, trial.costs));
        }
        self.account(before);
        Ok(())
    }

    /// Counts the bits that go into the rounds of a repeat, and come out of them. What rounds carry
    /// comes out of the last one alone.
    pub(super) fn passes(&mut self, args: &[Argument<'_>], body: &Subcircuit, count: u32) {
        let (mut bits, mut carried) = (0, 0);
        for arg in args {
            match arg {
                Argument::Fixed(word) => bits += word.len() as u64,
                Argument::Strided(word) => bits += word.width() as u64,
                Argument::Carried(word) => carried += word.len() as u64,
                Argument::Counter { .. } => {}
            }
        }
        let each = body.output_count().saturating_sub(carried);
        let given = each.saturating_mul(count.into());
        self.lower.spent.steps += given.saturating_add(bits + 2 * carried) / PASSED;
    }

    fn counter_argument(&self, ty: TyId, first: BigInt) -> Argument<'static> {
        let word = self.constant_word(ty, &Value::Int(first));
        let start = constant(&word).unwrap_or(0) as u64;
        Argument::Counter { start, step: 1, bits: word.width() as u32 }
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
fn counter(rounds: &Rounds, place: u64, count: u32, body: Body<'_>) -> Option<Counter> {
    let (Rounds::Range(low), PatternKind::Bind(local)) = (rounds, &body.pattern.kind) else {
        return None;
    };
    let low = i128::try_from(low).ok()? + i128::from(place);
    let changed = assigned(body.expr).contains(local);
    (!changed).then_some(Counter { local: *local, low, count })
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
