//! Writes circuit files, in one pass over the plan after one that finds where the outputs come
//! from; memory grows with the live wires and the outputs.

use std::convert::Infallible;
use std::io::{self, BufWriter, Write};

use super::{Format, tables};
use crate::plan::Plan;
use crate::plan::flat::{Gate, walk};
use crate::{Circuit, CircuitError};

/// Writes a circuit as Bristol Fashion. Calls are flattened; names, types, owners and receivers are
/// not kept, only the widths.
///
/// Every gate is written as it is, look-ups in the form that the [module](super) describes, which
/// only this project reads: call [`lower_lookups`](crate::lower_lookups) first if others should
/// read the file. An output that is an input, or the same wire as an earlier output, is written as
/// EQW.
///
/// # Errors
/// Those of `out`.
pub fn write_fashion(circuit: &Circuit, out: impl Write) -> io::Result<()> {
    let widths = |list: Vec<u64>| {
        list.iter().fold(list.len().to_string(), |line, width| format!("{line} {width}"))
    };
    let inputs = widths(circuit.inputs().iter().map(|input| input.ty.width()).collect());
    let outputs = widths(circuit.outputs().iter().map(|output| output.ty.width()).collect());
    let plan = Plan::with_lookups(circuit);
    Writer::new(plan, Format::Fashion).write(out, &format!("{inputs}\n{outputs}"))
}

/// Writes a circuit in the old format. Calls are flattened; names, types, owners and receivers are
/// not kept.
///
/// The format has two inputs and one output: further inputs are joined to the second one, further
/// outputs to the first, in wire order. It has no constants and no copies either: these are made
/// from a zero, which is the first input bit XORed with itself. Look-ups are written as gates
/// ([`lower_lookups`](crate::lower_lookups)).
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::InvalidInput`] with a [`CircuitError`] inside when a
/// constant is needed and the circuit has no inputs to make it from.
pub fn write_old(circuit: &Circuit, out: impl Write) -> io::Result<()> {
    let writer = Writer::new(Plan::new(circuit), Format::Old);
    // Without inputs, every gate comes from a constant, and every output from a gate.
    if writer.inputs == 0 && writer.plan.counts().gates() > 0 {
        let reason = "the old Bristol format cannot write a circuit without inputs";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, CircuitError::invalid(reason)));
    }
    let first = circuit.inputs().first().map_or(0, |input| input.ty.width());
    let rest = writer.inputs - first;
    let outputs = writer.plan.output_slots().len();
    writer.write(out, &format!("{first} {rest} {outputs}"))
}

/// An output's wire in the file that is written directly by the gate that computes it.
struct Direct {
    /// Its number among the wires in walk order, the inputs being the first.
    origin: u64,
    /// The output's wire.
    output: u64,
}

struct Writer {
    format: Format,
    plan: Plan,
    /// Input wires.
    inputs: u64,
    /// By origin.
    direct: Vec<Direct>,
    /// The outputs, as positions, that need a copy.
    copied: Vec<u64>,
    /// Whether a wire that is 0 has to be made first.
    zero: bool,
}

impl Writer {
    fn new(plan: Plan, format: Format) -> Self {
        let inputs = plan.input_slots().len() as u64;
        let (mut next, mut ones) = (inputs, false);
        let Ok(origins) = walk(&plan, |gate, outputs| {
            ones |= matches!(gate, Gate::Const(true));
            for output in outputs {
                *output = next;
                next += 1;
            }
            Ok::<(), Infallible>(())
        });
        let mut by_origin: Vec<(u64, u64)> = origins.into_iter().zip(0..).collect();
        by_origin.sort_unstable();
        let (mut direct, mut copied) = (Vec::<Direct>::new(), Vec::new());
        for (origin, output) in by_origin {
            if origin < inputs || direct.last().is_some_and(|last| last.origin == origin) {
                copied.push(output);
            } else {
                direct.push(Direct { origin, output });
            }
        }
        copied.sort_unstable();
        let zero = format == Format::Old && (ones || !copied.is_empty());
        Writer { format, plan, inputs, direct, copied, zero }
    }

    fn write(&self, out: impl Write, ports: &str) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let counts = self.plan.counts();
        let made = self.copied.len() as u64 + u64::from(self.zero);
        let (gates, wires) = (counts.gates() + made, self.inputs + counts.wires() + made);
        let first_output = wires - self.plan.output_slots().len() as u64;
        writeln!(out, "{gates} {wires}\n{ports}")?;
        self.plan.tables().iter().try_for_each(|table| tables::write(table, &mut out))?;
        writeln!(out)?;
        let zero = self.inputs;
        if self.zero {
            writeln!(out, "2 1 0 0 {zero} XOR")?;
        }
        let mut inner = self.inputs + u64::from(self.zero);
        let mut origin = self.inputs;
        let mut direct = self.direct.iter().peekable();
        let outputs = walk(&self.plan, |gate, results| {
            for result in results.iter_mut() {
                *result = match direct.next_if(|direct| direct.origin == origin) {
                    Some(direct) => first_output + direct.output,
                    None => {
                        inner += 1;
                        inner - 1
                    }
                };
                origin += 1;
            }
            self.gate(&mut out, gate, results)
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

    fn gate(&self, out: &mut impl Write, gate: Gate<'_>, results: &[u64]) -> io::Result<()> {
        let zero = self.inputs;
        let wire = results[0];
        match (gate, self.format) {
            (Gate::Xor(a, b), _) => writeln!(out, "2 1 {a} {b} {wire} XOR"),
            (Gate::And(a, b), _) => writeln!(out, "2 1 {a} {b} {wire} AND"),
            (Gate::Inv(a), _) => writeln!(out, "1 1 {a} {wire} INV"),
            (Gate::Const(value), Format::Fashion) => {
                writeln!(out, "1 1 {} {wire} EQ", u8::from(value))
            }
            (Gate::Const(false), Format::Old) => writeln!(out, "2 1 0 0 {wire} XOR"),
            (Gate::Const(true), Format::Old) => writeln!(out, "1 1 {zero} {wire} INV"),
            // The plan of an old file has no look-ups.
            (Gate::Lookup(table, operands), _) => {
                write!(out, "{} {}", operands.len(), results.len())?;
                operands.iter().chain(results).try_for_each(|wire| write!(out, " {wire}"))?;
                writeln!(out, " LUT:{table}")
            }
        }
    }
}
