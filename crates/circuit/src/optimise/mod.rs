//! Fewer AND gates for the same function.
//!
//! Every component is rewritten with constants folded, equal gates merged and dead ones left out.
//! Then *cuts* are rewritten, round by round: a wire is a function of a few others, its leaves; if
//! that function has a circuit with fewer ANDs than would go with the wire's cone, it replaces the
//! cone. XORs are free, so functions that differ by an affine one cost the same (`affine`).
//! Programs of the language are rewritten this way while they are built ([`rewrite::Rewriter`]).
//!
//! Gates stay in their components, and a round that saves nothing is dropped, so the result never
//! has more AND gates.

mod affine;
mod chain;
mod cuts;
pub(crate) mod rewrite;
mod tables;

use affine::Base;
use cuts::Replacement;
use rewrite::write;

use crate::builder::{Builder, ComponentBuilder, Subcircuit, Word, and_count};
use crate::{Circuit, CircuitError, Component};

/// In components with more steps, gates are folded and merged, but cuts are not rewritten.
pub const MAX_STEPS: usize = 1 << 22;

/// Circuits with a component of more wires are refused: each takes some bytes here.
const MAX_WIRES: u32 = 1 << 27;

/// The most rounds of rewriting; usually the third finds nothing.
const ROUNDS: usize = 8;

/// Returns the same function with at most as many AND gates. Ports stay as they are.
///
/// # Errors
/// [`CircuitError::Invalid`] when a component has more than 2^27 wires, or more than the builder
/// numbers.
pub fn optimise(circuit: &Circuit) -> Result<Circuit, CircuitError> {
    if let Some(wide) = circuit.components().iter().find(|one| one.wires > MAX_WIRES) {
        let name = &wide.name;
        return Err(CircuitError::invalid(format!("component `{name}` has more than 2^27 wires")));
    }
    let mut best = rewrite(circuit, &mut |_| Vec::new())?;
    let mut base = Base::default();
    for _ in 0..ROUNDS {
        let next = rewrite(&best, &mut |component| {
            let large = component.steps.len() > MAX_STEPS;
            if large { Vec::new() } else { cuts::choose(component, &mut base) }
        })?;
        if and_count(&next) >= and_count(&best) {
            break;
        }
        best = next;
    }
    // A circuit that folding and merging do not improve stays as it was.
    Ok(if and_count(&best) < and_count(circuit) { best } else { circuit.clone() })
}

/// Rewrites the circuit with these replacements, which are in the order of their steps.
fn rewrite(
    circuit: &Circuit,
    choose: &mut dyn FnMut(&Component) -> Vec<Replacement>,
) -> Result<Circuit, CircuitError> {
    let (main, others) = circuit.components().split_last().expect("a circuit has a main component");
    let mut parts: Vec<Subcircuit> = Vec::with_capacity(others.len());
    for component in others {
        let mut c = ComponentBuilder::new(component.name.clone());
        let inputs = c.input(component.inputs as usize);
        let chosen = choose(component);
        let called = (&parts[..], circuit.tables());
        let outputs = write(&mut c, (component, None), inputs, called, &chosen);
        c.output(&outputs);
        parts.push(c.finish()?);
    }
    let mut b = Builder::new(circuit.name());
    let inputs: Vec<Word> = circuit
        .inputs()
        .iter()
        .map(|input| b.input(input.name.clone(), input.ty.clone(), input.owner))
        .collect();
    let chosen = choose(main);
    let called = (&parts[..], circuit.tables());
    let outputs = write(&mut b, (main, None), Word::join(&inputs), called, &chosen);
    let mut start = 0;
    for output in circuit.outputs() {
        let end = start + output.ty.width() as usize;
        let word = outputs.slice(start..end);
        b.output(output.name.clone(), &word, output.ty.clone(), output.to.clone());
        start = end;
    }
    b.finish()
}

#[cfg(test)]
mod tests;
