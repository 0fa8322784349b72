//! EvSubs of Appendix A: the evaluator evaluates every copy in every slot.
//!
//! At least one copy in a slot is good, so the right key of each output is among those that the
//! copies give, and is accepted. Only the two keys of the wire are accepted, whatever the bad
//! copies give. If one key is accepted, it is the right one. If two are, they differ by the Δ of
//! the wire: the garbler cheated, and [`recover`](super::recover) uses this Δ to find the garbler's
//! inputs. None of this may show, because what a bad copy gives may depend on the evaluator's
//! inputs. So the evaluation goes on with either key, and the peer gets an answer as usual, after
//! the same steps: the keys of all copies are checked, even where they are equal.

use symbolon_circuit::components::{ComponentGraph, Kind, Wire};
use symbolon_engine::{
    codec::{Reader, Writer},
    parallel::in_parallel,
};
use symbolon_garbling::{Labels, evaluate_side_by_side};
use symbolon_primitives::Block;
use symbolon_transport::{Error, PartyId, Result};
use zeroize::{Zeroize, Zeroizing};

use super::assemble::returned;
use super::authenticators::{AT_A_TIME, Authenticators};
use super::buckets::GarbledCopy;
use super::common_offset::CommonOffset;
use super::garble::{self, HalfGates};
use super::oblivious::Transfers;
use super::params::BucketSizes;
use super::program::Program;
use super::shelf::{Shelf, Slots, output_wires};
use super::solder::{KeyAndDifference, transfer};
use super::store;

/// The buckets of one preparation, as the evaluator holds them.
pub(super) struct FilledBuckets {
    /// Those of all wires or, if the slots are in a file, of the wires that are not outputs of
    /// components.
    pub authenticators: Authenticators,
    pub slots: Slots,
}

/// A garbled program, as the evaluator holds it.
pub(super) struct GarbledProgram {
    pub slots: Slots,
    /// Solderings to the inputs of all slots, in the order of the graph's sums; those of the
    /// garbler's outputs follow.
    pub solderings: Vec<Block>,
    /// As in [`FilledBuckets`].
    pub authenticators: Authenticators,
}

/// The keys of all wires, and Δ_ot once two keys of a wire have been accepted.
pub(super) struct Evaluated {
    pub wires: Zeroizing<Vec<Block>>,
    /// Δ ⊕ Δ_ot of each wire.
    pub differences: Vec<Block>,
    pub common_offset: CommonOffset,
}

/// The accepted keys among those that were checked, found without branching on them.
#[derive(Default)]
struct Accepted {
    /// The first accepted key, and the first that differs from it.
    keys: [Block; 2],
    found: [bool; 2],
    /// Whether there is a third.
    more: bool,
}

impl Accepted {
    fn add(&mut self, key: Block, accepted: bool) {
        let [one, two] = self.found;
        let known = (one & key.ct_eq(&self.keys[0])) | (two & key.ct_eq(&self.keys[1]));
        let new = accepted & !known;
        let place = [new & !one, new & one & !two];
        for ((own, found), place) in self.keys.iter_mut().zip(&mut self.found).zip(place) {
            *own ^= (*own ^ key).select(place);
            *found |= place;
        }
        self.more |= new & one & two;
    }
}

impl GarbledProgram {
    /// Evaluates all slots from the keys of the inputs, which are the first wires of `evaluated`.
    /// Δ_ot may be known already.
    ///
    /// Paper: KNRTT17, EvSubs | evaluation
    ///
    /// # Errors
    /// `PeerMisbehaved` (by `peer`) when no key of a wire is accepted, or more than two are. A
    /// garbler can cause this with probability at most 2^-ρ.
    pub fn evaluate(
        &mut self,
        program: &Program,
        (peer, threads): (PartyId, usize),
        mut evaluated: Evaluated,
    ) -> Result<Evaluated> {
        let graph = &program.graph;
        let mut checked = 0;
        let mut needed = vec![false; graph.wires];
        returned(program).filter(|&wire| (wire as usize) < graph.wires).for_each(|wire| {
            needed[wire as usize] = true;
        });
        for (number, at) in graph.slots.iter().enumerate() {
            let wires = output_wires(graph, at);
            let own = self.slots.authenticators((graph, at), &self.authenticators)?;
            let authenticators = own.as_ref().unwrap_or(&self.authenticators);
            for wire in wires.clone() {
                evaluated.differences[wire] = authenticators.difference(wire);
            }
            let outputs = self.evaluate_slot(graph, number, threads, &evaluated)?;
            let authenticators = own.as_ref().unwrap_or(&self.authenticators);
            let mut keys = Zeroizing::new(Vec::with_capacity(outputs.len()));
            for (output, wire) in wires.clone().enumerate() {
                keys.clear();
                keys.extend(outputs.iter().map(|keys| keys[output]));
                checked += settle(authenticators, &mut evaluated, wire, &keys, peer)?;
            }
            let Some(own) = own else { continue };
            // A recovery needs the authenticators of the wires whose keys are returned.
            for wire in wires.filter(|&wire| needed[wire]) {
                self.authenticators.add_from(wire, &own);
            }
        }
        for (gate, &output) in program.out_gates.iter().enumerate() {
            let (wire, number) = (graph.wires + gate, graph.sums.len() + gate);
            let (terms, _) = graph.outputs.get(output);
            let key = self.sum(&evaluated, terms, number, evaluated.differences[wire]);
            checked += settle(&self.authenticators, &mut evaluated, wire, &[key], peer)?;
        }
        debug_assert_eq!(checked, self.keys_to_check(program), "whatever the copies give");
        Ok(evaluated)
    }

    /// Returns how many keys an evaluation checks: all that the copies give, even equal ones, and
    /// those of the garbler's outputs.
    fn keys_to_check(&self, program: &Program) -> usize {
        let slots = program.graph.slots.iter().enumerate();
        let of_slots = slots.map(|(number, at)| {
            self.slots.size(number, at.kind) * program.graph.kinds[at.kind].outputs()
        });
        of_slots.sum::<usize>() + program.out_gates.len()
    }

    /// Evaluates all copies in a slot and returns each copy's keys of the output wires.
    fn evaluate_slot(
        &mut self,
        graph: &ComponentGraph,
        number: usize,
        threads: usize,
        evaluated: &Evaluated,
    ) -> Result<Vec<Labels>> {
        let at = &graph.slots[number];
        let kind = &graph.kinds[at.kind];
        let size = self.slots.size(number, at.kind);
        let threads = garble::threads_for(kind, size, threads);
        let side = garble::side_by_side(kind);
        let at_a_time = self.slots.at_a_time(side * threads).min(size);
        let (mut outputs, mut first) = (Vec::with_capacity(size), None);
        for start in (0..size).step_by(at_a_time) {
            let which = start..size.min(start + at_a_time);
            let copies = self.slots.copies(graph, number, which)?;
            let (difference, ref inputs) = *first.get_or_insert_with(|| {
                let difference = copies.all[0].difference;
                let input = |input: usize| {
                    let number = at.first_sum + input;
                    let (terms, _) = graph.sums.get(number);
                    sum((evaluated, terms), self.solderings[number], difference)
                };
                let inputs = Zeroizing::new((0..kind.inputs()).map(input).collect::<Vec<_>>());
                (difference, inputs)
            });
            let job = Job {
                kind,
                session: &self.authenticators.session,
                tables: copies.tables,
                difference,
                inputs,
                differences: &evaluated.differences[output_wires(graph, at)],
            };
            let groups = copies.all.chunks(side).collect();
            let made = in_parallel(threads, groups, |group| job.evaluate(group))?;
            outputs.extend(made.into_iter().flatten());
        }
        Ok(outputs)
    }

    /// Returns the key on the wire to which the sum of some wires is soldered.
    fn sum(
        &self,
        evaluated: &Evaluated,
        terms: &[Wire],
        number: usize,
        difference: Block,
    ) -> Block {
        sum((evaluated, terms), self.solderings[number], difference)
    }
}

/// Returns the key on the wire to which the sum of some wires is soldered. `difference` is that
/// wire's Δ ⊕ Δ_ot.
fn sum((evaluated, terms): (&Evaluated, &[Wire]), soldering: Block, difference: Block) -> Block {
    let source = terms.iter().map(|&wire| KeyAndDifference {
        key: evaluated.wires[wire as usize],
        difference: evaluated.differences[wire as usize],
    });
    transfer(source, soldering, difference)
}

/// The tables and input keys from which the copies in a slot are evaluated.
struct Job<'a> {
    kind: &'a Kind,
    session: &'a [u8; 32],
    /// The copies' tables are ranges of these.
    tables: &'a [HalfGates],
    /// Δ ⊕ Δ_ot of the first copy, and the keys of its inputs.
    difference: Block,
    inputs: &'a [Block],
    /// Δ ⊕ Δ_ot of the output wires.
    differences: &'a [Block],
}

impl Job<'_> {
    /// Evaluates copies side by side and returns each copy's keys of the output wires.
    fn evaluate(&self, copies: &[GarbledCopy]) -> Vec<Labels> {
        let move_inputs = |copy: &GarbledCopy| -> Labels {
            if copy.inputs.is_empty() {
                return Labels::new(self.inputs.to_vec());
            }
            let moved = self.inputs.iter().zip(&copy.inputs).map(|(&key, &soldering)| {
                let source = KeyAndDifference { key, difference: self.difference };
                transfer(std::iter::once(source), soldering, copy.difference)
            });
            Labels::new(moved.collect())
        };
        let own: Vec<Labels> = copies.iter().map(move_inputs).collect();
        let instance = |copy: &GarbledCopy| garble::instance(self.kind, self.session, copy.number);
        let instances: Vec<_> = copies.iter().map(instance).collect();
        let tables = copies.iter().map(|copy| &self.tables[copy.table.clone()]);
        let inputs: Vec<_> = own.iter().map(|inputs| &inputs[..]).collect();
        let outputs = evaluate_side_by_side(&instances, &inputs, &tables.collect::<Vec<_>>());
        let on_wires = |(copy, outputs): (&GarbledCopy, Labels)| {
            let moved = outputs.iter().zip(&copy.outputs).zip(self.differences);
            let moved = moved.map(|((&key, &soldering), &difference)| {
                let source = KeyAndDifference { key, difference: copy.difference };
                transfer(std::iter::once(source), soldering, difference)
            });
            Labels::new(moved.collect())
        };
        copies.iter().zip(outputs).map(on_wires).collect()
    }
}

/// EvKAs: puts the accepted key on a wire. Returns how many keys were checked.
///
/// Paper: KNRTT17, EvKAs | one key, or two
///
/// Check: `duplo`: authenticators | the majority of a bucket; `wire key`: one key is accepted,
/// or two | wrong keys accepted, right ones refused | 2^-ρ, with the copies
///
/// Timing: keys, colours, which copies agree | a bad copy may give the right key for some
/// inputs only: the keys of all copies are hashed, and the accepted ones taken by masks
fn settle(
    authenticators: &Authenticators,
    evaluated: &mut Evaluated,
    wire: usize,
    keys: &[Block],
    peer: PartyId,
) -> Result<usize> {
    let mut accepted = Zeroizing::new(Accepted::default());
    let mut checked = 0;
    for keys in keys.chunks(AT_A_TIME) {
        let verdicts = authenticators.accept(wire, keys);
        checked += keys.len();
        keys.iter().zip(verdicts).for_each(|(&key, verdict)| accepted.add(key, verdict));
    }
    let ([key, other], [one, two]) = (accepted.keys, accepted.found);
    if !one | accepted.more {
        return Err(Error::misbehaved(peer, super::checks::WIRE_KEY));
    }
    evaluated.wires[wire] = key;
    let common = key ^ other ^ evaluated.differences[wire];
    evaluated.common_offset.learn(common, two);
    Ok(checked)
}

impl Zeroize for Accepted {
    fn zeroize(&mut self) {
        self.keys.zeroize();
    }
}

impl GarbledProgram {
    /// Writes what the evaluator keeps, except for the commitments.
    pub fn save(
        &mut self,
        to: &mut Writer<'_>,
        program: &Program,
        transfers: &Transfers,
    ) -> Result<()> {
        let GarbledProgram { slots, solderings, authenticators } = self;
        to.bytes(&authenticators.session)?;
        for wire in program.unbound_wires() {
            store::write_authenticators(to, authenticators, wire)?;
        }
        to.list(solderings)?;
        slots.save(to, program, authenticators)?;
        to.bits(&transfers.choices)?;
        to.list(&transfers.results)
    }

    /// Reads what [`save`](GarbledProgram::save) wrote.
    pub fn load(
        from: &mut Reader<'_>,
        program: &Program,
        buckets: &BucketSizes,
    ) -> Result<(GarbledProgram, Transfers)> {
        let graph = &program.graph;
        let (session, bucket) = (from.array()?, buckets.authenticators);
        let mut unbound = Authenticators::of_some(session, bucket, program.carriers.clone());
        for wire in program.unbound_wires() {
            store::read_authenticators(from, wire, &mut unbound)?;
        }
        let solderings = from.list(graph.sums.len() + program.out_gates.len())?;
        let mut shelf = Shelf::new(graph, buckets)?;
        for slot in &graph.slots {
            shelf.read(from, (graph, slot), buckets, &mut unbound)?;
        }
        let slots = shelf.finish()?;
        let transfers = program.inputs[1].len();
        let choices = Zeroizing::new(from.bits(transfers)?);
        let results = Zeroizing::new(from.list(transfers)?);
        let garbled = GarbledProgram { slots, solderings, authenticators: unbound };
        Ok((garbled, Transfers { choices, results }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares all lists of up to five keys, each one of four and accepted or not, with a plain
    /// computation.
    #[test]
    fn the_first_two_accepted_keys_are_found() {
        let mut lists: Vec<Vec<(u128, bool)>> = vec![Vec::new()];
        for _ in 0..5 {
            let longer = |list: &Vec<_>| {
                let more = |number: u128| {
                    let mut list = list.clone();
                    list.push((10 + number / 2, number % 2 == 1));
                    list
                };
                (0..8).map(more).collect::<Vec<_>>()
            };
            lists = lists.iter().flat_map(longer).collect();
            for list in &lists {
                let mut found = Accepted::default();
                list.iter().for_each(|&(key, accepted)| found.add(Block(key), accepted));
                let mut plain: Vec<Block> = Vec::new();
                for &(key, _) in list.iter().filter(|(_, accepted)| *accepted) {
                    if !plain.contains(&Block(key)) {
                        plain.push(Block(key));
                    }
                }
                assert_eq!(found.found, [!plain.is_empty(), plain.len() > 1]);
                assert_eq!(found.more, plain.len() > 2);
                plain.truncate(2);
                assert_eq!(found.keys[..plain.len()], plain);
            }
        }
    }

    #[test]
    fn the_first_offset_that_is_learnt_stays() {
        let mut common = CommonOffset::default();
        common.learn(Block(5), false);
        assert_eq!((common.value(), common.is_known()), (Block::ZERO, false));
        common.learn(Block(6), true);
        common.learn(Block(7), true);
        common.learn(Block(8), false);
        assert_eq!((common.value(), common.is_known()), (Block(6), true));
    }
}
