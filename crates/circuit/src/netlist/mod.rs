//! Netlists of other programs: cells, in any order, that name their wires.
//!
//! A [`Netlist`] collects cells; [`Netlist::finish`] orders them, by a walk from the outputs that
//! needs no stack of its own, and gives them to the builder, which folds constants and merges
//! equal gates.

pub(crate) mod aiger;
pub(crate) mod bench;
pub(crate) mod blif;
mod cover;
#[cfg(test)]
mod tests;
pub(crate) mod yosys;

use std::collections::{HashMap, HashSet};

use symbolon_common::escape::Excerpt;

use crate::builder::{Bit, Builder, Gates, Word};
use crate::{Circuit, CircuitError, Receivers, Table, Type};

/// A wire of the netlist.
type Net = u32;

/// More nets than this are refused, so that the builder can number the wires.
const MAX_NETS: usize = 1 << 30;

/// What a cell computes.
#[derive(Clone, Copy)]
enum Function {
    Const(bool),
    /// The operand, inverted or not.
    Unary {
        invert: bool,
    },
    /// Bit `a + 2b` is the result for the operands `a` and `b`.
    Binary(u8),
    /// With operands s, x, y: x if s is 1, else y.
    Select,
    /// A look-up in the table with this number, of one output.
    Lookup(u32),
}

/// The truth table of AND.
const AND: u8 = 0b1000;
/// The truth table of OR.
const OR: u8 = 0b1110;

struct Cell {
    function: Function,
    /// Where its operands begin, in [`Netlist::operands`].
    first: usize,
    count: usize,
}

/// Where a net's value comes from.
#[derive(Clone, Copy, PartialEq)]
enum Driver {
    Nothing,
    Input,
    Cell(u32),
}

/// A port with its nets, the least significant bit first.
struct Port {
    name: String,
    signed: bool,
    nets: Vec<Net>,
}

impl Port {
    fn ty(&self) -> Type {
        let width = self.nets.len() as u32;
        if self.signed { Type::Int(width) } else { Type::Uint(width) }
    }
}

/// Joins bits `a[i]` to one port `a`: all bits of that name, if their indices follow each other and
/// no other port is called `a`. A single `a[i]` is one if i is 0. The lowest index is the lowest
/// bit; with `lowest_first` the bit that is listed first is. Notes say where that matters.
fn joined(ports: Vec<Port>, lowest_first: bool, notes: &mut Vec<String>) -> Vec<Port> {
    let mut words: HashMap<String, Vec<(usize, Net)>> = HashMap::new();
    let mut others = HashSet::new();
    for port in &ports {
        match (indexed(&port.name), &port.nets[..], port.signed) {
            (Some((word, index)), [net], false) => {
                words.entry(word.to_string()).or_default().push((index, *net));
            }
            (Some((word, _)), ..) => {
                others.insert(word.to_string());
            }
            (None, ..) => {
                others.insert(port.name.clone());
            }
        }
    }
    words.retain(|word, bits| !others.contains(word) && in_order(word, bits, lowest_first, notes));
    let mut joined = Vec::new();
    for port in ports {
        let word = indexed(&port.name).map(|(word, _)| word);
        match word.and_then(|word| Some((word, words.get_mut(word)?))) {
            Some((word, bits)) => {
                // The first bit takes the whole word, so the others find nothing.
                let nets: Vec<Net> = bits.drain(..).map(|(_, net)| net).collect();
                if !nets.is_empty() {
                    joined.push(Port { name: word.to_string(), signed: false, nets });
                }
            }
            None => joined.push(port),
        }
    }
    notes.sort();
    joined
}

/// Puts the bits of a word into order, the lowest first; returns false if they are not one word.
fn in_order(
    word: &str,
    bits: &mut [(usize, Net)],
    lowest_first: bool,
    notes: &mut Vec<String>,
) -> bool {
    let (Some(&(first, _)), Some(&(last, _))) = (bits.first(), bits.last()) else { return false };
    let falls = bits.windows(2).all(|pair| pair[0].0 == pair[1].0.saturating_add(1));
    if falls && bits.len() > 1 {
        let word = shown(word);
        notes.push(match lowest_first {
            true => format!(
                "port {word} is counted upwards, from {last} to {first}: bit {first} is its lowest"
            ),
            false => format!(
                "port {word} is listed from bit {first} down to bit {last}, and bit {last} is taken \
                 for its lowest; if it is counted upwards, as [{last}:{first}], its bits are \
                 reversed"
            ),
        });
        if lowest_first {
            return true;
        }
    }
    bits.sort_unstable();
    let follow = bits.windows(2).all(|pair| pair[0].0.saturating_add(1) == pair[1].0);
    follow && (bits.len() > 1 || bits[0].0 == 0)
}

/// Splits `a[3]` into `a` and 3.
fn indexed(name: &str) -> Option<(&str, usize)> {
    let (word, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    let number: usize = index.parse().ok()?;
    // Refuses 03 and +3.
    (!word.is_empty() && number.to_string() == index).then_some((word, number))
}

/// Why a netlist is not a circuit.
enum Problem {
    /// A net that is needed has no driver.
    Undriven(Net),
    /// A net depends on itself.
    Loop(Net),
}

/// Cells, and which of them drives each net.
#[derive(Default)]
struct Netlist {
    cells: Vec<Cell>,
    operands: Vec<Net>,
    drivers: Vec<Driver>,
    tables: Vec<Table>,
    table_places: HashMap<Table, u32>,
}

impl Netlist {
    /// Adds a net without a driver.
    fn net(&mut self) -> Result<Net, CircuitError> {
        if self.drivers.len() >= MAX_NETS {
            return Err(CircuitError::invalid("the netlist has more than 2^30 nets"));
        }
        self.drivers.push(Driver::Nothing);
        Ok(self.drivers.len() as Net - 1)
    }

    /// Makes a net an input; returns false if it already has a driver.
    fn input(&mut self, net: Net) -> bool {
        self.drive(net, Driver::Input)
    }

    /// Makes a cell the driver of a net; returns false if it already has one.
    fn cell(&mut self, function: Function, operands: &[Net], out: Net) -> bool {
        let driver = Driver::Cell(self.cells.len() as u32);
        let (first, count) = (self.operands.len(), operands.len());
        self.operands.extend_from_slice(operands);
        self.cells.push(Cell { function, first, count });
        self.drive(out, driver)
    }

    fn is_driven(&self, net: Net) -> bool {
        self.drivers[net as usize] != Driver::Nothing
    }

    fn drive(&mut self, net: Net, driver: Driver) -> bool {
        let old = std::mem::replace(&mut self.drivers[net as usize], driver);
        old == Driver::Nothing
    }

    /// Adds a cell that drives a new net.
    fn fresh(&mut self, function: Function, operands: &[Net]) -> Result<Net, CircuitError> {
        let net = self.net()?;
        self.cell(function, operands, net);
        Ok(net)
    }

    fn table(&mut self, table: Table) -> u32 {
        let tables = &mut self.tables;
        *self.table_places.entry(table).or_insert_with_key(|table| {
            tables.push(table.clone());
            tables.len() as u32 - 1
        })
    }

    /// Returns the circuit; `name_of` gives the name of a net, for errors.
    fn finish(
        self,
        name: &str,
        inputs: Vec<Port>,
        outputs: Vec<Port>,
        name_of: impl Fn(Net) -> String,
    ) -> Result<Circuit, CircuitError> {
        let mut builder = Builder::new(name);
        let mut bits = vec![None; self.drivers.len()];
        for (place, port) in inputs.iter().enumerate() {
            let word = builder.input(&port.name, port.ty(), u16::from(place > 0));
            for (net, bit) in port.nets.iter().zip(word.iter()) {
                bits[*net as usize] = Some(*bit);
            }
        }
        for port in outputs {
            let mut word = Vec::with_capacity(port.nets.len());
            for net in &port.nets {
                let bit = self.value(&mut builder, &mut bits, *net);
                word.push(bit.map_err(|problem| match problem {
                    Problem::Undriven(net) => CircuitError::invalid(format!(
                        "output {}: {} has no driver: it is neither an input nor computed",
                        shown(&port.name),
                        name_of(net)
                    )),
                    Problem::Loop(net) => CircuitError::invalid(format!(
                        "{} depends on itself: only combinational circuits can be computed",
                        name_of(net)
                    )),
                })?);
            }
            let ty = port.ty();
            builder.output(port.name, &Word::from(word), ty, Receivers::All);
        }
        builder.finish()
    }

    /// Returns the value of a net, after those of all nets that it depends on.
    fn value(&self, gates: &mut Gates, bits: &mut [Option<Bit>], net: Net) -> Result<Bit, Problem> {
        let mut path = vec![net];
        let mut open = HashSet::new();
        while let Some(&net) = path.last() {
            if bits[net as usize].is_some() {
                path.pop();
                continue;
            }
            let Driver::Cell(cell) = self.drivers[net as usize] else {
                return Err(Problem::Undriven(net));
            };
            let cell = &self.cells[cell as usize];
            let operands = &self.operands[cell.first..][..cell.count];
            open.insert(net);
            match operands.iter().find(|operand| bits[**operand as usize].is_none()) {
                Some(operand) if open.contains(operand) => return Err(Problem::Loop(*operand)),
                Some(operand) => path.push(*operand),
                None => {
                    let known = |i: usize| bits[operands[i] as usize].expect("all are known");
                    bits[net as usize] = Some(self.emit(gates, cell.function, cell.count, known));
                    open.remove(&net);
                    path.pop();
                }
            }
        }
        Ok(bits[net as usize].expect("the walk ends when it is known"))
    }

    fn emit(
        &self,
        gates: &mut Gates,
        function: Function,
        count: usize,
        operand: impl Fn(usize) -> Bit,
    ) -> Bit {
        match function {
            Function::Const(value) => Bit::constant(value),
            Function::Unary { invert: false } => operand(0),
            Function::Unary { invert: true } => !operand(0),
            Function::Binary(truth) => binary(gates, truth, operand(0), operand(1)),
            Function::Select => gates.select_bit(operand(0), operand(1), operand(2)),
            Function::Lookup(table) => {
                let inputs: Vec<Bit> = (0..count).map(operand).collect();
                gates.lookup(&self.tables[table as usize], &inputs)[0]
            }
        }
    }
}

/// Builds a function of two bits from its truth table, with at most one AND.
fn binary(gates: &mut Gates, truth: u8, a: Bit, b: Bit) -> Bit {
    let at = |i: u32| truth >> i & 1 == 1;
    // Its algebraic normal form: one ⊕ ca·a ⊕ cb·b ⊕ cab·ab.
    let (one, ca, cb) = (at(0), at(0) ^ at(1), at(0) ^ at(2));
    let not_if = |bit: Bit, invert: bool| if invert { !bit } else { bit };
    if at(0) ^ at(1) ^ at(2) ^ at(3) {
        // (a ⊕ cb)(b ⊕ ca) = ab ⊕ ca·a ⊕ cb·b ⊕ ca·cb.
        let product = gates.and_bit(not_if(a, cb), not_if(b, ca));
        return not_if(product, one ^ (ca & cb));
    }
    let a = if ca { a } else { Bit::ZERO };
    let b = if cb { b } else { Bit::ZERO };
    not_if(gates.xor_bit(a, b), one)
}

/// Returns a name from a file in a form fit for messages: escaped, and cut if long.
fn shown(name: &str) -> String {
    format!("`{}`", Excerpt(name, 60))
}
