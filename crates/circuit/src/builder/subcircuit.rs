//! Finished components: parts of a circuit that are written once and called many times.

use std::sync::{Arc, OnceLock};

use crate::{Component, Step, Table, Wire};

/// A finished component, to be called by [`Gates::call`](super::Gates::call); cheap to clone.
///
/// However often it is called, directly or through other components, the finished circuit holds it
/// once. Two components built separately stay two, even if they compute the same.
#[derive(Clone)]
pub struct Subcircuit(pub(super) Arc<Definition>);

pub(super) struct Definition {
    /// Its calls name components by their places in `callees`.
    pub(super) component: Component,
    pub(super) callees: Vec<Subcircuit>,
    /// Its look-ups name tables by their places in this list.
    pub(super) tables: Vec<Table>,
    pub(super) input_widths: Vec<usize>,
    pub(super) output_widths: Vec<usize>,
    pub(super) ands: u64,
    /// Computed when it is first requested.
    depth: OnceLock<u32>,
}

impl Subcircuit {
    /// Creates a component whose calls and look-ups name these callees and tables.
    pub(super) fn new(
        component: Component,
        (callees, tables): (Vec<Subcircuit>, Vec<Table>),
        (input_widths, output_widths): (Vec<usize>, Vec<usize>),
    ) -> Subcircuit {
        let ands = all_ands(&component, &callees);
        let depth = OnceLock::new();
        let definition =
            Definition { component, callees, tables, input_widths, output_widths, ands, depth };
        Subcircuit(Arc::new(definition))
    }

    /// Returns the number of AND gates that a call computes, look-ups not counted.
    pub fn and_count(&self) -> u64 {
        self.0.ands
    }

    /// Returns the most AND gates and look-ups on any path through a call whose inputs are all
    /// available at once.
    pub fn depth(&self) -> u32 {
        let Definition { component, callees, .. } = &*self.0;
        *self.0.depth.get_or_init(|| depth(component, callees))
    }

    /// Returns the number of its own AND gates and look-ups, without those of its callees.
    pub fn own_gates(&self) -> u64 {
        own_ands(&self.0.component) + self.0.component.lookups.len() as u64
    }

    /// Returns the number of its own steps: gates, look-ups, calls and repeats.
    pub fn own_steps(&self) -> u64 {
        self.0.component.steps.len() as u64
    }

    /// Returns whether it calls other components.
    pub fn has_calls(&self) -> bool {
        !self.0.component.is_leaf()
    }

    /// Returns the bits of its inputs and outputs together.
    pub fn port_bits(&self) -> u64 {
        u64::from(self.0.component.inputs) + u64::from(self.output_bits())
    }

    /// Returns the bits of its outputs.
    pub fn output_count(&self) -> u64 {
        self.output_bits().into()
    }

    /// Returns an address that no other component has while this one lives.
    pub(super) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the component itself; its calls mean nothing outside.
    pub(crate) fn component(&self) -> &Component {
        &self.0.component
    }

    /// Returns the bits of its inputs.
    pub(super) fn input_bits(&self) -> u32 {
        self.0.component.inputs
    }

    pub(super) fn output_bits(&self) -> u32 {
        self.0.component.outputs.len() as u32
    }
}

impl std::fmt::Debug for Subcircuit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Subcircuit({}, {} ANDs)", self.0.component.name, self.0.ands)
    }
}

/// Returns a component's AND gates, those of its calls included.
pub(super) fn all_ands(component: &Component, callees: &[Subcircuit]) -> u64 {
    let used =
        component.uses().map(|(used, times)| callees[used as usize].0.ands.saturating_mul(times));
    used.fold(own_ands(component), u64::saturating_add)
}

/// Returns the AND gates of the component itself.
pub(super) fn own_ands(component: &Component) -> u64 {
    component.steps.iter().filter(|step| matches!(step, Step::And { .. })).count() as u64
}

/// Returns the most AND gates and look-ups on any path through a component that calls these.
fn depth(component: &Component, callees: &[Subcircuit]) -> u32 {
    // Inputs have depth 0.
    let inputs = component.inputs;
    let mut depths = vec![0u32; (component.wires - inputs) as usize];
    let mut deepest = 0;
    for step in &component.steps {
        let of = |wire: Wire| wire.checked_sub(inputs).map_or(0, |place| depths[place as usize]);
        let (before, own, writes) = match *step {
            Step::Xor { a, b, out } => (of(a).max(of(b)), 0, out..out + 1),
            Step::And { a, b, out } => (of(a).max(of(b)), 1, out..out + 1),
            Step::Inv { a, out } => (of(a), 0, out..out + 1),
            Step::Const { out, .. } => (0, 0, out..out + 1),
            Step::Call(call) => {
                let call = component.calls[call as usize];
                let ranges = &component.call_args[call.first_arg as usize..];
                let wires = ranges[..call.arg_count as usize]
                    .iter()
                    .flat_map(|range| range.first..range.first + range.len);
                let callee = &callees[call.component as usize];
                let writes = call.first_output..call.first_output + callee.output_bits();
                (wires.map(of).max().unwrap_or(0), callee.depth(), writes)
            }
            Step::Repeat(repeat) => {
                let repeat = component.repeats[repeat as usize];
                let callee = &callees[repeat.component as usize];
                // Rounds that pass nothing on do not wait for each other.
                let rounds = if component.carried_by(repeat) > 0 { repeat.count } else { 1 };
                let first = repeat.first_output;
                let writes = first..first + component.written_by(repeat, callee.output_bits());
                let before = component.read_by(repeat).map(of).max().unwrap_or(0);
                (before, callee.depth().saturating_mul(rounds), writes)
            }
            Step::Lookup(lookup) => {
                let lookup = component.lookups[lookup as usize];
                let inputs = component.inputs_of(lookup).iter();
                (inputs.map(|&wire| of(wire)).max().unwrap_or(0), 1, lookup.outputs())
            }
        };
        let depth = before.saturating_add(own);
        depths[(writes.start - inputs) as usize..(writes.end - inputs) as usize].fill(depth);
        deepest = deepest.max(depth);
    }
    deepest
}
