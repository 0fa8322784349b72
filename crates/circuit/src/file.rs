//! Circuit files of any format.

use crate::bristol::{self, Format};
use crate::netlist::{blif, yosys};
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
}

/// Reads a circuit file in any known format; the content determines which.
///
/// A file that begins with `{` is Yosys' JSON, and one whose first word begins with `.` is BLIF.
/// Their ports have the names and widths of the file. A port is an unsigned integer, or a signed
/// one if the netlist says so. BLIF's bits `a[0]`, `a[1]`, … are one port `a`. Equal gates are
/// merged, and those that no output depends on are left out. A BLIF cover of more than two inputs
/// becomes a look-up, one of more than eight becomes gates. As with Bristol files, input 0 belongs
/// to party 0, all others to party 1, and every party learns the outputs.
///
/// # Errors
/// [`CircuitError`] of the format's reader; for BLIF and JSON, [`CircuitError::Parse`] with the
/// line, or [`CircuitError::Invalid`] with the name of the cell or net.
pub fn read_circuit(bytes: &[u8]) -> Result<(Circuit, FileFormat), CircuitError> {
    if native::is_native(bytes) {
        return Ok((native::read(bytes)?, FileFormat::Native));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match text.trim_ascii_start().first() {
        Some(b'{') => Ok((yosys::read(text)?, FileFormat::Yosys)),
        Some(b'.' | b'#') => Ok((blif::read(text)?, FileFormat::Blif)),
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
            (fashion, FileFormat::Bristol(Format::Fashion)),
            (b"1 3\n1 1 1\n\n2 1 0 1 2 AND\n", FileFormat::Bristol(Format::Old)),
        ] {
            let (_, format) = read_circuit(bytes).unwrap();
            assert_eq!(format, expected);
        }
        assert!(read_circuit(b"").is_err());
    }
}
