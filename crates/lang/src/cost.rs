//! What a program costs, by function and line.

use std::collections::BTreeMap;

use serde::Serialize;
use symbolon_circuit::{Circuit, Component, Step};

use crate::ast::{FnDecl, ItemKind, TypeKind};
use crate::diag::Diagnostics;
use crate::lower::Costs;
use crate::parse::parse;
use crate::source::{Sources, Span};

/// The cost of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// AND gates in all.
    pub ands: u64,
    /// Look-ups in all.
    pub lookups: u64,
    /// The functions in whose text gates are asked for, the one with the most first.
    pub functions: Vec<FunctionCost>,
    /// The components of the circuit, the main one first.
    pub components: Vec<ComponentCost>,
    /// The lines that ask for AND gates, in order.
    pub lines: Vec<LineCost>,
    /// AND gates that lines ask for and the circuit does not have: no output needs them. The lines'
    /// sum less these is `ands`.
    pub unused: u64,
}

/// The cost of a function's own text, wherever it is written out.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionCost {
    /// Its name.
    pub name: String,
    /// The file.
    pub file: String,
    /// The line of its name, from 1.
    pub line: u32,
    /// AND gates of all calls together, those of the functions that it calls left out.
    pub ands: u64,
}

/// The cost of a component.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentCost {
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

/// The gates of a circuit, each component counted as often as it is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// AND gates.
    pub ands: u64,
    /// Look-ups.
    pub lookups: u64,
}

impl Totals {
    /// Counts without walking through calls.
    pub fn of(circuit: &Circuit) -> Totals {
        let calls = call_counts(circuit);
        let mut totals = Totals::default();
        for (component, calls) in circuit.components().iter().zip(calls) {
            let (ands, lookups) = own_gates(component);
            totals.ands = totals.ands.saturating_add(ands.saturating_mul(calls));
            totals.lookups = totals.lookups.saturating_add(lookups.saturating_mul(calls));
        }
        totals
    }
}

/// How often each component is called in all.
fn call_counts(circuit: &Circuit) -> Vec<u64> {
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
    calls
}

/// AND gates and look-ups of a component, those of its calls left out.
fn own_gates(component: &Component) -> (u64, u64) {
    let count =
        |kind: fn(&Step) -> bool| component.steps.iter().filter(|step| kind(step)).count() as u64;
    let ands = count(|step| matches!(step, Step::And { .. }));
    (ands, count(|step| matches!(step, Step::Lookup(_))))
}

/// What the components of a circuit cost, the main one first.
pub fn component_costs(circuit: &Circuit) -> Vec<ComponentCost> {
    let one = |(component, calls): (&Component, u64)| {
        let (ands, lookups) = own_gates(component);
        let port_bits = u64::from(component.inputs) + component.outputs.len() as u64;
        ComponentCost { name: component.name.clone(), calls, ands, lookups, port_bits }
    };
    circuit.components().iter().zip(call_counts(circuit)).rev().map(one).collect()
}

/// Puts a program's cost together.
pub fn report(circuit: &Circuit, costs: &Costs, sources: &Sources) -> Report {
    let components = circuit.components();
    let calls = call_counts(circuit);
    let mut lines: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut functions = Functions::default();
    let mut booked_all = 0u64;
    let Totals { ands, lookups } = Totals::of(circuit);
    let mut left: Vec<_> = costs.components.iter().collect();
    for (place, component) in components.iter().enumerate() {
        let Some(found) = left.iter().position(|(name, _)| *name == component.name) else {
            continue;
        };
        for (span, booked) in &left.remove(found).1 {
            let booked = booked.saturating_mul(calls[place]);
            booked_all = booked_all.saturating_add(booked);
            if booked > 0 {
                *lines.entry((span.file, sources.line(*span))).or_default() += booked;
            }
            functions.book(*span, booked, sources);
        }
    }
    let name = |file: u32| sources.files.get(file as usize).map_or("", |source| &source.name);
    let lines = lines.into_iter().map(|((file, line), ands)| LineCost {
        file: name(file).to_string(),
        line,
        ands,
    });
    Report {
        ands,
        lookups,
        functions: functions.costs(sources),
        components: component_costs(circuit),
        lines: lines.collect(),
        unused: booked_all.saturating_sub(ands),
    }
}

/// The functions of the files that gates are booked to.
#[derive(Default)]
struct Functions {
    /// For each file the functions: from the name to the end, the name, and the gates.
    files: BTreeMap<u32, Vec<(Span, String, u64)>>,
}

impl Functions {
    fn book(&mut self, at: Span, ands: u64, sources: &Sources) {
        let functions = self.files.entry(at.file).or_insert_with(|| {
            let text = sources.files.get(at.file as usize).map_or("", |source| &source.text);
            functions_of(at.file, text)
        });
        let holds = |span: &Span| span.start <= at.start && at.start < span.end;
        if let Some(found) = functions.iter_mut().find(|(span, ..)| holds(span)) {
            found.2 += ands;
        }
    }

    fn costs(self, sources: &Sources) -> Vec<FunctionCost> {
        let cost = |(span, name, ands): (Span, String, u64)| FunctionCost {
            name,
            file: sources.name(span).to_string(),
            line: sources.line(span),
            ands,
        };
        let all = self.files.into_values().flatten().filter(|(.., ands)| *ands > 0);
        let mut costs: Vec<FunctionCost> = all.map(cost).collect();
        costs.sort_by_key(|cost| std::cmp::Reverse(cost.ands));
        costs
    }
}

fn functions_of(file: u32, text: &str) -> Vec<(Span, String, u64)> {
    let one = |decl: &FnDecl, owner: &str| {
        (decl.name.span.to(decl.body.span), format!("{owner}{}", decl.name.name), 0)
    };
    let mut functions = Vec::new();
    for item in parse(file, text, &mut Diagnostics::default()) {
        match &item.kind {
            ItemKind::Fn(decl) => functions.push(one(decl, "")),
            ItemKind::Impl(_, ty, methods) => {
                let owner = match &ty.kind {
                    TypeKind::Path(path, _) => path.parts.last(),
                    _ => None,
                };
                let owner = owner.map_or(String::new(), |name| format!("{}::", name.name));
                functions.extend(methods.iter().map(|decl| one(decl, &owner)));
            }
            _ => {}
        }
    }
    functions
}
