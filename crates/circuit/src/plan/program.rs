//! The components as the plan sees them: small ones are inlined, and independent calls of one
//! component are joined into one, so that their gates share batches.
//!
//! This only affects the schedule: the flattened program keeps its gates.

use std::borrow::Cow;
use std::collections::HashMap;

use super::rewrite::{Joint, Passed, Rewriter, shape};
use crate::{Component, Repeat, Step};

/// At most this many calls are joined: by then batches are wide, and more would only grow frames.
const MAX_JOINED: u64 = 64;

/// At most this many entries hold several copies of another one. A repeat whose arguments have a
/// shape of their own makes an entry as large as a window, however few bytes it has in a file.
const MAX_ENTRIES: usize = 4096;

/// The entries that hold several copies of another one, by that entry, the number of copies and,
/// for rounds of a repeat, the shape of the arguments.
type Joined = HashMap<(usize, usize, Vec<(Passed, u32)>), usize>;

/// A component of the program that is planned.
pub(super) struct Entry<'a> {
    pub(super) component: Cow<'a, Component>,
    /// Whether calls name entries; otherwise they name components of the circuit.
    rewritten: bool,
}

/// A program whose last component is the main one; callees come before callers.
pub(super) struct Program<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    /// The entry of every component of the circuit that has one.
    entry_of: Vec<usize>,
}

impl<'a> Program<'a> {
    /// Arranges the circuit's program for windows of `window` gates.
    pub(super) fn arrange(components: &'a [Component], window: usize) -> Self {
        let sizes = sizes(components);
        let outputs: Vec<u32> = components.iter().map(|c| c.outputs.len() as u32).collect();
        let needed = needed(components, |_, component| component);
        let mut program = Program { entries: Vec::new(), entry_of: vec![0; components.len()] };
        let mut joined = Joined::new();
        for (index, component) in components.iter().enumerate().filter(|(index, _)| needed[*index])
        {
            let entry = if component.is_leaf() {
                Entry { component: Cow::Borrowed(component), rewritten: true }
            } else if sizes[index] <= window as u64 / 4 {
                Entry { component: Cow::Owned(program.inlined(component)), rewritten: true }
            } else {
                program.with_calls_joined(component, (&sizes, &outputs), window, &mut joined)
            };
            program.entry_of[index] = program.entries.len();
            program.entries.push(entry);
        }
        program
    }

    /// Returns which entries the main one calls, directly or not.
    pub(super) fn needed(&self) -> Vec<bool> {
        let components: Vec<&Component> = self.entries.iter().map(|e| &*e.component).collect();
        needed(&components, |caller, component| self.callee(caller, component))
    }

    /// Returns the entry that `caller` means when it calls `component`.
    pub(super) fn callee(&self, caller: usize, component: usize) -> usize {
        if self.entries[caller].rewritten { component } else { self.entry_of[component] }
    }

    /// Returns a component with everything it calls written out; its callees already are.
    fn inlined(&self, component: &Component) -> Component {
        let mut rewriter = Rewriter::new(component);
        for step in &component.steps {
            match *step {
                Step::Call(call) => {
                    let call = component.calls[call as usize];
                    let callee = &self.entries[self.entry_of[call.component as usize]];
                    rewriter.inline(call, &callee.component);
                }
                Step::Repeat(repeat) => {
                    let repeat = component.repeats[repeat as usize];
                    let callee = &self.entries[self.entry_of[repeat.component as usize]];
                    rewriter.inline_rounds(repeat, &callee.component);
                }
                gate => rewriter.gate(gate),
            }
        }
        rewriter.finish()
    }

    /// Returns a component with independent calls of one component joined, and with rounds of
    /// repeats joined, as many as fill a window.
    fn with_calls_joined(
        &mut self,
        component: &'a Component,
        (sizes, outputs): (&[u64], &[u32]),
        window: usize,
        joined: &mut Joined,
    ) -> Entry<'a> {
        let most = |callee: u32| {
            let entry = &self.entries[self.entry_of[callee as usize]];
            let fit = (window as u64 / sizes[callee as usize].max(1)).min(MAX_JOINED);
            if entry.component.is_leaf() { fit as usize } else { 1 }
        };
        let most_calls: Vec<usize> =
            component.calls.iter().map(|call| most(call.component)).collect();
        let most_rounds = |repeat: &Repeat| most(repeat.component).min(repeat.count as usize);
        let most_rounds: Vec<usize> = component.repeats.iter().map(most_rounds).collect();
        if most_calls.iter().chain(&most_rounds).all(|&most| most < 2) {
            return Entry { component: Cow::Borrowed(component), rewritten: false };
        }
        let most = |made: usize, fit: usize| if made < MAX_ENTRIES { fit.max(1) } else { 1 };
        let mut rewriter = Rewriter::new(component);
        rewriter.by_level(2 * window, outputs, |rewriter, joint| match joint {
            Joint::Calls(mut calls) => {
                // Powers of two, so that few different numbers of copies are ever made.
                while let Some(&first) = calls.first() {
                    let most = most(joined.len(), most_calls[first as usize]);
                    let largest = most.min(calls.len()).ilog2();
                    let (group, rest) = calls.split_at(1 << largest);
                    calls = rest;
                    let callee = self.entry_of[component.calls[first as usize].component as usize];
                    let entry = self.joined(callee, group.len(), joined);
                    let outputs = self.entries[callee].component.outputs.len() as u32;
                    rewriter.calls(group, entry, outputs);
                }
            }
            Joint::Repeat(index) => {
                let copies = 1 << most(joined.len(), most_rounds[index as usize]).ilog2();
                let repeat = component.repeats[index as usize];
                let callee = self.entry_of[repeat.component as usize];
                let outputs = self.entries[callee].component.outputs.len() as u32;
                let shape = shape(component, repeat);
                rewriter.repeat(repeat, outputs, copies, |copies| {
                    self.chained(callee, copies, &shape, joined)
                });
            }
        });
        Entry { component: Cow::Owned(rewriter.finish()), rewritten: true }
    }

    /// Returns the entry that chains rounds of entry `callee`, made when it is first needed.
    fn chained(
        &mut self,
        callee: usize,
        copies: u32,
        shape: &[(Passed, u32)],
        joined: &mut Joined,
    ) -> usize {
        if copies == 1 {
            return callee;
        }
        *joined.entry((callee, copies as usize, shape.to_vec())).or_insert_with(|| {
            let component = Rewriter::chain(&self.entries[callee].component, shape, copies);
            self.entries.push(Entry { component: Cow::Owned(component), rewritten: true });
            self.entries.len() - 1
        })
    }

    /// Returns the entry with `copies` copies of entry `callee`, made when it is first needed.
    fn joined(&mut self, callee: usize, copies: usize, joined: &mut Joined) -> usize {
        if copies == 1 {
            return callee;
        }
        *joined.entry((callee, copies, Vec::new())).or_insert_with(|| {
            let component = Rewriter::copies(&self.entries[callee].component, copies);
            self.entries.push(Entry { component: Cow::Owned(component), rewritten: true });
            self.entries.len() - 1
        })
    }
}

/// Returns the size of every component when all its calls are written out: gates, and the inputs
/// and outputs of every call.
fn sizes(components: &[Component]) -> Vec<u64> {
    let mut sizes: Vec<u64> = Vec::with_capacity(components.len());
    for component in components {
        let ports = u64::from(component.inputs) + component.outputs.len() as u64;
        let size = component.steps.iter().fold(ports, |size, step| {
            let step = match *step {
                Step::Call(call) => sizes[component.calls[call as usize].component as usize],
                Step::Repeat(repeat) => {
                    let repeat = component.repeats[repeat as usize];
                    sizes[repeat.component as usize].max(1).saturating_mul(repeat.count.into())
                }
                Step::Lookup(lookup) => {
                    let lookup = component.lookups[lookup as usize];
                    u64::from(lookup.input_count + lookup.output_count)
                }
                _ => 1,
            };
            size.saturating_add(step)
        });
        sizes.push(size);
    }
    sizes
}

/// Returns which components the last one calls, directly or not; `callee(a, b)` is the one that a
/// call of `b` in `a` means.
fn needed<C: std::borrow::Borrow<Component>>(
    components: &[C],
    callee: impl Fn(usize, usize) -> usize,
) -> Vec<bool> {
    let mut needed = vec![false; components.len()];
    if let Some(main) = needed.last_mut() {
        *main = true;
    }
    for index in (0..components.len()).rev() {
        if needed[index] {
            let component: &Component = components[index].borrow();
            for (used, _) in component.uses() {
                needed[callee(index, used as usize)] = true;
            }
        }
    }
    needed
}
