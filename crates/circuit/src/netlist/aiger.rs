//! AIGER 1.9, text (`aag`) and binary (`aig`), as far as it is combinational.

use super::{Function, Net, Netlist, Port, joined, shown};
use crate::{Circuit, CircuitError};

/// A binary file does not list its inputs: it may have this many more than bytes.
const MORE_INPUTS: u64 = 1 << 16;

/// Returns whether this is the first line of such a file.
pub(crate) fn is_aiger(bytes: &[u8]) -> bool {
    bytes.starts_with(b"aag ") || bytes.starts_with(b"aig ")
}

/// Reads a file. Inputs and outputs have the names of the symbol table, else `i0`, `o0` and so on.
///
/// # Errors
/// [`CircuitError::Parse`] with the line, or [`CircuitError::Invalid`] with the gate. Memory stays
/// proportional to the length of `bytes`, and [`MORE_INPUTS`].
pub(crate) fn read(bytes: &[u8], notes: &mut Vec<String>) -> Result<Circuit, CircuitError> {
    let mut reader = Reader { rest: bytes, line: 0 };
    let header = reader.header(bytes.len())?;
    let mut netlist = Netlist::default();
    for _ in 0..=header.variables {
        netlist.net()?;
    }
    netlist.cell(Function::Const(false), &[], 0);
    let inputs = reader.inputs(&header, &mut netlist)?;
    let mut outputs = Vec::new();
    for _ in 0..header.outputs {
        let literal = reader.literals::<1>(&header)?[0];
        outputs.push(literal);
    }
    for gate in 0..header.gates {
        let [to, a, b] = match header.binary {
            true => reader.deltas(header.inputs + gate + 1, gate)?,
            false => reader.literals(&header)?,
        };
        // Bit a + 2b is the result for the operands a and b.
        let (not_a, not_b) = (a & 1 == 1, b & 1 == 1);
        let truth = 1 << (u32::from(!not_a) + 2 * u32::from(!not_b));
        let operands = [variable(a), variable(b)];
        let is_even = to & 1 == 0;
        if !is_even || !netlist.cell(Function::Binary(truth), &operands, variable(to)) {
            return Err(reader.error(format!(
                "literal {to} cannot be a gate: it is odd, an input, a constant or another gate"
            )));
        }
    }
    let names = reader.symbols(&header)?;
    let mut ports = [Vec::new(), Vec::new()];
    for (net, name) in inputs.into_iter().zip(names.0) {
        ports[0].push(Port { name, signed: false, nets: vec![net] });
    }
    for (literal, name) in outputs.into_iter().zip(names.1) {
        let net = match literal & 1 {
            0 => variable(literal),
            _ => netlist.fresh(Function::Unary { invert: true }, &[variable(literal)])?,
        };
        ports[1].push(Port { name, signed: false, nets: vec![net] });
    }
    let [inputs, outputs] = ports.map(|ports| joined(ports, false, notes));
    netlist.finish("aiger", inputs, outputs, |net| format!("variable {net}"))
}

fn variable(literal: u64) -> Net {
    // The header's limit keeps it below 2^32.
    (literal / 2) as Net
}

struct Header {
    binary: bool,
    /// The greatest variable.
    variables: u64,
    inputs: u64,
    outputs: u64,
    gates: u64,
}

struct Reader<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Reader<'a> {
    fn error(&self, reason: impl Into<String>) -> CircuitError {
        CircuitError::Parse { line: self.line, reason: reason.into() }
    }

    /// Takes a line, or returns `None` at the end of the file.
    fn line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let line = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = &self.rest[end.map_or(self.rest.len(), |end| end + 1)..];
        Some(line.trim_ascii_end())
    }

    fn header(&mut self, length: usize) -> Result<Header, CircuitError> {
        let line = self.line().unwrap_or_default();
        let mut words = line.split(|&byte| byte == b' ');
        let binary = words.next() == Some(b"aig");
        let mut numbers = Vec::new();
        for word in words {
            let number = number(word).filter(|_| numbers.len() < 9);
            numbers.push(number.ok_or_else(|| self.error("a header has five to nine numbers"))?);
        }
        let [variables, inputs, latches, outputs, gates, more @ ..] = &numbers[..] else {
            return Err(self.error("a header has five numbers: M I L O A"));
        };
        if *latches > 0 {
            return Err(self.error("latches: only combinational circuits can be computed"));
        }
        if more.iter().any(|&count| count > 0) {
            return Err(self.error("properties (B, C, J, F) are not read: write outputs only"));
        }
        let most = MORE_INPUTS + length as u64;
        if [*variables, *inputs, *outputs, *gates].iter().any(|&count| count > most) {
            return Err(self.error("the header names more variables than the file has bytes for"));
        }
        let header = Header {
            binary,
            variables: *variables,
            inputs: *inputs,
            outputs: *outputs,
            gates: *gates,
        };
        let fits = match binary {
            true => header.inputs + header.gates == header.variables,
            false => header.inputs + header.gates <= header.variables,
        };
        match fits {
            true => Ok(header),
            false => Err(self.error("the numbers of inputs and gates do not match M")),
        }
    }

    /// Reads the inputs, which a binary file does not list.
    fn inputs(&mut self, header: &Header, netlist: &mut Netlist) -> Result<Vec<Net>, CircuitError> {
        let mut nets = Vec::new();
        for input in 1..=header.inputs {
            let literal = match header.binary {
                true => 2 * input,
                false => self.literals::<1>(header)?[0],
            };
            if literal & 1 == 1 || !netlist.input(variable(literal)) {
                let message = format!("literal {literal} cannot be an input: it is odd, or taken");
                return Err(self.error(message));
            }
            nets.push(variable(literal));
        }
        Ok(nets)
    }

    /// Reads a line of literals.
    fn literals<const N: usize>(&mut self, header: &Header) -> Result<[u64; N], CircuitError> {
        let Some(line) = self.line() else { return Err(self.error("the file ends early")) };
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        let mut literals = [0; N];
        for literal in &mut literals {
            let found = words.next().and_then(number);
            let found = found.filter(|&literal| literal / 2 <= header.variables);
            *literal = found.ok_or_else(|| {
                self.error(format!(
                    "a line of {N} literals of at most {} goes here",
                    2 * header.variables + 1
                ))
            })?;
        }
        match words.next() {
            None => Ok(literals),
            Some(_) => Err(self.error(format!("a line of {N} literals goes here"))),
        }
    }

    /// Reads a gate of a binary file: how much smaller its operands are than its own variable.
    fn deltas(&mut self, own: u64, gate: u64) -> Result<[u64; 3], CircuitError> {
        let to = 2 * own;
        let wrong = || CircuitError::invalid(format!("gate {gate} is cut off, or no gate"));
        let first = self.packed().filter(|delta| (1..=to).contains(delta)).ok_or_else(wrong)?;
        let a = to - first;
        let second = self.packed().filter(|delta| *delta <= a).ok_or_else(wrong)?;
        Ok([to, a, a - second])
    }

    /// Reads a number of seven bits a byte.
    fn packed(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for place in 0..6 {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads the names of inputs and outputs.
    fn symbols(&mut self, header: &Header) -> Result<(Vec<String>, Vec<String>), CircuitError> {
        let mut inputs = vec![None; header.inputs as usize];
        let mut outputs = vec![None; header.outputs as usize];
        while let Some(line) = self.line() {
            // A comment goes up to the end of the file.
            if line == b"c" {
                break;
            }
            let line = std::str::from_utf8(line).map_err(|_| self.error("a name is not UTF-8"))?;
            let entry = line.split_once(' ').and_then(|(place, name)| {
                let names = if place.starts_with('i') { &mut inputs } else { &mut outputs };
                let number = number(place.strip_prefix(['i', 'o'])?.as_bytes())?;
                Some((names.get_mut(usize::try_from(number).ok()?)?, name))
            });
            match entry {
                Some((own, name)) if own.is_none() && !name.is_empty() => {
                    *own = Some(name.to_string());
                }
                _ => {
                    let line = shown(line);
                    return Err(self.error(format!("{line} is not the name of an input or output")));
                }
            }
        }
        let fill = |letter: char, names: Vec<Option<String>>| {
            let names = names.into_iter().enumerate();
            names.map(|(place, name)| name.unwrap_or_else(|| format!("{letter}{place}"))).collect()
        };
        Ok((fill('i', inputs), fill('o', outputs)))
    }
}

/// Returns a number of decimal digits.
fn number(word: &[u8]) -> Option<u64> {
    let digits = !word.is_empty() && word.len() < 12 && word.iter().all(u8::is_ascii_digit);
    if digits { std::str::from_utf8(word).ok()?.parse().ok() } else { None }
}
