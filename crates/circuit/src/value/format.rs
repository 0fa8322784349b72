//! From bits to text.

use super::{DECIMAL_BITS, MAX_FRACTION, decimal, text};
use crate::Type;

/// A value in the shape of its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// An integer, in decimal; with more than [`DECIMAL_BITS`] bits as `0x…` or `-0x…`.
    Integer(String),
    /// The elements of an array or the parts of a tuple, in order.
    Array(Vec<Value>),
    /// A truth value.
    Bool(bool),
    /// A fixed-point number as an exact decimal, or a floating-point one as the shortest decimal
    /// that reads back the same.
    Fraction(String),
    /// No value, of an optional type.
    Null,
    /// A variant without payload, or a floating-point number that JSON cannot express.
    Name(String),
    /// A text; `hex:` and all digits for bytes that are none, since they are not UTF-8 or have a
    /// zero byte before another one.
    Text(String),
    /// The fields of a structure; or a variant's name with its payload.
    Object(Vec<(String, Value)>),
}

impl std::fmt::Display for Value {
    /// Writes `123`, `-5`, `[1, 2, 3]`, which [`parse_value`](super::parse_value) reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Integer(digits) | Value::Fraction(digits) => f.write_str(digits),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Null => f.write_str("null"),
            Value::Name(name) => write!(f, "\"{name}\""),
            Value::Text(text) => text::to_json(text, f),
            Value::Object(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}\"{name}\": {value}")?;
                }
                f.write_str("}")
            }
            Value::Array(elements) => {
                f.write_str("[")?;
                for (i, element) in elements.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
        }
    }
}

/// Gives bits (index = wire) the shape of their type.
///
/// Timing: outputs | **depends**: after the last message of an evaluation; in a batch of several
/// windows this delays the next
///
/// # Panics
/// When there are more or fewer bits than the type's width, or an enumeration has no variants.
pub fn format_value(ty: &Type, bits: &[bool]) -> Value {
    assert_eq!(bits.len() as u64, ty.width(), "one bit per wire of the type");
    match ty {
        Type::Int(width) if bits.last() == Some(&true) => {
            // −x = ¬x + 1: the bits up to the lowest 1 stay, those above flip.
            let lowest = bits.iter().position(|&bit| bit).unwrap_or(0);
            let magnitude = bits.iter().enumerate().map(|(i, &bit)| bit ^ (i > lowest));
            Value::Integer(match *width > DECIMAL_BITS {
                true => format!("-0x{}", to_hex(&magnitude.collect::<Vec<_>>())),
                false => format!("-{}", decimal::from_bits(magnitude)),
            })
        }
        Type::Uint(width) | Type::Int(width) if *width > DECIMAL_BITS => {
            Value::Integer(format!("0x{}", to_hex(bits)))
        }
        Type::Uint(_) | Type::Int(_) => Value::Integer(decimal::from_bits(bits.iter().copied())),
        Type::Array { elem, .. } => {
            // A width of 0 means no elements, or elements without bits.
            let width = (elem.width() as usize).max(1);
            Value::Array(bits.chunks(width).map(|bits| format_value(elem, bits)).collect())
        }
        Type::Bool => Value::Bool(bits[0]),
        Type::F32 => float(f32::from_bits(number(bits) as u32)),
        Type::F64 => float(f64::from_bits(number(bits))),
        Type::Fixed { frac, .. } => fixed(*frac as usize, bits),
        Type::Text(_) => {
            Value::Text(text::shown(bits).unwrap_or_else(|| format!("hex:{}", to_hex(bits))))
        }
        Type::Tuple(parts) => Value::Array(parts_of(parts.iter(), bits)),
        Type::Struct { fields, .. } => {
            let values = parts_of(fields.iter().map(|field| &field.1), bits);
            Value::Object(fields.iter().map(|field| field.0.clone()).zip(values).collect())
        }
        Type::Enum { variants, .. } => {
            let (tag, payload) = bits.split_at(ty.tag_bits());
            let tag = tag.iter().rev().fold(0, |tag, &bit| 2 * tag + usize::from(bit));
            let (name, parts) = &variants[if tag < variants.len() { tag } else { 0 }];
            let mut values = parts_of(parts.iter(), payload);
            match ty.optional() {
                Some(_) if values.is_empty() => Value::Null,
                // `null` inside would be read as no value at all.
                Some(some) if some.optional().is_none() => values.swap_remove(0),
                _ if values.is_empty() => Value::Name(name.clone()),
                _ => Value::Object(vec![(name.clone(), Value::Array(values))]),
            }
        }
    }
}

/// Returns the number that these bits form, the first being the least significant.
fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |number, &bit| number << 1 | u64::from(bit))
}

/// Returns the shortest decimal that is read as the same number.
fn float(x: impl Copy + std::fmt::Debug + Into<f64>) -> Value {
    if x.into().is_finite() {
        Value::Fraction(format!("{x:?}"))
    } else {
        Value::Name(format!("{x:?}"))
    }
}

fn parts_of<'t>(parts: impl Iterator<Item = &'t Type>, mut bits: &[bool]) -> Vec<Value> {
    let mut values = Vec::new();
    for part in parts {
        let (own, rest) = bits.split_at(part.width() as usize);
        values.push(format_value(part, own));
        bits = rest;
    }
    values
}

/// Returns a two's-complement number with `frac` bits after the point.
fn fixed(frac: usize, bits: &[bool]) -> Value {
    if bits.len() > DECIMAL_BITS as usize || frac > MAX_FRACTION {
        return Value::Fraction(format!("hex:{}", to_hex(bits)));
    }
    let negative = bits.last() == Some(&true);
    let mut bits = bits.to_vec();
    if negative {
        let lowest = bits.iter().position(|&bit| bit).unwrap_or(0);
        bits.iter_mut().skip(lowest + 1).for_each(|bit| *bit = !*bit);
    }
    // Each bit after the point takes one decimal digit.
    let split = frac.min(bits.len());
    let mut digits = vec![0u8; 0];
    let mut value = vec![0u8; frac];
    for place in 0..frac {
        // value = (value + bit) / 2, from the lowest bit on: digits after the point.
        let bit = bits.get(place).copied().unwrap_or(negative && place >= bits.len());
        let mut carry = u8::from(bit);
        for digit in value.iter_mut() {
            let whole = carry * 10 + *digit;
            (*digit, carry) = (whole / 2, whole % 2);
        }
    }
    while value.last() == Some(&0) {
        value.pop();
    }
    digits.append(&mut value);
    let whole = decimal::from_bits(bits[split..].iter().copied());
    let sign = if negative { "-" } else { "" };
    let fraction: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    let fraction = if fraction.is_empty() { "0" } else { &fraction };
    Value::Fraction(format!("{sign}{whole}.{fraction}"))
}

/// Formats all bits (index = wire) as one big-endian integer: `⌈n/4⌉` hexadecimal digits, the first
/// wire being the least significant bit; without the `hex:`.
pub fn to_hex(bits: &[bool]) -> String {
    let digit = |nibble: &[bool]| nibble.iter().rev().fold(0, |d, &bit| d << 1 | u32::from(bit));
    bits.chunks(4).rev().filter_map(|nibble| char::from_digit(digit(nibble), 16)).collect()
}

/// Formats one `0` or `1` per bit, the first wire first; without the `bits:`.
pub fn to_bits_string(bits: &[bool]) -> String {
    bits.iter().map(|&bit| if bit { '1' } else { '0' }).collect()
}
