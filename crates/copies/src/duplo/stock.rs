//! What a pool contains: how many components of each kind, and what else programs take.

use std::sync::Arc;

use symbolon_circuit::components::{ComponentGraph, Kind, Slot, Wire};
use symbolon_circuit::{Circuit, Component};
use symbolon_engine::Components;
use symbolon_transport::{Error, Result};

use super::program::Program;

/// The counts of a pool: wires of inputs and sums, transfers, masks. Those of the kinds follow.
pub(super) const WIRES: usize = 0;
pub(super) const TRANSFERS: usize = 1;
pub(super) const MASKS: usize = 2;

/// The most kinds in a pool: the evaluator has two sections for each, and the store has room for
/// 1032 sections.
pub(super) const MOST_KINDS: usize = 1 << 9;

/// The most that a pool has of anything.
const MOST: u64 = 1 << 30;

/// Returns what `runs` runs of a program take.
pub(super) fn needed(program: &Program, runs: u64) -> Result<Components> {
    let many = |n: usize| {
        let all = (n as u64).checked_mul(runs).filter(|all| *all <= MOST);
        all.ok_or_else(|| Error::invalid_input("more components than a pool can have"))
    };
    // Components with the same gates but different names are one kind.
    let mut by_kind: Vec<(Kind, u64)> = Vec::new();
    let mut digests: Vec<[u8; 32]> = Vec::new();
    for (kind, count) in program.graph.kinds.iter().zip(program.graph.counts()) {
        let (digest, count) = (kind.digest(), many(count)?);
        match digests.iter().position(|known| *known == digest) {
            Some(place) => by_kind[place].1 += count,
            None => {
                by_kind.push((kind.clone(), count));
                digests.push(digest);
            }
        }
    }
    if by_kind.len() > MOST_KINDS {
        return Err(Error::invalid_input("more kinds of components than a pool can have"));
    }
    Ok(Components {
        by_kind,
        wires: many(program.unbound())?,
        transfers: many(program.inputs[1].len())?,
        masks: many(program.to_evaluator.len())?,
    })
}

impl Program {
    /// Returns a pool as a program whose components are not connected: every component has a slot
    /// of its own, and all other wires are inputs. The evaluator's inputs, for the transfers, come
    /// last.
    ///
    /// # Errors
    /// `InvalidInput` when the pool is too large.
    pub(super) fn of_pool(components: &Components) -> Result<Program> {
        let (wires, transfers) = (components.wires as Wire, components.transfers as Wire);
        let inputs = (wires + transfers) as usize;
        let mut graph = ComponentGraph { inputs, wires: inputs, ..ComponentGraph::default() };
        for (number, (kind, count)) in components.by_kind.iter().enumerate() {
            let outputs = (kind.outputs() as u64).saturating_mul(*count);
            if outputs.saturating_add(graph.wires as u64) > 1 << 31 {
                return Err(Error::invalid_input(
                    "too many wires of too many components at a time",
                ));
            }
            graph.kinds.push(kind.clone());
            for _ in 0..*count {
                let first_output = graph.wires as Wire;
                graph.slots.push(Slot { kind: number, first_sum: 0, first_output });
                graph.wires += kind.outputs();
            }
        }
        let program = symbolon_circuit::Program::from(vec![Component::default()]);
        let nothing = Circuit::new("pool", Vec::new(), Vec::new(), program);
        let mut program = Program {
            circuit: nothing.map_err(|error| Error::internal(error.to_string()))?,
            executions: 1,
            preparations: 1,
            graph,
            inputs: [Vec::new(), (wires..wires + transfers).collect()],
            linked: Vec::new(),
            to_garbler: Vec::new(),
            to_evaluator: (0..components.masks as usize).collect(),
            out_gates: Vec::new(),
            carriers: Arc::default(),
        };
        program.carry();
        Ok(program)
    }
}
