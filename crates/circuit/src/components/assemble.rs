//! Turns a selection of components into slots and connections.
//!
//! The program is walked once. Calls of components that are not selected are written out, and the
//! rounds of repeats are taken one by one as calls. What is left is a list of nodes: bits of
//! inputs, outputs of calls, and gates. The *level* of a node is the number of consecutive calls on
//! which it depends. An AND gate is *grouped*, and so is a gate that depends on an AND gate of its
//! own level: it goes into the one component of leftover gates of that level, which is evaluated
//! before the calls of that level. All other gates are sums of wires, and cost nothing. (A sum of
//! more than [`MAX_TERMS`] terms is grouped, too: every wire that reads it would repeat the terms.)

use std::collections::HashMap;

use super::{ComponentGraph, Kind, Slot, Sums, Wire};
use crate::{
    Call, Circuit, CircuitError, Component, Input, Output, Program, Receivers, Rounds, Source,
    Step, Type,
};

/// The most terms of a sum, counted with multiplicity.
const MAX_TERMS: u32 = 64;

/// The most nodes at the top level, of 24 bytes each.
pub const MAX_NODES: u64 = 1 << 26;

/// The name of components of leftover gates.
pub const LEFTOVER: &str = "leftover gates";

type NodeId = u32;

#[derive(Clone, Copy)]
enum Op {
    /// A bit of an input, or an output of a call.
    Wire,
    Xor(NodeId, NodeId),
    And(NodeId, NodeId),
    Inv(NodeId),
    Const(bool),
}

#[derive(Clone, Copy)]
struct Node {
    op: Op,
    level: u32,
    /// Whether it is in the component of leftover gates of its level.
    grouped: bool,
    /// Upper bound on the number of terms of its sum.
    terms: u32,
}

/// A call of a selected component.
struct Made {
    component: usize,
    args: Vec<NodeId>,
    first_output: NodeId,
    level: u32,
}

/// A call that is being written out.
struct Frame<'a> {
    component: &'a Component,
    step: usize,
    values: Vec<NodeId>,
    /// Where the outputs go in the caller; `None` for a round of a repeat.
    first_output: Option<Wire>,
    /// The repeat in progress.
    repeat: Option<Repeating<'a>>,
}

/// A repeat whose rounds are being written out.
struct Repeating<'a> {
    rounds: Rounds<'a>,
    component: usize,
    /// How many outputs each round carries to the next.
    carried: usize,
    /// Where the carried outputs of the last round go.
    first_output: Wire,
    /// The outputs of the previous round.
    last: Vec<NodeId>,
    /// Where the next round's other outputs go.
    next: Wire,
}

impl Repeating<'_> {
    /// Puts a round's outputs in their places.
    fn end_round(&mut self, values: &mut [NodeId], outputs: Vec<NodeId>) {
        put(values, self.next, &outputs[self.carried..]);
        self.next += (outputs.len() - self.carried) as Wire;
        self.last = outputs;
    }
}

/// The top level of a program.
struct TopLevel<'a> {
    components: &'a [Component],
    selected: &'a [bool],
    nodes: Vec<Node>,
    calls: Vec<Made>,
}

impl<'a> TopLevel<'a> {
    fn wire(&mut self, level: u32) -> NodeId {
        self.nodes.push(Node { op: Op::Wire, level, grouped: false, terms: 1 });
        self.nodes.len() as NodeId - 1
    }

    fn gate(&mut self, op: Op) -> NodeId {
        let operands: &[NodeId] = match &op {
            Op::Xor(a, b) | Op::And(a, b) => &[*a, *b],
            Op::Inv(a) => &[*a],
            Op::Wire | Op::Const(_) => &[],
        };
        let nodes = operands.iter().map(|&id| self.nodes[id as usize]);
        let level = nodes.clone().map(|node| node.level).max().unwrap_or(0);
        // Outside its group, a grouped node is a single wire.
        let terms = nodes.clone().map(|node| if node.grouped { 1 } else { node.terms });
        let terms = 1 + terms.sum::<u32>() - u32::from(matches!(op, Op::Xor(..)));
        let grouped = matches!(op, Op::And(..))
            || terms > MAX_TERMS
            || nodes.clone().any(|node| node.grouped && node.level == level);
        self.nodes.push(Node { op, level, grouped, terms });
        self.nodes.len() as NodeId - 1
    }

    /// Walks the main component and returns the nodes of the outputs.
    fn walk(&mut self, inputs: usize) -> Vec<NodeId> {
        let main = self.components.len() - 1;
        let args: Vec<NodeId> = (0..inputs).map(|_| self.wire(0)).collect();
        if self.selected[main] {
            return self.call(main, args);
        }
        let frame = |component: &'a Component, args: Vec<NodeId>, first_output| {
            let mut values = args;
            values.resize(component.wires as usize, 0);
            Frame { component, step: 0, values, first_output, repeat: None }
        };
        let mut stack = vec![frame(&self.components[main], args, Some(0))];
        loop {
            let top = stack.last_mut().expect("the main component is there until it ends");
            if let Some(repeat) = &mut top.repeat {
                let Some(args) = round_args(repeat, &top.values, |value| self.gate(value)) else {
                    put(&mut top.values, repeat.first_output, &repeat.last[..repeat.carried]);
                    top.repeat = None;
                    continue;
                };
                let component = repeat.component;
                if self.selected[component] {
                    let outputs = self.call(component, args);
                    repeat.end_round(&mut top.values, outputs);
                } else {
                    stack.push(frame(&self.components[component], args, None));
                }
                continue;
            }
            let Some(&step) = top.component.steps.get(top.step) else {
                let ended = stack.pop().expect("it was just there");
                let outputs = ended.component.outputs.iter();
                let outputs: Vec<NodeId> =
                    outputs.map(|&wire| ended.values[wire as usize]).collect();
                let Some(caller) = stack.last_mut() else { return outputs };
                match (ended.first_output, &mut caller.repeat) {
                    (None, Some(repeat)) => repeat.end_round(&mut caller.values, outputs),
                    (first, _) => put(&mut caller.values, first.unwrap_or(0), &outputs),
                }
                continue;
            };
            top.step += 1;
            let value = |wire: Wire| top.values[wire as usize];
            let (op, out) = match step {
                Step::Xor { a, b, out } => (Op::Xor(value(a), value(b)), out),
                Step::And { a, b, out } => (Op::And(value(a), value(b)), out),
                Step::Inv { a, out } => (Op::Inv(value(a)), out),
                Step::Const { value, out } => (Op::Const(value), out),
                Step::Call(call) => {
                    let Call { component, first_arg, arg_count, first_output } =
                        top.component.calls[call as usize];
                    let ranges = &top.component.call_args[first_arg as usize..];
                    let wires = ranges[..arg_count as usize]
                        .iter()
                        .flat_map(|range| range.first..range.first + range.len);
                    let args = wires.map(value).collect();
                    let component = component as usize;
                    if self.selected[component] {
                        let outputs = self.call(component, args);
                        put(&mut top.values, first_output, &outputs);
                    } else {
                        stack.push(frame(&self.components[component], args, Some(first_output)));
                    }
                    continue;
                }
                Step::Repeat(repeat) => {
                    top.repeat = Some(repeating(top.component, repeat));
                    continue;
                }
                Step::Lookup(_) => unreachable!("look-ups were turned into gates"),
            };
            top.values[out as usize] = self.gate(op);
        }
    }

    /// Calls a selected component and returns the nodes of its outputs.
    fn call(&mut self, component: usize, args: Vec<NodeId>) -> Vec<NodeId> {
        let level = args.iter().map(|&id| self.nodes[id as usize].level).max().unwrap_or(0);
        let first_output = self.nodes.len() as NodeId;
        let outputs = self.components[component].outputs.len();
        let outputs = (0..outputs).map(|_| self.wire(level + 1)).collect();
        self.calls.push(Made { component, args, first_output, level });
        outputs
    }

    /// Returns the wires (nodes) and the constant of which a node is the sum.
    ///
    /// Paper: KNRTT17, slots, Par
    fn sum(&self, id: NodeId) -> (Vec<NodeId>, bool) {
        let (mut terms, mut constant) = (Vec::new(), false);
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            let node = self.nodes[id as usize];
            match node.op {
                Op::Wire => terms.push(id),
                _ if node.grouped => terms.push(id),
                Op::Xor(a, b) => waiting.extend([a, b]),
                Op::Inv(a) => {
                    constant = !constant;
                    waiting.push(a);
                }
                Op::Const(value) => constant ^= value,
                Op::And(..) => unreachable!("AND gates are grouped"),
            }
        }
        terms.sort_unstable();
        // Terms that occur twice cancel.
        let mut kept: Vec<NodeId> = Vec::with_capacity(terms.len());
        for term in terms {
            if kept.last() == Some(&term) {
                kept.pop();
            } else {
                kept.push(term);
            }
        }
        (kept, constant)
    }

    /// Returns which grouped nodes are needed, and which nodes are used outside their group.
    fn uses(&self, outputs: &[NodeId]) -> (Vec<bool>, Vec<bool>) {
        let (mut needed, mut exported) =
            (vec![false; self.nodes.len()], vec![false; self.nodes.len()]);
        let mut waiting: Vec<NodeId> = Vec::new();
        let from_outside = |id: NodeId, waiting: &mut Vec<NodeId>, exported: &mut Vec<bool>| {
            for term in self.sum(id).0 {
                exported[term as usize] = true;
                waiting.push(term);
            }
        };
        let args = self.calls.iter().flat_map(|call| &call.args);
        for &id in outputs.iter().chain(args) {
            from_outside(id, &mut waiting, &mut exported);
        }
        while let Some(id) = waiting.pop() {
            let node = self.nodes[id as usize];
            if !node.grouped || std::mem::replace(&mut needed[id as usize], true) {
                continue;
            }
            for operand in operands(node.op) {
                if self.in_group(operand, node.level) {
                    waiting.push(operand);
                } else {
                    from_outside(operand, &mut waiting, &mut exported);
                }
            }
        }
        (needed, exported)
    }

    fn in_group(&self, id: NodeId, level: u32) -> bool {
        let node = self.nodes[id as usize];
        node.grouped && node.level == level
    }

    /// Makes the component of some grouped nodes of one level. Returns it with the nodes of its
    /// inputs and of its outputs.
    ///
    /// Paper: KNRTT17, slots, Par
    fn group(&self, ids: &[NodeId], exported: &[bool]) -> (Component, Vec<NodeId>, Vec<NodeId>) {
        let level = self.nodes[ids[0] as usize].level;
        let mut wires: HashMap<NodeId, Wire> = HashMap::new();
        let mut inputs = Vec::new();
        for &id in ids {
            for operand in operands(self.nodes[id as usize].op) {
                if !self.in_group(operand, level) {
                    let next = inputs.len() as Wire;
                    wires.entry(operand).or_insert_with(|| {
                        inputs.push(operand);
                        next
                    });
                }
            }
        }
        let mut component = Component {
            name: LEFTOVER.into(),
            inputs: inputs.len() as u32,
            wires: (inputs.len() + ids.len()) as u32,
            ..Component::default()
        };
        let mut outputs = Vec::new();
        for (out, &id) in (component.inputs..).zip(ids) {
            wires.insert(id, out);
            component.steps.push(match self.nodes[id as usize].op {
                Op::Xor(a, b) => Step::Xor { a: wires[&a], b: wires[&b], out },
                Op::And(a, b) => Step::And { a: wires[&a], b: wires[&b], out },
                Op::Inv(a) => Step::Inv { a: wires[&a], out },
                Op::Const(value) => Step::Const { value, out },
                Op::Wire => unreachable!("wires are not grouped"),
            });
            if exported[id as usize] {
                component.outputs.push(out);
                outputs.push(id);
            }
        }
        (component, inputs, outputs)
    }
}

fn repeating(component: &Component, repeat: u32) -> Repeating<'_> {
    let repeat = component.repeats[repeat as usize];
    let carried = component.carried_by(repeat);
    Repeating {
        rounds: component.rounds(repeat),
        component: repeat.component as usize,
        carried: carried as usize,
        first_output: repeat.first_output,
        last: Vec::new(),
        next: repeat.first_output + carried,
    }
}

/// Returns the arguments of the next round, if there is one; `gate` makes constants.
fn round_args(
    repeat: &mut Repeating<'_>,
    values: &[NodeId],
    mut gate: impl FnMut(Op) -> NodeId,
) -> Option<Vec<NodeId>> {
    let mut sources = Vec::new();
    let args = repeat.rounds.next(&mut sources).then_some(sources)?;
    let args = args.into_iter().map(|source| match source {
        Source::Wire(wire) => values[wire as usize],
        Source::Before(output) => repeat.last[output as usize],
        Source::Constant(value) => gate(Op::Const(value)),
    });
    Some(args.collect())
}

fn operands(op: Op) -> impl Iterator<Item = NodeId> {
    let (a, b) = match op {
        Op::Xor(a, b) | Op::And(a, b) => (Some(a), Some(b)),
        Op::Inv(a) => (Some(a), None),
        Op::Wire | Op::Const(_) => (None, None),
    };
    a.into_iter().chain(b)
}

fn put(values: &mut [NodeId], first: Wire, outputs: &[NodeId]) {
    values[first as usize..][..outputs.len()].copy_from_slice(outputs);
}

/// The graph under construction.
struct Assembly<'a> {
    top: TopLevel<'a>,
    circuit: &'a Circuit,
    graph: ComponentGraph,
    /// The wire of every node that has one.
    wires: Vec<Wire>,
    kind_of: HashMap<usize, usize>,
    /// The kinds of leftover gates.
    groups: Vec<(Component, usize)>,
}

impl Assembly<'_> {
    fn add_sum(&self, sums: &mut Sums, id: NodeId) {
        let (terms, constant) = self.top.sum(id);
        sums.push(terms.into_iter().map(|term| self.wires[term as usize]), constant);
    }

    fn slot(&mut self, kind: usize, args: &[NodeId], outputs: impl Iterator<Item = NodeId>) {
        let mut sums = std::mem::take(&mut self.graph.sums);
        let (first_sum, first_output) = (sums.len(), self.graph.wires as Wire);
        args.iter().for_each(|&arg| self.add_sum(&mut sums, arg));
        self.graph.sums = sums;
        for output in outputs {
            self.wires[output as usize] = self.graph.wires as Wire;
            self.graph.wires += 1;
        }
        self.graph.slots.push(Slot { kind, first_sum, first_output });
    }

    /// Returns the kind of a selected component.
    fn kind(&mut self, component: usize) -> Result<usize, CircuitError> {
        if let Some(&kind) = self.kind_of.get(&component) {
            return Ok(kind);
        }
        self.graph.kinds.push(Kind::new(alone(self.circuit.components(), component)?));
        let kind = self.graph.kinds.len() - 1;
        self.kind_of.insert(component, kind);
        Ok(kind)
    }

    /// Returns the kind of a component of leftover gates; equal ones are one kind.
    fn group_kind(&mut self, component: Component) -> Result<usize, CircuitError> {
        if let Some((_, kind)) = self.groups.iter().find(|(known, _)| *known == component) {
            return Ok(*kind);
        }
        self.graph.kinds.push(Kind::new(alone(std::slice::from_ref(&component), 0)?));
        let kind = self.graph.kinds.len() - 1;
        self.groups.push((component, kind));
        Ok(kind)
    }
}

/// Returns a component of a program, and everything that it uses, as a circuit of its own.
///
/// # Errors
/// [`CircuitError::Invalid`] when it is not a valid circuit.
pub fn alone(components: &[Component], index: usize) -> Result<Circuit, CircuitError> {
    let mut needed = vec![false; index + 1];
    needed[index] = true;
    for at in (0..=index).rev() {
        if needed[at] {
            components[at].uses().for_each(|(used, _)| needed[used as usize] = true);
        }
    }
    let mut place = vec![0; index + 1];
    let mut program: Vec<Component> = Vec::new();
    for at in (0..=index).filter(|&at| needed[at]) {
        place[at] = program.len() as u32;
        let mut component = components[at].clone();
        for call in &mut component.calls {
            call.component = place[call.component as usize];
        }
        for repeat in &mut component.repeats {
            repeat.component = place[repeat.component as usize];
        }
        program.push(component);
    }
    let component = &components[index];
    let port = |bits: usize| (bits > 0).then_some(Type::Uint(bits as u32));
    let (name, ports) = ("bits".to_owned(), [component.inputs as usize, component.outputs.len()]);
    let inputs = port(ports[0]).map(|ty| Input { name: name.clone(), ty, owner: 0.into() });
    let outputs = port(ports[1]).map(|ty| Output { name, ty, to: Receivers::All });
    let (inputs, outputs) = (inputs.into_iter().collect(), outputs.into_iter().collect());
    Circuit::new(component.name.clone(), inputs, outputs, Program::from(program))
}

/// Makes the graph of a circuit without look-ups in which the `selected` components are kinds; the
/// caller has made sure that at most [`MAX_NODES`] nodes are left.
///
/// Paper: KNRTT17, slots, Par | components and their connections
///
/// # Errors
/// [`CircuitError::Invalid`] when a component alone is not a valid circuit.
pub fn assemble(circuit: &Circuit, selected: &[bool]) -> Result<ComponentGraph, CircuitError> {
    let components = circuit.components();
    let inputs = circuit.main().inputs as usize;
    let mut top = TopLevel { components, selected, nodes: Vec::new(), calls: Vec::new() };
    let outputs = top.walk(inputs);
    let (needed, exported) = top.uses(&outputs);
    let mut groups: HashMap<u32, Vec<NodeId>> = HashMap::new();
    for (id, node) in (0..).zip(&top.nodes) {
        if needed[id as usize] {
            groups.entry(node.level).or_default().push(id);
        }
    }
    let mut calls = std::mem::take(&mut top.calls);
    calls.sort_by_key(|call| call.level);
    let deepest = calls.iter().map(|call| call.level).chain(groups.keys().copied()).max();
    let wires = (0..top.nodes.len() as Wire).collect();
    let graph = ComponentGraph { inputs, wires: inputs, ..ComponentGraph::default() };
    let (kind_of, kinds) = (HashMap::new(), Vec::new());
    let mut assembly = Assembly { top, circuit, graph, wires, kind_of, groups: kinds };
    let mut calls = calls.into_iter().peekable();
    for level in 0..=deepest.unwrap_or(0) {
        if let Some(ids) = groups.get(&level) {
            let (component, args, outputs) = assembly.top.group(ids, &exported);
            let kind = assembly.group_kind(component)?;
            assembly.slot(kind, &args, outputs.into_iter());
        }
        while let Some(call) = calls.next_if(|call| call.level == level) {
            let kind = assembly.kind(call.component)?;
            let outputs = components[call.component].outputs.len() as NodeId;
            assembly.slot(kind, &call.args, call.first_output..call.first_output + outputs);
        }
    }
    let mut sums = Sums::default();
    outputs.iter().for_each(|&id| assembly.add_sum(&mut sums, id));
    assembly.graph.outputs = sums;
    Ok(assembly.graph)
}
