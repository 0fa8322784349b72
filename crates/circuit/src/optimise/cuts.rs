//! Which cones of gates to replace.

use super::Replacement;
use super::affine::{PROJECTIONS, VARIABLES, complexity};
use crate::{Component, Step, Wire};

/// A wire keeps at most this many cuts, the smallest.
const CUTS: usize = 8;

/// A wire as a function of others.
#[derive(Clone, Copy)]
struct Cut {
    len: u8,
    leaves: [Wire; VARIABLES],
    function: u64,
}

impl Cut {
    /// The wire as its own leaf.
    fn of(wire: Wire) -> Cut {
        let mut leaves = [0; VARIABLES];
        leaves[0] = wire;
        Cut { len: 1, leaves, function: PROJECTIONS[0] }
    }

    fn leaves(&self) -> &[Wire] {
        &self.leaves[..self.len as usize]
    }

    /// The cut of a gate with these cuts of its operands; none with too many leaves.
    fn merge(&self, other: &Cut, and: bool) -> Option<Cut> {
        let (mut leaves, mut len) = ([0; VARIABLES], 0);
        let (mut i, mut j) = (0, 0);
        let (a, b) = (self.leaves(), other.leaves());
        while i < a.len() || j < b.len() {
            if len == VARIABLES {
                return None;
            }
            let next = match (a.get(i), b.get(j)) {
                (Some(&x), Some(&y)) => x.min(y),
                (Some(&x), None) | (None, Some(&x)) => x,
                (None, None) => break,
            };
            i += usize::from(a.get(i) == Some(&next));
            j += usize::from(b.get(j) == Some(&next));
            leaves[len] = next;
            len += 1;
        }
        let cut = Cut { len: len as u8, leaves, function: 0 };
        let (x, y) = (self.over(&cut), other.over(&cut));
        Some(Cut { function: if and { x & y } else { x ^ y }, ..cut })
    }

    /// The function with the leaves of a larger cut as its variables.
    fn over(&self, cut: &Cut) -> u64 {
        let mut places = [0; VARIABLES];
        for (place, leaf) in self.leaves().iter().enumerate() {
            places[place] = cut.leaves().iter().position(|other| other == leaf).unwrap_or(0);
        }
        if places[..self.len as usize].iter().enumerate().all(|(i, &place)| i == place) {
            return self.function;
        }
        // Which entry of the own table each entry of the new one is.
        (0..64u64).fold(0, |table, entry| {
            let own = places[..self.len as usize].iter().enumerate();
            let own = own.map(|(i, &place)| (entry >> place & 1) << i).sum::<u64>();
            table | (self.function >> own & 1) << entry
        })
    }
}

/// The gate that writes each wire, as far as cuts go through it.
#[derive(Clone, Copy)]
enum Node {
    /// An input, or what a call or a look-up gives.
    Leaf,
    Gate(Wire, Wire, bool),
}

struct Cone<'a> {
    nodes: &'a [Node],
    uses: Vec<u32>,
}

impl Cone<'_> {
    /// Takes a wire's use of its operands away, and theirs if nothing else uses them, down to the
    /// leaves; the wires that go, and how many of them are ANDs.
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

    /// Undoes it.
    fn give_back(&mut self, gone: &[Wire]) {
        for &wire in gone {
            if let Node::Gate(a, b, _) = self.nodes[wire as usize] {
                self.uses[a as usize] += 1;
                self.uses[b as usize] += 1;
            }
        }
    }
}

/// The replacements that save ANDs, in the order of their steps. No cone overlaps another.
pub(super) fn choose(component: &Component) -> Vec<Replacement> {
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
            Step::Lookup(index) => {
                let lookup = component.lookups[index as usize];
                component.inputs_of(lookup).iter().for_each(|&w| uses[w as usize] += 1);
            }
        }
    }
    component.outputs.iter().for_each(|&wire| uses[wire as usize] += 1);
    let cuts = all_cuts(&nodes, &order);
    let mut cone = Cone { nodes: &nodes, uses };
    // A wire that went, and one that another cone's replacement needs.
    let (mut gone, mut needed) = (vec![false; wires], vec![false; wires]);
    let mut chosen = Vec::new();
    for &root in order.iter().rev() {
        if gone[root as usize] || cone.uses[root as usize] == 0 {
            continue;
        }
        let mut best: Option<(u32, &Cut, Vec<Wire>)> = None;
        for cut in cuts[root as usize].iter().filter(|cut| cut.len > 1) {
            let mut cells = Vec::new();
            let ands = cone.take(root, cut.leaves(), &mut cells);
            cone.give_back(&cells);
            let blocked = cells[1..].iter().any(|&wire| needed[wire as usize])
                || cut.leaves().iter().any(|&wire| gone[wire as usize]);
            if blocked || best.as_ref().is_some_and(|(gain, ..)| *gain >= ands) {
                continue;
            }
            if let Some(cost) = complexity(cut.function)
                && cost < ands
                && best.as_ref().is_none_or(|(gain, ..)| ands - cost > *gain)
            {
                best = Some((ands - cost, cut, cells));
            }
        }
        if let Some((_, cut, _)) = best {
            let mut cells = Vec::new();
            cone.take(root, cut.leaves(), &mut cells);
            cells[1..].iter().for_each(|&wire| gone[wire as usize] = true);
            for &leaf in cut.leaves() {
                needed[leaf as usize] = true;
                cone.uses[leaf as usize] += 1;
            }
            let leaves = cut.leaves().to_vec();
            chosen.push(Replacement { wire: root, leaves, function: cut.function });
        }
    }
    chosen.reverse();
    chosen
}

/// The cuts of each wire, the smallest first, the wire itself last.
fn all_cuts(nodes: &[Node], order: &[Wire]) -> Vec<Vec<Cut>> {
    let mut cuts: Vec<Vec<Cut>> =
        (0..nodes.len() as Wire).map(|wire| vec![Cut::of(wire)]).collect();
    for &out in order {
        let Node::Gate(a, b, and) = nodes[out as usize] else { continue };
        let mut found: Vec<Cut> = Vec::new();
        for x in &cuts[a as usize] {
            for y in &cuts[b as usize] {
                if let Some(cut) = x.merge(y, and)
                    && !found.iter().any(|other| other.leaves() == cut.leaves())
                {
                    found.push(cut);
                }
            }
        }
        found.sort_by_key(|cut| cut.len);
        found.truncate(CUTS - 1);
        found.push(Cut::of(out));
        cuts[out as usize] = found;
    }
    cuts
}
