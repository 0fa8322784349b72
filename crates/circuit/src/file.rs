//! Circuit files of any format.

use crate::bristol::text::is_comment;
use crate::bristol::{self, Format};
use crate::netlist::{aiger, bench, blif, yosys};
use crate::{Circuit, CircuitError, native};

/// The format of a circuit file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileFormat {
    /// Symbolon's own: see [`native`].
    Native,
    /// Text, one gate per line: see [`bristol`].
    Bristol(Format),
    /// The Berkeley Logic Interchange Format, as far as it is combinational.
    Blif,
    /// A netlist that Yosys wrote by `write_json`.
    Yosys,
    /// AIGER, text or binary, as far as it is combinational.
    Aiger,
    /// The `.bench` format of the ISCAS benchmarks, as far as it is combinational.
    Bench,
}

/// A circuit file that was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct CircuitFile {
    /// The circuit.
    pub circuit: Circuit,
    /// The file's format.
    pub format: FileFormat,
    /// What a user should know about how it was read: sentences that name ports.
    pub notes: Vec<String>,
}

/// Reads a circuit file in any known format; the content determines which.
///
/// A file that begins with `{` is Yosys' JSON, one that begins with `aag` or `aig` is AIGER. One
/// whose first word, comments aside, begins with `.` is BLIF, and one whose first line is an
/// `INPUT`, an `OUTPUT` or an equation is a `.bench`. Their ports have the names and widths of the
/// file. A port is an unsigned integer, or a signed one if the netlist says so. Bits `a[0]`,
/// `a[1]`, … are one port `a`, the lowest index being the lowest bit; a BLIF file that Yosys wrote
/// has the lowest bit first, also where the indices fall. Equal gates are merged, and those that no
/// output depends on are left out. An output without a value is refused. A BLIF cover of more than
/// two inputs becomes a look-up, one of more than eight becomes gates. As with Bristol files, input
/// 0 belongs to party 0, all others to party 1, and every party learns the outputs.
///
/// # Errors
/// [`CircuitError`] of the format's reader; for BLIF and JSON, [`CircuitError::Parse`] with the
/// line, or [`CircuitError::Invalid`] with the name of the cell or net.
pub fn read_circuit(bytes: &[u8]) -> Result<(Circuit, FileFormat), CircuitError> {
    read_circuit_file(bytes).map(|file| (file.circuit, file.format))
}

/// Reads a circuit file as [`read_circuit`] does; also says what a user should know about it.
///
/// # Errors
/// Those of [`read_circuit`].
pub fn read_circuit_file(bytes: &[u8]) -> Result<CircuitFile, CircuitError> {
    let mut notes = Vec::new();
    let (circuit, format) = read(bytes, &mut notes)?;
    Ok(CircuitFile { circuit, format, notes })
}

fn read(bytes: &[u8], notes: &mut Vec<String>) -> Result<(Circuit, FileFormat), CircuitError> {
    if native::is_native(bytes) {
        return Ok((native::read(bytes)?, FileFormat::Native));
    }
    if aiger::is_aiger(bytes) {
        return Ok((aiger::read(bytes, notes)?, FileFormat::Aiger));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !is_comment(line));
    if first.is_some_and(|line| {
        line.first() != Some(&b'{') && !line.starts_with(b".") && bench::is_bench(line)
    }) {
        return Ok((bench::read(text, notes)?, FileFormat::Bench));
    }
    match first.and_then(<[u8]>::first) {
        Some(b'{') => Ok((yosys::read(text)?, FileFormat::Yosys)),
        Some(b'.') => Ok((blif::read(text, notes)?, FileFormat::Blif)),
        _ => {
            let (circuit, format) = bristol::read(text)?;
            Ok((circuit, FileFormat::Bristol(format)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn the_content_tells_the_format() {
        let mut native = Vec::new();
        native::write(&builtin::by_name("add:8").unwrap(), &mut native).unwrap();
        let blif = b"# a comment\n.model m\n.inputs a b\n.outputs y\n.names a b y\n11 1\n.end\n";
        let json = br#" {"modules": {"m": {"ports": {"a": {"direction": "input", "bits": [2]},
            "y": {"direction": "output", "bits": [2]}}, "cells": {}}}}"#;
        let fashion = b"\xef\xbb\xbf1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
        for (bytes, expected) in [
            (&native[..], FileFormat::Native),
            (blif, FileFormat::Blif),
            (json, FileFormat::Yosys),
            (b"aag 1 1 0 1 0\n2\n3\n", FileFormat::Aiger),
            (b"aig 1 1 0 1 0\n3\n", FileFormat::Aiger),
            (b"# c17\n\nINPUT(a)\nOUTPUT(b)\nb = not(a)\n", FileFormat::Bench),
            (fashion, FileFormat::Bristol(Format::Fashion)),
            (b"1 3\n1 1 1\n\n2 1 0 1 2 AND\n", FileFormat::Bristol(Format::Old)),
            (b"# one\n // two\n1 3\n1 1 1\n\n2 1 0 1 2 AND\n", FileFormat::Bristol(Format::Old)),
        ] {
            let (_, format) = read_circuit(bytes).unwrap();
            assert_eq!(format, expected);
        }
        assert!(read_circuit(b"").is_err());
    }
}
