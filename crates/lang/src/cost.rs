//! What a program costs, by function and line.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use serde::Serialize;
use symbolon_circuit::{Circuit, Component, Stats, Step, Wire};

use crate::ast::{FnDecl, ItemKind, TypeKind};
use crate::diag::Diagnostics;
use crate::parse::parse;
use crate::source::{Sources, Span};

/// The cost of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// AND gates in all.
    pub ands: u64,
    /// Look-ups in all.
    pub lookups: u64,
    /// The most AND gates and look-ups on any path.
    pub depth: u32,
    /// The most wires that are live at once, with the room that calls take.
    pub live_wires: u64,
    /// The functions whose text has gates in the circuit, the one with the most first.
    pub functions: Vec<FunctionCost>,
    /// The components of the circuit, the main one first.
    pub components: Vec<ComponentCost>,
    /// The lines that ask for AND gates, look-ups, calls or asserts, in order.
    pub lines: Vec<LineCost>,
    /// AND gates that lines ask for and the circuit does not have: no output needs them, or the
    /// optimiser saves them. The sum of what the lines ask for less these is `ands`.
    pub unused: u64,
    /// The functions of which calls hide gates from the optimiser, the one that hides most first.
    pub hints: Vec<Hint>,
}

/// A function that is called as a component and would take fewer gates where it is written out:
/// constants, equal arguments and results that nobody uses save gates there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// The function with its arguments.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line of its name, from 1.
    pub line: u32,
    /// AND gates that the circuit has less if the function is marked `#[inline]`.
    pub saves: u64,
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
    /// Look-ups, likewise.
    pub lookups: u64,
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
    /// The most AND gates and look-ups on any path through one call, with those of the components
    /// that it calls.
    pub depth: u32,
    /// The most of its wires that are live at once, those in the components that it calls left out.
    pub live_wires: u64,
    /// XOR gates of one call that stand between calls of other components; 0 where it calls none.
    pub glue: u64,
}

/// The cost of a line.
#[derive(Clone, Debug, Serialize)]
pub struct LineCost {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// AND gates, each component counted as often as it is called. What the optimiser writes in the
    /// place of others belongs to the line whose value it computes.
    pub ands: u64,
    /// AND gates that the line asks for, likewise, with those that no output needs or that the
    /// optimiser saves.
    pub asked: u64,
    /// Look-ups, likewise.
    pub lookups: u64,
    /// Calls of components.
    pub calls: u64,
    /// Bits that go into these calls and come out.
    pub port_bits: u64,
    /// Asserts that are checked.
    pub asserts: u64,
    /// XOR gates between calls of components, which `duplo` makes part of its solderings.
    pub glue: u64,
    /// AND gates and look-ups on one longest path through the line's component, with those in what
    /// the line calls, as it is written. Over a component's lines the sum is its depth, before the
    /// optimiser changes it. The most, if several components have the line.
    pub depth: u64,
    /// Wires that the line writes among those that are live when its component has most, likewise.
    pub live_wires: u64,
}

/// The gates of a circuit, each component counted as often as it is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// AND gates.
    pub ands: u64,
    /// AND gates that were asked for; only where gates are booked by place.
    pub asked: u64,
    /// Look-ups.
    pub lookups: u64,
    /// Calls of components; only where gates are booked by place.
    pub calls: u64,
    /// Bits of these calls' inputs and outputs.
    pub port_bits: u64,
    /// Asserts that are checked, likewise.
    pub asserts: u64,
    /// XOR gates between calls, likewise.
    pub glue: u64,
    /// Depth on a longest path, likewise.
    pub depth: u64,
    /// Live wires, likewise.
    pub live_wires: u64,
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        self.ands = self.ands.saturating_add(other.ands);
        self.asked = self.asked.saturating_add(other.asked);
        self.lookups = self.lookups.saturating_add(other.lookups);
        self.calls = self.calls.saturating_add(other.calls);
        self.port_bits = self.port_bits.saturating_add(other.port_bits);
        self.asserts = self.asserts.saturating_add(other.asserts);
        self.glue = self.glue.saturating_add(other.glue);
        self.depth = self.depth.saturating_add(other.depth);
        self.live_wires = self.live_wires.saturating_add(other.live_wires);
    }
}

impl Totals {
    fn times(self, calls: u64) -> Totals {
        Totals {
            ands: self.ands.saturating_mul(calls),
            asked: self.asked.saturating_mul(calls),
            lookups: self.lookups.saturating_mul(calls),
            calls: self.calls.saturating_mul(calls),
            port_bits: self.port_bits.saturating_mul(calls),
            asserts: self.asserts.saturating_mul(calls),
            glue: self.glue.saturating_mul(calls),
            // These do not grow with the calls.
            ..self
        }
    }

    /// Counts without walking through calls.
    pub fn of(circuit: &Circuit) -> Totals {
        let calls = call_counts(circuit);
        let mut totals = Totals::default();
        for (component, calls) in circuit.components().iter().zip(calls) {
            totals += own_gates(component).times(calls);
        }
        totals
    }
}

/// Gates by the line that asks for them.
#[derive(Default)]
pub struct Costs {
    /// For each component, in the order they were finished: its name, and the gates of each place.
    pub components: Vec<(String, HashMap<Span, Totals>)>,
    /// The functions that hide gates, each with its place and how many.
    pub hints: Vec<(String, Span, u64)>,
}

/// Returns how often each component is called in all.
fn call_counts(circuit: &Circuit) -> Vec<u64> {
    let components = circuit.components();
    let mut calls = vec![0u64; components.len()];
    if let Some(main) = calls.last_mut() {
        *main = 1;
    }
    // Callers come after what they call.
    for (place, component) in components.iter().enumerate().rev() {
        for (used, rounds) in component.uses() {
            let times = calls[place].saturating_mul(rounds);
            let callee = &mut calls[used as usize];
            *callee = callee.saturating_add(times);
        }
    }
    calls
}

/// Counts AND gates and look-ups of a component, without those of its calls.
fn own_gates(component: &Component) -> Totals {
    let count =
        |kind: fn(&Step) -> bool| component.steps.iter().filter(|step| kind(step)).count() as u64;
    let ands = count(|step| matches!(step, Step::And { .. }));
    Totals { ands, lookups: count(|step| matches!(step, Step::Lookup(_))), ..Totals::default() }
}

/// Returns what the components of a circuit cost, the main one first.
pub fn component_costs(circuit: &Circuit) -> Vec<ComponentCost> {
    let depths = depths(circuit);
    let one = |((component, calls), depth): ((&Component, u64), u32)| {
        let Totals { ands, lookups, .. } = own_gates(component);
        let port_bits = u64::from(component.inputs) + component.outputs.len() as u64;
        let (name, live_wires) = (component.name.clone(), live_wires(circuit, component));
        let is_xor = |step: &&Step| matches!(step, Step::Xor { .. });
        let glue = match component.uses().next() {
            Some(_) => component.steps.iter().filter(is_xor).count() as u64,
            None => 0,
        };
        ComponentCost { name, calls, ands, lookups, port_bits, depth, live_wires, glue }
    };
    let calls = circuit.components().iter().zip(call_counts(circuit));
    calls.zip(depths).rev().map(one).collect()
}

/// Returns the wires that a step reads.
fn reads(component: &Component, step: &Step) -> Vec<Wire> {
    match *step {
        Step::Xor { a, b, .. } | Step::And { a, b, .. } => vec![a, b],
        Step::Inv { a, .. } => vec![a],
        Step::Const { .. } => Vec::new(),
        Step::Call(call) => {
            let call = component.calls[call as usize];
            let ranges = &component.call_args[call.first_arg as usize..];
            let ranges = ranges[..call.arg_count as usize].iter();
            ranges.flat_map(|range| range.first..range.first + range.len).collect()
        }
        Step::Repeat(repeat) => component.read_by(component.repeats[repeat as usize]).collect(),
        Step::Lookup(lookup) => {
            let lookup = component.lookups[lookup as usize];
            component.lookup_inputs[lookup.first_input as usize..][..lookup.input_count as usize]
                .to_vec()
        }
    }
}

/// Returns the wires that a step writes.
fn writes(circuit: &Circuit, component: &Component, step: &Step) -> Range<Wire> {
    match *step {
        Step::Xor { out, .. }
        | Step::And { out, .. }
        | Step::Inv { out, .. }
        | Step::Const { out, .. } => out..out + 1,
        Step::Call(call) => {
            let call = component.calls[call as usize];
            let outputs = circuit.components()[call.component as usize].outputs.len() as u32;
            call.first_output..call.first_output + outputs
        }
        Step::Repeat(repeat) => {
            let repeat = component.repeats[repeat as usize];
            let outputs = circuit.components()[repeat.component as usize].outputs.len() as u32;
            repeat.first_output..repeat.first_output + component.written_by(repeat, outputs)
        }
        Step::Lookup(lookup) => {
            let lookup = component.lookups[lookup as usize];
            lookup.first_output..lookup.first_output + lookup.output_count
        }
    }
}

/// Returns the depth of each component if all its inputs are available at once.
fn depths(circuit: &Circuit) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::with_capacity(circuit.components().len());
    for component in circuit.components() {
        let mut depths = vec![0u32; component.wires as usize];
        let mut deepest = 0;
        for step in &component.steps {
            let own = match *step {
                Step::And { .. } | Step::Lookup(_) => 1,
                Step::Call(call) => all[component.calls[call as usize].component as usize],
                Step::Repeat(repeat) => {
                    // Rounds that pass nothing on do not wait for each other.
                    let repeat = component.repeats[repeat as usize];
                    let rounds = if component.carried_by(repeat) > 0 { repeat.count } else { 1 };
                    all[repeat.component as usize].saturating_mul(rounds)
                }
                _ => 0,
            };
            let before = reads(component, step).into_iter().map(|wire| depths[wire as usize]).max();
            let depth = before.unwrap_or(0).saturating_add(own);
            writes(circuit, component, step).for_each(|wire| depths[wire as usize] = depth);
            deepest = deepest.max(depth);
        }
        all.push(deepest);
    }
    all
}

/// Returns the most wires of a component that are live at once: written, and still to be read.
fn live_wires(circuit: &Circuit, component: &Component) -> u64 {
    let mut last = vec![0usize; component.wires as usize];
    for (place, step) in component.steps.iter().enumerate() {
        reads(component, step).into_iter().for_each(|wire| last[wire as usize] = place);
    }
    let end = component.steps.len();
    component.outputs.iter().for_each(|&wire| last[wire as usize] = end);
    // Wires die after the step that reads them last.
    let mut dying = vec![0u64; end + 1];
    let mut live = u64::from(component.inputs);
    last[..component.inputs as usize].iter().for_each(|&place| dying[place] += 1);
    let mut most = live;
    for (place, step) in component.steps.iter().enumerate() {
        for wire in writes(circuit, component, step) {
            live += 1;
            dying[last[wire as usize].max(place)] += 1;
        }
        most = most.max(live);
        live -= dying[place];
    }
    most
}

/// Puts a program's cost together.
pub fn report(circuit: &Circuit, costs: &Costs, sources: &Sources) -> Report {
    let components = circuit.components();
    let calls = call_counts(circuit);
    let mut lines: BTreeMap<(u32, u32), Totals> = BTreeMap::new();
    let mut functions = Functions::default();
    let mut asked = 0u64;
    let Totals { ands, lookups, .. } = Totals::of(circuit);
    // The components of each name, in order.
    let mut left: HashMap<&str, VecDeque<&HashMap<Span, Totals>>> = HashMap::new();
    for (name, booked) in &costs.components {
        left.entry(name).or_default().push_back(booked);
    }
    for (place, component) in components.iter().enumerate() {
        let same = left.get_mut(component.name.as_str());
        let Some(found) = same.and_then(VecDeque::pop_front) else { continue };
        let mut own: BTreeMap<(u32, u32), Totals> = BTreeMap::new();
        for (span, booked) in found {
            let mut booked = booked.times(calls[place]);
            asked = asked.saturating_add(booked.asked);
            if component.uses().next().is_none() {
                booked.glue = 0;
            }
            if booked != Totals::default() {
                *own.entry((span.file, sources.line(*span))).or_default() += booked;
            }
            functions.book(*span, booked, sources);
        }
        for (line, totals) in own {
            let known = lines.entry(line).or_default();
            let depth = known.depth.max(totals.depth);
            let live_wires = known.live_wires.max(totals.live_wires);
            *known += totals;
            (known.depth, known.live_wires) = (depth, live_wires);
        }
    }
    let name = |file: u32| sources.files.get(file as usize).map_or("", |source| &source.name);
    let lines = lines.into_iter().map(|((file, line), totals)| LineCost {
        file: name(file).to_string(),
        line,
        ands: totals.ands,
        asked: totals.asked,
        lookups: totals.lookups,
        calls: totals.calls,
        port_bits: totals.port_bits,
        asserts: totals.asserts,
        glue: totals.glue,
        depth: totals.depth,
        live_wires: totals.live_wires,
    });
    let stats = Stats::of(circuit);
    let hint = |(function, span, saves): &(String, Span, u64)| Hint {
        function: function.clone(),
        file: sources.name(*span).to_string(),
        line: sources.line(*span),
        saves: *saves,
    };
    Report {
        ands,
        lookups,
        depth: stats.and_depth,
        live_wires: stats.live_width,
        functions: functions.costs(sources),
        components: component_costs(circuit),
        lines: lines.collect(),
        unused: asked.saturating_sub(ands),
        hints: costs.hints.iter().map(hint).collect(),
    }
}

/// The functions of the files that gates are booked to.
#[derive(Default)]
struct Functions {
    /// For each file the functions: from the name to the end, the name, and the gates.
    files: BTreeMap<u32, Vec<(Span, String, Totals)>>,
}

impl Functions {
    fn book(&mut self, at: Span, gates: Totals, sources: &Sources) {
        let functions = self.files.entry(at.file).or_insert_with(|| {
            let text = sources.files.get(at.file as usize).map_or("", |source| &source.text);
            functions_of(at.file, text)
        });
        // Functions are in order, and none is in another.
        let after = functions.partition_point(|(span, ..)| span.start <= at.start);
        if let Some(found) = after.checked_sub(1).and_then(|place| functions.get_mut(place))
            && at.start < found.0.end
        {
            found.2 += gates;
        }
    }

    fn costs(self, sources: &Sources) -> Vec<FunctionCost> {
        let cost =
            |(span, name, Totals { ands, lookups, .. }): (Span, String, Totals)| FunctionCost {
                name,
                file: sources.name(span).to_string(),
                line: sources.line(span),
                ands,
                lookups,
            };
        let all = self
            .files
            .into_values()
            .flatten()
            .filter(|(.., gates)| gates.ands > 0 || gates.lookups > 0);
        let mut costs: Vec<FunctionCost> = all.map(cost).collect();
        costs.sort_by_key(|cost| std::cmp::Reverse(cost.ands));
        costs
    }
}

fn functions_of(file: u32, text: &str) -> Vec<(Span, String, Totals)> {
    let one = |decl: &FnDecl, owner: &str| {
        (decl.name.span.to(decl.body.span), format!("{owner}{}", decl.name.name), Totals::default())
    };
    let mut functions = Vec::new();
    for item in parse(file, text, &mut Diagnostics::default()).items {
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
