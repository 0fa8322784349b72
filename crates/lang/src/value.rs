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
