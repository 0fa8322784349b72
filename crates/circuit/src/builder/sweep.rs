//! Turns gates under construction into a component: those that reach no output are dropped, and the
//! remaining wires are numbered without gaps.

use super::bit::Bit;
use super::gates::Gates;
use super::subcircuit::Subcircuit;
use crate::{
    CircuitError, Component, Lookup, Ranges, Repeat, RepeatArg, Step, Table, Wire, WireRange,
};

/// A component, and the callees and tables that its numbers refer to.
pub(super) struct Swept {
    pub(super) component: Component,
    /// What its calls name.
    pub(super) callees: Vec<Subcircuit>,
    /// What its look-ups name.
    pub(super) tables: Vec<Table>,
    /// Of each step the wire from which it comes, if that is asked for.
    pub(super) origins: Option<Vec<Wire>>,
}

/// Finishes the gates into a component with these outputs.
pub(super) fn sweep(
    mut gates: Gates,
    name: String,
    outputs: Vec<Bit>,
) -> Result<Swept, CircuitError> {
    let mut outputs: Vec<Wire> = outputs.into_iter().map(|bit| gates.materialise(bit)).collect();
    outputs.shrink_to_fit();
    if let Some(mismatch) = gates.mismatch.take() {
        return Err(mismatch);
    }
    if gates.too_large {
        return Err(CircuitError::invalid(format!("`{name}` has more wires than can be numbered")));
    }
    let mut live = WireSet::new(gates.next_wire);
    outputs.iter().for_each(|&wire| live.insert(wire));
    mark(&gates, &mut live);
    let numbers = Numbers::new(live, &gates.inputs);

    // The last steps only put out what others have made.
    gates.trace(0);
    let mut origins = gates.origins.take();
    let mut steps = std::mem::take(&mut gates.steps);
    let (mut place, mut kept) = (0, 0);
    steps.retain_mut(|step| {
        let stays = keep(step, &gates, &numbers);
        if let (Some(origins), true) = (&mut origins, stays) {
            origins[kept] = origins[place];
        }
        (place, kept) = (place + 1, kept + usize::from(stays));
        stays
    });
    if let Some(origins) = &mut origins {
        origins.truncate(kept);
    }
    let mut component = Component {
        name,
        inputs: numbers.inputs,
        wires: numbers.total,
        outputs: outputs.into_iter().map(|wire| numbers.of(wire)).collect(),
        ..Component::default()
    };
    let mut callees = Used::new(std::mem::take(&mut gates.callees));
    let mut tables = Used::new(std::mem::take(&mut gates.lookups.tables));
    for step in &mut steps {
        match step {
            Step::Call(index) => {
                let mut call = gates.calls[*index as usize];
                let args = &gates.call_args[call.first_arg as usize..][..call.arg_count as usize];
                call.first_arg = component.call_args.len() as u32;
                component.call_args.extend(
                    args.iter().map(|arg| WireRange { first: numbers.of(arg.first), len: arg.len }),
                );
                call.first_output = numbers.of(call.first_output);
                call.component = callees.use_of(call.component);
                *index = component.calls.len() as u32;
                component.calls.push(call);
            }
            Step::Repeat(index) => {
                let mut repeat = gates.repeats[*index as usize];
                move_args(&mut repeat, &gates, &numbers, &mut component);
                repeat.first_output = numbers.of(repeat.first_output);
                repeat.component = callees.use_of(repeat.component);
                *index = component.repeats.len() as u32;
                component.repeats.push(repeat);
            }
            Step::Lookup(index) => {
                let lookup = gates.lookups.gates[*index as usize];
                let first_input = component.lookup_inputs.len() as u32;
                let inputs = gates.lookups.inputs_of(lookup).iter();
                component.lookup_inputs.extend(inputs.map(|&wire| numbers.of(wire)));
                *index = component.lookups.len() as u32;
                component.lookups.push(Lookup {
                    table: tables.use_of(lookup.table),
                    first_input,
                    first_output: numbers.of(lookup.first_output),
                    ..lookup
                });
            }
            _ => {}
        }
    }
    steps.shrink_to_fit();
    component.steps = steps;
    Ok(Swept { component, callees: callees.used, tables: tables.used, origins })
}

/// Copies the arguments of a repeat into the component.
fn move_args(repeat: &mut Repeat, gates: &Gates, numbers: &Numbers, component: &mut Component) {
    let args = &gates.repeat_args[repeat.first_arg as usize..][..repeat.arg_count as usize];
    repeat.first_arg = component.repeat_args.len() as u32;
    for arg in args {
        let moved = arg.ranges().map(|Ranges { first, count }| {
            let moved = Ranges { first: component.call_args.len() as u32, count };
            let ranges = &gates.call_args[first as usize..][..count as usize];
            component.call_args.extend(
                ranges.iter().map(|r| WireRange { first: numbers.of(r.first), len: r.len }),
            );
            moved
        });
        component.repeat_args.push(moved.map_or(*arg, |ranges| arg.with_ranges(ranges)));
    }
}

/// Returns the wires that a repeat writes.
pub(super) fn written(gates: &Gates, repeat: Repeat) -> WireRange {
    let args = &gates.repeat_args[repeat.first_arg as usize..][..repeat.arg_count as usize];
    let carried = args.iter().map(|arg| match arg {
        RepeatArg::Carried(Ranges { first, count }) => {
            gates.call_args[*first as usize..][..*count as usize].iter().map(|r| r.len).sum()
        }
        _ => 0u32,
    });
    let carried: u32 = carried.sum();
    let others = gates.callees[repeat.component as usize].output_bits() - carried;
    WireRange { first: repeat.first_output, len: carried + repeat.count * others }
}

/// Adds every wire on which a wire of the set depends.
pub(super) fn mark(gates: &Gates, live: &mut WireSet) {
    for step in gates.steps.iter().rev() {
        match *step {
            Step::Xor { a, b, out } | Step::And { a, b, out } => {
                if live.contains(out) {
                    live.insert(a);
                    live.insert(b);
                }
            }
            Step::Inv { a, out } => {
                if live.contains(out) {
                    live.insert(a);
                }
            }
            Step::Const { .. } => {}
            Step::Call(index) => {
                let call = gates.calls[index as usize];
                let outputs = gates.callees[call.component as usize].output_bits();
                let outputs = WireRange { first: call.first_output, len: outputs };
                if live.meets(outputs) {
                    // A call writes all its outputs, used or not.
                    live.insert_all(outputs);
                    let args = &gates.call_args[call.first_arg as usize..];
                    args[..call.arg_count as usize].iter().for_each(|&arg| live.insert_all(arg));
                }
            }
            Step::Repeat(index) => {
                let repeat = gates.repeats[index as usize];
                let outputs = written(gates, repeat);
                if live.meets(outputs) {
                    live.insert_all(outputs);
                    let args = &gates.repeat_args[repeat.first_arg as usize..];
                    let args = args[..repeat.arg_count as usize].iter();
                    for Ranges { first, count } in args.filter_map(RepeatArg::ranges) {
                        let ranges = &gates.call_args[first as usize..][..count as usize];
                        ranges.iter().for_each(|&range| live.insert_all(range));
                    }
                }
            }
            Step::Lookup(index) => {
                let lookup = gates.lookups.gates[index as usize];
                let outputs = WireRange { first: lookup.first_output, len: lookup.output_count };
                if live.meets(outputs) {
                    live.insert_all(outputs);
                    gates.lookups.inputs_of(lookup).iter().for_each(|&wire| live.insert(wire));
                }
            }
        }
    }
}

/// Returns whether the step is live; renumbers the wires of a live gate.
fn keep(step: &mut Step, gates: &Gates, numbers: &Numbers) -> bool {
    match step {
        Step::Xor { a, b, out } | Step::And { a, b, out } => {
            if !numbers.live.contains(*out) {
                return false;
            }
            for wire in [a, b, out] {
                *wire = numbers.of(*wire);
            }
        }
        Step::Inv { a, out } => {
            if !numbers.live.contains(*out) {
                return false;
            }
            (*a, *out) = (numbers.of(*a), numbers.of(*out));
        }
        Step::Const { out, .. } => {
            if !numbers.live.contains(*out) {
                return false;
            }
            *out = numbers.of(*out);
        }
        Step::Call(index) => {
            // All outputs of a live call are live, so it is enough to check the first. A component
            // without outputs has no visible effect.
            let call = gates.calls[*index as usize];
            return gates.callees[call.component as usize].output_bits() > 0
                && numbers.live.contains(call.first_output);
        }
        Step::Repeat(index) => {
            let outputs = written(gates, gates.repeats[*index as usize]);
            return outputs.len > 0 && numbers.live.contains(outputs.first);
        }
        Step::Lookup(index) => {
            return numbers.live.contains(gates.lookups.gates[*index as usize].first_output);
        }
    }
    true
}

/// The entries of a list that are still used, numbered in order of first use.
struct Used<T> {
    all: Vec<T>,
    numbers: Vec<Option<u32>>,
    used: Vec<T>,
}

impl<T: Clone> Used<T> {
    fn new(all: Vec<T>) -> Used<T> {
        Used { numbers: vec![None; all.len()], all, used: Vec::new() }
    }

    fn use_of(&mut self, place: u32) -> u32 {
        *self.numbers[place as usize].get_or_insert_with(|| {
            self.used.push(self.all[place as usize].clone());
            self.used.len() as u32 - 1
        })
    }
}

/// The new numbers of the live wires: inputs first, in their order, then all others in theirs.
struct Numbers {
    /// The live wires that are not inputs.
    live: WireSet,
    /// How many of them come before each word of the set.
    before: Vec<u32>,
    /// The old runs of inputs, each with the new number of its first wire.
    runs: Vec<(WireRange, Wire)>,
    inputs: u32,
    total: u32,
}

impl Numbers {
    fn new(mut live: WireSet, inputs: &[WireRange]) -> Numbers {
        let mut count = 0;
        let mut runs = Vec::with_capacity(inputs.len());
        for &run in inputs {
            live.remove_all(run);
            runs.push((run, count));
            count += run.len;
        }
        let mut total = count;
        let before = live.words.iter().map(|word| {
            total += word.count_ones();
            total - word.count_ones()
        });
        let before = before.collect();
        Numbers { live, before, runs, inputs: count, total }
    }

    fn of(&self, wire: Wire) -> Wire {
        // The common case is one run of inputs at the front.
        let run = match self.runs.as_slice() {
            [] => None,
            [run] => Some(run),
            runs => match runs.partition_point(|(run, _)| run.first <= wire) {
                0 => None,
                after => runs.get(after - 1),
            },
        };
        if let Some((run, first)) = run
            && wire.wrapping_sub(run.first) < run.len
        {
            return first + (wire - run.first);
        }
        let below = self.live.words[wire as usize / 64] & ((1 << (wire % 64)) - 1);
        self.before[wire as usize / 64] + below.count_ones()
    }
}

/// A set of wires, as bits.
pub(super) struct WireSet {
    words: Vec<u64>,
}

impl WireSet {
    pub(super) fn new(wires: u32) -> WireSet {
        WireSet { words: vec![0; (wires as usize).div_ceil(64)] }
    }

    pub(super) fn contains(&self, wire: Wire) -> bool {
        self.words[wire as usize / 64] >> (wire % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, wire: Wire) {
        self.words[wire as usize / 64] |= 1 << (wire % 64);
    }

    fn meets(&self, range: WireRange) -> bool {
        masks(range).any(|(index, mask)| self.words[index] & mask != 0)
    }

    fn insert_all(&mut self, range: WireRange) {
        masks(range).for_each(|(index, mask)| self.words[index] |= mask);
    }

    fn remove_all(&mut self, range: WireRange) {
        masks(range).for_each(|(index, mask)| self.words[index] &= !mask);
    }
}

/// Returns the words that a range touches, each with a mask of the range's wires in it.
fn masks(range: WireRange) -> impl Iterator<Item = (usize, u64)> {
    let (start, end) = (range.first as usize, range.first as usize + range.len as usize);
    (start / 64..end.div_ceil(64)).map(move |index| {
        let low = if index == start / 64 { u64::MAX << (start % 64) } else { u64::MAX };
        let high = if index == end / 64 { (1 << (end % 64)) - 1 } else { u64::MAX };
        (index, low & high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_cover_exactly_the_range() {
        for first in [0, 1, 63, 64, 65, 130] {
            for len in [0, 1, 2, 63, 64, 65, 128, 200] {
                let mut set = WireSet::new(400);
                let range = WireRange { first, len };
                assert!(!set.meets(range));
                set.insert_all(range);
                let expected = |w| (first..first + len).contains(&w);
                assert!((0..400).all(|w| set.contains(w) == expected(w)), "{first} {len}");
                assert_eq!(set.meets(range), len > 0);
                set.remove_all(range);
                assert!((0..400).all(|w| !set.contains(w)));
            }
        }
    }
}
