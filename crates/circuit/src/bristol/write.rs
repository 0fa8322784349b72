//! Writing circuit files, in one pass over the plan after one that finds where the outputs come
//! from; memory follows the live wires and the outputs.

use std::io::{self, BufWriter, Write};

use super::Format;
use crate::plan::{And, Batch, Linear, Plan};
use crate::{Circuit, CircuitError};

/// Writes a circuit as Bristol Fashion. Calls are flattened; names, types, owners and receivers are
/// not kept, only the widths.
///
/// Every gate is written as it is. An output that is an input, or the same wire as an earlier
/// output, is written as EQW.
///
/// # Errors
/// Those of `out`.
pub fn write_fashion(circuit: &Circuit, out: impl Write) -> io::Result<()> {
    let widths = |list: Vec<u64>| {
        list.iter().fold(list.len().to_string(), |line, width| format!("{line} {width}"))
    };
    let inputs = widths(circuit.inputs().iter().map(|input| input.ty.width()).collect());
    let outputs = widths(circuit.outputs().iter().map(|output| output.ty.width()).collect());
    Writer::new(circuit, Format::Fashion).write(out, &format!("{inputs}\n{outputs}"))
}

/// Writes a circuit in the old format. Calls are flattened; names, types, owners and receivers are
/// not kept.
///
/// The format has two inputs and one output: further inputs are joined to the second one, further
/// outputs to the first, in wire order. It has no constants and no copies either: these are made
/// from a zero, which is the first input bit XORed with itself.
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::InvalidInput`] with a [`CircuitError`] inside when a constant
/// is needed and the circuit has no inputs to make it from.
pub fn write_old(circuit: &Circuit, out: impl Write) -> io::Result<()> {
    let writer = Writer::new(circuit, Format::Old);
    // Without inputs, every gate comes from a constant, and every output from a gate.
    if writer.inputs == 0 && writer.gates() > 0 {
        let reason = "the old Bristol format cannot write a circuit without inputs";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, CircuitError::invalid(reason)));
    }
    let first = circuit.inputs().first().map_or(0, |input| input.ty.width());
    let rest = writer.inputs - first;
    let outputs = writer.plan.output_slots().len();
    writer.write(out, &format!("{first} {rest} {outputs}"))
}

/// A gate of the walk; operands are whatever the walker numbers wires by.
enum Gate {
    Xor(u64, u64),
    And(u64, u64),
    Inv(u64),
    Const(bool),
}

/// Walks a plan with a number per live wire: inputs are `0 ..`, gates what `gate` makes of them.
/// Gives the outputs' numbers.
fn walk(plan: &Plan, mut gate: impl FnMut(Gate) -> io::Result<u64>) -> io::Result<Vec<u64>> {
    let mut numbers: Vec<u64> = vec![0; plan.slots()];
    for slot in plan.input_slots() {
        numbers[slot] = slot as u64;
    }
    let mut cursor = plan.cursor();
    while let Some(Batch { base, linear, ands, .. }) = cursor.next_batch() {
        let numbers = &mut numbers[base..];
        for op in linear {
            let (out, number) = match *op {
                Linear::Xor { a, b, out } => {
                    (out, gate(Gate::Xor(numbers[a as usize], numbers[b as usize]))?)
                }
                Linear::Inv { a, out } => (out, gate(Gate::Inv(numbers[a as usize]))?),
                Linear::Const { value, out } => (out, gate(Gate::Const(value))?),
                Linear::Copy { from, out } => (out, numbers[from as usize]),
            };
            numbers[out as usize] = number;
        }
        for &And { a, b, out } in ands {
            numbers[out as usize] = gate(Gate::And(numbers[a as usize], numbers[b as usize]))?;
        }
    }
    Ok(plan.output_slots().iter().map(|&slot| numbers[slot as usize]).collect())
}

/// A wire of the file that is an output's and written by the gate that computes it.
struct Direct {
    /// The gate's number in walk order, counted from the number of inputs.
    gate: u64,
    /// The output's wire.
    output: u64,
}

struct Writer {
    format: Format,
    plan: Plan,
    /// Input wires.
    inputs: u64,
    /// By gate.
    direct: Vec<Direct>,
    /// The outputs, as positions, that need a copy.
    copied: Vec<u64>,
    /// Whether a wire that is 0 has to be made first.
    zero: bool,
}

impl Writer {
    fn new(circuit: &Circuit, format: Format) -> Self {
        let plan = Plan::new(circuit);
        let inputs = plan.input_slots().len() as u64;
        let (mut next, mut ones) = (inputs, false);
        let origins = walk(&plan, |gate| {
            ones |= matches!(gate, Gate::Const(true));
            next += 1;
            Ok(next - 1)
        })
        .expect("nothing is written here");
        let mut by_origin: Vec<(u64, u64)> = origins.into_iter().zip(0..).collect();
        by_origin.sort_unstable();
        let (mut direct, mut copied) = (Vec::<Direct>::new(), Vec::new());
        for (gate, output) in by_origin {
            if gate < inputs || direct.last().is_some_and(|last| last.gate == gate) {
                copied.push(output);
            } else {
                direct.push(Direct { gate, output });
            }
        }
        copied.sort_unstable();
        let zero = format == Format::Old && (ones || !copied.is_empty());
        Writer { format, plan, inputs, direct, copied, zero }
    }

    /// The circuit's own gates.
    fn gates(&self) -> u64 {
        let counts = self.plan.counts();
        counts.and + counts.xor + counts.inv + counts.constants
    }

    fn write(&self, out: impl Write, ports: &str) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let gates = self.gates() + self.copied.len() as u64 + u64::from(self.zero);
        let wires = self.inputs + gates;
        let first_output = wires - self.plan.output_slots().len() as u64;
        write!(out, "{gates} {wires}\n{ports}\n\n")?;
        let zero = self.inputs;
        if self.zero {
            writeln!(out, "2 1 0 0 {zero} XOR")?;
        }
        let mut inner = self.inputs + u64::from(self.zero);
        let mut gate_number = self.inputs;
        let mut direct = self.direct.iter().peekable();
        let outputs = walk(&self.plan, |gate| {
            let wire = match direct.next_if(|direct| direct.gate == gate_number) {
                Some(direct) => first_output + direct.output,
                None => {
                    inner += 1;
                    inner - 1
                }
            };
            gate_number += 1;
            match (gate, self.format) {
                (Gate::Xor(a, b), _) => writeln!(out, "2 1 {a} {b} {wire} XOR"),
                (Gate::And(a, b), _) => writeln!(out, "2 1 {a} {b} {wire} AND"),
                (Gate::Inv(a), _) => writeln!(out, "1 1 {a} {wire} INV"),
                (Gate::Const(value), Format::Fashion) => {
                    writeln!(out, "1 1 {} {wire} EQ", u8::from(value))
                }
                (Gate::Const(false), Format::Old) => writeln!(out, "2 1 0 0 {wire} XOR"),
                (Gate::Const(true), Format::Old) => writeln!(out, "1 1 {zero} {wire} INV"),
            }?;
            Ok(wire)
        })?;
        for &output in &self.copied {
            let (from, wire) = (outputs[output as usize], first_output + output);
            match self.format {
                Format::Fashion => writeln!(out, "1 1 {from} {wire} EQW")?,
                Format::Old => writeln!(out, "2 1 {from} {zero} {wire} XOR")?,
            }
        }
        out.flush()
    }
}
