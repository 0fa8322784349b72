//! Where the depth and the live wires of a component under construction come from.

use std::ops::Range;

use super::bit::Bit;
use super::gates::Gates;
use super::sweep::{WireSet, mark, written};
use crate::{RepeatArg, Step, Wire, WireRange};

/// Which wires make a component deep, and which make it wide, as it is written: rewriting may
/// change both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The first wires that the steps of one longest path write, with the depth of each step: 1 for
    /// an AND gate or a look-up, for a call what is inside. The sum is the component's depth.
    pub path: Vec<(Wire, u32)>,
    /// Wires that are live at one moment when most are, inputs among them.
    pub live: Vec<Wire>,
}

/// A step, reduced to what depth and live wires need.
struct Seen {
    writes: Range<Wire>,
    depth: u32,
}

impl Gates {
    /// Returns the number of the next wire: wires made from now on have this number or a higher
    /// one.
    pub fn next_wire(&self) -> Wire {
        self.next_wire
    }

    /// Returns where depth and live wires come from, for these outputs.
    pub fn profile(&mut self, outputs: &[Bit]) -> Profile {
        let outputs: Vec<Wire> = outputs.iter().map(|&bit| self.materialise(bit)).collect();
        if self.too_large {
            return Profile::default();
        }
        let mut kept = WireSet::new(self.next_wire);
        outputs.iter().for_each(|&wire| kept.insert(wire));
        mark(self, &mut kept);
        let mut steps: Vec<(usize, Seen)> = Vec::new();
        for place in 0..self.steps.len() {
            let seen = self.seen(place);
            if !seen.writes.is_empty() && kept.contains(seen.writes.start) {
                steps.push((place, seen));
            }
        }
        Profile { path: self.longest_path(&steps), live: self.most_live(&steps, &outputs) }
    }

    fn seen(&self, place: usize) -> Seen {
        let one = |out: Wire, depth| Seen { writes: out..out + 1, depth };
        match self.steps[place] {
            Step::And { out, .. } => one(out, 1),
            Step::Xor { out, .. } | Step::Inv { out, .. } | Step::Const { out, .. } => one(out, 0),
            Step::Call(call) => {
                let call = self.calls[call as usize];
                let callee = &self.callees[call.component as usize];
                let writes = call.first_output..call.first_output + callee.output_bits();
                Seen { writes, depth: callee.depth() }
            }
            Step::Repeat(repeat) => {
                let repeat = self.repeats[repeat as usize];
                let WireRange { first, len } = written(self, repeat);
                let args = &self.repeat_args[repeat.first_arg as usize..];
                let args = &args[..repeat.arg_count as usize];
                let chained = args.iter().any(|arg| matches!(arg, RepeatArg::Carried(_)));
                let rounds = if chained { repeat.count } else { 1 };
                let depth = self.callees[repeat.component as usize].depth();
                Seen { writes: first..first + len, depth: depth.saturating_mul(rounds) }
            }
            Step::Lookup(lookup) => {
                Seen { writes: self.lookups.gates[lookup as usize].outputs(), depth: 1 }
            }
        }
    }

    /// Shows the wires that a step reads.
    fn reads(&self, place: usize, mut read: impl FnMut(Wire)) {
        let mut ranges = |first: u32, count: u32| {
            for range in &self.call_args[first as usize..][..count as usize] {
                (range.first..range.first + range.len).for_each(&mut read);
            }
        };
        match self.steps[place] {
            Step::Xor { a, b, .. } | Step::And { a, b, .. } => [a, b].into_iter().for_each(read),
            Step::Inv { a, .. } => read(a),
            Step::Const { .. } => {}
            Step::Call(call) => {
                let call = self.calls[call as usize];
                ranges(call.first_arg, call.arg_count);
            }
            Step::Repeat(repeat) => {
                let repeat = self.repeats[repeat as usize];
                let args = &self.repeat_args[repeat.first_arg as usize..];
                let args = args[..repeat.arg_count as usize].iter();
                args.filter_map(RepeatArg::ranges).for_each(|r| ranges(r.first, r.count));
            }
            Step::Lookup(lookup) => {
                let lookup = self.lookups.gates[lookup as usize];
                self.lookups.inputs_of(lookup).iter().for_each(|&wire| read(wire));
            }
        }
    }

    fn longest_path(&self, steps: &[(usize, Seen)]) -> Vec<(Wire, u32)> {
        let mut depths = vec![0u32; self.next_wire as usize];
        // Depths only grow along a path, so they suffice to trace it back.
        let mut deepest: Option<(usize, u32)> = None;
        for (at, (place, seen)) in steps.iter().enumerate() {
            let mut before = 0;
            self.reads(*place, |wire| before = before.max(depths[wire as usize]));
            let depth = before.saturating_add(seen.depth);
            depths[seen.writes.start as usize..seen.writes.end as usize].fill(depth);
            if deepest.is_none_or(|(_, most)| depth > most) {
                deepest = Some((at, depth));
            }
        }
        let Some((last, mut wanted)) = deepest else { return Vec::new() };
        let mut path = Vec::new();
        let mut next: Option<Range<Wire>> = Some(steps[last].1.writes.clone());
        for (place, seen) in steps[..=last].iter().rev() {
            if !next.as_ref().is_some_and(|next| next.contains(&seen.writes.start)) {
                continue;
            }
            if seen.depth > 0 {
                path.push((seen.writes.start, seen.depth));
            }
            wanted = wanted.saturating_sub(seen.depth);
            next = None;
            self.reads(*place, |wire| {
                if next.is_none() && wanted > 0 && depths[wire as usize] == wanted {
                    next = Some(wire..wire + 1);
                }
            });
            let Some(wire) = next.as_ref().map(|next| next.start) else { break };
            // The step that writes the wire may write others before it.
            let writer = steps[..=last].partition_point(|(_, s)| s.writes.start <= wire);
            next = writer.checked_sub(1).map(|at| steps[at].1.writes.clone());
        }
        path.reverse();
        path
    }

    fn most_live(&self, steps: &[(usize, Seen)], outputs: &[Wire]) -> Vec<Wire> {
        let end = steps.len();
        let mut last = vec![None; self.next_wire as usize];
        for (at, (place, _)) in steps.iter().enumerate() {
            self.reads(*place, |wire| last[wire as usize] = Some(at));
        }
        outputs.iter().for_each(|&wire| last[wire as usize] = Some(end));
        let inputs = || self.inputs.iter().flat_map(|run| run.first..run.first + run.len);
        let mut dying = vec![0usize; end + 1];
        let mut live = 0;
        for wire in inputs() {
            live += 1;
            dying[last[wire as usize].unwrap_or(0)] += 1;
        }
        let (mut most, mut moment) = (live, 0);
        for (at, (_, seen)) in steps.iter().enumerate() {
            for wire in seen.writes.clone() {
                live += 1;
                dying[last[wire as usize].unwrap_or(at)] += 1;
            }
            if live > most {
                (most, moment) = (live, at + 1);
            }
            live -= dying[at];
        }
        // An input that nobody reads is live until the first step.
        let is_input_live = |wire: &Wire| last[*wire as usize].unwrap_or(0) + 1 >= moment;
        let is_live = |wire: &Wire| last[*wire as usize].is_some_and(|last| last + 1 >= moment);
        let written = steps[..moment].iter().flat_map(|(_, seen)| seen.writes.clone());
        // A wire that nobody reads is live during the step that writes it.
        let newest = moment.checked_sub(1).map_or(0..0, |at| steps[at].1.writes.clone());
        let written = written.filter(|wire| is_live(wire) || newest.contains(wire));
        inputs().filter(is_input_live).chain(written).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::ComponentBuilder;

    #[test]
    fn the_path_adds_up_to_the_depth() {
        let mut c = ComponentBuilder::new("inner");
        let (x, y) = (c.input(16), c.input(16));
        let product = c.mul(&x, &y);
        c.output(&product);
        let inner = c.finish().expect("a component");

        let mut c = ComponentBuilder::new("outer");
        let (x, y) = (c.input(16), c.input(16));
        let unused = c.input(7);
        let sum = c.add(&x, &y);
        let dead = c.mul(&sum, &sum);
        assert_eq!((dead.width(), unused.width()), (16, 7));
        let [product] = <[_; 1]>::try_from(c.call(&inner, &[&sum, &y])).expect("one output");
        let less = c.lt(&product, &x);
        let Profile { path, live } = c.profile(&[less]);
        c.output(&[less]);
        let outer = c.finish().expect("a component");
        let sum: u32 = path.iter().map(|(_, depth)| depth).sum();
        assert_eq!(sum, outer.depth());
        assert!(path.is_sorted_by_key(|(wire, _)| *wire));
        assert!(path.iter().any(|(_, depth)| *depth == inner.depth()));
        // Both operands, the sum at the call, and the input that nobody reads at the start.
        assert!(live.len() >= 39, "{}", live.len());
    }
}
