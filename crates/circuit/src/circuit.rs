//! A program that keeps the rules of the IR, with its ports.

use std::sync::Arc;

use symbolon_common::PartyId;

use crate::{CircuitError, Component, Failure, Input, Output, Program, Receivers, Table};

/// A function to be computed: a program, its inputs with their owners, its outputs with their
/// receivers.
///
/// The main component's input wires are the inputs' bits in order, its outputs the outputs' bits in
/// order. Cheap to clone: the program is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    name: String,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    components: Arc<[Component]>,
    tables: Arc<[Table]>,
    failures: Arc<[Failure]>,
}

impl Circuit {
    /// The name of the output that tells which of a program's asserts failed first: 0 for none.
    pub const FAILURE: &str = "assert";

    /// Checks and wraps a program.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when a wire is read before it is written, written twice or out of
    /// range, a call or a repeat names a component that is not earlier or passes a wrong number of
    /// wires, a look-up names no table or differs from its table in the numbers of wires, the
    /// widths of inputs or outputs do not add up to the main component's, two ports share a name, a
    /// component has more than 2^30 wires, more than 2^27 wires and 256 for each step beside its
    /// inputs, or a list of more than 2^31 entries, an argument of a call or repeat is an empty
    /// range, the calls of a component name more arguments than its list has and 256 for each step,
    /// its repeats name more arguments or runs of wires than its lists have and 256 for each
    /// repeat, calls and repeats pass more than 2^28 wires and 2^14 for each step beyond 4 for each
    /// of their gates, an enumeration has no variants, or the flattened program would have more than 2^48
    /// gates and calls, where a look-up counts as the gates that would replace it.
    pub fn new(
        name: impl Into<String>,
        inputs: Vec<Input>,
        mut outputs: Vec<Output>,
        program: impl Into<Program>,
    ) -> Result<Self, CircuitError> {
        let program = program.into();
        crate::validate::check(&inputs, &outputs, &program)?;
        outputs.iter_mut().for_each(|output| output.to.normalise());
        let Program { components, tables } = program;
        let (components, tables) = (components.into(), tables.into());
        let failures = Arc::new([]);
        Ok(Circuit { name: name.into(), inputs, outputs, components, tables, failures })
    }

    /// Returns the same ports over another program, which must be valid and have as many inputs and
    /// outputs.
    pub(crate) fn with_program(&self, program: Program) -> Self {
        let Program { components, tables } = program;
        Circuit { components: components.into(), tables: tables.into(), ..self.clone() }
    }

    /// Returns the inputs and outputs; a caller that changes them must keep the rules of
    /// [`Circuit::new`].
    pub(crate) fn ports_mut(&mut self) -> (&mut [Input], &mut [Output]) {
        (&mut self.inputs, &mut self.outputs)
    }

    /// Returns the same circuit under another name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets what the numbers of the output [`Circuit::FAILURE`] mean, from 1 on; not part of the
    /// digest.
    pub fn with_failures(mut self, failures: impl Into<Arc<[Failure]>>) -> Self {
        self.failures = failures.into();
        self
    }

    /// Returns what the numbers of the output [`Circuit::FAILURE`] mean, from 1 on.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Returns the failure that the bits of an output report: `None` if it is another output, or
    /// nothing failed.
    pub fn failure(&self, output: &Output, bits: &[bool]) -> Option<&Failure> {
        if self.failures.is_empty() || output.name != Circuit::FAILURE {
            return None;
        }
        let number = bits.iter().rev().fold(0usize, |n, &bit| n << 1 | usize::from(bit));
        self.failures.get(number.checked_sub(1)?)
    }

    /// Returns the circuit's name; it is not part of the digest.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the inputs, in wire order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns the outputs, in wire order.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Returns the components; the last one is the main one.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Returns the tables of its look-ups.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns the shared tables.
    pub(crate) fn shared_tables(&self) -> Arc<[Table]> {
        self.tables.clone()
    }

    /// Returns the main component.
    pub fn main(&self) -> &Component {
        self.components.last().expect("Circuit::new refuses a program without components")
    }

    /// Returns the same program with its inputs given to other owners, one entry per input.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when `owners` has another length than the inputs.
    pub fn with_owners<P>(mut self, owners: &[P]) -> Result<Self, CircuitError>
    where
        P: Copy + Into<PartyId>,
    {
        if owners.len() != self.inputs.len() {
            return Err(CircuitError::invalid(format!(
                "{} owners given for {} inputs",
                owners.len(),
                self.inputs.len()
            )));
        }
        for (input, &owner) in self.inputs.iter_mut().zip(owners) {
            input.owner = owner.into();
        }
        Ok(self)
    }

    /// Returns the same program with its outputs sent to other receivers, one entry per output.
    /// Every receiver of an output also receives [`Circuit::FAILURE`], if there is one: without it,
    /// a failed assert would look like outputs that are zero.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when `receivers` has another length than the outputs.
    pub fn with_receivers(mut self, receivers: Vec<Receivers>) -> Result<Self, CircuitError> {
        if receivers.len() != self.outputs.len() {
            return Err(CircuitError::invalid(format!(
                "{} receivers given for {} outputs",
                receivers.len(),
                self.outputs.len()
            )));
        }
        for (output, to) in self.outputs.iter_mut().zip(receivers) {
            output.to = to;
            output.to.normalise();
        }
        if !self.failures.is_empty() {
            let each = self.outputs.iter().map(|output| &output.to);
            let all = each.fold(Receivers::Only(Vec::new()), |all, to| all.union(to));
            let report = self.outputs.iter_mut().find(|output| output.name == Circuit::FAILURE);
            report.into_iter().for_each(|report| report.to = all.clone());
        }
        Ok(self)
    }
}
