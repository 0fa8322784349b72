//! From texts to bits, and from cells of CSV, which are texts themselves.

use super::{hex, raw, typed};
use crate::Type;
use crate::value::text::{from_json, room};

/// Adds the bits of a value that is not among others: a text of any characters needs no quotes.
pub(in crate::value) fn alone(
    ty: &Type,
    written: &str,
    bits: &mut Vec<bool>,
) -> Result<(), String> {
    match room(ty) {
        Some(len) if !is_none(ty, written) => {
            some(ty, bits);
            text(written, len, bits)
        }
        _ => typed(ty, written, bits),
    }
}

/// Adds the bits of a value of a CSV cell, which is the text itself, with all its spaces and
/// without escapes; an empty one is no value of an optional type.
pub(in crate::value) fn cell(ty: &Type, cell: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    match (room(ty), cell.trim()) {
        (Some(len), _) if !cell.is_empty() || matches!(ty, Type::Text(_)) => {
            some(ty, bits);
            content(cell, len, bits)
        }
        (_, "") if ty.optional().is_some() => typed(ty, "null", bits),
        (_, "") => Err("nothing is given".into()),
        (_, cell) => typed(ty, cell, bits),
    }
}

fn is_none(ty: &Type, written: &str) -> bool {
    !matches!(ty, Type::Text(_)) && matches!(written, "null" | "None")
}

/// Adds the number of `Some` if the type is optional.
fn some(ty: &Type, bits: &mut Vec<bool>) {
    bits.extend((ty.tag_bits() > 0).then_some(true));
}

/// Adds the bits of a text among other values: in quotes, as in JSON, or without them where it has
/// no quotes and no brackets.
pub(super) fn text_among(written: &str, len: u32, bits: &mut Vec<bool>) -> Result<(), String> {
    if !written.starts_with('"') && written.contains(['"', '[', ']', '{', '}']) {
        return Err("a text with quotes or brackets is written in quotes, as in JSON".into());
    }
    text(written, len, bits)
}

/// Timing: texts | **depends** on length and characters
fn text(written: &str, len: u32, bits: &mut Vec<bool>) -> Result<(), String> {
    if written.starts_with('"') {
        return content(&from_json(written)?, len, bits);
    }
    match raw(written, 8 * len as usize, bits) {
        Some(done) => done,
        None => content(written, len, bits),
    }
}

/// Adds the bits of these characters. `hex:` and all digits are raw bits: they are longer than any
/// text of the type.
fn content(text: &str, len: u32, bits: &mut Vec<bool>) -> Result<(), String> {
    let width = 8 * len as usize;
    let digits = text.strip_prefix("hex:").filter(|digits| digits.len() == width / 4);
    if let Some(digits) = digits {
        return hex(digits, width, &mut |part| bits.extend_from_slice(part));
    }
    if text.len() > len as usize {
        return Err(format!("at most {len} bytes of UTF-8 fit, {} given", text.len()));
    }
    if text.contains('\0') {
        return Err("a text has no zero bytes".into());
    }
    let end = bits.len() + width;
    bits.extend(text.bytes().flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1)));
    bits.resize(end, false);
    Ok(())
}
