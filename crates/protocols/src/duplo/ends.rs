//! The commitments that the function-dependent phase connects: where the wires of a part are.

use super::buckets::View;
use super::commit::Id;
use super::components::Wire;
use super::program::Program;
use super::solder::Target;

/// Where everything is that a part is connected by, in some list of commitments.
#[derive(Default)]
pub(super) struct Ends {
    /// The wires: the head of each one's authenticators, if it has some.
    pub heads: Vec<Target>,
    /// The inputs of the first copies in all slots, in the order of the graph's sums.
    pub inputs: Vec<Target>,
    /// The transfers of the evaluator's inputs.
    pub transfers: Vec<Id>,
    /// The masks of the evaluator's outputs.
    pub masks: Id,
}

impl Ends {
    /// Those of a part of what was just made.
    pub fn of(view: View<'_>) -> Ends {
        let program = view.program;
        let inputs = |slot: usize| {
            let (_, kind, _) = view.slot(slot);
            (0..kind.inputs()).map(move |input| view.input(slot, input))
        };
        let layout = &view.places.layout;
        Ends {
            heads: (0..program.wires()).map(|wire| view.head(wire)).collect(),
            inputs: (0..program.graph.slots.len()).flat_map(inputs).collect(),
            transfers: view.transfers().map(|n| layout.transfers + n as Id).collect(),
            masks: layout.masks + (view.part * program.to_evaluator.len()) as Id,
        }
    }

    /// A wire.
    pub fn head(&self, wire: Wire) -> Target {
        self.heads[wire as usize]
    }
}

/// A program and where its wires are.
#[derive(Clone, Copy)]
pub(super) struct Wired<'a> {
    pub program: &'a Program,
    pub ends: &'a Ends,
}
