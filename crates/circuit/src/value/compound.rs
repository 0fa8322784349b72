//! From text to the bits of truth values, fixed-point numbers, tuples, structures and variants.

use zeroize::Zeroizing;

use super::parse::{elements, typed, without_brackets};
use super::{MAX_FRACTION, decimal};
use crate::Type;

/// Reads a value of one of these types in its own form.
pub(super) fn typed_compound(ty: &Type, text: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    let end = bits.len() + ty.width() as usize;
    match ty {
        Type::Bool => match text {
            "true" | "1" => bits.push(true),
            "false" | "0" => bits.push(false),
            _ => return Err("expected `true` or `false`".into()),
        },
        Type::F32 => float::<f32>(text, |x| x.to_bits().into(), 32, bits)?,
        Type::F64 => float::<f64>(text, f64::to_bits, 64, bits)?,
        Type::Fixed { int, frac } => fixed(text, *int as usize, *frac as usize, bits)?,
        Type::Tuple(parts) => all(parts, without_brackets(text)?, bits)?,
        Type::Struct { fields, .. } => structure(fields, text, bits)?,
        Type::Enum { .. } => variant(ty, text, bits)?,
        Type::Uint(_) | Type::Int(_) | Type::Array { .. } => typed(ty, text, bits)?,
    }
    bits.resize(end, false);
    Ok(())
}

fn all(parts: &[Type], list: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    let given = if list.trim().is_empty() { 0 } else { elements(list).count() };
    if given != parts.len() {
        return Err(format!("{} values expected, {given} given", parts.len()));
    }
    parts.iter().zip(elements(list)).enumerate().try_for_each(|(i, (part, text))| {
        typed(part, text.trim(), bits).map_err(|reason| format!("part {i}: {reason}"))
    })
}

/// Returns the names and values between `{` and `}`.
fn members(text: &str) -> Result<Vec<(&str, &str)>, String> {
    let inner = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .ok_or("expected `{\"name\": value, …}`")?;
    if inner.trim().is_empty() {
        return Ok(Vec::new());
    }
    let member = |member| {
        let (name, value): (&str, &str) =
            str::split_once(member, ':').ok_or("expected `\"name\": value`")?;
        Ok((unquoted(name.trim()), value.trim()))
    };
    elements(inner).map(member).collect()
}

/// Returns what is between the quotes, if there are any.
pub(super) fn unquoted(name: &str) -> &str {
    name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(name)
}

fn structure(fields: &[(String, Type)], text: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    let members = members(text)?;
    if members.len() != fields.len() {
        return Err(format!("{} fields expected, {} given", fields.len(), members.len()));
    }
    fields.iter().try_for_each(|(name, ty)| {
        let value = members.iter().find(|(known, _)| known == name).map(|member| member.1);
        let value = value.ok_or_else(|| format!("the field `{name}` is missing"))?;
        typed(ty, value, bits).map_err(|reason| format!("field `{name}`: {reason}"))
    })
}

fn variant(ty: &Type, text: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    let Type::Enum { variants, .. } = ty else { return Ok(()) };
    let mut tag = |number: usize| bits.extend((0..ty.tag_bits()).map(|i| number >> i & 1 == 1));
    if let Some(some) = ty.optional() {
        if text == "null" || text == "None" {
            tag(0);
            return Ok(());
        }
        if some.optional().is_none() {
            tag(1);
            return typed(some, text, bits);
        }
    }
    let (name, payload) = match text.starts_with('{') {
        false => (unquoted(text), ""),
        true => match members(text)?[..] {
            [(name, payload)] => (name, payload),
            _ => return Err("one variant expected".into()),
        },
    };
    let number = variants.iter().position(|(known, _)| known == name).ok_or_else(|| {
        let known: Vec<&str> = variants.iter().map(|(name, _)| name.as_str()).collect();
        format!("expected one of {}", known.join(", "))
    })?;
    tag(number);
    let payload = without_brackets(payload)?;
    all(&variants[number].1, payload, bits)
}

/// Reads the nearest floating-point number, ties to the even one; also `inf` and `NaN`, with or
/// without quotes, since JSON has no such numbers.
fn float<T: std::str::FromStr>(
    text: &str,
    to_bits: fn(T) -> u64,
    width: usize,
    bits: &mut Vec<bool>,
) -> Result<(), String> {
    let text = unquoted(text);
    let number: T = text.parse().map_err(|_| "not a decimal number, `inf` or `NaN`")?;
    let value = to_bits(number);
    bits.extend((0..width).map(|place| value >> place & 1 == 1));
    Ok(())
}

/// Reads the nearest fixed-point number, ties to the even one.
fn fixed(text: &str, int: usize, frac: usize, bits: &mut Vec<bool>) -> Result<(), String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return Err("not a decimal number".into());
    }
    if fraction.len() > MAX_FRACTION || frac > MAX_FRACTION {
        return Err(format!("more than {MAX_FRACTION} digits after the point; use `hex:…`"));
    }
    let too_large = || format!("does not fit into {int} bits before the point");
    let whole = decimal::to_bits(whole.as_bytes()).ok_or_else(too_large)?;
    // Twice the fraction's first digit is the next bit, and so on.
    let mut rest = Zeroizing::new(fraction.bytes().map(|byte| byte - b'0').collect::<Vec<u8>>());
    let mut magnitude = Zeroizing::new(Vec::with_capacity(frac + whole.len() + 1));
    magnitude.extend((0..frac).map(|_| double(&mut rest)));
    magnitude.reverse();
    magnitude.extend_from_slice(&whole);
    let half = double(&mut rest);
    let up = half && (rest.iter().any(|digit| *digit > 0) || magnitude.first() == Some(&true));
    magnitude.push(false);
    if up {
        let place = magnitude.iter().position(|bit| !bit).unwrap_or(0);
        magnitude[..=place].iter_mut().for_each(|bit| *bit = !*bit);
    }
    let width = int + frac;
    let used = magnitude.iter().rposition(|&bit| bit).map_or(0, |place| place + 1);
    let least = negative && used == width && magnitude.iter().filter(|&&bit| bit).count() == 1;
    if used >= width && !least && used > 0 {
        return Err(too_large());
    }
    // −x = ¬x + 1: the bits up to the lowest 1 stay, those above flip.
    let mut turn = false;
    let padded = magnitude.iter().copied().chain(std::iter::repeat(false)).take(width);
    bits.extend(padded.map(|bit| {
        let result = bit ^ turn;
        turn |= bit && negative;
        result
    }));
    Ok(())
}

/// Doubles a fraction of decimal digits; returns whether it was a half or more.
fn double(digits: &mut [u8]) -> bool {
    let mut carry = 0;
    for digit in digits.iter_mut().rev() {
        let twice = *digit * 2 + carry;
        (*digit, carry) = (twice % 10, twice / 10);
    }
    carry == 1
}
