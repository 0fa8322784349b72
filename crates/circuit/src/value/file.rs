//! Values in files: one number per line, CSV with or without a header, JSON.
//!
//! Reasons of errors name the line and the element, and never contain the text: it may be a secret.

mod csv;
mod transform;

use std::fmt;
use std::ops::Range;

use zeroize::Zeroizing;

use super::Wrong;
use super::format::format_value;
use super::key::{self, Chosen};
use super::parse::{
    PART, alone, cell, elements, line_of, raw_in_parts, typed, unquoted, without_brackets,
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
    let width = input.ty.width().min(u64::from(MAX_WIRES));
    let mut bits = Zeroizing::new(Vec::with_capacity(width as usize));
    parse_file_to(input, text, form, |part| bits.extend_from_slice(part))?;
    Ok(std::mem::take(&mut *bits))
}

/// Reads like [`parse_file`], and passes the bits to `take` in parts, so that a list takes little
/// memory besides.
///
/// # Errors
/// Those of [`parse_file`]; some bits may have been passed before.
pub fn parse_file_to(
    input: &Input,
    text: &str,
    form: &FileForm,
    mut take: impl FnMut(&[bool]),
) -> Result<(), CircuitError> {
    let error = |wrong| CircuitError::value(input, wrong);
    let width = input.ty.width();
    if width > u64::from(MAX_WIRES) {
        let reason = format!("an input cannot have more than {MAX_WIRES} bits");
        return Err(error(reason.into()));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    read(&input.ty, text, form, &mut Sink::new(&mut take)).map_err(error)
}

/// Where the bits go that are read.
struct Sink<'s> {
    take: &'s mut dyn FnMut(&[bool]),
}

impl<'s> Sink<'s> {
    fn new(take: &'s mut dyn FnMut(&[bool])) -> Self {
        Sink { take }
    }

    /// Passes on what `read` adds: the bits of a value of this type.
    fn one<E>(
        &mut self,
        ty: &Type,
        read: impl FnOnce(&mut Vec<bool>) -> Result<(), E>,
    ) -> Result<(), E> {
        // No list grows, so none leaves a copy behind.
        let mut bits = Zeroizing::new(Vec::with_capacity(ty.width() as usize));
        read(&mut bits)?;
        (self.take)(&bits);
        Ok(())
    }
}

fn read(ty: &Type, text: &str, form: &FileForm, to: &mut Sink<'_>) -> Result<(), Wrong> {
    let whole = text.trim();
    if form.csv {
        return csv::read(ty, text, form, to);
    }
    if !form.columns.is_empty() {
        return by_key(ty, text, form, to);
    }
    if form.json {
        return one_value(ty, text, key::document(text)?, form.pad, to);
    }
    if let Some(done) = raw_in_parts(whole, ty.width() as usize, to.take) {
        return Ok(done?);
    }
    let Type::Array { len, elem } = ty else {
        let first = line_of(text, whole);
        let is_bare = is_row(ty) && !whole.starts_with(['[', '{', '"']);
        let read = to.one(ty, |bits| match is_bare {
            true => row(ty, whole, bits),
            false => alone(ty, whole, bits),
        });
        return Ok(read.map_err(|reason| format!("line {first}: {reason}"))?);
    };
    let mut list = List::new(*len, elem, to);
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
struct List<'t, 'b, 's> {
    len: u32,
    elem: &'t Type,
    given: u64,
    /// What has not been passed on yet.
    bits: Zeroizing<Vec<bool>>,
    to: &'b mut Sink<'s>,
}

impl<'t, 'b, 's> List<'t, 'b, 's> {
    fn new(len: u32, elem: &'t Type, to: &'b mut Sink<'s>) -> Self {
        // It never grows.
        let most = (elem.width() as usize).saturating_add(PART);
        List { len, elem, given: 0, bits: Zeroizing::new(Vec::with_capacity(most)), to }
    }

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
        read(self.elem, &mut self.bits)
            .map_err(|reason| format!("line {}, element {number}: {reason}", line()))?;
        if self.bits.len() >= PART {
            self.pass_on();
        }
        Ok(())
    }

    fn pass_on(&mut self) {
        (self.to.take)(&self.bits);
        self.bits.clear();
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

    fn finish(mut self, pad: bool) -> Result<(), Wrong> {
        self.pass_on();
        let List { len, elem, given, .. } = self;
        if given < u64::from(len) && pad {
            let mut missing = (u64::from(len) - given) * elem.width();
            while missing > 0 {
                let part = missing.min(PART as u64);
                (self.to.take)(&[false; PART][..part as usize]);
                missing -= part;
            }
            return Ok(());
        }
        if given != u64::from(len) {
            return Err(Wrong::length(len.into(), given));
        }
        Ok(())
    }
}

/// Reads the value under a key of a JSON file.
fn by_key(ty: &Type, text: &str, form: &FileForm, to: &mut Sink<'_>) -> Result<(), Wrong> {
    let [key] = &form.columns[..] else {
        return Err("one key is chosen from a JSON file: NAME.json#KEY".to_string().into());
    };
    let Column { name: key, transform } = Column::new(key)?;
    match (key::chosen(text, key)?, ty) {
        (Chosen::Each(values), Type::Array { len, elem }) => {
            let mut list = List::new(*len, elem, to);
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
                let read = to.one(ty, |bits| transform.of_json(ty, value, bits));
                Ok(read.map_err(|reason| format!("line {}: {reason}", line_of(text, value)))?)
            }
            None => one_value(ty, text, value, form.pad, to),
        },
    }
}

/// Reads a value that is a part of a JSON text.
fn one_value(
    ty: &Type,
    text: &str,
    value: &str,
    pad: bool,
    to: &mut Sink<'_>,
) -> Result<(), Wrong> {
    if let (Type::Array { len, elem }, true) = (ty, value.starts_with('[')) {
        let mut list = List::new(*len, elem, to);
        list.add_all(text, without_brackets(value)?)?;
        return list.finish(pad);
    }
    let inner = unquoted(value);
    let raw = || raw_in_parts(inner, ty.width() as usize, to.take);
    let read = match (!is_text(ty)).then(raw).flatten() {
        Some(done) => done,
        None => to.one(ty, |bits| typed(ty, value, bits)),
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
    assert_eq!(bits.len() as u64, ty.width(), "one bit per wire of the type");
    let mut out = String::new();
    // Nothing fails to be written to a string.
    let _ = write_file(ty, |range| bits[range].to_vec(), csv, &mut out);
    out
}

/// Writes what [`format_file`] returns; takes the bits in parts.
///
/// # Errors
/// Those of `out`.
pub fn write_file(
    ty: &Type,
    bits: impl Fn(Range<usize>) -> Vec<bool>,
    csv: bool,
    out: &mut impl fmt::Write,
) -> fmt::Result {
    let (elem, len) = match ty {
        Type::Array { len, elem } if elem.width() > 0 => (&**elem, *len as usize),
        _ => (ty, 1),
    };
    let is_list = matches!(ty, Type::Array { .. });
    let columns = if csv { leaves(elem).unwrap_or_default() } else { Vec::new() };
    let width = elem.width() as usize;
    if columns.is_empty() && !is_list {
        return writeln!(out, "{}", format_value(ty, &Zeroizing::new(bits(0..width))));
    }
    let is_bare = !columns.is_empty() || is_plain(elem);
    match columns.is_empty() {
        false => out.write_str(&csv::header_line(&columns))?,
        true => out.write_str(if is_bare { "" } else { "[\n" })?,
    }
    if len == 0 && columns.is_empty() {
        out.write_str("\n")?;
    }
    for row in 0..len {
        let own = Zeroizing::new(bits(row * width..(row + 1) * width));
        let comma = if is_bare || row + 1 == len { "" } else { "," };
        match columns.is_empty() {
            true => writeln!(out, "{}{comma}", format_value(elem, &own))?,
            false => writeln!(out, "{}", csv::line(&columns, &own))?,
        }
    }
    out.write_str(if is_bare { "" } else { "]\n" })
}
