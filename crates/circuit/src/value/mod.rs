//! Values of inputs and outputs, as people write them and as bits (index = wire).
//!
//! The text forms are the same for every circuit:
//!
//! | form | for | meaning |
//! | --- | --- | --- |
//! | `hex:01ff` | every type | one big-endian integer; wire 0 is its least significant bit |
//! | `bits:0110` | every type | one character for each wire, the first one first |
//! | `1234`, `-5` | integers | decimal |
//! | `0x4d2` | integers | the bits as an unsigned number, also for signed types |
//! | `1,2,3`, `[1, 2, 0x3]` | arrays | a value per element, or a bracketed list per inner array |
//! | `true`, `false`, `1`, `0` | truth values | |
//! | `1.25`, `-3`, `1e-5` | fixed-point numbers | the nearest one, ties to the even one |
//! | `1.25`, `-3e-5`, `inf`, `NaN` | floating-point | the nearest one, ties to the even one |
//! | `[1, true]` | tuples | one value per part |
//! | `{"at": [1, 2], "class": 3}` | structures | one value per field, in any order |
//! | `null`, or a value | optional values | |
//! | `"Red"`, `{"Rgb": [1, 2, 3]}` | variants | the name, or the name and the payload |
//!
//! Hexadecimal digits may be fewer than the width allows, not more. Spaces around a value, an
//! element or a bracket do not matter.

mod compound;
mod csv;
mod decimal;
mod file;
mod format;
mod key;
mod parse;

pub use file::{FileForm, format_file, parse_file};
pub use format::{Value, format_value, to_bits_string, to_hex};
pub use parse::parse_value;

/// Decimal numbers are read and written up to this many bits; wider ones in hexadecimal only, since
/// the conversion takes time quadratic in the width.
pub const DECIMAL_BITS: u32 = 4096;

/// Fixed-point numbers are read and written in decimal, with at most this
/// many fraction bits.
pub(crate) const MAX_FRACTION: usize = 2048;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod file_tests;
