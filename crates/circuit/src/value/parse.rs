//! From text to bits. Reasons of errors never contain the text: it may be a secret.

mod compound;
mod text;

use zeroize::Zeroizing;

use super::decimal::{self, MAX_DIGITS};
use super::text::is_text;
use super::{DECIMAL_BITS, Wrong};
use crate::validate::MAX_WIRES;
use crate::{CircuitError, Input, Type};

pub(super) use text::{alone, cell};

/// Reads a value for an input, in any of the [text forms](super), into bits, index = wire.
///
/// # Errors
/// [`CircuitError::Value`] or [`CircuitError::Length`], which names the input and its type and says
/// what is wrong, but never repeats the value.
pub fn parse_value(input: &Input, text: &str) -> Result<Vec<bool>, CircuitError> {
    let text = text.trim();
    let read = match &input.ty {
        Type::Array { len, elem } if !is_raw(text) => list(*len, listed(elem, text)).map(drop),
        _ => Ok(()),
    };
    let read = read.and_then(|()| Ok(parse(&input.ty, text)?));
    read.map_err(|wrong| CircuitError::value(input, wrong))
}

/// Timing: values as `bits:`, `hex:`, `0x` | every digit is treated alike
pub(super) fn parse(ty: &Type, text: &str) -> Result<Vec<bool>, String> {
    let width = ty.width();
    if width > u64::from(MAX_WIRES) {
        return Err(format!("an input cannot have more than {MAX_WIRES} bits"));
    }
    let mut bits = Zeroizing::new(Vec::with_capacity(width as usize));
    match raw(text, width as usize, &mut bits) {
        Some(done) => done?,
        None => alone(ty, text, &mut bits)?,
    }
    debug_assert_eq!(bits.len() as u64, width);
    Ok(std::mem::take(&mut *bits))
}

/// Returns whether a text is the raw bits of one value, and not a list that begins with them.
pub(super) fn is_raw(text: &str) -> bool {
    let is_one = || !text.contains(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
    (text.starts_with("hex:") || text.starts_with("bits:")) && is_one()
}

/// Adds raw bits; returns nothing if the text has another form.
fn raw(text: &str, width: usize, bits: &mut Vec<bool>) -> Option<Result<(), String>> {
    raw_in_parts(text, width, &mut |part| bits.extend_from_slice(part))
}

/// Passes on raw bits, some at a time; returns nothing if the text has another form.
pub(super) fn raw_in_parts(
    text: &str,
    width: usize,
    take: &mut dyn FnMut(&[bool]),
) -> Option<Result<(), String>> {
    if !is_raw(text) {
        return None;
    }
    let (prefix, digits) = text.split_once(':')?;
    Some(if prefix == "hex" { hex(digits, width, take) } else { binary(digits, width, take) })
}

/// This many bits are passed on together.
pub(super) const PART: usize = 1 << 12;

fn binary(digits: &str, width: usize, take: &mut dyn FnMut(&[bool])) -> Result<(), String> {
    if digits.len() != width {
        return Err(format!("`bits:` needs exactly {width} digits, {} given", digits.len()));
    }
    // Nothing here stops or branches at a digit, so the time reveals only their number.
    let all_binary = digits.bytes().fold(true, |all, byte| all & (byte & !1 == b'0'));
    if !all_binary {
        return Err("`bits:` takes the digits 0 and 1 only".into());
    }
    in_parts(digits.bytes().map(|byte| byte & 1 == 1), take);
    Ok(())
}

fn in_parts(mut bits: impl Iterator<Item = bool>, take: &mut dyn FnMut(&[bool])) {
    let mut part = Zeroizing::new(Vec::with_capacity(PART));
    loop {
        part.clear();
        part.extend(bits.by_ref().take(PART));
        if part.is_empty() {
            return;
        }
        take(&part);
    }
}

/// Passes on `width` bits: those of the hexadecimal digits, from the last one on, then zeros.
pub(super) fn hex(digits: &str, width: usize, take: &mut dyn FnMut(&[bool])) -> Result<(), String> {
    if digits.is_empty() {
        return Err("no hexadecimal digits".into());
    }
    // As above: a digit's kind and value are computed without branches.
    if !digits.bytes().fold(true, |all, byte| all & byte.is_ascii_hexdigit()) {
        return Err("not a hexadecimal number".into());
    }
    let most = width.div_ceil(4);
    if digits.len() > most {
        return Err(format!("at most {most} hexadecimal digits fit, {} given", digits.len()));
    }
    // The low halves of `0` and `a` are 0 and 1, and letters are those with a bit above the low
    // six.
    let value = |byte: u8| (byte & 15) + 9 * (byte >> 6);
    let spare = (4 * digits.len()).saturating_sub(width);
    if value(digits.as_bytes()[0]) >> (4 - spare) != 0 {
        return Err(format!("the hexadecimal number does not fit into {width} bits"));
    }
    let digits = digits.bytes().rev().map(value);
    let bits = digits.flat_map(|digit| [0, 1, 2, 3].map(|i| digit >> i & 1 == 1));
    in_parts(bits.chain(std::iter::repeat(false)).take(width), take);
    Ok(())
}

/// Reads a value in the form of its type.
pub(super) fn typed(ty: &Type, text: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    // A variant is not quoted here, and raw bits of an optional value are those of the value.
    if matches!(ty, Type::Enum { .. }) {
        return compound::typed_compound(ty, text, bits);
    }
    if let Type::Text(len) = ty {
        return text::text_among(text, *len, bits);
    }
    // Numbers can be quoted, as in the JSON that is printed.
    let text = match ty {
        Type::Array { elem, .. } => listed(elem, text),
        _ => unquoted(text),
    };
    if let Some(done) = raw(text, ty.width() as usize, bits) {
        return done;
    }
    match ty {
        Type::Uint(width) => integer(text, *width, false, bits),
        Type::Int(width) => integer(text, *width, true, bits),
        Type::Array { len, elem } => {
            let list = list(*len, text).map_err(Wrong::reason)?;
            elements(list).take(*len as usize).enumerate().try_for_each(|(i, element)| {
                typed(elem, element.trim(), bits).map_err(|reason| format!("element {i}: {reason}"))
            })
        }
        _ => compound::typed_compound(ty, text, bits),
    }
}

/// Returns what is between the brackets of a list, if there are any; checks its length.
fn list(len: u32, text: &str) -> Result<&str, Wrong> {
    let list = without_brackets(text)?;
    let given = if list.is_empty() && len == 0 { 0 } else { elements(list).count() as u64 };
    if given == u64::from(len) {
        return Ok(list);
    }
    // Files may have spaces between elements, which is easily mistaken for the rule here.
    let spaced = given == 1 && list.contains(char::is_whitespace);
    let commas = if spaced { ": a list is written with commas, 1,2,3" } else { "" };
    Err(Wrong::length(len.into(), given).map(|reason| reason + commas))
}

/// Returns a list of such elements without the quotes around it; those around a single text are its
/// own.
fn listed<'t>(elem: &Type, list: &'t str) -> &'t str {
    let inner = unquoted(list);
    if is_text(elem) && !is_raw(inner) { list } else { inner }
}

/// Returns what is between the quotes of one quoted text; anything else, such as a list of quoted
/// names, stays.
pub(super) fn unquoted(name: &str) -> &str {
    let inner = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.filter(|inner| !inner.contains('"')).unwrap_or(name)
}

/// Returns the line, from 1, on which a part of a text begins.
pub(super) fn line_of(text: &str, part: &str) -> usize {
    let start = (part.as_ptr().addr() - text.as_ptr().addr()).min(text.len());
    text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// Returns what is between the brackets, if the first and the last character are a pair of them;
/// checks that all brackets are paired, and the numbers directly between the outer ones.
pub(super) fn without_brackets(text: &str) -> Result<&str, String> {
    let mut depth = 0usize;
    let mut closes_first = None;
    let mut quotes = Quotes::default();
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            _ if quotes.hold(byte.into()) => {}
            b'[' => depth += 1,
            b']' => {
                depth = depth.checked_sub(1).ok_or("unpaired brackets")?;
                if depth == 0 && closes_first.is_none() {
                    closes_first = Some(i);
                }
            }
            _ => {}
        }
    }
    if depth != 0 {
        return Err("unpaired brackets".into());
    }
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner {
        Some(inner) if closes_first == Some(text.len() - 1) => {
            elements(inner).try_for_each(as_in_json)?;
            Ok(inner.trim())
        }
        _ => Ok(text),
    }
}

/// Refuses a number that begins with zeros, which elsewhere may mean an octal one; only numbers
/// that stand alone may begin with zeros.
pub(super) fn as_in_json(number: &str) -> Result<(), String> {
    let number = number.trim();
    match number.strip_prefix('-').unwrap_or(number).as_bytes() {
        [b'0', digit, ..] if digit.is_ascii_digit() => {
            Err("a number within brackets or braces begins with a 0 too many".into())
        }
        _ => Ok(()),
    }
}

/// Tells which characters are within quotes, in which a backslash escapes the next one.
#[derive(Default)]
pub(super) struct Quotes {
    open: bool,
    escaped: bool,
}

impl Quotes {
    /// Returns whether the next character of a text is within quotes; the quotes themselves are.
    pub(super) fn hold(&mut self, c: char) -> bool {
        let was_open = self.open;
        let ends = c == '"' && !self.escaped;
        self.escaped = was_open && c == '\\' && !self.escaped;
        self.open ^= ends;
        was_open || self.open
    }
}

/// Returns the parts between the commas outside of brackets and quotes.
pub(super) fn elements(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    let mut quotes = Quotes::default();
    list.split(move |c| {
        match c {
            c if quotes.hold(c) => return false,
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Adds the bits of an integer in decimal, or after `0x` in hexadecimal.
///
/// Timing: decimal values | **depends** on length, sign and size
fn integer(text: &str, width: u32, signed: bool, bits: &mut Vec<bool>) -> Result<(), String> {
    let (negative, digits) = sign(text);
    if negative && !signed {
        return Err("negative, but the type is unsigned".into());
    }
    if let Some(digits) = digits.strip_prefix("0x") {
        return hexadecimal(digits, negative, (width as usize, signed), bits);
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(
            "not an integer (decimal, or hexadecimal after 0x), nor `hex:…` or `bits:…`".into()
        );
    }
    let Some(magnitude) = decimal::to_bits(digits.as_bytes()) else {
        return Err(if width > DECIMAL_BITS {
            format!("decimal numbers have at most {MAX_DIGITS} digits; use `hex:…`")
        } else {
            format!("does not fit into {width} bits")
        });
    };
    // The lowest number of w bits is −2^(w−1), the highest 2^(w−1) − 1.
    let limit = (width as usize).saturating_sub(usize::from(signed));
    let lowest = negative
        && magnitude.len() == limit + 1
        && magnitude.iter().filter(|&&bit| bit).count() == 1;
    if magnitude.len() > limit && !lowest {
        return Err(format!("does not fit into {width} bits"));
    }
    let start = bits.len();
    bits.extend_from_slice(&magnitude);
    bits.resize(start + width as usize, false);
    negate_if(negative, &mut bits[start..]);
    Ok(())
}

/// Splits off a minus.
pub(super) fn sign(text: &str) -> (bool, &str) {
    text.strip_prefix('-').map_or((false, text), |rest| (true, rest))
}

/// Adds the bits of the integer that these hexadecimal digits are, or of its opposite, in this
/// width and two's complement if it is signed.
pub(super) fn hexadecimal(
    digits: &str,
    negative: bool,
    (width, signed): (usize, bool),
    bits: &mut Vec<bool>,
) -> Result<(), String> {
    let start = bits.len();
    hex(digits, width, &mut |part| bits.extend_from_slice(part))?;
    let number = &mut bits[start..];
    if let (true, Some((&top, rest))) = (signed, number.split_last()) {
        // As above: all bits are seen, whatever they are.
        let more = rest.iter().fold(false, |any, &bit| any | bit);
        if top & (!negative | more) {
            return Err(format!(
                "does not fit into {width} bits; `hex:…` takes the bits themselves"
            ));
        }
    }
    negate_if(negative, number);
    Ok(())
}

/// Replaces a number by its opposite in two's complement if `negative`.
pub(super) fn negate_if(negative: bool, bits: &mut [bool]) {
    // −x = ¬x + 1: the bits up to the lowest 1 stay, those above flip.
    let mut turn = false;
    for bit in bits {
        let old = *bit;
        *bit = old ^ turn;
        turn |= old & negative;
    }
}
