//! CSV: the columns that a type needs, the header, and the rows.
//!
//! Nothing is dropped: every row has as many cells as the first one, only lines without any
//! character are skipped, and a row of values is a header only if the user chooses columns.

use std::collections::{HashMap, HashSet};

use csv_core::{ReadRecordResult, ReaderBuilder};
use zeroize::Zeroizing;

use super::transform::{Column as Wanted, Transform};
use super::{FileForm, List, Sink};
use crate::Type;
use crate::value::format::{Value, format_value, to_hex};
use crate::value::text::is_text;
use crate::value::{Wrong, key, parse};

/// A row has at most this many columns; wider elements are given as JSON.
const MAX_COLUMNS: usize = 65_536;

/// An error lists at most this many names of columns.
const SHOWN_COLUMNS: usize = 8;

/// Words that stand for a value in some program's files, in lower case: never names of columns.
const VALUE_WORDS: [&str; 9] =
    ["na", "n/a", "nan", "null", "none", "inf", "infinity", "true", "false"];

/// A part of an element that takes one cell, with its name.
pub(super) type Column<'t> = (String, &'t Type);

/// Puts a column's name before a reason, if it has one.
pub(super) fn named(name: &str, reason: String) -> String {
    if name.is_empty() { reason } else { format!("{name}: {reason}") }
}

/// Returns the parts of a type that take one cell each, with their names: `price`, `at.0`. A name
/// that would begin with a number has it in brackets, as `[0]` and `[0].price`: a row of numbers
/// is values.
pub(super) fn leaves(ty: &Type) -> Result<Vec<Column<'_>>, String> {
    fn walk<'t>(ty: &'t Type, name: String, all: &mut Vec<Column<'t>>) -> Option<()> {
        let numbered = |i: usize| match name.is_empty() {
            true => format!("[{i}]"),
            false => format!("{name}.{i}"),
        };
        let inner = |field: &str| match name.is_empty() {
            true => field.to_string(),
            false => format!("{name}.{field}"),
        };
        if all.len() >= MAX_COLUMNS {
            return None;
        }
        match ty {
            Type::Array { len, elem } => {
                (0..*len as usize).try_for_each(|i| walk(elem, numbered(i), all))
            }
            Type::Tuple(parts) => {
                parts.iter().enumerate().try_for_each(|(i, part)| walk(part, numbered(i), all))
            }
            Type::Struct { fields, .. } => {
                fields.iter().try_for_each(|(field, ty)| walk(ty, inner(field), all))
            }
            _ => {
                all.push((name, ty));
                Some(())
            }
        }
    }
    let mut all = Vec::new();
    match walk(ty, String::new(), &mut all) {
        Some(()) => Ok(all),
        None => Err(format!("an element has more than {MAX_COLUMNS} columns; give JSON")),
    }
}

/// Reads CSV: an array with one element per row, or one value from one row.
pub(super) fn read(ty: &Type, text: &str, form: &FileForm, to: &mut Sink<'_>) -> Result<(), Wrong> {
    let (len, elem) = match ty {
        Type::Array { len, elem } => (*len, &**elem),
        _ => (1, ty),
    };
    let columns = leaves(elem)?;
    let wanted: Vec<Wanted<'_>> =
        form.columns.iter().map(|column| Wanted::new(column)).collect::<Result<_, _>>()?;
    if !wanted.is_empty() && wanted.len() != columns.len() {
        let chosen = counted(wanted.len(), "column");
        return Err(format!("{chosen} chosen, {} needed", columns.len()).into());
    }
    let transforms: Vec<Option<Transform>> = match wanted.is_empty() {
        true => vec![None; columns.len()],
        false => wanted.iter().map(|column| column.transform).collect(),
    };
    let mut rows = Rows::new(text);
    let mut list = List::new(len, elem, to);
    let Some((line, first)) = rows.next()? else { return list.finish(form.pad) };
    let found = header(&first, &columns, &wanted);
    let (places, is_header) = found.map_err(|reason| format!("line {line}: {reason}"))?;
    let mut add = |line: usize, row: &[Cell]| {
        let read = |_: &Type, bits: &mut Vec<bool>| {
            let columns = columns.iter().zip(&places).zip(&transforms);
            columns.into_iter().try_for_each(|(((name, ty), &place), transform)| {
                let read = match transform {
                    Some(transform) => transform.of_cell(ty, &row[place], bits),
                    None => parse::cell(ty, &row[place], bits),
                };
                read.map_err(|reason| named(name, reason))
            })
        };
        list.add(|| line, read)
    };
    if !is_header {
        add(line, &first)?;
    }
    while let Some((line, row)) = rows.next()? {
        // A row that is read in part may have a comma for a point, or lack a quote.
        if row.len() != first.len() {
            let (cells, others) = (counted(row.len(), "cell"), first.len());
            let reason = format!("line {line}: {cells} in the row, {others} in the first row");
            return Err(reason.into());
        }
        add(line, &row)?;
    }
    let is_one_more = list.given == u64::from(len) + 1;
    list.finish(form.pad).map_err(|wrong| match is_one_more && !is_header {
        true => {
            wrong.map(|reason| format!("{reason}; the first row is values, since it has no names"))
        }
        false => wrong,
    })
}

/// Returns where the columns are, and whether the first row is a header.
fn header(
    first: &[Cell],
    columns: &[Column<'_>],
    wanted: &[Wanted<'_>],
) -> Result<(Vec<usize>, bool), String> {
    let mut places: HashMap<&str, (usize, u32)> = HashMap::new();
    for (place, cell) in first.iter().enumerate() {
        places.entry(cell.trim()).or_insert((place, 0)).1 += 1;
    }
    // A cell without text is nobody's name.
    let find = |name: &str| match places.get(name).filter(|_| !name.is_empty()) {
        Some((_, 2..)) => Err(format!("the header has more than one column `{name}`")),
        found => Ok(found.map(|found| found.0)),
    };
    let missing = |name: &str| {
        // Any other cell may be a value, which is not shown.
        let names = first.iter().map(|cell| cell.trim()).filter(|cell| is_word(cell));
        format!("the header has no column `{name}`{}", key::nearest(name, names))
    };
    if !wanted.is_empty() {
        let found =
            wanted.iter().map(|Wanted { name, .. }| find(name)?.ok_or_else(|| missing(name)));
        return Ok((found.collect::<Result<_, _>>()?, true));
    }
    let in_order = || (0..columns.len()).collect();
    if is_values(first.iter().map(|cell| cell.as_str()), columns) {
        return Ok((in_order(), false));
    }
    let found: Vec<_> = columns.iter().map(|(name, _)| find(name)).collect::<Result<_, _>>()?;
    if let Some(found) = found.iter().copied().collect() {
        return Ok((found, true));
    }
    if first.len() != columns.len() {
        return Err(format!(
            "{} in the row, {} needed{}; choose with NAME.csv#COLUMN,…",
            counted(first.len(), "column"),
            columns.len(),
            listed(columns)
        ));
    }
    // Words that are not values are names; anything else is a row.
    let is_header = first.iter().zip(columns).all(|(cell, (_, ty))| {
        let cell = cell.trim();
        // Any word is a text.
        is_word(cell) && (is_text(ty) || !is_value(ty, cell))
    });
    let mut named = columns.iter().zip(&found);
    match named.find(|(_, place)| place.is_none()) {
        // If only some names are known, the others are not in the order of the type either.
        Some(((name, _), _)) if is_header && found.iter().any(Option::is_some) => {
            Err(missing(name))
        }
        _ => Ok((in_order(), is_header)),
    }
}

/// Returns whether a cell may be the name of a column.
fn is_word(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !VALUE_WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

fn is_value(ty: &Type, cell: &str) -> bool {
    // All memory is allocated at once, so that growing leaves no copy of a secret behind.
    let mut bits = Zeroizing::new(Vec::with_capacity(ty.width() as usize));
    parse::cell(ty, cell, &mut bits).is_ok()
}

/// Returns whether these are as many cells as there are columns, each a value of its own column.
/// Names of columns of texts could be values, too, but the names of all columns are no row.
fn is_values<'c>(
    cells: impl ExactSizeIterator<Item = &'c str> + Clone,
    columns: &[Column<'_>],
) -> bool {
    if cells.len() != columns.len() {
        return false;
    }
    if columns.iter().any(|(_, ty)| is_text(ty)) {
        let cells: HashSet<&str> = cells.clone().map(str::trim).collect();
        if columns.iter().all(|(name, _)| cells.contains(name.as_str())) {
            return false;
        }
    }
    cells.zip(columns).all(|(cell, (_, ty))| is_value(ty, cell))
}

/// Formats ` (price, at.0)`; nothing if there are no names.
fn listed(columns: &[Column<'_>]) -> String {
    let names = columns.iter().take(SHOWN_COLUMNS).map(|column| column.0.as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    match (names.is_empty(), columns.len() > SHOWN_COLUMNS) {
        (true, _) => String::new(),
        (_, true) => format!(" ({names}, …)"),
        _ => format!(" ({names})"),
    }
}

/// Formats `1 column`, `2 columns`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

type Cell = Zeroizing<String>;

/// The rows of a CSV text, without empty lines.
struct Rows<'t> {
    reader: csv_core::Reader,
    text: &'t str,
    place: usize,
    line: usize,
    cells: Zeroizing<Vec<u8>>,
    ends: Vec<usize>,
}

impl<'t> Rows<'t> {
    fn new(text: &'t str) -> Self {
        let first = text.lines().find(|line| !line.is_empty()).unwrap_or("");
        // Spreadsheets of many countries separate by semicolons.
        let separates = |delimiter: &u8| {
            let mut quotes = false;
            first.bytes().any(|byte| {
                quotes ^= byte == b'"';
                !quotes && byte == *delimiter
            })
        };
        let delimiter = [b',', b';', b'\t'].into_iter().find(separates);
        let reader = ReaderBuilder::new().delimiter(delimiter.unwrap_or(b',')).build();
        // No cell is longer than the text, so the buffer never grows and leaves no copy behind.
        let cells = Zeroizing::new(vec![0; text.len() + 1]);
        Rows { reader, text, place: 0, line: 1, cells, ends: vec![0; 64] }
    }

    /// Returns the next row and the line on which it begins. An empty cell in quotes is a row.
    fn next(&mut self) -> Result<Option<(usize, Vec<Cell>)>, String> {
        let rest = &self.text.as_bytes()[self.place..];
        let empty = rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        self.skip(empty);
        let line = self.line;
        let Some(ends) = self.record()? else { return Ok(None) };
        let mut start = 0;
        let mut row = Vec::with_capacity(ends);
        for &end in &self.ends[..ends] {
            let cell = std::str::from_utf8(&self.cells[start..end]);
            let cell = cell.map_err(|_| format!("line {line}: this is not text"))?;
            row.push(Zeroizing::new(cell.to_string()));
            start = end;
        }
        Ok(Some((line, row)))
    }

    fn skip(&mut self, bytes: usize) {
        let passed = &self.text.as_bytes()[self.place..self.place + bytes];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.place += bytes;
    }

    /// Reads a record; returns how many cells it has.
    fn record(&mut self) -> Result<Option<usize>, String> {
        let (mut written, mut ended) = (0, 0);
        loop {
            let rest = &self.text.as_bytes()[self.place..];
            let (result, read, out, ends) =
                self.reader.read_record(rest, &mut self.cells[written..], &mut self.ends[ended..]);
            self.skip(read);
            (written, ended) = (written + out, ended + ends);
            match result {
                ReadRecordResult::Record => return Ok(Some(ended)),
                ReadRecordResult::End => return Ok(None),
                // Called again without input, the reader ends the last record.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputEndsFull if self.ends.len() <= MAX_COLUMNS => {
                    self.ends.resize(2 * self.ends.len(), 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    return Err(format!("line {}: more than {MAX_COLUMNS} cells", self.line));
                }
                ReadRecordResult::OutputFull => {
                    return Err(format!("line {}: the row is too long", self.line));
                }
            }
        }
    }
}

/// Returns the header with its line's end; nothing if a column has no name, or if the names could
/// be a row of values.
pub(super) fn header_line(columns: &[Column<'_>]) -> String {
    let names = columns.iter().map(|column| column.0.as_str());
    if names.clone().any(str::is_empty) || is_values(names.clone(), columns) {
        return String::new();
    }
    names.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// Formats the values of an element as a row.
pub(super) fn line(columns: &[Column<'_>], mut bits: &[bool]) -> String {
    let cells = columns.iter().map(|(_, ty)| {
        let (own, rest) = bits.split_at(ty.width() as usize);
        bits = rest;
        cell(ty, own)
    });
    cells.collect::<Vec<_>>().join(",")
}

/// Formats a value as a cell.
fn cell(ty: &Type, bits: &[bool]) -> String {
    match format_value(ty, bits) {
        // An empty cell is no value of an optional type.
        Value::Null if is_text(ty) => quoted(""),
        Value::Text(text) if text.is_empty() && ty.optional().is_some() => {
            format!("hex:{}", to_hex(&bits[ty.tag_bits()..]))
        }
        Value::Text(text) if is_text(ty) => quoted(&text),
        // Quoted names, since they mean no value in an option otherwise.
        Value::Name(name) if !matches!(&name[..], "None" | "null") => quoted(&name),
        other => quoted(&other.to_string()),
    }
}

fn quoted(text: &str) -> String {
    // A line without any character is skipped, and so is a byte order mark that begins the file.
    match text.is_empty() || text.contains([',', '"', ';', '\t', '\n', '\r', '\u{feff}']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}
