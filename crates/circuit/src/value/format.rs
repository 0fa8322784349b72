//! From bits to text.

use super::{DECIMAL_BITS, decimal};
use crate::Type;

/// A value in the shape of its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// An integer, in decimal; with more than [`DECIMAL_BITS`] bits as `0x…`.
    Integer(String),
    /// The elements of an array, in order.
    Array(Vec<Value>),
}

impl std::fmt::Display for Value {
    /// `123`, `-5`, `[1, 2, 3]`; what [`parse_value`](super::parse_value) reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Integer(digits) => f.write_str(digits),
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
/// # Panics
/// When there are more or fewer bits than the type's width.
pub fn format_value(ty: &Type, bits: &[bool]) -> Value {
    assert_eq!(bits.len() as u64, ty.width(), "one bit per wire of the type");
    match ty {
        Type::Uint(width) | Type::Int(width) if *width > DECIMAL_BITS => {
            Value::Integer(format!("0x{}", to_hex(bits)))
        }
        Type::Int(_) if bits.last() == Some(&true) => {
            // −x = ¬x + 1: the bits up to the lowest 1 stay, those above turn.
            let lowest = bits.iter().position(|&bit| bit).unwrap_or(0);
            let magnitude = bits.iter().enumerate().map(|(i, &bit)| bit ^ (i > lowest));
            Value::Integer(format!("-{}", decimal::from_bits(magnitude)))
        }
        Type::Uint(_) | Type::Int(_) => Value::Integer(decimal::from_bits(bits.iter().copied())),
        Type::Array { elem, .. } => {
            // A width of 0 means no elements, or elements without bits.
            let width = (elem.width() as usize).max(1);
            Value::Array(bits.chunks(width).map(|bits| format_value(elem, bits)).collect())
        }
    }
}

/// All bits (index = wire) as one big-endian integer: `⌈n/4⌉` hexadecimal digits, the first wire
/// being the least significant bit; without the `hex:`.
pub fn to_hex(bits: &[bool]) -> String {
    let digit = |nibble: &[bool]| nibble.iter().rev().fold(0, |d, &bit| d << 1 | u32::from(bit));
    bits.chunks(4).rev().filter_map(|nibble| char::from_digit(digit(nibble), 16)).collect()
}

/// One `0` or `1` per bit, the first wire first; without the `bits:`.
pub fn to_bits_string(bits: &[bool]) -> String {
    bits.iter().map(|&bit| if bit { '1' } else { '0' }).collect()
}
