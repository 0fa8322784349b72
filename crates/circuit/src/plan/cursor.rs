//! Walking a plan: a resumable position in the flattened program.

use super::frame::{Frame, FrameArg, Run, Segment};
use super::{And, Linear, LookupGates, Plan};
use crate::repeat::counter_bit;

/// A piece of the walk: free operations, then independent AND gates and look-ups.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The slot from which every slot number in the batch counts.
    pub base: usize,
    /// To be done first, one after the other.
    pub linear: &'a [Linear],
    /// To be done then, in any order: none reads or overwrites a slot that another one writes.
    pub ands: &'a [And],
    /// The number of the first of `ands` among all AND gates of the walk; the others follow it.
    pub first_and: u64,
    /// To be done with the `ands`: independent of them and of each other. Always empty unless the
    /// plan was made [`with_lookups`](Plan::with_lookups).
    pub lookups: LookupGates<'a>,
}

/// A walk through a [`Plan`], one [`Batch`] at a time.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    plan: &'a Plan,
    /// The active calls, the main component's first.
    stack: Vec<Position>,
    /// The copies of the call that is being entered or left.
    copies: Vec<Linear>,
    pub(super) next_and: u64,
}

/// A place within one frame.
#[derive(Clone, Copy, Debug)]
struct Position {
    frame: usize,
    base: usize,
    segment: usize,
    /// How many rounds of the current repeat are done.
    round: u32,
    linear: usize,
    and: usize,
    lookup: usize,
}

impl Position {
    fn start(frame: usize, base: usize) -> Position {
        Position { frame, base, segment: 0, round: 0, linear: 0, and: 0, lookup: 0 }
    }
}

impl<'a> Cursor<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let main = Position::start(plan.frames.len() - 1, 0);
        Cursor { plan, stack: vec![main], copies: Vec::new(), next_and: 0 }
    }

    /// Returns the next batch, or `None` when the walk has ended. Any list of a batch may be empty,
    /// but not all.
    ///
    /// The batch borrows the cursor: copies into and out of calls are generated during the walk.
    pub fn next_batch(&mut self) -> Option<Batch<'_>> {
        let base = loop {
            let position = self.stack.last_mut()?;
            let frame: &'a Frame = &self.plan.frames[position.frame];
            match frame.segments.get(position.segment) {
                Some(&Segment::Batch { linear_end, and_end, lookup_end }) => {
                    let linear = &frame.linear[position.linear..linear_end as usize];
                    let ands = &frame.ands[position.and..and_end as usize];
                    let lookups = frame.lookups.part(position.lookup..lookup_end as usize);
                    let first_and = self.next_and;
                    self.next_and += ands.len() as u64;
                    position.segment += 1;
                    position.linear = linear_end as usize;
                    position.and = and_end as usize;
                    position.lookup = lookup_end as usize;
                    let base = position.base;
                    return Some(Batch { base, linear, ands, first_and, lookups });
                }
                Some(&Segment::Call(call)) => {
                    let base = position.base;
                    self.copy_arguments(frame, call as usize);
                    self.enter(frame, frame.calls[call as usize].frame);
                    if !self.copies.is_empty() {
                        break base;
                    }
                }
                Some(&Segment::Repeat(repeat)) => {
                    let (base, round) = (position.base, position.round);
                    self.copy_round_arguments(frame, repeat as usize, round);
                    self.enter(frame, frame.repeats[repeat as usize].frame);
                    if !self.copies.is_empty() {
                        break base;
                    }
                }
                None => {
                    let (callee, base) = self.leave()?;
                    if self.copy_results(callee) {
                        break base;
                    }
                }
            }
        };
        let (linear, lookups) = (&self.copies, LookupGates::default());
        Some(Batch { base, linear, ands: &[], first_and: self.next_and, lookups })
    }

    /// Skips to after the next batch that has AND gates, and returns how many it has, as
    /// [`next_batch`](Cursor::next_batch) would give them. `None` when there is none.
    pub fn skip_ands(&mut self) -> Option<usize> {
        loop {
            let position = self.stack.last_mut()?;
            let frame: &'a Frame = &self.plan.frames[position.frame];
            match frame.segments.get(position.segment) {
                Some(&Segment::Batch { linear_end, and_end, lookup_end }) => {
                    let ands = and_end as usize - position.and;
                    self.next_and += ands as u64;
                    position.segment += 1;
                    position.linear = linear_end as usize;
                    position.and = and_end as usize;
                    position.lookup = lookup_end as usize;
                    if ands > 0 {
                        return Some(ands);
                    }
                }
                Some(&Segment::Call(call)) => self.enter(frame, frame.calls[call as usize].frame),
                Some(&Segment::Repeat(repeat)) => {
                    self.enter(frame, frame.repeats[repeat as usize].frame);
                }
                None => {
                    self.leave()?;
                    self.go_on();
                }
            }
        }
    }

    /// Makes the copies of a call's arguments.
    fn copy_arguments(&mut self, caller: &Frame, call: usize) {
        self.copies.clear();
        let mut out = caller.slots;
        // The callee's inputs are contiguous, so only the arguments' own runs split the copies.
        for &Run { first: from, len } in caller.runs_of(&caller.calls[call].args) {
            self.copies.push(Linear::Copy { from, out, len });
            out += len;
        }
    }

    /// Makes the copies of the arguments of a round.
    fn copy_round_arguments(&mut self, caller: &Frame, repeat: usize, round: u32) {
        self.copies.clear();
        let repeat = &caller.repeats[repeat];
        let (mut out, mut handed_on) = (caller.slots, 0);
        for arg in &repeat.args {
            let (slots, start, len) = match arg {
                FrameArg::Fixed(slots) => (slots, 0, slots.len()),
                FrameArg::Carried(slots) => {
                    let first = handed_on;
                    handed_on += slots.len();
                    match round {
                        0 => (slots, 0, slots.len()),
                        _ => (&repeat.carried, first, slots.len()),
                    }
                }
                FrameArg::Strided(slots, len) => (slots, round * len, *len),
                &FrameArg::Counter { start, step, bits } => {
                    for bit in 0..bits {
                        let value = counter_bit(start, step, round, bit);
                        self.copies.push(Linear::Const { value, out });
                        out += 1;
                    }
                    continue;
                }
            };
            for Run { first, len } in slots.part(start, len) {
                match self.copies.last_mut() {
                    // Adjacent arguments are one copy.
                    Some(Linear::Copy { from, len: before, .. }) if *from + *before == first => {
                        *before += len;
                    }
                    _ => self.copies.push(Linear::Copy { from: first, out, len }),
                }
                out += len;
            }
        }
    }

    /// Enters a frame that another one calls.
    fn enter(&mut self, caller: &Frame, frame: usize) {
        let Some(position) = self.stack.last() else { return };
        let base = position.base + caller.slots as usize;
        self.stack.push(Position::start(frame, base));
    }

    /// Continues after a call or a round that has ended.
    fn go_on(&mut self) {
        let Some(position) = self.stack.last_mut() else { return };
        let frame = &self.plan.frames[position.frame];
        if let Some(&Segment::Repeat(repeat)) = frame.segments.get(position.segment) {
            position.round += 1;
            if position.round < frame.repeats[repeat as usize].count {
                return;
            }
        }
        position.round = 0;
        position.segment += 1;
    }

    /// Leaves the frame that has ended, and returns it with the base of its caller; the caller's
    /// position is still at the call. `None` after the last.
    fn leave(&mut self) -> Option<(&'a Frame, usize)> {
        let ended = self.stack.pop()?;
        let position = self.stack.last()?;
        Some((&self.plan.frames[ended.frame], position.base))
    }

    /// Makes the copies of the results of the call or the round that the caller is at, and
    /// continues after it; returns whether there are any.
    fn copy_results(&mut self, callee: &Frame) -> bool {
        let Some(&Position { frame, segment, round, .. }) = self.stack.last() else { return false };
        let caller: &'a Frame = &self.plan.frames[frame];
        self.go_on();
        self.copies.clear();
        match caller.segments.get(segment) {
            Some(&Segment::Call(call)) => {
                let targets = caller.runs_of(&caller.calls[call as usize].results);
                self.copy_runs(caller.slots, &callee.output_runs, targets.iter().copied());
            }
            Some(&Segment::Repeat(repeat)) => {
                let repeat = &caller.repeats[repeat as usize];
                let carried = repeat.carried.part(0, repeat.carried.len());
                let others = repeat.others.part(round * repeat.width, repeat.width);
                self.copy_runs(caller.slots, &callee.output_runs, carried.chain(others));
            }
            _ => unreachable!("a frame is entered from a call or a repeat of its caller"),
        }
        !self.copies.is_empty()
    }

    /// Makes copies of results, which begin at slot `base` of the caller. Both lists have the same
    /// number of slots; a copy ends where a run of either does.
    fn copy_runs(&mut self, base: u32, sources: &[Run], targets: impl Iterator<Item = Run>) {
        let mut sources = sources.iter();
        let mut source = Run { first: 0, len: 0 };
        for run in targets {
            let mut target = run;
            while target.len > 0 {
                if source.len == 0 {
                    source = *sources.next().expect("a call has a place for every result");
                }
                let len = source.len.min(target.len);
                if !target.is_skipped() {
                    let from = base + source.first;
                    self.copies.push(Linear::Copy { from, out: target.first, len });
                }
                (source, target) = (source.after(len), target.after(len));
            }
        }
    }
}
