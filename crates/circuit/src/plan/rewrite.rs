//! Rewriting a component: in another order, with calls written out or joined.

use std::ops::Range;

use crate::{Call, Component, Lookup, Step, Wire, WireRange};

/// A new component that is written from the steps of an old one.
pub(super) struct Rewriter<'a> {
    old: &'a Component,
    new: Component,
    /// The new component's wire for every wire of the old one that has been written.
    map: Vec<Wire>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(old: &'a Component) -> Self {
        let new = Component {
            name: old.name.clone(),
            inputs: old.inputs,
            wires: old.inputs,
            ..Component::default()
        };
        let mut map = vec![0; old.wires as usize];
        (0..old.inputs).for_each(|wire| map[wire as usize] = wire);
        Rewriter { old, new, map }
    }

    /// The same gates `copies` times, on inputs of their own; inputs and outputs are joined.
    pub(super) fn copies(component: &Component, copies: usize) -> Component {
        let inputs = component.inputs * copies as u32;
        let mut new = Component {
            name: component.name.clone(),
            inputs,
            wires: inputs,
            ..Component::default()
        };
        for copy in 0..copies as u32 {
            let args = (0..component.inputs).map(|i| copy * component.inputs + i).collect();
            let outputs = append(&mut new, component, args);
            new.outputs.extend(outputs);
        }
        new
    }

    /// Takes over a gate or a look-up.
    pub(super) fn gate(&mut self, gate: Step) {
        push(&mut self.new, self.old, &mut self.map, gate);
    }

    /// Writes out a call of a component that has no calls itself.
    pub(super) fn inline(&mut self, call: Call, callee: &Component) {
        let args = arguments(self.old, call).map(|wire| self.map[wire as usize]).collect();
        let outputs = append(&mut self.new, callee, args);
        self.map[call.first_output as usize..][..outputs.len()].copy_from_slice(&outputs);
    }

    /// Takes over calls (by their indices) of one component with this many outputs as one call of
    /// component `target`, which has all their inputs and all their outputs.
    pub(super) fn calls(&mut self, calls: &[u32], target: usize, outputs: u32) {
        let first_arg = self.new.call_args.len();
        let first_output = self.new.wires;
        for &call in calls {
            let call = self.old.calls[call as usize];
            for wire in arguments(self.old, call) {
                let wire = self.map[wire as usize];
                WireRange::push(&mut self.new.call_args, first_arg, wire);
            }
            for i in 0..outputs {
                self.map[(call.first_output + i) as usize] = self.new.wires;
                self.new.wires += 1;
            }
        }
        self.new.steps.push(Step::Call(self.new.calls.len() as u32));
        self.new.calls.push(Call {
            component: target as u32,
            first_arg: first_arg as u32,
            arg_count: (self.new.call_args.len() - first_arg) as u32,
            first_output,
        });
    }

    /// Takes over all steps, sorted by how many calls lie on the deepest path to them, within
    /// windows in which about `room` wires are written. Hands the calls to `join`, always as many
    /// as are independent and of one component. `outputs` says how many outputs each component has.
    pub(super) fn by_level(
        &mut self,
        room: usize,
        outputs: &[u32],
        mut join: impl FnMut(&mut Self, &[u32]),
    ) {
        let old = self.old;
        let mut levels = vec![0u32; old.wires as usize];
        let mut base = 0;
        let mut rest = &old.steps[..];
        let mut order: Vec<(u32, u32, u32)> = Vec::new();
        let mut calls = Vec::new();
        while !rest.is_empty() {
            order.clear();
            let mut written = 0;
            for (i, step) in rest.iter().enumerate() {
                if written >= room {
                    break;
                }
                let level = deepest(old, step, &levels).max(base);
                let (first, len, kind) = match *step {
                    Step::Call(call) => {
                        let Call { component, first_output, .. } = old.calls[call as usize];
                        (first_output as usize, outputs[component as usize] as usize, component + 1)
                    }
                    gate => {
                        let written = outputs_of(old, &gate);
                        (written.start as usize, written.len(), 0)
                    }
                };
                levels[first..first + len].fill(level + u32::from(kind > 0));
                written += len.max(1);
                // Gates before calls, and calls of one component side by side.
                order.push((level, kind, i as u32));
            }
            base = order.iter().map(|&(level, ..)| level + 1).max().unwrap_or(base);
            order.sort_unstable();
            for group in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                calls.clear();
                for &(_, _, i) in group {
                    match rest[i as usize] {
                        Step::Call(call) => calls.push(call),
                        gate => self.gate(gate),
                    }
                }
                if !calls.is_empty() {
                    join(self, &calls);
                }
            }
            rest = &rest[order.len()..];
        }
    }

    pub(super) fn finish(mut self) -> Component {
        let outputs = self.old.outputs.iter().map(|&wire| self.map[wire as usize]);
        self.new.outputs = outputs.collect();
        self.new
    }
}

/// The wires that a call passes, in order.
pub(super) fn arguments(caller: &Component, call: Call) -> impl Iterator<Item = Wire> + Clone {
    let ranges = &caller.call_args[call.first_arg as usize..][..call.arg_count as usize];
    ranges.iter().flat_map(|range| range.first..range.first + range.len)
}

/// The wires that a gate or a look-up writes.
pub(super) fn outputs_of(component: &Component, gate: &Step) -> Range<Wire> {
    match *gate {
        Step::Xor { out, .. }
        | Step::And { out, .. }
        | Step::Inv { out, .. }
        | Step::Const { out, .. } => out..out + 1,
        Step::Lookup(lookup) => component.lookups[lookup as usize].outputs(),
        Step::Call(_) => unreachable!("calls are handled apart from gates"),
    }
}

/// The deepest level of what a step reads.
fn deepest(component: &Component, step: &Step, levels: &[u32]) -> u32 {
    let level = |wire: Wire| levels[wire as usize];
    match *step {
        Step::Xor { a, b, .. } | Step::And { a, b, .. } => level(a).max(level(b)),
        Step::Inv { a, .. } => level(a),
        Step::Const { .. } => 0,
        Step::Call(call) => {
            arguments(component, component.calls[call as usize]).map(level).max().unwrap_or(0)
        }
        Step::Lookup(lookup) => {
            let inputs = component.inputs_of(component.lookups[lookup as usize]);
            inputs.iter().map(|&wire| level(wire)).max().unwrap_or(0)
        }
    }
}

/// Adds a component's gates to another one, on these wires as inputs; gives its outputs.
fn append(to: &mut Component, component: &Component, inputs: Vec<Wire>) -> Vec<Wire> {
    let mut map = inputs;
    map.resize(component.wires as usize, 0);
    component.steps.iter().for_each(|&gate| push(to, component, &mut map, gate));
    component.outputs.iter().map(|&wire| map[wire as usize]).collect()
}

/// Adds a gate or a look-up of component `from`, whose wires `map` translates.
fn push(to: &mut Component, from: &Component, map: &mut [Wire], gate: Step) {
    let written = outputs_of(from, &gate);
    let out = to.wires;
    to.wires += written.len() as u32;
    let new = |wire: Wire| map[wire as usize];
    to.steps.push(match gate {
        Step::Xor { a, b, .. } => Step::Xor { a: new(a), b: new(b), out },
        Step::And { a, b, .. } => Step::And { a: new(a), b: new(b), out },
        Step::Inv { a, .. } => Step::Inv { a: new(a), out },
        Step::Const { value, .. } => Step::Const { value, out },
        Step::Lookup(lookup) => {
            let lookup = from.lookups[lookup as usize];
            let first_input = to.lookup_inputs.len() as u32;
            to.lookup_inputs.extend(from.inputs_of(lookup).iter().map(|&wire| new(wire)));
            to.lookups.push(Lookup { first_input, first_output: out, ..lookup });
            Step::Lookup(to.lookups.len() as u32 - 1)
        }
        Step::Call(_) => unreachable!("calls are handled apart from gates"),
    });
    written.zip(out..).for_each(|(old, new)| map[old as usize] = new);
}
