//! From text to the bits of truth values, fixed-point numbers, tuples, structures and variants.

use zeroize::Zeroizing;

use super::{
    as_in_json, elements, hexadecimal, negate_if, sign, typed, unquoted, without_brackets,
};
use crate::Type;
use crate::value::{DECIMAL_BITS, MAX_FRACTION, decimal};

/// A number below 10^TINY is 0 as a fixed-point number of any type: 2^−([`MAX_FRACTION`] + 1), the
/// least that is rounded up, is above 10^−617.
const TINY: i64 = -1024;

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
        Type::Uint(_) | Type::Int(_) | Type::Array { .. } | Type::Text(_) => {
            typed(ty, text, bits)?;
        }
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
        as_in_json(value)?;
        Ok((unquoted(name.trim()), value.trim()))
    };
    elements(inner).map(member).collect()
}

fn structure(fields: &[(String, Type)], text: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    let members = members(text)?;
    let given = |name: &str| members.iter().filter(|member| member.0 == name).count();
    if let Some((name, _)) = fields.iter().find(|(name, _)| given(name) > 1) {
        return Err(format!("the field `{name}` is given more than once"));
    }
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
        // An option in an option is written with its `Some`, so there `None` is the outer one.
        if text == "None" && some.optional().is_none() && has_variant(some, text) {
            return Err("`None` is also a variant: write `null` or `\"None\"`".into());
        }
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
    content(&variants[number].1, payload, bits)
}

fn has_variant(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Enum { variants, .. } if variants.iter().any(|known| known.0 == name))
}

/// Reads what a variant holds: a list of its values. If it holds one list only, that list itself
/// will do, as serde writes it; where both can be meant, they mean the same.
fn content(parts: &[Type], payload: &str, bits: &mut Vec<bool>) -> Result<(), String> {
    let list = without_brackets(payload)?;
    let [part] = parts else { return all(parts, list, bits) };
    if !matches!(part.optional().unwrap_or(part), Type::Array { .. } | Type::Tuple(_)) {
        return all(parts, list, bits);
    }
    if list.trim().is_empty() || elements(list).count() != 1 {
        return typed(part, payload.trim(), bits);
    }
    let start = bits.len();
    all(parts, list, bits).or_else(|reason| {
        bits.truncate(start);
        typed(part, payload.trim(), bits).map_err(|_| reason)
    })
}

/// Reads the nearest floating-point number, ties to the even one, subnormal numbers included; also
/// `inf` and `NaN`, which JSON has in quotes. A number that would become infinite is refused.
fn float<T>(
    text: &str,
    to_bits: fn(T) -> u64,
    width: usize,
    bits: &mut Vec<bool>,
) -> Result<(), String>
where
    T: std::str::FromStr + std::ops::Neg<Output = T> + Copy + Into<f64>,
{
    const NO_NUMBER: &str = "not a decimal number, `inf` or `NaN`";
    let (negative, number) = sign(text);
    let is_word = |words: &[&str]| words.iter().any(|word| number.eq_ignore_ascii_case(word));
    let is_infinity = is_word(&["inf", "infinity"]);
    let magnitude: T = if let Some(digits) = number.strip_prefix("0x") {
        integer_digits(digits)?.parse().map_err(|_| NO_NUMBER)?
    } else {
        let is_named = is_infinity || (!negative && is_word(&["nan"]));
        if !is_named {
            scientific(number).ok_or(NO_NUMBER)?;
        }
        number.parse().map_err(|_| NO_NUMBER)?
    };
    if magnitude.into().is_infinite() && !is_infinity {
        return Err("beyond the largest number of the type; infinity is written as `inf`".into());
    }
    let value = to_bits(if negative { -magnitude } else { magnitude });
    bits.extend((0..width).map(|place| value >> place & 1 == 1));
    Ok(())
}

/// Returns in decimal what these hexadecimal digits are.
fn integer_digits(digits: &str) -> Result<Zeroizing<String>, String> {
    let most = DECIMAL_BITS as usize / 4;
    if digits.len() > most {
        return Err(format!("at most {most} hexadecimal digits fit, {} given", digits.len()));
    }
    let mut bits = Zeroizing::new(Vec::with_capacity(4 * digits.len()));
    hexadecimal(digits, false, (4 * digits.len(), false), &mut bits)?;
    Ok(Zeroizing::new(decimal::from_bits(bits.iter().copied())))
}

/// Reads the nearest fixed-point number, ties to the even one. After `0x` it is an integer, the
/// same number as in decimal.
fn fixed(text: &str, int: usize, frac: usize, bits: &mut Vec<bool>) -> Result<(), String> {
    let (negative, number) = sign(text);
    if let Some(digits) = number.strip_prefix("0x") {
        bits.resize(bits.len() + frac, false);
        return hexadecimal(digits, negative, (int, true), bits);
    }
    let (mut digits, mut point) = scientific(number).ok_or("not a decimal number")?;
    if point < TINY {
        digits.clear();
        point = 0;
    }
    let too_large = || format!("does not fit into {int} bits before the point");
    if point > decimal::MAX_DIGITS as i64 {
        return Err(too_large());
    }
    // Zeros that follow the digits before the point, and that precede those after it.
    let (whole, fraction) = digits.split_at(digits.len().min(point.max(0) as usize));
    let trailing_zeros = point.max(0) as usize - whole.len();
    let leading_zeros = (-point).max(0) as usize;
    if leading_zeros + fraction.len() > MAX_FRACTION || frac > MAX_FRACTION {
        return Err(format!("more than {MAX_FRACTION} digits after the point; use `hex:…`"));
    }
    let mut integer = Zeroizing::new(Vec::with_capacity(whole.len() + trailing_zeros));
    integer.extend(whole.iter().copied().chain(std::iter::repeat_n(b'0', trailing_zeros)));
    let whole = decimal::to_bits(&integer).ok_or_else(too_large)?;
    // Twice the fraction's first digit is the next bit, and so on.
    let mut rest = Zeroizing::new(Vec::with_capacity(leading_zeros + fraction.len()));
    rest.extend(
        std::iter::repeat_n(0, leading_zeros).chain(fraction.iter().map(|digit| digit - b'0')),
    );
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
    let start = bits.len();
    bits.extend(magnitude.iter().copied().chain(std::iter::repeat(false)).take(width));
    negate_if(negative, &mut bits[start..]);
    Ok(())
}

/// Reads `12.5e-3` as its digits, without zeros at either end, and the place of the point: the
/// number is 0.digits · 10^point. Zero has no digits.
fn scientific(text: &str) -> Option<(Zeroizing<Vec<u8>>, i64)> {
    let (number, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = match number.split_once('.') {
        // As in JSON, there are digits on both sides of a point.
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (number, ""),
    };
    let is_negative = power.starts_with('-');
    let power = power.strip_prefix(['+', '-']).unwrap_or(power);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let are_numbers = is_number(whole) && is_number(fraction) && is_number(power);
    if whole.is_empty() || power.is_empty() || !are_numbers {
        return None;
    }
    let mut digits = Zeroizing::new(Vec::with_capacity(whole.len() + fraction.len()));
    digits.extend(whole.bytes().chain(fraction.bytes()));
    let end = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    digits.truncate(end);
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros);
    if digits.is_empty() {
        return Some((digits, 0));
    }
    // What is too long to be read is as good as the largest: no text has as many digits.
    let power = power.parse().unwrap_or(i64::MAX / 2);
    let power = if is_negative { -power } else { power };
    Some((digits, (whole.len() as i64 - zeros as i64).saturating_add(power)))
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
