//! The `.bench` format of the ISCAS benchmarks, as far as it is combinational.

use std::collections::HashMap;

use super::{AND, Function, Net, Netlist, OR, Port, joined, shown};
use crate::{Circuit, CircuitError};

/// The truth table of XOR.
const XOR: u8 = 0b0110;

/// Returns whether the first line that is no comment begins such a file.
pub(crate) fn is_bench(line: &[u8]) -> bool {
    let starts =
        |word: &[u8]| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    starts(b"INPUT") || starts(b"OUTPUT") || line.contains(&b'=')
}

/// Reads a file: lines `INPUT(a)`, `OUTPUT(b)` and `b = NAND(a, c)`.
///
/// # Errors
/// [`CircuitError::Parse`] with the line, or [`CircuitError::Invalid`] with the net. Memory stays
/// proportional to the length of `text`.
pub(crate) fn read(text: &[u8], notes: &mut Vec<String>) -> Result<Circuit, CircuitError> {
    let mut reader = Reader::default();
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        reader.line = number + 1;
        let line = line.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii();
        if !line.is_empty() {
            let line =
                std::str::from_utf8(line).map_err(|_| reader.error("the line is not UTF-8"))?;
            reader.read_line(line)?;
        }
    }
    let Reader { nets, mut netlist, inputs, outputs, .. } = reader;
    let port =
        |(name, net): (&str, Net)| Port { name: name.into(), signed: false, nets: vec![net] };
    let inputs = joined(inputs.into_iter().map(port).collect(), false, notes);
    let mut unread = Vec::new();
    for name in outputs {
        let net = match nets.get(name) {
            Some(&net) => net,
            None => netlist.net()?,
        };
        unread.push((name, net));
    }
    let outputs = joined(unread.into_iter().map(port).collect(), false, notes);
    let names: HashMap<Net, &str> = nets.iter().map(|(name, net)| (*net, *name)).collect();
    let name_of = |net| match names.get(&net) {
        Some(name) => format!("net {}", shown(name)),
        None => "this net".to_string(),
    };
    netlist.finish("bench", inputs, outputs, name_of)
}

#[derive(Default)]
struct Reader<'a> {
    line: usize,
    nets: HashMap<&'a str, Net>,
    netlist: Netlist,
    inputs: Vec<(&'a str, Net)>,
    outputs: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn error(&self, reason: impl Into<String>) -> CircuitError {
        CircuitError::Parse { line: self.line, reason: reason.into() }
    }

    fn net(&mut self, name: &'a str) -> Result<Net, CircuitError> {
        let wrong = |c: char| c.is_whitespace() || "(),=".contains(c);
        if name.is_empty() || name.contains(wrong) {
            return Err(self.error(format!("{} is not the name of a net", shown(name))));
        }
        if let Some(&net) = self.nets.get(name) {
            return Ok(net);
        }
        let net = self.netlist.net()?;
        self.nets.insert(name, net);
        Ok(net)
    }

    fn read_line(&mut self, line: &'a str) -> Result<(), CircuitError> {
        if let Some((name, call)) = line.split_once('=') {
            return self.gate(name.trim(), call.trim());
        }
        let (word, name) = self.call(line)?;
        let name = name.trim();
        match &*word.to_ascii_uppercase() {
            "INPUT" => {
                let net = self.net(name)?;
                if !self.netlist.input(net) {
                    return Err(self.driven_twice(name));
                }
                self.inputs.push((name, net));
            }
            "OUTPUT" => {
                self.net(name)?;
                self.outputs.push(name);
            }
            _ => return Err(self.error("a line is `INPUT(a)`, `OUTPUT(b)` or `b = AND(a, c)`")),
        }
        Ok(())
    }

    /// Splits `WORD(inner)`.
    fn call(&self, text: &'a str) -> Result<(&'a str, &'a str), CircuitError> {
        let parts = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let (word, inner) = parts.ok_or_else(|| self.error("`(` or `)` is missing"))?;
        Ok((word.trim(), inner))
    }

    fn gate(&mut self, name: &'a str, call: &'a str) -> Result<(), CircuitError> {
        let out = self.net(name)?;
        if self.netlist.is_driven(out) {
            return Err(self.driven_twice(name));
        }
        if let "VDD" | "GND" = &*call.to_ascii_uppercase() {
            let value = call.eq_ignore_ascii_case("vdd");
            self.netlist.cell(Function::Const(value), &[], out);
            return Ok(());
        }
        let (word, inner) = self.call(call)?;
        let operands: Vec<Net> =
            inner.split(',').map(|name| self.net(name.trim())).collect::<Result<_, _>>()?;
        let (truth, invert) = match &*word.to_ascii_uppercase() {
            "AND" => (AND, false),
            "NAND" => (AND, true),
            "OR" => (OR, false),
            "NOR" => (OR, true),
            "XOR" => (XOR, false),
            "XNOR" | "NXOR" => (XOR, true),
            word @ ("NOT" | "INV" | "BUF" | "BUFF") => {
                let [operand] = operands[..] else {
                    return Err(self.error(format!("{word} takes one net")));
                };
                let invert = matches!(word, "NOT" | "INV");
                self.netlist.cell(Function::Unary { invert }, &[operand], out);
                return Ok(());
            }
            "DFF" | "LATCH" => {
                return Err(self.error("a flip-flop: only combinational circuits can be computed"));
            }
            word if word.starts_with("LUT") => {
                return Err(self.error("a look-up: write gates (`write_bench -l` in ABC)"));
            }
            word => return Err(self.error(format!("the gate {} is not known", shown(word)))),
        };
        let mut all = operands[0];
        for &operand in &operands[1..] {
            all = self.netlist.fresh(Function::Binary(truth), &[all, operand])?;
        }
        self.netlist.cell(Function::Unary { invert }, &[all], out);
        Ok(())
    }

    fn driven_twice(&self, name: &str) -> CircuitError {
        self.error(format!("net {} has two drivers", shown(name)))
    }
}
