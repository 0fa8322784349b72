//! From text to bits. Reasons of errors never contain the text: it may be a secret.

use zeroize::Zeroizing;

use super::decimal::{self, MAX_DIGITS};
use super::{DECIMAL_BITS, compound};
use crate::validate::MAX_WIRES;
use crate::{CircuitError, Input, Type};

/// Reads a value for an input, in any of the [text forms](super), into bits, index = wire.
///
/// # Errors
/// [`CircuitError::Value`], which names the input and its type and says what is wrong, but never
/// repeats the value.
pub fn parse_value(input: &Input, text: &str) -> Result<Vec<bool>, CircuitError> {
    parse(&input.ty, text.trim()).map_err(|reason| CircuitError::Value {
        input: input.name.clone(),
        ty: input.ty.to_string(),
        reason,
    })
}

/// Timing: values as `bits:`, `hex:`, `0x` | every digit is treated alike
pub(super) fn parse(ty: &Type, text: &str) -> Result<Vec<bool>, String> {
    let width = ty.width();
    if width > u64::from(MAX_WIRES) {
        return Err(format!("an input cannot have more than {MAX_WIRES} bits"));
    }
    let mut bits = Zeroizing::new(Vec::with_capacity(width as usize));
    if let Some(digits) = text.strip_prefix("hex:") {
        hex(digits, width as usize, &mut bits)?;
    } else if let Some(digits) = text.strip_prefix("bits:") {
        binary(digits, width as usize, &mut bits)?;
    } else {
        typed(ty, text, &mut bits)?;
    }
    debug_assert_eq!(bits.len() as u64, width);
    Ok(std::mem::take(&mut *bits))
}

fn binary(digits: &str, width: usize, bits: &mut Vec<bool>) -> Result<(), String> {
    if digits.len() != width {
        return Err(format!("`bits:` needs exactly {width} digits, {} given", digits.len()));
    }
    // Nothing here stops or branches at a digit, so the time reveals only their number.
    let all_binary = digits.bytes().fold(true, |all, byte| all & (byte & !1 == b'0'));
    if !all_binary {
        return Err("`bits:` takes the digits 0 and 1 only".into());
    }
    bits.extend(digits.bytes().map(|byte| byte & 1 == 1));
    Ok(())
}

/// Adds `width` bits: those of the hexadecimal digits, from the last one on, then zeros.
pub(super) fn hex(digits: &str, width: usize, bits: &mut Vec<bool>) -> Result<(), String> {
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
    let end = bits.len() + width;
    let mut beyond = 0;
    for byte in digits.bytes().rev() {
        // The low halves of `0` and `a` are 0 and 1, and letters are those with a bit above the low
        // six.
        let digit = (byte & 15) + 9 * (byte >> 6);
        for i in 0..4 {
            let bit = digit >> i & 1;
            if bits.len() < end {
                bits.push(bit == 1);
            } else {
                beyond |= bit;
            }
        }
    }
    if beyond != 0 {
        return Err(format!("the hexadecimal number does not fit into {width} bits"));
    }
    bits.resize(end, false);
    Ok(())
}

/// Reads a value in the form of its type.
pub(super) fn typed(ty: &Type, text: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    // Numbers can be quoted, as in the JSON that is printed.
    let text = match ty {
        Type::Enum { .. } => text,
        _ => compound::unquoted(text),
    };
    match ty {
        Type::Uint(width) => integer(text, *width, false, bits),
        Type::Int(width) => integer(text, *width, true, bits),
        Type::Array { len, elem } => {
            let list = without_brackets(text)?;
            let given = if list.is_empty() && *len == 0 { 0 } else { elements(list).count() };
            if given as u64 != u64::from(*len) {
                // Files may have spaces between elements, which is easily mistaken for the rule
                // here.
                let spaced = given == 1 && list.contains(char::is_whitespace);
                let commas = if spaced { ": a list is written with commas, 1,2,3" } else { "" };
                return Err(format!("{len} elements expected, {given} given{commas}"));
            }
            elements(list).take(given).enumerate().try_for_each(|(i, element)| {
                typed(elem, element.trim(), bits).map_err(|reason| format!("element {i}: {reason}"))
            })
        }
        _ => compound::typed_compound(ty, text, bits),
    }
}

/// Returns the line, from 1, on which a part of a text begins.
pub(super) fn line_of(text: &str, part: &str) -> usize {
    let start = (part.as_ptr().addr() - text.as_ptr().addr()).min(text.len());
    text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// Returns what is between the brackets, if the first and the last character are a pair of them;
/// checks that all brackets are paired.
pub(super) fn without_brackets(text: &str) -> Result<&str, String> {
    let mut depth = 0usize;
    let mut closes_first = None;
    for (i, byte) in text.bytes().enumerate() {
        match byte {
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
        Some(inner) if closes_first == Some(text.len() - 1) => Ok(inner.trim()),
        _ => Ok(text),
    }
}

/// Returns the parts between the commas outside of brackets.
pub(super) fn elements(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    list.split(move |c| {
        match c {
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
    if let Some(digits) = text.strip_prefix("0x") {
        return hex(digits, width as usize, bits);
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(
            "not an integer (decimal, or hexadecimal after 0x), nor `hex:…` or `bits:…`".into()
        );
    }
    if negative && !signed {
        return Err("negative, but the type is unsigned".into());
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
    let padded = magnitude.iter().copied().chain(std::iter::repeat(false)).take(width as usize);
    // −x = ¬x + 1: the bits up to the lowest 1 stay, those above flip.
    let mut turn = false;
    bits.extend(padded.map(|bit| {
        let result = bit ^ turn;
        turn |= bit && negative;
        result
    }));
    Ok(())
}
