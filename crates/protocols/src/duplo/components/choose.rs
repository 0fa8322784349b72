//! Which components are selected: those with which garbling, sending and evaluating cost least.
//!
//! Small components have many calls, so that fewer copies are needed for each; large ones have
//! fewer wires between them, each of which takes commitments, solderings and authenticators. A
//! selection takes all components of at most so many AND gates, for every such bound; the sizes and
//! costs of each are computed exactly, and the cheapest one is kept.

use symbolon_circuit::{Circuit, Component, Step};
use symbolon_transport::{Error, Result};

use super::ComponentGraph;
use super::assemble::{MAX_NODES, assemble};
use crate::duplo::params::{Games, Params};

/// The most selections that are tried, those with the largest components first.
const MAX_TRIED: usize = 24;

/// The components of a circuit without look-ups that is to be executed so many times.
///
/// # Errors
/// `InvalidInput` when no selection gives a program of a size that can be run.
pub(in crate::duplo) fn choose(
    circuit: &Circuit,
    executions: usize,
    games: Games,
) -> Result<ComponentGraph> {
    let components = circuit.components();
    let ands = flattened(components, |step| u64::from(matches!(step, Step::And { .. })));
    let mut bounds: Vec<u64> = reachable(components)
        .into_iter()
        .zip(&ands)
        .filter_map(|(reached, &ands)| reached.then_some(ands))
        .collect();
    bounds.sort_unstable_by(|a, b| b.cmp(a));
    bounds.dedup();
    let mut best: Option<(u128, ComponentGraph)> = None;
    for bound in bounds.into_iter().take(MAX_TRIED) {
        let selected: Vec<bool> = ands.iter().map(|&n| n > 0 && n <= bound).collect();
        if nodes_left(components, &selected) > MAX_NODES {
            continue;
        }
        let graph = assemble(circuit, &selected).map_err(|e| Error::InvalidInput(e.to_string()))?;
        let Some(cost) = cost(&graph, executions, games) else { continue };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, graph));
        }
    }
    let too_large = || Error::invalid_input("the circuit is too large, or has too many components");
    best.map(|(_, graph)| graph).ok_or_else(too_large)
}

/// What so many executions cost; none if they cannot be run.
fn cost(graph: &ComponentGraph, executions: usize, games: Games) -> Option<u128> {
    let wires = graph.wires.checked_mul(executions)?;
    let params = Params::for_executions(graph, executions, wires, games).ok()?;
    Some(params.cost(graph, executions))
}

/// How many steps that count each component has when all its calls are written out.
fn flattened(components: &[Component], weight: impl Fn(&Step) -> u64) -> Vec<u64> {
    let mut sums: Vec<u64> = Vec::with_capacity(components.len());
    for component in components {
        let own = component.steps.iter().map(|step| match *step {
            Step::Call(call) => sums[component.calls[call as usize].component as usize],
            ref step => weight(step),
        });
        sums.push(own.fold(0, u64::saturating_add));
    }
    sums
}

/// Which components the main one calls, directly or not; it is one of them.
fn reachable(components: &[Component]) -> Vec<bool> {
    let mut reached = vec![false; components.len()];
    if let Some(main) = reached.last_mut() {
        *main = true;
    }
    for index in (0..components.len()).rev() {
        if reached[index] {
            let calls = components[index].calls.iter();
            calls.for_each(|call| reached[call.component as usize] = true);
        }
    }
    reached
}

/// How many nodes are left at the top level.
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
            _ => 1,
        });
        sums.push(own.fold(1 + u64::from(component.wires), u64::saturating_add));
    }
    sums.last().copied().unwrap_or(0)
}
