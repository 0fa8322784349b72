//! Values of the language, as constants have them and the interpreter computes them.

use num_bigint::BigInt;

/// A value. Integers are in the range of their type; fixed-point numbers are scaled to integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `bool`.
    Bool(bool),
    /// A number.
    Int(BigInt),
    /// The bits of a floating-point number.
    Float(u64),
    /// The parts of a tuple, a structure or an array.
    List(Vec<Value>),
    /// A variant and its payload.
    Variant(usize, Vec<Value>),
}

impl Value {
    /// Returns the cost of copying it: its parts, itself included, and the length of wide numbers.
    pub fn size(&self) -> u64 {
        match self {
            Value::Bool(_) | Value::Float(_) => 1,
            Value::Int(number) => 1 + number.bits() / 1024,
            Value::List(parts) | Value::Variant(_, parts) => {
                1 + parts.iter().map(Value::size).sum::<u64>()
            }
        }
    }

    /// Returns it as the number of an element.
    pub fn place(&self) -> Option<usize> {
        match self {
            Value::Int(value) => usize::try_from(value).ok(),
            _ => None,
        }
    }
}
