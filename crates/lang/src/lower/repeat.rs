//! Loops that stay loops: the body becomes a component, and the rounds one [`Gates::repeat`].
//!
//! What the body reads is the same in every round, what it changes is carried from one to the next,
//! and each round has its own element or counter. A counter is a constant where rounds are written
//! out, so a body that computes with it may take more gates as a component; it is then written out
//! after all. Each round also has its own `a[i]`, if the counter decides `i` ([`super::scatter`]).
//! Where a constant differs from round to round, a repeat goes up to the first other value.
//!
//! Rounds that are written out may share gates, as additions to one number do: their carries come
//! once. So where a body of many rounds takes fewer gates than as many bodies, it has many rounds.
//!
//! [`Gates::repeat`]: symbolon_circuit::builder::Gates::repeat

use std::collections::HashSet;
use std::rc::Rc;

use symbolon_circuit::builder::{Argument, Bit, Joiner, Subcircuit, Word};

use super::body::{Body, Most, Outer, Passed, Rounds, Stretch};
use super::scatter::{self, Given, mentions};
use super::state::{Frame, Update};
use super::trial::{Fate, Guess, Outcome, Trial, counter};
use super::{Done, Failed, Machine, calls};
use crate::cost::Totals;
use crate::tir::{Expr, Kind, Local};
use crate::walk::{collect, walk};

/// A body is written at most this often, to find the bits that stay constants, the elements of
/// arrays that it passes on, and the rounds that have the same constants.
const TRIALS: u32 = 8;

/// After this many trials, a variable with a bit that is not constant is taken to have no constant
/// bits.
const GRADUAL: u32 = 3;

/// Fewer rounds than this are written out, unless their gates are in components.
const FEWEST: u32 = 8;

/// A body of several rounds has at most about this many AND gates and steps, and a number of rounds
/// between these: few enough to compile, and enough for rounds that share most of what they take.
const BLOCK_GATES: u64 = 1 << 15;
const BLOCK_STEPS: u64 = 1 << 18;
const SMALLEST_BLOCK: u32 = 8;
const LARGEST_BLOCK: u32 = 128;

/// Each time counts as this many steps, apart from those of the body: a component takes time and
/// memory however small it is.
const TRIAL: u64 = 1024;

/// How many bits, passed to rounds or back, count as one step.
const PASSED: u64 = 64;

/// How the writing of rounds as a repeat ended.
#[derive(Default)]
pub(super) struct Repeated {
    /// How many rounds are written.
    pub(super) rounds: u64,
    /// If none is: how many have the same constants, if that is why.
    pub(super) alike: u64,
}

/// How all trials of a loop ended.
enum Found {
    /// A body for these rounds.
    Fits(Stretch, Box<(Trial, Guess)>),
    /// How many rounds have the same constants, if that is why there is none.
    Not { alike: u64 },
}

/// The name of a loop as a component, and what there was before its body.
struct Named {
    function: String,
    name: String,
    /// How many loops of the function were repeats.
    number: u32,
    /// How many components had booked costs.
    booked: usize,
}

impl Named {
    /// Names the next loop of a function.
    fn next(machine: &mut Machine<'_, '_, '_>, function: String) -> Named {
        let lower = &mut machine.lower;
        let loops = lower.repeats.loops.entry(function.clone()).or_default();
        let number = *loops;
        *loops += 1;
        let booked = lower.costs.as_ref().map_or(0, |costs| costs.components.len());
        Named { name: format!("{function} loop {}", number + 1), function, number, booked }
    }
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
        let Ok(count) = u32::try_from(count) else { return Ok(Repeated::default()) };
        let asked_before = matches!(most, Most::Calls) && self.lower.repeats.refused.contains(&key);
        let is_inside = |outer: &Outer| mentions(body.expr, &outer.arrays);
        if count < 2
            || asked_before
            || frame.left.flags() != [Bit::ZERO; 3]
            || frame.outer.as_ref().is_some_and(is_inside)
        {
            return Ok(Repeated::default());
        }
        let errors = self.lower.errors.clone();
        let named = Named::next(self, frame.instance.name.clone());
        let fails = calls::can_fail(self.lower, &frame.instance, body.expr);
        let alive = if fails { Some(self.alive()) } else { None };
        let whole = Stretch { place, bodies: count, each: 1 };
        let found = self.trials(frame, rounds, whole, (body, &named), (most, alive))?;
        let Found::Fits(mut stretch, mut fitting) = found else {
            *self.lower.errors = errors;
            self.forget_loops(&named, named.number);
            let Found::Not { alike } = found else { return Ok(Repeated::default()) };
            if alike == 0 {
                self.lower.repeats.refused.insert(key);
            }
            return Ok(Repeated { rounds: 0, alike });
        };
        if let Some((least, each)) = self.several(&named, &fitting.0, (stretch, most)) {
            let blocks = Stretch { bodies: stretch.bodies / each, each, ..stretch };
            let errors = self.lower.errors.clone();
            let found = self.trials(frame, rounds, blocks, (body, &named), (least, alive))?;
            match found {
                Found::Fits(blocks, trial) if !self.has_inner(&named) => {
                    (stretch, fitting) = (blocks, trial);
                }
                _ => {
                    *self.lower.errors = errors;
                    self.forget_loops(&named, named.number + 1);
                }
            }
        }
        let (trial, guess) = *fitting;
        self.put_rounds(frame, rounds, stretch, body, (trial, guess, fails), values)?;
        Ok(Repeated { rounds: stretch.rounds(), alike: 0 })
    }

    /// Returns how many rounds a body should have so that they can share gates, and what it may
    /// take: less than as many bodies of one round. `None` if a body stays with one round, as there
    /// are too few rounds, they are too large, or an array goes from one to the next.
    fn several(
        &self,
        named: &Named,
        trial: &Trial,
        (stretch, most): (Stretch, Most),
    ) -> Option<(Most, u32)> {
        if !most.is_large() || self.has_inner(named) || !trial.given.is_empty() {
            return None;
        }
        if self.lower.repeats.all {
            // Every other loop has such a body, whatever it costs.
            let has = named.number.is_multiple_of(2) && stretch.bodies >= 4;
            return has.then_some((most, 2));
        }
        let (ands, lookups) = (trial.body.and_count(), trial.lookups);
        if ands == 0 {
            return None;
        }
        let most = (BLOCK_GATES / ands).min(BLOCK_STEPS / trial.body.own_steps().max(1));
        let each = most.clamp(1, LARGEST_BLOCK.into());
        // A power of two, so that the counter's low bits are constants.
        let each = 1 << each.ilog2();
        let is_long = each >= SMALLEST_BLOCK && stretch.bodies / each >= FEWEST;
        let all = u64::from(each) * ands;
        // Seven eighths.
        is_long.then_some((Most::Gates(all - all / 8, u64::from(each) * lookups), each))
    }

    /// Tries to write the rounds of a stretch as a repeat, or the first of them.
    fn trials(
        &mut self,
        frame: &mut Frame,
        rounds: &Rounds,
        mut stretch: Stretch,
        (body, named): (Body<'_>, &Named),
        (most, alive): (Most, Option<Bit>),
    ) -> Done<Found> {
        let fewest = if most.is_large() && !self.lower.repeats.all { FEWEST } else { 2 };
        let errors = self.lower.errors.clone();
        let scatters = counter(rounds, stretch, body).is_some() && stretch.each == 1;
        let mut guess = self.guess(frame, body, stretch, scatters)?;
        for trial in 0..TRIALS {
            let width: usize = guess.carried.iter().map(|(_, word)| word.width()).sum();
            self.lower.spent.steps += TRIAL + width as u64 / 16;
            let limits = (most, alive);
            match self.trial(frame, rounds, stretch, (body, named.name.clone()), limits, &guess) {
                Ok(Outcome::Fits(trial)) => {
                    return Ok(Found::Fits(stretch, Box::new((trial, guess))));
                }
                Ok(Outcome::Again(next)) => guess.learn(next, trial >= GRADUAL),
                Ok(Outcome::Differs(fewer)) if fewer >= fewest => stretch.bodies = fewer,
                Ok(Outcome::Differs(fewer)) => return Ok(Found::Not { alike: fewer.into() }),
                Ok(Outcome::Clash) if guess.assumes => guess.assumes = false,
                Ok(Outcome::Clash) | Err(Failed) if !guess.arrays.is_empty() => {
                    guess = self.guess(frame, body, stretch, false)?;
                }
                Ok(Outcome::Refused | Outcome::Clash) | Err(Failed) => break,
            }
            // Any errors are found again in the rounds that are written out.
            *self.lower.errors = errors.clone();
            self.forget_loops(named, named.number + 1);
        }
        Ok(Found::Not { alike: 0 })
    }

    /// Returns what is assumed of the variables that a body changes at first. Those whose elements
    /// it uses alone are carried as a whole unless `scatters`.
    fn guess(
        &mut self,
        frame: &mut Frame,
        body: Body<'_>,
        stretch: Stretch,
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
        let rounds = u32::try_from(stretch.rounds()).unwrap_or(u32::MAX);
        for (local, word) in &carried {
            let bounds = self.bounds(frame, body.expr, (*local, word), rounds);
            let known = |bit: &Bit| Fate::of(bit.as_constant().is_some());
            fates.push(match &bounds {
                Some(zeros) => zeros.iter().map(|zero| Fate::of(*zero)).collect(),
                None => word.iter().map(known).collect(),
            });
            zeros.push(bounds.unwrap_or_else(|| vec![false; word.width()]));
        }
        Ok(Guess { carried, fates, zeros, arrays, assumes: true })
    }

    /// Frees the names of loops from this number on, and drops what was booked for those in the
    /// body of a loop, which is written again, or written out after all.
    fn forget_loops(&mut self, named: &Named, from: u32) {
        self.lower.repeats.loops.insert(named.function.clone(), from);
        if let Some(costs) = &mut self.lower.costs {
            let prefix = format!("{} loop ", named.function);
            let mut place = 0;
            costs.components.retain(|(name, _)| {
                place += 1;
                place <= named.booked || !name.starts_with(&prefix)
            });
        }
    }

    /// Returns whether the body of a loop has loops that are repeats.
    fn has_inner(&self, named: &Named) -> bool {
        self.lower.repeats.loops.get(&named.function) != Some(&(named.number + 1))
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

    /// Puts a repeat into the current component.
    fn put_rounds(
        &mut self,
        frame: &mut Frame,
        rounds: &Rounds,
        stretch: Stretch,
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
                let start = stretch.place as usize * width;
                word.slice(start..start + stretch.rounds() as usize * width)
            }
        };
        match rounds {
            Rounds::Range(low) => {
                let (step, bits) = (stretch.each.into(), self.width(element) as u32);
                for part in 0..stretch.each {
                    let start = self.start(element, low + stretch.place + part);
                    args.push(Argument::Counter { start, step, bits });
                }
            }
            Rounds::Array(..) => args.push(Argument::Strided(&rest)),
        }
        let count = stretch.bodies;
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
                let rounds = (0..count as usize).map(|round| round * each);
                rounds.for_each(|at| values.push(&others.slice(at + written..at + each)));
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
}
