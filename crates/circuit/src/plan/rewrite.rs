//! Rewrites a component: in another order, with calls written out or joined.

use std::ops::Range;

use crate::{Call, Component, Lookup, Ranges, Repeat, RepeatArg, Source, Step, Wire, WireRange};

/// What [`Rewriter::by_level`] leaves to its caller, by indices.
pub(super) enum Joint<'c> {
    /// Calls of one component that do not depend on each other.
    Calls(&'c [u32]),
    /// A repeat.
    Repeat(u32),
}

/// How an argument is passed to the rounds of a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Passed {
    /// The same bits in every round.
    Fixed,
    /// What the previous round passes on.
    Carried,
    /// Bits of its own for each round.
    ForEach,
}

/// Returns how the arguments of a repeat are passed, and how many bits of each a round gets.
pub(super) fn shape(component: &Component, repeat: Repeat) -> Vec<(Passed, u32)> {
    let width = |ranges: Ranges| -> u64 {
        component.ranges_of(ranges).iter().map(|range| u64::from(range.len)).sum()
    };
    let one = |arg: &RepeatArg| match *arg {
        RepeatArg::Fixed(ranges) => (Passed::Fixed, width(ranges) as u32),
        RepeatArg::Carried(ranges) => (Passed::Carried, width(ranges) as u32),
        RepeatArg::Strided(ranges) => {
            (Passed::ForEach, (width(ranges) / u64::from(repeat.count)) as u32)
        }
        RepeatArg::Counter { bits, .. } => (Passed::ForEach, bits),
    };
    component.args_of(repeat).iter().map(one).collect()
}

/// A new component that is written from the steps of an old one.
pub(super) struct Rewriter<'a> {
    old: &'a Component,
    new: Component,
    map: Map,
}

/// The new component's wire for every wire of the old one that has been written.
struct Map {
    /// How many of the first wires stay the same. They take no memory: inputs may be very many.
    same: u32,
    /// Those of the others.
    others: Vec<Wire>,
}

impl Map {
    fn new(same: u32, others: Vec<Wire>) -> Map {
        Map { same, others }
    }

    fn of(&self, wire: Wire) -> Wire {
        match wire.checked_sub(self.same) {
            Some(place) => self.others[place as usize],
            None => wire,
        }
    }

    /// Sets the new wires of a step's outputs, from `first` on.
    fn set(&mut self, first: Wire, new: impl IntoIterator<Item = Wire>) {
        let others = &mut self.others[(first - self.same) as usize..];
        others.iter_mut().zip(new).for_each(|(place, wire)| *place = wire);
    }

    /// Adds the new wires of a run to the ranges from `first` on.
    fn push(&self, to: &mut Vec<WireRange>, first: usize, run: WireRange) {
        let end = run.first + run.len;
        let same = end.min(self.same).saturating_sub(run.first);
        if same > 0 {
            WireRange::push_all(to, first, WireRange { first: run.first, len: same });
        }
        (run.first + same..end).for_each(|wire| WireRange::push(to, first, self.of(wire)));
    }
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(old: &'a Component) -> Self {
        let new = Component {
            name: old.name.clone(),
            inputs: old.inputs,
            wires: old.inputs,
            ..Component::default()
        };
        let map = Map::new(old.inputs, vec![0; (old.wires - old.inputs) as usize]);
        Rewriter { old, new, map }
    }

    /// Returns `copies` copies of the gates, each on its own inputs; inputs and outputs are joined.
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

    /// Returns `copies` rounds of a component with arguments of this shape as one component. Its
    /// arguments are those of one round, except that the parts for the individual rounds are
    /// joined. Its outputs are what the last round passes on, and the other outputs of each round.
    pub(super) fn chain(component: &Component, shape: &[(Passed, u32)], copies: u32) -> Component {
        let width = |passed: Passed, width: u32| match passed {
            Passed::ForEach => width * copies,
            _ => width,
        };
        let inputs = shape.iter().map(|&(passed, one)| width(passed, one)).sum();
        let mut new = Component {
            name: component.name.clone(),
            inputs,
            wires: inputs,
            ..Component::default()
        };
        let is_carried = |(passed, width): &(Passed, u32)| match passed {
            Passed::Carried => *width as usize,
            _ => 0,
        };
        let carried: usize = shape.iter().map(is_carried).sum();
        let (mut last, mut others): (Vec<Wire>, Vec<Wire>) = (Vec::new(), Vec::new());
        for copy in 0..copies {
            let mut args: Vec<Wire> = Vec::with_capacity(component.inputs as usize);
            let (mut start, mut handed_on) = (0, 0);
            for &(passed, one) in shape {
                match passed {
                    Passed::Carried if copy > 0 => {
                        args.extend_from_slice(&last[handed_on..][..one as usize]);
                    }
                    Passed::ForEach => args.extend((start + copy * one..).take(one as usize)),
                    _ => args.extend((start..).take(one as usize)),
                }
                handed_on += is_carried(&(passed, one));
                start += width(passed, one);
            }
            last = append(&mut new, component, args);
            others.extend_from_slice(&last[carried..]);
        }
        new.outputs.extend_from_slice(&last[..carried]);
        new.outputs.extend(others);
        new
    }

    /// Copies a gate or a look-up.
    pub(super) fn gate(&mut self, gate: Step) {
        push(&mut self.new, self.old, &mut self.map, gate);
    }

    /// Writes out a call of a component that has no calls itself.
    pub(super) fn inline(&mut self, call: Call, callee: &Component) {
        let args = arguments(self.old, call).map(|wire| self.map.of(wire)).collect();
        let outputs = append(&mut self.new, callee, args);
        self.map.set(call.first_output, outputs);
    }

    /// Writes out all rounds of a repeat of a component that has no calls itself.
    pub(super) fn inline_rounds(&mut self, repeat: Repeat, callee: &Component) {
        let carried = self.old.carried_by(repeat) as usize;
        let (mut rounds, mut sources) = (self.old.rounds(repeat), Vec::new());
        let (mut last, first) = (Vec::new(), repeat.first_output);
        let mut next = first + carried as u32;
        while rounds.next(&mut sources) {
            let args = sources.iter().map(|source| match *source {
                Source::Wire(wire) => self.map.of(wire),
                Source::Before(output) => last[output as usize],
                Source::Constant(value) => constant(&mut self.new, value),
            });
            let args = args.collect();
            last = append(&mut self.new, callee, args);
            let others = &last[carried..];
            self.map.set(next, others.iter().copied());
            next += others.len() as u32;
        }
        self.map.set(first, last[..carried].iter().copied());
    }

    /// Copies a repeat, `copies` rounds at once: `joined` names the component for that many rounds,
    /// and the one for the remaining rounds, if any. `outputs` is the number of outputs of the
    /// repeated component.
    pub(super) fn repeat(
        &mut self,
        repeat: Repeat,
        outputs: u32,
        copies: u32,
        mut joined: impl FnMut(u32) -> usize,
    ) {
        let (old, first) = (self.old, repeat.first_output);
        let carried = old.carried_by(repeat);
        let others = outputs - carried;
        let (many, left) = (repeat.count / copies, repeat.count % copies);
        // What is passed on comes first, then the other results of each round.
        let mut at = first + carried;
        for (from, rounds, copies) in [(0, many, copies), (many * copies, 1, left)] {
            if copies == 0 {
                break;
            }
            let target = joined(copies);
            let first_arg = self.new.repeat_args.len() as u32;
            let mut handed_on = (from > 0).then_some(first);
            for &arg in old.args_of(repeat) {
                self.pass(arg, (repeat.count, from, rounds, copies), &mut handed_on);
            }
            self.new.repeats.push(Repeat {
                component: target as u32,
                count: rounds,
                first_arg,
                arg_count: self.new.repeat_args.len() as u32 - first_arg,
                first_output: self.new.wires,
            });
            self.new.steps.push(Step::Repeat(self.new.repeats.len() as u32 - 1));
            let written = [(first, carried), (at, rounds * copies * others)];
            for (start, len) in written {
                self.map.set(start, self.new.wires..self.new.wires + len);
                self.new.wires += len;
            }
            at += rounds * copies * others;
        }
    }

    /// Passes an argument of a repeat of `count` rounds: those `from` on, in groups of `copies`. If
    /// an earlier part has passed something on, `handed_on` is the next wire of it.
    fn pass(
        &mut self,
        arg: RepeatArg,
        (count, from, rounds, copies): (u32, u32, u32, u32),
        handed_on: &mut Option<Wire>,
    ) {
        let old = self.old;
        let first = self.new.call_args.len();
        let Some(ranges) = arg.ranges() else {
            let RepeatArg::Counter { start, step, bits } = arg else { return };
            let start = |copy| start.wrapping_add(step.wrapping_mul(u64::from(from + copy)));
            let step = step.wrapping_mul(copies.into());
            let one = |copy| RepeatArg::Counter { start: start(copy), step, bits };
            self.new.repeat_args.extend((0..copies).map(one));
            return;
        };
        let all: u64 = old.ranges_of(ranges).iter().map(|range| u64::from(range.len)).sum();
        let (skip, take) = match arg {
            RepeatArg::Strided(_) => {
                let width = all / u64::from(count);
                (u64::from(from) * width, u64::from(rounds * copies) * width)
            }
            _ => (0, all),
        };
        let mut put = |run: WireRange| self.map.push(&mut self.new.call_args, first, run);
        match (arg, handed_on) {
            (RepeatArg::Carried(_), Some(wire)) => {
                put(WireRange { first: *wire, len: all as u32 });
                *wire += all as u32;
            }
            _ => part(old.ranges_of(ranges), skip, take).for_each(put),
        }
        let count = (self.new.call_args.len() - first) as u32;
        self.new.repeat_args.push(arg.with_ranges(Ranges { first: first as u32, count }));
    }

    /// Copies calls (by their indices) of one component with this many outputs as one call of
    /// component `target`, which has all their inputs and all their outputs.
    pub(super) fn calls(&mut self, calls: &[u32], target: usize, outputs: u32) {
        let first_arg = self.new.call_args.len();
        let first_output = self.new.wires;
        for &call in calls {
            let call = self.old.calls[call as usize];
            for &run in ranges_passed(self.old, call) {
                self.map.push(&mut self.new.call_args, first_arg, run);
            }
            self.map.set(call.first_output, self.new.wires..self.new.wires + outputs);
            self.new.wires += outputs;
        }
        self.new.steps.push(Step::Call(self.new.calls.len() as u32));
        self.new.calls.push(Call {
            component: target as u32,
            first_arg: first_arg as u32,
            arg_count: (self.new.call_args.len() - first_arg) as u32,
            first_output,
        });
    }

    /// Copies all steps, sorted by how many calls are on the deepest path to them, within windows
    /// in which about `room` wires are written. Passes to `join` the calls, in groups of
    /// independent calls of one component, and the repeats, one by one. `outputs` says how many
    /// outputs each component has.
    pub(super) fn by_level(
        &mut self,
        room: usize,
        outputs: &[u32],
        mut join: impl FnMut(&mut Self, Joint<'_>),
    ) {
        let old = self.old;
        // Inputs are at level 0.
        let mut levels = vec![0u32; (old.wires - old.inputs) as usize];
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
                    Step::Repeat(repeat) => {
                        let repeat = old.repeats[repeat as usize];
                        let written = old.written_by(repeat, outputs[repeat.component as usize]);
                        (repeat.first_output as usize, written as usize, u32::MAX)
                    }
                    gate => {
                        let written = outputs_of(old, &gate);
                        (written.start as usize, written.len(), 0)
                    }
                };
                let first = first - old.inputs as usize;
                levels[first..first + len].fill(level + u32::from(kind > 0));
                written += len.max(1);
                // Gates before calls, and calls of one component next to each other.
                order.push((level, kind, i as u32));
            }
            base = order.iter().map(|&(level, ..)| level + 1).max().unwrap_or(base);
            order.sort_unstable();
            for group in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                calls.clear();
                for &(_, _, i) in group {
                    match rest[i as usize] {
                        Step::Call(call) => calls.push(call),
                        Step::Repeat(repeat) => join(self, Joint::Repeat(repeat)),
                        gate => self.gate(gate),
                    }
                }
                if !calls.is_empty() {
                    join(self, Joint::Calls(&calls));
                }
            }
            rest = &rest[order.len()..];
        }
    }

    pub(super) fn finish(mut self) -> Component {
        let outputs = self.old.outputs.iter().map(|&wire| self.map.of(wire));
        self.new.outputs = outputs.collect();
        self.new
    }
}

/// Returns the wires that a call passes, in order.
fn arguments(caller: &Component, call: Call) -> impl Iterator<Item = Wire> + Clone {
    let ranges = ranges_passed(caller, call).iter();
    ranges.flat_map(|range| range.first..range.first + range.len)
}

/// Returns the runs of wires that a call passes, in order.
pub(super) fn ranges_passed(caller: &Component, call: Call) -> &[WireRange] {
    &caller.call_args[call.first_arg as usize..][..call.arg_count as usize]
}

/// Returns the wires that a gate or a look-up writes.
pub(super) fn outputs_of(component: &Component, gate: &Step) -> Range<Wire> {
    match *gate {
        Step::Xor { out, .. }
        | Step::And { out, .. }
        | Step::Inv { out, .. }
        | Step::Const { out, .. } => out..out + 1,
        Step::Lookup(lookup) => component.lookups[lookup as usize].outputs(),
        Step::Call(_) | Step::Repeat(_) => unreachable!("calls are handled apart from gates"),
    }
}

/// Returns the parts of runs that are left after `skip` wires, up to `take` wires.
fn part(runs: &[WireRange], mut skip: u64, mut take: u64) -> impl Iterator<Item = WireRange> {
    runs.iter().filter_map(move |run| {
        let skipped = skip.min(run.len.into()) as u32;
        skip -= u64::from(skipped);
        let len = take.min((run.len - skipped).into()) as u32;
        take -= u64::from(len);
        (len > 0).then_some(WireRange { first: run.first + skipped, len })
    })
}

/// Returns the deepest level of the wires that a step reads; `levels` are those of the wires that
/// are no inputs.
fn deepest(component: &Component, step: &Step, levels: &[u32]) -> u32 {
    let inputs = component.inputs;
    let level = |wire: Wire| wire.checked_sub(inputs).map_or(0, |place| levels[place as usize]);
    let of_runs = |runs: &[WireRange]| {
        let deepest = runs.iter().filter_map(|run| {
            let start = run.first.max(inputs) - inputs;
            let end = (run.first + run.len).max(inputs) - inputs;
            levels[start as usize..end as usize].iter().copied().max()
        });
        deepest.max().unwrap_or(0)
    };
    match *step {
        Step::Xor { a, b, .. } | Step::And { a, b, .. } => level(a).max(level(b)),
        Step::Inv { a, .. } => level(a),
        Step::Const { .. } => 0,
        Step::Call(call) => of_runs(ranges_passed(component, component.calls[call as usize])),
        Step::Repeat(repeat) => {
            let args = component.args_of(component.repeats[repeat as usize]).iter();
            let runs = args.filter_map(RepeatArg::ranges).map(|all| component.ranges_of(all));
            runs.map(of_runs).max().unwrap_or(0)
        }
        Step::Lookup(lookup) => {
            let inputs = component.inputs_of(component.lookups[lookup as usize]);
            inputs.iter().map(|&wire| level(wire)).max().unwrap_or(0)
        }
    }
}

/// Adds a component's gates to another one, on these wires as inputs; returns its outputs.
fn append(to: &mut Component, component: &Component, inputs: Vec<Wire>) -> Vec<Wire> {
    let mut map = Map::new(0, inputs);
    map.others.resize(component.wires as usize, 0);
    component.steps.iter().for_each(|&gate| push(to, component, &mut map, gate));
    component.outputs.iter().map(|&wire| map.of(wire)).collect()
}

/// Adds a constant.
fn constant(to: &mut Component, value: bool) -> Wire {
    let out = to.wires;
    to.wires += 1;
    to.steps.push(Step::Const { value, out });
    out
}

/// Adds a gate or a look-up of component `from`, whose wires `map` translates.
fn push(to: &mut Component, from: &Component, map: &mut Map, gate: Step) {
    let written = outputs_of(from, &gate);
    let out = to.wires;
    to.wires += written.len() as u32;
    let new = |wire: Wire| map.of(wire);
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
        Step::Call(_) | Step::Repeat(_) => unreachable!("calls are handled apart from gates"),
    });
    map.set(written.start, (out..).take(written.len()));
}
