//! EvSubs of Appendix A: the evaluator evaluates every copy in every slot.
//!
//! At least one copy in a slot is good, so the right key of each output is among those that the
//! copies give, and is accepted; and only the two keys of the wire are accepted, whatever the bad
//! copies give. If one key is accepted, it is the right one. If two are, they differ by the Δ of
//! the wire: the garbler cheated, and [`recover`](super::recover) takes its inputs from there.
//! Nothing of that may show: evaluation goes on with either key, and the peer gets an answer as
//! ever.

use symbolon_primitives::{Block, HugeBuf};
use symbolon_transport::{Error, Result};
use zeroize::Zeroizing;

use super::authenticators::Authenticators;
use super::buckets::GarbledCopy;
use super::components::{Kind, Wire};
use super::garble::{self, HalfGates};
use super::program::Program;
use super::solder::{Held, transfer};
use crate::parallel::in_parallel;

/// AND gates of a bucket from which on its copies are evaluated by several threads: fewer take less
/// time than starting a thread.
const GATES_FOR_THREADS: usize = 1 << 13;

/// What the evaluator evaluates.
pub(super) struct GarbledProgram {
    /// The copies in each slot.
    pub slots: Vec<Vec<GarbledCopy>>,
    /// The tables of all copies.
    pub tables: HugeBuf<HalfGates>,
    /// Solderings to the inputs of all slots, in the order of the graph's sums; those of the
    /// garbler's outputs follow.
    pub solderings: Vec<Block>,
    pub authenticators: Authenticators,
}

/// The keys of all wires, and Δ_ot once two keys of a wire were seen.
pub(super) struct Evaluated {
    pub wires: Zeroizing<Vec<Block>>,
    pub common_offset: Zeroizing<Option<Block>>,
}

impl GarbledProgram {
    /// Evaluates everything from the keys of the inputs, which the wires of `evaluated` start with;
    /// Δ_ot may be known already.
    ///
    /// # Errors
    /// `PeerMisbehaved` (by `peer`) when no key of a wire is accepted, or more than two are: which
    /// a garbler brings about with probability 2^-ρ at most.
    pub fn evaluate(
        &self,
        program: &Program,
        (peer, threads): (u16, usize),
        mut evaluated: Evaluated,
    ) -> Result<Evaluated> {
        let graph = &program.graph;
        for (at, copies) in graph.slots.iter().zip(&self.slots) {
            let kind = &graph.kinds[at.kind];
            let first: Vec<Block> = (0..kind.inputs())
                .map(|input| {
                    let number = at.first_sum + input;
                    let (terms, _) = graph.sums.get(number);
                    self.sum(&evaluated.wires, terms, number, copies[0].difference)
                })
                .collect();
            let threads = if kind.ands() * copies.len() < GATES_FOR_THREADS { 1 } else { threads };
            let outputs = in_parallel(threads, copies.len(), |i| {
                let first_output = at.first_output as usize;
                self.evaluate_copy(kind, &copies[i], &copies[0], &first, first_output)
            });
            for output in 0..kind.outputs() {
                let wire = at.first_output as usize + output;
                let keys = outputs.iter().map(|keys| keys[output]);
                self.settle(&mut evaluated, wire, keys, peer)?;
            }
        }
        for (gate, &output) in program.out_gates.iter().enumerate() {
            let (wire, number) = (graph.wires + gate, graph.sums.len() + gate);
            let (terms, _) = graph.outputs.get(output);
            let difference = self.authenticators.difference(wire);
            let key = self.sum(&evaluated.wires, terms, number, difference);
            self.settle(&mut evaluated, wire, std::iter::once(key), peer)?;
        }
        Ok(evaluated)
    }

    /// The key on what the sum of some wires is soldered to.
    fn sum(&self, keys: &[Block], terms: &[Wire], number: usize, difference: Block) -> Block {
        let held = terms.iter().map(|&wire| Held {
            key: keys[wire as usize],
            difference: self.authenticators.difference(wire as usize),
        });
        transfer(held, self.solderings[number], difference)
    }

    /// Evaluates one copy, on the keys of the first one's inputs; returns keys of the output wires.
    fn evaluate_copy(
        &self,
        kind: &Kind,
        copy: &GarbledCopy,
        first: &GarbledCopy,
        inputs: &[Block],
        first_output: usize,
    ) -> Vec<Block> {
        let own: Vec<Block> = if copy.inputs.is_empty() {
            inputs.to_vec()
        } else {
            let moved = inputs.iter().zip(&copy.inputs).map(|(&key, &soldering)| {
                let held = Held { key, difference: first.difference };
                transfer(std::iter::once(held), soldering, copy.difference)
            });
            moved.collect()
        };
        let session = &self.authenticators.session;
        let instance = garble::instance(kind, session, copy.number);
        let outputs = instance.evaluate_table(&own, &self.tables[copy.table.clone()]);
        let moved = outputs.iter().zip(&copy.outputs).zip(first_output..);
        let moved = moved.map(|((&key, &soldering), wire)| {
            let held = Held { key, difference: copy.difference };
            transfer(std::iter::once(held), soldering, self.authenticators.difference(wire))
        });
        moved.collect()
    }

    /// EvKAs: puts the key that is accepted on a wire.
    fn settle(
        &self,
        evaluated: &mut Evaluated,
        wire: usize,
        keys: impl Iterator<Item = Block>,
        peer: u16,
    ) -> Result<()> {
        let mut different: Vec<Block> = Vec::with_capacity(2);
        keys.for_each(|key| {
            if !different.contains(&key) {
                different.push(key);
            }
        });
        different.retain(|&key| self.authenticators.accept(wire, key));
        evaluated.wires[wire] = match different[..] {
            [key] => key,
            [key, other] => {
                let common = key ^ other ^ self.authenticators.difference(wire);
                evaluated.common_offset.get_or_insert(common);
                key
            }
            _ => return Err(Error::misbehaved(peer, super::checks::WIRE_KEY)),
        };
        Ok(())
    }
}
