//! Writing components: parts of a circuit that are written once and called many times.

use std::ops::{Deref, DerefMut};

use super::bit::{Bit, Word};
use super::gates::{Gates, input_width};
use super::improve::improve;
use super::subcircuit::Subcircuit;
use super::sweep::{Swept, sweep};
use super::trace::Trace;
use crate::CircuitError;

/// Builds a component: a part of a circuit that is written once and called many times.
///
/// All gates come from [`Gates`], to which it dereferences.
pub struct ComponentBuilder {
    name: String,
    gates: Gates,
    input_widths: Vec<usize>,
    output_widths: Vec<usize>,
    outputs: Vec<Bit>,
}

impl ComponentBuilder {
    /// Creates a component without inputs, gates or outputs. The name is for people.
    pub fn new(name: impl Into<String>) -> ComponentBuilder {
        ComponentBuilder {
            name: name.into(),
            gates: Gates::new(),
            input_widths: Vec::new(),
            output_widths: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Declares the next input, `width` bits wide.
    ///
    /// # Panics
    /// When `width` is 2^31 or more.
    pub fn input(&mut self, width: usize) -> Word {
        self.input_widths.push(width);
        self.gates.input_wires(input_width(width as u64))
    }

    /// Makes `word` the next output.
    pub fn output(&mut self, word: &[Bit]) {
        self.output_widths.push(word.len());
        self.outputs.extend_from_slice(word);
    }

    /// Returns the finished component, without the gates that reach no output.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when it has more than about 2^31 wires.
    pub fn finish(self) -> Result<Subcircuit, CircuitError> {
        let swept = sweep(self.gates, self.name, self.outputs)?;
        Ok(Self::finished(swept, self.input_widths, self.output_widths))
    }

    /// Finishes like [`finish`](Self::finish), with fewer AND gates where rewriting finds a way;
    /// see [`optimise`](crate::optimise()). Components of more than 2^18 steps stay as they are.
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub fn finish_optimised(self) -> Result<Subcircuit, CircuitError> {
        let mut effort = u64::MAX;
        self.finish_within(&mut effort)
    }

    /// Finishes like [`finish_optimised`](Self::finish_optimised), as long as `effort` lasts: each
    /// round of rewriting takes as much of it as the component has steps, some microseconds each.
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub fn finish_within(self, effort: &mut u64) -> Result<Subcircuit, CircuitError> {
        let swept = improve(sweep(self.gates, self.name, self.outputs)?, effort)?;
        Ok(Self::finished(swept, self.input_widths, self.output_widths))
    }

    /// Finishes like [`finish_within`](Self::finish_within), and says from which wires the gates
    /// of the component come.
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub fn finish_traced(mut self, effort: &mut u64) -> Result<(Subcircuit, Trace), CircuitError> {
        self.gates.start_trace();
        let swept = improve(sweep(self.gates, self.name, self.outputs)?, effort)?;
        let trace = Trace::of(&swept);
        Ok((Self::finished(swept, self.input_widths, self.output_widths), trace))
    }

    fn finished(
        Swept { component, callees, tables, .. }: Swept,
        mut input_widths: Vec<usize>,
        output_widths: Vec<usize>,
    ) -> Subcircuit {
        let further = component.inputs as usize - input_widths.iter().sum::<usize>();
        input_widths.extend((further > 0).then_some(further));
        Subcircuit::new(component, (callees, tables), (input_widths, output_widths))
    }
}

impl Deref for ComponentBuilder {
    type Target = Gates;

    fn deref(&self) -> &Gates {
        &self.gates
    }
}

impl DerefMut for ComponentBuilder {
    fn deref_mut(&mut self) -> &mut Gates {
        &mut self.gates
    }
}
