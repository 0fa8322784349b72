//! Writes files.

use std::io::{self, Write};

use super::{MAGIC, MAX_DEPTH, Ports, VERSION, WITHOUT_TEXTS, check_type, depth, kind};
use crate::{
    Circuit, CircuitError, Component, Failure, Receivers, RepeatArg, Step, Type, WireRange,
};

/// Writes a circuit with everything that it has, in small pieces: pass a buffered writer.
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::InvalidInput`] with a [`CircuitError`] inside when the
/// circuit exceeds the limits of the [format](super).
pub fn write(circuit: &Circuit, out: impl Write) -> io::Result<()> {
    check(circuit).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let mut to = Writer { out };
    to.out.write_all(&MAGIC)?;
    let has_texts = types(circuit).any(Type::has_text);
    to.out.write_all(&[if has_texts { VERSION } else { WITHOUT_TEXTS }])?;
    to.text(circuit.name())?;
    to.list(circuit.inputs(), |to, input| {
        to.text(&input.name)?;
        to.ty(&input.ty)?;
        to.number(input.owner.number().into())
    })?;
    to.list(circuit.outputs(), |to, output| {
        to.text(&output.name)?;
        to.ty(&output.ty)?;
        match &output.to {
            Receivers::All => to.number(0),
            Receivers::Only(parties) => {
                to.number(parties.len() as u64 + 1)?;
                parties.iter().try_for_each(|party| to.number(party.number().into()))
            }
        }
    })?;
    to.list(circuit.failures(), |to, Failure { text, file, line }| {
        to.text(text)?;
        to.text(file)?;
        to.number((*line).into())
    })?;
    to.list(circuit.tables(), |to, table| {
        to.numbers([table.inputs(), table.outputs()])?;
        table.entries().iter().try_for_each(|entry| to.number(*entry))
    })?;
    to.list(circuit.components(), Writer::component)?;
    to.out.flush()
}

fn check(circuit: &Circuit) -> Result<(), CircuitError> {
    let mut ports = Ports::default();
    for component in circuit.components() {
        ports.add(component.inputs.into(), component.outputs.len() as u64)?;
        ports.add_wires(component.wires - component.inputs, component.steps.len())?;
    }
    for ty in types(circuit) {
        if depth(ty) > MAX_DEPTH {
            return Err(CircuitError::invalid("a type is nested too deep for a file"));
        }
        check_type(ty)?;
    }
    Ok(())
}

/// Returns the types of all inputs and outputs.
fn types(circuit: &Circuit) -> impl Iterator<Item = &Type> {
    let inputs = circuit.inputs().iter().map(|input| &input.ty);
    inputs.chain(circuit.outputs().iter().map(|output| &output.ty))
}

struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    fn number(&mut self, mut number: u64) -> io::Result<()> {
        let (mut bytes, mut len) = ([0; 10], 0);
        while number >= 0x80 {
            bytes[len] = number as u8 | 0x80;
            number >>= 7;
            len += 1;
        }
        bytes[len] = number as u8;
        self.out.write_all(&bytes[..=len])
    }

    fn numbers<const N: usize>(&mut self, numbers: [u32; N]) -> io::Result<()> {
        numbers.into_iter().try_for_each(|number| self.number(number.into()))
    }

    /// Writes the difference of a number from the expected one.
    fn difference(&mut self, number: u32, expected: u32) -> io::Result<()> {
        let difference = i64::from(number) - i64::from(expected);
        self.number((difference << 1 ^ difference >> 63) as u64)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.out.write_all(text.as_bytes())
    }

    fn list<T>(
        &mut self,
        list: &[T],
        mut item: impl FnMut(&mut Self, &T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.number(list.len() as u64)?;
        list.iter().try_for_each(|each| item(self, each))
    }

    fn ty(&mut self, ty: &Type) -> io::Result<()> {
        match ty {
            Type::Uint(width) => self.numbers([0, *width]),
            Type::Int(width) => self.numbers([1, *width]),
            Type::Array { len, elem } => {
                self.numbers([2, *len])?;
                self.ty(elem)
            }
            Type::Bool => self.number(3),
            Type::Fixed { int, frac } => self.numbers([4, *int, *frac]),
            Type::Tuple(parts) => {
                self.number(5)?;
                self.list(parts, Self::ty)
            }
            Type::Struct { name, fields } => {
                self.number(6)?;
                self.text(name)?;
                self.list(fields, |to, (name, ty)| {
                    to.text(name)?;
                    to.ty(ty)
                })
            }
            Type::Enum { name, variants } => {
                self.number(7)?;
                self.text(name)?;
                self.list(variants, |to, (name, parts)| {
                    to.text(name)?;
                    to.list(parts, Self::ty)
                })
            }
            Type::F32 => self.number(8),
            Type::F64 => self.number(9),
            Type::Text(len) => self.numbers([10, *len]),
        }
    }

    fn component(&mut self, component: &Component) -> io::Result<()> {
        self.text(&component.name)?;
        self.numbers([component.inputs, component.wires])?;
        self.number(component.steps.len() as u64)?;
        let mut next = Next { wire: component.inputs, call: 0, lookup: 0, repeat: 0 };
        component.steps.iter().try_for_each(|step| self.step(*step, &mut next))?;
        let (mut arg, mut wire) = (0, 0);
        self.list(&component.calls, |to, call| {
            to.number(call.component.into())?;
            to.difference(call.first_arg, arg)?;
            to.number(call.arg_count.into())?;
            to.difference(call.first_output, wire)?;
            arg = call.first_arg.wrapping_add(call.arg_count);
            wire = call.first_output;
            Ok(())
        })?;
        self.ranges(&component.call_args)?;
        self.repeats(component)?;
        let (mut read, mut wire) = (0, 0);
        self.list(&component.lookups, |to, lookup| {
            to.number(lookup.table.into())?;
            to.difference(lookup.first_input, read)?;
            to.number(lookup.input_count.into())?;
            to.difference(lookup.first_output, wire)?;
            to.number(lookup.output_count.into())?;
            read = lookup.first_input.wrapping_add(lookup.input_count);
            wire = lookup.first_output.wrapping_add(lookup.output_count);
            Ok(())
        })?;
        let mut wire = 0;
        self.list(&component.lookup_inputs, |to, &read| {
            to.difference(read, wire)?;
            wire = read.wrapping_add(1);
            Ok(())
        })?;
        let mut outputs = Vec::new();
        component.outputs.iter().for_each(|&wire| WireRange::push(&mut outputs, 0, wire));
        self.ranges(&outputs)
    }

    fn repeats(&mut self, component: &Component) -> io::Result<()> {
        let (mut arg, mut wire) = (0, 0);
        self.list(&component.repeats, |to, repeat| {
            to.numbers([repeat.component, repeat.count])?;
            to.difference(repeat.first_arg, arg)?;
            to.number(repeat.arg_count.into())?;
            to.difference(repeat.first_output, wire)?;
            arg = repeat.first_arg.wrapping_add(repeat.arg_count);
            wire = repeat.first_output;
            Ok(())
        })?;
        let mut next = 0;
        self.list(&component.repeat_args, |to, arg| {
            let (kind, ranges) = match *arg {
                RepeatArg::Fixed(ranges) => (0, ranges),
                RepeatArg::Carried(ranges) => (1, ranges),
                RepeatArg::Strided(ranges) => (2, ranges),
                RepeatArg::Counter { start, step, bits } => {
                    to.number(3)?;
                    to.number(start)?;
                    to.number(step)?;
                    return to.number(bits.into());
                }
            };
            to.number(kind)?;
            to.difference(ranges.first, next)?;
            next = ranges.first.wrapping_add(ranges.count);
            to.number(ranges.count.into())
        })
    }

    fn ranges(&mut self, ranges: &[WireRange]) -> io::Result<()> {
        let mut next = 0;
        self.list(ranges, |to, range| {
            to.difference(range.first, next)?;
            next = range.first.wrapping_add(range.len);
            to.number(range.len.into())
        })
    }

    fn step(&mut self, step: Step, next: &mut Next) -> io::Result<()> {
        match step {
            Step::Xor { a, b, out } => self.gate(kind::XOR, &[a, b], out, &mut next.wire),
            Step::And { a, b, out } => self.gate(kind::AND, &[a, b], out, &mut next.wire),
            Step::Inv { a, out } => self.gate(kind::INV, &[a], out, &mut next.wire),
            Step::Const { value: false, out } => self.gate(kind::ZERO, &[], out, &mut next.wire),
            Step::Const { value: true, out } => self.gate(kind::ONE, &[], out, &mut next.wire),
            Step::Call(call) => self.gate(kind::CALL, &[], call, &mut next.call),
            Step::Lookup(lookup) => self.gate(kind::LOOKUP, &[], lookup, &mut next.lookup),
            Step::Repeat(repeat) => self.gate(kind::REPEAT, &[], repeat, &mut next.repeat),
        }
    }

    /// Writes a step with its operands and its result, which is usually the next wire.
    fn gate(&mut self, kind: u8, operands: &[u32], out: u32, next: &mut u32) -> io::Result<()> {
        let mut distances = operands.iter().map(|wire| out.wrapping_sub(*wire)).peekable();
        let short = distances.next_if(|distance| (1..=kind::LONGEST).contains(distance));
        let first = kind | (short.unwrap_or(0) as u8) << kind::SHORT;
        if out == *next {
            self.out.write_all(&[first])?;
        } else {
            self.out.write_all(&[first | kind::ELSEWHERE])?;
            self.difference(out, *next)?;
        }
        *next = out.wrapping_add(1);
        distances.try_for_each(|distance| self.number(distance.into()))
    }
}

/// What the next step of each kind writes or names by default.
struct Next {
    wire: u32,
    call: u32,
    lookup: u32,
    repeat: u32,
}
