//! Fewer AND gates in a component that has just been built.

use super::gates::Gates;
use super::subcircuit::{all_ands, own_ands};
use super::sweep::{Swept, sweep};
use crate::CircuitError;
use crate::optimise::rewrite::Rewriter;

/// Components with more steps stay as they are: rewriting takes some microseconds for each step.
const MAX_STEPS: usize = 1 << 18;

/// A component with more wires is rewritten only if its own ANDs are at least a 64th of all, calls
/// and repeats included: each round copies all wires.
const MAX_WIRES: u32 = 1 << 18;

/// A component with more wires is never rewritten: that takes some bytes for each.
const MOST_WIRES: u32 = 1 << 27;

/// The most rounds of rewriting.
const ROUNDS: usize = 8;

/// Returns the same component with fewer AND gates, or unchanged. Each round takes as much `effort`
/// as there are steps, and none is begun for which too little is left.
pub(super) fn improve(mut swept: Swept, effort: &mut u64) -> Result<Swept, CircuitError> {
    let own = own_ands(&swept.component);
    let is_glue =
        swept.component.wires > MAX_WIRES && own < all_ands(&swept.component, &swept.callees) / 64;
    let is_large = swept.component.steps.len() > MAX_STEPS || swept.component.wires > MOST_WIRES;
    if is_large || own == 0 || is_glue {
        return Ok(swept);
    }
    let mut rewriter = Rewriter::default();
    for _ in 0..ROUNDS {
        let mut gates = Gates::new();
        let component = &swept.component;
        let Some(left) = effort.checked_sub(component.steps.len() as u64) else { break };
        *effort = left;
        gates.origins = swept.origins.as_ref().map(|_| Vec::new());
        let inputs = gates.input_wires(component.inputs);
        let called = (&swept.callees[..], &swept.tables[..]);
        let origins = swept.origins.as_deref();
        let outputs = rewriter.rewrite(&mut gates, (component, origins), inputs, called);
        let Some(outputs) = outputs else { break };
        let next = sweep(gates, component.name.clone(), outputs.to_vec())?;
        if all_ands(&next.component, &next.callees) >= all_ands(component, &swept.callees) {
            break;
        }
        swept = next;
    }
    Ok(swept)
}
