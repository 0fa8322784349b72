//! The program, as both parties see it: its components, the owners of inputs and the receivers of
//! outputs.

use std::sync::Arc;

use symbolon_circuit::components::{ComponentGraph, Wire};
use symbolon_circuit::{Circuit, Receivers, lower_lookups};
use symbolon_engine::{InputBits, OutputBits};
use symbolon_primitives::BitVec;
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

use super::choose::{self, Choice};
use super::params::{BucketSizes, Games};

/// Checks that a circuit has components of these names, with AND gates in them.
///
/// # Errors
/// `InvalidInput` with the first name that it does not have.
pub(super) fn check_components(circuit: &Circuit, names: &[String]) -> Result<()> {
    choose::check_names(&lower_lookups(circuit), names)
}

/// The party that garbles: the paper's G.
pub(super) const GARBLER: PartyId = PartyId::new(0);

/// The party that evaluates: the paper's E.
pub(super) const EVALUATOR: PartyId = PartyId::new(1);

/// An output bit that the garbler learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToGarbler {
    /// This wire, inverted if the flag is set.
    Wire(Wire, bool),
    /// A sum of several wires, which is soldered to this wire of its own.
    Sum(Wire),
    /// A constant.
    Constant(bool),
}

/// What carries the keys of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    /// A bucket of authenticators; the number is the wire's among those that have them.
    Authenticated(u32),
    /// A commitment under Δ_ot, for this input of the evaluator. Its key is opened and not just
    /// sent, and the evaluator knows the value, so there is nothing to authenticate (`inputs`) and
    /// nothing to recover.
    OwnInput(u32),
}

/// The task for which a program is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    /// How many executions run together, as one preparation.
    pub executions: usize,
    /// How many preparations are prepared together; each runs by itself.
    pub preparations: usize,
    /// The games for which buckets are sized.
    pub games: Games,
    /// Names of the components to select; if there are none, the cost decides.
    pub components: &'a [String],
    /// Inputs that are outputs of earlier parts of a computation; no party gives them.
    pub linked: &'a [usize],
}

/// The executions of a circuit that run together.
#[derive(Debug)]
pub(super) struct Program {
    /// The circuit, without look-ups.
    pub circuit: Circuit,
    /// How many executions run together.
    pub executions: usize,
    /// How many such programs, called preparations, share a cut-and-choose.
    pub preparations: usize,
    /// The components of all executions.
    pub graph: ComponentGraph,
    /// The input wires that the garbler owns, and those that the evaluator owns, in order.
    pub inputs: [Vec<Wire>; 2],
    /// The input wires that neither owns, in order.
    pub linked: Vec<Wire>,
    /// The output bits that the garbler learns: their numbers and their sources.
    pub to_garbler: Vec<(usize, ToGarbler)>,
    /// The numbers of the output bits that the evaluator learns.
    pub to_evaluator: Vec<usize>,
    /// For each wire that is a sum for an output of the garbler, the number of the output bit.
    /// These wires come after those of the graph.
    pub out_gates: Vec<usize>,
    /// What carries each wire.
    pub carriers: Arc<[Carrier]>,
}

impl Program {
    /// Makes the program of a circuit, and chooses its components.
    ///
    /// # Errors
    /// `InvalidInput` when an input has another owner than the two parties, the program is too
    /// large, or the circuit has no component with a given name.
    pub fn new(circuit: &Circuit, task: Task<'_>) -> Result<Program> {
        let Task { executions, preparations, games, components: named, linked } = task;
        let too_many = || Error::invalid_input("too many executions at a time");
        let all =
            executions.checked_mul(preparations).filter(|&all| all > 0).ok_or_else(too_many)?;
        let circuit = lower_lookups(circuit);
        let choice = Choice { executions: all, games, named };
        let graph = choose::choose(&circuit, choice)?;
        Program::connected(circuit, graph, [executions, preparations], linked)
    }

    /// Makes the program of a circuit whose components are all of `known` kinds, for a share
    /// of a pool.
    ///
    /// # Errors
    /// As [`new`](Program::new); also `InvalidInput` when the circuit has other components.
    pub fn of_kinds(
        circuit: &Circuit,
        executions: usize,
        known: &[[u8; 32]],
        names: &[String],
    ) -> Result<Program> {
        let circuit = lower_lookups(circuit);
        let graph = choose::of_kinds(&circuit, known, names)?;
        Program::connected(circuit, graph, [executions, 1], &[])
    }

    fn connected(
        circuit: Circuit,
        graph: ComponentGraph,
        [executions, preparations]: [usize; 2],
        linked: &[usize],
    ) -> Result<Program> {
        let graph = graph.repeated(executions);
        let mut program = Program {
            executions,
            preparations,
            graph,
            inputs: [Vec::new(), Vec::new()],
            linked: Vec::new(),
            to_garbler: Vec::new(),
            to_evaluator: Vec::new(),
            out_gates: Vec::new(),
            carriers: Arc::default(),
            circuit,
        };
        program.own_inputs(linked)?;
        program.receive_outputs();
        program.carry();
        if program.wires().checked_mul(preparations).is_none_or(|wires| wires > 1 << 31) {
            return Err(Error::invalid_input("too many wires between components"));
        }
        Ok(program)
    }

    fn own_inputs(&mut self, linked: &[usize]) -> Result<()> {
        let mut wire = 0;
        for _ in 0..self.executions {
            for (place, input) in self.circuit.inputs().iter().enumerate() {
                let own = self.inputs.get_mut(usize::from(input.owner)).ok_or_else(|| {
                    Error::invalid_input(format!("there is no party {}", input.owner))
                })?;
                let bits = input.ty.width() as Wire;
                let own = if linked.contains(&place) { &mut self.linked } else { own };
                own.extend(wire..wire + bits);
                wire += bits;
            }
        }
        Ok(())
    }

    fn receive_outputs(&mut self) {
        let mut number = 0;
        for _ in 0..self.executions {
            for output in self.circuit.outputs() {
                let [garbler, evaluator] =
                    [GARBLER, EVALUATOR].map(|party| learns(&output.to, party));
                for bit in number..number + output.ty.width() as usize {
                    if evaluator {
                        self.to_evaluator.push(bit);
                    }
                    if garbler {
                        let source = match self.graph.outputs.get(bit) {
                            ([], constant) => ToGarbler::Constant(constant),
                            (&[wire], constant) => ToGarbler::Wire(wire, constant),
                            _ => {
                                self.out_gates.push(bit);
                                let own = self.graph.wires + self.out_gates.len() - 1;
                                ToGarbler::Sum(own as Wire)
                            }
                        };
                        self.to_garbler.push((bit, source));
                    }
                }
                number += output.ty.width() as usize;
            }
        }
    }

    /// Determines what carries each wire.
    pub fn carry(&mut self) {
        let mut carriers = vec![None; self.wires()];
        for (&wire, input) in self.inputs[1].iter().zip(0..) {
            carriers[wire as usize] = Some(Carrier::OwnInput(input));
        }
        let mut authenticated = 0..;
        let mut next = || Carrier::Authenticated(authenticated.next().expect("without end"));
        self.carriers =
            carriers.into_iter().map(|carrier| carrier.unwrap_or_else(&mut next)).collect();
    }

    /// Returns the number of wires: those of the graph, and those of the garbler's outputs that are
    /// sums.
    pub fn wires(&self) -> usize {
        self.graph.wires + self.out_gates.len()
    }

    /// Returns how many wires that are not outputs of components have authenticators.
    pub fn unbound(&self) -> usize {
        self.graph.inputs + self.out_gates.len() - self.inputs[1].len()
    }

    /// Returns how many wires have authenticators.
    pub fn authenticated(&self) -> usize {
        self.wires() - self.inputs[1].len()
    }

    /// Returns the wires that have authenticators, in order.
    pub fn authenticated_wires(&self) -> impl Iterator<Item = usize> + use<'_> {
        let carriers = self.carriers.iter().enumerate();
        carriers.filter_map(|(wire, carrier)| {
            matches!(carrier, Carrier::Authenticated(_)).then_some(wire)
        })
    }

    /// Returns the wires with authenticators that are not outputs of components: inputs, and sums
    /// for the garbler.
    pub fn unbound_wires(&self) -> impl Iterator<Item = usize> + use<'_> {
        let bound = self.graph.inputs..self.graph.wires;
        self.authenticated_wires().filter(move |wire| !bound.contains(wire))
    }

    /// Returns a digest of the components and their connections.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint_of(self.preparations)
    }

    /// Returns the digest that the program has as a single preparation.
    pub fn single_fingerprint(&self) -> [u8; 32] {
        self.fingerprint_of(1)
    }

    fn fingerprint_of(&self, preparations: usize) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("symbolon 2026 duplo program 3");
        let mut add = |number: usize| {
            hasher.update(&(number as u64).to_le_bytes());
        };
        let graph = &self.graph;
        let numbers = [self.executions, preparations, self.wires(), graph.kinds.len()];
        numbers.into_iter().for_each(&mut add);
        for slot in &graph.slots {
            [slot.kind, slot.first_sum, slot.first_output as usize].into_iter().for_each(&mut add);
        }
        for (terms, constant) in graph.sums.iter().chain(graph.outputs.iter()) {
            add(2 * terms.len() + usize::from(constant));
            terms.iter().for_each(|&wire| add(wire as usize));
        }
        // Covers the gates that are garbled, not only their shape.
        for kind in &graph.kinds {
            hasher.update(&kind.digest());
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns the bits of the inputs that a party owns, in the order of its wires in
    /// [`inputs`](Self::inputs).
    pub fn input_bits(&self, inputs: &InputBits) -> Zeroizing<Vec<bool>> {
        let own = inputs.iter().flatten().map(BitVec::len).sum();
        let mut bits = Zeroizing::new(Vec::with_capacity(own));
        for execution in 0..self.executions {
            for given in inputs.iter().flatten() {
                let width = given.len() / self.executions;
                given.slice(execution * width..(execution + 1) * width).append_to(&mut bits);
            }
        }
        bits
    }

    /// Returns the outputs of a party, given one output bit for each of `numbers`.
    pub fn output_bits(
        &self,
        party: PartyId,
        numbers: impl Iterator<Item = usize>,
        bits: &[bool],
    ) -> OutputBits {
        let mut all = vec![false; self.graph.outputs.len()];
        numbers.zip(bits).for_each(|(number, &bit)| all[number] = bit);
        let per_execution = all.len() / self.executions;
        let mut first = 0;
        let of_output = |output: &symbolon_circuit::Output| {
            let width = output.ty.width() as usize;
            let start = first;
            first += width;
            let part = |execution: usize| &all[execution * per_execution + start..][..width];
            learns(&output.to, party)
                .then(|| (0..self.executions).flat_map(part).copied().collect())
        };
        self.circuit.outputs().iter().map(of_output).collect()
    }
}

fn learns(to: &Receivers, party: PartyId) -> bool {
    to.contains(party)
}

/// Where a prepared circuit comes from: what is needed to find its program again.
pub(super) enum Origin {
    /// A cut-and-choose that is shared by this number of preparations.
    Made(usize),
    /// Components of a pool: the kinds of the program, and their bucket sizes.
    Pool(Vec<[u8; 32]>, BucketSizes),
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::builder::Builder;
    use symbolon_circuit::{Receivers, Type};

    use super::super::params::Games;
    use super::*;

    /// Programs of the same shape with different gates have different fingerprints.
    #[test]
    fn the_fingerprint_names_what_is_garbled() {
        let program = |other: bool| {
            let mut b = Builder::new("two");
            let x = b.input("x", Type::Uint(3), 0);
            let first = b.and(&x[..1], &x[1..2]);
            let last = if other { b.xor(&x[2..], &x[..1]) } else { b.xor(&x[2..], &x[1..2]) };
            let both = b.and(&first, &last);
            b.output("both", &both, Type::Bool, Receivers::All);
            let games = Games::new(40);
            let task = Task { executions: 1, preparations: 1, games, components: &[], linked: &[] };
            Program::new(&b.finish().unwrap(), task).unwrap()
        };
        let (one, other) = (program(false), program(true));
        let shapes = |program: &Program| -> Vec<[usize; 3]> {
            let kinds = program.graph.kinds.iter();
            kinds.map(|kind| [kind.ands(), kind.inputs(), kind.outputs()]).collect()
        };
        assert_eq!(shapes(&one), shapes(&other));
        assert_eq!(one.graph.sums, other.graph.sums);
        assert_eq!(one.graph.outputs, other.graph.outputs);
        assert_ne!(one.fingerprint(), other.fingerprint());
        assert_eq!(one.fingerprint(), program(false).fingerprint());
    }
}
