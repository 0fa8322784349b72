//! One component's schedule and its slots.

use std::ops::Range;

use super::lookups::LookupList;
use super::reads::Reads;
use super::rewrite::{outputs_of, ranges_passed};
use super::slots::Slots;
use super::{And, GateCounts, Limits, Linear};
use crate::{Call, Component, Lookup, Repeat, RepeatArg, Step, Wire, WireRange};

/// The first slot of a [`Run`] of results that nobody reads: they are not copied.
pub(super) const SKIP: u32 = u32::MAX;

/// A component, scheduled.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) inputs: u32,
    /// How many slots the component itself uses.
    pub(super) slots: u32,
    /// How many slots it uses with everything it calls.
    pub(super) depth: usize,
    pub(super) linear: Vec<Linear>,
    pub(super) ands: Vec<And>,
    pub(super) lookups: LookupList,
    pub(super) segments: Vec<Segment>,
    pub(super) calls: Vec<FrameCall>,
    pub(super) repeats: Vec<FrameRepeat>,
    /// The list that [`FrameCall`]'s ranges point into.
    runs: Vec<Run>,
    /// The slots of the component's outputs.
    pub(super) outputs: Vec<u32>,
    /// The same as runs, so that callers need not find them at every call.
    pub(super) output_runs: Vec<Run>,
    /// Gates, including those of everything it calls.
    pub(super) counts: GateCounts,
}

/// A piece of a frame's schedule.
#[derive(Clone, Copy, Debug)]
pub(super) enum Segment {
    /// Everything up to these places in the frame's lists.
    Batch { linear_end: u32, and_end: u32, lookup_end: u32 },
    /// The call with this index in [`Frame::calls`].
    Call(u32),
    /// All rounds of the repeat with this index in [`Frame::repeats`].
    Repeat(u32),
}

/// A call with its arguments' and results' slots in the caller's frame, as ranges of its runs.
#[derive(Clone, Debug)]
pub(super) struct FrameCall {
    pub(super) frame: usize,
    pub(super) args: Range<usize>,
    pub(super) results: Range<usize>,
}

/// A repeat with its arguments' and results' slots in the caller's frame.
#[derive(Clone, Debug)]
pub(super) struct FrameRepeat {
    pub(super) frame: usize,
    pub(super) count: u32,
    pub(super) args: Vec<FrameArg>,
    /// What is passed on from round to round.
    pub(super) carried: Slice,
    /// The other results of all rounds.
    pub(super) others: Slice,
    /// How many results a round has that are not passed on.
    pub(super) width: u32,
}

/// An argument of a [`FrameRepeat`].
#[derive(Clone, Debug)]
pub(super) enum FrameArg {
    /// The same slots in every round.
    Fixed(Slice),
    /// These slots in the first round, then what the previous round passes on.
    Carried(Slice),
    /// This number of slots for each round.
    Strided(Slice, u32),
    /// The low `bits` bits of `start + step · round`.
    Counter { start: u64, step: u64, bits: u32 },
}

/// A list of slots as runs, in which a part can be found without reading what comes before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Slice {
    runs: Vec<Run>,
    /// How many slots there are up to the end of each run.
    ends: Vec<u32>,
}

impl Slice {
    fn new(runs: Vec<Run>) -> Slice {
        let mut end = 0;
        let ends = runs.iter().map(|run| {
            end += run.len;
            end
        });
        Slice { ends: ends.collect(), runs }
    }

    pub(super) fn len(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the runs of `len` slots from slot `start` on.
    pub(super) fn part(&self, start: u32, len: u32) -> impl Iterator<Item = Run> {
        let first = self.ends.partition_point(|&end| end <= start);
        let mut skip = first.checked_sub(1).map_or(start, |before| start - self.ends[before]);
        let mut left = len;
        self.runs[first..].iter().map_while(move |&run| {
            let run = run.after(std::mem::take(&mut skip));
            let len = run.len.min(left);
            left -= len;
            (len > 0).then_some(Run { len, ..run })
        })
    }
}

/// Consecutive slots. Wires that are written together get adjacent slots, so lists of runs are much
/// shorter than lists of slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) first: u32,
    pub(super) len: u32,
}

impl Run {
    /// Returns whether these are results that nobody reads.
    pub(super) fn is_skipped(self) -> bool {
        self.first == SKIP
    }

    /// Returns what is left after its first `n` slots, which must exist.
    pub(super) fn after(self, n: u32) -> Run {
        let first = if self.is_skipped() { SKIP } else { self.first + n };
        Run { first, len: self.len - n }
    }
}

impl Frame {
    /// Schedules `component`; `frames` has the plans of what it calls, at the indices in
    /// `frame_of`.
    pub(super) fn plan(
        component: &Component,
        frames: &[Frame],
        frame_of: impl Fn(usize) -> usize,
        limits: Limits,
    ) -> Frame {
        let mut planner = Planner::new(component, limits);
        for window in component.steps.chunk_by(|a, b| !is_call(a) && !is_call(b)) {
            match *window {
                [Step::Call(call)] => {
                    let call = component.calls[call as usize];
                    let index = frame_of(call.component as usize);
                    planner.call(call, index, &frames[index]);
                }
                [Step::Repeat(repeat)] => {
                    let repeat = component.repeats[repeat as usize];
                    let index = frame_of(repeat.component as usize);
                    planner.repeat(repeat, index, &frames[index]);
                }
                _ => window.chunks(limits.window).for_each(|gates| planner.window(gates)),
            }
        }
        planner.finish()
    }

    pub(super) fn runs_of(&self, range: &Range<usize>) -> &[Run] {
        &self.runs[range.clone()]
    }
}

/// Returns the slot of a wire; `slots` are those of the wires that are no inputs.
fn slot_of(inputs: u32, slots: &[u32], wire: Wire) -> u32 {
    wire.checked_sub(inputs).map_or(wire, |place| slots[place as usize])
}

fn is_call(step: &Step) -> bool {
    matches!(step, Step::Call(_) | Step::Repeat(_))
}

struct Planner<'a> {
    component: &'a Component,
    limits: Limits,
    frame: Frame,
    free: Slots,
    /// A slot is free when its wire is read no more.
    reads: Reads,
    /// The slot of each live wire that is no input. The slot of an input has its number.
    slot: Vec<u32>,
    /// How many ANDs and look-ups of the current window are on the deepest path to each wire that
    /// is no input.
    level: Vec<u32>,
    /// How many of the frame's free gates are in batches that have ended.
    batched: u32,
    /// The deepest frame called so far.
    callee_depth: usize,
    scratch: Scratch,
}

/// Buffers for sorting a window, reused for the next one.
#[derive(Default)]
struct Scratch {
    keys: Vec<u32>,
    starts: Vec<u32>,
    order: Vec<u32>,
}

impl<'a> Planner<'a> {
    fn new(component: &'a Component, limits: Limits) -> Self {
        let wires = (component.wires - component.inputs) as usize;
        let mut planner = Planner {
            component,
            limits,
            frame: Frame { inputs: component.inputs, ..Frame::default() },
            free: Slots::default(),
            reads: Reads::of(component),
            slot: vec![0; wires],
            level: vec![0; wires],
            batched: 0,
            callee_depth: 0,
            scratch: Scratch::default(),
        };
        planner.free.take_first(component.inputs);
        let free = &mut planner.free;
        planner
            .reads
            .dead(component.inputs, |run| free.give_back_all(run.first..run.first + run.len));
        planner
    }

    /// Returns the slot of a live wire.
    fn slot(&self, wire: Wire) -> u32 {
        slot_of(self.component.inputs, &self.slot, wire)
    }

    /// Sets the level of wires that a gate writes.
    fn set_level(&mut self, written: Range<Wire>, level: u32) {
        let inputs = self.component.inputs;
        let written = (written.start - inputs) as usize..(written.end - inputs) as usize;
        self.level[written].fill(level);
    }

    fn free_if_dead(&mut self, wire: Wire) {
        if self.reads.is_over(wire) {
            self.free.give_back(self.slot(wire));
        }
    }

    /// Notes one read of a wire, and frees its slot at the last one.
    fn read(&mut self, wire: Wire) {
        if self.reads.read(wire) {
            self.free.give_back(self.slot(wire));
        }
    }

    /// Notes one read of each wire of a run.
    fn read_all(&mut self, run: WireRange) {
        let Planner { component, free, slot, .. } = self;
        let inputs = component.inputs;
        self.reads.read_all(run, |run| {
            let end = run.first + run.len;
            free.give_back_all(run.first.min(inputs)..end.min(inputs));
            let others = run.first.max(inputs) - inputs..end.max(inputs) - inputs;
            let slots = &slot[others.start as usize..others.end as usize];
            slots.iter().for_each(|&slot| free.give_back(slot));
        });
    }

    /// Adds the slots of a run of live wires to the runs from `first` on.
    fn push_slots(&self, runs: &mut Vec<Run>, first: usize, run: WireRange) {
        let (inputs, end) = (self.component.inputs, run.first + run.len);
        let len = end.min(inputs).saturating_sub(run.first);
        if len > 0 {
            push_run(runs, first, Run { first: run.first, len });
        }
        let others = run.first.max(inputs) - inputs..end.max(inputs) - inputs;
        let mut slots = &self.slot[others.start as usize..others.end as usize];
        while let Some(&slot) = slots.first() {
            let next = slots.windows(2).take_while(|pair| pair[1] == pair[0] + 1);
            let len = 1 + next.count();
            push_run(runs, first, Run { first: slot, len: len as u32 });
            slots = &slots[len..];
        }
    }

    fn write(&mut self, wire: Wire) -> u32 {
        let slot = self.free.take();
        self.slot[(wire - self.component.inputs) as usize] = slot;
        slot
    }

    /// Schedules consecutive gates: by level, and within one, free gates before ANDs and look-ups.
    fn window(&mut self, gates: &[Step]) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.sort(gates, &mut scratch);
        let mut rest = &scratch.order[..];
        while let Some(&first) = rest.first() {
            let key = scratch.keys[first as usize];
            let same = rest.iter().take_while(|&&i| scratch.keys[i as usize] == key).count();
            let (group, tail) = rest.split_at(same);
            rest = tail;
            if key.is_multiple_of(2) {
                group.iter().for_each(|&i| self.linear(gates[i as usize]));
            } else {
                for batch in group.chunks(self.limits.batch) {
                    self.independent(gates, batch);
                }
            }
        }
        for gate in gates {
            let written = outputs_of(self.component, gate);
            self.set_level(written, 0);
        }
        self.scratch = scratch;
    }

    /// Puts into `scratch.order` the gates' indices, stably sorted by key: twice the level of the
    /// gate's operands, plus one for an AND or a look-up.
    fn sort(&mut self, gates: &[Step], scratch: &mut Scratch) {
        let Scratch { keys, starts, order, .. } = scratch;
        keys.clear();
        starts.clear();
        for gate in gates {
            let level = |wire: Wire| match wire.checked_sub(self.component.inputs) {
                Some(place) => self.level[place as usize],
                None => 0,
            };
            let (depth, and) = match *gate {
                Step::And { a, b, .. } => (level(a).max(level(b)), 1),
                Step::Xor { a, b, .. } => (level(a).max(level(b)), 0),
                Step::Inv { a, .. } => (level(a), 0),
                Step::Lookup(lookup) => {
                    let lookup = self.component.lookups[lookup as usize];
                    let inputs = self.component.inputs_of(lookup).iter();
                    (inputs.map(|&wire| level(wire)).max().unwrap_or(0), 1)
                }
                Step::Const { .. } | Step::Call(_) | Step::Repeat(_) => (0, 0),
            };
            let written = outputs_of(self.component, gate);
            self.set_level(written, depth + and);
            let key = 2 * depth + and;
            keys.push(key);
            if starts.len() <= key as usize + 1 {
                starts.resize(key as usize + 2, 0);
            }
            starts[key as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        order.clear();
        order.resize(gates.len(), 0);
        for (i, &key) in keys.iter().enumerate() {
            order[starts[key as usize] as usize] = i as u32;
            starts[key as usize] += 1;
        }
    }

    fn linear(&mut self, gate: Step) {
        let (op, wire) = match gate {
            Step::Xor { a, b, out } => {
                let (slot_a, slot_b) = (self.slot(a), self.slot(b));
                self.read(a);
                self.read(b);
                self.frame.counts.xor += 1;
                (Linear::Xor { a: slot_a, b: slot_b, out: self.write(out) }, out)
            }
            Step::Inv { a, out } => {
                let slot_a = self.slot(a);
                self.read(a);
                self.frame.counts.inv += 1;
                (Linear::Inv { a: slot_a, out: self.write(out) }, out)
            }
            Step::Const { value, out } => {
                self.frame.counts.constants += 1;
                (Linear::Const { value, out: self.write(out) }, out)
            }
            Step::And { .. } | Step::Lookup(_) | Step::Call(_) | Step::Repeat(_) => {
                unreachable!("sorted among the free gates")
            }
        };
        self.frame.linear.push(op);
        self.free_if_dead(wire);
    }

    /// Ends a batch with these AND gates and look-ups. Their results get slots before any operand's
    /// is freed.
    fn independent(&mut self, gates: &[Step], batch: &[u32]) {
        let component = self.component;
        for &i in batch {
            match gates[i as usize] {
                Step::And { a, b, out } => {
                    let (a, b) = (self.slot(a), self.slot(b));
                    let out = self.write(out);
                    self.frame.ands.push(And { a, b, out });
                    self.frame.counts.and += 1;
                }
                Step::Lookup(lookup) => self.lookup(component.lookups[lookup as usize]),
                _ => unreachable!("sorted among the gates that cost"),
            }
        }
        for &i in batch {
            match gates[i as usize] {
                Step::And { a, b, out } => {
                    self.read(a);
                    self.read(b);
                    self.free_if_dead(out);
                }
                Step::Lookup(lookup) => {
                    let lookup = component.lookups[lookup as usize];
                    component.inputs_of(lookup).iter().for_each(|&wire| self.read(wire));
                    lookup.outputs().for_each(|wire| self.free_if_dead(wire));
                }
                _ => unreachable!("sorted among the gates that cost"),
            }
        }
        self.end_batch();
    }

    fn lookup(&mut self, lookup: Lookup) {
        for wire in lookup.outputs() {
            self.write(wire);
        }
        let (first, slots) = (self.component.inputs, &self.slot);
        let slot = |wire: Wire| slot_of(first, slots, wire);
        let inputs = self.component.inputs_of(lookup).iter().map(|&wire| slot(wire));
        self.frame.lookups.push(lookup.table, inputs, lookup.outputs().map(slot));
        self.frame.counts.lookups += 1;
        self.frame.counts.lookup_outputs += u64::from(lookup.output_count);
    }

    fn end_batch(&mut self) {
        let frame = &mut self.frame;
        let linear_end = frame.linear.len() as u32;
        let (and_end, lookup_end) = (frame.ands.len() as u32, frame.lookups.len() as u32);
        frame.segments.push(Segment::Batch { linear_end, and_end, lookup_end });
        self.batched = linear_end;
    }

    /// Ends a batch of only free gates, if some are pending.
    fn flush(&mut self) {
        if self.batched as usize != self.frame.linear.len() {
            self.end_batch();
        }
    }

    fn call(&mut self, call: Call, index: usize, callee: &Frame) {
        self.flush();
        let args = ranges_passed(self.component, call);
        let mut runs = std::mem::take(&mut self.frame.runs);
        let first_run = runs.len();
        args.iter().for_each(|&range| self.push_slots(&mut runs, first_run, range));
        let first_result = runs.len();
        self.frame.runs = runs;
        args.iter().for_each(|&range| self.read_all(range));
        let mut copies = u64::from(callee.inputs);
        for i in 0..callee.outputs.len() as u32 {
            let wire = call.first_output + i;
            let slot = if self.reads.is_over(wire) {
                SKIP
            } else {
                copies += 1;
                self.write(wire)
            };
            push_slot(&mut self.frame.runs, first_result, slot);
        }
        self.frame.segments.push(Segment::Call(self.frame.calls.len() as u32));
        self.frame.calls.push(FrameCall {
            frame: index,
            args: first_run..first_result,
            results: first_result..self.frame.runs.len(),
        });
        self.frame.counts.add(&callee.counts, 1);
        self.frame.counts.copies = self.frame.counts.copies.saturating_add(copies);
        self.callee_depth = self.callee_depth.max(callee.depth);
    }

    fn repeat(&mut self, repeat: Repeat, index: usize, callee: &Frame) {
        self.flush();
        let component = self.component;
        let mut constants = 0;
        let of = |ranges| {
            let mut runs = Vec::new();
            let ranges = component.ranges_of(ranges).iter();
            ranges.for_each(|&range| self.push_slots(&mut runs, 0, range));
            Slice::new(runs)
        };
        let args = component.args_of(repeat).iter().map(|arg| match *arg {
            RepeatArg::Fixed(ranges) => FrameArg::Fixed(of(ranges)),
            RepeatArg::Carried(ranges) => FrameArg::Carried(of(ranges)),
            RepeatArg::Strided(ranges) => {
                let slots = of(ranges);
                let width = slots.len() / repeat.count;
                FrameArg::Strided(slots, width)
            }
            RepeatArg::Counter { start, step, bits } => {
                constants += u64::from(bits);
                FrameArg::Counter { start, step, bits }
            }
        });
        let args = args.collect();
        let carried = component.carried_by(repeat);
        let width = callee.outputs.len() as u32 - carried;
        let others = repeat.first_output + carried;
        // What is passed on needs slots even if nobody reads it in the end. The arguments are read
        // in every round, so the results need slots other than theirs.
        let mut runs = Vec::new();
        (repeat.first_output..others).for_each(|wire| push_slot(&mut runs, 0, self.write(wire)));
        let carried_slots = Slice::new(runs);
        let (mut runs, mut kept) = (Vec::new(), 0u64);
        for wire in others..others + repeat.count * width {
            let slot = if self.reads.is_over(wire) {
                SKIP
            } else {
                kept += 1;
                self.write(wire)
            };
            push_slot(&mut runs, 0, slot);
        }
        ranges_read(component, repeat).for_each(|range| self.read_all(range));
        (repeat.first_output..others).for_each(|wire| self.free_if_dead(wire));
        self.frame.segments.push(Segment::Repeat(self.frame.repeats.len() as u32));
        self.frame.repeats.push(FrameRepeat {
            frame: index,
            count: repeat.count,
            args,
            carried: carried_slots,
            others: Slice::new(runs),
            width,
        });
        let rounds = u64::from(repeat.count);
        let counts = &mut self.frame.counts;
        counts.add(&callee.counts, rounds);
        counts.constants += constants * rounds;
        let copied = u64::from(callee.inputs) - constants + u64::from(carried);
        counts.copies = counts.copies.saturating_add(copied * rounds).saturating_add(kept);
        self.callee_depth = self.callee_depth.max(callee.depth);
    }

    fn finish(mut self) -> Frame {
        self.flush();
        let mut frame = self.frame;
        frame.slots = self.free.high_water();
        frame.depth = frame.slots as usize + self.callee_depth;
        let slot = |&wire: &Wire| slot_of(self.component.inputs, &self.slot, wire);
        frame.outputs = self.component.outputs.iter().map(slot).collect();
        frame.outputs.iter().for_each(|&slot| push_slot(&mut frame.output_runs, 0, slot));
        frame.output_runs.shrink_to_fit();
        frame
    }
}

/// Adds a slot to the runs from `first` on, lengthening the last one when the slot follows it.
fn push_slot(runs: &mut Vec<Run>, first: usize, slot: u32) {
    push_run(runs, first, Run { first: slot, len: 1 });
}

/// Adds a run to those from `first` on, lengthening the last one when the run follows it.
fn push_run(runs: &mut Vec<Run>, first: usize, run: Run) {
    if let Some(last) = runs[first..].last_mut() {
        let follows = match last.first {
            SKIP => run.is_skipped(),
            start => run.first == start + last.len,
        };
        if follows {
            last.len += run.len;
            return;
        }
    }
    runs.push(run);
}

/// Returns the runs of wires that a repeat's arguments name, in order.
fn ranges_read(component: &Component, repeat: Repeat) -> impl Iterator<Item = WireRange> {
    let ranges = component.args_of(repeat).iter().filter_map(RepeatArg::ranges);
    ranges.flat_map(|ranges| component.ranges_of(ranges).iter().copied())
}
