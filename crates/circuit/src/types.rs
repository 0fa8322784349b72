//! Types of inputs and outputs, which determine widths and how values are written.

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
    /// A truth value: one bit.
    Bool,
    /// A two's-complement fixed-point number: the integer of `int + frac` bits, divided by
    /// 2^`frac`.
    Fixed {
        /// Bits before the point, the sign included.
        int: u32,
        /// Bits after it.
        frac: u32,
    },
    /// A binary floating-point number of IEEE 754: 32 bits.
    F32,
    /// The same of 64 bits.
    F64,
    /// A text of at most this many bytes of UTF-8, then zero bytes; the first byte on the lowest
    /// wires.
    Text(u32),
    /// Parts side by side, the first on the lowest wires.
    Tuple(Vec<Type>),
    /// As a tuple, with names.
    Struct {
        /// The structure's name.
        name: String,
        /// Names and types of the fields.
        fields: Vec<(String, Type)>,
    },
    /// One of several variants, at least one: `⌈log₂ n⌉` wires for its number, then room for the
    /// widest payload, whose unused wires are 0.
    Enum {
        /// The enumeration's name.
        name: String,
        /// Names of the variants and the types that each carries.
        variants: Vec<(String, Vec<Type>)>,
    },
}

impl Type {
    /// Returns an array of `len` unsigned integers of `width` bits.
    pub fn words(len: u32, width: u32) -> Type {
        Type::Array { len, elem: Box::new(Type::Uint(width)) }
    }

    /// Returns the width in bits; it saturates instead of wrapping, so that a hostile type is
    /// refused as too wide.
    pub fn width(&self) -> u64 {
        match self {
            Type::Uint(width) | Type::Int(width) => u64::from(*width),
            Type::Array { len, elem } => u64::from(*len).saturating_mul(elem.width()),
            Type::Bool => 1,
            Type::F32 => 32,
            Type::F64 => 64,
            Type::Fixed { int, frac } => u64::from(*int) + u64::from(*frac),
            Type::Text(len) => 8 * u64::from(*len),
            Type::Tuple(parts) => sum(parts),
            Type::Struct { fields, .. } => {
                fields.iter().map(|(_, ty)| ty.width()).fold(0, u64::saturating_add)
            }
            Type::Enum { variants, .. } => {
                let payloads = variants.iter().map(|(_, parts)| sum(parts));
                payloads.max().unwrap_or(0).saturating_add(self.tag_bits() as u64)
            }
        }
    }

    /// Returns how many wires hold the number of an enumeration's variant.
    pub(crate) fn tag_bits(&self) -> usize {
        match self {
            Type::Enum { variants, .. } => {
                variants.len().max(1).next_power_of_two().trailing_zeros() as usize
            }
            _ => 0,
        }
    }

    /// Returns whether the type has a value: no enumeration in it is without variants.
    pub(crate) fn has_value(&self) -> bool {
        match self {
            Type::Array { elem, .. } => elem.has_value(),
            Type::Tuple(parts) => parts.iter().all(Type::has_value),
            Type::Struct { fields, .. } => fields.iter().all(|(_, ty)| ty.has_value()),
            Type::Enum { variants, .. } => {
                !variants.is_empty()
                    && variants.iter().all(|(_, parts)| parts.iter().all(Type::has_value))
            }
            _ => true,
        }
    }

    /// Returns whether a text is a part of the type.
    pub(crate) fn has_text(&self) -> bool {
        match self {
            Type::Text(_) => true,
            Type::Array { elem, .. } => elem.has_text(),
            Type::Tuple(parts) => parts.iter().any(Type::has_text),
            Type::Struct { fields, .. } => fields.iter().any(|(_, ty)| ty.has_text()),
            Type::Enum { variants, .. } => {
                variants.iter().any(|(_, parts)| parts.iter().any(Type::has_text))
            }
            _ => false,
        }
    }

    /// Returns the type that an `Option` may hold, for an enumeration of that form.
    pub fn optional(&self) -> Option<&Type> {
        match self {
            Type::Enum { name, variants } if name == "Option" => match &variants[..] {
                [(none, nothing), (some, parts)]
                    if none == "None" && nothing.is_empty() && some == "Some" =>
                {
                    parts.first().filter(|_| parts.len() == 1)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn sum(parts: &[Type]) -> u64 {
    parts.iter().map(Type::width).fold(0, u64::saturating_add)
}

impl std::fmt::Display for Type {
    /// Writes a type as programs do: `u32`, `i8`, `[u32; 16]`, `bool`, `fixed<12, 20>`, `text<64>`,
    /// `(bool, i8)`, the name of a structure, `Option<u8>`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Uint(width) => write!(f, "u{width}"),
            Type::Int(width) => write!(f, "i{width}"),
            Type::Array { len, elem } => write!(f, "[{elem}; {len}]"),
            Type::Bool => f.write_str("bool"),
            Type::F32 => f.write_str("f32"),
            Type::F64 => f.write_str("f64"),
            Type::Fixed { int, frac } => write!(f, "fixed<{int}, {frac}>"),
            Type::Text(len) => write!(f, "text<{len}>"),
            Type::Tuple(parts) => {
                f.write_str("(")?;
                for (i, part) in parts.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{part}")?;
                }
                f.write_str(")")
            }
            Type::Struct { name, .. } => f.write_str(name),
            Type::Enum { name, .. } => match self.optional() {
                Some(some) => write!(f, "Option<{some}>"),
                None => f.write_str(name),
            },
        }
    }
}
