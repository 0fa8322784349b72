//! Types of inputs and outputs: they fix widths and how values are written.

/// The type of an input or output.
///
/// Whatever the type, wire 0 is the least significant bit of an integer, and element 0 of an array
/// occupies the lowest wires. The whole value is therefore also one integer: the sum of its bits
/// `b_i · 2^i`, and this is what hexadecimal forms write, most significant digit first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// An unsigned integer of this many bits (1 or more).
    Uint(u32),
    /// A two's-complement integer of this many bits (1 or more).
    Int(u32),
    /// `len` values of type `elem`, element 0 on the lowest wires.
    Array {
        /// How many elements.
        len: u32,
        /// The type of each.
        elem: Box<Type>,
    },
}

impl Type {
    /// An array of `len` unsigned integers of `width` bits.
    pub fn words(len: u32, width: u32) -> Type {
        Type::Array { len, elem: Box::new(Type::Uint(width)) }
    }

    /// The width in bits; saturates instead of overflowing, so that a hostile type is refused
    /// as too wide and never wraps.
    pub fn width(&self) -> u64 {
        match self {
            Type::Uint(width) | Type::Int(width) => u64::from(*width),
            Type::Array { len, elem } => u64::from(*len).saturating_mul(elem.width()),
        }
    }
}

impl std::fmt::Display for Type {
    /// `uint32`, `int8`, `uint32[16]`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Uint(width) => write!(f, "uint{width}"),
            Type::Int(width) => write!(f, "int{width}"),
            Type::Array { len, elem } => write!(f, "{elem}[{len}]"),
        }
    }
}
