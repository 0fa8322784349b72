//! Reading circuit files that may be wrong or hostile: memory is bounded by what the file holds,
//! never by what it claims.

use super::text::{Line, Lines, quote};
use super::{Format, tables};
use crate::{
    Circuit, CircuitError, Component, Input, Lookup, Output, Program, Receivers, Step, Table, Type,
    Wire,
};

/// Input wires cost no text, so their number is bounded by this much plus the file's length.
const FREE_INPUTS: u64 = 1 << 20;

/// A file wire that has not been written yet.
const UNWRITTEN: Wire = Wire::MAX;

/// Reads a circuit file in either format.
///
/// Gates must be in an order in which every wire is written before it is read. EQW becomes another
/// name for its operand, not a gate; NAND, NOR, OR and XNOR become an AND or XOR and free gates. A
/// width of 0 means that the port does not exist; the numbers of the others stay. The circuit's
/// name is `bristol`.
///
/// # Errors
/// [`CircuitError::Parse`], with the line, when the file is not a circuit in either format. Memory
/// stays proportional to the length of `text`.
pub fn read(text: &[u8]) -> Result<(Circuit, Format), CircuitError> {
    let mut lines = Lines::new(text);
    let header = Header::read(&mut lines, text.len())?;
    let program = Reader::new(&header, text.len()).gates(&header, lines)?;
    let inputs = header.inputs.iter().map(|&(i, width)| Input {
        name: format!("in{i}"),
        ty: Type::Uint(width),
        owner: u16::from(i > 0).into(),
    });
    let outputs = header.outputs.iter().map(|&(i, width)| Output {
        name: format!("out{i}"),
        ty: Type::Uint(width),
        to: Receivers::All,
    });
    let circuit = Circuit::new("bristol", inputs.collect(), outputs.collect(), program)?;
    Ok((circuit, header.format))
}

/// Everything before the gates.
struct Header<'a> {
    format: Format,
    gates: u32,
    wires: u32,
    /// Number and width of every input that has bits.
    inputs: Vec<(usize, u32)>,
    /// The same for the outputs.
    outputs: Vec<(usize, u32)>,
    input_bits: u32,
    output_bits: u32,
    /// The line that declares the wires.
    line: Line<'a>,
    tables: Vec<Table>,
    /// The first gate's line, which had to be read to recognise it.
    first_gate: Option<Line<'a>>,
}

impl<'a> Header<'a> {
    fn read(lines: &mut Lines<'a>, length: usize) -> Result<Self, CircuitError> {
        let line = lines.next().ok_or_else(|| lines.ended("the file is empty"))?;
        let mut words = line.words();
        let gates = line.number(&mut words, "the number of gates")?;
        let wires = line.number(&mut words, "the number of wires")?;
        if words.next().is_some() {
            return Err(line.error("expected two numbers: gates and wires"));
        }
        let second = lines.next().ok_or_else(|| lines.ended("the inputs' widths are missing"))?;
        let third = lines.next();
        // A gate's line ends in its name; the outputs' widths of Bristol Fashion are all numbers.
        // A table can only follow them, but may well end in a digit.
        let old = third.is_none_or(|line| {
            tables::is_table(line)
                || line.words().last().is_some_and(|word| word.iter().any(u8::is_ascii_alphabetic))
        });
        let (format, inputs, outputs) = match third {
            Some(third) if !old => {
                let inputs = counted_widths(second, "input")?;
                (Format::Fashion, inputs, counted_widths(third, "output")?)
            }
            _ => {
                let (inputs, outputs) = old_widths(second)?;
                (Format::Old, inputs, outputs)
            }
        };
        let input_bits = total(second, &inputs, "input", u64::from(wires))?;
        let output_bits = total(second, &outputs, "output", u64::from(wires))?;
        if u64::from(input_bits) > FREE_INPUTS + length as u64 {
            return Err(second.error("more input wires than a file of this length can use"));
        }
        let (tables, first_gate) = match format {
            Format::Fashion => tables::read(lines)?,
            Format::Old => (Vec::new(), third),
        };
        Ok(Header {
            format,
            gates,
            wires,
            inputs,
            outputs,
            input_bits,
            output_bits,
            line,
            tables,
            first_gate,
        })
    }
}

/// Returns the widths on a line after their number, without those that are 0.
fn counted_widths(line: Line<'_>, kind: &str) -> Result<Vec<(usize, u32)>, CircuitError> {
    let mut words = line.words();
    let count = line.number(&mut words, &format!("the number of {kind}s"))?;
    let widths = words
        .enumerate()
        .map(|(i, word)| Ok((i, line.parse(word, &format!("the width of {kind} {i}"))?)))
        .collect::<Result<Vec<_>, CircuitError>>()?;
    if widths.len() as u64 != u64::from(count) {
        return Err(line.error(format!("{count} {kind}s declared, {} widths given", widths.len())));
    }
    Ok(widths.into_iter().filter(|&(_, width)| width > 0).collect())
}

type Widths = Vec<(usize, u32)>;

/// Returns the three widths of the old format: two inputs and an output.
fn old_widths(line: Line<'_>) -> Result<(Widths, Widths), CircuitError> {
    let mut words = line.words();
    let mut width = |what| line.number(&mut words, what);
    let inputs = [(0, width("the width of input 0")?), (1, width("the width of input 1")?)];
    let output = (0, width("the width of the output")?);
    if words.next().is_some() {
        return Err(line.error("expected three numbers: the widths of two inputs and an output"));
    }
    let with_bits = |ports: &[(usize, u32)]| ports.iter().copied().filter(|p| p.1 > 0).collect();
    Ok((with_bits(&inputs), with_bits(&[output])))
}

fn total(
    line: Line<'_>,
    ports: &[(usize, u32)],
    kind: &str,
    wires: u64,
) -> Result<u32, CircuitError> {
    let total = ports.iter().fold(0u64, |sum, &(_, width)| sum.saturating_add(width.into()));
    match u32::try_from(total) {
        Ok(bits) if total <= wires => Ok(bits),
        _ => Err(line.error(format!("{total} {kind} bits, but only {wires} wires"))),
    }
}

/// What a gate's line does.
#[derive(Clone, Copy)]
enum Kind {
    Xor,
    And,
    Nand,
    Nor,
    Or,
    Xnor,
    Inv,
    Eq,
    Eqw,
    Mand,
    /// A look-up in the table with this number.
    Lut(u32),
}

impl Kind {
    fn of(line: Line<'_>, name: &[u8]) -> Result<Kind, CircuitError> {
        match Kind::named(name) {
            Some(kind) => Ok(kind),
            None => match tables::number(line, name)? {
                Some(table) => Ok(Kind::Lut(table)),
                None => Err(line.error(format!("unknown gate {}", quote(name)))),
            },
        }
    }

    fn named(name: &[u8]) -> Option<Kind> {
        const NAMES: [(&[u8], Kind); 11] = [
            (b"XOR", Kind::Xor),
            (b"AND", Kind::And),
            (b"INV", Kind::Inv),
            (b"NOT", Kind::Inv),
            (b"EQ", Kind::Eq),
            (b"EQW", Kind::Eqw),
            (b"MAND", Kind::Mand),
            (b"NAND", Kind::Nand),
            (b"NOR", Kind::Nor),
            (b"OR", Kind::Or),
            (b"XNOR", Kind::Xnor),
        ];
        NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|&(_, kind)| kind)
    }

    /// Returns whether a gate of this kind may have this many inputs and outputs.
    fn takes(self, inputs: u32, outputs: u32, tables: &[Table]) -> bool {
        match self {
            Kind::Lut(table) => tables
                .get(table as usize)
                .is_some_and(|table| (inputs, outputs) == (table.inputs(), table.outputs())),
            Kind::Inv | Kind::Eq | Kind::Eqw => (inputs, outputs) == (1, 1),
            Kind::Mand => outputs > 0 && u64::from(inputs) == 2 * u64::from(outputs),
            _ => (inputs, outputs) == (2, 1),
        }
    }
}

/// The gates read so far.
struct Reader<'a> {
    /// The circuit's wire for every wire of the file.
    map: Vec<Wire>,
    /// How many wires the file may have: the most that its text can define.
    limit: u64,
    written: u32,
    component: Component,
    tables: Vec<Table>,
    /// The wires of the current line; the buffer is reused.
    words: Vec<&'a [u8]>,
    /// The results of the current line; the buffer is reused.
    results: Vec<Wire>,
}

impl<'a> Reader<'a> {
    fn new(header: &Header<'_>, length: usize) -> Self {
        let inputs = header.input_bits;
        let component =
            Component { name: "bristol".into(), inputs, wires: inputs, ..Component::default() };
        let limit = u64::from(inputs) + length as u64;
        let (words, results) = (Vec::new(), Vec::new());
        let (map, tables) = ((0..inputs).collect(), header.tables.clone());
        Reader { map, limit, written: inputs, component, tables, words, results }
    }

    /// Reads all gates, then takes the outputs from the last wires.
    fn gates(mut self, header: &Header<'a>, mut lines: Lines<'a>) -> Result<Program, CircuitError> {
        if u64::from(header.wires) > self.limit {
            return Err(header.line.error("more wires than a file of this length can write"));
        }
        self.map.resize(header.wires as usize, UNWRITTEN);
        let mut next = header.first_gate;
        for done in 0..header.gates {
            let Some(line) = next.take().or_else(|| lines.next()) else {
                let gates = header.gates;
                return Err(lines.ended(format!("the file ends after {done} of {gates} gates")));
            };
            let mut words = std::mem::take(&mut self.words);
            words.clear();
            words.extend(line.words());
            self.gate(line, &words)?;
            self.words = words;
        }
        if let Some(line) = next.or_else(|| lines.next()) {
            let gates = header.gates;
            return Err(line.error(format!("more lines than the {gates} gates declared")));
        }
        if self.written != header.wires {
            let (wires, written) = (header.wires, self.written);
            return Err(header.line.error(format!("{wires} wires declared, {written} written")));
        }
        let first = self.map.len() - header.output_bits as usize;
        self.component.outputs = self.map.split_off(first);
        Ok(Program { components: vec![self.component], tables: self.tables })
    }

    fn gate(&mut self, line: Line<'a>, words: &[&[u8]]) -> Result<(), CircuitError> {
        let [inputs, outputs, rest @ .., name] = words else {
            return Err(line.error("a gate has a number of inputs, one of outputs, and a name"));
        };
        if tables::is_table(line) {
            return Err(line.error("tables come before the gates, in Bristol Fashion only"));
        }
        let inputs = line.parse(inputs, "the number of a gate's inputs")?;
        let outputs = line.parse(outputs, "the number of a gate's outputs")?;
        let kind = Kind::of(line, name)?;
        if let Kind::Lut(table) = kind
            && table as usize >= self.tables.len()
        {
            return Err(line.error(format!("table {table}: only {} declared", self.tables.len())));
        }
        if !kind.takes(inputs, outputs, &self.tables) {
            return Err(line.error(format!(
                "a gate {} cannot have {inputs} inputs and {outputs} outputs",
                quote(name)
            )));
        }
        if rest.len() as u64 != u64::from(inputs) + u64::from(outputs) {
            return Err(line.error(format!(
                "{inputs} inputs and {outputs} outputs declared, {} wires given",
                rest.len()
            )));
        }
        let (operands, results) = rest.split_at(inputs as usize);
        match kind {
            Kind::Eq => {
                let value = match line.parse(operands[0], "a constant")? {
                    0 => false,
                    1 => true,
                    _ => return Err(line.error("a constant is 0 or 1")),
                };
                let out = self.fresh(line)?;
                self.component.steps.push(Step::Const { value, out });
                self.write(line, results[0], out)
            }
            Kind::Eqw => {
                let a = self.wire(line, operands[0])?;
                self.write(line, results[0], a)
            }
            Kind::Inv => {
                let a = self.wire(line, operands[0])?;
                let out = self.inv(line, a)?;
                self.write(line, results[0], out)
            }
            Kind::Lut(table) => self.lookup(line, table, operands, results),
            _ => self.binary(line, kind, operands, results),
        }
    }

    /// Adds a look-up; it writes consecutive new wires, whatever the file calls them.
    fn lookup(
        &mut self,
        line: Line<'_>,
        table: u32,
        operands: &[&[u8]],
        results: &[&[u8]],
    ) -> Result<(), CircuitError> {
        let Ok(first_input) = u32::try_from(self.component.lookup_inputs.len()) else {
            return Err(line.error("too many inputs of look-ups"));
        };
        for word in operands {
            let wire = self.wire(line, word)?;
            self.component.lookup_inputs.push(wire);
        }
        let first_output = self.component.wires;
        for word in results {
            let wire = self.fresh(line)?;
            self.write(line, word, wire)?;
        }
        self.component.steps.push(Step::Lookup(self.component.lookups.len() as u32));
        self.component.lookups.push(Lookup {
            table,
            first_input,
            input_count: operands.len() as u32,
            first_output,
            output_count: results.len() as u32,
        });
        Ok(())
    }

    /// Adds gates of two operands; the left operands come first, then the right ones. All are read
    /// before any result is written.
    fn binary(
        &mut self,
        line: Line<'_>,
        kind: Kind,
        operands: &[&[u8]],
        results: &[&[u8]],
    ) -> Result<(), CircuitError> {
        let (left, right) = operands.split_at(results.len());
        let mut values = std::mem::take(&mut self.results);
        values.clear();
        for (a, b) in left.iter().zip(right) {
            let (a, b) = (self.wire(line, a)?, self.wire(line, b)?);
            values.push(match kind {
                Kind::Xor => self.xor(line, a, b)?,
                Kind::Xnor => {
                    let xor = self.xor(line, a, b)?;
                    self.inv(line, xor)?
                }
                Kind::Nand => {
                    let and = self.and(line, a, b)?;
                    self.inv(line, and)?
                }
                Kind::Nor | Kind::Or => {
                    let (a, b) = (self.inv(line, a)?, self.inv(line, b)?);
                    let nor = self.and(line, a, b)?;
                    if matches!(kind, Kind::Nor) { nor } else { self.inv(line, nor)? }
                }
                _ => self.and(line, a, b)?,
            });
        }
        let written = results
            .iter()
            .zip(&values)
            .try_for_each(|(word, &value)| self.write(line, word, value));
        self.results = values;
        written
    }

    fn xor(&mut self, line: Line<'_>, a: Wire, b: Wire) -> Result<Wire, CircuitError> {
        let out = self.fresh(line)?;
        self.component.steps.push(Step::Xor { a, b, out });
        Ok(out)
    }

    fn and(&mut self, line: Line<'_>, a: Wire, b: Wire) -> Result<Wire, CircuitError> {
        let out = self.fresh(line)?;
        self.component.steps.push(Step::And { a, b, out });
        Ok(out)
    }

    fn inv(&mut self, line: Line<'_>, a: Wire) -> Result<Wire, CircuitError> {
        let out = self.fresh(line)?;
        self.component.steps.push(Step::Inv { a, out });
        Ok(out)
    }

    /// Returns a new wire of the circuit.
    fn fresh(&mut self, line: Line<'_>) -> Result<Wire, CircuitError> {
        let wire = self.component.wires;
        if wire >= UNWRITTEN - 1 {
            return Err(line.error("too many wires"));
        }
        self.component.wires += 1;
        Ok(wire)
    }

    /// Returns the circuit's wire for a wire of the file that is read.
    fn wire(&self, line: Line<'_>, word: &[u8]) -> Result<Wire, CircuitError> {
        let number = line.parse(word, "a wire")?;
        match self.map.get(number as usize) {
            None => Err(line.error(format!("wire {number}: only {} declared", self.map.len()))),
            Some(&UNWRITTEN) => {
                Err(line.error(format!("wire {number} is read before it is written")))
            }
            Some(&wire) => Ok(wire),
        }
    }

    fn write(&mut self, line: Line<'_>, word: &[u8], value: Wire) -> Result<(), CircuitError> {
        let number = line.parse(word, "a wire")?;
        let wires = self.map.len();
        let Some(wire) = self.map.get_mut(number as usize) else {
            return Err(line.error(format!("wire {number}: only {wires} declared")));
        };
        if *wire != UNWRITTEN {
            return Err(line.error(format!("wire {number} is written twice")));
        }
        *wire = value;
        self.written += 1;
        Ok(())
    }
}
