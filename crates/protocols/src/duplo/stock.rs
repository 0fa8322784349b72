//! What a pool contains: how many components of each kind, and what else programs take.

use std::sync::Arc;

use symbolon_circuit::{Circuit, Component};
use symbolon_transport::{Error, Result};

use super::components::{ComponentGraph, Kind, Slot, Wire};
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

/// The kinds of garbled components, how many of each, and the number of wires, transfers and masks
/// that connect them to inputs and outputs. This is all that a
/// [pool](crate::Engine::fill_components) reveals of the programs that it is for.
#[derive(Clone, Debug)]
pub struct Components {
    pub(super) kinds: Vec<(Kind, u64)>,
    wires: u64,
    transfers: u64,
    masks: u64,
}

impl Components {
    /// Returns what `runs` runs of a program take.
    pub(super) fn of(program: &Program, runs: u64) -> Result<Components> {
        let many = |n: usize| {
            let all = (n as u64).checked_mul(runs).filter(|all| *all <= MOST);
            all.ok_or_else(|| Error::invalid_input("more components than a pool can have"))
        };
        // Components with the same gates but different names are one kind.
        let mut kinds: Vec<(Kind, u64)> = Vec::new();
        let mut digests: Vec<[u8; 32]> = Vec::new();
        for (kind, count) in program.graph.kinds.iter().zip(program.graph.counts()) {
            let (digest, count) = (kind.digest(), many(count)?);
            match digests.iter().position(|known| *known == digest) {
                Some(place) => kinds[place].1 += count,
                None => {
                    kinds.push((kind.clone(), count));
                    digests.push(digest);
                }
            }
        }
        if kinds.len() > MOST_KINDS {
            return Err(Error::invalid_input("more kinds of components than a pool can have"));
        }
        Ok(Components {
            kinds,
            wires: many(program.unbound())?,
            transfers: many(program.inputs[1].len())?,
            masks: many(program.to_evaluator.len())?,
        })
    }

    /// Returns the same kinds, with `number` applied to every count.
    pub(super) fn map(&self, number: impl Fn(u64) -> u64) -> Components {
        let kinds = self.kinds.iter().map(|(kind, count)| (kind.clone(), number(*count)));
        Components {
            kinds: kinds.collect(),
            wires: number(self.wires),
            transfers: number(self.transfers),
            masks: number(self.masks),
        }
    }

    /// Returns the counts: wires, transfers and masks, then the components of each kind.
    pub fn counts(&self) -> Vec<u64> {
        let kinds = self.kinds.iter().map(|(_, count)| *count);
        [self.wires, self.transfers, self.masks].into_iter().chain(kinds).collect()
    }

    /// Returns the digest that identifies each kind, and its name.
    pub fn kinds(&self) -> impl Iterator<Item = ([u8; 32], &str)> {
        self.kinds.iter().map(|(kind, _)| (kind.digest(), &kind.name[..]))
    }

    /// Returns the number of AND gates in all components.
    pub fn and_gates(&self) -> u64 {
        let gates = |(kind, count): &(Kind, u64)| (kind.ands() as u64).saturating_mul(*count);
        self.kinds.iter().map(gates).fold(0, u64::saturating_add)
    }
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
        for (number, (kind, count)) in components.kinds.iter().enumerate() {
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
            parts: 1,
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
