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

use symbolon_common::PartyId;

use crate::{Table, Type};

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

    /// Adds wires in a row likewise.
    pub(crate) fn push_all(ranges: &mut Vec<WireRange>, first: usize, more: WireRange) {
        match ranges[first..].last_mut() {
            Some(last) if last.first + last.len == more.first => last.len += more.len,
            _ => ranges.push(more),
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
    /// Index of the called component in [`Circuit::components`](crate::Circuit::components);
    /// smaller than the caller's.
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

/// One use of an earlier component, in this many rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repeat {
    /// Index of the component in [`Program::components`](crate::Program::components); smaller than
    /// the index of the one that repeats it.
    pub component: u32,
    /// How many rounds there are; at least 1.
    pub count: u32,
    /// Index in [`Component::repeat_args`] of the first of `arg_count` arguments.
    pub first_arg: u32,
    /// How many arguments there are.
    pub arg_count: u32,
    /// The outputs become the wires `first_output ..`: what the last round passes on, then the
    /// other outputs of each round.
    pub first_output: Wire,
}

/// What a repeat passes to every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RepeatArg {
    /// The same wires in every round.
    Fixed(Ranges),
    /// These wires in the first round, then what the previous round passes on.
    Carried(Ranges),
    /// The same number of wires for each round: the first ones for the first round, and so on.
    Strided(Ranges),
    /// The low `bits` bits, least significant first, of `start + step · round`, modulo 2^64.
    Counter {
        /// The number of the first round.
        start: u64,
        /// What is added from round to round.
        step: u64,
        /// How many bits are passed; at most 64.
        bits: u32,
    },
}

/// Some entries of [`Component::call_args`], none of them empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ranges {
    /// The first entry.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

impl RepeatArg {
    /// Returns the wires that it names, if any.
    pub(crate) fn ranges(&self) -> Option<Ranges> {
        match *self {
            RepeatArg::Fixed(ranges) | RepeatArg::Carried(ranges) | RepeatArg::Strided(ranges) => {
                Some(ranges)
            }
            RepeatArg::Counter { .. } => None,
        }
    }

    /// Returns the argument with other ranges in place of its own.
    pub(crate) fn with_ranges(self, ranges: Ranges) -> RepeatArg {
        match self {
            RepeatArg::Fixed(_) => RepeatArg::Fixed(ranges),
            RepeatArg::Carried(_) => RepeatArg::Carried(ranges),
            RepeatArg::Strided(_) => RepeatArg::Strided(ranges),
            counter @ RepeatArg::Counter { .. } => counter,
        }
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
    pub(crate) fn union(&self, other: &Receivers) -> Receivers {
        match (self, other) {
            (Receivers::Only(one), Receivers::Only(two)) => {
                Receivers::only(one.iter().chain(two).copied())
            }
            _ => Receivers::All,
        }
    }

    /// Puts the parties into ascending order, each once, so that equal sets of receivers have equal
    /// digests.
    pub(crate) fn normalise(&mut self) {
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

/// The meaning of a number of the output [`Circuit::FAILURE`](crate::Circuit::FAILURE).
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
