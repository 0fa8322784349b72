//! Where the wires of a preparation are: the commitments that the function-dependent phase
//! connects.

use symbolon_circuit::components::Wire;

use super::buckets::View;
use super::commit::Id;
use super::program::Program;
use super::solder::Target;

/// The places, in a list of commitments, of everything that connects a preparation.
#[derive(Default)]
pub(super) struct Endpoints {
    /// For each wire, the head of its authenticators, or its own commitment if it has none.
    pub heads: Vec<Target>,
    /// The inputs of the first copy in each slot, in the order of the graph's sums.
    pub inputs: Vec<Target>,
    /// The transfers of the evaluator's inputs.
    pub transfers: Vec<Id>,
    /// The first of the masks of the evaluator's outputs.
    pub masks: Id,
}

impl Endpoints {
    /// Returns the places for a preparation of what was just made.
    pub fn of(view: View<'_>) -> Endpoints {
        let program = view.program;
        let inputs = |slot: usize| {
            let (_, kind, _) = view.slot(slot);
            (0..kind.inputs()).map(move |input| view.input(slot, input))
        };
        let layout = &view.drawn.layout;
        Endpoints {
            heads: (0..program.wires()).map(|wire| view.head(wire)).collect(),
            inputs: (0..program.graph.slots.len()).flat_map(inputs).collect(),
            transfers: view.transfers().map(|n| layout.transfers + n as Id).collect(),
            masks: layout.masks + (view.preparation * program.to_evaluator.len()) as Id,
        }
    }

    /// Returns the commitments of a wire.
    pub fn head(&self, wire: Wire) -> Target {
        self.heads[wire as usize]
    }
}

/// A program, and where its wires are.
#[derive(Clone, Copy)]
pub(super) struct Wired<'a> {
    pub program: &'a Program,
    pub endpoints: &'a Endpoints,
}
