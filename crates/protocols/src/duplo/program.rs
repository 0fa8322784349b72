//! What is computed, as both parties see it: components, owners of inputs, receivers of outputs.

use symbolon_circuit::{Circuit, Receivers, lower_lookups};
use symbolon_transport::{Error, Result};
use zeroize::Zeroizing;

use super::components::{self, ComponentGraph, Wire};
use super::params::Games;
use crate::{InputBits, OutputBits};

/// The party that garbles: the paper's G.
pub(super) const GARBLER: u16 = 0;

/// The party that evaluates: the paper's E.
pub(super) const EVALUATOR: u16 = 1;

/// An output bit that the garbler learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToGarbler {
    /// It is this wire, or its opposite.
    Wire(Wire, bool),
    /// It is a sum of several wires, which is soldered to a wire of its own.
    Sum(Wire),
    /// It is a constant.
    Constant(bool),
}

/// Some executions of a circuit.
#[derive(Debug)]
pub(super) struct Program {
    /// The circuit, without look-ups.
    pub circuit: Circuit,
    /// How many executions are prepared and run together.
    pub executions: usize,
    /// The components of all executions.
    pub graph: ComponentGraph,
    /// The input wires that the garbler owns, and those that the evaluator owns, in order.
    pub inputs: [Vec<Wire>; 2],
    /// The numbers of the output bits that the garbler learns, with where they come from.
    pub to_garbler: Vec<(usize, ToGarbler)>,
    /// The numbers of the output bits that the evaluator learns.
    pub to_evaluator: Vec<usize>,
    /// Wires that are sums of others, each for an output of the garbler: which output bit each is.
    /// They come after the wires of the graph.
    pub out_gates: Vec<usize>,
}

impl Program {
    /// Chooses components for so many executions of a circuit.
    ///
    /// # Errors
    /// `InvalidInput` when the circuit has owners or is of a size that cannot be.
    pub fn new(circuit: &Circuit, executions: usize, games: Games) -> Result<Program> {
        let circuit = lower_lookups(circuit);
        let graph = components::choose(&circuit, executions, games)?.repeated(executions);
        let mut program = Program {
            executions,
            graph,
            inputs: [Vec::new(), Vec::new()],
            to_garbler: Vec::new(),
            to_evaluator: Vec::new(),
            out_gates: Vec::new(),
            circuit,
        };
        program.own_inputs()?;
        program.receive_outputs();
        if program.wires() > (1 << 31) {
            return Err(Error::invalid_input("too many wires between components"));
        }
        Ok(program)
    }

    fn own_inputs(&mut self) -> Result<()> {
        let mut wire = 0;
        for _ in 0..self.executions {
            for input in self.circuit.inputs() {
                let own = self.inputs.get_mut(usize::from(input.owner)).ok_or_else(|| {
                    Error::invalid_input(format!("there is no party {}", input.owner))
                })?;
                let bits = input.ty.width() as Wire;
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

    /// Wires that have authenticators: those of the graph, and those of the garbler's outputs that
    /// are sums.
    pub fn wires(&self) -> usize {
        self.graph.wires + self.out_gates.len()
    }

    /// The bits of the inputs that a party owns, in the order of its wires in
    /// [`inputs`](Self::inputs).
    pub fn input_bits(&self, inputs: &InputBits) -> Zeroizing<Vec<bool>> {
        let own = inputs.iter().flatten().map(Vec::len).sum();
        let mut bits = Zeroizing::new(Vec::with_capacity(own));
        for execution in 0..self.executions {
            for given in inputs.iter().flatten() {
                let width = given.len() / self.executions;
                bits.extend_from_slice(&given[execution * width..][..width]);
            }
        }
        bits
    }

    /// Puts output bits, one for each of `numbers`, where a party reports them.
    pub fn output_bits(
        &self,
        party: u16,
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

fn learns(to: &Receivers, party: u16) -> bool {
    to.contains(party)
}
