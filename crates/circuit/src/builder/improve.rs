//! Fewer AND gates in a component that has just been built.

use super::gates::Gates;
use super::subcircuit::{all_ands, own_ands};
use super::sweep::{Swept, sweep};
use crate::CircuitError;
use crate::optimise::rewrite::Rewriter;

/// Components with more steps stay as they are: rewriting takes some microseconds for each step.
const MAX_STEPS: usize = 1 << 18;

/// The most rounds of rewriting.
const ROUNDS: usize = 8;

/// Returns the same component with fewer AND gates, or unchanged.
pub(super) fn improve(mut swept: Swept) -> Result<Swept, CircuitError> {
    if swept.component.steps.len() > MAX_STEPS || own_ands(&swept.component) == 0 {
        return Ok(swept);
    }
    let mut rewriter = Rewriter::default();
    for _ in 0..ROUNDS {
        let mut gates = Gates::new();
        let component = &swept.component;
        let inputs = gates.input_wires(component.inputs);
        let tables = &swept.tables;
        let outputs = rewriter.rewrite(&mut gates, component, inputs, &swept.callees, tables);
        let Some(outputs) = outputs else { break };
        let next = sweep(gates, component.name.clone(), &outputs)?;
        if all_ands(&next.component, &next.callees) >= all_ands(component, &swept.callees) {
            break;
        }
        swept = next;
    }
    Ok(swept)
}
