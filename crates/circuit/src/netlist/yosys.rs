//! Netlists that Yosys writes by `write_json`, of its simple gates (`$_AND_` and the like).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::{AND, Function, Net, Netlist, OR, Port, joined, shown};
use crate::{Circuit, CircuitError};

/// How to get a netlist of supported cells.
const HINT: &str = "run `synth -flatten; abc -g AND,XOR; opt_clean` before `write_json`";

/// Reads a file.
///
/// # Errors
/// [`CircuitError::Parse`] with the line when it is not JSON of this form, or
/// [`CircuitError::Invalid`] with the cell, port or net. Memory stays proportional to the length of
/// `text`.
pub(crate) fn read(text: &[u8]) -> Result<Circuit, CircuitError> {
    let file: File = serde_json::from_slice(text).map_err(|error| CircuitError::Parse {
        line: error.line(),
        reason: format!("not a netlist in Yosys' JSON: {}", shown(&error.to_string())),
    })?;
    let (name, module) = top(file.modules.0)?;
    let mut nets = Nets::default();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (name, port) in module.ports.0 {
        let ports = match &*port.direction {
            "input" => &mut inputs,
            "output" => &mut outputs,
            other => {
                let (name, other) = (shown(&name), shown(other));
                return Err(CircuitError::invalid(format!("port {name} is {other}")));
            }
        };
        let bits = port.bits.iter().map(|bit| nets.of(bit, &|| format!("port {}", shown(&name))));
        let bits = bits.collect::<Result<Vec<Net>, _>>()?;
        // A port without bits is left out.
        if !bits.is_empty() {
            ports.push(Port { name, signed: port.signed.0, nets: bits });
        }
    }
    for port in &inputs {
        if !port.nets.iter().all(|net| nets.netlist.input(*net)) {
            let name = shown(&port.name);
            return Err(CircuitError::invalid(format!("a bit of input {name} has two drivers")));
        }
    }
    // `flatten` leaves a note of every module that it dissolves.
    for (name, cell) in module.cells.0.into_iter().filter(|(_, cell)| cell.kind != "$scopeinfo") {
        nets.cell(&name, &cell)?;
    }
    let numbers: HashMap<Net, u64> = nets.by_number.iter().map(|(n, net)| (*net, *n)).collect();
    let name_of = |net| match numbers.get(&net) {
        Some(number) => format!("net {number}"),
        None => "a constant".to_string(),
    };
    // Bits with escaped names have no direction: they are read by their indices.
    let notes = &mut Vec::new();
    let (inputs, outputs) = (joined(inputs, false, notes), joined(outputs, false, notes));
    nets.netlist.finish(&name, inputs, outputs, name_of)
}

/// Returns the only module, or the one that is marked as the top.
fn top(mut modules: Vec<(String, Module)>) -> Result<(String, Module), CircuitError> {
    if modules.len() > 1 {
        modules.retain(|(_, module)| module.attributes.is_top);
    }
    match (modules.pop(), modules.is_empty()) {
        (Some(module), true) => Ok(module),
        _ => Err(CircuitError::invalid(
            "the netlist needs one module, or one that is marked as the top: run `hierarchy -top \
             NAME; flatten`",
        )),
    }
}

/// The nets that a file numbers.
#[derive(Default)]
struct Nets {
    netlist: Netlist,
    by_number: HashMap<u64, Net>,
    constants: [Option<Net>; 2],
}

impl Nets {
    fn of(&mut self, bit: &BitJson, place: &dyn Fn() -> String) -> Result<Net, CircuitError> {
        match bit {
            BitJson::Net(number) => {
                if let Some(&net) = self.by_number.get(number) {
                    return Ok(net);
                }
                let net = self.netlist.net()?;
                self.by_number.insert(*number, net);
                Ok(net)
            }
            BitJson::Constant(value) => {
                let constant = &mut self.constants[usize::from(*value)];
                if let Some(net) = *constant {
                    return Ok(net);
                }
                let net = self.netlist.fresh(Function::Const(*value), &[])?;
                *constant = Some(net);
                Ok(net)
            }
            BitJson::Unknown => Err(CircuitError::invalid(format!(
                "{} has a bit without a value (x or z): run `setundef -zero`",
                place()
            ))),
        }
    }

    fn cell(&mut self, name: &str, cell: &CellJson) -> Result<(), CircuitError> {
        let error = |reason: &str| {
            let (name, kind) = (shown(name), shown(&cell.kind));
            CircuitError::invalid(format!("cell {name} of type {kind} {reason}"))
        };
        let (function, pins): (Function, &[&str]) = match &*cell.kind {
            "$_AND_" => (Function::Binary(AND), &["A", "B"]),
            "$_NAND_" => (Function::Binary(!AND & 0xf), &["A", "B"]),
            "$_OR_" => (Function::Binary(OR), &["A", "B"]),
            "$_NOR_" => (Function::Binary(!OR & 0xf), &["A", "B"]),
            "$_XOR_" => (Function::Binary(0b0110), &["A", "B"]),
            "$_XNOR_" => (Function::Binary(0b1001), &["A", "B"]),
            // a ∧ ¬b, a ∨ ¬b.
            "$_ANDNOT_" => (Function::Binary(0b0010), &["A", "B"]),
            "$_ORNOT_" => (Function::Binary(0b1011), &["A", "B"]),
            "$_NOT_" => (Function::Unary { invert: true }, &["A"]),
            "$_BUF_" => (Function::Unary { invert: false }, &["A"]),
            // B if S, else A.
            "$_MUX_" => (Function::Select, &["S", "B", "A"]),
            kind if ["FF", "LATCH", "$_SR_"].iter().any(|word| kind.contains(word)) => {
                return Err(error("keeps state: only combinational circuits can be computed"));
            }
            _ => return Err(error(&format!("is not known: {HINT}"))),
        };
        let mut net = |pin: &str| {
            let bits = cell.connections.0.iter().find(|(known, _)| known == pin);
            match bits.map(|(_, bits)| &bits[..]) {
                Some([bit]) => self.of(bit, &|| format!("cell {}", shown(name))),
                _ => Err(error(&format!("needs one bit at its pin {pin}"))),
            }
        };
        let operands = pins.iter().map(|pin| net(pin)).collect::<Result<Vec<Net>, _>>()?;
        let output = net("Y")?;
        match self.netlist.cell(function, &operands, output) {
            true => Ok(()),
            false => Err(error("drives a net that has a driver")),
        }
    }
}

#[derive(serde::Deserialize)]
struct File {
    modules: Ordered<Module>,
}

#[derive(serde::Deserialize)]
struct Module {
    #[serde(default)]
    attributes: Attributes,
    ports: Ordered<PortJson>,
    cells: Ordered<CellJson>,
}

#[derive(serde::Deserialize)]
struct PortJson {
    direction: String,
    bits: Vec<BitJson>,
    #[serde(default)]
    signed: Flag,
}

#[derive(serde::Deserialize)]
struct CellJson {
    #[serde(rename = "type")]
    kind: String,
    connections: Ordered<Vec<BitJson>>,
}

/// An object, whose members stay in their order: that of ports is the circuit's.
struct Ordered<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let (mut members, mut names) = (Vec::new(), HashSet::new());
                while let Some((name, member)) = map.next_entry::<String, T>()? {
                    // Other readers take the last one: the file would be two circuits.
                    if !names.insert(name.clone()) {
                        return Err(A::Error::custom(format!("a key is given twice: {name}")));
                    }
                    members.push((name, member));
                }
                Ok(Ordered(members))
            }
        }
        from.deserialize_map(Members(PhantomData))
    }
}

/// The attributes of a module, only one of which matters.
#[derive(Default)]
struct Attributes {
    is_top: bool,
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Attributes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attributes, A::Error> {
                let mut attributes = Attributes::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "top" {
                        attributes.is_top = map.next_value::<Flag>()?.0;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(attributes)
            }
        }
        from.deserialize_map(Members)
    }
}

/// A flag, written as a number or as binary digits in a string: set unless it is 0.
#[derive(Clone, Copy, Default)]
struct Flag(bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Flag, E> {
                Ok(Flag(number != 0))
            }

            fn visit_str<E: Error>(self, digits: &str) -> Result<Flag, E> {
                Ok(Flag(digits.contains('1')))
            }
        }
        from.deserialize_any(Number)
    }
}

/// What one bit is connected to.
enum BitJson {
    Net(u64),
    Constant(bool),
    Unknown,
}

impl<'de> Deserialize<'de> for BitJson {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bit;
        impl Visitor<'_> for Bit {
            type Value = BitJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a net's number, or one of the texts 0, 1, x and z")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<BitJson, E> {
                Ok(BitJson::Net(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<BitJson, E> {
                match text {
                    "0" => Ok(BitJson::Constant(false)),
                    "1" => Ok(BitJson::Constant(true)),
                    "x" | "z" => Ok(BitJson::Unknown),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        from.deserialize_any(Bit)
    }
}
