//! Which cones of gates to replace.

use std::ops::Range;

use super::affine::Base;
use super::chain::Chain;
use super::tables::{PROJECTIONS, VARIABLES, exchanged};
use crate::{Component, Step, Wire};

/// A wire keeps at most this many cuts, the smallest.
const CUTS: usize = 8;

/// Roots are taken from windows of this many gates, which bounds the memory.
const WINDOW: usize = 1 << 16;

/// Cones reach this many gates back from their window. Without it a gate at the border kept an AND
/// that others could do without, and through it a whole chain of cones.
const MARGIN: usize = 1 << 14;

/// What replaces a wire's gate: a function of other wires, its leaves.
pub(super) struct Replacement {
    pub(super) wire: Wire,
    pub(super) leaves: Vec<Wire>,
    pub(super) chain: Chain,
}

/// The place of a leaf that is not there. No wire has this number.
const NONE: Wire = Wire::MAX;

/// A wire as a function of others.
#[derive(Clone, Copy)]
struct Cut {
    len: u8,
    /// In ascending order, then `NONE`; one place more than leaves, so that the last is `NONE`.
    leaves: [Wire; VARIABLES + 1],
    /// The bit of each leaf, its number modulo 64, is set: there are at least as many leaves as
    /// bits.
    bits: u64,
    function: u64,
}

impl Cut {
    /// Returns the wire as its own leaf.
    fn of(wire: Wire) -> Cut {
        let mut leaves = [NONE; VARIABLES + 1];
        leaves[0] = wire;
        Cut { len: 1, leaves, bits: 1 << (wire % 64), function: PROJECTIONS[0] }
    }

    fn leaves(&self) -> &[Wire] {
        &self.leaves[..self.len as usize]
    }

    /// Returns the leaves of a gate with these cuts of its operands, still without the function;
    /// `None` if there are more than `most`.
    fn merge(&self, other: &Cut, most: usize) -> Option<Cut> {
        let mut leaves = [NONE; VARIABLES + 1];
        let (mut i, mut j) = (0, 0);
        for len in 0..=most.min(VARIABLES) {
            let (x, y) = (self.leaves[i], other.leaves[j]);
            let next = x.min(y);
            if next == NONE {
                let bits = self.bits | other.bits;
                return Some(Cut { len: len as u8, leaves, bits, function: 0 });
            }
            i += usize::from(x == next);
            j += usize::from(y == next);
            leaves[len] = next;
        }
        None
    }

    /// Returns the function with the leaves of a larger cut as its variables.
    fn over(&self, cut: &Cut) -> u64 {
        let mut function = self.function;
        let mut place = usize::from(cut.len);
        // Both lists ascend: from the last leaf on, each goes to a place that is free by then.
        for own in (0..usize::from(self.len)).rev() {
            place -= 1;
            while cut.leaves[place] != self.leaves[own] {
                place -= 1;
            }
            // Then the leaves before it are in their places, too.
            if place == own {
                break;
            }
            function = exchanged(function, own, place);
        }
        function
    }
}

/// A cut of a gate, and the cuts of its operands that it is the union of.
struct Union {
    cut: Cut,
    parts: [u8; 2],
}

/// The gate that writes a wire, if cuts can go through it.
#[derive(Clone, Copy)]
enum Node {
    /// An input, or an output of a call or a look-up.
    Leaf,
    Gate(Wire, Wire, bool),
}

struct Cone<'a> {
    nodes: &'a [Node],
    uses: Vec<u32>,
}

impl Cone<'_> {
    /// Removes a wire's use of its operands, and theirs if nothing else uses them, down to the
    /// leaves. Adds the wires that go to `gone`, and returns how many of them are ANDs.
    fn take(&mut self, root: Wire, leaves: &[Wire], gone: &mut Vec<Wire>) -> u32 {
        let mut ands = 0;
        gone.push(root);
        let mut next = gone.len() - 1;
        while next < gone.len() {
            if let Node::Gate(a, b, and) = self.nodes[gone[next] as usize] {
                ands += u32::from(and);
                for wire in [a, b] {
                    self.uses[wire as usize] -= 1;
                    if self.uses[wire as usize] == 0
                        && !leaves.contains(&wire)
                        && matches!(self.nodes[wire as usize], Node::Gate(..))
                    {
                        gone.push(wire);
                    }
                }
            }
            next += 1;
        }
        ands
    }

    /// Undoes [`Self::take`].
    fn give_back(&mut self, gone: &[Wire]) {
        for &wire in gone {
            if let Node::Gate(a, b, _) = self.nodes[wire as usize] {
                self.uses[a as usize] += 1;
                self.uses[b as usize] += 1;
            }
        }
    }
}

/// Returns the replacements that save ANDs, in the order of their steps. No cone overlaps another.
pub(super) fn choose(component: &Component, base: &mut Base) -> Vec<Replacement> {
    let wires = component.wires as usize;
    let mut nodes = vec![Node::Leaf; wires];
    let mut uses = vec![0u32; wires];
    let mut order = Vec::new();
    for step in &component.steps {
        match *step {
            Step::Xor { a, b, out } | Step::And { a, b, out } => {
                nodes[out as usize] = Node::Gate(a, b, matches!(step, Step::And { .. }));
                order.push(out);
                uses[a as usize] += 1;
                uses[b as usize] += 1;
            }
            // An inversion ends cuts; the builder puts them after gates only where they must be.
            Step::Inv { a, .. } => uses[a as usize] += 1,
            Step::Const { .. } => {}
            Step::Call(index) => {
                let call = component.calls[index as usize];
                let ranges = &component.call_args[call.first_arg as usize..];
                for range in &ranges[..call.arg_count as usize] {
                    (range.first..range.first + range.len).for_each(|w| uses[w as usize] += 1);
                }
            }
            Step::Repeat(index) => {
                let repeat = component.repeats[index as usize];
                component.read_by(repeat).for_each(|w| uses[w as usize] += 1);
            }
            Step::Lookup(index) => {
                let lookup = component.lookups[index as usize];
                component.inputs_of(lookup).iter().for_each(|&w| uses[w as usize] += 1);
            }
        }
    }
    component.outputs.iter().for_each(|&wire| uses[wire as usize] += 1);
    let mut cone = Cone { nodes: &nodes, uses };
    // Which wires are gone, and which ones the replacements of other cones need.
    let (mut gone, mut needed) = (vec![false; wires], vec![false; wires]);
    let mut chosen = Vec::new();
    let mut numbers = vec![0u32; wires];
    let mut cells = Vec::new();
    for start in (0..order.len()).step_by(WINDOW).rev() {
        let first = start.saturating_sub(MARGIN);
        let window = &order[first..order.len().min(start + WINDOW)];
        let cuts = Cuts::new(&nodes, window, &mut numbers);
        for (place, &root) in window.iter().enumerate().skip(start - first).rev() {
            if gone[root as usize] || cone.uses[root as usize] == 0 {
                continue;
            }
            let mut best: Option<(u32, &Cut)> = None;
            for cut in cuts.all[cuts.places[place].clone()].iter().filter(|cut| cut.len > 1) {
                if cut.leaves().iter().any(|&wire| gone[wire as usize]) {
                    continue;
                }
                cells.clear();
                let ands = cone.take(root, cut.leaves(), &mut cells);
                cone.give_back(&cells);
                let least = best.map_or(0, |(gain, _)| gain);
                if ands <= least || cells[1..].iter().any(|&wire| needed[wire as usize]) {
                    continue;
                }
                if let Some(cost) = base.cost(cut.function, ands - least) {
                    best = Some((ands - cost, cut));
                }
            }
            if let Some((_, cut)) = best
                && let Some(chain) = base.chain(cut.function)
            {
                cells.clear();
                cone.take(root, cut.leaves(), &mut cells);
                cells[1..].iter().for_each(|&wire| gone[wire as usize] = true);
                for &leaf in cut.leaves() {
                    needed[leaf as usize] = true;
                    cone.uses[leaf as usize] += 1;
                }
                let leaves = cut.leaves().to_vec();
                chosen.push(Replacement { wire: root, leaves, chain });
            }
        }
    }
    chosen.reverse();
    chosen
}

/// The cuts of a window's gates, each gate's smallest first and the gate itself last.
struct Cuts {
    all: Vec<Cut>,
    /// Where each gate's cuts are in `all`.
    places: Vec<Range<usize>>,
}

impl Cuts {
    /// Enumerates the cuts of these gates, in the order of their steps; all other wires are leaves.
    /// `numbers` has room for every wire, and is all zero before and after.
    fn new(nodes: &[Node], order: &[Wire], numbers: &mut [u32]) -> Cuts {
        let mut cuts = Cuts { all: Vec::new(), places: Vec::with_capacity(order.len()) };
        let mut found: Vec<Union> = Vec::with_capacity(CUTS);
        for &out in order {
            let Node::Gate(a, b, and) = nodes[out as usize] else { continue };
            let own = [a, b].map(|wire| [Cut::of(wire)]);
            // Gates are numbered from 1.
            let of = |operand: usize| match numbers[[a, b][operand] as usize] {
                0 => &own[operand][..],
                number => &cuts.all[cuts.places[number as usize - 1].clone()],
            };
            let (left, right) = (of(0), of(1));
            unions(left, right, &mut found);
            // Most unions are dropped again: only those that stay get a function.
            for Union { cut, parts: [x, y] } in &mut found {
                let (one, other) = (left[*x as usize].over(cut), right[*y as usize].over(cut));
                cut.function = if and { one & other } else { one ^ other };
            }
            let start = cuts.all.len();
            cuts.all.extend(found.drain(..).map(|union| union.cut));
            cuts.all.push(Cut::of(out));
            cuts.places.push(start..cuts.all.len());
            numbers[out as usize] = cuts.places.len() as u32;
        }
        order.iter().for_each(|&out| numbers[out as usize] = 0);
        cuts
    }
}

/// Adds the smallest unions of a cut on the left and one on the right, the smallest first.
fn unions(left: &[Cut], right: &[Cut], found: &mut Vec<Union>) {
    // A union with more leaves is not among the smallest.
    let mut most = VARIABLES;
    for (i, x) in left.iter().enumerate() {
        for (j, y) in right.iter().enumerate() {
            if usize::from(x.len.max(y.len)) > most {
                continue;
            }
            // Most unions have too many leaves, and their bits say so at once.
            if has_more_than(y.bits & !x.bits, most - x.bits.count_ones() as usize) {
                continue;
            }
            let Some(cut) = x.merge(y, most) else { continue };
            if found.iter().any(|o| o.cut.bits == cut.bits && o.cut.leaves == cut.leaves) {
                continue;
            }
            if found.len() == CUTS - 1 {
                found.pop();
            }
            let place = found.partition_point(|other| other.cut.len <= cut.len);
            found.insert(place, Union { cut, parts: [i as u8, j as u8] });
            if found.len() == CUTS - 1 {
                most = usize::from(found[CUTS - 2].cut.len) - 1;
            }
        }
    }
}

/// Whether more than `few` bits are set. Counting all of them takes longer where the processor is
/// not known to have an instruction for it.
fn has_more_than(mut bits: u64, few: usize) -> bool {
    for _ in 0..few {
        bits &= bits.wrapping_sub(1);
    }
    bits != 0
}
