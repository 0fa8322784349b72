//! What a program costs, by function and line.

use std::collections::BTreeMap;

use serde::Serialize;
use symbolon_circuit::{Circuit, Step};

use crate::lower::Costs;
use crate::source::Sources;

/// The cost of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// AND gates in all.
    pub ands: u64,
    /// The components.
    pub functions: Vec<FunctionCost>,
    /// The lines that ask for AND gates, in order.
    pub lines: Vec<LineCost>,
    /// AND gates that lines ask for and the circuit does not have: no output needs them. The lines'
    /// sum less these is `ands`.
    pub unused: u64,
}

/// The cost of a component.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionCost {
    /// The function with its arguments.
    pub name: String,
    /// How often it is called in all.
    pub calls: u64,
    /// AND gates of one call, those of the components that it calls left out.
    pub ands: u64,
    /// Look-ups of one call.
    pub lookups: u64,
    /// Bits of its inputs and outputs.
    pub port_bits: u64,
}

/// The cost of a line.
#[derive(Clone, Debug, Serialize)]
pub struct LineCost {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// AND gates, each component counted as often as it is called.
    pub ands: u64,
}

/// Puts a program's cost together.
pub fn report(circuit: &Circuit, costs: &Costs, sources: &Sources) -> Report {
    let components = circuit.components();
    let mut calls = vec![0u64; components.len()];
    if let Some(main) = calls.last_mut() {
        *main = 1;
    }
    // Callers stand behind what they call.
    for (place, component) in components.iter().enumerate().rev() {
        for call in &component.calls {
            let times = calls[place];
            let callee = &mut calls[call.component as usize];
            *callee = callee.saturating_add(times);
        }
    }
    let mut functions = Vec::new();
    let mut lines: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut booked_all = 0u64;
    let mut ands_all = 0u64;
    let mut left: Vec<_> = costs.components.iter().collect();
    for (place, component) in components.iter().enumerate() {
        let count = |kind: fn(&Step) -> bool| {
            component.steps.iter().filter(|step| kind(step)).count() as u64
        };
        let ands = count(|step| matches!(step, Step::And { .. }));
        ands_all = ands_all.saturating_add(ands.saturating_mul(calls[place]));
        functions.push(FunctionCost {
            name: component.name.clone(),
            calls: calls[place],
            ands,
            lookups: count(|step| matches!(step, Step::Lookup(_))),
            port_bits: u64::from(component.inputs) + component.outputs.len() as u64,
        });
        let Some(found) = left.iter().position(|(name, _)| *name == component.name) else {
            continue;
        };
        for (span, booked) in &left.remove(found).1 {
            let booked = booked.saturating_mul(calls[place]);
            booked_all = booked_all.saturating_add(booked);
            *lines.entry((span.file, sources.line(*span))).or_default() += booked;
        }
    }
    let name = |file: u32| sources.files.get(file as usize).map_or("", |source| &source.name);
    let lines = lines.into_iter().map(|((file, line), ands)| LineCost {
        file: name(file).to_string(),
        line,
        ands,
    });
    functions.reverse();
    Report {
        ands: ands_all,
        functions,
        lines: lines.collect(),
        unused: booked_all.saturating_sub(ands_all),
    }
}
