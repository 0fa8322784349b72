//! Builders of circuits: words, the operations on them, and components.
//!
//! ```
//! use symbolon_circuit::builder::Builder;
//! use symbolon_circuit::{Receivers, Type};
//!
//! # fn main() -> Result<(), symbolon_circuit::CircuitError> {
//! let mut b = Builder::new("rich");
//! let x = b.input("x", Type::Uint(64), 0);
//! let y = b.input("y", Type::Uint(64), 1);
//! let richer = b.lt(&y, &x);
//! b.output("richer", &richer.into(), Type::Uint(1), Receivers::All);
//! let circuit = b.finish()?;
//! # Ok(())
//! # }
//! ```
//!
//! The operations are those of [`Gates`], to which both builders dereference. Their costs are given
//! in AND gates, the only ones that cost; they hold for operands that are not constant, and are
//! lower for constants.

mod arith;
mod array;
mod bilinear;
pub(crate) mod bit;
mod call;
mod compare;
mod component;
mod divide;
mod field;
mod float;
pub(crate) mod gates;
mod improve;
mod link;
mod lookup;
mod multiply;
mod network;
mod products;
mod profile;
pub(crate) mod repeat;
mod shift;
pub(crate) mod subcircuit;
mod sweep;
mod table;
mod trace;
mod widths;

use std::ops::{Deref, DerefMut};

pub use bit::{Bit, Joiner, Word};
pub use component::ComponentBuilder;
pub use field::Tags;
pub use float::{F32, F64, Format};
pub use gates::Gates;
pub use network::sorting_network;
pub use profile::Profile;
pub use repeat::Argument;
pub use subcircuit::Subcircuit;
pub use trace::Trace;

use symbolon_common::PartyId;

use crate::{Circuit, CircuitError, Input, Output, Receivers, Type};
use bit::Part;
use gates::input_width;
use subcircuit::own_ands;

/// Builds a circuit: declare inputs, combine them, declare outputs, finish.
///
/// [`finish`](Self::finish) reports port errors (duplicate names, zero-width types, and words whose
/// width does not match their type) and operations on words of different widths.
pub struct Builder {
    name: String,
    gates: Gates,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    output_bits: Vec<Bit>,
}

impl Builder {
    /// Creates a circuit without inputs, gates or outputs.
    pub fn new(name: impl Into<String>) -> Builder {
        Builder {
            name: name.into(),
            gates: Gates::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            output_bits: Vec::new(),
        }
    }

    /// Declares the next input, with its owner. Inputs stay in the circuit even if nothing depends
    /// on them.
    ///
    /// # Panics
    /// When the type has 2^31 bits or more.
    pub fn input(&mut self, name: impl Into<String>, ty: Type, owner: impl Into<PartyId>) -> Word {
        let word = self.gates.input_wires(input_width(ty.width()));
        self.inputs.push(Input { name: name.into(), ty, owner: owner.into() });
        word
    }

    /// Makes `word` the next output, with its type and those who learn it.
    pub fn output(&mut self, name: impl Into<String>, word: &Word, ty: Type, to: Receivers) {
        let name = name.into();
        if ty.width() != word.width() as u64 {
            let width = word.width();
            self.gates.note_mismatch(|| {
                format!(
                    "output `{name}` is a word of {width} bits, its type {ty} has {}",
                    ty.width()
                )
            });
        }
        for part in word.parts() {
            match part {
                Part::Wires(run) => {
                    self.output_bits.extend((run.first..run.first + run.len).map(Bit::of_wire));
                }
                Part::Bits(bits) => self.output_bits.extend_from_slice(bits),
            }
        }
        self.outputs.push(Output { name, ty, to });
    }

    /// Returns the finished circuit, without the gates and components that reach no output.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when a port is invalid, or the circuit has more than about 2^31
    /// wires in one component or 2^48 gates in all.
    pub fn finish(self) -> Result<Circuit, CircuitError> {
        self.finished(Ok)
    }

    /// Finishes like [`finish`](Self::finish), with fewer AND gates in the main component where
    /// rewriting finds a way; see [`ComponentBuilder::finish_optimised`].
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub fn finish_optimised(self) -> Result<Circuit, CircuitError> {
        let mut effort = u64::MAX;
        self.finish_within(&mut effort)
    }

    /// Finishes like [`finish_optimised`](Self::finish_optimised), as long as `effort` lasts; see
    /// [`ComponentBuilder::finish_within`].
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub fn finish_within(self, effort: &mut u64) -> Result<Circuit, CircuitError> {
        self.finished(|swept| improve::improve(swept, effort))
    }

    /// Finishes like [`finish_within`](Self::finish_within), and says from which wires the gates
    /// of the main component come.
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub fn finish_traced(mut self, effort: &mut u64) -> Result<(Circuit, Trace), CircuitError> {
        self.gates.start_trace();
        let mut trace = Trace::default();
        let circuit = self.finished(|swept| {
            let swept = improve::improve(swept, effort)?;
            trace = Trace::of(&swept);
            Ok(swept)
        })?;
        Ok((circuit, trace))
    }

    fn finished(
        self,
        change: impl FnOnce(sweep::Swept) -> Result<sweep::Swept, CircuitError>,
    ) -> Result<Circuit, CircuitError> {
        let main = change(sweep::sweep(self.gates, self.name.clone(), self.output_bits)?)?;
        Circuit::new(self.name, self.inputs, self.outputs, link::link(main))
    }
}

impl Deref for Builder {
    type Target = Gates;

    fn deref(&self) -> &Gates {
        &self.gates
    }
}

impl DerefMut for Builder {
    fn deref_mut(&mut self) -> &mut Gates {
        &mut self.gates
    }
}

/// Returns the number of AND gates that a circuit computes, each component counted as often as it
/// is called. Look-ups do not count.
pub fn and_count(circuit: &Circuit) -> u64 {
    let mut counts: Vec<u64> = Vec::with_capacity(circuit.components().len());
    for component in circuit.components() {
        let used =
            component.uses().map(|(used, times)| counts[used as usize].saturating_mul(times));
        counts.push(used.fold(own_ands(component), u64::saturating_add));
    }
    counts.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
