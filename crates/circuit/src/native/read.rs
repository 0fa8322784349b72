//! Reading files that may be wrong or hostile.

use symbolon_common::PartyId;

use super::{MAGIC, MAX_DEPTH, OLDEST, Ports, VERSION, WITHOUT_TEXTS, check_type, is_native, kind};
use crate::{
    Call, Circuit, CircuitError, Component, Failure, Input, Lookup, Output, Program, Ranges,
    Receivers, Repeat, RepeatArg, Step, Table, Type, Wire, WireRange,
};

type Result<T> = std::result::Result<T, CircuitError>;

/// Reads a circuit.
///
/// # Errors
/// [`CircuitError::Invalid`], with the place in the file, when the bytes are not a file of a
/// supported version, exceed the limits of the [format](super), continue after the circuit, or are
/// not a valid circuit.
pub fn read(bytes: &[u8]) -> Result<Circuit> {
    if !is_native(bytes) {
        return Err(CircuitError::invalid("the file does not begin as an .sbc file does"));
    }
    let mut from = Reader { bytes, at: MAGIC.len(), ports: Ports::default(), version: 0 };
    from.version = from.byte()?;
    if !(OLDEST..=VERSION).contains(&from.version) {
        return Err(CircuitError::invalid(format!(
            "the file has version {} of the format; this program reads versions {OLDEST} to \
             {VERSION}",
            from.version
        )));
    }
    let name = from.text()?;
    let inputs =
        from.list(|from| Ok(Input { name: from.text()?, ty: from.port()?, owner: from.party()? }))?;
    let outputs = from
        .list(|from| Ok(Output { name: from.text()?, ty: from.port()?, to: from.receivers()? }))?;
    let failures = from
        .list(|from| Ok(Failure { text: from.text()?, file: from.text()?, line: from.small()? }))?;
    let tables = from.list(Reader::table)?;
    let components = from.list(Reader::component)?;
    if from.at < bytes.len() {
        return Err(from.error("the circuit ends here, but the file continues"));
    }
    let circuit = Circuit::new(name, inputs, outputs, Program { components, tables })?;
    Ok(circuit.with_failures(failures))
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    ports: Ports,
    version: u8,
}

impl Reader<'_> {
    fn error(&self, reason: impl std::fmt::Display) -> CircuitError {
        CircuitError::invalid(format!("byte {}: {reason}", self.at))
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).ok_or_else(|| self.error("the file ends early"))?;
        self.at += 1;
        Ok(*byte)
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                // Each number has one encoding: a last byte of 0 would add nothing.
                let overlong = byte == 0 && shift > 0;
                return if overlong { Err(self.error("an overlong number")) } else { Ok(number) };
            }
        }
        Err(self.error("a number is too large"))
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Result<T> {
        T::try_from(self.number()?).map_err(|_| self.error("a number is too large"))
    }

    fn party(&mut self) -> Result<PartyId> {
        Ok(self.small::<u16>()?.into())
    }

    /// Reads a number by its difference from the expected one.
    fn difference(&mut self, expected: u32) -> Result<u32> {
        let number = self.number()?;
        let difference = (number >> 1) as i64 ^ -((number & 1) as i64);
        let number = i64::from(expected).checked_add(difference);
        number
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| self.error("a difference leads out of range"))
    }

    fn text(&mut self) -> Result<String> {
        let length: usize = self.small()?;
        let text = self.bytes[self.at..]
            .get(..length)
            .ok_or_else(|| self.error("a text goes beyond the end of the file"))?;
        let text = std::str::from_utf8(text).map_err(|_| self.error("a text is not UTF-8"))?;
        self.at += length;
        Ok(text.to_string())
    }

    /// Reads a list whose items take at least a byte each; memory grows with the bytes that are
    /// read.
    fn list<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.number()?;
        self.items(count, item)
    }

    fn items<T>(
        &mut self,
        count: u64,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(self.error("a list has more items than the file has bytes"));
        }
        (0..count).map(|_| item(self)).collect()
    }

    fn port(&mut self) -> Result<Type> {
        let ty = self.ty(MAX_DEPTH)?;
        check_type(&ty)?;
        Ok(ty)
    }

    /// Reads a type that is nested at most this deep.
    fn ty(&mut self, depth: usize) -> Result<Type> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.error("a type is nested too deep"));
        };
        Ok(match self.number()? {
            0 => Type::Uint(self.small()?),
            1 => Type::Int(self.small()?),
            2 => Type::Array { len: self.small()?, elem: Box::new(self.ty(depth)?) },
            3 => Type::Bool,
            4 => Type::Fixed { int: self.small()?, frac: self.small()? },
            5 => Type::Tuple(self.list(|from| from.ty(depth))?),
            6 => {
                let name = self.text()?;
                Type::Struct {
                    name,
                    fields: self.list(|from| Ok((from.text()?, from.ty(depth)?)))?,
                }
            }
            7 => {
                let name = self.text()?;
                let variants =
                    self.list(|from| Ok((from.text()?, from.list(|from| from.ty(depth))?)))?;
                if variants.is_empty() {
                    return Err(self.error("an enumeration has no variants"));
                }
                Type::Enum { name, variants }
            }
            8 => Type::F32,
            9 => Type::F64,
            10 if self.version > WITHOUT_TEXTS => Type::Text(self.small()?),
            _ => return Err(self.error("an unknown kind of type")),
        })
    }

    fn receivers(&mut self) -> Result<Receivers> {
        Ok(match self.number()? {
            0 => Receivers::All,
            count => Receivers::Only(self.items(count - 1, Reader::party)?),
        })
    }

    fn table(&mut self) -> Result<Table> {
        let (inputs, outputs) = (self.small()?, self.small()?);
        Table::check_shape(inputs, outputs)?;
        Table::new(inputs, outputs, self.items(1 << inputs, Reader::number)?)
    }

    fn component(&mut self) -> Result<Component> {
        let name = self.text()?;
        let (inputs, wires): (u32, u32) = (self.small()?, self.small()?);
        self.ports.add(u64::from(inputs), 0)?;
        let mut next = [inputs, 0, 0, 0];
        let steps = self.list(|from| from.step(&mut next))?;
        self.ports.add_wires(wires.saturating_sub(inputs), steps.len())?;
        let (mut arg, mut wire) = (0, 0);
        let calls = self.list(|from| {
            let component = from.small()?;
            let (first_arg, arg_count) = (from.difference(arg)?, from.small()?);
            arg = first_arg.wrapping_add(arg_count);
            wire = from.difference(wire)?;
            Ok(Call { component, first_arg, arg_count, first_output: wire })
        })?;
        let call_args = self.ranges()?;
        let (repeats, repeat_args) = match self.version {
            OLDEST => (Vec::new(), Vec::new()),
            _ => (self.repeats()?, self.passed()?),
        };
        let (mut read, mut wire) = (0, 0);
        let lookups = self.list(|from| {
            let table = from.small()?;
            let (first_input, input_count) = (from.difference(read)?, from.small()?);
            let (first_output, output_count) = (from.difference(wire)?, from.small()?);
            read = first_input.wrapping_add(input_count);
            wire = first_output.wrapping_add(output_count);
            Ok(Lookup { table, first_input, input_count, first_output, output_count })
        })?;
        let mut read: Wire = 0;
        let lookup_inputs = self.list(|from| {
            let wire = from.difference(read)?;
            read = wire.wrapping_add(1);
            Ok(wire)
        })?;
        let outputs = self.outputs()?;
        Ok(Component {
            name,
            inputs,
            wires,
            steps,
            calls,
            call_args,
            repeats,
            repeat_args,
            lookups,
            lookup_inputs,
            outputs,
        })
    }

    fn repeats(&mut self) -> Result<Vec<Repeat>> {
        let (mut arg, mut wire) = (0, 0);
        self.list(|from| {
            let (component, count) = (from.small()?, from.small()?);
            let (first_arg, arg_count) = (from.difference(arg)?, from.small()?);
            arg = first_arg.wrapping_add(arg_count);
            wire = from.difference(wire)?;
            Ok(Repeat { component, count, first_arg, arg_count, first_output: wire })
        })
    }

    fn passed(&mut self) -> Result<Vec<RepeatArg>> {
        let mut next: u32 = 0;
        self.list(|from| {
            let kind = from.number()?;
            if kind == 3 {
                let (start, step) = (from.number()?, from.number()?);
                return Ok(RepeatArg::Counter { start, step, bits: from.small()? });
            }
            let ranges = Ranges { first: from.difference(next)?, count: from.small()? };
            next = ranges.first.wrapping_add(ranges.count);
            Ok(match kind {
                0 => RepeatArg::Fixed(ranges),
                1 => RepeatArg::Carried(ranges),
                2 => RepeatArg::Strided(ranges),
                _ => return Err(from.error("an unknown kind of argument")),
            })
        })
    }

    fn ranges(&mut self) -> Result<Vec<WireRange>> {
        let mut next: Wire = 0;
        self.list(|from| {
            let (first, len) = (from.difference(next)?, from.small()?);
            next = first.wrapping_add(len);
            Ok(WireRange { first, len })
        })
    }

    fn outputs(&mut self) -> Result<Vec<Wire>> {
        let ranges = self.ranges()?;
        // Counted before they are expanded: a run of any length takes only a few bytes.
        ranges.iter().try_for_each(|range| self.ports.add(0, u64::from(range.len)))?;
        let mut outputs = Vec::new();
        for WireRange { first, len } in ranges {
            let end = first.checked_add(len).ok_or_else(|| self.error("no such output"))?;
            outputs.extend(first..end);
        }
        Ok(outputs)
    }

    /// Reads a step; the array has the wire, the call, the look-up and the repeat that come next.
    fn step(&mut self, [wire, call, lookup, repeat]: &mut [u32; 4]) -> Result<Step> {
        let byte = self.byte()?;
        let kind = byte & kind::MASK;
        let next = match kind {
            kind::CALL => call,
            kind::LOOKUP => lookup,
            kind::REPEAT if self.version > OLDEST => repeat,
            kind::REPEAT => return Err(self.error("an unknown kind of step")),
            _ => wire,
        };
        let elsewhere = byte & kind::ELSEWHERE != 0;
        let out = if elsewhere { self.difference(*next)? } else { *next };
        *next = out.wrapping_add(1);
        let mut short = u32::from(byte & !kind::ELSEWHERE) >> kind::SHORT;
        let mut operand = |from: &mut Self| {
            let distance = match std::mem::take(&mut short) {
                0 => from.small()?,
                short => short,
            };
            Ok(out.wrapping_sub(distance))
        };
        let step = match kind {
            kind::XOR => Step::Xor { a: operand(self)?, b: operand(self)?, out },
            kind::AND => Step::And { a: operand(self)?, b: operand(self)?, out },
            kind::INV => Step::Inv { a: operand(self)?, out },
            kind::ZERO => Step::Const { value: false, out },
            kind::ONE => Step::Const { value: true, out },
            kind::CALL => Step::Call(out),
            kind::LOOKUP => Step::Lookup(out),
            _ => Step::Repeat(out),
        };
        // A step without operands has no distance.
        if short != 0 { Err(self.error("an unknown kind of step")) } else { Ok(step) }
    }
}
