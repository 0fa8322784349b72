//! The lines that declare the tables of look-ups.

use std::io::{self, Write};

use super::text::{Line, Lines, quote};
use crate::{CircuitError, Table};

const KEYWORD: &[u8] = b"TABLE";

/// Returns whether a line declares a table.
pub(super) fn is_table(line: Line<'_>) -> bool {
    line.words().next().is_some_and(|word| word.eq_ignore_ascii_case(KEYWORD))
}

/// Reads the tables from here on, and the line after them.
pub(super) fn read<'a>(
    lines: &mut Lines<'a>,
) -> Result<(Vec<Table>, Option<Line<'a>>), CircuitError> {
    let mut tables = Vec::new();
    loop {
        match lines.next() {
            Some(line) if is_table(line) => tables.push(table(line)?),
            next => return Ok((tables, next)),
        }
    }
}

fn table(line: Line<'_>) -> Result<Table, CircuitError> {
    let invalid = |error| match error {
        CircuitError::Invalid(reason) => line.error(reason),
        other => other,
    };
    let mut words = line.words().skip(1);
    let inputs = line.number(&mut words, "the number of a table's inputs")?;
    let outputs = line.number(&mut words, "the number of a table's outputs")?;
    Table::check_shape(inputs, outputs).map_err(invalid)?;
    let entries = words.map(|word| entry(line, word)).collect::<Result<Vec<u64>, _>>()?;
    Table::new(inputs, outputs, entries).map_err(invalid)
}

/// Parses a hexadecimal number that fits a `u64`.
fn entry(line: Line<'_>, word: &[u8]) -> Result<u64, CircuitError> {
    let mut value = 0u64;
    for &byte in word {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(line.error(format!("a table's entry: {} is not hexadecimal", quote(word))));
        };
        if value >> 60 != 0 {
            return Err(line.error(format!("a table's entry: {} is too large", quote(word))));
        }
        value = value << 4 | u64::from(digit);
    }
    Ok(value)
}

/// Writes the line that declares a table.
pub(super) fn write(table: &Table, out: &mut impl Write) -> io::Result<()> {
    write!(out, "TABLE {} {}", table.inputs(), table.outputs())?;
    let digits = table.outputs().div_ceil(4) as usize;
    table.entries().iter().try_for_each(|entry| write!(out, " {entry:0digits$x}"))?;
    writeln!(out)
}

/// Returns the number of the table in the name of a look-up gate: `LUT:0`.
pub(super) fn number(line: Line<'_>, name: &[u8]) -> Result<Option<u32>, CircuitError> {
    match name.split_at_checked(4) {
        Some((kind, number)) if kind.eq_ignore_ascii_case(b"LUT:") && !number.is_empty() => {
            line.parse(number, "the number of a table").map(Some)
        }
        _ => Ok(None),
    }
}
