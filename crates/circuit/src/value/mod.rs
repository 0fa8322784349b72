//! Values of inputs and outputs, as people write them and as bits (index = wire).
//!
//! The text forms are the same for every circuit:
//!
//! | form | for | meaning |
//! | --- | --- | --- |
//! | `hex:01ff` | every type | the raw bits as one big-endian integer; wire 0 is its least significant bit |
//! | `bits:0110` | every type | the raw bits, one character for each wire, the first one first |
//! | `1234`, `-5` | integers | decimal |
//! | `0x4d2`, `-0x5` | all numbers | an integer in hexadecimal: the same number as in decimal |
//! | `1,2,3`, `[1, 2, 0x3]` | arrays | a value per element, or a bracketed list per inner array |
//! | `true`, `false`, `1`, `0` | truth values | |
//! | `1.25`, `-3`, `1e-5` | fixed-point numbers | the nearest one, ties to the even one |
//! | `1.25`, `-3e-5`, `inf`, `NaN` | floating-point | the nearest one, ties to the even one, also among subnormal numbers |
//! | `[1, true]` | tuples | one value per part |
//! | `{"at": [1, 2], "class": 3}` | structures | one value per field, in any order |
//! | `null`, or a value | optional values | |
//! | `"Red"`, `{"Rgb": [1, 2, 3]}` | variants | the name, or the name and the payload |
//! | `"Zoë"`, `Zoë` | texts | UTF-8 with the escapes of JSON; without quotes as it is |
//!
//! Hexadecimal digits may be fewer than the width allows, not more. A number that is too large for
//! its type is refused; only the word `inf` means infinity. A decimal point has digits on both
//! sides. Within brackets and braces a number has no leading zeros, and no comma follows the last
//! element. Spaces around a value, an element or a bracket do not matter. Elements and fields may
//! be raw bits, too, except for variants; those of an optional value are the bits of the value.
//!
//! A text has no zero bytes. Among other values it needs quotes if it has quotes, brackets or
//! commas, or if it could be raw bits or `null`. Bytes that are no text are written as `"hex:…"`
//! with all digits; no text of the type is as long.

mod decimal;
mod file;
mod format;
mod key;
mod parse;
mod text;

use crate::{CircuitError, Input};

pub use file::{FileForm, format_file, parse_file, parse_file_to, write_file};
pub use format::{Value, format_value, to_bits_string, to_hex};
pub use parse::parse_value;

/// What is wrong with a value. No reason contains the value.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// It is no value of its type.
    Value(String),
    /// It is a list of another length.
    Length {
        /// The same as a sentence.
        reason: String,
        /// How many elements it has.
        given: u64,
    },
}

impl Wrong {
    /// Returns the error for a list that should have another length.
    fn length(expected: u64, given: u64) -> Wrong {
        Wrong::Length { reason: format!("{expected} elements expected, {given} given"), given }
    }

    /// Changes the reason.
    fn map(self, change: impl FnOnce(String) -> String) -> Wrong {
        match self {
            Wrong::Value(reason) => Wrong::Value(change(reason)),
            Wrong::Length { reason, given } => Wrong::Length { reason: change(reason), given },
        }
    }

    /// Returns the reason.
    fn reason(self) -> String {
        match self {
            Wrong::Value(reason) | Wrong::Length { reason, .. } => reason,
        }
    }
}

impl CircuitError {
    /// Returns the error for a value of an input.
    pub(crate) fn value(input: &Input, wrong: Wrong) -> Self {
        let (input, ty) = (input.name.clone(), input.ty.to_string());
        match wrong {
            Wrong::Value(reason) => CircuitError::Value { input, ty, reason },
            Wrong::Length { reason, given } => CircuitError::Length { input, ty, reason, given },
        }
    }
}

impl From<String> for Wrong {
    fn from(reason: String) -> Wrong {
        Wrong::Value(reason)
    }
}

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

#[cfg(test)]
mod text_tests;
