//! The Berkeley Logic Interchange Format, as far as it is combinational: `.model`, `.inputs`,
//! `.outputs`, `.names`, `.conn` and `.end`. Lines about time, areas and attributes are skipped.

use std::collections::HashMap;

use super::cover::Cover;
use super::{Function, Net, Netlist, Port, shown};
use crate::{Circuit, CircuitError};

/// Lines that say nothing about the function.
const SKIPPED: [&[u8]; 18] = [
    b".area",
    b".attr",
    b".cname",
    b".default_input_arrival",
    b".default_input_drive",
    b".default_max_input_load",
    b".default_output_load",
    b".default_output_required",
    b".delay",
    b".input_arrival",
    b".input_drive",
    b".max_input_load",
    b".output_load",
    b".output_required",
    b".param",
    b".wire",
    b".wire_load",
    b".wire_load_slope",
];

/// Reads a file.
///
/// # Errors
/// [`CircuitError::Parse`] with the line, or [`CircuitError::Invalid`] with the net. Memory stays
/// proportional to the length of `text`.
pub(crate) fn read(text: &[u8]) -> Result<Circuit, CircuitError> {
    let mut reader = Reader::default();
    let mut lines = text.split(|&byte| byte == b'\n').enumerate();
    let mut words = Vec::new();
    while let Some((number, line)) = lines.next() {
        words.clear();
        let mut line = line;
        while push_words(line, &mut words)
            && let Some((_, next)) = lines.next()
        {
            line = next;
        }
        if !words.is_empty() {
            reader.line = number + 1;
            reader.words(&words)?;
        }
    }
    reader.finish()
}

/// Adds the words of a line; returns whether it continues on the next one.
fn push_words<'a>(line: &'a [u8], words: &mut Vec<&'a [u8]>) -> bool {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii_end();
    let (line, goes_on) = match line.strip_suffix(b"\\") {
        Some(line) => (line, true),
        None => (line, false),
    };
    words.extend(line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()));
    goes_on
}

#[derive(Default)]
struct Reader<'a> {
    line: usize,
    model: Option<String>,
    ended: bool,
    nets: HashMap<&'a [u8], Net>,
    netlist: Netlist,
    inputs: Vec<&'a [u8]>,
    outputs: Vec<&'a [u8]>,
    cover: Option<Cover>,
}

impl<'a> Reader<'a> {
    fn error(&self, reason: impl Into<String>) -> CircuitError {
        CircuitError::Parse { line: self.line, reason: reason.into() }
    }

    fn net(&mut self, name: &'a [u8]) -> Result<Net, CircuitError> {
        if let Some(&net) = self.nets.get(name) {
            return Ok(net);
        }
        let net = self.netlist.net()?;
        self.nets.insert(name, net);
        Ok(net)
    }

    fn words(&mut self, words: &[&'a [u8]]) -> Result<(), CircuitError> {
        let (first, rest) = words.split_first().expect("no line is empty");
        if self.ended {
            return Err(self.error("something follows .end: a file may have one model only"));
        }
        if !first.starts_with(b".") {
            return self.row(words);
        }
        self.end_cover()?;
        match *first {
            b".model" if self.model.is_some() => Err(self.error(
                "a second model: put all of them into one first (`flatten` in Yosys and ABC)",
            )),
            b".model" => {
                let name = rest.first().copied().unwrap_or(b"blif");
                self.model = Some(self.text(name)?);
                Ok(())
            }
            b".inputs" | b".input" => {
                self.inputs.extend_from_slice(rest);
                for name in rest {
                    let net = self.net(name)?;
                    if !self.netlist.input(net) {
                        return Err(self.driven_twice(name));
                    }
                }
                Ok(())
            }
            b".outputs" | b".output" => {
                self.outputs.extend_from_slice(rest);
                Ok(())
            }
            b".names" => {
                let Some((output, inputs)) = rest.split_last() else {
                    return Err(self.error(".names without an output"));
                };
                let inputs =
                    inputs.iter().map(|name| self.net(name)).collect::<Result<Vec<_>, _>>()?;
                let net = self.net(output)?;
                if self.netlist.is_driven(net) {
                    return Err(self.driven_twice(output));
                }
                self.cover = Some(Cover::new(inputs, net));
                Ok(())
            }
            b".conn" => {
                let &[from, to] = rest else {
                    return Err(self.error(".conn takes two nets"));
                };
                let (input, output) = (self.net(from)?, self.net(to)?);
                match self.netlist.cell(Function::Unary { invert: false }, &[input], output) {
                    true => Ok(()),
                    false => Err(self.driven_twice(to)),
                }
            }
            b".end" => {
                self.ended = true;
                Ok(())
            }
            b".latch" | b".mlatch" | b".clock" => Err(self.error(
                "a latch or clock: only combinational circuits can be computed, without state",
            )),
            b".subckt" | b".gate" => Err(self.error(
                "a cell of another model or library: write .names only (`flatten` and `synth` in \
                 Yosys, `strash` in ABC)",
            )),
            name if SKIPPED.contains(&name) => Ok(()),
            name => {
                let name = shown(&String::from_utf8_lossy(name));
                Err(self.error(format!("{name} is not read")))
            }
        }
    }

    fn row(&mut self, words: &[&[u8]]) -> Result<(), CircuitError> {
        let Some(cover) = &mut self.cover else {
            return Err(self.error("a row of a cover, but no .names before it"));
        };
        let added = match *words {
            [value] if cover.inputs.is_empty() => cover.row(&mut self.netlist, b"", value),
            [cube, value] => cover.row(&mut self.netlist, cube, value),
            _ => Err("a row has the signs of the inputs, then the output's value".into()),
        };
        added.map_err(|reason| self.error(reason))
    }

    fn end_cover(&mut self) -> Result<(), CircuitError> {
        self.cover.take().map_or(Ok(()), |cover| cover.finish(&mut self.netlist))
    }

    fn driven_twice(&self, name: &[u8]) -> CircuitError {
        let name = shown(&String::from_utf8_lossy(name));
        self.error(format!("net {name} has two drivers"))
    }

    fn text(&self, name: &[u8]) -> Result<String, CircuitError> {
        let text = std::str::from_utf8(name).map_err(|_| self.error("a name is not UTF-8"))?;
        Ok(text.to_string())
    }

    fn finish(mut self) -> Result<Circuit, CircuitError> {
        self.end_cover()?;
        let Some(model) = self.model.take() else {
            return Err(self.error("the file has no .model"));
        };
        let (inputs, outputs) =
            (std::mem::take(&mut self.inputs), std::mem::take(&mut self.outputs));
        let (inputs, outputs) = (self.ports(&inputs)?, self.ports(&outputs)?);
        let names: HashMap<Net, &[u8]> =
            self.nets.iter().map(|(name, net)| (*net, *name)).collect();
        let name_of = |net| match names.get(&net) {
            Some(name) => format!("net {}", shown(&String::from_utf8_lossy(name))),
            None => "a part of a cover".to_string(),
        };
        self.netlist.finish(&model, inputs, outputs, name_of)
    }

    /// Groups bits into ports: `a[0]` to `a[n − 1]`, in any order, are one port `a` if there is no
    /// other bit `a`; every other bit is a port of its own.
    fn ports(&mut self, bits: &[&'a [u8]]) -> Result<Vec<Port>, CircuitError> {
        let mut names = Vec::with_capacity(bits.len());
        let mut words: HashMap<&str, Vec<(usize, Net)>> = HashMap::new();
        for bit in bits {
            let net = self.net(bit)?;
            let name = std::str::from_utf8(bit).map_err(|_| self.error("a name is not UTF-8"))?;
            let (word, index) = indexed(name).map_or((name, None), |(w, i)| (w, Some(i)));
            // A bit without an index is never bit 0 of a word.
            words.entry(word).or_default().push((index.unwrap_or(usize::MAX), net));
            names.push((name, word, net));
        }
        for bits in words.values_mut() {
            bits.sort_unstable();
        }
        let whole = |bits: &[(usize, Net)]| bits.iter().enumerate().all(|(i, bit)| bit.0 == i);
        let mut ports = Vec::new();
        for (name, word, net) in names {
            match words.get_mut(word) {
                Some(bits) if whole(bits) => {
                    // The first bit takes the whole word, so the others find nothing.
                    let nets: Vec<Net> = bits.drain(..).map(|(_, net)| net).collect();
                    if !nets.is_empty() {
                        ports.push(Port { name: word.to_string(), signed: false, nets });
                    }
                }
                _ => ports.push(Port { name: name.to_string(), signed: false, nets: vec![net] }),
            }
        }
        Ok(ports)
    }
}

/// Splits `a[3]` into `a` and 3.
fn indexed(name: &str) -> Option<(&str, usize)> {
    let (word, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    let number: usize = index.parse().ok()?;
    // Refuses 03 and +3.
    (!word.is_empty() && number.to_string() == index).then_some((word, number))
}
