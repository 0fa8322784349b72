//! A circuit as components that are garbled by themselves, and the connections between them.
//!
//! A circuit is a program of components that call each other. Some of them are *selected*: each
//! becomes a kind, garbled many times, and each call of it a slot. Everything else is written out
//! at the top level, where
//! * XOR, NOT and constants cost nothing: the input of a slot is a [sum](Sums) of any number of
//!   wires and a constant;
//! * AND gates between the same calls are grouped into components of their own.
//!
//! Inside a selected component all calls are written out as well. When nothing but the main
//! component is selected, the whole circuit is one component, in one slot.

mod assemble;

use std::sync::Arc;

use crate::{Circuit, Plan};

pub use assemble::{LEFTOVER, MAX_NODES, alone, assemble};

/// A wire of the top level: the bits of the circuit's inputs come first, then the outputs of the
/// slots.
pub type Wire = u32;

/// A list of sums over GF(2) of wires and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    terms: Vec<Wire>,
    ends: Vec<usize>,
    constants: Vec<bool>,
}

impl Sums {
    /// Adds the sum of these wires and this constant.
    pub fn push(&mut self, terms: impl IntoIterator<Item = Wire>, constant: bool) {
        self.terms.extend(terms);
        self.ends.push(self.terms.len());
        self.constants.push(constant);
    }

    /// Returns the wires and the constant of one sum.
    #[inline]
    pub fn get(&self, index: usize) -> (&[Wire], bool) {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        (&self.terms[start..self.ends[index]], self.constants[index])
    }

    /// Returns how many sums there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns all sums in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[Wire], bool)> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Adds the sums of another list, with their wires renamed.
    fn extend(&mut self, other: &Sums, rename: impl Fn(Wire) -> Wire) {
        for (terms, constant) in other.iter() {
            self.push(terms.iter().map(|&wire| rename(wire)), constant);
        }
    }
}

/// A kind of component.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its name in the program; leftover gates have a name of their own.
    pub name: String,
    /// The circuit that is garbled.
    pub circuit: Circuit,
    /// The plan by which it is garbled and evaluated.
    pub plan: Arc<Plan>,
}

impl Kind {
    fn new(circuit: Circuit) -> Kind {
        let plan = Arc::new(Plan::new(&circuit));
        Kind { name: circuit.name().to_string(), circuit, plan }
    }

    /// Returns the number of input bits.
    #[inline]
    pub fn inputs(&self) -> usize {
        self.plan.input_slots().len()
    }

    /// Returns the number of output bits.
    #[inline]
    pub fn outputs(&self) -> usize {
        self.plan.output_slots().len()
    }

    /// Returns the digest that identifies the kind, whatever its program and its name.
    pub fn digest(&self) -> [u8; 32] {
        self.circuit.digest()
    }

    /// Returns the number of AND gates.
    #[inline]
    pub fn ands(&self) -> usize {
        self.plan.and_count() as usize
    }
}

/// A place for a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The kind of its component.
    pub kind: usize,
    /// The index of its first input's sum in [`ComponentGraph::sums`].
    pub first_sum: usize,
    /// The wire of its first output; the others follow.
    pub first_output: Wire,
}

/// A circuit as components and the connections between them.
#[derive(Clone, Debug, Default)]
pub struct ComponentGraph {
    /// The kinds of components, each in at least one slot.
    pub kinds: Vec<Kind>,
    /// The slots, each after those whose outputs it reads.
    pub slots: Vec<Slot>,
    /// The sums that go into the slots' inputs.
    pub sums: Sums,
    /// Input bits of the circuit.
    pub inputs: usize,
    /// Wires in all.
    pub wires: usize,
    /// The circuit's output bits.
    pub outputs: Sums,
}

impl ComponentGraph {
    /// Returns the graph of `executions` executions side by side, each with its own wires and
    /// slots. The input wires and the output bits are ordered by execution.
    pub fn repeated(self, executions: usize) -> ComponentGraph {
        if executions == 1 {
            return self;
        }
        let own_wires = self.wires - self.inputs;
        let mut all = ComponentGraph {
            kinds: self.kinds,
            inputs: self.inputs * executions,
            wires: self.wires * executions,
            ..ComponentGraph::default()
        };
        for execution in 0..executions {
            let rename = |wire: Wire| match (wire as usize).checked_sub(self.inputs) {
                None => wire + (execution * self.inputs) as Wire,
                Some(own) => (all.inputs + execution * own_wires + own) as Wire,
            };
            let first = all.sums.len();
            all.slots.extend(self.slots.iter().map(|slot| Slot {
                kind: slot.kind,
                first_sum: first + slot.first_sum,
                first_output: rename(slot.first_output),
            }));
            all.sums.extend(&self.sums, rename);
            all.outputs.extend(&self.outputs, rename);
        }
        all
    }

    /// Returns how many slots each kind has.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.kinds.len()];
        self.slots.iter().for_each(|slot| counts[slot.kind] += 1);
        counts
    }
}
