//! Values in files: one number per line, CSV with or without a header, JSON.
//!
//! Reasons of errors name the line and the element, and never contain the text: it may be a secret.

use csv_core::{ReadRecordResult, ReaderBuilder};
use zeroize::Zeroizing;

use super::compound::unquoted;
use super::format::{Value, format_value};
use super::key::{self, Chosen};
use super::parse::{elements, line_of, parse, typed, without_brackets};
use crate::validate::MAX_WIRES;
use crate::{CircuitError, Input, Type};

/// A row has at most this many columns; wider elements are given as JSON.
const MAX_COLUMNS: usize = 65_536;

/// How a file's text becomes a value.
#[derive(Clone, Debug, Default)]
pub struct FileForm {
    /// Whether the file is CSV: rows of cells, the first row possibly a header.
    pub csv: bool,
    /// The columns of CSV to take, by the names in the header, or the key of JSON; if empty, all
    /// that the type needs.
    pub columns: Vec<String>,
    /// Whether a list that is shorter than the input is filled up with zero bits.
    pub pad: bool,
}

/// Reads a file's text as a value for an input. A byte order mark at its beginning is skipped.
///
/// In addition to what [`parse_value`](super::parse_value) takes, lists can be written with one
/// element per line, or with spaces, commas or semicolons between elements.
///
/// # Errors
/// [`CircuitError::Value`], which names the line and the element where the value is wrong.
pub fn parse_file(input: &Input, text: &str, form: &FileForm) -> Result<Vec<bool>, CircuitError> {
    let error = |reason| CircuitError::Value {
        input: input.name.clone(),
        ty: input.ty.to_string(),
        reason,
    };
    let width = input.ty.width();
    if width > u64::from(MAX_WIRES) {
        return Err(error(format!("an input cannot have more than {MAX_WIRES} bits")));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut bits = Vec::with_capacity(width as usize);
    read(&input.ty, text, form, &mut bits).map_err(error)?;
    Ok(bits)
}

fn read(ty: &Type, text: &str, form: &FileForm, bits: &mut Vec<bool>) -> Result<(), String> {
    let whole = text.trim();
    if form.csv {
        return csv(ty, text, form, bits);
    }
    if !form.columns.is_empty() {
        return by_key(ty, text, form, bits);
    }
    if whole.starts_with("hex:") || whole.starts_with("bits:") {
        bits.extend(Zeroizing::new(parse(ty, whole)?).iter());
        return Ok(());
    }
    let Type::Array { len, elem } = ty else {
        let first = line_of(text, whole);
        if is_row(ty) && !whole.starts_with(['[', '{', '"']) {
            return row(ty, whole, bits).map_err(|reason| format!("line {first}: {reason}"));
        }
        return typed(ty, whole, bits).map_err(|reason| format!("line {first}: {reason}"));
    };
    let mut list = List { len: *len, elem, given: 0, bits };
    let inner = without_brackets(whole)?;
    let is_one_line = whole.lines().filter(|line| !line.trim().is_empty()).count() <= 1;
    if inner.len() < whole.len() || (is_one_line && whole.contains(['{', '['])) {
        list.add_all(text, inner)?;
        return list.finish(form.pad);
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        if !is_plain(elem) {
            list.add(|| number, |elem, bits| row(elem, line, bits))?;
            continue;
        }
        for cell in cells(line) {
            list.add(|| number, |elem, bits| leaf(elem, cell, bits))?;
        }
    }
    list.finish(form.pad)
}

/// The elements of an array that is being read.
struct List<'t, 'b> {
    len: u32,
    elem: &'t Type,
    given: u64,
    bits: &'b mut Vec<bool>,
}

impl List<'_, '_> {
    /// Adds an element; `line` is called only for an error, since it may have to count lines.
    fn add(
        &mut self,
        line: impl FnOnce() -> usize,
        read: impl FnOnce(&Type, &mut Vec<bool>) -> Result<(), String>,
    ) -> Result<(), String> {
        let number = self.given;
        self.given += 1;
        if number >= u64::from(self.len) {
            // `finish` reports how many there are in all.
            return Ok(());
        }
        read(self.elem, self.bits)
            .map_err(|reason| format!("line {}, element {number}: {reason}", line()))
    }

    /// Adds what is between the commas in a part of a text.
    fn add_all(&mut self, text: &str, inner: &str) -> Result<(), String> {
        let inner = inner.trim().strip_suffix(',').unwrap_or(inner);
        for element in elements(inner).filter(|_| !inner.trim().is_empty()) {
            let line = || line_of(text, element.trim_start());
            self.add(line, |elem, bits| typed(elem, element.trim(), bits))?;
        }
        Ok(())
    }

    fn finish(self, pad: bool) -> Result<(), String> {
        let List { len, elem, given, bits } = self;
        if given < u64::from(len) && pad {
            let missing = (u64::from(len) - given) * elem.width();
            bits.resize(bits.len() + missing as usize, false);
            return Ok(());
        }
        if given != u64::from(len) {
            return Err(format!("{len} elements expected, {given} given"));
        }
        Ok(())
    }
}

/// Reads the value under a key of a JSON file.
fn by_key(ty: &Type, text: &str, form: &FileForm, bits: &mut Vec<bool>) -> Result<(), String> {
    let [key] = &form.columns[..] else {
        return Err("one key is chosen from a JSON file: NAME.json#KEY".into());
    };
    match (key::chosen(text, key)?, ty) {
        (Chosen::Each(values), Type::Array { len, elem }) => {
            let mut list = List { len: *len, elem, given: 0, bits };
            for value in values {
                list.add(|| line_of(text, value), |elem, bits| typed(elem, value, bits))?;
            }
            list.finish(form.pad)
        }
        (Chosen::Each(_), _) => {
            Err("the file has a list of objects, but this value is not a list".into())
        }
        (Chosen::One(value), Type::Array { len, elem }) if value.starts_with('[') => {
            let mut list = List { len: *len, elem, given: 0, bits };
            list.add_all(text, without_brackets(value)?)?;
            list.finish(form.pad)
        }
        (Chosen::One(value), _) => {
            let inner = unquoted(value);
            let read = if inner.starts_with("hex:") || inner.starts_with("bits:") {
                parse(ty, inner).map(|all| bits.extend(Zeroizing::new(all).iter()))
            } else {
                typed(ty, value, bits)
            };
            read.map_err(|reason| format!("line {}: {reason}", line_of(text, value)))
        }
    }
}

/// Returns whether values of a type take several cells.
fn is_row(ty: &Type) -> bool {
    matches!(ty, Type::Array { .. } | Type::Tuple(_) | Type::Struct { .. })
}

/// Returns whether values of a type are one word each.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Enum { .. } => match ty.optional() {
            Some(Type::Enum { .. }) | None => false,
            Some(some) => is_plain(some),
        },
        _ => !is_row(ty),
    }
}

/// Returns the cells of a line: between commas or semicolons if there are any, else between spaces.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let separator = [',', ';'].into_iter().find(|&separator| line.contains(separator));
    match separator {
        // A comma at the end of the line ends its last cell.
        Some(separator) => {
            let line = line.strip_suffix(separator).unwrap_or(line);
            line.split(separator).map(str::trim).collect()
        }
        None => line.split_whitespace().collect(),
    }
}

/// Reads a value of several cells on one line, or in its own form.
fn row(ty: &Type, line: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    if line.contains(['[', '{', '"']) {
        return typed(ty, line.trim().trim_end_matches(','), bits);
    }
    let columns = leaves(ty)?;
    let cells = cells(line);
    if cells.len() != columns.len() {
        return Err(format!("{} values expected, {} given", columns.len(), cells.len()));
    }
    columns.iter().zip(cells).try_for_each(|((name, ty), cell)| {
        leaf(ty, cell, bits).map_err(|reason| format!("{name}: {reason}"))
    })
}

/// Reads a value of one cell; an empty cell means no value, for an optional type.
fn leaf(ty: &Type, cell: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    match cell.trim() {
        "" if ty.optional().is_some() => typed(ty, "null", bits),
        "" => Err("nothing is given".into()),
        cell => typed(ty, cell, bits),
    }
}

/// Returns the parts of a type that take one cell each, with their names: `price`, `at.0`.
fn leaves(ty: &Type) -> Result<Vec<(String, &Type)>, String> {
    fn walk<'t>(ty: &'t Type, name: String, all: &mut Vec<(String, &'t Type)>) -> Option<()> {
        let inner = |part: &dyn std::fmt::Display| match name.is_empty() {
            true => part.to_string(),
            false => format!("{name}.{part}"),
        };
        if all.len() >= MAX_COLUMNS {
            return None;
        }
        match ty {
            Type::Array { len, elem } => (0..*len).try_for_each(|i| walk(elem, inner(&i), all)),
            Type::Tuple(parts) => {
                parts.iter().enumerate().try_for_each(|(i, part)| walk(part, inner(&i), all))
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
fn csv(ty: &Type, text: &str, form: &FileForm, bits: &mut Vec<bool>) -> Result<(), String> {
    let (len, elem) = match ty {
        Type::Array { len, elem } => (*len, &**elem),
        _ => (1, ty),
    };
    let columns = leaves(elem)?;
    let mut rows = Rows::new(text);
    let mut places: Option<Vec<usize>> = None;
    let mut list = List { len, elem, given: 0, bits };
    while let Some((line, row)) = rows.next()? {
        let places = match &places {
            Some(places) => places,
            None => {
                let (found, is_header) = header(&row, &columns, &form.columns)?;
                let found = places.insert(found);
                if is_header {
                    continue;
                }
                found
            }
        };
        list.add(
            || line,
            |_, bits| {
                columns.iter().zip(places).try_for_each(|((name, ty), &place)| {
                    let cell = row.get(place).ok_or("the row has too few cells")?;
                    leaf(ty, cell, bits).map_err(|reason| match name.is_empty() {
                        true => reason,
                        false => format!("{name}: {reason}"),
                    })
                })
            },
        )?;
    }
    list.finish(form.pad)
}

/// Returns where the columns are, and whether the first row is a header.
fn header(
    first: &[Zeroizing<String>],
    columns: &[(String, &Type)],
    wanted: &[String],
) -> Result<(Vec<usize>, bool), String> {
    let find = |name: &String| first.iter().position(|cell| cell.trim() == name);
    let is_word = |cell: &str| cell.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if !wanted.is_empty() {
        if wanted.len() != columns.len() {
            let named = counted(wanted.len(), "column");
            return Err(format!("{named} chosen, {} needed", columns.len()));
        }
        // Any other cell may be a value, which is not shown.
        let names = || first.iter().map(|cell| cell.trim()).filter(|cell| is_word(cell));
        let found = wanted.iter().map(|name| {
            find(name).ok_or_else(|| {
                let near = key::nearest(name, names());
                format!("line 1: the header has no column `{name}`{near}")
            })
        });
        return Ok((found.collect::<Result<_, _>>()?, true));
    }
    let named: Option<Vec<usize>> = columns.iter().map(|(name, _)| find(name)).collect();
    if let Some(found) = named {
        return Ok((found, true));
    }
    // Words that are not values are names; anything else is a row.
    let is_value = |cell: &str| {
        let mut bits = Zeroizing::new(Vec::new());
        columns.iter().any(|(_, ty)| leaf(ty, cell, &mut bits).is_ok())
    };
    let is_header = first.iter().all(|cell| is_word(cell.trim()) && !is_value(cell));
    if first.len() != columns.len() {
        let names: Vec<&str> = columns.iter().map(|column| column.0.as_str()).collect();
        let names = if names == [""] { String::new() } else { format!(" ({})", names.join(", ")) };
        return Err(format!(
            "line 1: {} in the row, {} needed{names}; choose with NAME.csv#COLUMN,…",
            counted(first.len(), "column"),
            columns.len()
        ));
    }
    Ok(((0..columns.len()).collect(), is_header))
}

/// Formats `1 column`, `2 columns`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The cells of a row.
type Row = Vec<Zeroizing<String>>;

/// The rows of a CSV text, without blank ones.
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
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        // Spreadsheets of many countries separate by semicolons.
        let delimiter = [b',', b';', b'\t'].into_iter().find(|d| first.as_bytes().contains(d));
        let reader = ReaderBuilder::new().delimiter(delimiter.unwrap_or(b',')).build();
        // No cell is longer than the text, so the buffer never grows and leaves no copy behind.
        let cells = Zeroizing::new(vec![0; text.len() + 1]);
        Rows { reader, text, place: 0, line: 1, cells, ends: vec![0; 64] }
    }

    /// Returns the next row and the line on which it begins.
    fn next(&mut self) -> Result<Option<(usize, Row)>, String> {
        loop {
            let rest = &self.text.as_bytes()[self.place..];
            let blank = rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            self.skip(blank);
            let line = self.line;
            let Some(ends) = self.record()? else { return Ok(None) };
            let mut start = 0;
            let mut row = Vec::with_capacity(ends);
            for &end in &self.ends[..ends] {
                let cell = String::from_utf8(self.cells[start..end].to_vec());
                row.push(Zeroizing::new(
                    cell.map_err(|_| format!("line {line}: this is not text"))?,
                ));
                start = end;
            }
            if row.iter().any(|cell| !cell.trim().is_empty()) {
                return Ok(Some((line, row)));
            }
        }
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

/// Formats a value for a file, which [`parse_file`] reads back: CSV with a header if elements have
/// names, else one element per line; a value that is not a list, in its own form.
///
/// # Panics
/// When there are more or fewer bits than the type's width.
pub fn format_file(ty: &Type, bits: &[bool], csv: bool) -> String {
    let (elem, rows) = match ty {
        Type::Array { elem, .. } if elem.width() > 0 => {
            (&**elem, bits.chunks(elem.width() as usize).collect())
        }
        _ => (ty, vec![bits]),
    };
    let is_list = matches!(ty, Type::Array { .. });
    let columns = if csv { leaves(elem).unwrap_or_default() } else { Vec::new() };
    if columns.is_empty() {
        if !is_list {
            return format!("{}\n", format_value(ty, bits));
        }
        let rows = rows.iter().map(|bits| format_value(elem, bits).to_string());
        let rows: Vec<String> = rows.collect();
        return match is_plain(elem) {
            true => rows.join("\n") + "\n",
            false => format!("[\n{}\n]\n", rows.join(",\n")),
        };
    }
    let mut out = String::new();
    if !columns[0].0.is_empty() {
        let names: Vec<&str> = columns.iter().map(|column| column.0.as_str()).collect();
        out.push_str(&format!("{}\n", names.join(",")));
    }
    for mut bits in rows {
        let cells = columns.iter().map(|(_, ty)| {
            let (own, rest) = bits.split_at(ty.width() as usize);
            bits = rest;
            cell(&format_value(ty, own))
        });
        out.push_str(&format!("{}\n", cells.collect::<Vec<_>>().join(",")));
    }
    out
}

fn cell(value: &Value) -> String {
    let text = match value {
        Value::Name(name) => name.clone(),
        other => other.to_string(),
    };
    match text.contains([',', '"', ';', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
