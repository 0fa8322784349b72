//! Selects components: those that make garbling, sending and evaluating cheapest, or those that the
//! parties name.
//!
//! Small components have many calls, so fewer copies are needed for each. Large ones have fewer
//! wires between them, and each of these wires takes commitments, solderings and authenticators.
//! The search computes the sizes and the cost of each selection exactly. For every bound on AND
//! gates, it first tries the selection of all components within the bound. Then it takes the best
//! of these selections and adds or removes one component at a time, as long as that makes it
//! cheaper.
//!
//! Both parties search with the same integers, so they find the same selection.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use symbolon_circuit::components::{ComponentGraph, Kind, LEFTOVER, MAX_NODES, alone, assemble};
use symbolon_circuit::{Circuit, CircuitError, Component, Step};
use symbolon_transport::{Error, Result};

use super::params::{Games, Params};

/// The search tries no selection that leaves more nodes at the top level.
const MAX_NODES_OF_SEARCH: u64 = 1 << 22;

/// How many bounds are tried, the largest ones first.
const MAX_BOUNDS: usize = 24;

/// How many changes of a single component are tried.
const MAX_CHANGES: usize = 48;

/// Changes are tried where a selection leaves at most this number of nodes at the top level, so
/// that each takes milliseconds.
const MAX_NODES_OF_CHANGES: u64 = 1 << 16;

/// The task for which components are chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    /// How many executions share a cut-and-choose.
    pub executions: usize,
    /// The games for which buckets are sized.
    pub games: Games,
    /// Names of the components to select; if there are none, the search finds the cheapest
    /// selection.
    pub named: &'a [String],
}

/// Returns the components of a circuit without look-ups.
///
/// Paper: KNRTT17, §1.1 | the choice of components
///
/// # Errors
/// `InvalidInput` when no selection is small enough to run, or a named component does not occur or
/// has no AND gates.
pub(super) fn choose(circuit: &Circuit, choice: Choice<'_>) -> Result<ComponentGraph> {
    let components = circuit.components();
    let ands = flattened(components, |step| u64::from(matches!(step, Step::And { .. })));
    let reached = reachable(components);
    let mut search = Search { circuit, choice, best: None };
    if choice.named.is_empty() {
        search.by_size(&reached, &ands)?;
        search.by_single_changes(&reached, &ands)?;
    } else {
        search.consider(named(components, &reached, &ands, choice.named)?)?;
    }
    let too_large = || Error::invalid_input("the circuit is too large, or has too many components");
    search.best.map(|best| best.graph).ok_or_else(too_large)
}

/// Checks that a circuit without look-ups has components of these names, with AND gates.
///
/// # Errors
/// `InvalidInput` with the first name that it does not have.
pub(super) fn check_names(circuit: &Circuit, names: &[String]) -> Result<()> {
    let components = circuit.components();
    let ands = flattened(components, |step| u64::from(matches!(step, Step::And { .. })));
    named(components, &reachable(components), &ands, names).map(drop)
}

/// Adds the names of a list to a sentence: at most twelve, each once.
fn list_names<'n>(sentence: &mut String, names: impl IntoIterator<Item = &'n str>) {
    const MOST: usize = 12;
    let mut listed: Vec<&str> = Vec::new();
    for name in names {
        if !listed.contains(&name) {
            listed.push(name);
        }
    }
    let shown: Vec<String> = listed.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    sentence.push_str(&shown.join(", "));
    if listed.len() > MOST {
        let _ = write!(sentence, " and {} more", listed.len() - MOST);
    }
}

/// Returns which components have these names.
fn named(
    components: &[Component],
    reached: &[bool],
    ands: &[u64],
    names: &[String],
) -> Result<Vec<bool>> {
    let mut selected = vec![false; components.len()];
    for name in names {
        let called = |at: &usize| reached[*at] && components[*at].name == *name;
        let mut found: Vec<usize> = (0..components.len()).filter(called).collect();
        if found.is_empty() {
            let mut text = format!("the circuit has no component `{name}`; its components are ");
            let garbled = (0..components.len()).rev().filter(|at| reached[*at] && ands[*at] > 0);
            list_names(&mut text, garbled.map(|at| components[at].name.as_str()));
            return Err(Error::invalid_input(text));
        }
        found.retain(|&at| ands[at] > 0);
        if found.is_empty() {
            return Err(Error::invalid_input(format!(
                "component `{name}` has no AND gates: there is nothing to garble in it"
            )));
        }
        found.into_iter().for_each(|at| selected[at] = true);
    }
    Ok(selected)
}

/// Returns the components of a circuit without look-ups, all of which are of `known` kinds: those
/// with the given names or, without names, the outermost ones whose kinds are known.
///
/// # Errors
/// `InvalidInput` when other components have AND gates, with the names of these components;
/// otherwise as [`choose`].
pub(super) fn of_kinds(
    circuit: &Circuit,
    known: &[[u8; 32]],
    names: &[String],
) -> Result<ComponentGraph> {
    let invalid = |error: CircuitError| Error::InvalidInput(error.to_string());
    let components = circuit.components();
    let ands = flattened(components, |step| u64::from(matches!(step, Step::And { .. })));
    let reached = reachable(components);
    let selected = if names.is_empty() {
        let is_known = |at: usize| {
            let possible = reached[at] && ands[at] > 0;
            let alone = |at| alone(components, at).map_err(invalid);
            Ok(possible && known.contains(&alone(at)?.digest()))
        };
        (0..components.len()).map(is_known).collect::<Result<_>>()?
    } else {
        named(components, &reached, &ands, names)?
    };
    if nodes_left(components, &selected) > MAX_NODES {
        return Err(missing(components, &selected, &[]));
    }
    let graph = assemble(circuit, &selected).map_err(invalid)?;
    let unknown: Vec<&Kind> =
        graph.kinds.iter().filter(|kind| !known.contains(&kind.digest())).collect();
    if unknown.is_empty() {
        return Ok(graph);
    }
    Err(missing(components, &selected, &unknown))
}

/// The most components that an error names.
const MAX_NAMED: usize = 8;

/// Returns the error that names the components with AND gates that are of `unknown` kinds or are
/// not selected.
fn missing(components: &[Component], selected: &[bool], unknown: &[&Kind]) -> Error {
    let mut names: Vec<&str> = Vec::new();
    let written_out = written_out(components, selected);
    for (component, _) in components.iter().zip(written_out).filter(|(_, out)| *out) {
        if component.steps.iter().any(|step| matches!(step, Step::And { .. })) {
            names.push(&component.name);
        }
    }
    names.extend(unknown.iter().map(|kind| &kind.name[..]).filter(|name| *name != LEFTOVER));
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let list = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Error::InvalidInput(format!("the pool has no components for the AND gates of {list}{more}"))
}

/// Returns which components are written out: those that are not selected, and not used inside
/// selected ones only.
fn written_out(components: &[Component], selected: &[bool]) -> Vec<bool> {
    let mut written_out = vec![false; components.len()];
    if let Some(main) = written_out.last_mut() {
        *main = true;
    }
    for index in (0..components.len()).rev() {
        written_out[index] &= !selected[index];
        if written_out[index] {
            let calls = components[index].calls.iter();
            calls.for_each(|call| written_out[call.component as usize] = true);
        }
    }
    written_out
}

/// A selection, its graph and its cost.
struct Candidate {
    cost: u128,
    selected: Vec<bool>,
    graph: ComponentGraph,
}

/// The cheapest selection so far.
struct Search<'a> {
    circuit: &'a Circuit,
    choice: Choice<'a>,
    best: Option<Candidate>,
}

impl Search<'_> {
    /// Keeps a selection if it is cheaper than the best one so far, and returns whether it is.
    fn consider(&mut self, selected: Vec<bool>) -> Result<bool> {
        if nodes_left(self.circuit.components(), &selected) > MAX_NODES {
            return Ok(false);
        }
        let graph = assemble(self.circuit, &selected);
        let graph = graph.map_err(|error| Error::InvalidInput(error.to_string()))?;
        let Some(cost) = cost(&graph, self.choice.executions, self.choice.games) else {
            return Ok(false);
        };
        let cheaper = self.best.as_ref().is_none_or(|best| cost < best.cost);
        if cheaper {
            self.best = Some(Candidate { cost, selected, graph });
        }
        Ok(cheaper)
    }

    /// Tries the selections of all components within a bound on AND gates, for every bound.
    fn by_size(&mut self, reached: &[bool], ands: &[u64]) -> Result<()> {
        let sizes = reached.iter().zip(ands);
        let mut bounds: Vec<u64> =
            sizes.filter_map(|(&reached, &ands)| reached.then_some(ands)).collect();
        bounds.sort_unstable_by(|a, b| b.cmp(a));
        bounds.dedup();
        for bound in bounds.into_iter().take(MAX_BOUNDS) {
            let selected: Vec<bool> = ands.iter().map(|&n| n > 0 && n <= bound).collect();
            if nodes_left(self.circuit.components(), &selected) <= MAX_NODES_OF_SEARCH {
                self.consider(selected)?;
            }
        }
        Ok(())
    }

    /// Adds or removes one component at a time.
    fn by_single_changes(&mut self, reached: &[bool], ands: &[u64]) -> Result<()> {
        let components = self.circuit.components();
        // If the main component is selected, no other selection matters.
        let may_change = |at: usize| reached[at] && ands[at] > 0;
        let mut left = MAX_CHANGES;
        let mut found = true;
        while std::mem::take(&mut found) {
            for at in (0..components.len()).filter(|&at| may_change(at)) {
                let Some(best) = &self.best else { return Ok(()) };
                let mut selected = best.selected.clone();
                selected[at] = !selected[at];
                let main_selected = selected.last() == Some(&true) && at + 1 != components.len();
                let large = nodes_left(components, &selected) > MAX_NODES_OF_CHANGES;
                if main_selected || large {
                    continue;
                }
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                found |= self.consider(selected)?;
            }
        }
        Ok(())
    }
}

/// Returns the cost of a number of executions, or `None` if they cannot be run.
fn cost(graph: &ComponentGraph, executions: usize, games: Games) -> Option<u128> {
    graph.wires.checked_mul(executions)?;
    let params = Params::rough(graph, executions, games).ok()?;
    Some(params.cost(graph, executions))
}

/// Returns the weight of all steps of each component when all of its calls are written out.
fn flattened(components: &[Component], weight: impl Fn(&Step) -> u64) -> Vec<u64> {
    let mut sums: Vec<u64> = Vec::with_capacity(components.len());
    for component in components {
        let own = component.steps.iter().map(|step| match *step {
            Step::Call(call) => sums[component.calls[call as usize].component as usize],
            Step::Repeat(repeat) => rounds(component, repeat, &sums),
            ref step => weight(step),
        });
        sums.push(own.fold(0, u64::saturating_add));
    }
    sums
}

/// Returns the sum over all rounds of a repeat, given the `sums` of earlier components.
fn rounds(component: &Component, repeat: u32, sums: &[u64]) -> u64 {
    let repeat = component.repeats[repeat as usize];
    sums[repeat.component as usize].saturating_mul(repeat.count.into())
}

/// Returns which components the main one uses, directly or indirectly, itself included.
fn reachable(components: &[Component]) -> Vec<bool> {
    let mut reached = vec![false; components.len()];
    if let Some(main) = reached.last_mut() {
        *main = true;
    }
    for index in (0..components.len()).rev() {
        if reached[index] {
            components[index].uses().for_each(|(used, _)| reached[used as usize] = true);
        }
    }
    reached
}

/// Returns how many nodes are left at the top level.
fn nodes_left(components: &[Component], selected: &[bool]) -> u64 {
    let mut sums: Vec<u64> = Vec::with_capacity(components.len());
    for (component, &selected) in components.iter().zip(selected) {
        if selected {
            let ports = u64::from(component.inputs) + component.outputs.len() as u64;
            sums.push(ports);
            continue;
        }
        let own = component.steps.iter().map(|step| match *step {
            Step::Call(call) => sums[component.calls[call as usize].component as usize],
            Step::Repeat(repeat) => rounds(component, repeat, &sums),
            _ => 1,
        });
        sums.push(own.fold(1 + u64::from(component.wires), u64::saturating_add));
    }
    sums.last().copied().unwrap_or(0)
}
