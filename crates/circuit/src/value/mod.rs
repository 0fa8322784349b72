//! Values of inputs and outputs, as people write them, and as bits, index = wire.
//!
//! The text forms are the same for every circuit:
//!
//! | form | for | meaning |
//! | --- | --- | --- |
//! | `hex:01ff` | every type | the whole value as one big-endian integer; wire 0 is its least significant bit |
//! | `bits:0110` | every type | the first character is the first wire; exactly as many as there are wires |
//! | `1234`, `-5` | integers | decimal |
//! | `0x4d2` | integers | the bits as an unsigned number, also for signed types |
//! | `1,2,3`, `[1, 2, 0x3]` | arrays | one integer per element, or one bracketed list per inner array |
//!
//! Hexadecimal digits may be fewer than the width allows, not more. Spaces around a value, an element
//! or a bracket do not matter.

mod decimal;
mod format;
mod parse;

pub use format::{Value, format_value, to_bits_string, to_hex};
pub use parse::parse_value;

/// Decimal numbers are read and written up to this many bits; wider ones in hexadecimal only, since
/// the conversion takes time quadratic in the width.
pub const DECIMAL_BITS: u32 = 4096;

#[cfg(test)]
mod tests;
