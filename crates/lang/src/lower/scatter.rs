//! Arrays of which each round of a repeated loop reads and writes elements of its own.
//!
//! If all that a body does with an array is to read and write `a[i]`, where the counter decides
//! `i`, only these elements go into the rounds and come out of them. Each is a variable of the
//! body. An element is given to a round as it was before the loop, or, if it is always what the
//! round before has written, carried from there; otherwise the loop is no repeat of this form.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::body::{Body, Element, Passed};
use super::state::{Frame, Update};
use super::vast::is_vast;
use super::{Done, Failed, Machine, local_type};
use crate::source::Span;
use crate::tir::{Expr, Kind, Local, Step, Stmt};
use crate::ty::{Shape, TyId};
use crate::walk::walk;

/// An element that rounds give.
pub(super) struct Given {
    array: Local,
    places: Rc<[u32]>,
    width: usize,
    /// The bits that the body changes.
    changed: Vec<u32>,
}

impl Given {
    /// Returns how many bits each round gives.
    pub(super) fn bits(&self) -> usize {
        self.changed.len()
    }
}

/// Where the elements of a body come from and go to.
pub(super) struct Scattered {
    /// What they pass from round to round, in the order of what is passed to the body.
    pub(super) carried: Vec<Bit>,
    /// What they give in each round.
    pub(super) outputs: Vec<Bit>,
    pub(super) given: Vec<Given>,
}

/// Which elements the rounds of a repeat write into arrays, and how.
enum Source {
    /// It is as it was before the loop.
    Before,
    /// It is what the round before has written as this element.
    Round(usize),
}

/// Returns what an element is taken from, and its indices: `a` and `i, j` of `a[i][j]`.
pub(super) fn chain(expr: &Expr) -> (&Expr, Vec<&Expr>) {
    let (mut base, mut indices) = (expr, Vec::new());
    while let Kind::Index(array, index) = &base.kind {
        indices.push(&**index);
        base = array;
    }
    indices.reverse();
    (base, indices)
}

/// Returns how many of the first of these are indices that are constants.
fn leading<'e>(mut indices: impl Iterator<Item = Option<&'e Expr>>) -> usize {
    let is_constant = |index: &Option<&Expr>| index.is_some_and(|index| index.constant);
    std::iter::from_fn(|| indices.next().filter(is_constant)).count()
}

/// How a body uses a variable.
struct Uses {
    /// As a whole or at secret places.
    whole: i64,
    /// How many constant indices there are at least where it is an array.
    depth: usize,
}

/// Returns the arrays of which a body changes elements at places that are constants in each round,
/// and reads nothing else; with each, how many indices an element has.
pub(super) fn arrays(body: Body<'_>, assigned: &[Local]) -> Vec<(Local, usize)> {
    let mut all: HashMap<Local, Uses> =
        assigned.iter().map(|&local| (local, Uses { whole: 0, depth: usize::MAX })).collect();
    let mut seen = HashSet::new();
    walk(body.expr, 1, &mut |expr, _| match &expr.kind {
        // Each use of a variable counts up, and each as an array with a constant index down.
        Kind::Local(local) => drop(all.entry(*local).and_modify(|uses| uses.whole += 1)),
        Kind::Index(array, _) => {
            let mut inner = &**array;
            let is_part = seen.contains(&expr.id);
            while let Kind::Index(array, _) = &inner.kind {
                seen.insert(inner.id);
                inner = array;
            }
            let (base, indices) = chain(expr);
            let depth = leading(indices.into_iter().map(Some));
            if let (Kind::Local(local), 1.., false) = (&base.kind, depth, is_part) {
                all.entry(*local).and_modify(|uses| {
                    uses.whole -= 1;
                    uses.depth = uses.depth.min(depth);
                });
            }
        }
        Kind::Block(stmts, _) => {
            for stmt in stmts {
                let Stmt::Assign(place, ..) = stmt else { continue };
                let steps = place.path.iter().map(|(step, _)| match step {
                    Step::Index(index) => Some(index),
                    Step::Field(_) => None,
                });
                let depth = leading(steps);
                all.entry(place.local).and_modify(|uses| {
                    uses.whole += if depth == 0 { 1 << 32 } else { 0 };
                    uses.depth = uses.depth.min(depth);
                });
            }
        }
        _ => {}
    });
    let found = assigned.iter().filter_map(|local| Some((*local, all.get(local)?)));
    let found = found.filter(|(_, uses)| uses.whole == 0 && uses.depth < usize::MAX);
    found.map(|(local, uses)| (local, uses.depth)).collect()
}

/// Returns whether an expression reads or changes one of these variables.
pub(super) fn mentions(expr: &Expr, arrays: &[(Local, usize)]) -> bool {
    let is_one = |local: Local| arrays.iter().any(|(array, _)| *array == local);
    let mut found = false;
    walk(expr, 1, &mut |expr, _| match &expr.kind {
        Kind::Local(local) => found |= is_one(*local),
        Kind::Block(stmts, _) => {
            for stmt in stmts {
                if let Stmt::Assign(place, ..) = stmt {
                    found |= is_one(place.local);
                }
            }
        }
        _ => {}
    });
    found
}

impl Machine<'_, '_, '_> {
    /// Returns how many indices an element of a scattered array has; `None` if it is none.
    pub(super) fn depth_of(&self, frame: &Frame, array: Local) -> Option<usize> {
        let outer = frame.outer.as_ref()?;
        outer.arrays.iter().find(|(known, _)| *known == array).map(|(_, depth)| *depth)
    }

    /// Returns the place that an element with these indices has in each round, counted in elements
    /// of its kind, and the element's width; `None` if the counter does not decide it.
    pub(super) fn element_places(
        &mut self,
        frame: &mut Frame,
        mut ty: TyId,
        indices: &[&Expr],
    ) -> Done<Option<(Rc<[u32]>, usize)>> {
        let mut all: Option<Rc<[u32]>> = None;
        for index in indices {
            let Shape::Array(element, len) = *self.lower.tir.shapes.shape(ty) else {
                return Err(Failed);
            };
            let Some(places) = self.places(frame, index, len)? else { return Ok(None) };
            all = Some(match all {
                None => places,
                Some(outer) => {
                    let joined = outer.iter().zip(&places[..]).map(|(&row, &place)| {
                        let joined = u64::from(row) * len + u64::from(place);
                        u32::try_from(joined).map_err(|_| Failed)
                    });
                    joined.collect::<Done<Vec<u32>>>()?.into()
                }
            });
            ty = element;
        }
        let width = self.width(ty);
        Ok(all.map(|places| (places, width)))
    }

    /// Returns the variable that an element of a scattered array is.
    pub(super) fn element_of(
        &mut self,
        frame: &mut Frame,
        array: Local,
        indices: &[&Expr],
    ) -> Done<Local> {
        let ty = local_type(&frame.instance, array);
        let (places, width) = self.element_places(frame, ty, indices)?.ok_or(Failed)?;
        let Some(outer) = &mut frame.outer else { return Err(Failed) };
        for known in outer.scattered.iter().filter(|known| known.array == array) {
            self.lower.spent.steps += places.len() as u64 / 64;
            if known.places == places {
                return Ok(known.variable);
            }
            // Two elements that are one in some round alone.
            if known.places.iter().zip(&places[..]).any(|(a, b)| a == b) {
                return Err(Failed);
            }
        }
        let word = outer.words[array as usize].clone();
        if is_vast(word.width()) {
            return Err(Failed);
        }
        let bit = |place: u32, bit: usize| word[place as usize * width + bit];
        let mut open = Vec::new();
        let mut before = Word::zero(width);
        for at in 0..width {
            let first = bit(places[0], at);
            let is_known = outer.assumes
                && first.as_constant().is_some()
                && places.iter().all(|&place| bit(place, at) == first);
            before[at] = first;
            if !is_known {
                open.push(at as u32);
            }
        }
        let all = places.iter().flat_map(|&p| open.iter().map(move |&at| (p, at as usize)));
        let all: Word = all.map(|(place, at)| bit(place, at)).collect();
        let passed = outer.passed.len();
        self.lower.spent.steps += (places.len() * width) as u64 / 64;
        if !open.is_empty() {
            let inputs = self.gates.further_input(open.len() as u32);
            for (&at, &input) in open.iter().zip(&inputs[..]) {
                before[at as usize] = input;
            }
            outer.passed.push(Passed::Strided(all));
        }
        let variable = frame.add(before.clone());
        let Some(outer) = &mut frame.outer else { return Err(Failed) };
        outer.scattered.push(Element { array, variable, places, width, before, open, passed });
        Ok(variable)
    }

    /// Says where the elements of a body come from and go to, and notes in `passed` which are
    /// carried. Returns `None` if they cannot be given to the rounds; if it was assumed that some
    /// of their bits are constants, that may be why.
    pub(super) fn scattered(&mut self, frame: &mut Frame) -> Option<Scattered> {
        let elements = frame.outer.as_mut().map(|outer| std::mem::take(&mut outer.scattered))?;
        for element in &elements {
            self.settle(frame, element.variable).ok()?;
        }
        let words: Vec<Rc<Word>> =
            elements.iter().map(|element| frame.word(element.variable).clone()).collect();
        let changed: Vec<Vec<u32>> = elements
            .iter()
            .zip(&words)
            .map(|(element, word)| {
                let differs = |&at: &u32| word[at as usize] != element.before[at as usize];
                (0..element.width as u32).filter(differs).collect()
            })
            .collect();
        let accesses: usize = elements.iter().map(|element| element.places.len()).sum();
        self.lower.spent.steps += accesses as u64 / 8;
        let sources = sources(&elements, &changed)?;
        let outer = frame.outer.as_mut()?;
        let mut result = Scattered { carried: Vec::new(), outputs: Vec::new(), given: Vec::new() };
        for (element, source) in elements.iter().zip(&sources) {
            let Source::Round(from) = source else { continue };
            if element.open.len() < element.width {
                return None;
            }
            if element.width == 0 {
                continue;
            }
            let Passed::Strided(all) = &outer.passed[element.passed] else { return None };
            outer.passed[element.passed] = Passed::Carried(all.slice(0..element.width));
            result.carried.extend_from_slice(&words[*from]);
        }
        for ((element, word), changed) in elements.into_iter().zip(words).zip(changed) {
            if changed.is_empty() {
                continue;
            }
            result.outputs.extend(changed.iter().map(|&at| word[at as usize]));
            let Element { array, places, width, .. } = element;
            result.given.push(Given { array, places, width, changed });
        }
        Some(result)
    }

    /// Writes what the rounds give into the arrays. `others` are the outputs of every round, of
    /// which each begins with these.
    pub(super) fn scatter(
        &mut self,
        frame: &mut Frame,
        given: &[Given],
        (others, each): (&Word, usize),
        span: Span,
    ) -> Done<()> {
        let rounds = given.first().map_or(0, |one| one.places.len());
        for round in 0..rounds {
            // Parts of wires in a row, so that they are not all listed at once.
            let mut at = round * each;
            for Given { array, places, width, changed } in given {
                let base = places[round] as usize * width;
                for run in changed.chunk_by(|a, b| a + 1 == *b) {
                    let value = others.slice(at..at + run.len());
                    at += run.len();
                    let start = base + run[0] as usize;
                    self.lower.spent.steps += 1;
                    self.write(frame, *array, Update::plain(start, Rc::new(value), span))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns where elements come from; `None` if some are neither what they were before the loop nor
/// what the round before has written.
fn sources(elements: &[Element], changed: &[Vec<u32>]) -> Option<Vec<Source>> {
    // The last element that has written a place, and in which round.
    let mut written: HashMap<(Local, u32), (usize, usize)> = HashMap::new();
    let rounds = elements.first().map_or(0, |element| element.places.len());
    let mut sources: Vec<Option<Option<usize>>> = vec![None; elements.len()];
    for round in 0..rounds {
        if round > 0 {
            for (element, source) in elements.iter().zip(&mut sources) {
                let place = (element.array, element.places[round]);
                let now = match written.get(&place) {
                    None => None,
                    Some(&(from, before)) if before + 1 == round => Some(from),
                    Some(_) => return None,
                };
                if *source.get_or_insert(now) != now {
                    return None;
                }
            }
        }
        for (number, element) in elements.iter().enumerate() {
            if !changed[number].is_empty() {
                written.insert((element.array, element.places[round]), (number, round));
            }
        }
    }
    let source = |found: Option<Option<usize>>| match found.flatten() {
        Some(from) => Source::Round(from),
        None => Source::Before,
    };
    Some(sources.into_iter().map(source).collect())
}
