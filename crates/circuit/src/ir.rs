//! What is computed: programs of components, with named, typed inputs and outputs.
//!
//! A [`Circuit`] is a list of [`Component`]s, each a straight line of [`Step`]s in
//! single-assignment form. A step is a gate or a [`Call`] of a component earlier in the list; the
//! last component is the main one, and its inputs and outputs are the circuit's. A plain circuit is
//! a program of one component. Repeated parts are written once: 1 024 AES blocks are one AES
//! component and 1 024 calls.
//!
//! A step may also be a [`Lookup`] in a [`Table`] of the program: a gate of several bits in and
//! out. Protocols without look-ups see XOR, AND and NOT gates in its place
//! ([`lower_lookups`](crate::lower_lookups)).

use std::fmt;
use std::sync::Arc;

use symbolon_errors::PartyId;

use crate::{CircuitError, Repeat, RepeatArg, Table, Type};

/// A wire of a component: inputs come first, then every step's output in any order, each once.
pub type Wire = u32;

/// A run of consecutive wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WireRange {
    /// The first wire of the run.
    pub first: Wire,
    /// How many wires the run has; at least 1.
    pub len: u32,
}

impl WireRange {
    /// Adds a wire to the ranges from `first` on, lengthening the last one when the wire follows
    /// it.
    pub(crate) fn push(ranges: &mut Vec<WireRange>, first: usize, wire: Wire) {
        match ranges[first..].last_mut() {
            Some(last) if last.first + last.len == wire => last.len += 1,
            _ => ranges.push(WireRange { first: wire, len: 1 }),
        }
    }
}

/// One gate, one look-up, or one or many calls of another component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `out = a ⊕ b`; free in every protocol.
    Xor {
        /// Left operand.
        a: Wire,
        /// Right operand.
        b: Wire,
        /// Result.
        out: Wire,
    },
    /// `out = a ∧ b`; the gate that costs.
    And {
        /// Left operand.
        a: Wire,
        /// Right operand.
        b: Wire,
        /// Result.
        out: Wire,
    },
    /// `out = ¬a`; free.
    Inv {
        /// Operand.
        a: Wire,
        /// Result.
        out: Wire,
    },
    /// `out = value`, a public constant; free.
    Const {
        /// The constant.
        value: bool,
        /// Result.
        out: Wire,
    },
    /// The call with this index in [`Component::calls`].
    Call(u32),
    /// The look-up with this index in [`Component::lookups`].
    Lookup(u32),
    /// The repeat with this index in [`Component::repeats`].
    Repeat(u32),
}

/// One use of an earlier component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// Index of the called component in [`Circuit::components`]; smaller than the caller's.
    pub component: u32,
    /// Index in [`Component::call_args`] of the first of `arg_count` ranges, whose wires, joined in
    /// order, are the callee's inputs.
    pub first_arg: u32,
    /// How many ranges there are.
    pub arg_count: u32,
    /// The callee's outputs become the caller's wires `first_output ..`, in order.
    pub first_output: Wire,
}

/// One use of a table: the bits of one entry, chosen by the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lookup {
    /// Index of the table in [`Program::tables`].
    pub table: u32,
    /// Index in [`Component::lookup_inputs`] of the first of `input_count` wires; the first wire is
    /// the least significant bit of the entry's index.
    pub first_input: u32,
    /// How many inputs there are: as many as the table has.
    pub input_count: u32,
    /// The entry's bits become the wires `first_output ..`, least significant first.
    pub first_output: Wire,
    /// How many outputs there are: as many as the table has.
    pub output_count: u32,
}

impl Lookup {
    /// Returns the wires that it writes.
    pub(crate) fn outputs(&self) -> std::ops::Range<Wire> {
        self.first_output..self.first_output + self.output_count
    }
}

/// A sub-circuit: a straight line of steps in single-assignment form.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Component {
    /// A name for people; it has no meaning and is not part of the digest.
    pub name: String,
    /// How many inputs there are: wires `0 .. inputs`.
    pub inputs: u32,
    /// How many wires there are in all.
    pub wires: u32,
    /// Gates, look-ups, calls and repeats; a wire is written before it is read, and once.
    pub steps: Vec<Step>,
    /// The calls that [`Step::Call`] names.
    pub calls: Vec<Call>,
    /// The argument ranges that [`Call::first_arg`] and [`RepeatArg`]s name.
    pub call_args: Vec<WireRange>,
    /// The repeats that [`Step::Repeat`] names.
    pub repeats: Vec<Repeat>,
    /// The arguments that [`Repeat::first_arg`] names.
    pub repeat_args: Vec<RepeatArg>,
    /// The look-ups that [`Step::Lookup`] names.
    pub lookups: Vec<Lookup>,
    /// The wires that [`Lookup::first_input`] names.
    pub lookup_inputs: Vec<Wire>,
    /// The wires that are the component's outputs, in order; a wire may occur more than once.
    pub outputs: Vec<Wire>,
}

impl Component {
    /// Returns how often each component is used, by index: once for a call, once per round for a
    /// repeat.
    pub fn uses(&self) -> impl Iterator<Item = (u32, u64)> {
        let calls = self.calls.iter().map(|call| (call.component, 1));
        calls.chain(self.repeats.iter().map(|repeat| (repeat.component, repeat.count.into())))
    }

    /// Returns whether it has neither calls nor repeats.
    pub(crate) fn is_leaf(&self) -> bool {
        self.calls.is_empty() && self.repeats.is_empty()
    }

    /// Returns the wires that one of its look-ups reads.
    pub(crate) fn inputs_of(&self, lookup: Lookup) -> &[Wire] {
        &self.lookup_inputs[lookup.first_input as usize..][..lookup.input_count as usize]
    }
}

/// Components, the last one being the main one, and the tables of their look-ups.
///
/// A list of components without look-ups converts into one.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// The components; each calls only earlier ones.
    pub components: Vec<Component>,
    /// The tables that [`Lookup::table`] names; a table is listed once, however often it is used.
    pub tables: Vec<Table>,
}

impl From<Vec<Component>> for Program {
    fn from(components: Vec<Component>) -> Program {
        Program { components, tables: Vec::new() }
    }
}

/// A named, typed input of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name by which a user sets it.
    pub name: String,
    /// Its type, which fixes its width in bits.
    pub ty: Type,
    /// The party whose secret it is.
    pub owner: PartyId,
}

/// Who learns an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Receivers {
    /// Every party.
    All,
    /// These parties, in ascending order, each once; an empty list means that nobody does.
    Only(Vec<PartyId>),
}

impl Receivers {
    /// Returns these parties as the only receivers.
    pub fn only<P: Into<PartyId>>(parties: impl IntoIterator<Item = P>) -> Self {
        let mut receivers = Receivers::Only(parties.into_iter().map(Into::into).collect());
        receivers.normalise();
        receivers
    }

    /// Returns whether `party` learns the output.
    pub fn contains(&self, party: impl Into<PartyId>) -> bool {
        match self {
            Receivers::All => true,
            Receivers::Only(parties) => parties.contains(&party.into()),
        }
    }

    /// Returns the parties that are in either.
    fn union(&self, other: &Receivers) -> Receivers {
        match (self, other) {
            (Receivers::Only(one), Receivers::Only(two)) => {
                Receivers::only(one.iter().chain(two).copied())
            }
            _ => Receivers::All,
        }
    }

    /// Puts the parties into ascending order, each once, so that equal sets of receivers have equal
    /// digests.
    fn normalise(&mut self) {
        if let Receivers::Only(parties) = self {
            parties.sort_unstable();
            parties.dedup();
        }
    }
}

/// A named, typed output of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The name under which it is reported.
    pub name: String,
    /// Its type, which fixes its width in bits.
    pub ty: Type,
    /// Who learns it.
    pub to: Receivers,
}

/// The meaning of a number of the output [`Circuit::FAILURE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The text in the program.
    pub text: String,
    /// The source file.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, line {})", self.text, self.file, self.line)
    }
}

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
    /// component has more than 2^30 wires, more than 2^27 wires and 256 for each step, or a list of
    /// more than 2^31 entries, an argument of a call or repeat is an empty range, the calls of a
    /// component name more arguments than its list has and 256 for each step, its repeats name more
    /// arguments or runs of wires than its lists have and 256 for each repeat, calls and repeats
    /// pass more than 2^28 wires and 2^14 for each step beyond 4 for each of their gates, an
    /// enumeration has no variants, or the flattened program would have more than 2^48 gates and
    /// calls, where a look-up counts as the gates that would replace it.
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
