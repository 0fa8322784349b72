//! What functions that are components hide from the optimiser: which of them would take fewer gates
//! where they are written out.

use symbolon_circuit::Circuit;

use super::entry::Entry;
use super::ports::write_entry;
use super::{Done, EFFORT, Failed, Lower, MAX_STEPS};
use crate::cost::{Costs, Totals, component_costs};
use crate::diag::Diagnostics;
use crate::ids::InstanceId;
use crate::source::Span;
use crate::tir::Tir;

/// At most this many functions are written out to see what that saves, those with the most gates.
const FUNCTIONS: usize = 8;

/// One of them takes at most this many steps.
const STEPS: u64 = MAX_STEPS / 16;

/// Writes an entry as a circuit; also returns the gates by place, if `costs`, and which functions
/// hide gates.
///
/// # Errors
/// The errors are in `errors`.
pub fn lower_entry(
    tir: &Tir,
    entry: &Entry,
    errors: &mut Diagnostics,
    costs: bool,
) -> Result<(Circuit, Option<Costs>), Failed> {
    let mut lower = Lower::new(tir, errors, entry.instance);
    lower.costs = costs.then(Costs::default);
    let (circuit, mut costs) = write_entry(&mut lower, entry)?;
    if let Some(costs) = &mut costs {
        costs.hints = hints(tir, entry, &circuit, lower.called_functions())?;
    }
    Ok((circuit, costs))
}

/// Returns the functions that hide gates, each with its place and how many.
fn hints(
    tir: &Tir,
    entry: &Entry,
    circuit: &Circuit,
    called: &[InstanceId],
) -> Done<Vec<(String, Span, u64)>> {
    // The instances of one function are marked together.
    let mut functions: Vec<(String, Span, u64)> = Vec::new();
    let components = component_costs(circuit);
    for &place in called {
        let instance = tir.instances.get(place).cloned().flatten().ok_or(Failed)?;
        let with_constants = format!("{} with constants ", instance.name);
        let own = components.iter().filter(|component| {
            component.name == *instance.name || component.name.starts_with(&with_constants)
        });
        let ands: u64 = own.map(|own| own.ands.saturating_mul(own.calls)).sum();
        match functions.iter_mut().find(|known| known.1 == instance.span) {
            Some(known) => known.2 = known.2.saturating_add(ands),
            None => functions.push((instance.name.to_string(), instance.span, ands)),
        }
    }
    functions.retain(|(_, _, ands)| *ands > 0);
    functions.sort_by_key(|(_, _, ands)| std::cmp::Reverse(*ands));
    functions.truncate(FUNCTIONS);
    functions.retain_mut(|(_, span, gates)| {
        *gates = saved(tir, entry, circuit, *span).unwrap_or(0);
        *gates > 0
    });
    functions.sort_by_key(|(_, _, saved)| std::cmp::Reverse(*saved));
    Ok(functions)
}

/// Returns how many AND gates are saved if a function is written out; `None` if that is not known,
/// or makes more look-ups.
fn saved(tir: &Tir, entry: &Entry, circuit: &Circuit, function: Span) -> Option<u64> {
    let mut errors = Diagnostics::default();
    let mut lower = Lower::new(tir, &mut errors, entry.instance);
    lower.written_out = Some(function);
    (lower.spent.steps, lower.spent.effort) = (MAX_STEPS - STEPS, EFFORT / 8);
    let (other, _) = write_entry(&mut lower, entry).ok()?;
    let [before, after] = [circuit, &other].map(Totals::of);
    if after.lookups > before.lookups {
        return None;
    }
    before.ands.checked_sub(after.ands)
}
