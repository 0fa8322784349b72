//! Values in files: one number per line, CSV with or without a header, JSON.
//!
//! Reasons of errors name the line and the element, and never contain the text: it may be a secret.

mod csv;
mod transform;

use zeroize::Zeroizing;

use super::Wrong;
use super::format::format_value;
use super::key::{self, Chosen};
use super::parse::{
    alone, cell, elements, is_raw, line_of, parse, typed, unquoted, without_brackets,
};
use super::text::is_text;
use crate::validate::MAX_WIRES;
use crate::{CircuitError, Input, Type};
use csv::{leaves, named};
use transform::Column;

/// How a file's text becomes a value.
#[derive(Clone, Debug, Default)]
pub struct FileForm {
    /// Whether the file is CSV: rows of cells, the first row possibly a header.
    pub csv: bool,
    /// Whether the file is JSON: all of it must be one valid document.
    pub json: bool,
    /// The columns of CSV to take, by the names in the header, or the key of JSON; if empty, all
    /// that the type needs. `NAME|sha256` and `NAME|hex` make an integer of a text.
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
/// [`CircuitError::Value`], which names the line and the element where the value is wrong, or
/// [`CircuitError::Length`].
pub fn parse_file(input: &Input, text: &str, form: &FileForm) -> Result<Vec<bool>, CircuitError> {
    let error = |wrong| CircuitError::value(input, wrong);
    let width = input.ty.width();
    if width > u64::from(MAX_WIRES) {
        let reason = format!("an input cannot have more than {MAX_WIRES} bits");
        return Err(error(reason.into()));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut bits = Zeroizing::new(Vec::with_capacity(width as usize));
    read(&input.ty, text, form, &mut bits).map_err(error)?;
    Ok(std::mem::take(&mut *bits))
}

fn read(ty: &Type, text: &str, form: &FileForm, bits: &mut Vec<bool>) -> Result<(), Wrong> {
    let whole = text.trim();
    if form.csv {
        return csv::read(ty, text, form, bits);
    }
    if !form.columns.is_empty() {
        return by_key(ty, text, form, bits);
    }
    if form.json {
        return one_value(ty, text, key::document(text)?, form.pad, bits);
    }
    if is_raw(whole) {
        bits.extend(Zeroizing::new(parse(ty, whole)?).iter());
        return Ok(());
    }
    let Type::Array { len, elem } = ty else {
        let first = line_of(text, whole);
        if is_row(ty) && !whole.starts_with(['[', '{', '"']) {
            return Ok(row(ty, whole, bits).map_err(|reason| format!("line {first}: {reason}"))?);
        }
        return Ok(alone(ty, whole, bits).map_err(|reason| format!("line {first}: {reason}"))?);
    };
    let mut list = List { len: *len, elem, given: 0, bits };
    let of_texts = is_text(elem);
    let inner = if of_texts && !whole.starts_with('[') { whole } else { without_brackets(whole)? };
    let is_one_line = whole.lines().filter(|line| !line.trim().is_empty()).count() <= 1;
    let is_list = whole.contains(['{', '[']) || (whole.contains('"') && !is_plain(elem));
    let is_list = is_list && !of_texts;
    if inner.len() < whole.len() || (is_one_line && is_list) {
        // Where elements take a line each, a comma may end the line.
        let is_bare = inner.len() == whole.len();
        let inner = inner.strip_suffix(',').filter(|_| is_bare).unwrap_or(inner);
        list.add_all(text, inner)?;
        return list.finish(form.pad);
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        if of_texts {
            list.add(|| number, |elem, bits| alone(elem, line.trim(), bits))?;
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
        if inner.trim_end().ends_with(',') {
            return Err("a comma follows the last element of a list in brackets".into());
        }
        for element in elements(inner).filter(|_| !inner.trim().is_empty()) {
            let line = || line_of(text, element.trim_start());
            self.add(line, |elem, bits| typed(elem, element.trim(), bits))?;
        }
        Ok(())
    }

    fn finish(self, pad: bool) -> Result<(), Wrong> {
        let List { len, elem, given, bits } = self;
        if given < u64::from(len) && pad {
            let missing = (u64::from(len) - given) * elem.width();
            bits.resize(bits.len() + missing as usize, false);
            return Ok(());
        }
        if given != u64::from(len) {
            return Err(Wrong::length(len.into(), given));
        }
        Ok(())
    }
}

/// Reads the value under a key of a JSON file.
fn by_key(ty: &Type, text: &str, form: &FileForm, bits: &mut Vec<bool>) -> Result<(), Wrong> {
    let [key] = &form.columns[..] else {
        return Err("one key is chosen from a JSON file: NAME.json#KEY".to_string().into());
    };
    let Column { name: key, transform } = Column::new(key)?;
    match (key::chosen(text, key)?, ty) {
        (Chosen::Each(values), Type::Array { len, elem }) => {
            let mut list = List { len: *len, elem, given: 0, bits };
            let read = |elem: &Type, value: &str, bits: &mut Vec<bool>| match transform {
                Some(transform) => transform.of_json(elem, value, bits),
                None => typed(elem, value, bits),
            };
            for value in values {
                list.add(|| line_of(text, value), |elem, bits| read(elem, value, bits))?;
            }
            list.finish(form.pad)
        }
        (Chosen::Each(_), _) => {
            Err("the file has a list of objects, but this value is not a list".to_string().into())
        }
        (Chosen::One(value), _) => match transform {
            Some(transform) => {
                let read = transform.of_json(ty, value, bits);
                Ok(read.map_err(|reason| format!("line {}: {reason}", line_of(text, value)))?)
            }
            None => one_value(ty, text, value, form.pad, bits),
        },
    }
}

/// Reads a value that is a part of a JSON text.
fn one_value(
    ty: &Type,
    text: &str,
    value: &str,
    pad: bool,
    bits: &mut Vec<bool>,
) -> Result<(), Wrong> {
    if let (Type::Array { len, elem }, true) = (ty, value.starts_with('[')) {
        let mut list = List { len: *len, elem, given: 0, bits };
        list.add_all(text, without_brackets(value)?)?;
        return list.finish(pad);
    }
    let inner = unquoted(value);
    let read = if is_raw(inner) && !is_text(ty) {
        parse(ty, inner).map(|all| bits.extend(Zeroizing::new(all).iter()))
    } else {
        typed(ty, value, bits)
    };
    Ok(read.map_err(|reason| format!("line {}: {reason}", line_of(text, value)))?)
}

/// Returns whether values of a type take several cells.
fn is_row(ty: &Type) -> bool {
    matches!(ty, Type::Array { .. } | Type::Tuple(_) | Type::Struct { .. })
}

/// Returns whether values of a type are one word each.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Enum { variants, .. } => match ty.optional() {
            Some(some) => some.optional().is_none() && is_plain(some),
            None => variants.iter().all(|(_, payload)| payload.is_empty()),
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

/// Reads a value of one cell of a line; an empty one means no value, for an optional type.
fn leaf(ty: &Type, text: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    if text.is_empty() { cell(ty, text, bits) } else { alone(ty, text, bits) }
}

/// Reads a value of several cells on one line, or in its own form.
fn row(ty: &Type, line: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    if line.contains(['[', '{', '"']) {
        let line = line.trim();
        return typed(ty, line.strip_suffix(',').unwrap_or(line), bits);
    }
    let columns = leaves(ty)?;
    let cells = cells(line);
    if cells.len() != columns.len() {
        return Err(format!("{} values expected, {} given", columns.len(), cells.len()));
    }
    columns.iter().zip(cells).try_for_each(|((name, ty), cell)| {
        leaf(ty, cell, bits).map_err(|reason| named(name, reason))
    })
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
    let mut out = csv::header_line(&columns);
    for mut bits in rows {
        let cells = columns.iter().map(|(_, ty)| {
            let (own, rest) = bits.split_at(ty.width() as usize);
            bits = rest;
            csv::cell(ty, own)
        });
        out.push_str(&format!("{}\n", cells.collect::<Vec<_>>().join(",")));
    }
    out
}
